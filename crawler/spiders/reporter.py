"""What a crawl shows: its progress, its table and files at its end, and safe cells of CSV feeds."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exporters import CsvItemExporter

from crawler.errors import RunFolderError, StorageError
from crawler.frontier.base import PAGE, Lease, Record
from crawler.opening import crawl_name
from crawler.outputs.package import write_index
from crawler.report.census import write_census
from crawler.report.crawl import print_summary, write_report
from crawler.report.labels import safe_cell
from crawler.report.progress import Display, LiveLine
from crawler.spiders.langfocus import LangfocusSpider


class Reporter:
    """A Scrapy extension that shows the harvest rate while a crawl runs."""

    def __init__(self, every_s: float) -> None:
        """Report every so many seconds; 0: only at the end, and without a line of progress."""
        self._every_s = every_s
        self._line: LiveLine | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Reporter":
        """Return the extension, connected to the crawler's signals."""
        reporter = cls(crawler.settings.getfloat("LOGSTATS_INTERVAL"))
        crawler.signals.connect(reporter.spider_opened, signals.spider_opened)
        crawler.signals.connect(reporter.spider_closed, signals.spider_closed)
        return reporter

    def spider_opened(self, spider: Spider) -> None:
        """Start the progress line with the counts of earlier sessions."""
        crawl = self._crawl = cast(LangfocusSpider, spider).crawl
        counts = crawl.counts()
        if crawl.worker is not None and self._every_s:
            share = f"{crawl.worker.name} joins {crawl.worker.crawl}: {counts.pages:,} pages so far"
            if counts.pages and not crawl.has_more():
                share += ", nothing is left to do (use another LANGFOCUS_CRAWL for a new crawl)"
            print(share, file=sys.stderr)  # noqa: T201  the user wants to know the crawl
        for gap in crawl.gaps:
            print(f"note: {gap}", file=sys.stderr)  # noqa: T201  the user wants to know it early
        if not self._every_s:
            return
        self._line = LiveLine(
            Display(sys.stderr, every_s=self._every_s),
            time.monotonic,
            crawl_name(crawl.config, crawl.ordering, between=" "),
            counts,
            is_census=crawl.config.is_census,
        )
        crawl.visitor.listeners.append(self.on_settled)

    def on_settled(self, lease: Lease, record: Record) -> None:
        """Update the progress line."""
        if self._line is None:
            return
        counts = self._crawl.counts()
        if record.outcome == PAGE:
            self._line.record(None if record.language is None else record.is_relevant)
        self._line.show(counts)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """End the line, write `summary.json` and `report.html`, print the table."""
        if self._line is not None:
            if not self._crawl.fault:
                self._line.show(self._crawl.counts())
            self._line.close()
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
