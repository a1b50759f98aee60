"""Writes the exchanges of a crawl into WARC files, so that run and files agree after a kill.

An exchange is appended to its file, then its row is committed, then its URL is settled. A kill
leaves at most the last of them without the next step, which `crawler.outputs.repair` undoes.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from crawler.errors import StorageError
from crawler.frontier.base import UNCHANGED, Lease, Record
from crawler.outputs import archived
from crawler.outputs.archived import ArchivedRow
from crawler.outputs.exchange import Exchange
from crawler.outputs.warc_files import Place, WarcFiles
from crawler.outputs.warc_records import (
    NOT_MODIFIED,
    SAME_PAYLOAD,
    Revisit,
    digest_of,
    fields_block,
    pack_answer,
    pack_beside,
    warc_date,
)

FORMAT = {
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
}
_OF_EARLIER = "SELECT kept_url, kept_at FROM earlier WHERE url = ? AND kept_at IS NOT NULL"
_KINDS = {
    SAME_PAYLOAD: archived.SAME_PAYLOAD_AS,
    NOT_MODIFIED: archived.NOT_MODIFIED_SINCE,
}
_MOST_TOLD = 100


def argument_fields(arguments: Mapping[str, object]) -> dict[str, str]:
    """Return the arguments of a crawl as fields of a `warcinfo` record, long lists cut."""
    return {f"langfocus-{name.replace('_', '-')}": _told(arguments[name]) for name in arguments}


def _told(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    more = f" and {len(value) - _MOST_TOLD:,} more" if len(value) > _MOST_TOLD else ""
    return " ".join(map(str, value[:_MOST_TOLD])) + more


class WarcArchive:
    """The WARC files of a run, in its folder.

    `information` are the fields of each file's `warcinfo` record. `worker` is the name of the
    worker of a shared crawl, so that files of all workers can lie in one folder; "" if the crawl is
    not shared. A file of `most_bytes` or more gets no further exchange.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        information: Mapping[str, str],
        *,
        now: float,
        most_bytes: int = 1_000_000_000,
        worker: str = "",
    ) -> None:
        self._connection = connection
        fields = {name: text for name, text in {**FORMAT, **information}.items() if text}
        self._files = WarcFiles(folder, fields, now=now, most_bytes=most_bytes, worker=worker)

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
        row, place = self._write(exchange, key, record)
        try:
            yield
        except BaseException:
            archived.remove(self._connection, row)
            self._files.cut(place)
            raise

    def add(self, exchange: Exchange) -> None:
        """Keep an exchange that settles no URL, such as a robots.txt; raises `StorageError`."""
        self._write(exchange, None, None)

    def close(self) -> None:
        """Close the newest file."""
        self._files.close()

    def _write(
        self, exchange: Exchange, fingerprint: int | None, record: Record | None
    ) -> tuple[int, Place]:
        """Write an exchange; return the id of its row, and its place."""
        self._files.prepare()
        digest = digest_of(exchange.body)
        with archived.storing():
            revisit = self._revisit(exchange, record, digest)
        answer = pack_answer(exchange, digest, self._files.warcinfo_id, revisit)
        data = answer.data + self._beside(exchange, record, answer.record_id)
        place = self._files.append(data)
        row = ArchivedRow(
            fingerprint,
            exchange.url,
            warc_date(exchange.began_at),
            int(exchange.head.split(None, 2)[1]),
            _mime(exchange),
            digest.hex(),
            0 if revisit is None else _KINDS[revisit.profile],
            place.file,
            place.offset,
            len(answer.data),
            place.offset + len(data),
        )
        try:
            return archived.add(self._connection, row), place
        except StorageError:
            self._files.cut(place)
            raise

    def _revisit(self, exchange: Exchange, record: Record | None, digest: bytes) -> Revisit | None:
        """Return what an answer without a body of its own refers to, None for another answer."""
        if record is not None and record.outcome == UNCHANGED:
            told = self._connection.execute(_OF_EARLIER, (exchange.url,)).fetchone()
            return Revisit(NOT_MODIFIED, *(told or ()))
        if not exchange.body or exchange.truncated:
            return None
        where = "digest = ? AND is_revisit = 0"
        found = archived.found_archived(self._connection, where, digest.hex())
        return None if found is None else Revisit(SAME_PAYLOAD, found.url, found.date)

    def _beside(self, exchange: Exchange, record: Record | None, answer_id: str) -> bytes:
        """Return the records beside the answer."""
        beside = exchange, self._files.warcinfo_id, answer_id
        data = pack_beside("request", *beside, exchange.request) if exchange.request else b""
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
    """Return the media type of an answer as an index has it, "unk" without one."""
    for line in exchange.head.split(b"\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            words = value.decode("latin-1").partition(";")[0].split()
            return words[0].lower() if words else "unk"
    return "unk"
