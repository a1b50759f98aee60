"""Reads CDXJ indexes, which tell the place of each record of an archive."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawler.errors import ArchiveError
from crawler.sources.records import Skipped
from crawler.sources.volumes import Volume

_FOLDERS = (".", "..", "archive", "../archive", "warcs", "../warcs")
"""Where the WARC files of an index are, from its folder; pywb keeps them in `../archive`."""

_LONGEST_LINE = 1 << 20


class IndexedRecord(NamedTuple):
    """An answer in a WARC file as an index tells it."""

    url: str
    volume: Volume
    offset: int


def read_index(path: Path, skipped: Skipped) -> Iterator[IndexedRecord]:
    """Yield the answers of an index; lines that cannot be used are counted in `skipped`.

    The WARC files are in the folder of the index or where pywb and WACZ have them. Raises
    `ArchiveError` for a file that is missing or not an index.
    """
    volumes: dict[str, Volume] = {}
    try:
        for number, line in enumerate(_lines(path), 1):
            if not line.strip() or line.startswith(b"!"):
                continue
            try:
                yield _record(line, path, volumes)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                skipped.count(ArchiveError(f"{path}: line {number}: {_fault(error)}"))
    except (OSError, EOFError, zlib.error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ArchiveError(f"{path}: {told}; give a CDXJ index") from error


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line


def _record(line: bytes, path: Path, volumes: dict[str, Volume]) -> IndexedRecord:
    _, _, fields = line.decode().partition(" ")
    _, _, told = fields.partition(" ")
    values = json.loads(told)
    name, url, offset = values["filename"], values["url"], int(values["offset"])
    if name not in volumes:
        volumes[name] = _volume(path, name)
    if not isinstance(url, str) or offset < 0:
        raise ValueError("no URL or no offset")
    return IndexedRecord(url, volumes[name], offset)


def _volume(path: Path, name: str) -> Volume:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(f"its WARC file {name} is named outside of the archive")
    for folder in _FOLDERS:
        found = path.parent / folder / name
        if found.is_file():
            return Volume(found, is_indexed=True)
    raise ValueError(f"its WARC file {name} is not beside the index")


def _fault(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
