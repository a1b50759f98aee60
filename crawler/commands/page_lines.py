"""The lines of `langfocus identify pages`: a record for each page of files and archives."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classifiers.pages.method import unknown
from crawler.corpus.sources import page_in
from crawler.reading import Download, identified
from crawler.sources.archive import answers
from crawler.sources.warc_reader import Damage, is_warc
from crawler.url import is_unwanted_file

if TYPE_CHECKING:
    from classifiers.pages.method import PageLanguage, PageMethod

Record = dict[str, Any]

STDIN = "-"
"""The name of a page on standard input."""


@dataclass(slots=True)
class PageLines:
    """Makes the records of pages by a method; `failures` is the number of those not read."""

    by: PageMethod
    failures: int = 0

    def records(self, names: Iterable[str]) -> Iterator[Record]:
        """Yield the records of files, archives, and the files of folders, in their order."""
        for name in names:
            for path in _files(name):
                yield from self._of_file(path)

    def _of_file(self, name: str) -> Iterator[Record]:
        path = Path(name)
        try:
            if name != STDIN and is_warc(path):
                yield from self._of_archive(path)
                return
            body = sys.stdin.buffer.read() if name == STDIN else path.read_bytes()
            record = self._read(name, Download("", 200, body))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            yield self._unread(name, f"cannot be read: {reason}")
            return
        self.failures += record["reason"].startswith("no page: ")
        yield record

    def _of_archive(self, path: Path) -> Iterator[Record]:
        is_empty = True
        for found in answers(path):
            is_empty = False
            if isinstance(found, Damage):
                yield self._unread(str(path), str(found))
            else:
                page = page_in(found)
                if isinstance(page, str):
                    yield _record(found.url, unknown(page))
                else:
                    yield self._read(found.url, page)
        if is_empty:
            yield self._unread(str(path), "no answer of a server in this WARC file")

    def _read(self, name: str, download: Download) -> Record:
        page, found = identified(download, self.by)
        return _record(name, found, page.charset if page else None)

    def _unread(self, name: str, reason: str) -> Record:
        self.failures += 1
        return _record(name, unknown(reason))


def _files(name: str) -> Iterator[str]:
    """Yield a file, or the files of a folder and of those in it that may be pages, by name."""
    if not Path(name).is_dir():
        yield name
        return
    for folder, folders, files in os.walk(name):
        folders.sort()
        paths = (os.path.join(folder, file) for file in sorted(files))  # noqa: PTH118
        yield from (path for path in paths if not is_unwanted_file(f"file://{path}"))


def _record(name: str, found: PageLanguage, charset: str | None = None) -> Record:
    return {
        "source": name,
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": charset,
        "reason": found.reason,
    }
