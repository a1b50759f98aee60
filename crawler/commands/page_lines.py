"""The lines of `langfocus identify pages`: a record for each page of files and archives."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classifiers.pages.method import unknown
from crawler.reading import Download, identified, is_text
from crawler.sources.archive import ArchivedAnswer, answers
from crawler.sources.warc_reader import Damage, is_warc
from crawler.url import is_unwanted_file, normalise

if TYPE_CHECKING:
    from classifiers.pages.method import PageLanguage, PageMethod
    from classifiers.pages.parse import ParsedPage

Record = dict[str, Any]

STDIN = "-"
"""The name of a page on standard input."""


@dataclass(slots=True)
class PageLines:
    """Makes the records of pages by a method; with `explains` they have the evidence, too.

    `failures` is the number of pages that were not read.
    """

    by: PageMethod
    explains: bool = False
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
            record = self._read(Download("", 200, body))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            yield self._unread(name, f"cannot be read: {reason}")
            return
        self.failures += record["reason"].startswith("no page: ")
        yield {"source": name} | record

    def _of_archive(self, path: Path) -> Iterator[Record]:
        is_empty = True
        for found in answers(path):
            is_empty = False
            if isinstance(found, Damage):
                yield self._unread(str(path), str(found))
            else:
                yield {"source": found.url} | self._of_answer(found)
        if is_empty:
            yield self._unread(str(path), "no answer of a server in this WARC file")

    def _of_answer(self, archived: ArchivedAnswer) -> Record:
        answer = archived.answer
        kind = answer.header("Content-Type")
        if not 200 <= answer.status < 300:
            return _record(unknown(f"HTTP status {answer.status}"))
        if not is_text(kind):
            return _record(unknown(f"no page: {kind}"))
        url = normalise(archived.url) or ""
        if url.endswith("/robots.txt") and url.count("/") == 3:
            return _record(unknown("no page: a robots.txt"))
        language = answer.header("Content-Language")
        return self._read(Download(url, answer.status, answer.body, kind, language))

    def _read(self, download: Download) -> Record:
        page, found = identified(download, self.by)
        record = _record(found, page)
        return record | _evidence(page) if self.explains and page else record

    def _unread(self, name: str, reason: str) -> Record:
        self.failures += 1
        return {"source": name} | _record(unknown(reason))


def _files(name: str) -> Iterator[str]:
    """Yield a file, or the files of a folder and of those in it that may be pages, by name."""
    if not Path(name).is_dir():
        yield name
        return
    for folder, folders, files in os.walk(name):
        folders.sort()
        paths = (os.path.join(folder, file) for file in sorted(files))  # noqa: PTH118
        yield from (path for path in paths if not is_unwanted_file(f"file://{path}"))


def _record(found: PageLanguage, page: ParsedPage | None = None) -> Record:
    return {
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": page.charset if page else None,
        "reason": found.reason,
    }


def _evidence(page: ParsedPage) -> Record:
    """The fields that --explain adds."""
    from classifiers.pages.text.scripts import utf16_units, vote

    return {
        "script": vote(utf16_units(page.text)).script,
        "characters": len(page.text),
        "declarations": [[each.source, each.tag] for each in page.declarations],
        "encoding": {
            "charset": page.charset,
            "source": page.charset_source,
            "declared": page.charset_declared,
        },
        "parser": page.parser,
    }
