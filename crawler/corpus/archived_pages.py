"""The answers that a run keeps in its WARC files, with bodies that are in an earlier record."""

import sqlite3
from contextlib import ExitStack
from pathlib import Path

from crawler.errors import ArchiveError, RunFolderError
from crawler.outputs.archived import (
    NOT_MODIFIED_SINCE,
    SAME_PAYLOAD_AS,
    ArchivedRow,
    found_archived,
)
from crawler.run import reading
from crawler.sources.archive import answer_of, revisited
from crawler.sources.contract import Answer
from crawler.sources.volumes import Volume
from crawler.sources.warc_reader import ArchiveRecord, record_at

_OF_EARLIER = "SELECT kept_url, kept_at FROM earlier WHERE url = ?"


class RunArchive(ExitStack):
    """The answers of a run. The runs that it is since are opened when one of their bodies is asked.

    As a context manager it closes them.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Read the answers of a run that is open for reading."""
        super().__init__()
        self._folder, self._connection = folder, connection
        self._since: RunArchive | None = None

    def answer(self, number: int) -> Answer | None:
        """Return the answer of the exchange with this number, None if its body was never kept.

        An unchanged page has the answer that the earlier run kept. Raises `ArchiveError` for a
        record that is damaged or missing.
        """
        row = found_archived(self._connection, "id = ?", number)
        if row is None:
            return None
        record = self._record(row)
        if row.is_revisit == SAME_PAYLOAD_AS:
            where = "digest = ? AND is_revisit = 0"
            original = found_archived(self._connection, where, row.digest)
            return None if original is None else revisited(record, self._record(original))
        if row.is_revisit == NOT_MODIFIED_SINCE:
            kept = self._connection.execute(_OF_EARLIER, (row.url,)).fetchone()
            return None if kept is None or kept[0] is None else self._earlier(*kept)
        return answer_of(record)

    def _earlier(self, url: str, date: str) -> Answer | None:
        """Return the answer that an earlier run kept."""
        since = self._since = self._since or self._opened()
        if since is None:
            return None
        where = "url = ? AND date = ? AND is_revisit = 0"
        row = found_archived(since._connection, where, url, date)
        return since._earlier(url, date) if row is None else answer_of(since._record(row))

    def _opened(self) -> "RunArchive | None":
        told = self._connection.execute("SELECT value FROM meta WHERE key = 'since'").fetchone()
        if told is None or not told[0]:
            return None
        folder = Path(told[0])
        try:
            connection = self.enter_context(reading(folder))
        except RunFolderError:
            return None
        return self.enter_context(RunArchive(folder, connection))

    def _record(self, row: ArchivedRow) -> ArchiveRecord:
        path = self._folder / row.file
        record = record_at(Volume(path), row.start)
        if record.url != row.url:
            raise ArchiveError(f"{path}: at byte {row.start}: the record of another URL")
        return record
