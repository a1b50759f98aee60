"""The table `archived` of a run: one row for each exchange in its WARC files.

An exchange is written right before its URL is settled, so only the last one can lack that.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crawler.errors import RunFolderError, StorageError
from crawler.outputs.warc_files import file_of

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
_ENDS = "SELECT file, MAX(finish) FROM archived WHERE id <> ? GROUP BY file ORDER BY file"
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


def change(connection: sqlite3.Connection, number: int, row: ArchivedRow) -> None:
    """Give the row with an id other values, in the caller's transaction."""
    connection.execute(_CHANGE, (*row, number))


def remove(connection: sqlite3.Connection, row: int) -> None:
    """Remove the row with an id; raises `StorageError`."""
    with storing():
        connection.execute("DELETE FROM archived WHERE id = ?", (row,))


def read_archived(
    connection: sqlite3.Connection, where: str = "TRUE", *values: object
) -> Iterator[tuple[int, ArchivedRow]]:
    """Yield the id and the values of each row with a condition in their order."""
    query = f"SELECT id, {_COLUMNS} FROM archived WHERE {where} ORDER BY id"  # noqa: S608
    for number, *row in connection.execute(query, values):
        yield number, ArchivedRow(*row)


def found_archived(
    connection: sqlite3.Connection, where: str, *values: object
) -> ArchivedRow | None:
    """Return the first row with a condition, None without any."""
    return next((row for _, row in read_archived(connection, where, *values)), None)


def unsettled(connection: sqlite3.Connection) -> int:
    """Return the id of the last row if its URL is not settled, 0 if it is."""
    found = connection.execute(_UNSETTLED).fetchone()
    return 0 if found is None else int(found[0])


def settled(connection: sqlite3.Connection) -> Iterator[ArchivedRow]:
    """Yield the exchanges of settled URLs in their order, also while the run is crawled."""
    return (row for _, row in read_archived(connection, "id <> ?", unsettled(connection)))


def settled_files(connection: sqlite3.Connection, folder: Path) -> dict[Path, int]:
    """Return the WARC files; the exchanges of settled URLs are their first so many bytes.

    Raises `RunFolderError` for one that is missing.
    """
    ends = connection.execute(_ENDS, (unsettled(connection),))
    sizes = {file_of(folder, name): size for name, size in ends.fetchall()}
    for path, size in sizes.items():
        if not path.exists() or path.stat().st_size < size:
            raise RunFolderError(f"{path}: it is missing or shorter than its run says")
    return sizes
