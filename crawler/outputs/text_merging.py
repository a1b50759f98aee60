"""Brings the texts of all workers of a shared crawl into the merged run, and compares them there.

A worker knows the texts of the other workers as little as their order. So near-duplicates and
repeated lines are marked when the folders are merged: page by page in the order in which all
workers together settled them, as a crawl without other workers does it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from crawler.frontier.storage import MOST_COMPARED
from crawler.outputs.text_comparison import TextComparison
from crawler.page_text import unpacked
from crawler.run_reader import reading

_AT_ONCE: Final = 500
_OF_WORKER: Final = (
    "SELECT p.fingerprint, p.fetched_at, t.words, t.content"
    " FROM texts AS t JOIN pages AS p ON p.id = t.page ORDER BY t.page"
)
# Of a URL that two workers have, the row that counts is the one that was fetched first.
_ADD: Final = (
    "INSERT OR IGNORE INTO texts SELECT id, ?3, NULL, ?4 FROM pages"
    " WHERE fingerprint = ?1 AND fetched_at = ?2"
)
_NEXT: Final = (
    "SELECT t.page, p.host, t.content FROM texts AS t JOIN pages AS p ON p.id = t.page"
    " WHERE t.page > ? ORDER BY t.page LIMIT ?"
)


class FoundText(NamedTuple):
    """The text of a worker's page: its words, and title and paragraphs as a run stores them."""

    fingerprint: int
    fetched_at: float
    words: int
    content: bytes


def gather_texts(
    connection: sqlite3.Connection, shares: Sequence[Path], waiting: Iterable[FoundText]
) -> None:
    """Add the texts of workers' folders to a merged run that has their pages already.

    `waiting` are texts that are not in a folder yet. The caller's transaction is used.
    """
    connection.executemany(_ADD, waiting)
    for share in shares:
        with reading(share) as worker:
            connection.executemany(_ADD, worker.execute(_OF_WORKER))
    _compare(connection)


def _compare(connection: sqlite3.Connection) -> None:
    """Mark near-duplicates and repeated lines; a damaged text stays as it is."""
    connection.execute("CREATE TEMP TABLE host_lines(host TEXT PRIMARY KEY, lines TEXT NOT NULL)")
    comparison = TextComparison(connection)
    for number, (page, host, content) in enumerate(_texts(connection)):
        try:
            text = unpacked(content, 0, None)
        except ValueError:
            continue
        lines = connection.execute(
            "SELECT lines FROM host_lines WHERE host = ?", (host,)
        ).fetchone()
        new = comparison.compared(text.title, text.paragraphs, lines[0] if lines else None)
        connection.execute(
            "UPDATE texts SET words = ?, copy_of = ?, content = ? WHERE page = ?",
            (new.text.words, new.text.copy_of, new.text.packed(), page),
        )
        bands = [(band, page) for band in new.bands]
        connection.executemany("INSERT OR REPLACE INTO bands VALUES (?, ?)", bands)
        connection.execute(
            "INSERT OR REPLACE INTO host_lines VALUES (?, ?)", (host, new.host_lines)
        )
        if number % _AT_ONCE == 0:
            connection.execute("DELETE FROM bands WHERE page <= ?", (page - MOST_COMPARED,))
    # No crawl goes on with a merged run.
    connection.execute("DELETE FROM bands")
    connection.execute("DROP TABLE host_lines")


def _texts(connection: sqlite3.Connection) -> Iterator[tuple[int, str, bytes]]:
    last = 0
    while rows := connection.execute(_NEXT, (last, _AT_ONCE)).fetchall():
        yield from rows
        last = rows[-1][0]
