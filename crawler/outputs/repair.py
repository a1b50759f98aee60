"""Makes the WARC files of a run agree with its database after a kill."""

import logging
import sqlite3
from pathlib import Path

from crawler.errors import RunFolderError
from crawler.outputs import archived
from crawler.outputs.warc_files import NAME, file_of

_log = logging.getLogger(__name__)


def repair(connection: sqlite3.Connection, folder: Path) -> None:
    """Cut what a kill left in the WARC files of a run beyond the exchanges of settled URLs.

    A file that is shorter than its rows say loses those rows; a warning tells their number. Only a
    power cut or a person makes such a file. Raises `RunFolderError`.
    """
    names = sorted(path.name for path in folder.glob("pages-*") if NAME.fullmatch(path.name))
    try:
        archived.remove(connection, archived.unsettled(connection))
        ends = dict(connection.execute("SELECT file, MAX(finish) FROM archived GROUP BY file"))
        files = {name: file_of(folder, name) for name in (*names, *ends)}
        for name in names:
            _cut(files[name], ends.get(name))
        lost = sum(_forget_missing(connection, files[name]) for name in ends)
    except (OSError, sqlite3.Error) as error:
        raise RunFolderError(f"{folder}: its WARC files cannot be repaired: {error}") from error
    if lost:
        _log.warning("%s: its WARC files lack %s exchanges of settled pages", folder, f"{lost:,}")


def _cut(path: Path, end: int | None) -> None:
    """Remove the bytes after `end`; None: the file has no exchange of a settled URL."""
    if end is None:
        path.unlink()
    elif path.stat().st_size > end:
        with path.open("r+b") as file:
            file.truncate(end)


def _forget_missing(connection: sqlite3.Connection, path: Path) -> int:
    """Remove the rows of exchanges beyond the end of a file, and their rests; return the number.

    A file that is not there was moved to another place, and its rows stay.
    """
    if not path.exists():
        return 0
    lost = connection.execute(
        "DELETE FROM archived WHERE file = ? AND finish > ? RETURNING start",
        (path.name, path.stat().st_size),
    ).fetchall()
    if lost:
        with path.open("r+b") as file:
            file.truncate(min(start for (start,) in lost))
    return len(lost)
