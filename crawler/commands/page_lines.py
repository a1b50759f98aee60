"""The lines of `langfocus identify pages`: a record for each page of files, archives and URLs."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crawler.commands.input_lines import InputLines
from crawler.errors import CrawlError, SettingError
from crawler.fetching import Lookup, Unfetched, open_fetch
from crawler.reading import Download, is_text
from crawler.report.formatting import printable
from crawler.sources.archive import ArchivedAnswer, answers
from crawler.sources.warc_reader import Damage, is_warc
from crawler.url import is_unwanted_file, normalise

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from classifiers.pages.method import PageLanguage, PageMethod
    from classifiers.pages.parse import ParsedPage
    from crawler.crawl import Crawl

Record = dict[str, Any]

_UNUSED: Final = ("JOBDIR", "LANGFOCUS_FRONTIER")
"""Settings of a crawl that is continued or shared, which this command cannot do."""


@dataclass(frozen=True, slots=True)
class Source:
    """A page as it was given: a path or URL, and the URL of the page, "" if it is not known."""

    name: str
    url: str = ""

    @property
    def is_url(self) -> bool:
        """Return True if the page has to be fetched."""
        return self.name.lower().startswith(("http://", "https://"))


@dataclass(frozen=True)
class Sources:
    """The pages of the command line, then those of a list; they can be iterated more than once.

    A line of the list is PATH or URL, or PATH<TAB>URL. Iteration raises `OSError` for a list that
    cannot be read.
    """

    names: tuple[str, ...]
    listing: str | None = None

    def __iter__(self) -> Iterator[Source]:
        """Yield the pages in their order."""
        for name in self.names:
            yield from _sources(name)
        for line in self._lines:
            if line:
                name, _, url = line.partition("\t")
                yield from _sources(name, url.strip())

    @property
    def _lines(self) -> Iterable[str]:
        if self.listing is None:
            return ()
        # A pipe can be read only once.
        return self._of_file() if Path(self.listing).is_file() else self._of_pipe

    def _of_file(self) -> Iterator[str]:
        return itertools.chain.from_iterable(InputLines(self.listing))

    @cached_property
    def _of_pipe(self) -> list[str]:
        return list(self._of_file())


def _sources(name: str, url: str = "") -> Iterator[Source]:
    """Yield a page, or the files of a folder and of those in it that may be pages, by name."""
    source = Source(name, url)
    if source.is_url or not Path(name).is_dir():
        yield source
        return
    for folder, folders, files in os.walk(name):
        folders.sort()
        paths = (os.path.join(folder, file) for file in sorted(files))  # noqa: PTH118
        yield from (Source(path) for path in paths if not is_unwanted_file(f"file://{path}"))


@dataclass(frozen=True, slots=True)
class PageReader:
    """Makes the record of a page by a method; with `explains`, the record has the evidence too."""

    by: PageMethod
    explains: bool = False

    def read(self, download: Download) -> Record:
        """Return the record of a page, without its source."""
        from crawler.reading import identified

        page, found = identified(download, self.by)
        record = _record(found, page.charset if page else None)
        return record | _evidence(page, found) if self.explains and page else record


@dataclass(slots=True)
class PageLines:
    """The records of all sources in their order.

    `failures` is the number of pages that were not read, `damages` that of the damaged places of
    each WARC file.
    """

    reader: PageReader
    is_fetching: bool = False
    is_fetched: bool = False
    failures: int = 0
    lookup: Lookup[Record] = field(init=False)
    damages: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Let the pages of URLs be read like all others."""
        self.lookup = Lookup(self.reader.read)

    def records(self, sources: Iterable[Source]) -> Iterator[Record | None]:
        """Yield the records; None while the next one needs a page that is not fetched yet."""
        for source in sources:
            if source.is_url:
                yield from self._of_url(source)
                continue
            while self.is_fetching:  # a large archive would block the downloads
                yield None
            yield from self._of_file(source)

    def _of_url(self, source: Source) -> Iterator[Record | None]:
        address = normalise(source.name)
        if address is None:
            yield self._unread(source.name, "not a URL")
            return
        while (found := self.lookup.find(address)) is None and not self.is_fetched:
            yield None
        if found is None:
            found = Unfetched("it was not fetched")
        if isinstance(found, Unfetched):
            yield self._unread(source.name, found.reason)
        else:
            yield {"source": source.name} | found
            self.failures += _is_binary(found)

    def _of_file(self, source: Source) -> Iterator[Record]:
        path = Path(source.name)
        try:
            if is_warc(path):
                yield from self._of_archive(path)
                return
            record = self.reader.read(Download(source.url, 200, path.read_bytes()))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            yield self._unread(source.name, f"cannot be read: {reason}")
            return
        yield {"source": source.name} | record
        self.failures += _is_binary(record)

    def _of_archive(self, path: Path) -> Iterator[Record]:
        is_empty = True
        for found in answers(path):
            is_empty = False
            if isinstance(found, Damage):
                self.damages[str(path)] += 1
                yield self._unread(str(path), str(found))
            else:
                yield {"source": found.url} | self._of_answer(found)
        if is_empty:
            yield self._unread(str(path), "no answer of a server in this WARC file")

    def _of_answer(self, archived: ArchivedAnswer) -> Record:
        answer = archived.answer
        kind = answer.header("Content-Type")
        if not 200 <= answer.status < 300:
            return _without_language(f"HTTP status {answer.status}")
        if not is_text(kind):
            return _without_language(f"no page: {kind}")
        url = normalise(archived.url) or ""
        if url.endswith("/robots.txt") and url.count("/") == 3:
            return _without_language("no page: a robots.txt")
        language = answer.header("Content-Language")
        return self.reader.read(Download(url, answer.status, answer.body, kind, language))

    def _unread(self, name: str, reason: str) -> Record:
        self.failures += 1
        return {"source": name} | _without_language(reason)


def fetch_and_write(
    lines: PageLines,
    sources: Iterable[Source],
    settings: Settings,
    write: Callable[[Record], None],
) -> None:
    """Write the records of all sources in their order, those of URLs while others are fetched.

    `sources` is iterated twice. Raises `SettingError`, `CrawlError` if the pages could not be
    fetched, and `KeyboardInterrupt` after Ctrl-C.
    """
    addresses = [normalise(source.name) for source in sources if source.is_url]
    urls = [url for url in addresses if url]
    writing = _Writing(lines.records(sources), write)
    if urls:
        _fetch(urls, lines, settings, writing)
    writing.advance()


class _Writing:
    """Writes records as far as they are known. After an error nothing more is written."""

    def __init__(self, records: Iterator[Record | None], write: Callable[[Record], None]) -> None:
        self._records, self._write = records, write
        self.error: Exception | None = None

    def advance(self) -> None:
        """Write all records before the next one that is not known yet."""
        for record in self._records:
            if record is None:
                return
            self._write(record)

    def advance_in(self, crawl: Crawl) -> None:
        """Do the same while a crawl runs; an error ends the crawl and counts for no page."""
        try:
            self.advance()
        except Exception as error:
            self.error = error
            self._records = iter(())
            crawl.fault = str(error) or "the output cannot be written"


def _fetch(urls: list[str], lines: PageLines, settings: Settings, writing: _Writing) -> None:
    from crawler.spiders.running import run_without_report
    from crawler.spiders.scrapy_settings import config_of

    for name in _UNUSED:
        if settings.get(name):
            raise SettingError(f"{name}: identify pages keeps no run; use langfocus crawl")
    config = config_of(None, settings)
    if config.bot.advice:
        print(f"note: {config.bot.advice}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="langfocus-") as folder:
        crawl = open_fetch(urls, config, Path(folder), lines.lookup)
        writing.advance()  # files that come before the first URL
        lines.is_fetching = True
        lines.lookup.on_end = partial(writing.advance_in, crawl)
        run_without_report(crawl, settings)
        lines.is_fetching, lines.is_fetched = False, True
    if writing.error is not None:
        raise writing.error
    if crawl.fault:
        raise CrawlError(crawl.fault)
    if crawl.finish_reason != "finished":
        raise KeyboardInterrupt(f"interrupted: {crawl.counts().queued} URLs were not fetched")


def tell_damages(lines: PageLines) -> None:
    """Print the number of damaged places of each WARC file on standard error."""
    for name, number in lines.damages.items():
        records = "record was" if number == 1 else "records were"
        print(f"{printable(name)}: {number:,} damaged {records} left out", file=sys.stderr)


def _is_binary(record: Record) -> bool:
    return bool(record["reason"].startswith("no page: "))


def _without_language(reason: str) -> Record:
    from classifiers.pages.method import unknown

    return _record(unknown(reason), None)


def _record(found: PageLanguage, charset: str | None) -> Record:
    return {
        "language": found.language,
        "confidence": round(found.confidence, 4),
        "method": found.method,
        "charset": charset,
        "reason": found.reason,
    }


def _evidence(page: ParsedPage, found: PageLanguage) -> Record:
    """The fields that --explain adds."""
    from classifiers.pages.text.scripts import utf16_units, vote
    from classifiers.pages.text.textengine import shipped_engine

    shares = shipped_engine().shares(page.text, found.language) if found.language else ()
    return {
        "shares": {code: round(share, 4) for code, share in shares},
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
