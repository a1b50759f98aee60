"""Reads what a run has kept: the settled exchanges and the files that hold them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crawler.errors import RunFolderError
from crawler.outputs.archived import ArchivedRow, read_archived, unsettled
from crawler.outputs.warc_files import file_of
from crawler.run import reading


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A WARC file of a run; the exchanges of settled URLs are its first `size` bytes."""

    path: Path
    size: int


class KeptExchanges:
    """The exchanges of a run at one moment, also while it is crawled."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self.connection = folder, connection
        self._is_unsettled = set(unsettled(connection))

    def rows(self) -> Iterator[ArchivedRow]:
        """Yield the settled exchanges in their order."""
        for number, row in read_archived(self.connection):
            if number not in self._is_unsettled:
                yield row

    def last(self) -> list[ArchivedRow]:
        """Return the last exchange if its URL is not among the settled ones of the run."""
        rows = read_archived(self.connection) if self._is_unsettled else ()
        return [row for number, row in rows if number in self._is_unsettled]

    def files(self) -> list[KeptFile]:
        """Return the files of the exchanges; raises `RunFolderError` for one that is missing."""
        sizes: dict[str, int] = {}
        for row in self.rows():
            sizes[row.file] = max(row.finish, sizes.get(row.file, 0))
        files = [KeptFile(file_of(self.folder, name), size) for name, size in sorted(sizes.items())]
        for file in files:
            if not file.path.exists() or file.path.stat().st_size < file.size:
                raise RunFolderError(f"{file.path}: it is missing or shorter than its run says")
        return files


@contextmanager
def kept_exchanges(folder: Path) -> Iterator[KeptExchanges]:
    """Yield the exchanges of a run folder; raises `RunFolderError` for another folder."""
    with reading(folder) as connection:
        yield KeptExchanges(folder, connection)
