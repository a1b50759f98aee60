"""Reads the records of WARC files, also those that follow damaged ones.

fastwarc, which takes records apart elsewhere, stops at the first damage, does not tell of a record
that is cut off, and fills a record that is too short with the bytes of the next gzip member.
"""

import io
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from crawler.errors import ArchiveError
from crawler.sources.volumes import WARC_ENDINGS, Volume

BLOCK_LIMIT: Final = 1 << 26
"""Most bytes of a record's block that are returned."""

MOST_DAMAGES: Final = 1_000
"""Damaged places of a file after which the rest is not read."""

STATUS_LINE: Final = re.compile(rb"HTTP/\d(?:\.\d)? +\d{3}")
_STATUS_LINE_MAX: Final = 16
_GZIP: Final = b"\x1f\x8b"
_MEMBER: Final = b"\x1f\x8b\x08"
_RECORD: Final = b"WARC/"
_BEGIN: Final = re.compile(rb"WARC/\d+\.\d+\r?\n\Z")  # also behind the rest of another record
_NEWLINES: Final = (b"\r\n", b"\n")
_HEAD_LIMIT: Final = 1 << 20  # bytes; the longest record header that is read
_MOST_CANDIDATES: Final = 10_000  # for the next gzip member; by chance there is one in 16 MB
_BLOCK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A whole record. A text that it does not have is ""."""

    offset: int  # of the record in the file, or of the gzip member that holds it
    kind: str  # such as "response"
    url: str
    address: str  # of the server
    date: str  # WARC-Date
    digest: str  # of the payload, in lower case
    refers_to: str  # URL of the record that has the body of a `revisit`
    refers_to_date: str
    block: bytes  # its first bytes; the caller says how many

    @property
    def is_answer(self) -> bool:
        """True if the record is an HTTP answer of a server."""
        return self.kind == "response" and self._is_of_http

    @property
    def is_revisit(self) -> bool:
        """True if the record is an HTTP answer whose body is in another record."""
        return self.kind == "revisit" and self._is_of_http

    @property
    def _is_of_http(self) -> bool:
        return self.url.lower().startswith(("http:", "https:"))


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a WARC file that could not be read: its offset in bytes, and the reason."""

    offset: int
    reason: str

    def __str__(self) -> str:
        """Return the place and the reason in one line."""
        return f"at byte {self.offset}: {self.reason}"


def records(volume: Volume, kept: int = BLOCK_LIMIT) -> Iterator[ArchiveRecord | Damage]:
    """Yield the whole records of a file with `kept` bytes of each block, and the damaged places.

    A gzip member may hold several records; they have the same offset. Only gzip has checksums, so
    without it a changed body is not noticed. Raises `OSError` if the file cannot be read.
    """
    damages = 0
    with volume.open() as file:
        for found in _records(file, volume, kept):
            yield found
            damages += isinstance(found, Damage)
            if damages == MOST_DAMAGES:
                yield Damage(found.offset, f"{damages:,} damaged places: the rest is not read")
                return


def record_at(volume: Volume, offset: int, kept: int = BLOCK_LIMIT) -> ArchiveRecord:
    """Return the record that `records` found at an offset; raises `ArchiveError` if it is gone."""
    try:
        with volume.open() as file:
            file.seek(offset)
            is_packed = file.read(len(_GZIP)) == _GZIP
            stream = _Stream(file, offset, is_packed=is_packed)
            found = stream.record(kept)
            if is_packed:
                stream.drain()  # up to its checksum
    except OSError as error:
        raise ArchiveError(f"{volume}: at byte {offset}: {error.strerror or error}") from error
    if not isinstance(found, ArchiveRecord):
        raise ArchiveError(f"{volume}: {found or f'at byte {offset}: no record'}")
    return found


def is_warc(path: Path) -> bool:
    """Return True if a file begins like a WARC file, or has the name of one; raises `OSError`."""
    if path.name.lower().endswith(WARC_ENDINGS):
        return True
    with path.open("rb") as file:
        return _begins_record(file.read(_BLOCK))


def _records(file: BinaryIO, volume: Volume, kept: int) -> Iterator[ArchiveRecord | Damage]:
    begin = file.read(len(_RECORD))
    name = (volume.name or volume.path.name).lower()
    is_packed = begin.startswith(_GZIP) or (name.endswith(".gz") and begin != _RECORD)
    if not begin:
        yield Damage(0, "the file is empty")
    start: int | None = 0
    while start is not None:
        stream = _Stream(file, start, is_packed=is_packed)
        yield from stream.records(kept)
        if not is_packed:
            return
        start = _next_member(file, start + 1) if stream.is_broken else stream.end()


class _Unreadable(OSError):
    """Unpacked bytes that are no record; the next one may be behind them."""


class _Stream:
    """The records of a gzip member, or of a file that is not compressed."""

    def __init__(self, file: BinaryIO, start: int, *, is_packed: bool) -> None:
        self._size = None if is_packed else file.seek(0, io.SEEK_END)
        file.seek(start)
        self._member = _Member(file) if is_packed else None
        self._bytes = file if self._member is None else io.BufferedReader(self._member, _BLOCK)
        self._offset = start
        self._is_lost = self.is_broken = False
        self._read_again = b""  # a line that is no begin of a record may end with one

    def records(self, kept: int) -> Iterator[ArchiveRecord | Damage]:
        """Yield records and damages; the last record when the checksum behind it was read."""
        last: ArchiveRecord | Damage | None = None
        try:
            while True:
                found = self.record(kept)
                if last is not None:
                    yield last
                if found is None:
                    return
                last = found
        except OSError as error:
            if last is not None and last.offset != self._offset:
                yield last
            yield Damage(self._offset, str(error))
            self.is_broken = True

    def record(self, kept: int) -> ArchiveRecord | Damage | None:
        """Return the next record, None at the end; raises `OSError` for broken gzip data."""
        line = self._line()
        while line in _NEWLINES or (self._is_lost and line and not _BEGIN.search(line)):
            line = self._line()
        if self._is_lost and (begin := _BEGIN.search(line)):
            self._offset += begin.start() * (self._size is not None)
            line = line[begin.start() :]
        try:
            return self._record(line, max(kept, _STATUS_LINE_MAX)) if line else None
        except _Unreadable as error:
            self._is_lost = True
            return Damage(self._offset, str(error))

    def drain(self) -> None:
        """Read to the end."""
        while self._bytes.read(_BLOCK):
            pass

    def end(self) -> int | None:
        """Return the offset behind a gzip member, None at the end of the file."""
        return None if self._member is None else self._member.end()

    def _line(self) -> bytes:
        line, self._read_again = self._read_again, b""
        if line:
            return line
        if self._size is not None:
            self._offset = self._bytes.tell()
        return self._bytes.readline(_HEAD_LIMIT)

    def _record(self, line: bytes, kept: int) -> ArchiveRecord | Damage:
        if not line.startswith(_RECORD):
            self._read_again = line
            raise _Unreadable("this is not a WARC record")
        self._is_lost = False
        fields = self._fields()
        length, kind = fields.get("content-length", ""), fields.get("warc-type", "")
        if not (length.isascii() and length.isdigit()) or not kind:
            raise _Unreadable("a record without a Content-Length or a WARC-Type")
        return _made(self._offset, fields, self._block(int(length), kept))

    def _fields(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        size = 0
        while (line := self._bytes.readline(_HEAD_LIMIT)) not in _NEWLINES:
            size += len(line)
            if not line or size > _HEAD_LIMIT:
                raise _Unreadable("a record header without an end")
            name, _, value = line.decode("utf-8", "replace").partition(":")
            fields[name.strip().lower()] = value.strip()
        return fields

    def _block(self, length: int, kept: int) -> bytes:
        if self._size is not None and length > self._size - self._bytes.tell():
            raise _Unreadable("the file ends inside this record")
        block = self._bytes.read(min(length, kept))
        left = length - len(block)
        while left and (data := self._bytes.read(min(left, _BLOCK))):
            left -= len(data)
        if left:
            raise _Unreadable("the file ends inside this record")
        return block


def _made(offset: int, fields: Mapping[str, str], block: bytes) -> ArchiveRecord | Damage:
    found = ArchiveRecord(
        offset,
        fields["warc-type"],
        fields.get("warc-target-uri", "").strip("<>"),
        fields.get("warc-ip-address", ""),
        fields.get("warc-date", ""),
        fields.get("warc-payload-digest", "").lower(),
        fields.get("warc-refers-to-target-uri", "").strip("<>"),
        fields.get("warc-refers-to-date", ""),
        block,
    )
    if found.kind == "response" and not found.url:
        return Damage(offset, "a response without a WARC-Target-URI")
    if found.is_answer and not STATUS_LINE.match(block):
        return Damage(offset, "no HTTP status line in this response")
    return found


class _Member(io.RawIOBase):
    """The contents of the gzip member at the place of a file; reading raises `OSError`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._unzip = file, zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer
        while not self._unzip.eof:
            ahead = self._unzip.unconsumed_tail or self._file.read(_BLOCK)
            if not ahead:
                raise OSError("the file ends inside this record")
            try:
                data = self._unzip.decompress(ahead, len(buffer))
            except zlib.error as error:
                raise OSError(f"damaged gzip data ({error})") from error
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def end(self) -> int | None:
        """Return the offset behind the member, None at the end of the file."""
        end = self._file.tell() - len(self._unzip.unused_data)
        return end if self._unzip.unused_data or self._file.read(1) else None


def _next_member(file: BinaryIO, start: int) -> int | None:
    """Return the offset of the next gzip member from `start` on that begins with a record."""
    for _ in range(_MOST_CANDIDATES):
        found = _find(file, start, _MEMBER)
        if found is None:
            break
        file.seek(found)
        if _begins_record(file.read(_BLOCK)):
            return found
        start = found + 1
    return None


def _find(file: BinaryIO, start: int, wanted: bytes) -> int | None:
    file.seek(start)
    data = b""
    while block := file.read(_BLOCK):
        data += block
        at = data.find(wanted)
        if at >= 0:
            return file.tell() - len(data) + at
        data = data[1 - len(wanted) :]
    return None


def _begins_record(ahead: bytes) -> bool:
    if ahead.startswith(_GZIP):
        try:
            ahead = zlib.decompressobj(wbits=31).decompress(ahead, len(_RECORD))
        except zlib.error:
            return False
    return ahead.startswith(_RECORD)
