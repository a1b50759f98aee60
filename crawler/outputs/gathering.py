"""Brings the WARC files of all workers of a shared crawl into the folder of the merged run."""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from crawler.errors import RunFolderError
from crawler.outputs.archived import ArchivedRow, add_all
from crawler.outputs.kept import KeptFile, kept_exchanges
from crawler.outputs.warc_files import file_of

_IS_MISSING = """\
SELECT EXISTS(SELECT 1 FROM pages WHERE fingerprint = :key)
AND NOT EXISTS(SELECT 1 FROM archived WHERE fingerprint = :key)"""


def gather(connection: sqlite3.Connection, folder: Path, shares: Sequence[Path]) -> None:
    """Add the exchanges of workers' folders to a merged run that has their pages already.

    Their files become links in `folder`, copies where the file system has no links. The last
    exchange of a worker counts if its URL was settled and no other worker has kept it. Raises
    `RunFolderError`.
    """
    last: list[tuple[Path, ArchivedRow]] = []
    for share in shares:
        with kept_exchanges(share) as kept:
            add_all(connection, kept.rows())
            last += [(share, row) for row in kept.last()]
            for file in kept.files():
                _bring(file, folder / file.path.name)
    for share, row in last:
        if connection.execute(_IS_MISSING, {"key": row.fingerprint}).fetchone()[0]:
            add_all(connection, [row])
            _bring(KeptFile(file_of(share, row.file), row.finish), folder / row.file)


def _bring(file: KeptFile, target: Path) -> None:
    """Make a link or a copy of a file, in place of an earlier one."""
    try:
        if target.exists() and target.samefile(file.path):
            return
        target.unlink(missing_ok=True)
        try:
            os.link(file.path, target)
        except OSError:
            shutil.copyfile(file.path, target)
    except OSError as error:
        raise RunFolderError(f"{target}: cannot be made: {error.strerror or error}") from error
