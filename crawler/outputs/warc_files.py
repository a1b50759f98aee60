"""The WARC files of a run folder: they grow, and the next one begins when one is large enough."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from crawler.errors import RunFolderError, StorageError
from crawler.outputs.warc_records import fields_block, pack, warc_date

NAME: Final = re.compile(r"pages-\d{14}-\d{5}(-[0-9a-f]{8})?\.warc\.gz")
"""The names of the WARC files of a run."""


def file_of(folder: Path, name: str) -> Path:
    """Return a WARC file that the database of a run names; raises `RunFolderError`.

    Runs may come from somebody else: only a file with a name that crawls make, in the folder
    itself, is read, cut or deleted.
    """
    path = folder / name
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RunFolderError(
            f"{folder}: its run.db names {name!r:.99}, which is no WARC file of it"
        )
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RunFolderError(f"{path}: it is not a regular file")
    return path


class Place(NamedTuple):
    """A file of the run folder, and an offset in it."""

    file: str
    offset: int


class WarcFiles:
    """Appends to the newest WARC file of a session; the first one is made with the first record.

    `fields` are those of the `warcinfo` record of each file. Files of a `worker` have a mark of
    their own, so that those of all workers can lie in one folder. A file of `most_bytes` or more
    gets no further exchange. All methods raise `StorageError`.
    """

    def __init__(
        self, folder: Path, fields: Mapping[str, str], *, now: float, most_bytes: int, worker: str
    ) -> None:
        self._folder, self._fields, self._date = folder, fields, warc_date(now)
        self._mark = f"-{blake2b(worker.encode(), digest_size=4).hexdigest()}" if worker else ""
        self._most_bytes = most_bytes
        self._descriptor = -1
        self._number = self._size = 0
        self.file = self.warcinfo_id = ""

    def prepare(self) -> None:
        """Begin a file if there is none or the last one is full; sets `file` and `warcinfo_id`."""
        if self._descriptor >= 0 and self._size < self._most_bytes:
            return
        self.close()
        try:
            self._begin()
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, data: bytes) -> Place:
        """Write bytes at the end of the file that `prepare` began; return their place.

        After an error the file is as it was before.
        """
        place = Place(self.file, self._size)
        try:
            self._write(data)
        except OSError as error:
            with suppress(StorageError):
                self.cut(place)
            raise self._unwritable(error) from error
        return place

    def cut(self, place: Place) -> None:
        """Remove all bytes from a place of the newest file on."""
        try:
            os.ftruncate(self._descriptor, place.offset)
        except OSError as error:
            raise self._unwritable(error) from error
        self._size = place.offset

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _begin(self) -> None:
        self._number += 1
        stamp = "".join(filter(str.isdigit, self._date))
        while (self._folder / f"pages-{stamp}-{self._number:05}{self._mark}.warc.gz").exists():
            self._number += 1
        self.file = f"pages-{stamp}-{self._number:05}{self._mark}.warc.gz"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._descriptor = os.open(self._folder / self.file, flags, 0o666)
        self._size = 0
        headers = {"WARC-Filename": self.file}
        information = pack("warcinfo", self._date, headers, fields_block(self._fields))
        self.warcinfo_id = information.record_id
        self._write(information.data)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.write(self._descriptor, rest)
            self._size += written
            rest = rest[written:]

    def _unwritable(self, error: OSError) -> StorageError:
        path = self._folder / self.file
        return StorageError(f"{path} can no longer be written: {error.strerror or error}")
