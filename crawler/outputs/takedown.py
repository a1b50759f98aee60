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
    "DELETE FROM urls WHERE queued <> 0 AND sent = 0 AND id IN (SELECT id FROM taken_urls)",
    "UPDATE hosts SET pages = (SELECT COUNT(*) FROM pages WHERE pages.host = hosts.host"
    " AND outcome = 'page') WHERE id IN (SELECT host FROM taken_urls)",
)


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
    _find(connection, names)
    told.pages = connection.execute("SELECT COUNT(*) FROM taken").fetchone()[0]
    queued = "SELECT COUNT(*) FROM taken_urls WHERE state = 1"
    told.queued = connection.execute(queued).fetchone()[0]
    for statement in _STATEMENTS:
        connection.execute(statement)
    _remove_links(connection, names)
    for table, key in (
        ("units", "unit"),
        ("tallies", "unit"),
        ("robots", "origin"),
    ):
        rows = connection.execute(f"SELECT {key} FROM {table}").fetchall()  # noqa: S608
        gone = [(name,) for (name,) in rows if names.blocks(_url_of(name))]
        connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", gone)  # noqa: S608
    _remove_earlier(connection, names)


def _remove_earlier(connection: sqlite3.Connection, names: BlockList) -> None:
    """Remove the pages of the earlier run, and references to their WARC records."""
    urls = connection.execute(
        "SELECT url FROM earlier UNION SELECT kept_url FROM earlier WHERE kept_url IS NOT NULL"
    ).fetchall()
    gone = [(url,) for (url,) in urls if names.blocks(url)]
    connection.executemany("DELETE FROM earlier WHERE url = ?", gone)
    unkept = "UPDATE earlier SET kept_url = NULL, kept_at = NULL WHERE kept_url = ?"
    connection.executemany(unkept, gone)


def _url_of(name: str) -> str:
    """Return a URL of a host, a directory or an origin."""
    return f"{name if '://' in name else f'http://{name}'}".rstrip("/") + "/"


def _find(connection: sqlite3.Connection, names: BlockList) -> None:
    """Make tables of the pages and of the URLs that are removed."""
    connection.execute("DROP TABLE IF EXISTS temp.taken")
    connection.execute("DROP TABLE IF EXISTS temp.taken_urls")
    connection.execute("CREATE TEMP TABLE taken(id INTEGER PRIMARY KEY)")
    connection.execute(
        "CREATE TEMP TABLE taken_urls("
        "id INTEGER PRIMARY KEY, url TEXT, host INTEGER, state INTEGER)"
    )
    pages = connection.execute("SELECT id, url FROM pages").fetchall()
    connection.executemany(
        "INSERT INTO taken VALUES (?)", ((page,) for page, url in pages if names.blocks(url))
    )
    urls = connection.execute("SELECT id, url, host, queued FROM urls").fetchall()
    connection.executemany(
        "INSERT INTO taken_urls VALUES (?, ?, ?, ?)", (row for row in urls if names.blocks(row[1]))
    )


def _remove_links(connection: sqlite3.Connection, names: BlockList) -> None:
    """Remove the links of other pages to removed URLs."""
    last = 0
    while row := connection.execute(
        "SELECT page, urls FROM links WHERE page > ? ORDER BY page LIMIT 1", (last,)
    ).fetchone():
        last, packed = row
        urls = outlinks.read(packed)
        kept = [url for url in urls if not names.blocks(url)]
        if len(kept) < len(urls):
            values = (outlinks.written(kept), last)
            connection.execute("UPDATE links SET urls = ? WHERE page = ?", values)


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
