"""Lines of a file or of standard input, gzipped or not, in batches of bounded size."""

from __future__ import annotations

import select
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from io import UnsupportedOperation
from pathlib import Path
from typing import BinaryIO, Final, cast

from crawler.errors import CrawlError

MOST_LINES: Final = 10_000
"""Most lines of a batch."""

LONGEST_LINE: Final = 1 << 20
"""Bytes of a line that are read; the rest is skipped."""

_CHUNK_BYTES = LONGEST_LINE
_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"


class InputLines:
    """The lines of a file, or of standard input if the path is None or `-`.

    Iteration yields batches in their order; from a pipe or a terminal a batch has the lines that
    have arrived. Lines have no ends; bytes that are not UTF-8 are kept as surrogates. A byte order
    mark is left out. Raises `OSError` for a file that cannot be opened and `CrawlError` for damaged
    gzip data.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path == "-" else path
        self._stream: BinaryIO | None = None

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the batches, each with at least one line."""
        for block in self.blocks():
            lines = _text(block)
            for at in range(0, len(lines), MOST_LINES):
                yield lines[at : at + MOST_LINES]

    def blocks(self) -> Iterator[bytes]:
        """Yield the same lines as bytes, with line ends between them and carriage returns."""
        with ExitStack() as stack:
            if self._path is None:
                self._stream = sys.stdin.buffer
            else:
                self._stream = stack.enter_context(Path(self._path).open("rb"))
            yield from _whole_lines(self._unpacked())

    def is_ready(self) -> bool:
        """Return False if the next batch has not arrived yet, as far as the system knows."""
        try:
            return self._stream is None or bool(select.select([self._stream], [], [], 0)[0])
        except (UnsupportedOperation, OSError, ValueError):
            return True

    def _chunks(self) -> Iterator[bytes]:
        stream = cast(BinaryIO, self._stream)
        read = getattr(stream, "read1", stream.read)
        while chunk := read(_CHUNK_BYTES):
            yield chunk

    def _unpacked(self) -> Iterator[bytes]:
        """Yield the bytes, unpacked if they begin like gzip data."""
        chunks = self._chunks()
        first = next(chunks, b"")
        if not first.startswith(_GZIP):
            yield first.removeprefix(_MARK)
            yield from chunks
            return
        unzip = zlib.decompressobj(wbits=31)
        ahead = first
        try:
            while ahead:
                if unzip.eof:  # files of several members, such as those of bgzip, are one text
                    unzip = zlib.decompressobj(wbits=31)
                yield unzip.decompress(ahead, _CHUNK_BYTES)
                ahead = unzip.unconsumed_tail or unzip.unused_data or next(chunks, b"")
        except zlib.error as error:
            raise self._damaged(str(error)) from error
        if not unzip.eof:
            raise self._damaged("it ends too early")

    def _damaged(self, fault: str) -> CrawlError:
        return CrawlError(f"{self._path or 'standard input'}: damaged gzip data ({fault})")


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines, each without its last line end."""
    carry = b""  # the beginning of a line whose end has not come
    for chunk in chunks:
        first, end, rest = chunk.partition(b"\n")
        line = (carry + first)[:LONGEST_LINE]
        if not end:
            carry = line
            continue
        body, end, carry = rest.rpartition(b"\n")
        yield line + b"\n" + body if end else line
    if carry:
        yield carry


def _text(block: bytes) -> list[str]:
    lines = block.decode("utf-8", "surrogateescape").split("\n")
    return [line.rstrip("\r") for line in lines] if b"\r" in block else lines
