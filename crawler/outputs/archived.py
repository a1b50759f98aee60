"""The table `archived` of a run: one row per exchange in its WARC files.

An exchange is written right before its URL is settled, so only the last exchange may be unsettled.
"""

import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.run.folder import reading

_log = logging.getLogger(__name__)

NAME: Final = re.compile(r"pages-\d{14}-\d{5}(-[0-9a-f]{8})?\.warc\.gz")
"""The names of the WARC files of a run."""

SAME_PAYLOAD_AS, NOT_MODIFIED_SINCE = 1, 2
"""The values of `is_revisit` for revisits."""


class ArchivedRow(NamedTuple):
    """An exchange in a WARC file; see its columns in `crawler.run.folder`."""

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
_IS_MISSING = """\
SELECT EXISTS(SELECT 1 FROM pages WHERE fingerprint = :key)
AND NOT EXISTS(SELECT 1 FROM archived WHERE fingerprint = :key)"""


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
    """Replace the values of a row, in the caller's transaction."""
    connection.execute(_CHANGE, (*row, number))


def remove(connection: sqlite3.Connection, row: int) -> None:
    """Remove the row with an id; raises `StorageError`."""
    with storing():
        connection.execute("DELETE FROM archived WHERE id = ?", (row,))


def read_archived(
    connection: sqlite3.Connection, where: str = "TRUE", *values: object
) -> Iterator[tuple[int, ArchivedRow]]:
    """Yield id and values of each matching row, by id."""
    query = f"SELECT id, {_COLUMNS} FROM archived WHERE {where} ORDER BY id"  # noqa: S608
    for number, *row in connection.execute(query, values):
        yield number, ArchivedRow(*row)


def found_archived(
    connection: sqlite3.Connection, where: str, *values: object
) -> ArchivedRow | None:
    """Return the first matching row, or None."""
    return next((row for _, row in read_archived(connection, where, *values)), None)


def with_payload(connection: sqlite3.Connection, digest: str) -> ArchivedRow | None:
    """Return the exchange with this payload, the target of revisits, or None."""
    return found_archived(connection, "digest = ? AND is_revisit = 0", digest)


def kept_earlier(connection: sqlite3.Connection, url: str) -> tuple[str, str] | None:
    """Return URL and date of an earlier run's record of a page, or None."""
    query = "SELECT kept_url, kept_at FROM earlier WHERE url = ? AND kept_at IS NOT NULL"
    row = connection.execute(query, (url,)).fetchone()
    return None if row is None else (row[0], row[1])


def unsettled(connection: sqlite3.Connection) -> int:
    """Return the id of the last row if its URL is unsettled, else 0."""
    found = connection.execute(_UNSETTLED).fetchone()
    return 0 if found is None else int(found[0])


def file_of(folder: Path, name: str) -> Path:
    """Return the path of a WARC file named in a run's database; raises `RunFolderError`.

    The run may be untrusted: only a regular file in the folder, with a crawl's file name, is ever
    read, cut or deleted.
    """
    path = folder / name
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RunFolderError(
            f"{folder}: its run.db names {name!r:.99}, which is no WARC file of it"
        )
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RunFolderError(f"{path}: it is not a regular file")
    return path


def settled_files(connection: sqlite3.Connection, folder: Path) -> dict[Path, int]:
    """Return each WARC file with the byte length of its settled exchanges.

    Raises `RunFolderError` for a missing file.
    """
    ends = connection.execute(_ENDS, (unsettled(connection),))
    sizes = {file_of(folder, name): size for name, size in ends.fetchall()}
    for path, size in sizes.items():
        if not path.exists() or path.stat().st_size < size:
            raise RunFolderError(f"{path}: it is missing or shorter than its run says")
    return sizes


def repair(connection: sqlite3.Connection, folder: Path) -> None:
    """Truncate the WARC files of a run after the last exchange of a settled URL.

    A kill leaves further bytes. If a power cut or a person has shortened a file, the rows of
    missing exchanges are deleted with a warning. Raises `RunFolderError`.
    """
    names = sorted(path.name for path in folder.glob("pages-*") if NAME.fullmatch(path.name))
    try:
        remove(connection, unsettled(connection))
        ends = dict(connection.execute("SELECT file, MAX(finish) FROM archived GROUP BY file"))
        files = {name: file_of(folder, name) for name in (*names, *ends)}
        for name in names:
            if name not in ends:
                files[name].unlink()
            elif files[name].stat().st_size > ends[name]:
                os.truncate(files[name], ends[name])
        lost = sum(_forget_missing(connection, files[name]) for name in ends)
    except (OSError, sqlite3.Error) as error:
        raise RunFolderError(f"{folder}: its WARC files cannot be repaired: {error}") from error
    if lost:
        _log.warning("%s: its WARC files lack %s exchanges of settled pages", folder, f"{lost:,}")


def _forget_missing(connection: sqlite3.Connection, path: Path) -> int:
    """Delete the rows beyond the end of a file, truncate the file, and return their number.

    Rows of a missing file are kept: the file may have been moved.
    """
    if not path.exists():
        return 0
    lost = connection.execute(
        "DELETE FROM archived WHERE file = ? AND finish > ? RETURNING start",
        (path.name, path.stat().st_size),
    ).fetchall()
    if lost:
        os.truncate(path, min(start for (start,) in lost))
    return len(lost)


def gather(connection: sqlite3.Connection, folder: Path, shares: Sequence[Path]) -> None:
    """Add the exchanges of workers' folders to a merged run, after their pages.

    Worker files are linked into `folder`, or copied where the file system has no links. A worker's
    last exchange counts if its URL is settled and no other worker kept it. Raises
    `RunFolderError`.
    """
    last: list[tuple[Path, ArchivedRow]] = []
    for share in shares:
        with reading(share) as worker:
            number = unsettled(worker)
            for _, row in read_archived(worker, "id <> ?", number):
                add(connection, row)
            row_after = found_archived(worker, "id = ?", number)
            last += [(share, row_after)] if row_after is not None else []
            for path in settled_files(worker, share):
                _bring(path, folder / path.name)
    for share, row in last:
        if connection.execute(_IS_MISSING, {"key": row.fingerprint}).fetchone()[0]:
            add(connection, row)
            _bring(file_of(share, row.file), folder / row.file)


def _bring(path: Path, target: Path) -> None:
    """Link or copy a file, replacing an earlier one."""
    try:
        if target.exists() and target.samefile(path):
            return
        target.unlink(missing_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)
    except OSError as error:
        raise RunFolderError(f"{target}: cannot be made: {error.strerror or error}") from error
