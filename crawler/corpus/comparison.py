"""Page comparison in a corpus: near-duplicates, and lines repeated by a host.

Two texts are near-duplicates if the Jaccard index of their word trigram sets is at least
`THRESHOLD` (Broder 1997), estimated from `VALUES` MinHash values per text. Texts with a common band
of `_BAND` values are compared (Leskovec, Rajaraman and Ullman 2014, 3.4): a pair at the threshold
shares at least one band with probability 99.8 %.

Menus, notices and footers missed by an extractor recur on many pages. A line is repeated if
`LEAST_PAGES` pages of its host contain the line and are no copies of each other. A long line may be
an article's lead on overview pages, so half of the host's distinct pages must also contain the
line.
"""

import sqlite3
from array import array
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.crawler.corpus.texts import VALUES, PageText

THRESHOLD: Final = 0.8
_BANDS: Final = 21
_BAND: Final = VALUES // _BANDS
_AT_ONCE: Final = 20_000
_FACTORS: Final = np.arange(1, _BAND + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

Signatures = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

LEAST_PAGES: Final = 3
LONG_LINE: Final = 100
"""Minimum length of a long line in characters."""

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
    """A corpus's pages in work folder files, numbered from 0 in insertion order."""

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
        """Find originals and repeated lines after the last `add`."""
        self._file.close()
        if self._number:
            signatures = np.memmap(self._signatures, np.uint32, "r", shape=(self._number, VALUES))
            in_time = self._connection.execute("SELECT id FROM pages ORDER BY fetched_at, id")
            order = np.fromiter((number for (number,) in in_time), np.int64, self._number)
            rank = np.empty_like(order)
            rank[order] = np.arange(self._number)
            original = originals(signatures, rank)
            copies = np.flatnonzero(original != np.arange(self._number))
            pairs = zip(original[copies].tolist(), copies.tolist(), strict=True)
            self._connection.executemany("UPDATE pages SET original = ? WHERE id = ?", pairs)
        self._connection.execute(_COUNTED)
        self._connection.execute(_REPEATED, {"least": LEAST_PAGES})

    def original_of(self, number: int) -> str | None:
        """Return the URL of the original page, or None."""
        row = self._connection.execute(_ORIGINAL, (number,)).fetchone()
        return None if row is None else str(row[0])

    def are_repeated(self, number: int) -> list[bool]:
        """Return for each line of a page whether the host repeats the line."""
        return [bool(mark) for (mark,) in self._connection.execute(_IS_REPEATED, (number,))]

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        self._connection.close()


def _key(host: str, line: str) -> int:
    """Return a 64-bit number for a line on a host, odd for a long line."""
    data = f"{host}\n{line.lower()}".encode("utf-8", "replace")
    number = int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)
    return number & ~1 | (len(line) >= LONG_LINE)


def originals(signatures: Signatures, rank: Numbers) -> Numbers:
    """Return the original of each text; an original is its own.

    `rank` are unique places in time: the earliest text in a chain of near-duplicates is the
    original of the whole chain. `signatures` may be a memory-mapped file; only one band at a time
    is in memory.
    """
    original = np.arange(len(signatures), dtype=np.int64)
    for band in range(_BANDS):
        order, is_first = _groups(_keys(signatures, band), rank)
        group = np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))
        later = np.flatnonzero(~is_first)
        # The earliest text with the band, and the previous text; other members rarely add copies.
        for earlier in (group[later], later - 1):
            _join(original, signatures, rank, order[later], order[earlier])
    while not np.array_equal(original, original[original]):
        original = original[original]
    return original


def _keys(signatures: Signatures, band: int) -> npt.NDArray[np.uint64]:
    """Return a number for each text's values in a band."""
    keys = np.empty(len(signatures), np.uint64)
    columns = slice(band * _BAND, (band + 1) * _BAND)
    for at in range(0, len(keys), _AT_ONCE):
        rows = signatures[at : at + _AT_ONCE, columns].astype(np.uint64)
        mixed = (rows * _FACTORS).sum(axis=1, dtype=np.uint64)
        mixed ^= mixed >> np.uint64(29)
        keys[at : at + _AT_ONCE] = mixed * _FACTORS[0]
    return keys


def _groups(keys: npt.NDArray[np.uint64], rank: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Return the texts sorted by key and time, and a mask of the first text per key."""
    order = np.lexsort((rank, keys)).astype(np.int64)
    in_order = keys[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    return order, is_first


def _join(
    original: Numbers, signatures: Signatures, rank: Numbers, later: Numbers, earlier: Numbers
) -> None:
    """Mark near-duplicates as copies if `earlier` precedes the original found so far."""
    wanted = rank[earlier] < rank[original[later]]
    later, earlier = later[wanted], earlier[wanted]
    for at in range(0, len(later), _AT_ONCE):
        a, b = later[at : at + _AT_ONCE], earlier[at : at + _AT_ONCE]
        is_near = (signatures[a] == signatures[b]).mean(axis=1) >= THRESHOLD
        original[a[is_near]] = b[is_near]
