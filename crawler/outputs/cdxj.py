"""Writes the CDXJ index of a run's WARC files, from the rows in its database."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from crawler.errors import StorageError
from crawler.outputs.archived import NOT_MODIFIED_SINCE, ArchivedRow
from crawler.outputs.kept import kept_exchanges
from crawler.outputs.warc_records import written_digest
from crawler.whole_file import replacing

INDEX: Final = "index.cdxj"
"""The name of the index in a run folder."""


def write_index(folder: Path) -> int:
    """Write the index of a run into its folder; return the number of answers in it.

    Raises `RunFolderError` for another folder, and `StorageError` if the index cannot be written.
    """
    path = folder / INDEX
    number = 0
    try:
        with (
            replacing(path) as temporary,
            kept_exchanges(folder) as kept,
            temporary.open("wb") as file,
        ):
            for line in in_order(map(_line, kept.rows())):
                file.write(line.encode() + b"\n")
                number += 1
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


def _digest(row: ArchivedRow) -> dict[str, str]:
    """Return the digest of the payload; none for an answer 304, whose payload is elsewhere."""
    if row.is_revisit == NOT_MODIFIED_SINCE:
        return {}
    return {"digest": written_digest(bytes.fromhex(row.digest))}


def _line(row: ArchivedRow) -> str:
    """Return the line of an answer, with the fields and their order of other indexers."""
    from surt import surt

    fields = {
        "url": row.url,
        "mime": "warc/revisit" if row.is_revisit else row.mime,
        "status": str(row.status),
        **_digest(row),
        "length": str(row.length),
        "offset": str(row.start),
        "filename": row.file,
    }
    timestamp = "".join(filter(str.isdigit, row.date))
    return f"{surt(row.url)} {timestamp} {json.dumps(fields)}"
