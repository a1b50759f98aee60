"""A crawl's run folder, with its links recorded, as the source of a graph."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from crawler.errors import GraphError
from crawler.frontier import outlinks
from crawler.run_reader import reading
from crawler.simulate.sources.source import GraphRow, status_of
from crawler.simulate.webgraph import FAILED
from crawler.url import normalise

_PAGES = """
    SELECT p.url, p.outcome, p.status, p.language, p.bytes, p.score, l.urls
    FROM pages AS p LEFT JOIN links AS l ON l.page = p.id ORDER BY p.id"""
_QUEUED = "SELECT url, score FROM urls WHERE queued = 1 ORDER BY id"
_RECORDED = "links of its pages are not recorded: crawl with -s LANGFOCUS_LINKS=True"


class _PageRecord(NamedTuple):
    """A page as a run recorded it: a row of `_PAGES`."""

    url: str
    outcome: str
    code: int | None
    language: str | None
    size: int
    score: float
    links: bytes | None


class RunSource:
    """The pages that a crawl fetched, and the URLs left in its queue.

    Raises `RunFolderError` where the folder is no run and `GraphError` for a run without links.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = f"run {folder}"
        self.left_out: Counter[str] = Counter()
        with reading(folder) as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            self._check(connection)
        self._seeds: list[str] = json.loads(meta.get("seeds", "[]"))
        self.ordering = meta.get("ordering") if meta.get("ordering") == "svm" else None

    def _check(self, connection: sqlite3.Connection) -> None:
        try:
            has_links = connection.execute("SELECT EXISTS(SELECT 1 FROM links)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            has_links = False
        if not has_links:
            raise GraphError(f"{self._folder}: {_RECORDED}")

    def seeds(self) -> list[str]:
        """Return the seeds of its last session."""
        return [url for url in map(normalise, self._seeds) if url]

    def rows(self) -> Iterator[GraphRow]:
        """Read the pages in the order in which they were settled, then the queue."""
        with reading(self._folder) as connection, closing(connection.cursor()) as cursor:
            for row in cursor.execute(_PAGES):
                yield self._row(_PageRecord(*row))
            for url, score in cursor.execute(_QUEUED):
                yield GraphRow(url, score=score)

    def _row(self, page: _PageRecord) -> GraphRow:
        is_download = page.code is not None and 200 <= page.code < 300
        status = status_of(page.outcome, is_download=is_download)
        if status == FAILED:
            return GraphRow(page.url, status, score=page.score)
        try:
            targets = None if page.links is None else outlinks.read(page.links)
        except ValueError as error:
            raise GraphError(f"{self._folder}: damaged links of {page.url} ({error})") from error
        return GraphRow(page.url, status, page.language, page.size, targets, page.score)
