"""The table `archived` of a run: one row for each exchange in its WARC files."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from zlib import crc32

from crawler.errors import StorageError
from crawler.outputs.warc_records import Original
from crawler.set_aside import BadRow, set_aside

SAME_PAYLOAD_AS, NOT_MODIFIED_SINCE = 1, 2
"""The values of `is_revisit` for revisits."""


class ArchivedRow(NamedTuple):
    """An exchange in a WARC file; see its columns in `crawler.run`."""

    fingerprint: int | None
    url: str
    date: str
    status: int
    mime: str
    digest: str
    is_revisit: int
    file: str
    start: int
    length: int
    finish: int

    def checksum(self) -> int:
        """Return a checksum of all values."""
        return crc32(repr(tuple(self)).encode("utf-8", "replace"))


_COLUMNS = ", ".join(ArchivedRow._fields)
_PLACES = "?, " * len(ArchivedRow._fields)
_INSERT = f"INSERT INTO archived({_COLUMNS}, checksum) VALUES ({_PLACES}?)"  # noqa: S608
_CHANGE = f"UPDATE archived SET ({_COLUMNS}, checksum) = ({_PLACES}?) WHERE id = ?"  # noqa: S608
_ALL = f"SELECT id, {_COLUMNS}, checksum FROM archived ORDER BY id"  # noqa: S608
_ORIGINAL = "SELECT url, date FROM archived WHERE digest = ? AND is_revisit = 0 LIMIT 1"
_OF_EARLIER = "SELECT kept_url, kept_at FROM earlier WHERE url = ? AND kept_at IS NOT NULL"
_UNSETTLED = """\
SELECT id FROM archived AS a WHERE id = (SELECT MAX(id) FROM archived)
AND fingerprint IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM pages AS p WHERE p.fingerprint = a.fingerprint)"""


@contextmanager
def storing() -> Iterator[None]:
    """Raise `StorageError` for an error of the database."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StorageError(f"the run can no longer be written: {error}") from error


def add(connection: sqlite3.Connection, row: ArchivedRow) -> int:
    """Store a row and return its id; raises `StorageError`."""
    with storing():
        cursor = connection.execute(_INSERT, (*row, row.checksum()))
    return cursor.lastrowid or 0


def add_all(connection: sqlite3.Connection, rows: Iterable[ArchivedRow]) -> None:
    """Store rows in the caller's transaction."""
    connection.executemany(_INSERT, ((*row, row.checksum()) for row in rows))


def change(connection: sqlite3.Connection, number: int, row: ArchivedRow) -> None:
    """Give the row with an id other values, in the caller's transaction."""
    connection.execute(_CHANGE, (*row, row.checksum(), number))


def remove(connection: sqlite3.Connection, row: int) -> None:
    """Remove the row with an id; raises `StorageError`."""
    with storing():
        connection.execute("DELETE FROM archived WHERE id = ?", (row,))


def original_of(connection: sqlite3.Connection, digest: str) -> Original | None:
    """Return the first record whose payload has a digest; raises `StorageError`."""
    return _found(connection, _ORIGINAL, digest)


def original_of_earlier(connection: sqlite3.Connection, url: str) -> Original | None:
    """Return the record of an earlier run that has the body of a page; raises `StorageError`."""
    return _found(connection, _OF_EARLIER, url)


def _found(connection: sqlite3.Connection, query: str, key: str) -> Original | None:
    with storing():
        found = connection.execute(query, (key,)).fetchone()
    return None if found is None else Original(*found)


def read_archived(connection: sqlite3.Connection) -> Iterator[tuple[int, ArchivedRow]]:
    """Yield the id and the values of the sound rows in their order."""
    for number, row in _checked(connection):
        if isinstance(row, ArchivedRow):
            yield number, row


def _checked(
    connection: sqlite3.Connection,
) -> Iterator[tuple[int, ArchivedRow | Sequence[object]]]:
    """Yield the id and the row; a row with a wrong checksum as its values."""
    for number, *values, checksum in connection.execute(_ALL):
        row = ArchivedRow(*values)
        yield number, row if checksum == row.checksum() else values


def take_out_bad(connection: sqlite3.Connection) -> list[BadRow]:
    """Set the rows with a wrong checksum aside and return them."""
    bad = [
        (number, BadRow(f"archived {number}", "its checksum is wrong", repr(row)))
        for number, row in _checked(connection)
        if not isinstance(row, ArchivedRow)
    ]
    for number, _ in bad:
        connection.execute("DELETE FROM archived WHERE id = ?", (number,))
    set_aside(connection, [row for _, row in bad])
    return [row for _, row in bad]


def unsettled(connection: sqlite3.Connection) -> list[int]:
    """Return the id of the last row if its URL is not settled, [] if it is.

    An exchange is written right before its URL is settled, so only the last one can lack that.
    """
    return [number for (number,) in connection.execute(_UNSETTLED)]


def forget_unsettled(connection: sqlite3.Connection) -> None:
    """Remove the last row if its URL was not settled."""
    for number in unsettled(connection):
        connection.execute("DELETE FROM archived WHERE id = ?", (number,))
