"""Brings the WARC files of all workers of a shared crawl into the folder of the merged run."""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from crawler.errors import RunFolderError
from crawler.outputs import archived
from crawler.outputs.warc_files import file_of
from crawler.run import reading

_IS_MISSING = """\
SELECT EXISTS(SELECT 1 FROM pages WHERE fingerprint = :key)
AND NOT EXISTS(SELECT 1 FROM archived WHERE fingerprint = :key)"""


def gather(connection: sqlite3.Connection, folder: Path, shares: Sequence[Path]) -> None:
    """Add the exchanges of workers' folders to a merged run that has their pages already.

    Their files become links in `folder`, copies where the file system has no links. The last
    exchange of a worker counts if its URL was settled and no other worker has kept it. Raises
    `RunFolderError`.
    """
    last: list[tuple[Path, archived.ArchivedRow]] = []
    for share in shares:
        with reading(share) as worker:
            for row in archived.settled(worker):
                archived.add(connection, row)
            row_after = archived.found_archived(worker, "id = ?", archived.unsettled(worker))
            last += [(share, row_after)] if row_after is not None else []
            for path in archived.settled_files(worker, share):
                _bring(path, folder / path.name)
    for share, row in last:
        if connection.execute(_IS_MISSING, {"key": row.fingerprint}).fetchone()[0]:
            archived.add(connection, row)
            _bring(file_of(share, row.file), folder / row.file)


def _bring(path: Path, target: Path) -> None:
    """Make a link or a copy of a file, in place of an earlier one."""
    try:
        if target.exists() and target.samefile(path):
            return
        target.unlink(missing_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)
    except OSError as error:
        raise RunFolderError(f"{target}: cannot be made: {error.strerror or error}") from error
