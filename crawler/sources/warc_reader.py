"""WARC and ARC files of an archive, and their records, including records after damage.

fastwarc stops at the first damage, reports no truncated record, and fills a short record with bytes
of the next gzip member. So fastwarc only unpacks LZ4 and Zstandard here.
"""

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from fastwarc.stream_io import Lz4Reader, ZstdReader

from langfocus.crawler.errors import ArchiveError
from langfocus.crawler.http.head import status_line
from langfocus.crawler.run.whole_file import open_regular

_KINDS: Final = ".warc", ".arc", ".wet"
_PACKINGS: Final = "", ".gz", ".lz4", ".zst"
WARC_ENDINGS: Final = tuple(kind + packing for kind in _KINDS for packing in _PACKINGS)
PACKAGE_ENDINGS: Final = (".wacz",)

BLOCK_LIMIT: Final = 1 << 26
"""Most bytes returned of a record's block."""

MOST_DAMAGES: Final = 1_000
"""Most damaged places per file; the rest is not read."""

ANSWER: Final = "response"
REVISIT: Final = "revisit"
REQUEST: Final = "request"

_BODIES: Final = frozenset({"resource", "conversion"})
"""Record types with a body and without an HTTP head."""

_BEGIN_BYTES: Final = 64  # of a block that tell what it is
_GZIP: Final = b"\x1f\x8b"
_MEMBER: Final = re.compile(rb"\x1f\x8b\x08")
_READERS: Final = {
    b"\x04\x22\x4d\x18": Lz4Reader,
    b"\x28\xb5\x2f\xfd": ZstdReader,
    b"\x5d\x2a\x4d\x18": ZstdReader,  # a dictionary before the records
}
_RECORD: Final = b"WARC/"
_OF_ARC: Final = (b"filedesc:", b"http:", b"https:", b"dns:", b"ftp:")
_BEGIN: Final = re.compile(rb"WARC/\d+\.\d+\r?\n")  # also behind the rest of another record
_BEGIN_OF_ARC: Final = re.compile(rb"(?<=\n)https?://")
_LONGEST_BEGIN: Final = 16
_NEWLINES: Final = (b"\r\n", b"\n")
_HEAD_LIMIT: Final = 1 << 20  # bytes; the longest record header that is read
_MOST_CANDIDATES: Final = 10_000  # for the next gzip member; by chance there is one in 16 MB
_BLOCK: Final = 1 << 16
_CUT_OFF: Final = "the file ends inside this record"
_ZIP_HEADER: Final = 30  # bytes before the name of a member


@dataclass(frozen=True, slots=True)
class Volume:
    """A WARC file: the byte range `start` to `end` of a file; `name` is that in a WACZ package.

    A slice is a smaller byte range, which may begin inside a record.
    """

    path: Path
    start: int = 0
    end: int = 1 << 62
    name: str = ""
    is_slice: bool = False

    def __str__(self) -> str:
        """Return the path, and the name in a package."""
        return f"{self.path}: {self.name}" if self.name else str(self.path)

    def slices(self, size: int) -> list["Volume"]:
        """Return slices of `size` bytes; an uncompressed file is not divided."""
        with open_regular(self.path) as file:
            end = min(file.seek(0, io.SEEK_END), self.end)
            file.seek(self.start)
            step = size if file.read(len(_GZIP)) == _GZIP else max(end, 1)
        return [
            replace(self, start=at, end=min(at + step, end), is_slice=at > self.start)
            for at in range(self.start, end, step)
        ]


def find_volumes(given: Path | str) -> list[Volume]:
    """Return the files of an archive; raises `ArchiveError` for a name without a file.

    `given` is a path, or several paths separated by commas. A path is a WARC file, a package
    (`.wacz`), a pattern (`crawl/*.warc.gz`) or a folder: all WARC files below it, or its packages
    if there are none.
    """
    volumes: list[Volume] = []
    for path in _paths(str(given)):
        if path.is_dir():
            volumes += _in_folder(path)
        elif path.name.lower().endswith(PACKAGE_ENDINGS):
            volumes += _in_package(path)
        else:
            volumes.append(Volume(path))
    return volumes


def _paths(given: str) -> list[Path]:
    if Path(given).exists():
        return [Path(given)]
    texts = filter(None, map(str.strip, given.split(",")))
    # `Path.glob` has no absolute patterns. A pattern without a file fails like a missing file.
    found = [sorted(glob(text, recursive=True)) or [text] for text in texts]  # noqa: PTH207
    return [Path(path) for paths in found for path in paths]


def _in_folder(folder: Path) -> list[Volume]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    volumes = [Volume(path) for path in files if path.name.lower().endswith(WARC_ENDINGS)]
    if not volumes:
        packages = [path for path in files if path.name.lower().endswith(PACKAGE_ENDINGS)]
        volumes = [volume for path in packages for volume in _in_package(path)]
    if not volumes:
        raise ArchiveError(f"{folder}: no WARC file is in this directory")
    return volumes


def _in_package(path: Path) -> list[Volume]:
    """Return the WARC files of a package, stored without compression."""
    volumes = []
    try:
        with open_regular(path) as file, ZipFile(file) as package:
            for entry in package.infolist():
                if not entry.filename.lower().endswith(WARC_ENDINGS):
                    continue
                if entry.compress_type != ZIP_STORED or entry.flag_bits & 1:
                    fault = f"{entry.filename} is compressed or encrypted in the package; unpack it"
                    raise ArchiveError(f"{path}: {fault}")
                file.seek(entry.header_offset)
                head = file.read(_ZIP_HEADER)
                names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:], "little")
                start = entry.header_offset + _ZIP_HEADER + names
                volumes.append(Volume(path, start, start + entry.file_size, entry.filename))
    except ArchiveError:
        raise
    except (OSError, BadZipFile, NotImplementedError) as error:
        fault = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ArchiveError(f"{path}: {fault}; give a WACZ file") from error
    if not volumes:
        raise ArchiveError(f"{path}: no WARC file is in this package")
    return volumes


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A complete record; missing fields are ""."""

    offset: int  # of the record in the file, or of what is unpacked as a whole and holds it
    kind: str  # ANSWER, REVISIT or REQUEST of HTTP, else ""
    url: str
    address: str  # of the server
    date: str  # WARC-Date
    digest: str  # of the payload
    refers_to: str  # URL of the record that has the body of a `revisit`
    refers_to_date: str
    block: bytes  # its first bytes; the caller says how many
    type: str = ""  # WARC-Type in lower case, "arc" for a record of an ARC file
    id: str = ""  # WARC-Record-ID
    refers_to_id: str = ""
    concurrent_to: str = ""  # id of a record of the same exchange


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a WARC file that could not be read: its offset in bytes, and the reason."""

    offset: int
    reason: str

    def __str__(self) -> str:
        """Return the place and the reason in one line."""
        return f"at byte {self.offset}: {self.reason}"


def records(volume: Volume, kept: int = BLOCK_LIMIT) -> Iterator[ArchiveRecord | Damage]:
    """Yield the complete records of a file, with `kept` bytes per block, and its damaged places.

    Records in the same gzip member share its offset. Only gzip has checksums: a changed body in any
    other file is not noticed. A slice yields the records starting in it. Raises `OSError`.
    """
    damages = 0
    with open_regular(volume.path) as file:
        end = min(file.seek(0, io.SEEK_END), volume.end)
        file.seek(volume.start)
        begin = file.read(_LONGEST_BEGIN)
        name = (volume.name or volume.path.name).lower()
        is_plain = begin.startswith((_RECORD, *_OF_ARC))
        is_packed = begin.startswith(_GZIP) or (name.endswith(".gz") and not is_plain)
        read, start = _packed if is_packed or volume.is_slice else _plain, volume.start
        if begin[:4] in _READERS:
            read = _streamed
        if start == end:
            yield Damage(start, "the file is empty")
        if volume.is_slice:
            start = _next_member(file, start, end)
        for found in read(file, start, end, kept):
            yield found
            damages += isinstance(found, Damage)
            if damages == MOST_DAMAGES:
                yield Damage(found.offset, f"{damages:,} damaged places: the rest is not read")
                return


def record_at(volume: Volume, offset: int) -> ArchiveRecord:
    """Return the record at an offset found by `records`; raises `ArchiveError` if missing."""
    try:
        with open_regular(volume.path) as file:
            end = min(file.seek(0, io.SEEK_END), volume.end)
            file.seek(offset)
            begin = file.read(4)
            read = _packed if begin.startswith(_GZIP) else _plain
            read = _streamed if begin in _READERS else read
            found = next(read(file, offset, end, BLOCK_LIMIT), None)
    except OSError as error:
        raise ArchiveError(f"{volume}: at byte {offset}: {error.strerror or error}") from error
    if not isinstance(found, ArchiveRecord):
        raise ArchiveError(f"{volume}: {found or f'at byte {offset}: no record'}")
    return found


def is_warc(path: Path) -> bool:
    """Return True if a file has the first bytes or the name of a WARC file; raises `OSError`."""
    if path.name.lower().endswith(WARC_ENDINGS):
        return True
    with open_regular(path) as file:
        return _begins_record(file.read(_BLOCK))


def _plain(file: BinaryIO, start: int, end: int, kept: int) -> Iterator[ArchiveRecord | Damage]:
    """Yield the records in a slice of an uncompressed file."""
    wanted = _BEGIN
    while start < end:
        file.seek(start)
        line = _first_line(file)
        offset = file.tell() - len(line)
        wanted = _BEGIN_OF_ARC if line.startswith(_OF_ARC[0]) else wanted
        if not line or offset >= end:
            return
        try:
            yield _record(file, line, offset, kept, end)
            start = file.tell()
        except _Unreadable as error:
            yield Damage(offset, str(error))
            start = _find(file, offset + 1, end, wanted)


def _packed(file: BinaryIO, start: int, end: int, kept: int) -> Iterator[ArchiveRecord | Damage]:
    """Yield the records of the gzip members starting in this slice of a file."""
    while start < end:
        member = _Member(file, start)
        stream = io.BufferedReader(member, _BLOCK)
        last: ArchiveRecord | Damage | None = None
        try:
            while line := _first_line(stream):
                found = _record(stream, line, start, kept)
                if last is not None:
                    yield last
                last = found
            following = member.end()
        except _Unreadable as error:
            # The last record may be damaged too: its checksum follows.
            last = Damage(start, str(error))
            following = _next_member(file, start + 1, end)
        if last is not None:
            yield last
        start = following


def _streamed(file: BinaryIO, start: int, end: int, kept: int) -> Iterator[ArchiveRecord | Damage]:
    """Yield the records of an LZ4 or Zstandard file up to its first damage, with one offset."""
    file.seek(start)
    reader = _READERS[file.read(4)]
    file.seek(start)
    try:
        stream = io.BufferedReader(_Stream(reader(file)), _BLOCK)
        while line := _first_line(stream):
            yield _record(stream, line, start, kept)
    except (OSError, EOFError, ValueError) as error:
        yield Damage(start, f"the rest cannot be unpacked ({error})")


class _Stream(io.RawIOBase):
    def __init__(self, reader: "Lz4Reader | ZstdReader") -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer
        data = self._reader.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Unreadable(OSError):
    """Bytes without a record; a record may follow."""


def _first_line(stream: BinaryIO | io.BufferedReader) -> bytes:
    while (line := stream.readline(_HEAD_LIMIT)) in _NEWLINES:
        pass
    return line


def _record(
    stream: BinaryIO | io.BufferedReader,
    line: bytes,
    offset: int,
    kept: int,
    end: int | None = None,
) -> ArchiveRecord | Damage:
    """Return the record that begins with a line and ends before `end`."""
    fields = _fields(stream) if line.startswith(_RECORD) else _arc_fields(line)
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()) or not fields.get("warc-type"):
        raise _Unreadable("a record without a Content-Length or a WARC-Type")
    left = int(length)
    if end is not None and left > end - stream.tell():
        raise _Unreadable(_CUT_OFF)
    block = stream.read(min(left, max(kept, _BEGIN_BYTES)))
    left -= len(block)
    while left and (data := stream.read(min(left, _BLOCK))):
        left -= len(data)
    if left:
        raise _Unreadable(_CUT_OFF)
    return _made(offset, fields, block)


def _fields(stream: BinaryIO | io.BufferedReader) -> dict[str, str]:
    """Return the fields of a WARC record, with names in lower case."""
    fields: dict[str, str] = {}
    size = 0
    while (line := stream.readline(_HEAD_LIMIT)) not in _NEWLINES:
        size += len(line)
        if not line or size > _HEAD_LIMIT:
            raise _Unreadable("a record header without an end")
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields[name.strip().lower()] = value.strip()
    return fields


def _arc_fields(line: bytes) -> dict[str, str]:
    """Return the header line of an ARC record, of version 1 or 2, as fields of a WARC record."""
    text = line.decode("utf-8", "replace").strip()
    # Other fields than the URL have no spaces.
    for words in (text.rsplit(" ", 4), text.rsplit(" ", 9)):
        url, address, date, kind = [*words, "", "", "", ""][:4]
        is_date = date == "-" or (date.isascii() and date.isdigit() and len(date) >= 14)
        if is_date and line.startswith(_OF_ARC):
            day = f"{date[:4]}-{date[4:6]}-{date[6:8]}"
            return {
                "warc-type": "arc",
                "warc-target-uri": url,
                "warc-ip-address": address,
                "warc-date": f"{day}T{date[8:10]}:{date[10:12]}:{date[12:14]}Z",
                "content-type": kind,
                "content-length": words[-1],
            }
    raise _Unreadable("this is not a WARC record")


def _made(offset: int, fields: dict[str, str], block: bytes) -> ArchiveRecord | Damage:
    found, url = fields["warc-type"].lower(), _plain_id(fields.get("warc-target-uri", ""))
    is_of_http = url.lower().startswith(("http:", "https:"))
    kind, content = ANSWER if found == "arc" else found, fields.get("content-type", "")
    if kind == ANSWER and not url:
        return Damage(offset, "a response without a WARC-Target-URI")
    if kind == "continuation":
        return Damage(offset, "the continuation of a record; segments are not put together")
    has_head = status_line(block[:_BEGIN_BYTES].lstrip().partition(b"\n")[0]) is not None
    is_bare = kind == ANSWER and not has_head and not content.lower().startswith("application/http")
    if is_of_http and (kind in _BODIES or (is_bare and content)):
        kind, block = ANSWER, f"HTTP/1.1 200 OK\r\nContent-Type: {content}\r\n\r\n".encode() + block
    elif kind == ANSWER and is_of_http and not has_head:
        return Damage(offset, "no HTTP status line in this response")
    return ArchiveRecord(
        offset,
        kind if is_of_http and kind in (ANSWER, REVISIT, REQUEST) else "",
        url,
        fields.get("warc-ip-address", ""),
        fields.get("warc-date", ""),
        fields.get("warc-payload-digest", ""),
        _plain_id(fields.get("warc-refers-to-target-uri", "")),
        fields.get("warc-refers-to-date", ""),
        block,
        found,
        _plain_id(fields.get("warc-record-id", "")),
        _plain_id(fields.get("warc-refers-to", "")),
        _plain_id(fields.get("warc-concurrent-to", "")),
    )


def _plain_id(text: str) -> str:
    return text.strip("<> ")


class _Member(io.RawIOBase):
    """The contents of the gzip member at a place of a file; reading raises `OSError`."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        file.seek(start)
        self._file, self._unzip = file, zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer
        while not self._unzip.eof:
            ahead = self._unzip.unconsumed_tail or self._file.read(_BLOCK)
            if not ahead:
                raise _Unreadable(_CUT_OFF)
            try:
                data = self._unzip.decompress(ahead, len(buffer))
            except zlib.error as error:
                raise _Unreadable(f"damaged gzip data ({error})") from error
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def end(self) -> int:
        """Return the offset behind the member."""
        return self._file.tell() - len(self._unzip.unused_data)


def _next_member(file: BinaryIO, start: int, end: int) -> int:
    """Return the offset of the next gzip member with a record, or `end`."""
    for _ in range(_MOST_CANDIDATES):
        start = _find(file, start, end, _MEMBER)
        file.seek(start)
        if start == end or _begins_record(file.read(_BLOCK)):
            return start
        start += 1
    return end


def _find(file: BinaryIO, start: int, end: int, wanted: re.Pattern[bytes]) -> int:
    file.seek(start)
    data = b""
    while file.tell() < end and (block := file.read(_BLOCK)):
        data += block
        if at := wanted.search(data):
            return min(file.tell() - len(data) + at.start(), end)
        data = data[1 - _LONGEST_BEGIN :]
    return end


def _begins_record(ahead: bytes) -> bool:
    if ahead.startswith(_GZIP):
        try:
            ahead = zlib.decompressobj(wbits=31).decompress(ahead, _LONGEST_BEGIN)
        except zlib.error:
            return False
        return ahead.startswith((_RECORD, *_OF_ARC))
    return ahead.startswith((_RECORD, _OF_ARC[0]))
