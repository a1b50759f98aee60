"""The pages that an export reads: those of runs, of other WARC files, and of HTML files.

A source is divided into parts. A part reads its pages in another process, one after the other.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from classifiers.pages.methods import DEFAULT_METHOD, method_with
from classifiers.pages.text.fasttextengine import named_file
from crawler.corpus.archived_pages import RunArchive
from crawler.corpus.item import ROW_FIELDS
from crawler.errors import ArchiveError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE, UNCHANGED
from crawler.politeness import directives
from crawler.politeness.directives import NOARCHIVE
from crawler.reading import Download, identified, is_text
from crawler.run import reading
from crawler.sources.archive import ArchiveWeb
from crawler.sources.contract import Answer
from crawler.url import host_of, normalise

ALL_LANGUAGES: Final = "all"
_ROWS: Final = 250
"""Pages of a part: enough to spend little on starting it, few enough to lose little with it."""

_HTML: Final = (".html", ".htm", ".xhtml")
_MEGABYTE: Final = 1_000_000

NO_PAGE = "no page"
NO_COPY = NOARCHIVE
NOT_KEPT = "not in the WARC files"
OTHER_LANGUAGE = "in another language"
NO_LANGUAGE = "without a language"
DAMAGED = "damaged"

_OUTCOMES = {"page": PAGE, "unchanged": UNCHANGED, "noarchive": f'%"{NOARCHIVE}"%'}
# The order of the crawl is another one after a kill; that of the URLs is not.
_NUMBERS = (
    "SELECT a.id FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " WHERE p.outcome IN (:page, :unchanged) AND p.language IS NOT NULL"
    " AND :lang IN (p.language, 'all') ORDER BY p.host, p.url"
)
_LANGUAGES = (
    "SELECT language, COUNT(*), COUNT(*) FILTER (WHERE NOT is_kept AND directives LIKE :noarchive),"
    " COUNT(*) FILTER (WHERE is_kept) FROM (SELECT p.language, p.directives, EXISTS("
    "SELECT 1 FROM archived AS a WHERE a.fingerprint = p.fingerprint) AS is_kept FROM pages AS p"
    " WHERE p.outcome IN (:page, :unchanged) AND p.status BETWEEN 200 AND 304) GROUP BY language"
)
_STAMP = (
    "SELECT COUNT(*), TOTAL(p.fetched_at), TOTAL(a.start), TOTAL(p.fingerprint)"
    " FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " WHERE a.id IN (SELECT value FROM json_each(?))"
)
_PAGE_OF = (
    f"SELECT l.urls, {', '.join(f'p.{name}' for name in ROW_FIELDS)}"  # noqa: S608
    " FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " LEFT JOIN links AS l ON l.page = p.id WHERE a.id = ?"
)


class Found(NamedTuple):
    """A page: the fields of its `PageItem` that its source knows, its host and its bytes."""

    values: dict[str, Any]
    host: str
    body: bytes
    content_type: str | None


Begin = Callable[[int], bool]
"""Called with the number of a page before anything of it is read; False: leave it out."""

ReadPlace = Callable[[Any], Found | str]
"""Returns the page at a place of a source, or the reason for which it is left out.

Raises `ArchiveError` for a page that is damaged.
"""


class Pages(Protocol):
    """Where the pages of a source are read."""

    def stamp(self, places: Sequence[Any]) -> str:
        """Return a text that these places have in no other source, nor after a change of it."""

    def opened(self, lang: str) -> AbstractContextManager[ReadPlace]:
        """Return a context with the function that reads the pages in a language."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some places of a source, and the language of the pages that are wanted there."""

    source: Pages
    places: Sequence[Any]
    lang: str

    @property
    def size(self) -> int:
        """The number of its pages, with those that will be left out."""
        return len(self.places)

    def identity(self) -> str:
        """Return a text that no other part has, and no part whose files have changed."""
        told = f"{self.source.stamp(self.places)} {list(self.places)} {self.lang}"
        return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def pages(self, left_out: Counter[str], begin: Begin) -> Iterator[Found]:
        """Yield the pages, and count those that are left out by their reasons."""
        with self.source.opened(self.lang) as read:
            for number, place in enumerate(self.places):
                if not begin(number):
                    continue
                try:
                    found = read(place)
                except ArchiveError:
                    found = DAMAGED
                if isinstance(found, str):
                    left_out[found] += 1
                else:
                    yield found


@dataclass(slots=True)
class Source:
    """The parts of a source. `downloaded` are megabytes; `left_out` are pages in no part."""

    parts: list[Part]
    downloaded: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def _parts(source: Pages, places: Sequence[Any], lang: str) -> list[Part]:
    starts = range(0, len(places), _ROWS)
    return [Part(source, places[at : at + _ROWS], lang) for at in starts]


def source_of(path: Path, lang: str | None) -> Source:
    """Return the source at a path: a run, WARC files, packages, or HTML files.

    `lang` is the language of the pages; None: that of the run, and any for pages without a run;
    "all": any. Raises `CrawlError` for a path with no pages.
    """
    if (path / "run.db").is_file() or path.name == "run.db":
        return _of_run(path.parent if path.name == "run.db" else path, lang)
    lang = lang or ALL_LANGUAGES
    if path.suffix.lower() in _HTML:
        return _of_files(path.parent, [path], lang)
    try:
        web = ArchiveWeb(path)
    except ArchiveError:
        files = sorted(f for f in path.rglob("*") if f.suffix.lower() in _HTML)
        if not files:
            raise
        return _of_files(path, files, lang)
    size = sum(file.stat().st_size for file in web.files())
    parts = _parts(_ArchivePages(web), array("Q", web.places().tobytes()), lang)
    return Source(parts, size / _MEGABYTE, Counter({DAMAGED: web.skipped.number}))


def _of_run(folder: Path, lang: str | None) -> Source:
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        wanted = lang or meta.get("lang") or ALL_LANGUAGES
        named = {**_OUTCOMES, "lang": wanted}
        numbers = array("q", (row[0] for row in connection.execute(_NUMBERS, named)))
        left_out: Counter[str] = Counter()
        for language, number, forbidden, kept in connection.execute(_LANGUAGES, named):
            if language is None:
                left_out[NO_LANGUAGE] += number
            elif wanted in (language, ALL_LANGUAGES):
                left_out += Counter({NO_COPY: forbidden, NOT_KEPT: number - kept - forbidden})
            else:
                left_out[OTHER_LANGUAGE] += number
        size = connection.execute("SELECT TOTAL(bytes) FROM pages").fetchone()[0]
    return Source(_parts(_RunPages(folder), numbers, wanted), size / _MEGABYTE, left_out)


def _of_files(folder: Path, files: Sequence[Path], lang: str) -> Source:
    names = [str(file.relative_to(folder)) for file in files]
    size = sum(file.stat().st_size for file in files)
    return Source(_parts(_FilePages(folder), names, lang), size / _MEGABYTE)


@dataclass(frozen=True, slots=True)
class _RunPages:
    """The pages of a run by the numbers of their exchanges."""

    folder: Path

    def stamp(self, places: Sequence[int]) -> str:
        with reading(self.folder) as connection:
            stamp = connection.execute(_STAMP, (json.dumps(list(places)),)).fetchone()
        return f"run {self.folder.resolve()} {stamp!r}"

    @contextmanager
    def opened(self, lang: str) -> Iterator[ReadPlace]:
        with reading(self.folder) as connection, RunArchive(self.folder, connection) as archive:
            target = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()

            def read(number: int) -> Found | str:
                row = connection.execute(_PAGE_OF, (number,)).fetchone()
                answer = None if row is None else archive.answer(number)
                if answer is None:
                    return NOT_KEPT
                links, *columns = row
                values = dict(zip(ROW_FIELDS, columns, strict=True))
                values["is_relevant"] = target == (values["language"],)
                values["links"] = None if links is None else outlinks.read(links)
                kind = answer.header("Content-Type")
                return Found(values, host_of(values["url"]), answer.body, kind)

            yield read


@dataclass(frozen=True, slots=True)
class _ArchivePages:
    """The answers of an archive by their places."""

    web: ArchiveWeb

    def stamp(self, places: Sequence[int]) -> str:
        return f"archive {_stamps(self.web.files())}"

    @contextmanager
    def opened(self, lang: str) -> Iterator[ReadPlace]:
        yield partial(self._page, lang)

    def _page(self, lang: str, place: int) -> Found | str:
        found = self.web.answer_at(place)
        url = None if found is None else normalise(found[0])
        if found is None or url is None:
            return NOT_KEPT
        answer = found[1]
        kind, language = answer.header("Content-Type"), answer.header("Content-Language")
        is_whole = 200 <= answer.status < 300 and bool(answer.body)
        is_robots = url.endswith("/robots.txt") and url.count("/") == 3
        if is_robots or not is_whole or not is_text(kind):
            return NO_PAGE
        told = directives.of_headers(answer.headers)
        download = Download(url, answer.status, answer.body, kind, language, statements=told)
        return _identified(download, answer, host_of(url), lang)


@dataclass(frozen=True, slots=True)
class _FilePages:
    """HTML files by their names. The host of a file is the first folder on its path."""

    folder: Path

    def stamp(self, places: Sequence[str]) -> str:
        return f"files {_stamps([self.folder / name for name in places])}"

    @contextmanager
    def opened(self, lang: str) -> Iterator[ReadPlace]:
        yield partial(self._page, lang)

    def _page(self, lang: str, name: str) -> Found | str:
        try:
            body = (self.folder / name).read_bytes()
        except OSError:
            return DAMAGED
        host = name.partition("/")[0] if "/" in name else ""
        return _identified(Download(name, 200, body), None, host, lang)


def _stamps(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Return the names of files with their sizes and times."""
    stats = [(str(file.resolve()), file.stat()) for file in files]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def _identified(download: Download, answer: Answer | None, host: str, lang: str) -> Found | str:
    """Return a page that no run has identified, if it is in the language."""
    page, told = identified(download, method_with(DEFAULT_METHOD, named_file()))
    if page is None:
        return NO_PAGE
    statements = {*download.statements, *directives.of_metas(page.statements)}
    if NOARCHIVE in statements:
        return NO_COPY
    if told.language is None:
        return NO_LANGUAGE
    if lang not in (told.language, ALL_LANGUAGES):
        return OTHER_LANGUAGE
    source = None if answer is None else answer.source
    values = {
        **dict.fromkeys(("parent", "country", "robots_txt", "score", "depth", "links")),
        "url": download.url,
        "status": None if answer is None else answer.status,
        "language": told.language,
        "confidence": told.confidence,
        "method": told.method,
        "is_relevant": lang == told.language,
        "charset": page.charset,
        "directives": directives.written({"page": sorted(statements)}),
        "bytes": len(download.body),
        "fetched_at": None if source is None else source.began_at,
    }
    return Found(values, host, download.body, download.content_type)
