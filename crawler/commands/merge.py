"""`scrapy merge`: the shares of all workers of a shared crawl as one run with one report."""

import argparse
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand

from crawler.errors import CrawlError
from crawler.shared.merging import crawl_of, merge
from crawler.shared.stored import StoredCrawl, connect

_MANUAL = """\
Every worker of a shared crawl writes what it settled into its own folder. This makes one folder of
theirs: run.db, summary.json, report.html. With the address of the Redis server it also has what
waits there: the last seconds of each worker, and all that a worker left behind which died for good.
The folders and the server stay as they are, so the crawl may be going on, and merging again brings
the report up to date. Folders of other machines have to be copied here first.

The exit code is 1 if records are missing since not all workers' folders were named.

examples:
  scrapy merge runs/all runs/worker1 runs/worker2 redis://127.0.0.1:6379/0
  scrapy merge runs/all runs/worker* redis://127.0.0.1:6379/0 --remove
"""

_SCHEMES = ("redis://", "rediss://", "unix://")


class Command(ScrapyCommand):
    """Merges the shares of workers."""

    requires_crawler_process = False

    def syntax(self) -> str:
        """How the command is called."""
        return "FOLDER WORKER_FOLDER... [redis://HOST:PORT/DB] [--remove]"

    def short_desc(self) -> str:
        """One line in the list of commands."""
        return "Make one run and one report of the shares of a crawl's workers"

    def long_desc(self) -> str:
        """What --help says."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options beside Scrapy's own."""
        super().add_options(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = _MANUAL
        parser.add_argument(
            "--remove",
            action="store_true",
            help="delete the crawl from the Redis server afterwards, unless a worker is at work on "
            "it or records are missing",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Merge what is named and print the figures."""
        folders = [Path(arg) for arg in args if not arg.startswith(_SCHEMES)]
        addresses = [arg for arg in args if arg.startswith(_SCHEMES)]
        if len(folders) < 2 or len(addresses) > 1 or (opts.remove and not addresses):
            self._fail(f"scrapy merge {self.syntax()}", 2)
            return
        try:
            self._merge(folders[0], folders[1:], addresses, is_removed=opts.remove)
        except (CrawlError, OSError) as error:
            self._fail(str(error), 1)

    def _merge(
        self, folder: Path, shares: list[Path], addresses: list[str], *, is_removed: bool
    ) -> None:
        from crawler.report.crawl_page import write_report
        from crawler.report.crawl_tables import print_summary

        stored = _stored(addresses[0], shares[0]) if addresses else None
        merged = merge(folder, shares, stored)
        print_summary(write_report(folder))
        print(f"{folder / 'report.html'}")
        if merged.missing:
            self._fail(f"{merged.missing:,} records are in none of these folders", 1)
        elif stored is not None and is_removed:
            self._remove(stored)

    def _remove(self, stored: StoredCrawl) -> None:
        if stored.totals()["leased"]:
            self._fail("a worker is at work on the crawl; nothing was removed", 1)
        else:
            stored.remove()

    def _fail(self, message: str, code: int) -> None:
        print(f"scrapy merge: {message}", file=sys.stderr)
        self.exitcode = code


def _stored(address: str, share: Path) -> StoredCrawl:
    crawl = crawl_of(share)
    stored = StoredCrawl(connect(address), crawl)
    if not stored.exists():
        raise CrawlError(f"there is no crawl {crawl} at that address")
    return stored
