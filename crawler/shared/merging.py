"""Merges the run folders of all workers of a shared crawl into one run."""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crawler.errors import RunFolderError
from crawler.page_row import PAGE_COLUMNS, insert_pages
from crawler.run import IDENTITY, connect, create
from crawler.run_reader import Session, reading, sessions_of
from crawler.shared.stored import StoredCrawl
from crawler.shared.worker import add_settled, set_counts, storing

_MERGED = "merged_from"
"""The key in `meta` that only a merged run has."""

_ADD_SHARE = insert_pages(
    "FROM share.pages AS s"
    " WHERE NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.fingerprint = s.fingerprint)",
    **{name: f"s.{name}" for name in PAGE_COLUMNS}
    | {"id": "IIF(EXISTS(SELECT 1 FROM pages AS p WHERE p.id = s.id), NULL, s.id)"},
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

    `stored` is the same crawl in Redis. With it, the run also has the records that are still there,
    for example those of a worker that died. Only `folder` changes, so the crawl may continue and be
    merged again. Raises `RunFolderError` if a share is not of a shared crawl, if the shares are of
    different crawls, or if `folder` holds a run that is not a merged one.
    """
    read = [_share(path) for path in shares]
    _check_alike(read)
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".run.db.{os.getpid()}"
    try:
        names = ", ".join(str(share.folder) for share in read)
        create(temporary, {**read[0].meta, _MERGED: names})
        with closing(connect(temporary)) as connection:
            merged = _write(connection, read, stored)
        temporary.replace(folder / "run.db")
    except sqlite3.Error as error:
        raise RunFolderError(f"{folder}: the shares could not be merged: {error}") from error
    finally:
        for ending in ("", "-wal", "-shm"):
            temporary.with_name(temporary.name + ending).unlink(missing_ok=True)
    return merged


def crawl_of(share: Path) -> str:
    """Return the name of the shared crawl whose worker wrote a folder."""
    return _share(share).meta["shared"]


def _share(folder: Path) -> _Share:
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if not meta.get("shared") or _MERGED in meta:
            raise RunFolderError(f"{folder}: no worker of a shared crawl worked in it")
        counts = Counter(dict(connection.execute("SELECT name, value FROM counts")))
        return _Share(folder, meta, counts, sessions_of(connection))


def _check_alike(shares: Sequence[_Share]) -> None:
    first = shares[0]
    for share in shares[1:]:
        for key in IDENTITY:
            if share.meta.get(key) != first.meta.get(key):
                raise RunFolderError(
                    f"{share.folder}: of another crawl than {first.folder}: "
                    f"{key}={share.meta.get(key)}, not {key}={first.meta.get(key)}"
                )


def _check_free(folder: Path) -> None:
    if not (folder / "run.db").exists():
        return
    with reading(folder) as connection:
        row = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MERGED,)).fetchone()
    if row is None:
        raise RunFolderError(f"{folder}: holds a run that is not a merged one; name a new folder")


def _write(
    connection: sqlite3.Connection, shares: Sequence[_Share], stored: StoredCrawl | None
) -> Merged:
    counts = sum((share.counts for share in shares), Counter[str]())
    settled = 0
    # Redis first: records that a worker moves in the meantime are in its folder by then.
    if stored is not None:
        counts, settled = _add_stored(connection, stored)
    for share in shares:
        _add_share(connection, share.folder)
    with storing(connection):
        set_counts(connection, counts)
        connection.executemany(
            "INSERT INTO sessions(started_at, ended_at, finish_reason) VALUES (?, ?, ?)",
            joined([session for share in shares for session in share.sessions]),
        )
    number, last = connection.execute("SELECT COUNT(*), COALESCE(MAX(id), 0) FROM pages").fetchone()
    return Merged(number, max(0, max(last, settled) - number))


def _add_stored(connection: sqlite3.Connection, stored: StoredCrawl) -> tuple[Counter[str], int]:
    counts: Counter[str] = Counter()
    for worker in stored.workers():
        counts.update(stored.worker_counts(worker))
        after = None
        while settled := stored.settled(worker, after=after):
            with storing(connection):
                add_settled(connection, settled)
            after = settled[-1].id
    return counts, stored.totals().get("settled", 0)


def _add_share(connection: sqlite3.Connection, folder: Path) -> None:
    connection.execute("ATTACH ? AS share", (str(folder / "run.db"),))
    try:
        with storing(connection):
            connection.execute(_ADD_SHARE)
    finally:
        connection.execute("DETACH share")


def joined(sessions: Sequence[Session]) -> Iterator[Session]:
    """Yield the times at which at least one worker was active.

    Sessions that overlap become one, which ends for the reason of the last of them.
    """
    current: Session | None = None
    for session in sorted(sessions, key=lambda one: one[:2]):
        if current is None or session.started_at > current.ended_at:
            if current is not None:
                yield current
            current = session
        elif session.ended_at >= current.ended_at:
            current = Session(current.started_at, session.ended_at, session.finish_reason)
    if current is not None:
        yield current
