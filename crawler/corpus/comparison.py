"""Compares all pages of a corpus: which are near-duplicates, and which lines a host repeats.

Menus, notices and footers that an extractor left in stand on many pages. A line is repeated if it
stands on `LEAST_PAGES` pages of its host that are no copies of each other. A long line, which may
be the beginning of an article on the pages that list articles, must also stand on half of them.
"""

import sqlite3
from array import array
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np

from crawler.corpus.copies import VALUES, originals
from crawler.corpus.texts import PageText

LEAST_PAGES: Final = 3
LONG_LINE: Final = 100
"""Characters from which a line is long."""

_TABLES = """\
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE pages(
    id INTEGER PRIMARY KEY, url TEXT, host TEXT, fetched_at REAL, original INTEGER);
CREATE TABLE lines(
    page INTEGER, place INTEGER, key INTEGER, PRIMARY KEY(page, place)) WITHOUT ROWID;
CREATE TABLE counted(page INTEGER PRIMARY KEY, host TEXT);
CREATE TABLE repeated(key INTEGER PRIMARY KEY);
"""
_COUNTED = "INSERT INTO counted SELECT MIN(id), host FROM pages GROUP BY host, original"
_REPEATED = """\
INSERT INTO repeated SELECT key FROM lines JOIN counted USING (page)
JOIN (SELECT host, COUNT(*) AS pages FROM counted GROUP BY host) USING (host)
GROUP BY key HAVING COUNT(DISTINCT page) >= :least
AND (key & 1 = 0 OR 2 * COUNT(DISTINCT page) >= MAX(pages))"""
_IS_REPEATED = "SELECT key IN (SELECT key FROM repeated) FROM lines WHERE page = ? ORDER BY place"
_ORIGINAL = """\
SELECT o.url FROM pages AS p JOIN pages AS o ON o.id = p.original
WHERE p.id = ? AND p.original <> p.id"""


class Comparison:
    """The pages of a corpus in files of a work folder, numbered from 0 in the order of adding."""

    def __init__(self, work: Path) -> None:
        path = work / "compared.db"
        path.unlink(missing_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(_TABLES)
        self._signatures = work / "signatures"
        self._file = self._signatures.open("wb")
        self._number = 0
        self._connection.execute("BEGIN")

    def add(self, page: PageText) -> None:
        """Add the next page."""
        number, time = self._number, page.values["fetched_at"]
        row = (number, page.values["url"], page.host, float("inf") if time is None else time)
        self._connection.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", (*row, number))
        keys = [_key(page.host, paragraph.text) for paragraph in page.paragraphs]
        lines = ((number, place, key) for place, key in enumerate(keys))
        self._connection.executemany("INSERT INTO lines VALUES (?, ?, ?)", lines)
        self._file.write(array("I", page.signature).tobytes())
        self._number += 1

    def compare(self) -> None:
        """Find originals and repeated lines, when all pages were added."""
        self._file.close()
        if self._number:
            signatures = np.memmap(self._signatures, np.uint32, "r", shape=(self._number, VALUES))
            in_time = self._connection.execute("SELECT id FROM pages ORDER BY fetched_at, id")
            order = np.fromiter((number for (number,) in in_time), np.int64, self._number)
            rank = np.empty_like(order)
            rank[order] = np.arange(self._number)
            found = originals(signatures, rank)
            copies = np.flatnonzero(found != np.arange(self._number))
            pairs = zip(found[copies].tolist(), copies.tolist(), strict=True)
            self._connection.executemany("UPDATE pages SET original = ? WHERE id = ?", pairs)
        self._connection.execute(_COUNTED)
        self._connection.execute(_REPEATED, {"least": LEAST_PAGES})

    def original_of(self, number: int) -> str | None:
        """Return the URL of the page of which a page is a copy, None if it is of none."""
        row = self._connection.execute(_ORIGINAL, (number,)).fetchone()
        return None if row is None else str(row[0])

    def are_repeated(self, number: int) -> list[bool]:
        """Return for each line of a page whether its host repeats it."""
        return [bool(found) for (found,) in self._connection.execute(_IS_REPEATED, (number,))]

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        self._connection.close()


def _key(host: str, line: str) -> int:
    """Return a number of 64 bits for a line on a host; that of a long line is odd."""
    data = f"{host}\n{line.lower()}".encode("utf-8", "replace")
    number = int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
    return number & ~1 | (len(line) >= LONG_LINE)
