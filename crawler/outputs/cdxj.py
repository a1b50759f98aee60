"""Writes the CDXJ index of a run's WARC files, from the rows in its database."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from crawler.errors import StorageError
from crawler.outputs.archived import NOT_MODIFIED_SINCE, ArchivedRow, settled
from crawler.outputs.warc_records import written_digest
from crawler.run import reading
from crawler.whole_file import replacing

INDEX: Final = "index.cdxj"
"""The name of the index in a run folder."""


def write_index(folder: Path) -> int:
    """Write the index of a run into its folder; return the number of answers in it.

    Raises `RunFolderError` for another folder, and `StorageError` if the index cannot be written.
    """
    path, number = folder / INDEX, 0
    try:
        with replacing(path) as temporary, reading(folder) as run, temporary.open("wb") as file:
            for number, line in enumerate(in_order(map(_line, settled(run))), start=1):  # noqa: B007
                file.write(line.encode() + b"\n")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    return number


def in_order(lines: Iterable[str]) -> Iterator[str]:
    """Return lines in the order of their bytes; many of them are sorted on disk."""
    # A database without a name is a temporary file.
    with closing(sqlite3.connect("", isolation_level=None)) as sorter:
        sorter.execute("CREATE TABLE lines(line TEXT NOT NULL)")
        sorter.execute("BEGIN")
        sorter.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines))
        sorter.execute("COMMIT")
        for (line,) in sorter.execute("SELECT line FROM lines ORDER BY line"):
            yield line


def _line(row: ArchivedRow) -> str:
    """Return the line of an answer, with the fields and their order of other indexers."""
    from surt import surt

    # The payload of an answer 304 is elsewhere.
    has_payload = row.is_revisit != NOT_MODIFIED_SINCE
    digest = {"digest": written_digest(bytes.fromhex(row.digest))} if has_payload else {}
    fields = {
        "url": row.url,
        "mime": "warc/revisit" if row.is_revisit else row.mime,
        "status": str(row.status),
        **digest,
        "length": str(row.length),
        "offset": str(row.start),
        "filename": row.file,
    }
    timestamp = "".join(filter(str.isdigit, row.date))
    return f"{surt(row.url)} {timestamp} {json.dumps(fields)}"
