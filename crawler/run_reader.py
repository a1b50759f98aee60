"""Where the figures come from: the `run.db` of a run, opened for reading only."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from crawler.errors import RunFolderError


@contextmanager
def reading(run: sqlite3.Connection | Path | str) -> Iterator[sqlite3.Connection]:
    """A connection to a run that sees one moment of it, also while the crawl goes on.

    `run` is a run's folder, its `run.db`, or a connection, which is used as it is and left open.
    Raises RunFolderError for a path that is no run.
    """
    if isinstance(run, sqlite3.Connection):
        yield run
        return
    path = Path(run)
    path = path / "run.db" if path.is_dir() else path
    if not path.is_file():
        raise RunFolderError(f"{run} is not the folder of a run: it has no run.db")
    try:
        # Not mode=ro: the last reader of a database in WAL mode must be able to clean up behind it.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection
    except sqlite3.DatabaseError as error:
        raise RunFolderError(f"{path} cannot be read as a run: {error}") from error
