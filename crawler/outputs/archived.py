"""The table `archived` of a run: one row for each exchange in its WARC files."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from crawler.errors import StorageError
from crawler.outputs.warc_records import Original

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


_COLUMNS = ", ".join(ArchivedRow._fields)
_PLACES = ", ".join("?" * len(ArchivedRow._fields))
_INSERT = f"INSERT INTO archived({_COLUMNS}) VALUES ({_PLACES})"  # noqa: S608
_CHANGE = f"UPDATE archived SET ({_COLUMNS}) = ({_PLACES}) WHERE id = ?"  # noqa: S608
_ALL = f"SELECT id, {_COLUMNS} FROM archived ORDER BY id"  # noqa: S608
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
        cursor = connection.execute(_INSERT, row)
    return cursor.lastrowid or 0


def add_all(connection: sqlite3.Connection, rows: Iterable[ArchivedRow]) -> None:
    """Store rows in the caller's transaction."""
    connection.executemany(_INSERT, rows)


def change(connection: sqlite3.Connection, number: int, row: ArchivedRow) -> None:
    """Give the row with an id other values, in the caller's transaction."""
    connection.execute(_CHANGE, (*row, number))


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
    """Yield the id and the values of each row in their order."""
    for number, *values in connection.execute(_ALL):
        yield number, ArchivedRow(*values)


def unsettled(connection: sqlite3.Connection) -> list[int]:
    """Return the id of the last row if its URL is not settled, [] if it is.

    An exchange is written right before its URL is settled, so only the last one can lack that.
    """
    return [number for (number,) in connection.execute(_UNSETTLED)]


def forget_unsettled(connection: sqlite3.Connection) -> None:
    """Remove the last row if its URL was not settled."""
    for number in unsettled(connection):
        connection.execute("DELETE FROM archived WHERE id = ?", (number,))
