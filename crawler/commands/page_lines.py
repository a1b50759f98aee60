"""The lines of `langfocus identify pages`: a record for each page of files, archives and URLs."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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

Record = dict[str, Any]

_UNUSED: Final = ("JOBDIR", "LANGFOCUS_FRONTIER")
"""Settings of a crawl that is continued or shared, which this command cannot do."""


class Source(NamedTuple):
    """A page as it was given: a path or URL, and the URL of the page, "" if it is not known."""

    name: str
    url: str = ""

    @property
    def is_url(self) -> bool:
        """Return True if the page has to be fetched."""
        return self.name.lower().startswith(("http://", "https://"))


def sources_of(names: Iterable[str], listing: str | None) -> Iterator[Source]:
    """Yield the pages of the command line, then those of a list, in their order.

    A line of the list is PATH or URL, or PATH<TAB>URL. Raises `OSError` for a list that cannot be
    read.
    """
    for name in names:
        yield from _sources(name)
    for line in itertools.chain.from_iterable(InputLines(listing)) if listing else ():
        if line:
            name, _, url = line.partition("\t")
            yield from _sources(name, url.strip())


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


class Fetched(NamedTuple):
    """What was found under URLs, and the error that ended the fetch before all were settled."""

    lookup: Lookup[Record]
    error: BaseException | None


def fetch(
    sources: Iterable[Source],
    read: Callable[[Download], Record],
    settings_of: Callable[[], Settings],
) -> Fetched:
    """Fetch the pages of all URLs as a crawl does; raises `SettingError`.

    Scrapy's settings are made if there is a URL: without one Scrapy is not loaded.
    """
    lookup = Lookup(read)
    addresses = [normalise(source.name) for source in sources if source.is_url]
    urls = [url for url in addresses if url]
    if not urls:
        return Fetched(lookup, None)
    from crawler.spiders.running import run_without_report
    from crawler.spiders.scrapy_settings import config_of

    settings = settings_of()
    for name in _UNUSED:
        if settings.get(name):
            raise SettingError(f"{name}: identify pages keeps no run; use langfocus crawl")
    config = config_of(None, settings)
    if config.bot.advice:
        print(f"note: {config.bot.advice}", file=sys.stderr)
    error: BaseException | None = None
    with tempfile.TemporaryDirectory(prefix="langfocus-") as folder:
        crawl = open_fetch(urls, config, Path(folder), lookup)
        run_without_report(crawl, settings)
        if crawl.fault:
            error = CrawlError(crawl.fault)
        elif crawl.finish_reason != "finished":
            number = crawl.counts().queued
            error = KeyboardInterrupt(f"interrupted: {number} URLs were not fetched")
    return Fetched(lookup, error)


@dataclass(slots=True)
class PageLines:
    """Makes the records of pages by a method; with `explains` they have the evidence, too.

    `failures` is the number of pages that were not read, `damages` that of the damaged places of
    each WARC file.
    """

    by: PageMethod
    explains: bool = False
    failures: int = 0
    damages: Counter[str] = field(default_factory=Counter)

    def read(self, download: Download) -> Record:
        """Return the record of a page, without its source."""
        from crawler.reading import identified

        page, found = identified(download, self.by)
        record = _record(found, page.charset if page else None)
        return record | _evidence(page, found) if self.explains and page else record

    def records(self, sources: Sequence[Source], lookup: Lookup[Record]) -> Iterator[Record]:
        """Yield the records of all sources in their order; those of URLs are in `lookup`."""
        for source in sources:
            if source.is_url:
                yield self._of_url(source.name, lookup)
            else:
                yield from self._of_file(source)

    def _of_url(self, name: str, lookup: Lookup[Record]) -> Record:
        address = normalise(name)
        if address is None:
            return self._unread(name, "not a URL")
        found = lookup.find(address)
        if isinstance(found, Unfetched | None):
            return self._unread(name, found.reason if found else "it was not fetched")
        return self._read(name, found)

    def _of_file(self, source: Source) -> Iterator[Record]:
        path = Path(source.name)
        try:
            if is_warc(path):
                yield from self._of_archive(path)
                return
            record = self.read(Download(source.url, 200, path.read_bytes()))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            yield self._unread(source.name, f"cannot be read: {reason}")
            return
        yield self._read(source.name, record)

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
        return self.read(Download(url, answer.status, answer.body, kind, language))

    def _read(self, name: str, record: Record) -> Record:
        self.failures += record["reason"].startswith("no page: ")
        return {"source": name} | record

    def _unread(self, name: str, reason: str) -> Record:
        self.failures += 1
        return {"source": name} | _without_language(reason)


def tell_damages(lines: PageLines) -> None:
    """Print the number of damaged places of each WARC file on standard error."""
    for name, number in lines.damages.items():
        records = "record was" if number == 1 else "records were"
        print(f"{printable(name)}: {number:,} damaged {records} left out", file=sys.stderr)


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
