"""`langfocus merge`: all workers' shares of a crawl as one run with one report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from langfocus.crawler.commands.base import Parser
from langfocus.crawler.errors import CrawlError, SettingError

if TYPE_CHECKING:
    from langfocus.crawler.shared.stored import StoredCrawl

DESCRIPTION = (
    "Makes one folder of the folders of all workers of a shared crawl: run.db, summary.json, "
    "report.html. Each worker writes only the URLs that it settled into its own folder. The "
    "folders of a census whose list of hosts was split into ranges are merged in the same way."
)

_MANUAL = """\
With the address of the Redis server the run also has the records that are still in it: the last
seconds of each worker, and all records of a worker that died. Folders and server are not changed;
the crawl may still be running. The exit code is 1 if the folder of a worker is missing.

examples:
  langfocus merge runs/all runs/worker1 runs/worker2 redis://127.0.0.1:6379/0
  langfocus merge runs/all runs/worker* redis://127.0.0.1:6379/0 --remove
  langfocus merge runs/census runs/census-1 runs/census-2
"""

_SCHEMES = ("redis://", "rediss://", "unix://", "redis+cluster://", "rediss+cluster://")


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_path("folder", "FOLDER", "folder of the merged run")
    shares = "worker folders, and the address of the Redis server"
    metavar = "WORKER_FOLDER|redis://HOST:PORT/DB"
    parser.add_argument("shares", metavar=metavar, nargs="+", help=shares)
    removed = "then delete the crawl from Redis, unless a worker is active or records are missing"
    parser.add_argument("--remove", action="store_true", help=removed)


def run(opts: argparse.Namespace) -> None:
    """Merge the worker folders and print the figures."""
    from langfocus.crawler.report.run_report import report
    from langfocus.crawler.shared.merging import merge

    shares = [Path(text) for text in opts.shares if not text.startswith(_SCHEMES)]
    addresses = [text for text in opts.shares if text.startswith(_SCHEMES)]
    if not shares or len(addresses) > 1 or (opts.remove and not addresses):
        raise SettingError("expected FOLDER WORKER_FOLDER... [redis://HOST:PORT/DB] [--remove]")
    stored = _stored(addresses[0], shares[0]) if addresses else None
    merged = merge(opts.folder, shares, stored)
    print(report(opts.folder, is_quiet=False).page)
    if merged.missing:
        raise CrawlError(f"{merged.missing:,} records are in none of these folders")
    if stored is not None and opts.remove:
        if stored.totals()["leased"]:
            raise CrawlError("a worker is active; the crawl was not removed")
        stored.remove()


def _stored(address: str, share: Path) -> StoredCrawl:
    from langfocus.crawler.shared.keyspace import connect
    from langfocus.crawler.shared.merging import crawl_of
    from langfocus.crawler.shared.stored import StoredCrawl

    crawl, shards = crawl_of(share)
    stored = StoredCrawl(connect(address), crawl, shards)
    if not stored.exists():
        raise CrawlError(f"there is no crawl {crawl} at that address")
    return stored
