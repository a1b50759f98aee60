"""The answers that a run keeps in its WARC files, with bodies that are in an earlier record."""

import sqlite3
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from crawler.errors import ArchiveError, RunFolderError
from crawler.outputs.archived import NOT_MODIFIED_SINCE, SAME_PAYLOAD_AS
from crawler.run import reading
from crawler.sources.archive import answer_of, revisited
from crawler.sources.contract import Answer
from crawler.sources.volumes import Volume
from crawler.sources.warc_reader import ArchiveRecord, record_at

_BY_NUMBER = "SELECT file, start, url, digest, is_revisit FROM archived WHERE id = ?"
_BY_DIGEST = (
    "SELECT file, start, url, digest, is_revisit FROM archived"
    " WHERE digest = ? AND is_revisit = 0 ORDER BY id LIMIT 1"
)
_BY_URL = (
    "SELECT file, start, url, digest, is_revisit FROM archived"
    " WHERE url = ? AND date = ? AND is_revisit = 0 ORDER BY id LIMIT 1"
)
_NEWEST = "SELECT id FROM archived WHERE url = ? ORDER BY id DESC LIMIT 1"
_OF_EARLIER = "SELECT kept_url, kept_at FROM earlier WHERE url = ?"


class _Row(NamedTuple):
    """An exchange in a WARC file; see `crawler.outputs.archived`."""

    file: str
    start: int
    url: str
    digest: str
    is_revisit: int


class RunArchive:
    """The answers of a run. The runs that it is since are opened when one of their bodies is asked.

    Use it as a context manager.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Read the answers of a run that is open for reading."""
        self._folder, self._connection = folder, connection
        self._open = ExitStack()
        self._since: RunArchive | None = None

    def __enter__(self) -> Self:
        """Return the archive."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the earlier runs."""
        self._open.close()

    def newest(self, url: str) -> Answer | None:
        """Return the answer that was kept last for a URL; None if it was not kept."""
        found = self._connection.execute(_NEWEST, (url,)).fetchone()
        return None if found is None else self.answer(found[0])

    def answer(self, number: int) -> Answer | None:
        """Return the answer of the exchange with this number, None if its body was never kept.

        An unchanged page has the answer that the earlier run kept. Raises `ArchiveError` for a
        record that is damaged or missing.
        """
        row = self._row(_BY_NUMBER, number)
        if row is None:
            return None
        record = self._record(row)
        if row.is_revisit == SAME_PAYLOAD_AS:
            original = self._row(_BY_DIGEST, row.digest)
            return None if original is None else revisited(record, self._record(original))
        if row.is_revisit == NOT_MODIFIED_SINCE:
            kept = self._connection.execute(_OF_EARLIER, (row.url,)).fetchone()
            return None if kept is None or kept[0] is None else self._earlier(*kept)
        return answer_of(record)

    def _earlier(self, url: str, date: str) -> Answer | None:
        """Return the answer that an earlier run kept."""
        since = self._since or self._opened()
        if since is None:
            return None
        self._since = since
        row = since._row(_BY_URL, url, date)
        return since._earlier(url, date) if row is None else answer_of(since._record(row))

    def _opened(self) -> "RunArchive | None":
        told = self._connection.execute("SELECT value FROM meta WHERE key = 'since'").fetchone()
        if told is None or not told[0]:
            return None
        folder = Path(told[0])
        try:
            connection = self._open.enter_context(reading(folder))
        except RunFolderError:
            return None
        return self._open.enter_context(RunArchive(folder, connection))

    def _row(self, query: str, *values: object) -> _Row | None:
        found = self._connection.execute(query, values).fetchone()
        return None if found is None else _Row(*found)

    def _record(self, row: _Row) -> ArchiveRecord:
        path = self._folder / row.file
        record = record_at(Volume(path), row.start)
        if record.url != row.url:
            raise ArchiveError(f"{path}: at byte {row.start}: the record of another URL")
        return record
