"""`langfocus crawl --workers N`: several processes of this machine crawl together, into one run."""

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

from crawler.child import command
from crawler.commands.base import ExitCode
from crawler.errors import CrawlError, RunFolderError, SettingError, StorageError
from crawler.opening import new_folder
from crawler.politeness.network import check_port
from crawler.preparation import check_goals
from crawler.report.census import write_census
from crawler.report.crawl import report, write_report
from crawler.report.formatting import percent, share_of
from crawler.report.live import LIVE_HTML, LIVE_JSON, State, live_html, live_json, read_live
from crawler.report.progress import Display
from crawler.run import lock_run
from crawler.shared.crew import Crew, OwnServer
from crawler.shared.merging import check_free, merge
from crawler.shared.shards import stored_crawl
from crawler.shared.stored import StoredCrawl, connect
from crawler.whole_file import write_whole

if TYPE_CHECKING:
    from crawler.config import Config

_SHOWN_EVERY_S = 10.0
_SERVER = "redis"
"""The folder of the crawl's own server, in the folder of the run."""


def crawl_by_workers(
    number: int, arguments: Mapping[str, str], settings: Mapping[str, str], config: Config
) -> None:
    """Crawl with `number` processes, merge their runs, and judge how the crawl ended.

    `arguments` and `settings` are those of the command line, from which `config` was read.
    """
    check_goals(replace(config, frontier=config.frontier or _SERVER), doubts=True)
    check_port(config.dashboard)
    title = "census" if config.is_census else f"{config.lang}-{config.strategy}"
    with ExitStack() as stack:
        server = OwnServer() if config.frontier is None else None
        if server is not None:
            stack.callback(server.close)
        folder = config.run_folder or new_folder(title, time.time())
        check_free(folder)
        stack.enter_context(lock_run(folder))
        if server is not None:
            server.start(folder / _SERVER)
        address = config.frontier or (server.url if server else "")
        name = config.crawl_name or title
        of_workers = {
            "LANGFOCUS_READERS": str(max(1, (os.cpu_count() or 1) // number - 1)),
            **settings,
            "LANGFOCUS_FRONTIER": address,
            "LANGFOCUS_CRAWL": name,
            "LOGSTATS_INTERVAL": "0",
        }
        stored = stored_crawl(connect(address), name, config.shards, wait_s=0.0)
        display = stack.enter_context(Display(sys.stderr))
        names = [f"worker-{place}" for place in range(1, number + 1)]
        lines = {each: command(arguments, of_workers, folder / each) for each in names}
        crew = Crew(lines, display.tell)
        stack.callback(crew.kill)
        for asked in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            stack.callback(signal.signal, asked, signal.signal(asked, crew.stop))

        due_s = time.monotonic() + _SHOWN_EVERY_S

        def meanwhile() -> None:
            nonlocal due_s
            if server is not None:
                server.keep(display.tell)
            if time.monotonic() >= due_s:
                due_s += _SHOWN_EVERY_S
                _show(folder, "running")
            with suppress(StorageError):
                display.update(lambda: f"{title}  {_figures(stored)}  {len(crew)} workers")

        crew.wait(meanwhile)
        display.close()
        missing = 0
        if any(end.code != ExitCode.MISUSED for end in crew.ends.values()) and crew.stops < 2:
            missing = _merged(folder, stored, config)
            _show(folder, "finished")
    _judge(crew, folder, missing)


def _show(folder: Path, state: State) -> None:
    """Write the live files of the run: those of the worker that wrote last, which have all."""
    found = []
    for path in folder.glob(f"worker-*/{LIVE_JSON}"):
        with suppress(RunFolderError):
            found.append(read_live(path.parent))
    if found:
        snapshot = replace(max(found, key=lambda one: one.at), state=state)
        with suppress(OSError):
            write_whole(folder / LIVE_JSON, live_json(snapshot))
            write_whole(folder / LIVE_HTML, live_html(snapshot))


def _figures(stored: StoredCrawl) -> str:
    counts = stored.counts()
    harvest = percent(share_of(counts.relevant, counts.labelled))
    pages = f"{counts.pages:,} pages  harvest {harvest}"
    return f"{pages}  queue {counts.queued:,}  hosts {counts.hosts:,}"


def _merged(folder: Path, stored: StoredCrawl, config: Config) -> int:
    """Make one run of the runs of all workers of all sessions; return the missing records."""
    shares = [path.parent for path in sorted(folder.glob("worker-*/run.db"))]
    if not shares:
        return 0
    is_stored = False
    with suppress(StorageError):
        is_stored = stored.exists()
    merged = merge(folder, shares, stored if is_stored else None)
    if config.is_quiet:
        (write_census if config.is_census else write_report)(folder)
    else:
        print(f"report: {report(folder)[1]}")
    return merged.missing


def _judge(crew: Crew, folder: Path, missing: int) -> None:
    """Raise the error of a crawl whose workers did not all reach its end."""
    continuation = f"the same command with -s JOBDIR={folder} continues"
    failed = {name: end for name, end in crew.ends.items() if end.code != ExitCode.DONE}
    codes = {end.code for end in failed.values()}
    if crew.stops or codes == {ExitCode.INTERRUPTED}:
        state = "stopped at once, without a new report" if crew.stops > 1 else "stopped"
        raise KeyboardInterrupt(f"{state}; {continuation}")
    if failed and len(failed) == len(crew.ends):
        # Of its own folder each worker tells what is true of the whole run.
        told = {str(end).replace(str(folder / name), str(folder)) for name, end in failed.items()}
        kind = SettingError if codes == {ExitCode.MISUSED} else CrawlError
        raise kind("; ".join(sorted(told)))
    if failed:
        told = {f"{name} ended ({end})" for name, end in failed.items()}
        raise CrawlError(f"{', '.join(sorted(told))}; the others finished the crawl")
    if missing:
        raise CrawlError(f"{missing:,} records are in none of the workers' folders")
