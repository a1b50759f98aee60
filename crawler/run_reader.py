"""A run's database, opened for reading only, and its sessions."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from crawler.errors import RunFolderError, one_line
from crawler.run import check_files, checked_meta


@contextmanager
def reading(run: sqlite3.Connection | Path | str) -> Iterator[sqlite3.Connection]:
    """Yield a connection that sees the run as it is at this moment, even during the crawl.

    `run` is a run's folder, its `run.db`, or a connection, which is yielded and left open. Raises
    RunFolderError for a path without a run of this version.
    """
    if isinstance(run, sqlite3.Connection):
        yield run
        return
    path = Path(run)
    path = path / "run.db" if path.is_dir() else path
    if not path.is_file():
        raise RunFolderError(f"{run} is not the folder of a run: it has no run.db")
    path = path.resolve()
    check_files(path.parent)
    try:
        # Not mode=ro: the last reader of a database in WAL mode must be able to clean up.
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            checked_meta(connection, Path(run))
            yield connection
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # sqlite3 fails to decode a message that is not UTF-8.
        raise RunFolderError(f"{path} cannot be read as a run: {one_line(str(error))}") from error


class Session(NamedTuple):
    """The work of one process on a run; times are unix seconds.

    `finish_reason` is None if the process was killed.
    """

    started_at: float
    ended_at: float
    finish_reason: str | None


def sessions_of(connection: sqlite3.Connection) -> list[Session]:
    """Return all sessions of a run; one that was killed ends with its last settled page."""
    rows = connection.execute(
        "SELECT started_at, ended_at, lead(started_at) OVER (ORDER BY id), finish_reason"
        " FROM sessions"
    ).fetchall()
    found = []
    for started, ended, next_started, reason in rows:
        end = _last_page(connection, started, next_started) if ended is None else ended
        found.append(Session(started, max(started, end), reason))
    return found


def _last_page(connection: sqlite3.Connection, started: float, until: float | None) -> float:
    """Return the time of the last settled page of a session; its start if there is no page."""
    before = float("inf") if until is None else until
    row = connection.execute(
        "SELECT max(fetched_at) FROM pages WHERE fetched_at >= ? AND fetched_at < ?",
        (started, before),
    ).fetchone()
    return started if row[0] is None else float(row[0])
