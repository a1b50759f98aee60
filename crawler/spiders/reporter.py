"""What a crawl shows: its progress, its table and files at its end, and safe cells of CSV feeds."""

import logging
import os
import sqlite3
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exporters import CsvItemExporter
from scrapy.utils.asyncio import create_looping_call

from crawler.crawl import Crawl
from crawler.errors import RunFolderError, StorageError
from crawler.frontier.base import HostStates, Lease, Record
from crawler.opening import crawl_name
from crawler.outputs.package import write_index
from crawler.report.census import write_census
from crawler.report.crawl import print_summary, write_report
from crawler.report.labels import safe_cell
from crawler.report.live import (
    WRITTEN_EVERY_S,
    About,
    Goal,
    Limit,
    Meter,
    Snapshot,
    Standing,
    State,
    count_expected,
    drops_of,
    live_json,
    together,
    write_live,
)
from crawler.report.progress import PASSED_ON, Display, Progress
from crawler.run import sessions_of
from crawler.spiders.concurrency import in_progress
from crawler.spiders.dashboard import Dashboard
from crawler.spiders.langfocus import LangfocusSpider
from crawler.spiders.printable_log import log_above
from crawler.strategies.focus.ordering import Focus

_log = logging.getLogger(__name__)

_TICK_S = 0.2
_LOOKED_EVERY_S = 0.99
_COUNTED_EVERY_S = 3.0
_BUSY = 0.9
"""A process that uses more of a processor than this is what the next page waits for."""


class Watch:
    """Looks at an open crawl, and makes its snapshots."""

    def __init__(self, crawl: Crawl, crawler: Crawler) -> None:
        """Begin with what earlier sessions did."""
        self._crawl, self._crawler = crawl, crawler
        config, ordering = crawl.config, crawl.ordering
        about = About(
            crawl_name(config, ordering, between=" "),
            config.lang,
            ordering.name,
            config.filter,
            config.web,
            config.is_census,
            isinstance(ordering, Focus),
            config.host_cap,
        )
        self._began_at = now = crawl.clock()
        sessions = sessions_of(crawl.run.connection)[:-1]
        self._earlier_s = sum(one.ended_at - one.started_at for one in sessions)
        self._meter = Meter(about, crawl.counts(), now, crawl.run.connection)
        self._limits: deque[Limit] = deque(maxlen=10)
        self._used_s, self._looked_s = time.process_time(), time.monotonic()
        self._expected: int | None = None
        self._count: Future[tuple[int | None, float]] | None = None
        self._due_s = float("-inf")
        self._threads = ThreadPoolExecutor(1)
        self._shared_s = time.monotonic()
        self._told: dict[str, str] = {}
        crawl.visitor.listeners.append(self._meter.settle)
        crawl.fetched = self._meter.fetched
        self.latest = self.look()

    def look(self) -> Snapshot:
        """Return the state of the crawl now, also after its end."""
        crawl, now = self._crawl, self._crawl.clock()
        counts = crawl.counts()
        if crawl.worker is None or not crawl.finish_reason:
            self._hosts = hosts = crawl.frontier.host_states()
        if not crawl.finish_reason:
            self._drops = drops_of(crawl.run.connection)
            self._limits.append(self._limit(hosts))
        state: State = "running" if self._crawler.crawling else "ending"
        standing = Standing(
            state="finished" if crawl.finish_reason else state,
            reason=crawl.fault or crawl.finish_reason,
            counts=counts,
            hosts=self._hosts,
            elapsed_s=self._earlier_s + now - self._began_at,
            goals=tuple(Goal(*goal) for goal in crawl.ending.goals(counts, now)),
            expected=self._count_expected(),
            drops=self._drops,
            limit=Counter(self._limits).most_common(1)[0][0],
        )
        self.latest = self._shared(self._meter.snapshot(standing, now))
        return self.latest

    def _shared(self, own: Snapshot) -> Snapshot:
        """Return the snapshot of all workers; this one tells them its own now and then."""
        worker, now_s = self._crawl.worker, time.monotonic()
        if worker is None:
            return own
        if not self._crawl.finish_reason and now_s - self._shared_s >= WRITTEN_EVERY_S:
            self._shared_s = now_s
            self._told = worker.share(live_json(own))
        return together(own, worker.name, self._told)

    def _limit(self, hosts: HostStates) -> Limit:
        """Return what the next page waits for at this moment."""
        used_s, now_s = time.process_time(), time.monotonic()
        share = (used_s - self._used_s) / max(now_s - self._looked_s, 1e-9)
        self._used_s, self._looked_s = used_s, now_s
        if share > _BUSY:
            return "frontier"
        engine = self._crawler.engine
        if engine is not None and engine.downloader.needs_backout():
            is_read = self._crawl.reading > in_progress(engine) // 2
            return "reading" if is_read else "network"
        if hosts.ready:
            return "frontier"
        return "politeness" if hosts.resting else "queue"

    def _count_expected(self) -> int | None:
        """Return the last count, and begin another in a thread after 99 times its duration."""
        crawl, now_s = self._crawl, time.monotonic()
        doubts_up_to = crawl.ordering.doubts_up_to
        if doubts_up_to is None or crawl.worker is not None:
            return None
        if crawl.finish_reason:
            return count_expected(crawl.run.folder, doubts_up_to)
        if self._count is not None and self._count.done():
            (self._expected, used_s), self._count = self._count.result(), None
            self._due_s = now_s + max(_COUNTED_EVERY_S, 99 * used_s)
        if self._count is None and now_s >= self._due_s:
            self._count = self._threads.submit(_timed_count, crawl.run.folder, doubts_up_to)
        return self._expected


def _timed_count(folder: Path, doubts_up_to: float) -> tuple[int | None, float]:
    """Return the number of expected URLs and the processor time of the count."""
    began_s = time.thread_time()
    return count_expected(folder, doubts_up_to), time.thread_time() - began_s


class Reporter:
    """A Scrapy extension that shows a crawl while it runs, and writes its report at the end."""

    def __init__(self, crawler: Crawler, every_s: float) -> None:
        """Report every so many seconds; 0: only at the end, and without a line of progress."""
        self._crawler, self._every_s = crawler, every_s
        self._ticks = create_looping_call(self._tick)
        self._written_s = self._looked_s = float("-inf")
        self._is_ending = False
        self._progress: Progress | None = None
        self._restore_log: Callable[[], object] = lambda: None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Reporter":
        """Return the extension, connected to the crawler's signals."""
        reporter = cls(crawler, crawler.settings.getfloat("LOGSTATS_INTERVAL"))
        crawler.signals.connect(reporter.spider_opened, signals.spider_opened)
        crawler.signals.connect(reporter.spider_closed, signals.spider_closed)
        return reporter

    def spider_opened(self, spider: Spider) -> None:
        """Show the crawl with the counts of earlier sessions."""
        crawl = self._crawl = cast(LangfocusSpider, spider).crawl
        counts = crawl.counts()
        if crawl.worker is not None and self._every_s:
            share = f"{crawl.worker.name} joins {crawl.worker.crawl}: {counts.pages:,} pages so far"
            if counts.pages and not crawl.has_more():
                share += ", nothing is left to do (use another LANGFOCUS_CRAWL for a new crawl)"
            print(share, file=sys.stderr)  # noqa: T201  the user wants to know the crawl
        for gap in crawl.gaps:
            print(f"note: {gap}", file=sys.stderr)  # noqa: T201  the user wants to know it early
        self._watch = Watch(crawl, self._crawler)
        if self._every_s:
            display = Display(sys.stderr, every_s=self._every_s)
            is_passed_on = not display.is_terminal and PASSED_ON in os.environ
            self._progress = Progress(display, is_passed_on=is_passed_on)
            if display.is_terminal:
                self._restore_log = log_above(display)
            self._progress.show(self._watch.latest)
        _log.info("%s: %s URLs are queued; folder %s", *self._told())
        if _log.isEnabledFor(logging.INFO):
            crawl.visitor.listeners.append(self._tell)
        self._ticks.start(_TICK_S, now=False)
        self._dashboard = Dashboard(crawl.config.dashboard, lambda: self._watch.latest)
        self._dashboard.tend()

    def _told(self) -> tuple[str, str, Path]:
        snapshot = self._watch.latest
        return snapshot.about.title, f"{snapshot.queued:,}", self._crawl.run.folder

    def _tell(self, lease: Lease, record: Record) -> None:
        """Log a settled URL with its score before and its language after."""
        score, language = f"{lease.score:+.2f}", record.language or "-"
        _log.info("%s %s %s %s", record.outcome, score, language, lease.url)

    def _tick(self) -> None:
        """Look at the crawl, show it, and write its live files; a full disk is no fault."""
        is_ending = not self._crawler.crawling
        if time.monotonic() - self._looked_s < _LOOKED_EVERY_S and is_ending == self._is_ending:
            return
        if is_ending and not self._is_ending:
            _log.info("the crawl ends: waits for %d requests", self._watch.latest.in_flight)
        self._looked_s, self._is_ending = time.monotonic(), is_ending
        self._dashboard.tend()
        with suppress(StorageError, sqlite3.Error, OSError):
            snapshot = self._watch.look()
            if self._progress is not None:
                self._progress.show(snapshot)
            if time.monotonic() - self._written_s >= WRITTEN_EVERY_S:
                self._written_s = time.monotonic()
                write_live(self._crawl.run.folder, snapshot)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """End the panel, write `summary.json` and `report.html`, print the table."""
        if self._ticks.running:
            self._ticks.stop()
        self._written_s = self._looked_s = float("-inf")
        self._tick()
        self._dashboard.close()
        self._restore_log()
        if self._progress is not None:
            self._progress.close(self._watch.latest)
        _log.info("the crawl has ended: %s", reason)
        folder = self._crawl.run.folder
        if self._crawl.fault:
            return
        try:
            if self._crawl.archive is not None:
                write_index(folder)
            report = self._report(folder)
        except StorageError as error:
            self._crawl.fault = str(error)
            return
        except (OSError, RunFolderError) as error:
            self._crawl.fault = f"the report cannot be written: {error}"
            return
        if not self._crawl.config.is_quiet:
            print(f"report: {report}")  # noqa: T201  the last message to the user

    def _report(self, folder: Path) -> Path:
        """Write the files of the run and print its tables; return the path of the report."""
        if self._crawl.config.is_census:
            census = write_census(folder)
            if not self._crawl.config.is_quiet:
                census.print()
            return folder / "census.html"
        summary = write_report(folder)
        if not self._crawl.config.is_quiet:
            print_summary(summary)
        return folder / "report.html"


class CsvFeed(CsvItemExporter):
    """Writes the items of a crawl as CSV; no cell begins like a formula of a spreadsheet."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of a cell, after `'` if a spreadsheet program could run it."""
        cell = super().serialize_field(field, name, value)
        return safe_cell(cell) if isinstance(cell, str) else cell
