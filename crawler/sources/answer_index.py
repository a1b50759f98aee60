"""Places of an archive's answers, in a temporary database on disk.

A `revisit` is an answer if the record with its body is in the archive: the record named by id, or
by URL over http or https, if the digests agree; without either, a record with the same digest.
Digests are compared as bytes: hexadecimal, base32 and base64 are spellings.
"""

import logging
import sqlite3
from base64 import b32decode, b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import quote
from weakref import finalize

from langfocus.crawler.sources.warc_reader import ANSWER, REVISIT, ArchiveRecord
from langfocus.crawler.url import normalise

_log = logging.getLogger(__name__)

PRINTABLE: Final = "".join(map(chr, range(33, 127)))
_SIZES: Final = (16, 20, 28, 32, 48, 64)  # bytes of digests, from MD5 to SHA-512

_TABLE: Final = """\
CREATE TABLE answers(
    id INTEGER PRIMARY KEY, place TEXT, canonical TEXT, url TEXT, volume INTEGER, offset INTEGER,
    record TEXT, digest BLOB, date TEXT,
    is_revisit INTEGER, body TEXT, body_record TEXT, body_date TEXT, original INTEGER);
"""
_SAME: Final = """
    other.is_revisit = 0 AND (CASE WHEN answers.digest IS NULL
    THEN answers.body_date IN ('', other.date) ELSE other.digest IS NULL
    OR other.digest = answers.digest END)"""
_RESOLVED: Final = f"""\
CREATE INDEX by_place ON answers(place, volume, offset);
CREATE INDEX by_record ON answers(record) WHERE record <> '';
CREATE INDEX by_digest ON answers(digest) WHERE digest IS NOT NULL;
UPDATE answers SET original = COALESCE(
    (SELECT id FROM answers AS other WHERE other.record = answers.body_record
     AND other.record <> '' AND other.is_revisit = 0 LIMIT 1),
    (SELECT id FROM answers AS other WHERE other.place = COALESCE(answers.body, answers.place)
     AND {_SAME} ORDER BY other.volume, other.offset LIMIT 1),
    (SELECT id FROM answers AS other WHERE answers.body IS NULL
     AND other.digest = answers.digest AND other.is_revisit = 0 LIMIT 1))
WHERE is_revisit;
"""  # noqa: S608  # our own words
_FOUND: Final = "SELECT url, volume, offset, original FROM answers"


class Place(NamedTuple):
    """The place of an answer: file number and offset; `original` is the place of its body."""

    url: str
    volume: int
    offset: int
    original: int | None


class AnswerIndex:
    """The answers in an archive's files. len() is their number."""

    def __init__(self) -> None:
        # A database without a name is a temporary file.
        self._sql = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._sql.close)
        self._sql.execute(_TABLE)
        self._sql.execute("BEGIN")

    def add(self, volume: int, record: ArchiveRecord) -> None:
        """Note a record of a file, if it is an answer."""
        if record.kind not in (ANSWER, REVISIT):
            return
        canonical = canonical_of(record.url)
        body = place_of(canonical_of(record.refers_to)) if record.refers_to else None
        self._sql.execute(
            "INSERT INTO answers VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                place_of(canonical),
                canonical,
                record.url,
                volume,
                record.offset,
                record.id,
                digest_of(record.digest),
                record.date,
                record.kind == REVISIT,
                body,
                record.refers_to_id,
                record.refers_to_date,
            ),
        )

    def resolve(self) -> None:
        """End the notes: find the bodies of revisits, and forget those without."""
        self._sql.executescript(_RESOLVED)  # it ends the transaction
        lost = self._sql.execute("DELETE FROM answers WHERE is_revisit AND original IS NULL")
        if lost.rowcount:
            message = "%s revisits are left out: give the archive that has their bodies, too"
            _log.warning(message, f"{lost.rowcount:,}")

    def __len__(self) -> int:
        return int(self._sql.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def all(self, *, only_revisits: bool = False) -> Iterator[Place]:
        """Yield the answers in the order of the files."""
        order = "ORDER BY volume, offset"
        for row in self._sql.execute(f"{_FOUND} WHERE is_revisit >= ? {order}", (only_revisits,)):
            yield Place(*row)

    def places(self, url: str) -> list[Place]:
        """Return the answers to a URL, those over its own scheme first."""
        canonical = canonical_of(url)
        order = "ORDER BY canonical <> ?, volume, offset"
        wanted = place_of(canonical), canonical
        found = self._sql.execute(f"{_FOUND} WHERE place = ? {order}", wanted)
        return [Place(*row) for row in found]

    def original(self, place: Place) -> Place:
        """Return the answer with the body of another."""
        row = self._sql.execute(f"{_FOUND} WHERE id = ?", (place.original,)).fetchone()
        return Place(*row)


def canonical_of(url: str) -> str:
    """Return the common spelling of equal URLs; texts that are no URLs of pages only get ASCII."""
    return normalise(url) or quote(url.strip().partition("#")[0], safe=PRINTABLE, errors="replace")


def place_of(canonical: str) -> str:
    """Return a URL without its scheme, if that is http or https."""
    scheme, _, rest = canonical.partition(":")
    return rest if scheme in ("http", "https") else canonical


def digest_of(text: str) -> bytes | None:
    """Return the bytes of a digest such as `sha1:…`; any other text unchanged, None for ""."""
    value = text.rpartition(":")[2].strip().rstrip("=")
    for bits, decode in _SPELLINGS:
        if len(value) in (-(-8 * size // bits) for size in _SIZES):
            with suppress(ValueError):
                return decode(value)
    return text.lower().encode() or None


def _of_base32(value: str) -> bytes:
    return b32decode(value.upper() + "=" * (-len(value) % 8))


def _of_base64(value: str) -> bytes:
    plain = value.replace("-", "+").replace("_", "/")
    return b64decode(plain + "=" * (-len(value) % 4), validate=True)


_SPELLINGS: Final = ((4, bytes.fromhex), (5, _of_base32), (6, _of_base64))
