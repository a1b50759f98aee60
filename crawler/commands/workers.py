"""`langfocus crawl --workers N`: several processes on one machine crawl into one run."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from langfocus.crawler.commands.base import ExitCode
from langfocus.crawler.commands.child import command
from langfocus.crawler.errors import CrawlError, SettingError, StorageError
from langfocus.crawler.politeness.network import check_port
from langfocus.crawler.reading.readers import processors
from langfocus.crawler.report.live import WRITTEN_EVERY_S, Snapshot, State, decoded, write_live
from langfocus.crawler.report.progress import PASSED_ON, Display, Progress
from langfocus.crawler.report.run_report import report
from langfocus.crawler.report.terminal import MARK
from langfocus.crawler.run.folder import lock_run, new_folder
from langfocus.crawler.session.preparation import check_goals
from langfocus.crawler.shared.crew import Crew, OwnServer
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.merging import check_free, merge
from langfocus.crawler.shared.stored import StoredCrawl

if TYPE_CHECKING:
    from langfocus.crawler.options.config import Config

_SERVER = "redis"
"""Folder of the crawl's own Redis server, in the run folder."""


def crawl_by_workers(
    number: int, arguments: Mapping[str, str], settings: Mapping[str, str], config: Config
) -> None:
    """Crawl with `number` processes, merge their runs, and raise an error after a failure.

    `arguments` and `settings` are from the command line, the source of `config`.
    """
    check_goals(replace(config, frontier=config.frontier or _SERVER), doubts=True)
    check_port(config.dashboard)
    title = config.title()
    with ExitStack() as stack:
        server = OwnServer() if config.frontier is None else None
        if server is not None:
            stack.callback(server.close)
        address = config.frontier or (server.url if server else "")
        client = connect(address)
        folder = config.run_folder or new_folder(title, time.time())
        check_free(folder)
        stack.enter_context(lock_run(folder))
        if server is not None:
            server.start(folder / _SERVER)
        name = config.crawl_name or title
        of_workers = {
            "LANGFOCUS_READERS": str(max(1, processors() // number - 1)),
            **settings,
            "LANGFOCUS_FRONTIER": address,
            "LANGFOCUS_CRAWL": name,
            "LOGSTATS_INTERVAL": "1",
        }
        stored = StoredCrawl(client, name, config.shards, wait_s=0.0)
        display = Display(sys.stderr)
        shown, progress = _Shown(folder), Progress(display)
        stack.callback(display.close)
        names = [f"worker-{place}" for place in range(1, number + 1)]
        lines = {each: command(arguments, of_workers, folder / each) for each in names}
        environment = {**os.environ, PASSED_ON: "1"}
        crew = Crew(lines, display.tell, shown.take, environment=environment)
        stack.callback(crew.kill)
        for asked in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            stack.callback(signal.signal, asked, signal.signal(asked, crew.stop))

        def meanwhile() -> None:
            if server is not None:
                server.keep(display.tell)
            if (snapshot := shown.now("ending" if crew.stops else "running")) is not None:
                progress.show(snapshot)

        crew.wait(meanwhile)
        if (snapshot := shown.now("finished")) is not None:
            progress.close(snapshot)
        missing = 0
        if any(end.code != ExitCode.MISUSED for end in crew.ends.values()) and crew.stops < 2:
            missing = _merged(folder, stored, config)
            shown.write("finished")
    _judge(crew, folder, missing)


class _Shown:
    """The latest snapshot with all workers' figures, and the live files of the run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._latest: Snapshot | None = None
        self._due_s = time.monotonic() + WRITTEN_EVERY_S

    def take(self, line: str) -> bool:
        """Keep the snapshot of a line; return False for any other line."""
        if line.startswith(MARK):
            with suppress(msgspec.MsgspecError):  # cut by a kill
                self._latest = decoded(line.removeprefix(MARK))
        return line.startswith(MARK)

    def now(self, state: State) -> Snapshot | None:
        """Return the latest snapshot with this state; write the live files if due."""
        if time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + WRITTEN_EVERY_S
            self.write(state)
        return None if self._latest is None else replace(self._latest, state=state)

    def write(self, state: State) -> None:
        """Write the live files; errors such as a full disk are ignored."""
        if self._latest is not None:
            with suppress(OSError):
                write_live(self._folder, replace(self._latest, state=state))


def _merged(folder: Path, stored: StoredCrawl, config: Config) -> int:
    """Merge the workers' runs; return the number of missing records."""
    shares = [path.parent for path in sorted(folder.glob("worker-*/run.db"))]
    if not shares:
        return 0
    is_stored = False
    with suppress(StorageError):
        is_stored = stored.exists()
    merged = merge(folder, shares, stored if is_stored else None)
    page = report(folder, is_quiet=config.is_quiet).page
    if not config.is_quiet:
        print(f"report: {page}")
    return merged.missing


def _judge(crew: Crew, folder: Path, missing: int) -> None:
    """Raise an error unless every worker reached the end of the crawl."""
    continuation = f"the same command with -s JOBDIR={folder} continues"
    failed = {name: end for name, end in crew.ends.items() if end.code != ExitCode.DONE}
    codes = {end.code for end in failed.values()}
    if crew.stops or codes == {ExitCode.INTERRUPTED}:
        state = "stopped at once, without a new report" if crew.stops > 1 else "stopped"
        raise KeyboardInterrupt(f"{state}; {continuation}")
    if failed and len(failed) == len(crew.ends):
        # Each worker names its own folder; the message applies to the whole run.
        failures = {
            str(end).replace(str(folder / name), str(folder)) for name, end in failed.items()
        }
        kind = SettingError if codes == {ExitCode.MISUSED} else CrawlError
        raise kind("; ".join(sorted(failures)))
    if failed:
        failures = {f"{name} ended ({end})" for name, end in failed.items()}
        raise CrawlError(f"{', '.join(sorted(failures))}; the others finished the crawl")
    if missing:
        raise CrawlError(f"{missing:,} records are in none of the workers' folders")
