"""Lines of CDXJ indexes, plain or gzipped."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LONGEST_LINE: Final = 1 << 20
"""Most bytes of a line; a longer one is cut."""


def index_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of an index; raises OSError, EOFError and zlib.error."""
    with path.open("rb") as plain:
        is_packed = plain.read(2) == b"\x1f\x8b"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            yield line
