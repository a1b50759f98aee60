"""The answers that a run keeps in its WARC files, with bodies that are in an earlier record."""

import sqlite3
from pathlib import Path

from crawler.errors import ArchiveError, RunFolderError
from crawler.outputs.archived import (
    NOT_MODIFIED_SINCE,
    SAME_PAYLOAD_AS,
    ArchivedRow,
    found_archived,
)
from crawler.run import reading
from crawler.sources.archive import answer_of
from crawler.sources.contract import Answer
from crawler.sources.warc_reader import ArchiveRecord, Volume, record_at

_OF_EARLIER = "SELECT kept_url, kept_at FROM earlier WHERE url = ? AND kept_url IS NOT NULL"


def archived_answer(folder: Path, connection: sqlite3.Connection, number: int) -> Answer | None:
    """Return the answer of the exchange with a number in a run, None if its body was never kept.

    An unchanged page has the answer that the earlier run kept. Raises `ArchiveError` for a record
    that is damaged or missing.
    """
    row = found_archived(connection, "id = ?", number)
    if row is None:
        return None
    record = _record(folder, row)
    if row.is_revisit == SAME_PAYLOAD_AS:
        original = found_archived(connection, "digest = ? AND is_revisit = 0", row.digest)
        return None if original is None else answer_of(record, _record(folder, original))
    if row.is_revisit == NOT_MODIFIED_SINCE:
        kept = connection.execute(_OF_EARLIER, (row.url,)).fetchone()
        return None if kept is None else _earlier(connection, *kept)
    return answer_of(record)


def _earlier(connection: sqlite3.Connection, url: str, date: str) -> Answer | None:
    """Return the answer that an earlier run kept, None if that run is not at its place."""
    told = connection.execute("SELECT value FROM meta WHERE key = 'since'").fetchone()
    if told is None or not told[0]:
        return None
    folder = Path(told[0])
    try:
        with reading(folder) as earlier:
            where = "url = ? AND date = ? AND is_revisit = 0"
            row = found_archived(earlier, where, url, date)
            return _earlier(earlier, url, date) if row is None else answer_of(_record(folder, row))
    except RunFolderError:
        return None


def _record(folder: Path, row: ArchivedRow) -> ArchiveRecord:
    path = folder / row.file
    record = record_at(Volume(path), row.start)
    if record.url != row.url:
        raise ArchiveError(f"{path}: at byte {row.start}: the record of another URL")
    return record
