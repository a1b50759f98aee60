"""Reads the answers in a WARC file in one pass, also those that follow damaged records.

A damaged record is reported and the next one is searched: in compressed files the next gzip member,
in others the next line that begins with `WARC/`. Unlike in `records`, where each record
is read alone and again, a gzip member may hold several records.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from crawler.errors import ArchiveError
from crawler.settings import DOWNLOAD_MAXSIZE
from crawler.sources.archive import answer_of
from crawler.sources.contract import Answer
from crawler.sources.records import (
    AGAIN,
    BLOCK,
    GZIP,
    MEMBER,
    NEWLINES,
    RECORD,
    ArchiveRecord,
    PartialRecord,
    find,
)

KEPT_BYTES: Final = DOWNLOAD_MAXSIZE
"""Most bytes of an answer that are read, as in a crawl; the rest is skipped."""

MOST_GAPS: Final = 1_000
"""Damaged places of a compressed file after which the rest is not read."""

_MOST_UNPACKED = BLOCK


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a WARC file that could not be read: its offset in bytes, and the reason."""

    offset: int
    reason: str

    def __str__(self) -> str:
        """Return the place and the reason in one line."""
        return f"at byte {self.offset}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """An answer of a server in a WARC file, and its URL as the file writes it."""

    url: str
    answer: Answer


class _Piece(NamedTuple):
    """Unpacked bytes; `offset` is that of their first byte, or of their gzip member."""

    data: bytes
    offset: int
    begins_member: bool = False


def is_warc(path: Path) -> bool:
    """Return True if a file begins like a WARC file, or has the name of one; raises `OSError`."""
    with path.open("rb") as file:
        start = file.read(BLOCK)
    if start.startswith(GZIP):
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, len(RECORD))
        except zlib.error:
            start = b""
    return start == RECORD or start.startswith(RECORD) or _is_named_so(path.name.lower())


def _is_named_so(name: str) -> bool:
    return name.endswith((".warc", ".warc.gz"))


def answers(path: Path) -> Iterator[ArchivedAnswer | Damage]:
    """Yield the HTTP answers of a WARC file in their order, and its damaged places.

    Records that are not answers are skipped. At most two answers are in memory at a time, each cut
    at `KEPT_BYTES`. Raises `OSError` if the file cannot be opened.
    """
    for found in _records(path):
        if isinstance(found, Damage):
            yield found
        elif found[0].kind == "response" and not found[0].url:
            yield Damage(found[0].offset, "a response without a WARC-Target-URI")
        elif found[0].is_answer:
            yield _answered(*found)


def _answered(record: ArchiveRecord, block: bytes) -> ArchivedAnswer | Damage:
    try:
        return ArchivedAnswer(record.url, answer_of(record, block))
    except Exception as error:  # an answer that no decoder understands
        return Damage(record.offset, f"an answer that cannot be unpacked ({error})")


def _records(path: Path) -> Iterator[tuple[ArchiveRecord, bytes] | Damage]:
    with path.open("rb") as file:
        start = file.read(len(RECORD))
        is_packed = start.startswith(GZIP) or (path.suffix.lower() == ".gz" and start != RECORD)
        size = file.seek(0, 2)
        file.seek(0)
        pieces = _unpacked(file) if is_packed else _plain(file)
        yield from _Reader(path, None if is_packed else size).read(pieces)


class _Reader:
    """Cuts pieces into records. `size` is that of a file that is not compressed."""

    def __init__(self, path: Path, size: int | None) -> None:
        self._path, self._size = path, size
        self._partial: PartialRecord | None = None
        self._begun_at = 0
        self._finished: tuple[ArchiveRecord, bytes] | None = None
        self._is_lost = False
        self._carry = b""

    def read(
        self, pieces: Iterator[_Piece | Damage]
    ) -> Iterator[tuple[ArchiveRecord, bytes] | Damage]:
        """Yield the records. A record waits for the next piece: its checksum comes after it."""
        for piece in pieces:
            if isinstance(piece, Damage):
                if self._finished is not None and self._finished[0].offset != piece.offset:
                    yield self._finished
                self._finished = self._partial = None
                self._is_lost, self._carry = False, b""
                yield piece
            else:
                yield from self._piece(piece)
        yield from self._end()

    def _end(self) -> Iterator[tuple[ArchiveRecord, bytes] | Damage]:
        """Yield the record that waits, then the fault of one that is not whole."""
        if self._finished is not None:
            yield self._finished
            self._finished = None
        if self._partial is not None:
            self._partial = None
            yield Damage(self._begun_at, "the file ends inside this record")

    def _piece(self, piece: _Piece) -> Iterator[tuple[ArchiveRecord, bytes] | Damage]:
        data, offset = piece.data, piece.offset
        if piece.begins_member and data.startswith(RECORD):
            yield from self._end()
            self._is_lost, self._carry = False, b""
        if self._size is not None:
            offset -= len(self._carry)
        data, self._carry = self._carry + data, b""
        while data:
            start = self._start(data)
            if start is None:
                return
            yield from self._finish()
            is_plain = self._size is not None
            offset, data = offset + start * is_plain, data[start:]
            try:
                rest = self._feed(data, offset)
            except ArchiveError as error:
                yield Damage(self._begun_at, _reason(error, self._path))
                self._partial, self._is_lost, rest = None, True, data[1:]
            offset, data = offset + (len(data) - len(rest)) * is_plain, rest

    def _finish(self) -> Iterator[tuple[ArchiveRecord, bytes]]:
        if self._finished is not None:
            yield self._finished
            self._finished = None

    def _start(self, data: bytes) -> int | None:
        """Return where the record continues or the next one begins, None if not in this piece."""
        if self._partial is not None:
            return 0
        if not self._is_lost:
            start = len(data) - len(data.lstrip(NEWLINES))
            return start if start < len(data) else None
        found = data.find(b"\n" + RECORD)
        if found < 0:
            self._carry = data[-len(RECORD) :]
            return None
        self._is_lost = False
        return found + 1

    def _feed(self, data: bytes, offset: int) -> bytes:
        """Continue a record or begin one; return the bytes after it; raises `ArchiveError`."""
        if self._partial is None:
            self._partial = PartialRecord(self._path, offset, KEPT_BYTES)
            self._begun_at = offset
        partial = self._partial
        rest = partial.feed(data)
        if partial.is_whole:
            self._partial = None
            self._finished = partial.finish(), bytes(partial.block)
        elif self._size is not None and (partial.missing or 0) > self._size - offset - len(data):
            raise partial.error("the file ends inside this record", AGAIN)
        return rest


def _reason(error: ArchiveError, path: Path) -> str:
    """Return the fault in a message of `PartialRecord.error`, without the file and the advice."""
    return str(error).removeprefix(f"{path}: at byte ").partition(": ")[2].rpartition("; ")[0]


def _plain(file: BinaryIO) -> Iterator[_Piece]:
    while data := file.read(BLOCK):
        yield _Piece(data, file.tell() - len(data))


def _unpacked(file: BinaryIO) -> Iterator[_Piece | Damage]:
    """Yield the contents of all gzip members, and a `Damage` for each that is broken."""
    offset: int | None = 0
    gaps = 0
    while offset is not None:
        file.seek(offset)
        member = _Member(file, offset)
        yield from member.pieces()
        if not member.fault:
            offset = member.end
            continue
        gaps += 1
        if gaps > MOST_GAPS:
            yield Damage(offset, f"more than {MOST_GAPS:,} damaged places: the rest is not read")
            return
        yield Damage(offset, member.fault)
        offset = find(file, offset + 1, MEMBER)


class _Member:
    """A gzip member that is unpacked. `end` is the offset after it, None at the end of the file."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file, self._offset = file, offset
        self.fault = ""
        self.end: int | None = None

    def pieces(self) -> Iterator[_Piece]:
        unzip = zlib.decompressobj(wbits=31)
        ahead, is_first = self._file.read(BLOCK), True
        while ahead and not unzip.eof:
            try:
                data = unzip.decompress(ahead, _MOST_UNPACKED)
            except zlib.error as error:
                self.fault = f"damaged gzip data ({error})"
                return
            if data:
                yield _Piece(data, self._offset, is_first)
                is_first = False
            ahead = unzip.unconsumed_tail or (b"" if unzip.eof else self._file.read(BLOCK))
        if not unzip.eof:
            self.fault = "the file ends inside this record"
            return
        end = self._file.tell() - len(unzip.unused_data)
        self.end = end if unzip.unused_data or self._file.read(1) else None
