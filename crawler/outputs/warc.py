"""Writes the exchanges of a crawl into WARC files; run and files agree after a kill.

An exchange is appended to its file, then its row is committed, then its URL is settled. After a
kill, at most the last exchange lacks the next step; `archived.repair` removes it.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import UNCHANGED, Lease, Record
from langfocus.crawler.http.download import Exchange
from langfocus.crawler.outputs import archived
from langfocus.crawler.outputs.archived import ArchivedRow
from langfocus.crawler.outputs.warc_records import (
    Revisit,
    digest_of,
    fields_block,
    pack,
    pack_answer,
    pack_beside,
    warc_date,
)

if TYPE_CHECKING:
    from langfocus.crawler.outputs.dedup import Payloads

FORMAT = {
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
}
_MOST_VALUES = 100


def argument_fields(arguments: Mapping[str, object]) -> dict[str, str]:
    """Return the arguments of a crawl as fields of a `warcinfo` record, long lists cut."""
    return {f"langfocus-{name.replace('_', '-')}": _field(arguments[name]) for name in arguments}


def _field(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    more = f" and {len(value) - _MOST_VALUES:,} more" if len(value) > _MOST_VALUES else ""
    return " ".join(map(str, value[:_MOST_VALUES])) + more


class WarcArchive:
    """Writes the exchanges of a run into a WARC file, and their rows into its database.

    `payloads` are those of other archives.
    """

    def __init__(
        self, connection: sqlite3.Connection, file: "WarcFile", payloads: "Payloads | None" = None
    ) -> None:
        self._connection, self._file, self._payloads = connection, file, payloads

    @contextmanager
    def keeping(
        self, lease: Lease, record: Record | None, exchange: Exchange | None
    ) -> Iterator[None]:
        """Keep the exchange of a URL that is settled in the block; undo it if the block fails.

        Without a record the block gives the URL back. A page with `noarchive` is not kept. Raises
        `StorageError`.
        """
        if exchange is None or (record is not None and record.is_noarchive):
            yield
            return
        key = None if record is None else lease.fingerprint
        row, start = self._write(exchange, key, record)
        try:
            yield
        except BaseException:
            archived.remove(self._connection, row)
            self._file.cut(start)
            raise

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange that settles no URL, such as a robots.txt; raises `StorageError`."""
        self._write(exchange, None, None)

    def close(self) -> None:
        """Close the newest file."""
        self._file.close()
        if self._payloads is not None:
            self._payloads.close()

    def _write(
        self, exchange: Exchange, fingerprint: int | None, record: Record | None
    ) -> tuple[int, int]:
        """Write an exchange; return the id of its row, and its place in the newest file."""
        self._file.prepare()
        digest = digest_of(exchange.body)
        with archived.storing():
            revisit = self._revisit(exchange, record, digest)
        answer = pack_answer(exchange, digest, self._file.warcinfo_id, revisit)
        data = answer.data + self._beside(exchange, record, answer.record_id)
        start = self._file.append(data)
        row = ArchivedRow(
            fingerprint,
            exchange.url,
            warc_date(exchange.began_at),
            int(exchange.head.split(None, 2)[1]),
            _mime(exchange),
            digest.hex() if revisit is None else revisit.written or digest.hex(),
            0 if revisit is None else revisit.kind,
            self._file.name,
            start,
            len(answer.data),
            start + len(data),
        )
        try:
            return archived.add(self._connection, row), start
        except StorageError:
            self._file.cut(start)
            raise

    def _revisit(self, exchange: Exchange, record: Record | None, digest: bytes) -> Revisit | None:
        """Return the record that an answer without its own body refers to, else None."""
        if record is not None and record.outcome == UNCHANGED:
            kept = archived.kept_earlier(self._connection, exchange.url)
            return Revisit(archived.NOT_MODIFIED_SINCE, *(kept or ()))
        if not exchange.body or exchange.truncated:
            return None
        found = archived.with_payload(self._connection, digest.hex())
        if found is not None:
            return Revisit(archived.SAME_PAYLOAD_AS, found.url, found.date)
        known = None if self._payloads is None else self._payloads.find(exchange.body, digest)
        return known and Revisit(archived.SAME_PAYLOAD_AS, *known)

    def _beside(self, exchange: Exchange, record: Record | None, answer_id: str) -> bytes:
        """Return the records beside the answer."""
        beside = exchange, self._file.warcinfo_id, answer_id
        data = pack_beside("request", *beside, exchange.request) if exchange.request else b""
        if exchange.rendered:
            data += pack_beside("conversion", *beside, exchange.rendered)
        if record is not None and record.is_download:
            data += pack_beside("metadata", *beside, fields_block(_metadata(record)))
        return data


def _metadata(record: Record) -> dict[str, str]:
    """Return what identification found; a page without a label has no language."""
    values = {
        "outcome": record.outcome,
        "language": record.language,
        "confidence": None if record.confidence is None else f"{record.confidence:.4f}",
        "method": record.method,
        "charset": record.charset,
    }
    return {name: value for name, value in values.items() if value is not None}


def _mime(exchange: Exchange) -> str:
    """Return an answer's media type for an index; "unk" without one."""
    for line in exchange.head.split(b"\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            words = value.decode("latin-1").partition(";")[0].split()
            return words[0].lower() if words else "unk"
    return "unk"


class WarcFile:
    """The newest WARC file of a session; the first file is created with the first record.

    `information` are the fields of each file's `warcinfo` record. `worker` is the name of a shared
    crawl's worker, so that all workers' files can be in one folder; "" otherwise. A file of
    `most_bytes` or more gets no further exchange. All methods raise `StorageError`.
    """

    def __init__(
        self,
        folder: Path,
        information: Mapping[str, str],
        *,
        now: float,
        most_bytes: int = 1_000_000_000,
        worker: str = "",
    ) -> None:
        self._fields = {name: text for name, text in {**FORMAT, **information}.items() if text}
        self._folder, self._date = folder, warc_date(now)
        self._mark = f"-{blake2b(worker.encode(), digest_size=4).hexdigest()}" if worker else ""
        self._most_bytes = most_bytes
        self._descriptor = -1
        self._number = self._size = 0
        self.name = self.warcinfo_id = ""

    def prepare(self) -> None:
        """Open a new file if there is none or the last is full; sets `name` and `warcinfo_id`."""
        if self._descriptor >= 0 and self._size < self._most_bytes:
            return
        self.close()
        with self._writing():
            self._begin()

    def append(self, data: bytes) -> int:
        """Append bytes to the file opened by `prepare`; return their place.

        An error leaves the file unchanged.
        """
        start = self._size
        with self._writing():
            try:
                self._write(data)
            except OSError:
                with suppress(StorageError):
                    self.cut(start)
                raise
        return start

    def cut(self, start: int) -> None:
        """Remove all bytes from a place on."""
        with self._writing():
            os.ftruncate(self._descriptor, start)
        self._size = start

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _begin(self) -> None:
        stamp, self.name = "".join(filter(str.isdigit, self._date)), ""
        while not self.name or (self._folder / self.name).exists():
            self._number += 1
            self.name = f"pages-{stamp}-{self._number:05}{self._mark}.warc.gz"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._descriptor = os.open(self._folder / self.name, flags, 0o666)
        self._size = 0
        headers = {"WARC-Filename": self.name}
        information = pack("warcinfo", self._date, headers, fields_block(self._fields))
        self.warcinfo_id = information.record_id
        self._write(information.data)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.write(self._descriptor, rest)
            self._size += written
            rest = rest[written:]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            path = self._folder / self.name
            message = f"{path} can no longer be written: {error.strerror or error}"
            raise StorageError(message) from error
