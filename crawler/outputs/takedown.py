"""Take-down: removes hosts from the queue, the page records and the WARC files of a run.

A row of `pages` keeps URL, host, time, status, size, depth and settling order, with the outcome
`TAKEN_DOWN`: a log for the server's owner of fetches and removals. All page contents are deleted.

The rewritten WARC files are complete before the rows of the run change; the old files are deleted
afterwards. Files without rows after a kill are deleted by the next take-down or session.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from fastwarc.warc import ArchiveIterator

from langfocus.crawler.errors import RunFolderError, StorageError
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import PAGE, UNCHANGED
from langfocus.crawler.http.head import split
from langfocus.crawler.outputs import archived
from langfocus.crawler.outputs.archived import ArchivedRow, file_of
from langfocus.crawler.outputs.warc_records import digest_of, pack
from langfocus.crawler.politeness.blocking import BlockList, read_lines
from langfocus.crawler.run.folder import PAYLOADS, REQUESTS, connect
from langfocus.crawler.run.versions import COPIES

TAKEN_DOWN: Final = "taken_down"
"""Outcome of a removed page."""

LINES: Final = "taken_down"
"""`meta` key of the take-down entries, as JSON."""

_NOTHING: Final = ("parent", "language", "confidence", "method", "charset", "country", "address")
_EMPTIED = ", ".join(f"{name} = NULL" for name in _NOTHING)
_STATEMENTS = (
    f"UPDATE pages SET outcome = '{TAKEN_DOWN}' WHERE outcome IN ('{PAGE}', '{UNCHANGED}')"  # noqa: S608
    " AND id IN (SELECT id FROM taken)",
    f"UPDATE pages SET {_EMPTIED} WHERE id IN (SELECT id FROM taken)",  # noqa: S608
    "UPDATE pages SET parent = NULL WHERE parent IN (SELECT url FROM taken_urls)",
    "UPDATE urls SET parent = NULL WHERE queued = 1 AND parent IN (SELECT id FROM taken_urls)",
    "DELETE FROM visits WHERE page IN (SELECT id FROM taken)",
    "DELETE FROM links WHERE page IN (SELECT id FROM taken)",
    "UPDATE links SET urls = kept_links(urls) WHERE urls <> kept_links(urls)",
    "DELETE FROM urls WHERE queued <> 0 AND sent = 0 AND id IN (SELECT id FROM taken_urls)",
    "UPDATE hosts SET pages = (SELECT COUNT(*) FROM pages WHERE pages.host = hosts.host"
    " AND outcome = 'page') WHERE id IN (SELECT host FROM taken_urls)",
    "DELETE FROM units WHERE is_taken('http://' || rtrim(unit, '/') || '/')",
    "DELETE FROM tallies WHERE is_taken('http://' || rtrim(unit, '/') || '/')",
    "DELETE FROM robots WHERE is_taken(origin || '/')",
    "DELETE FROM earlier WHERE is_taken(url)",
    "DELETE FROM embeds WHERE is_taken(url)",
    "UPDATE earlier SET kept_url = NULL, kept_at = NULL WHERE is_taken(kept_url)",
)
_TAKEN = """\
DROP TABLE IF EXISTS temp.taken;
DROP TABLE IF EXISTS temp.taken_urls;
CREATE TEMP TABLE taken AS SELECT id FROM pages WHERE is_taken(url);
CREATE TEMP TABLE taken_urls AS SELECT id, url, host, queued FROM urls WHERE is_taken(url)"""
_NUMBERS = """\
SELECT (SELECT COUNT(*) FROM taken), (SELECT COUNT(*) FROM taken_urls WHERE queued = 1)"""

_KEPT: Final = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Warcinfo-ID", "WARC-IP-Address")
"""Headers copied to a rewritten record, beside date and payload digest."""
_SEEDS: Final = b"langfocus-seeds:"


class TakenDown(NamedTuple):
    """Counts of settled URLs, queued URLs, exchanges and replaced WARC files."""

    pages: int
    queued: int
    exchanges: int
    files: int


def taken_down(connection: sqlite3.Connection) -> BlockList:
    """Return the block list of a run's take-downs."""
    return read_lines(_lines(connection))


def _lines(connection: sqlite3.Connection) -> list[str]:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (LINES,)).fetchone()
    return list(map(str, json.loads(row[0]))) if row else []


def take_down(connection: sqlite3.Connection, folder: Path, lines: Iterable[str]) -> TakenDown:
    """Remove the URLs matching block file lines from a run without an active crawl.

    The connection is from `crawler.run.folder.connect`. Run and WARC files change together: a kill
    before the commit changes nothing, and after a later kill the same call deletes the old files.
    Raises `StorageError` and `RunFolderError`.
    """
    lines = list(lines)
    names = read_lines(lines)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        _delete_unknown_files(connection, folder)
        connection.execute("BEGIN IMMEDIATE")
        exchanges, old_files = _remove_exchanges(connection, folder, names.blocks)
        pages, queued = _remove_rows(connection, names)
        _note(connection, lines, names)
        connection.execute("COMMIT")
        # The log of the database still has the removed pages.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for path in (*old_files, *folder.glob(COPIES)):
            path.unlink()
        for table, name in {"requests": REQUESTS, "payloads": PAYLOADS}.items():
            _forget(folder / name, table, names)
    except (sqlite3.Error, OSError, ValueError) as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
            _delete_unknown_files(connection, folder)
        if isinstance(error, StorageError | RunFolderError):
            raise
        raise StorageError(f"{folder}: the take-down failed: {error}") from error
    return TakenDown(pages, queued, exchanges, len(old_files))


def _delete_unknown_files(connection: sqlite3.Connection, folder: Path) -> None:
    """Delete WARC files without rows, left by a kill or an error."""
    known = {file for (file,) in connection.execute("SELECT DISTINCT file FROM archived")}
    for path in folder.glob("pages-*"):
        if archived.NAME.fullmatch(path.name) and path.name not in known:
            path.unlink()
    for path in folder.glob(".pages-*.part"):
        path.unlink()


def _remove_rows(connection: sqlite3.Connection, names: BlockList) -> tuple[int, int]:
    """Remove URLs from the tables; return the counts of settled and of queued URLs."""

    def is_taken(url: str | None) -> bool:
        return url is not None and names.blocks(url)

    def kept_links(packed: bytes) -> bytes:
        return outlinks.written([url for url in outlinks.read(packed) if not names.blocks(url)])

    connection.create_function("is_taken", 1, is_taken)
    connection.create_function("kept_links", 1, kept_links)
    for statement in _TAKEN.split(";"):
        connection.execute(statement)
    numbers: tuple[int, int] = connection.execute(_NUMBERS).fetchone()
    for statement in _STATEMENTS:
        connection.execute(statement)
    return numbers


def _forget(path: Path, table: str, names: BlockList) -> None:
    """Remove the blocked URLs from the table of another database of the run, if it exists."""
    if not path.exists():
        return
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.create_function("is_taken", 1, names.blocks)
        connection.execute(f"DELETE FROM {table} WHERE is_taken(url)")  # noqa: S608
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _note(connection: sqlite3.Connection, lines: Iterable[str], names: BlockList) -> None:
    """Record the take-down, so that later sessions skip the URLs."""
    known = list(dict.fromkeys([*_lines(connection), *lines]))
    store = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
    connection.execute(store, (LINES, json.dumps(known)))
    row = connection.execute("SELECT value FROM meta WHERE key = 'seeds'").fetchone()
    if row:
        seeds = [url for url in json.loads(row[0]) if not names.blocks(url)]
        connection.execute(store, ("seeds", json.dumps(seeds)))


def _remove_exchanges(
    connection: sqlite3.Connection, folder: Path, is_removed: Callable[[str], bool]
) -> tuple[int, list[Path]]:
    """Rewrite files without the exchanges of removed URLs; return their number and the old files.

    A `revisit` of a removed record becomes a `response` with the removed body. Raises
    `StorageError`.
    """
    rows = dict(archived.read_archived(connection))
    removed = {number for number, row in rows.items() if is_removed(row.url)}
    originals = {rows[at].digest: rows[at] for at in removed if not rows[at].is_revisit}
    bodies = {
        number: originals[row.digest]
        for number, row in rows.items()
        if row.is_revisit == archived.SAME_PAYLOAD_AS and row.digest in originals
    }
    files = sorted({rows[number].file for number in {*removed, *bodies}})
    for file in files:
        kept = {at: row for at, row in rows.items() if row.file == file and at not in removed}
        try:
            if kept:
                _rewrite(connection, folder, kept, bodies)
        except OSError as error:
            raise StorageError(f"{folder / file} cannot be rewritten: {error}") from error
    for number in removed:
        archived.remove(connection, number)
    return len(removed), [file_of(folder, file) for file in files]


def _rewrite(
    connection: sqlite3.Connection,
    folder: Path,
    kept: Mapping[int, ArchivedRow],
    bodies: Mapping[int, ArchivedRow],
) -> None:
    """Write a new file with the kept exchanges of a file, and change their rows."""
    path = file_of(folder, next(iter(kept.values())).file)
    name = _free_name(folder, path.name)
    unfinished = folder / f".{name}.part"
    with path.open("rb") as old, unfinished.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        information = _Record.first(old)
        # The seeds may name a removed page.
        lines = information.block.splitlines(keepends=True)
        block = b"".join(line for line in lines if not line.lower().startswith(_SEEDS))
        new.write(information.packed("warcinfo", block, {"WARC-Filename": name}))
        for number, row in kept.items():
            if not 0 <= row.start <= row.start + row.length <= row.finish <= size:
                raise StorageError(f"{path}: it is shorter than its run says")
            start = new.tell()
            old.seek(row.start)
            answer, others = old.read(row.length), old.read(row.finish - row.start - row.length)
            if number in bodies:
                answer = _with_body(answer, folder, bodies[number])
            new.write(answer + others)
            changed = row._replace(
                is_revisit=0 if number in bodies else row.is_revisit,
                file=name,
                start=start,
                length=len(answer),
                finish=new.tell(),
            )
            archived.change(connection, number, changed)
        new.flush()
        os.fsync(new.fileno())
    unfinished.rename(folder / name)


def _free_name(folder: Path, file: str) -> str:
    """Return the name of a new WARC file with the time and the worker of another."""
    begin, number, end = file[:21], int(file[21:26]), file[26:]
    while (folder / f"{begin}{number:05}{end}").exists():
        number += 1
    return f"{begin}{number:05}{end}"


class _Record(NamedTuple):
    headers: dict[str, str]
    block: bytes

    @classmethod
    def first(cls, file: BinaryIO) -> "_Record":
        """Return the first record of a file."""
        record = next(ArchiveIterator(file, parse_http=False))
        return cls(dict(record.headers.items()), record.reader.read())

    def packed(self, kind: str, block: bytes, headers: Mapping[str, str]) -> bytes:
        """Return the record with another kind and block; id and payload digest are kept."""
        kept = {name: value for name, value in self.headers.items() if name in _KEPT}
        digest = self.headers.get("WARC-Payload-Digest")
        return pack(kind, self.headers["WARC-Date"], {**kept, **headers}, block, digest=digest).data


def _with_body(revisit: bytes, folder: Path, original: ArchivedRow) -> bytes:
    """Return a `revisit` record as a `response` with the body of another record."""
    record = _Record.first(BytesIO(revisit))
    with file_of(folder, original.file).open("rb") as file:
        file.seek(original.start)
        block = _Record.first(file).block
    body = split(block)[1]
    if digest_of(body).hex() != original.digest:
        raise StorageError("a record that others refer to is damaged: its payload has changed")
    return record.packed("response", record.block + body, {})
