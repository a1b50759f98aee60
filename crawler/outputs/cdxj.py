"""Writes the CDXJ index of a run's WARC files, from the rows in its database."""

import json
from pathlib import Path
from typing import Any, Final

from crawler.errors import StorageError
from crawler.outputs.archived import NOT_MODIFIED_SINCE, ArchivedRow, unsettled
from crawler.outputs.warc_records import written_digest
from crawler.run import reading
from crawler.whole_file import replacing

INDEX: Final = "index.cdxj"
"""The name of the index in a run folder."""

_LINES = (
    f"SELECT cdxj({', '.join(ArchivedRow._fields)}) AS line FROM archived"  # noqa: S608
    " WHERE id <> ? ORDER BY line"
)


def write_index(folder: Path) -> int:
    """Write the index of a run into its folder; return the number of answers in it.

    Raises `RunFolderError` for another folder, and `StorageError` if the index cannot be written.
    """
    path, number = folder / INDEX, 0
    try:
        with replacing(path) as temporary, reading(folder) as run, temporary.open("wb") as file:
            run.create_function("cdxj", len(ArchivedRow._fields), _line, deterministic=True)
            # SQLite sorts many lines on disk, by their bytes.
            for (line,) in run.execute(_LINES, (unsettled(run),)):
                file.write(line.encode() + b"\n")
                number += 1
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    return number


def _line(*values: Any) -> str:
    """Return the line of an answer, with the fields and their order of other indexers."""
    from surt import surt

    row = ArchivedRow(*values)
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
