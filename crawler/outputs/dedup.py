"""Payloads of other archives: an answer with such a payload is written as a `revisit` record.

The file `payloads.db` of a run folder maps payload digests to the URL and date of an earlier
record. It is filled from the run of `-a since` and from CDXJ indexes; memory has a bound.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.crawler.errors import SettingError
from langfocus.crawler.outputs.archived import storing, unsettled
from langfocus.crawler.outputs.warc_records import written_digest
from langfocus.crawler.run.folder import PAYLOADS, reading
from langfocus.crawler.sources.answer_index import digest_of
from langfocus.crawler.sources.cdxj import index_lines

SETTING: Final = "LANGFOCUS_DEDUP"

_ALGORITHMS: Final = {20: "sha1", 32: "sha256"}  # by the bytes of a digest
_TABLES: Final = """\
CREATE TABLE IF NOT EXISTS payloads(
    digest BLOB PRIMARY KEY, url TEXT NOT NULL, date TEXT NOT NULL, written TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources(name TEXT PRIMARY KEY);
"""
_INSERT: Final = "INSERT OR IGNORE INTO payloads VALUES (?, ?, ?, ?)"
_OF_RUN: Final = "SELECT digest, url, date FROM archived WHERE is_revisit = 0 AND id <> ?"


class Payload(NamedTuple):
    """URL and WARC-Date of a record, and its payload digest as its archive spells it.

    `written` is "" for the spelling of `written_digest`.
    """

    url: str
    date: str
    written: str


class Payloads:
    """The payloads of other archives, in a file of the run; each source is read once."""

    def __init__(self, folder: Path) -> None:
        with storing():
            self._sql = sqlite3.connect(
                folder / PAYLOADS, isolation_level=None, check_same_thread=False
            )
            self._sql.executescript(f"PRAGMA cache_size = -32768; {_TABLES}")

    def close(self) -> None:
        """Close the file."""
        self._sql.close()

    def add_run(self, folder: Path) -> None:
        """Add the payloads of an earlier run, and those of other archives that it had."""
        with reading(folder) as run:
            self._add(f"run {folder.resolve()}", _rows_of(run))
        if (path := folder.resolve() / PAYLOADS).exists():
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as earlier:
                rows = earlier.execute("SELECT digest, url, date, written FROM payloads")
                self._add(str(path), rows)

    def add_index(self, path: Path) -> None:
        """Add the payloads of a CDXJ index, completely or not at all; raises `SettingError`."""
        stat = path.stat()
        self._add(f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}", _rows_in(path))

    def find(self, body: bytes, digest: bytes) -> Payload | None:
        """Return the record with a body, whose SHA-1 is `digest`, or None."""
        with storing():
            for key in (digest, sha256(body).digest()):
                row = self._sql.execute(
                    "SELECT url, date, written FROM payloads WHERE digest = ?", (key,)
                ).fetchone()
                if row is not None:
                    return Payload(row[0], row[1], row[2] or "")
        return None

    def _add(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Add the rows of a source, completely or not at all, unless it was added before."""
        with storing():
            if self._sql.execute("SELECT 1 FROM sources WHERE name = ?", (name,)).fetchone():
                return
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                self._sql.executemany(_INSERT, rows)
                self._sql.execute("INSERT INTO sources VALUES (?)", (name,))
                self._sql.execute("COMMIT")
            except BaseException:
                self._sql.execute("ROLLBACK")
                raise


def _rows_of(run: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    for digest, url, date in run.execute(_OF_RUN, (unsettled(run),)):
        yield bytes.fromhex(digest), url, date, None


def _rows_in(path: Path) -> Iterator[tuple[object, ...]]:
    """Yield the records with a payload in an index; raises `SettingError`."""
    number, has_record = 0, False
    try:
        for line in index_lines(path):
            number += 1
            if line[:1] not in (b"!", b"\n", b"\r") and (row := _row(line)) is not None:
                has_record = True
                yield row
    except (OSError, EOFError, zlib.error) as error:
        raise SettingError(f"{SETTING}={path}: cannot be read: {error}") from error
    except (ValueError, AttributeError, RecursionError) as error:
        form = 'a line is "KEY TIME {"url": …, "digest": …}"'
        raise SettingError(f"{SETTING}={path}:{number}: no line of a CDXJ index; {form}") from error
    if not has_record:
        raise SettingError(f"{SETTING}={path}: no record with a SHA-1 or SHA-256 payload digest")


def _row(line: bytes) -> tuple[object, ...] | None:
    """Return the values of a record, None without a body here; raises `ValueError`."""
    _, time, text = line.decode().split(" ", 2)
    values = json.loads(text)
    url, written = str(values.get("url", "")), str(values.get("digest", ""))
    if not (len(time) >= 14 and time.isascii() and time.isdigit()):
        raise ValueError("the time has no 14 digits")
    digest = digest_of(written) or b""
    is_record = values.get("mime") != "warc/revisit" and len(digest) in _ALGORITHMS
    # Both become header lines.
    if not is_record or not (url and f"{url}{written}".isprintable()):
        return None
    if ":" not in written:
        written = f"{_ALGORITHMS[len(digest)]}:{written}"
    date = f"{time[:4]}-{time[4:6]}-{time[6:8]}T{time[8:10]}:{time[10:12]}:{time[12:14]}Z"
    is_usual = len(digest) == 20 and written == written_digest(digest)
    return digest, url, date, None if is_usual else written
