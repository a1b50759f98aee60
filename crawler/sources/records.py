"""Reads the records of a WARC file, one after the other, and checks that each is whole."""

import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from crawler.errors import ArchiveError
from crawler.sources.volumes import Volume

GZIP = b"\x1f\x8b"
MEMBER = b"\x1f\x8b\x08"
RECORD = b"WARC/"
CANDIDATE = 1 << 10
MOST_CANDIDATES = 10_000  # for the next gzip member; by chance there is one in 16 MB
MOST_FAILURES = 100  # records in a row that are damaged; the rest of the file is not read
BLOCK = 1 << 16
BLOCK_LIMIT = 1 << 26  # bytes; most of a record's block that is returned
HEAD_LIMIT = 1 << 20  # bytes; the longest record header that is read
HEAD_END = b"\r\n\r\n"
NEWLINES = b"\r\n"
STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? +\d{3}")
STATUS_LINE_MAX = 16
AGAIN = "fetch or write the file again"


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A record: its offset in the file, its kind (such as "response"), and its URL.

    `address` is the server's address, `date` the WARC-Date and `digest` that of the payload, as
    written in the record. `refers_to` is the URL of the record that has the body of a `revisit`,
    `refers_to_date` its WARC-Date.
    Each is "" if the record does not have it.
    """

    offset: int
    kind: str
    url: str
    address: str = ""
    date: str = ""
    digest: str = ""
    refers_to: str = ""
    refers_to_date: str = ""

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


@dataclass(slots=True)
class Skipped:
    """The damaged records of files: their number, and the error of the first."""

    number: int = 0
    first: ArchiveError | None = None

    def __str__(self) -> str:
        """Return a message of one line."""
        records = "record was" if self.number == 1 else "records were"
        return f"{self.number:,} damaged {records} skipped, the first: {self.first}"

    def count(self, error: ArchiveError) -> None:
        """Count one record that cannot be read."""
        self.number += 1
        self.first = self.first or error

    def add(self, more: "Skipped") -> None:
        """Add those of another file."""
        self.number += more.number
        self.first = self.first or more.first


def scan(path: Path | Volume, skipped: Skipped | None = None) -> Iterator[ArchiveRecord]:
    """Yield every whole record of a file that is compressed record by record or not at all.

    Records that are cut off, damaged, or in one gzip member with another are counted in `skipped`;
    the next one is found by its first bytes. Only gzip has checksums, so without it a changed body
    is not noticed. Raises `ArchiveError` with the offset of the first record if none is whole.
    """
    of_file = Skipped()
    is_any_whole = False
    volume = _volume(path)
    try:
        with volume.open() as file:
            start = file.read(len(GZIP))
            file.seek(0)
            if not start:
                raise ArchiveError(f"{path}: the file is empty; give a WARC file")
            for record in _records(file, volume, of_file, is_packed=start == GZIP):
                is_any_whole = True
                yield record
    except OSError as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"{path}: {error.strerror or error}; give a WARC file") from error
    if skipped is not None:
        skipped.add(of_file)
    if of_file.first is not None and not is_any_whole:
        raise of_file.first


def _volume(path: Path | Volume) -> Volume:
    return path if isinstance(path, Volume) else Volume(path)


def read_block(
    path: Path | Volume, offset: int, kept: int = BLOCK_LIMIT
) -> tuple[ArchiveRecord, bytes]:
    """Return the record that `scan` found at the offset, with `kept` bytes of its block.

    Raises `ArchiveError` if the record is no longer there.
    """
    reading = PartialRecord(path, offset, kept=max(kept, STATUS_LINE_MAX))
    try:
        with _volume(path).open() as file:
            file.seek(offset)
            ahead = file.read(BLOCK)
            if ahead.startswith(GZIP):
                _feed_member(reading, file, ahead)
            else:
                _feed_plain(reading, file, ahead)
    except OSError as error:
        raise reading.error(error.strerror or str(error), AGAIN) from error
    return reading.finish(), bytes(reading.block)


class PartialRecord:
    """A record while its bytes are read; the first `kept` bytes of its block are kept."""

    def __init__(
        self,
        path: Path | Volume,
        offset: int,
        kept: int = STATUS_LINE_MAX,
        end: int | None = None,
    ) -> None:
        self.offset = offset
        self._path, self._kept, self._end = path, kept, end
        self._head, self.block = bytearray(), bytearray()
        self._left: int | None = None
        self._record = ArchiveRecord(offset, "", "")

    @property
    def is_whole(self) -> bool:
        """Return True if the end of the block was read."""
        return self._left == 0

    @property
    def missing(self) -> int | None:
        """Return the bytes of the block that were not read yet, None inside the header."""
        return self._left

    def feed(self, data: bytes) -> bytes:
        """Consume the bytes that belong to the record; return the bytes after it."""
        if self._left is None:
            data = self._feed_head(data)
        if self._left is None:
            return b""
        taken = data[: self._left]
        self.block += taken[: self._kept - len(self.block)]
        self._left -= len(taken)
        return data[len(taken) :]

    def finish(self) -> ArchiveRecord:
        """Return the record; raises `ArchiveError` if bytes or a status line are missing."""
        self.check_whole()
        if self._record.is_answer and not STATUS_LINE.match(self.block[:STATUS_LINE_MAX]):
            raise self.error("no HTTP status line in this response", AGAIN)
        return self._record

    def check_whole(self) -> None:
        """Raise `ArchiveError` if bytes are missing."""
        if not self.is_whole:
            raise self.error("the file ends inside this record", AGAIN)

    def error(self, seen: str, mend: str) -> ArchiveError:
        """Return an error about this record: the fault, and how to repair it."""
        return ArchiveError(f"{self._path}: at byte {self.offset}: {seen}; {mend}")

    def _feed_head(self, data: bytes) -> bytes:
        """Continue in the header; return the first bytes of the block after its end, else none."""
        seen = max(0, len(self._head) - len(HEAD_END))
        self._head += data
        if not self._head.startswith(RECORD[: len(self._head)]):
            raise self.error("this is not a WARC record", "give a WARC file")
        end = self._head.find(HEAD_END, seen)
        if end < 0:
            if len(self._head) > HEAD_LIMIT:
                raise self.error("a record header without an end", "give a WARC file")
            return b""
        self._read_head(bytes(self._head[:end]).decode("utf-8", "replace"))
        return bytes(self._head[end + len(HEAD_END) :])

    def _read_head(self, head: str) -> None:
        lines = (line.partition(":") for line in head.split("\r\n")[1:])
        fields = {name.strip().lower(): value.strip() for name, _, value in lines}
        length, kind = fields.get("content-length", ""), fields.get("warc-type", "")
        if not (length.isascii() and length.isdigit()) or not kind:
            raise self.error("a record without a Content-Length or a WARC-Type", AGAIN)
        url = fields.get("warc-target-uri", "").strip("<>")
        self._left = int(length)
        self._record = ArchiveRecord(
            self.offset,
            kind,
            url,
            fields.get("warc-ip-address", ""),
            fields.get("warc-date", ""),
            fields.get("warc-payload-digest", "").lower(),
            fields.get("warc-refers-to-target-uri", "").strip("<>"),
            fields.get("warc-refers-to-date", ""),
        )
        if self._end is not None and self._left > self._end - self.offset:
            raise self.error("the file ends inside this record", AGAIN)


def _records(
    file: BinaryIO, path: Volume, skipped: Skipped, *, is_packed: bool
) -> Iterator[ArchiveRecord]:
    """Yield the whole records; after a damaged one, go on at the next one that can be found."""
    end = None if is_packed else file.seek(0, os.SEEK_END)
    file.seek(0)
    read, find_next = (_read_member, _next_member) if is_packed else (_read_plain, _next_record)
    ahead, failures = file.read(BLOCK), 0
    while ahead and failures < MOST_FAILURES:
        reading = PartialRecord(path, file.tell() - len(ahead), end=end)
        try:
            ahead = read(reading, file, ahead)
        except ArchiveError as error:
            skipped.count(error)
            failures += 1
            ahead = find_next(file, reading.offset + 1)
        else:
            failures = 0
            yield from _finished(reading, skipped)


def _finished(reading: PartialRecord, skipped: Skipped) -> Iterator[ArchiveRecord]:
    """Yield the record if it is whole; count it if not."""
    try:
        record = reading.finish()
    except ArchiveError as error:
        skipped.count(error)
    else:
        yield record


def _next_member(file: BinaryIO, start: int) -> bytes:
    """Go to the next gzip member that holds a record; return its first bytes, b"" if none is."""
    for _ in range(MOST_CANDIDATES):
        found = find(file, start, MEMBER)
        if found is None:
            break
        file.seek(found)
        if _begins_record(file.read(CANDIDATE)):
            file.seek(found)
            return file.read(BLOCK)
        start = found + 1
    return b""


def _begins_record(ahead: bytes) -> bool:
    try:
        return zlib.decompressobj(wbits=31).decompress(ahead, len(RECORD)) == RECORD
    except zlib.error:
        return False


def find(file: BinaryIO, start: int, wanted: bytes) -> int | None:
    """Return the offset of the first occurrence of some bytes from `start` on."""
    file.seek(start)
    data = b""
    while block := file.read(BLOCK):
        data += block
        at = data.find(wanted)
        if at >= 0:
            return file.tell() - len(data) + at
        data = data[1 - len(wanted) :]
    return None


def _feed_member(reading: PartialRecord, file: BinaryIO, ahead: bytes) -> bytes:
    """Feed one gzip member that begins with `ahead`; return the bytes read after it."""
    unzip = zlib.decompressobj(wbits=31)
    while ahead and not unzip.eof:
        try:
            behind = reading.feed(unzip.decompress(ahead))
        except zlib.error as error:
            raise reading.error(f"damaged gzip data ({error})", AGAIN) from error
        if behind.strip(NEWLINES):
            raise reading.error(
                "several records in one gzip member, so none can be read alone",
                "compress record by record: warcio recompress OLD NEW",
            )
        ahead = unzip.unused_data if unzip.eof else file.read(BLOCK)
    if not unzip.eof:
        raise reading.error("the file ends inside this record", AGAIN)
    return ahead


def _feed_plain(reading: PartialRecord, file: BinaryIO, ahead: bytes) -> bytes:
    """Feed one record that begins with `ahead`; return the bytes read after it."""
    while ahead and not reading.is_whole:
        ahead = reading.feed(ahead) or file.read(BLOCK)
    return ahead


def _read_member(reading: PartialRecord, file: BinaryIO, ahead: bytes) -> bytes:
    """Read one gzip member; return the first bytes of the next one."""
    return _feed_member(reading, file, ahead) or file.read(BLOCK)


def _read_plain(reading: PartialRecord, file: BinaryIO, ahead: bytes) -> bytes:
    """Read one record, which must be whole; return the first bytes of the next one."""
    ahead = _feed_plain(reading, file, ahead)
    reading.check_whole()
    while ahead and not (ahead := ahead.lstrip(NEWLINES)):
        ahead = file.read(BLOCK)
    return ahead


def _next_record(file: BinaryIO, start: int) -> bytes:
    """Go to the next text that begins a record; return its first bytes, b"" if there is none."""
    found = find(file, start, RECORD)
    if found is None:
        return b""
    file.seek(found)
    return file.read(BLOCK)
