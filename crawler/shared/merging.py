"""Merges the run folders of a shared crawl's workers, or of a census's parts, into one run."""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langfocus.crawler.errors import RunFolderError, one_line
from langfocus.crawler.options.config import IDENTITY
from langfocus.crawler.outputs.archived import gather
from langfocus.crawler.run.folder import Session, connect, reading, sessions_of
from langfocus.crawler.run.page_row import PAGE_COLUMNS, insert_pages
from langfocus.crawler.run.schema import create
from langfocus.crawler.run.whole_file import clean_up
from langfocus.crawler.shared.stored import StoredCrawl
from langfocus.crawler.shared.worker import set_counts, storing

_MERGED = "merged_from"
"""`meta` key of merged runs only."""

_COLUMNS = ", ".join(PAGE_COLUMNS)

_GATHERED = f"CREATE TEMP TABLE gathered AS SELECT {_COLUMNS} FROM pages WHERE 0"  # noqa: S608
_GATHER = f"INSERT INTO gathered VALUES ({', '.join('?' * len(PAGE_COLUMNS))})"  # noqa: S608

# One row for each URL: the first fetch. The order of the sources does not matter.
_MERGE = insert_pages(
    "FROM (SELECT *, ROW_NUMBER() OVER"  # noqa: S608  # names of columns
    f" (PARTITION BY fingerprint ORDER BY fetched_at, {_COLUMNS}) AS copy FROM gathered)"
    " WHERE copy = 1",
    **{name: name for name in PAGE_COLUMNS}
    | {"id": "ROW_NUMBER() OVER (ORDER BY fetched_at, id, fingerprint)"},
)


class Merged(NamedTuple):
    """The number of pages merged, and of pages `missing`.

    A missing page was settled by a worker whose folder was not named.
    """

    settled: int
    missing: int


@dataclass(frozen=True, slots=True)
class _Share:
    """The content of a worker's folder, without its pages."""

    folder: Path
    meta: Mapping[str, str]
    counts: Counter[str]
    sessions: Sequence[Session]


def merge(folder: Path, shares: Sequence[Path], stored: StoredCrawl | None = None) -> Merged:
    """Write one `run.db` into `folder` with the pages of all workers' folders.

    `stored` is the same crawl in Redis; its remaining records are included, for example a dead
    worker's. Only `folder` changes, so the crawl may continue and be merged again. Parts of a
    census, each with a separate host list, are merged in the same way. Raises `RunFolderError` if a
    share belongs to neither, if shares belong to different crawls, or if `folder` holds a run that
    was not merged.

    The workers' WARC files are linked into `folder`.
    """
    read = [_share(path) for path in shares]
    _check_alike(read)
    check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    clean_up(folder, "run.db")
    temporary = folder / f".run.db.{os.getpid()}"
    try:
        names = ", ".join(sorted(str(share.folder) for share in read))
        create(temporary, {**_latest(read).meta, **_lists(read), _MERGED: names})
        with closing(connect(temporary)) as connection:
            merged = _write(connection, read, stored)
            with storing(connection):
                gather(connection, folder, shares)
        temporary.replace(folder / "run.db")
    except sqlite3.Error as error:
        raise RunFolderError(f"{folder}: the shares could not be merged: {error}") from error
    finally:
        for ending in ("", "-wal", "-shm"):
            temporary.with_name(temporary.name + ending).unlink(missing_ok=True)
    return merged


def crawl_of(share: Path) -> tuple[str, int]:
    """Return the crawl's name and number of shards from a worker's folder."""
    meta = _share(share).meta
    return meta["shared"], int(meta.get("shards", 1))


def _share(folder: Path) -> _Share:
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if not (meta.get("shared") or meta.get("hosts")) or _MERGED in meta:
            raise RunFolderError(f"{folder}: no worker of a shared crawl or census worked in it")
        counts = Counter(dict(connection.execute("SELECT name, value FROM counts")))
        return _Share(folder, meta, counts, sessions_of(connection))


def _latest(shares: Sequence[_Share]) -> _Share:
    """Return the share of the last worker to join: its budget and delay apply to all."""
    return max(
        shares,
        key=lambda share: (
            max((session.started_at for session in share.sessions), default=0.0),
            sorted(share.meta.items()),
        ),
    )


def _check_alike(shares: Sequence[_Share]) -> None:
    first = shares[0]
    keys = [key for key in IDENTITY if key != "hosts"]
    for share in shares[1:]:
        for key in keys:
            # An earlier version has no value for a new option.
            own, other = share.meta.get(key, ""), first.meta.get(key, "")
            if own != other:
                raise RunFolderError(
                    f"{share.folder}: of another crawl than {first.folder}: "
                    f"{key}={own}, not {key}={other}"
                )


def _lists(shares: Sequence[_Share]) -> dict[str, str]:
    """Return the values of `meta` about the lists of a merged census; {} for a crawl."""
    lists = {share.meta["hosts"]: share.meta for share in shares if share.meta.get("hosts")}
    number = sum(int(meta["hosts_number"]) for meta in lists.values())
    return {"hosts": ", ".join(sorted(lists)), "hosts_number": str(number)} if lists else {}


def check_free(folder: Path) -> None:
    """Raise `RunFolderError` for a folder with a run that is not a merged one."""
    if not (folder / "run.db").exists():
        return
    with reading(folder) as connection:
        row = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MERGED,)).fetchone()
    if row is None:
        raise RunFolderError(f"{folder}: holds a run that is not a merged one; name a new folder")


def _write(
    connection: sqlite3.Connection, shares: Sequence[_Share], stored: StoredCrawl | None
) -> Merged:
    """Write all but the WARC files."""
    counts = sum((share.counts for share in shares), Counter[str]())
    settled = 0
    connection.execute(_GATHERED)
    # Redis first: records that a worker moves in the meantime are in its folder by then.
    if stored is not None:
        stored_counts, settled = _gather_stored(connection, stored)
        counts |= stored_counts
    for share in shares:
        _gather_share(connection, share.folder)
    with storing(connection):
        connection.execute(_MERGE)
        set_counts(connection, counts)
        connection.executemany(
            "INSERT INTO sessions(started_at, ended_at, finish_reason) VALUES (?, ?, ?)",
            _joined([session for share in shares for session in share.sessions]),
        )
    pages = connection.execute("SELECT COUNT(*) FROM pages").fetchone()[0]
    # Each shard numbers its own pages: see `StoredCrawl.records`.
    shards = int(shares[0].meta.get("shards", 1))
    numbers, last = connection.execute(
        "SELECT SUM(number), SUM(last) FROM (SELECT COUNT(DISTINCT id) AS number,"
        " (MAX(id) - 1) / ?1 + 1 AS last FROM gathered GROUP BY id % ?1)",
        (shards,),
    ).fetchone()
    return Merged(pages, max(0, max(last or 0, settled) - (numbers or 0)))


def _gather_stored(connection: sqlite3.Connection, stored: StoredCrawl) -> tuple[Counter[str], int]:
    """Copy the records in Redis; return the counters of the workers, and the settled URLs."""
    counts: Counter[str] = Counter()
    for worker in stored.workers():
        counts.update(stored.worker_counts(worker))
        after = ""
        while records := stored.records(worker, after=after):
            rows = [[settled.row[name] for name in PAGE_COLUMNS] for settled in records]
            with storing(connection):
                connection.executemany(_GATHER, rows)
            after = records[-1].entry
    return counts, stored.totals()["settled"]


def _gather_share(connection: sqlite3.Connection, folder: Path) -> None:
    """Copy the rows of a folder."""
    with reading(folder) as share, storing(connection):
        connection.executemany(_GATHER, _pages_of(share, folder))


def _pages_of(share: sqlite3.Connection, folder: Path) -> Iterator[Sequence[object]]:
    try:
        yield from share.execute(f"SELECT {_COLUMNS} FROM pages")  # noqa: S608  # names of columns
    except sqlite3.Error as error:
        fault = f"{folder}: run.db is damaged: {one_line(str(error))}; restore a copy"
        raise RunFolderError(fault) from error


def _joined(sessions: Sequence[Session]) -> list[Session]:
    """Return the periods with at least one active worker.

    Overlapping sessions are merged into one, with the finish reason of the last session.
    """
    found: list[Session] = []
    for session in sorted(sessions, key=lambda one: (*one[:2], one.finish_reason or "")):
        before = found[-1] if found else None
        if before is None or session.started_at > before.ended_at:
            found.append(session)
        elif session.ended_at >= before.ended_at:
            found[-1] = session._replace(started_at=before.started_at)
    return found
