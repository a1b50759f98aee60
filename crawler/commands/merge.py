"""`langfocus merge`: the shares of all workers of a shared crawl as one run with one report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.command import LangfocusCommand
from crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from crawler.shared.stored import StoredCrawl

_MANUAL = """\
With the address of the Redis server the run also has the records that are still in it: the last
seconds of each worker, and all records of a worker that died. The folders and the server are not
changed. The crawl may still be running; merge again to bring the report up to date. Copy the
folders of other machines to this one first.

The exit code is 1 if records are missing because the folder of a worker was not named.

examples:
  langfocus merge runs/all runs/worker1 runs/worker2 redis://127.0.0.1:6379/0
  langfocus merge runs/all runs/worker* redis://127.0.0.1:6379/0 --remove
  langfocus merge runs/census runs/census-1 runs/census-2
"""

_SCHEMES = ("redis://", "rediss://", "unix://")


class MergeCommand(LangfocusCommand):
    """Makes one run of the folders of all workers."""

    usage = "FOLDER WORKER_FOLDER... [redis://HOST:PORT/DB] [--remove] [--json FILE]"
    summary = "Make one run and one report of the shares of a crawl's workers"
    description = (
        "Makes one folder of the folders of all workers of a shared crawl: run.db, summary.json, "
        "report.html. Each worker writes only the URLs that it settled into its own folder. The "
        "folders of a census whose list of hosts was split into ranges are merged in the same way."
    )
    json_help = "also write the figures to FILE, as JSON"

    def manual(self) -> str:
        """Return the rest of `--help`."""
        return _MANUAL

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command."""
        super().add_options(parser)
        parser.add_argument(
            "--remove",
            action="store_true",
            help="delete the crawl from the Redis server afterwards, unless a worker is active "
            "or records are missing",
        )

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        """Merge the given folders and print the figures."""
        folders = [Path(arg) for arg in args if not arg.startswith(_SCHEMES)]
        addresses = [arg for arg in args if arg.startswith(_SCHEMES)]
        if len(folders) < 2 or len(addresses) > 1 or (opts.remove and not addresses):
            raise SettingError(f"expected langfocus merge {self.usage}")
        stored = _stored(addresses[0], folders[1]) if addresses else None
        self._merge(folders[0], folders[1:], stored, opts)
        if stored is not None and opts.remove:
            _remove(stored)

    def _merge(
        self,
        folder: Path,
        shares: list[Path],
        stored: StoredCrawl | None,
        opts: argparse.Namespace,
    ) -> None:
        from crawler.report.run_report import report
        from crawler.shared.merging import merge

        merged = merge(folder, shares, stored)
        figures, page = report(folder)
        self.write_json(opts, figures)
        print(page)
        if merged.missing:
            raise CrawlError(f"{merged.missing:,} records are in none of these folders")


def _remove(stored: StoredCrawl) -> None:
    if stored.totals()["leased"]:
        raise CrawlError("a worker is active; the crawl was not removed")
    stored.remove()


def _stored(address: str, share: Path) -> StoredCrawl:
    from crawler.shared.merging import crawl_of
    from crawler.shared.stored import StoredCrawl, connect

    crawl = crawl_of(share)
    stored = StoredCrawl(connect(address), crawl)
    if not stored.exists():
        raise CrawlError(f"there is no crawl {crawl} at that address")
    return stored
