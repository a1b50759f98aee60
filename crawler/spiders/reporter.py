"""The output of a crawl: progress, final tables and files, and safe cells in CSV feeds."""

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exporters import CsvItemExporter
from scrapy.utils.asyncio import create_looping_call

from langfocus.crawler.corpus.item import safe_cell
from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.frontier.base import Lease, Record
from langfocus.crawler.outputs.package import write_index
from langfocus.crawler.report.live import WRITTEN_EVERY_S, Snapshot, write_live
from langfocus.crawler.report.progress import PASSED_ON, Display, Progress
from langfocus.crawler.report.run_report import report
from langfocus.crawler.spiders.dashboard import Dashboard
from langfocus.crawler.spiders.fetches import crawl_of
from langfocus.crawler.spiders.printable_log import FAULTS, log_above
from langfocus.crawler.spiders.watch import Watch

_log = logging.getLogger(__name__)

_TICK_S = 0.2
_LOOKED_EVERY_S = 0.99


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
        crawl = self._crawl = crawl_of(self._crawler)
        counts = crawl.queue.counts()
        if crawl.worker is not None and self._every_s:
            share = f"{crawl.worker.name} joins {crawl.worker.crawl}: {counts.pages:,} pages so far"
            if counts.pages and not crawl.queue.has_more():
                share += ", nothing is left to do (use another LANGFOCUS_CRAWL for a new crawl)"
            print(share, file=sys.stderr)  # noqa: T201  the user wants to know the crawl
        for gap in crawl.prepared.gaps:
            print(f"note: {gap}", file=sys.stderr)  # noqa: T201  the user wants to know it early
        self._watch = Watch(crawl, self._crawler)
        if self._every_s:
            display = Display(sys.stderr, every_s=self._every_s)
            is_passed_on = not display.is_terminal and PASSED_ON in os.environ
            self._progress = Progress(display, is_passed_on=is_passed_on)
            if display.is_terminal:
                self._restore_log = log_above(display)
            self._progress.show(self._watch.latest)
        title, queued = self._watch.latest.about.title, f"{self._watch.latest.queued:,}"
        _log.info("%s: %s URLs are queued; folder %s", title, queued, crawl.run.folder)
        if _is_shown(self._crawler.settings["LOG_LEVEL"], logging.INFO):
            crawl.visitor.listeners.append(_log_settled)
        self._ticks.start(_TICK_S, now=False)
        self._dashboard = Dashboard(crawl.config.dashboard, lambda: self._watch.latest)
        self._dashboard.tend()

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
            self._count(snapshot)
            if time.monotonic() - self._written_s >= WRITTEN_EVERY_S:
                self._written_s = time.monotonic()
                write_live(self._crawl.run.folder, snapshot)
            if self._progress is not None:
                self._progress.show_meanwhile(snapshot)

    def _count(self, snapshot: Snapshot) -> None:
        """Show the figures of the crawl in Scrapy's stats, as `langfocus/...`."""
        stats = self._crawler.stats
        for name in ("pages", "labelled", "relevant", "queued", "hosts_with_page"):
            stats.set_value(f"langfocus/{name}", getattr(snapshot, name))
        if snapshot.labelled:
            stats.set_value("langfocus/harvest_rate", snapshot.relevant / snapshot.labelled)
        for outcome, number in snapshot.outcomes.items():
            stats.set_value(f"langfocus/outcome/{outcome}", number)

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
        ending = self._crawl.ending
        if ending.fault:
            FAULTS.error("%s", ending.fault)
            return
        try:
            if self._crawl.config.keeps_warc:
                write_index(folder)
            page = report(folder, is_quiet=self._crawl.config.is_quiet).page
        except StorageError as error:
            ending.fail(str(error))
            return
        except (OSError, RunFolderError) as error:
            ending.fail(f"the report cannot be written: {error}")
            return
        if not self._crawl.config.is_quiet:
            print(f"report: {page}")  # noqa: T201  the last message to the user


def _log_settled(lease: Lease, record: Record) -> None:
    """Log a settled URL with its score before and its language after."""
    score, language = f"{lease.score:+.2f}", record.language or "-"
    _log.info("%s %s %s %s", record.outcome, score, language, lease.url)


def _is_shown(least: str | int, level: int) -> bool:
    """Return True if a record of a level is shown; Scrapy leaves it to the handlers to drop one."""
    name = str(least)
    return level >= (int(name) if name.isdecimal() else logging.getLevelNamesMapping()[name])


class CsvFeed(CsvItemExporter):
    """Writes a crawl's items as CSV, with formula prefixes escaped."""

    def serialize_field(self, field: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the value of a cell, after `'` if a spreadsheet program could run it."""
        cell = super().serialize_field(field, name, value)
        return safe_cell(cell) if isinstance(cell, str) else cell
