"""Runs of released schemas, as folders of text dumps and WARC files below `tests/crawler/run/runs`.

For the next schema, with the last commit of the one before:

    python -m tests.support.pastruns schema-25

makes `tests/crawler/run/runs/schema-25`: a crawl of the sample web that reached its goal of 8
pages, and two censuses of a host each.
"""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.crawls import ROOT, finished

RUNS = ROOT / "tests" / "crawler" / "run" / "runs"
NAMES = sorted(path.name for path in RUNS.iterdir())
CRAWL = ("lang=de", "web=sample")
HOSTS = {"census-1": "www.kueche-arzt.de", "census-2": "briefferien.org"}
SAMPLE_HOSTS = 12
_PAGE_SIZE = 2048


def restore(name: str, folder: Path) -> Path:
    """Make a run's folder as it was, and return it; `name` is like `schema-24/crawl`."""
    folder.mkdir(parents=True)
    for path in (RUNS / name).glob("*.gz"):
        shutil.copy(path, folder)
    with closing(sqlite3.connect(folder / "run.db")) as connection:
        connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((RUNS / name / "run.sql").read_text("utf-8"))
    return folder


def _store(run: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(run / "run.db")) as connection:
        text = "\n".join(connection.iterdump())
    (folder / "run.sql").write_text(f"{text}\n", "utf-8")
    for path in run.glob("pages-*.gz"):
        shutil.copy(path, folder)


def main(name: str) -> None:
    """Crawl, and store what the crawls left."""
    with TemporaryDirectory() as work:
        folder = Path(work)
        settings = {"LANGFOCUS_SAMPLE_HOSTS": SAMPLE_HOSTS}
        crawl = folder / "crawl"
        finished(*CRAWL, "pages=8", JOBDIR=crawl, LANGFOCUS_LINKS=True, **settings)
        _store(crawl, RUNS / name / "crawl")
        for part, host in HOSTS.items():
            hosts = folder / f"{part}.txt"
            hosts.write_text(f"{host}\n", "utf-8")
            census = {"JOBDIR": folder / part, "LANGFOCUS_WARC": False, **settings}
            finished(f"hosts={hosts}", "web=sample", **census)
            _store(folder / part, RUNS / name / part)


if __name__ == "__main__":
    main(*sys.argv[1:])
