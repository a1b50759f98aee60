"""The run folder. Its `run.db` has the frontier, the counters and one row per settled URL.

All report figures are computed from `run.db`, and the same file resumes the crawl.
"""

import json
import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from langfocus.crawler.errors import CrawlError, RunFolderError, one_line
from langfocus.crawler.run.schema import SCHEMA_VERSION, create, expected_schema, schema_of
from langfocus.crawler.run.versions import check_version, schema_number, see_as_current, upgrade
from langfocus.crawler.run.whole_file import clean_up

try:
    import fcntl
except ImportError as error:
    raise CrawlError(
        "crawls need a POSIX system (Linux, macOS, WSL), which can lock their folders"
    ) from error

RUNS = Path("runs")
"""Parent folder of the run folders of crawls without JOBDIR."""

PAYLOADS = "payloads.db"
"""The payloads of other archives, by digest; see `crawler.outputs.dedup`."""

SCOPE = "scope.txt"
"""The rules of `-a scope`, as SURT prefixes."""

REQUESTS = "requests.db"
"""The file with the requests of a spider's own code (`crawler.spiders.asked`)."""

_LOG_PAGES = 32_000
"""The longest log of a database, 64 MB."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run folder that this process works on, in a new session.

    `earlier` is the `meta` of the session before, of a new run its own.
    """

    folder: Path
    connection: sqlite3.Connection
    session: int
    earlier: Mapping[str, str]

    def end_session(self, now: float, finish_reason: str) -> None:
        """Store the time and the reason at which this process stopped working on the run."""
        self.connection.execute(
            "UPDATE sessions SET ended_at = ?, finish_reason = ? WHERE id = ?",
            (now, finish_reason, self.session),
        )


def new_folder(name: str, now: float) -> Path:
    """Make a folder below `runs` that no other process gets; raises `RunFolderError`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    folder, number = RUNS / f"{name}-{stamp}", 1
    while True:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            folder = RUNS / f"{name}-{stamp}-{number}"
        except OSError as error:
            raise RunFolderError(f"{folder}: cannot be made: {error.strerror}") from error
        else:
            return folder


def open_run(
    folder: Path, meta: Mapping[str, object], now: float, *, identity: Collection[str] = ()
) -> OpenRun:
    """Open a run folder for a crawl: start a new run, or resume an existing run.

    `meta` are the crawl's settings, including "seeds". A resumed run must have equal `identity`
    settings; a missing setting counts as empty. SQLite checks the whole file. A run with an earlier
    schema is upgraded. Raises `RunFolderError` and changes nothing if the folder holds another
    crawl, has a schema that this version cannot continue, cannot be read or written, or if the
    database structure is damaged.
    """
    values = dict.fromkeys(identity, "")
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in meta.items()}
    # A path may have bytes that are not UTF-8.
    values |= {k: v.encode("utf-8", "backslashreplace").decode() for k, v in texts.items()}
    path = folder / "run.db"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_files(folder)
        schema = SCHEMA_VERSION
        if path.exists():
            schema = _check(folder, {name: values[name] for name in identity})
        elif _log_of(path):
            raise _damaged(folder, "it is missing, but its log run.db-wal exists")
        else:
            create(path, values)
        with ExitStack() as undo:
            connection = undo.enter_context(closing(_writable(folder, schema)))
            connection.execute("BEGIN IMMEDIATE")
            earlier = dict(connection.execute("SELECT key, value FROM meta"))
            # The budget and the seeds may grow from one session to the next.
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
            session = connection.execute("INSERT INTO sessions(started_at) VALUES (?)", (now,))
            connection.execute("COMMIT")
            undo.pop_all()
    except (OSError, sqlite3.Error) as error:
        raise _unusable(folder, error) from error
    return OpenRun(folder, connection, session.lastrowid or 0, earlier)


def lock_run(folder: Path) -> ExitStack:
    """Return a lock; until it is closed, no other process can crawl in the folder.

    The lock ends with the process, even if it is killed. Both the folder and its file `run.lock`
    are locked: the file may be deleted, and a network file system may not lock folders. Raises
    `RunFolderError` if another process holds the lock or the folder cannot be made.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with ExitStack() as undo:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            own = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            undo.callback(os.close, own)
            file = os.open(folder / "run.lock", flags, 0o666)
            undo.callback(os.close, file)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise
            except OSError:
                pass  # a file system that locks only files
            clean_up(folder)
            for path in folder.glob(".pages-*.part"):  # of a take-down
                path.unlink(missing_ok=True)
        except BlockingIOError as error:
            raise RunFolderError(f"{folder}: another process is crawling in it") from error
        except OSError as error:
            raise _unusable(folder, error) from error
        return undo.pop_all()


@contextmanager
def maintaining(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to change a run that no process crawls; raises `RunFolderError`.

    A run of an earlier schema is upgraded.
    """
    if not (folder / "run.db").is_file():
        raise RunFolderError(f"{folder} is not the folder of a run: it has no run.db")
    with closing(lock_run(folder)):
        try:
            check_files(folder)
            with closing(_read_only(folder / "run.db")) as connection:
                schema = schema_number(checked_meta(connection, folder, continues=True))
            with closing(_writable(folder, schema)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise _unusable(folder, error) from error


def _writable(folder: Path, schema: int) -> sqlite3.Connection:
    path = folder / "run.db"
    if schema < SCHEMA_VERSION:
        with closing(connect(path)) as connection:
            upgrade(connection, folder, schema)
    return connect(path)


def _unusable(folder: Path, error: Exception) -> RunFolderError:
    return RunFolderError(f"{folder}: cannot be used as a run folder: {one_line(str(error))}")


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection in autocommit mode that waits for other readers.

    A killed process loses nothing that was committed.
    """
    with ExitStack() as undo:
        connection = sqlite3.connect(
            path, isolation_level=None, timeout=30, check_same_thread=False
        )
        undo.callback(connection.close)
        connection.execute("PRAGMA journal_mode = WAL")
        # A leaf that changes twice before a checkpoint is written back once, so the log may be
        # long.
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        # A killed process loses nothing; only a power cut may take the last transactions.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -65536")
        # A page of the crawl changes more leaves than a savepoint keeps in memory; on disk they
        # were nearly half of all writes.
        connection.execute("PRAGMA temp_store = MEMORY")
        undo.pop_all()
    return connection


def _check(folder: Path, identity: Mapping[str, str]) -> int:
    """Return the schema of a run; raises RunFolderError if it cannot be resumed. Change nothing."""
    path = folder / "run.db"
    if not path.stat().st_size:
        raise _damaged(folder, "it is empty")
    path.open("r+b").close()
    try:
        with closing(_read_only(path)) as connection:
            kept = checked_meta(connection, folder, continues=True)
            for name, value in identity.items():
                if (before := kept.get(name, "")) != value:
                    # A number may have been the default of an earlier version.
                    same = f"-a {name}={before}" if before.isdigit() else "the same arguments"
                    raise RunFolderError(
                        f"{folder}: holds a crawl with {name}={before}, not {name}={value}; "
                        f"use {same}, or another folder"
                    )
            lines = [line for (line,) in connection.execute("PRAGMA quick_check(100)")]
            fault = "" if lines == ["ok"] else one_line(" ".join(lines))
    except sqlite3.OperationalError:
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # SQLite quotes the schema, and sqlite3 fails to decode a message that is not UTF-8.
        fault = one_line(str(error))
    if fault:
        raise _damaged(folder, fault)
    return schema_number(kept)


def check_files(folder: Path) -> None:
    """Raise RunFolderError for files that would make SQLite write or delete outside the folder.

    SQLite follows symbolic links, and deletes a file named by a journal; a run has no journal.
    """
    for name in ("run.db", "run.db-wal", "run.db-shm"):
        file = folder / name
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise RunFolderError(f"{folder}: {name} is not a regular file; use another folder")
    if os.path.lexists(folder / "run.db-journal"):
        raise RunFolderError(f"{folder}: run.db-journal is not a file of a run; remove it")


def checked_meta(
    connection: sqlite3.Connection, folder: Path, *, continues: bool = False
) -> dict[str, str]:
    """Return the `meta` of a run's database, and show its tables as those of this schema.

    Raises RunFolderError if the schema is one that this version does not read, or does not continue
    with `continues`; if tables or indexes are missing, or if there are views or triggers: a view in
    place of a table may yield endless rows.
    """
    found, expected = schema_of(connection), expected_schema()
    if {row for row in found if row[1] == "meta"} != {row for row in expected if row[1] == "meta"}:
        raise RunFolderError(f"{folder}: run.db is not the database of a crawl; use another folder")
    kept: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta"))
    check_version(folder, kept, continues=continues)
    schema, fault = schema_number(kept), _damaged(folder, "its schema is not that of a run")
    if {kind for kind, *_ in found - expected} - {"table", "index"}:
        raise fault
    try:
        changed = see_as_current(connection, schema)
    except ValueError as error:
        raise _damaged(folder, str(error)) from error
    same = {row for row in expected if row[2] not in changed}
    if schema <= SCHEMA_VERSION and not same <= found:
        raise fault
    return dict(connection.execute("SELECT key, value FROM meta"))


def _damaged(folder: Path, fault: str) -> RunFolderError:
    return RunFolderError(
        f"{folder}: run.db is damaged: {fault}; restore a copy or use a new folder"
    )


def _read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that changes and creates no file."""
    # A database without a log is opened as immutable; to read a log, SQLite needs its lock file.
    mode = "mode=ro" if _log_of(path) else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=30)


def _readable(path: Path) -> sqlite3.Connection:
    if not os.access(path.parent, os.W_OK, effective_ids=True):
        return _read_only(path)
    # Not mode=ro: the last reader of a database in WAL mode must be able to clean up.
    return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)


def _log_of(path: Path) -> int:
    """Return the bytes that a killed process left in the log of a database."""
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


@contextmanager
def reading(run: sqlite3.Connection | Path | str) -> Iterator[sqlite3.Connection]:
    """Yield a connection that sees the run as it is at this moment, even during the crawl.

    `run` is a run's folder, its `run.db`, or a connection, which is yielded and left open. Raises
    RunFolderError for a path without a run that this version reads.
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
        with closing(_readable(path)) as connection:
            connection.execute("BEGIN")
            checked_meta(connection, Path(run))
            connection.execute("PRAGMA query_only = ON")
            yield connection
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # sqlite3 fails to decode a message that is not UTF-8.
        raise RunFolderError(f"{path} cannot be read as a run: {one_line(str(error))}") from error


def kind_of(connection: sqlite3.Connection) -> Literal["crawl", "census"]:
    """Return the kind of a run; a census has a list of hosts."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'hosts'").fetchone()
    return "census" if row and row[0] else "crawl"


class Session(NamedTuple):
    """The work of one process on a run; times are unix seconds.

    `finish_reason` is None if the process was killed.
    """

    started_at: float
    ended_at: float
    finish_reason: str | None


def sessions_of(connection: sqlite3.Connection) -> list[Session]:
    """Return all sessions of a run; a killed session ends with its last settled page."""
    rows = connection.execute(
        "SELECT started_at, COALESCE(ended_at,"
        " (SELECT max(fetched_at) FROM pages WHERE fetched_at >= started_at"
        " AND fetched_at < COALESCE(next_at, 9e99)), started_at), finish_reason"
        " FROM (SELECT *, lead(started_at) OVER (ORDER BY id) AS next_at FROM sessions) ORDER BY id"
    )
    return [Session(started, max(started, ended), reason) for started, ended, reason in rows]
