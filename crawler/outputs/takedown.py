"""Takes hosts out of a run: queue, texts, WARC files and all that exports read.

A row of `pages` stays with what the log of a crawl needs: URL, host, time, status, size, depth and
place in the order of settling, and the outcome `TAKEN_DOWN`. It tells a server's owner what was
fetched and when, and shows that it was removed. All that was read from the page is deleted.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crawler.errors import RunFolderError, StorageError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE, UNCHANGED
from crawler.outputs import archived
from crawler.outputs.warc_removal import Removal, delete_unknown_files, prepare_removal
from crawler.politeness.blocking import BlockList, read_lines

TAKEN_DOWN: Final = "taken_down"
"""The outcome of a page that was taken down."""

LINES: Final = "taken_down"
"""The key of `meta` with the entries of all take-downs, as JSON."""

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
    "UPDATE earlier SET kept_url = NULL, kept_at = NULL WHERE is_taken(kept_url)",
)
_TAKEN = """\
DROP TABLE IF EXISTS temp.taken;
DROP TABLE IF EXISTS temp.taken_urls;
CREATE TEMP TABLE taken AS SELECT id FROM pages WHERE is_taken(url);
CREATE TEMP TABLE taken_urls AS SELECT id, url, host, queued FROM urls WHERE is_taken(url)"""


@dataclass(slots=True)
class TakenDown:
    """The numbers of a take-down.

    `pages` are the settled URLs, `exchanges` those in WARC files, `files` the replaced WARC files.
    """

    pages: int = 0
    queued: int = 0
    exchanges: int = 0
    files: int = 0


def taken_down(connection: sqlite3.Connection) -> BlockList:
    """Return the entries of all take-downs of a run."""
    return read_lines(_lines(connection))[0]


def _lines(connection: sqlite3.Connection) -> list[str]:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (LINES,)).fetchone()
    return list(map(str, json.loads(row[0]))) if row else []


def take_down(connection: sqlite3.Connection, folder: Path, lines: Iterable[str]) -> TakenDown:
    """Remove the URLs that some lines of a block file name from a run that nobody crawls.

    The connection comes from `crawler.run.connect`. Run and WARC files change together; a kill
    before that changes nothing, and after it the same call deletes the old files. Raises
    `StorageError` and `RunFolderError`.
    """
    lines = list(lines)
    names, _ = read_lines(lines)
    told = TakenDown()
    try:
        connection.execute("PRAGMA secure_delete = ON")
        delete_unknown_files(connection, folder)
        connection.execute("BEGIN IMMEDIATE")
        removal = prepare_removal(connection, folder, names.blocks)
        _remove_rows(connection, names, told)
        _store_removal(connection, removal)
        _note(connection, lines, names)
        connection.execute("COMMIT")
        # The log of the database has the pages as they were.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for path in removal.old_files:
            path.unlink()
    except (sqlite3.Error, OSError, ValueError) as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
            delete_unknown_files(connection, folder)
        if isinstance(error, StorageError | RunFolderError):
            raise
        raise StorageError(f"{folder}: the take-down failed: {error}") from error
    told.exchanges, told.files = len(removal.deleted), len(removal.old_files)
    return told


def _remove_rows(connection: sqlite3.Connection, names: BlockList, told: TakenDown) -> None:
    def is_taken(url: str | None) -> bool:
        return url is not None and names.blocks(url)

    def kept_links(packed: bytes) -> bytes:
        return outlinks.written([url for url in outlinks.read(packed) if not names.blocks(url)])

    connection.create_function("is_taken", 1, is_taken)
    connection.create_function("kept_links", 1, kept_links)
    for statement in _TAKEN.split(";"):
        connection.execute(statement)
    told.pages = connection.execute("SELECT COUNT(*) FROM taken").fetchone()[0]
    queued = "SELECT COUNT(*) FROM taken_urls WHERE queued = 1"
    told.queued = connection.execute(queued).fetchone()[0]
    for statement in _STATEMENTS:
        connection.execute(statement)


def _store_removal(connection: sqlite3.Connection, removal: Removal) -> None:
    for number in removal.deleted:
        archived.remove(connection, number)
    for number, row in removal.changed.items():
        archived.change(connection, number, row)


def _note(connection: sqlite3.Connection, lines: Iterable[str], names: BlockList) -> None:
    """Note the take-down, so that later sessions of the run do not fetch its URLs again."""
    known = list(dict.fromkeys([*_lines(connection), *lines]))
    store = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
    connection.execute(store, (LINES, json.dumps(known)))
    row = connection.execute("SELECT value FROM meta WHERE key = 'seeds'").fetchone()
    if row:
        seeds = [url for url in json.loads(row[0]) if not names.blocks(url)]
        connection.execute(store, ("seeds", json.dumps(seeds)))
