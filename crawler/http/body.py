"""The body of an answer without its encodings, decoded as far as possible.

Chunk sizes may have blanks and extensions, and their lines may end with a line feed alone.
Compressed data before a fault are kept: a wrong checksum, padding, a cut.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

import brotli
from isal import isal_zlib

from langfocus.classifiers.pages.charset.charsets import canonical_label
from langfocus.crawler.http.head import MAX_HEAD_BYTES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_LAYERS: Final = 3
"""Most compression layers of a body."""

_MAX_SIZE_LINE_BYTES: Final = 4096
_HEX: Final = b"0123456789abcdefABCDEF"
_MOST_DIGITS: Final = 16
_NO_ENCODINGS: Final = frozenset({"", "identity", "none", "binary", "8bit", "7bit", "chunked"})
"""Encoding names sent by some servers with an unencoded body, like charset names."""

_GZIP: Final = b"\x1f\x8b\x08"
_GZIP_HEADER_BYTES: Final = 10
_GZIP_TRAILER_BYTES: Final = 8
_PIECE: Final = 1 << 10
_BLOCK: Final = 1 << 16


class Chunks:
    """Parses a chunked body; the data are passed to `on_data`.

    `on_end` gets the bytes after the last chunk and its trailers. Invalid chunks raise ValueError.
    """

    def __init__(
        self, on_data: Callable[[bytes], object], on_end: Callable[[bytes], object]
    ) -> None:
        self._on_data, self._on_end = on_data, on_end
        self._ahead = bytearray()
        self._searched = self._left = self._trailer_bytes = 0
        self._take = self._size

    @property
    def is_whole(self) -> bool:
        """True after the last chunk."""
        return self._take == self._trailer

    def dataReceived(self, data: bytes) -> None:  # Twisted's name
        """Take the next bytes."""
        self._ahead += data
        while self._ahead and self._take():
            pass

    def _size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        self._left = chunk_size(line)
        self._take = self._data if self._left else self._trailer
        return True

    def _data(self) -> bool:
        data = bytes(memoryview(self._ahead)[: self._left])
        del self._ahead[: len(data)]
        self._left -= len(data)
        if not self._left:
            self._take = self._gap
        self._on_data(data)
        return True

    def _gap(self) -> bool:
        line = self._line()
        if line:
            raise ValueError("a chunk is longer than its size")
        self._take = self._size if line is not None else self._gap
        return line is not None

    def _trailer(self) -> bool:
        line = self._line()
        if line == b"":
            rest, self._ahead = bytes(self._ahead), bytearray()
            self._on_end(rest)
            return False
        self._trailer_bytes += len(line or b"")
        if self._trailer_bytes > MAX_HEAD_BYTES:
            raise ValueError("trailers without an end")
        return line is not None

    def _line(self) -> bytes | None:
        """Return the next line, None if it is incomplete."""
        end = self._ahead.find(b"\n", self._searched)
        if (end if end >= 0 else len(self._ahead)) > _MAX_SIZE_LINE_BYTES:
            raise ValueError("a line without an end between chunks")
        if end < 0:
            self._searched = len(self._ahead)
            return None
        line = bytes(self._ahead[:end]).strip()
        del self._ahead[: end + 1]
        self._searched = 0
        return line


def chunk_size(line: bytes) -> int:
    """Return the size in the line before a chunk; raises ValueError if there is none."""
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > _MOST_DIGITS or digits.translate(None, _HEX):
        raise ValueError("no size of a chunk")
    return int(digits, 16)


def without_chunks(body: bytes) -> bytes:
    """Return a chunked body up to the last valid chunk; an unchunked body is unchanged."""
    parts: list[bytes] = []
    chunks = Chunks(parts.append, id)
    with suppress(ValueError):
        chunks.dataReceived(body)
    return b"".join(parts) if parts or chunks.is_whole else body


class BrokenEncoding(Exception):
    """A body cannot be unpacked by its Content-Encoding."""


def encodings(values: Iterable[bytes]) -> list[str]:
    """Return the encodings named in Content-Encoding headers, `identity` left out."""
    names = [name.partition(b";")[0].strip() for value in values for name in value.split(b",")]
    lower = [name.lower().decode("latin-1") for name in names]
    return [name for name in lower if name not in _NO_ENCODINGS and canonical_label(name) is None]


def unpacked(body: bytes, names: list[str], most: int) -> bytes:
    """Return a body without encodings, listed in the order of their application.

    A body beyond `most` bytes is cut one byte later. An encoding may have been removed already.
    Raises `BrokenEncoding` for an unknown encoding, too many encodings, and a body without any
    decodable data.
    """
    unknown = next((name for name in names if name not in _UNPACKERS), None)
    if unknown is not None:
        raise BrokenEncoding(f"unknown Content-Encoding {unknown[:40]!a}")
    if len(names) > MAX_LAYERS:
        raise BrokenEncoding(f"compressed more than {MAX_LAYERS} times")
    for layer, name in enumerate(reversed(names)):
        if not body or (layer and len(body) > most):
            break
        try:
            body = _UNPACKERS[name](body, most)
        except BrokenEncoding:
            if not layer:
                raise
    return body


def _unzipped(data: bytes, most: int) -> bytes:
    """Unpack the members of gzip data; bytes after the members are dropped.

    Checksums are ignored, as in browsers. Many members take linear time.
    """
    parts: list[bytes] = []
    at, left = 0, most
    while data.startswith(_GZIP, at) and left >= 0:
        start = _after_header(data, at)
        try:
            part, end = _inflated(data, -zlib.MAX_WBITS, left, start=start)
        except BrokenEncoding:
            if not at:
                raise
            break
        parts.append(part)
        left -= len(part)
        at = end + _GZIP_TRAILER_BYTES
        while data.startswith(b"\0", at):
            at += 1
    if not at:
        raise BrokenEncoding("no gzip data")
    return b"".join(parts)


def _after_header(data: bytes, at: int) -> int:
    """Return where the header of a gzip member ends (RFC 1952, 2.3)."""
    flags, end = data[at + 3 : at + 4] or b"\0", at + _GZIP_HEADER_BYTES
    if flags[0] & 4:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for flag in (8, 16):  # name and comment end with a zero byte
        if flags[0] & flag:
            end = data.find(b"\0", end) + 1 or len(data)
    return end + 2 * bool(flags[0] & 2)


def _deflated(data: bytes, most: int) -> bytes:
    """Return deflate data unpacked; many servers leave out the frame of zlib."""
    try:
        return _inflated(data, zlib.MAX_WBITS, most)[0]
    except BrokenEncoding:
        return _inflated(data, -zlib.MAX_WBITS, most, is_strict=True)[0]


def _inflated(
    data: bytes, wbits: int, most: int, *, start: int = 0, is_strict: bool = False
) -> tuple[bytes, int]:
    """Return what the bytes from a place hold before a fault, and where they end."""
    # Three times as fast, but it ends earlier in damaged data.
    with suppress(isal_zlib.error):  # type: ignore[arg-type]  # its stubs have an instance
        found, at, is_whole = _run(isal_zlib.decompressobj(wbits), data, most, start)
        if is_whole or len(found) > most:
            return found, at
    try:
        found, at, is_whole = _run(zlib.decompressobj(wbits), data, most, start)
    except zlib.error as error:
        found = b"" if is_strict else _before_fault(data[start:], wbits, most)
        if not found:
            raise BrokenEncoding(str(error)) from error
        return found, len(data)
    if not found and not is_whole:
        raise BrokenEncoding("cut off at its beginning")
    return found, at


def _run(unzip: Any, data: bytes, most: int, at: int) -> tuple[bytes, int, bool]:
    """Return what the bytes from a place hold, where they end, and True at the end of a stream."""
    parts: list[bytes] = []
    left, size = most + 1, _PIECE
    while at < len(data) and not unzip.eof and left > 0:
        piece = data[at : at + size]
        parts.append(unzip.decompress(piece, left))
        left -= len(parts[-1])
        at += len(piece) - len(unzip.unused_data)
        size = min(2 * size, _BLOCK)  # both copy what is behind the end
    return b"".join(parts), at, unzip.eof  # a growing buffer would double the time


def _before_fault(data: bytes, wbits: int, most: int) -> bytes:
    unzip, found = zlib.decompressobj(wbits), bytearray()
    for start in range(0, len(data), _PIECE):
        piece, before = data[start : start + _PIECE], unzip.copy()
        try:
            found += unzip.decompress(piece, most + 1 - len(found))
        except zlib.error:
            with suppress(zlib.error):
                for at in range(len(piece)):
                    found += before.decompress(piece[at : at + 1])
            break
        if len(found) > most:
            break
    return bytes(found[: most + 1])


def _brotli_pieces(data: bytes) -> Iterator[bytes]:
    unpacker = brotli.Decompressor()
    piece = unpacker.process(data, output_buffer_limit=_BLOCK)
    while piece:
        yield piece
        piece = b"" if unpacker.is_finished() else unpacker.process(b"", output_buffer_limit=_BLOCK)


def _zstd_pieces(data: bytes) -> Iterator[bytes]:
    with zstd.ZstdFile(BytesIO(data)) as file:
        while piece := file.read(_BLOCK):
            yield piece


def _collected(pieces: Callable[[bytes], Iterator[bytes]], data: bytes, most: int) -> bytes:
    parts: list[bytes] = []
    left = most + 1
    try:
        for piece in pieces(data):
            parts.append(piece[:left])
            left -= len(parts[-1])
            if not left:
                break
    except (brotli.error, zstd.ZstdError, EOFError) as error:
        if not parts:
            raise BrokenEncoding(str(error)) from error
    return b"".join(parts)


_UNPACKERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    **dict.fromkeys(("gzip", "x-gzip"), _unzipped),
    **dict.fromkeys(("deflate", "x-deflate"), _deflated),
    "br": lambda data, most: _collected(_brotli_pieces, data, most),
    "zstd": lambda data, most: _collected(_zstd_pieces, data, most),
}
