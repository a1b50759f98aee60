"""The WARC files of an archive: files, folders, patterns and packages."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from crawler.errors import ArchiveError

WARC_ENDINGS: Final = (".warc", ".warc.gz")
PACKAGE_ENDINGS: Final = (".wacz",)

_LOCAL_HEADER = 30  # bytes before the name in a zip file


@dataclass(frozen=True, slots=True)
class Volume:
    """A WARC file: the bytes of a file from `start` to `end`; in a package it has a `name`.

    A slice is a part of one, which may begin in the middle of a record.
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
        """Return parts of so many bytes; one that is not compressed is not divided."""
        with self.path.open("rb") as file:
            end = min(file.seek(0, io.SEEK_END), self.end)
            file.seek(self.start)
            is_packed = file.read(2) == b"\x1f\x8b"
        step = size if is_packed else max(end, 1)
        return [
            replace(self, start=at, end=min(at + step, end), is_slice=at > self.start)
            for at in range(self.start, end, step)
        ]


def find_volumes(given: Path | str) -> list[Volume]:
    """Return the files of an archive; raises `ArchiveError` for a name without a file.

    `given` is a path, or several with commas between them. A path is a WARC file, a package
    (`.wacz`), a pattern (`crawl/*.warc.gz`) or a folder: all WARC files in it and below, or its
    packages if there are none.
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


def _paths(given: str) -> Iterator[Path]:
    if Path(given).exists():
        yield Path(given)
        return
    for text in filter(None, map(str.strip, given.split(","))):
        if not has_magic(text) or Path(text).exists():
            yield Path(text)
            continue
        found = sorted(glob(text, recursive=True))  # noqa: PTH207  Path has no absolute patterns
        if not found:
            raise ArchiveError(f"{text}: No such file; give WARC files")
        yield from map(Path, found)


def _in_folder(folder: Path) -> list[Volume]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    volumes = [Volume(path) for path in files if path.name.lower().endswith(WARC_ENDINGS)]
    for path in files if not volumes else ():
        if path.name.lower().endswith(PACKAGE_ENDINGS):
            volumes += _in_package(path)
    if not volumes:
        raise ArchiveError(f"{folder}: no WARC file is in this directory")
    return volumes


def _in_package(path: Path) -> list[Volume]:
    """Return the WARC files of a package, which lie in it without compression."""
    try:
        with ZipFile(path) as package, path.open("rb") as file:
            found = [
                _member(path, file, entry)
                for entry in package.infolist()
                if entry.filename.lower().endswith(WARC_ENDINGS)
            ]
    except (OSError, BadZipFile, NotImplementedError) as error:
        if isinstance(error, ArchiveError):
            raise
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ArchiveError(f"{path}: {told}; give a WACZ file") from error
    if not found:
        raise ArchiveError(f"{path}: no WARC file is in this package")
    return found


def _member(path: Path, file: BinaryIO, entry: ZipInfo) -> Volume:
    if entry.compress_type != ZIP_STORED or entry.flag_bits & 1:
        raise ArchiveError(
            f"{path}: {entry.filename} is compressed or encrypted in the package; unpack it"
        )
    file.seek(entry.header_offset)
    head = file.read(_LOCAL_HEADER)
    names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    start = entry.header_offset + _LOCAL_HEADER + names
    return Volume(path, start, start + entry.file_size, entry.filename)
