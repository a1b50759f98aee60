"""The pages that an export reads: those of runs, of other WARC files, and of HTML files.

A source is divided into parts. A part reads its pages in another process, one after the other.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

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

_PAGES = "FROM pages AS p WHERE p.outcome IN (:page, :unchanged) AND p.status BETWEEN 200 AND 304"
_IS_KEPT = "(SELECT 1 FROM archived AS a WHERE a.fingerprint = p.fingerprint)"
_KEPT = (
    "FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " WHERE p.outcome IN (:page, :unchanged) AND p.language IS NOT NULL"
    " AND :lang IN (p.language, 'all')"
)
# The order of the crawl is another one after a kill; that of the URLs is not.
_NUMBERS = f"SELECT a.id {_KEPT} ORDER BY p.host, p.url"
_STAMP = (
    "SELECT COUNT(*), TOTAL(p.fetched_at), TOTAL(a.start), TOTAL(p.fingerprint)"  # noqa: S608
    f" {_KEPT} AND a.id IN (SELECT value FROM json_each(:numbers))"
)
_OF_PART = (
    f"SELECT a.id, l.urls, {', '.join(f'p.{name}' for name in ROW_FIELDS)}"  # noqa: S608
    " FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " LEFT JOIN links AS l ON l.page = p.id WHERE a.id = ?"
)
_OUTCOMES = {"page": PAGE, "unchanged": UNCHANGED}


class Found(NamedTuple):
    """A page: the fields of its `PageItem` that its source knows, its host and its bytes."""

    values: dict[str, Any]
    host: str
    body: bytes
    content_type: str | None


Begin = Callable[[int], bool]
"""Called with the number of a page before anything of it is read; False: leave it out."""


class Part(Protocol):
    """Some pages of a source."""

    @property
    def size(self) -> int:
        """The number of its pages, with those that will be left out."""

    def identity(self) -> str:
        """Return a text that no other part has, and no part whose files have changed."""

    def pages(self, left_out: Counter[str], begin: Begin) -> Iterator[Found]:
        """Yield the pages, and count those that are left out by their reasons."""


@dataclass(slots=True)
class Source:
    """The parts of a source. `downloaded` are megabytes; `left_out` are pages in no part."""

    parts: list[Part]
    downloaded: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def source_of(path: Path, lang: str | None) -> Source:
    """Return the source at a path: a run, WARC files, packages, or HTML files.

    `lang` is the language of the pages; None: that of the run, and any for pages without a run;
    "all": any. Raises `CrawlError` for a path with no pages.
    """
    if (path / "run.db").is_file() or path.name == "run.db":
        return _of_run(path.parent if path.name == "run.db" else path, lang)
    lang = lang or ALL_LANGUAGES
    files = [path] if path.suffix.lower() in _HTML else []
    try:
        return _of_files(path.parent, files, lang) if files else _of_archive(path, lang)
    except ArchiveError:
        files = sorted(f for f in path.rglob("*") if f.suffix.lower() in _HTML)
        if not files:
            raise
        return _of_files(path, files, lang)


def _of_run(folder: Path, lang: str | None) -> Source:
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        wanted = lang or meta.get("lang") or ALL_LANGUAGES
        named = {**_OUTCOMES, "lang": wanted}
        numbers = np.fromiter((row[0] for row in connection.execute(_NUMBERS, named)), np.int64)
        parts: list[Part] = [
            RunPart(folder, wanted, numbers[at : at + _ROWS].tobytes())
            for at in range(0, len(numbers), _ROWS)
        ]
        left_out: Counter[str] = Counter()
        groups = "SELECT language, COUNT(*), COUNT(*) FILTER (WHERE directives LIKE :noarchive)"
        kept = f"{groups} {_PAGES} AND NOT EXISTS {_IS_KEPT} GROUP BY language"
        named["noarchive"] = f'%"{NOARCHIVE}"%'
        for language, number, forbidden in connection.execute(kept, named):
            if language is not None and wanted in (language, ALL_LANGUAGES):
                left_out += Counter({NO_COPY: forbidden, NOT_KEPT: number - forbidden})
        for language, number, _ in connection.execute(
            f"{groups} {_PAGES} GROUP BY language", named
        ):
            if language is None:
                left_out[NO_LANGUAGE] += number
            elif wanted not in (language, ALL_LANGUAGES):
                left_out[OTHER_LANGUAGE] += number
        size = connection.execute("SELECT TOTAL(bytes) FROM pages").fetchone()[0]
    return Source(parts, size / _MEGABYTE, left_out)


@dataclass(frozen=True, slots=True)
class RunPart:
    """The pages of a run whose exchanges have these numbers, packed as 64 bits each."""

    folder: Path
    lang: str
    packed: bytes

    @property
    def size(self) -> int:
        """The number of pages."""
        return len(self.packed) // 8

    def identity(self) -> str:
        """Return the folder, the numbers and a digest of their rows."""
        numbers = self._numbers()
        named = {**_OUTCOMES, "lang": self.lang, "numbers": json.dumps(numbers)}
        with reading(self.folder) as connection:
            stamp = connection.execute(_STAMP, named).fetchone()
        return f"run {self.folder.resolve()} {self.lang} {_digest(f'{numbers} {stamp!r}')}"

    def pages(self, left_out: Counter[str], begin: Begin) -> Iterator[Found]:
        """Yield the pages in the order of their numbers."""
        with reading(self.folder) as connection, RunArchive(self.folder, connection) as archive:
            target = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
            for at, number in enumerate(self._numbers()):
                if not begin(at):
                    continue
                row = connection.execute(_OF_PART, (number,)).fetchone()
                try:
                    answer = None if row is None else archive.answer(number)
                except ArchiveError:
                    left_out[DAMAGED] += 1
                    continue
                if answer is None:
                    left_out[NOT_KEPT] += 1
                else:
                    yield _found(row, answer, target)

    def _numbers(self) -> list[int]:
        return list(np.frombuffer(self.packed, np.int64).tolist())


def _found(row: Sequence[Any], answer: Answer, target: Sequence[str] | None) -> Found:
    """Return the page of a run; `target` is its language as a row."""
    _, links, *columns = row
    values = dict(zip(ROW_FIELDS, columns, strict=True))
    values["is_relevant"] = target == (values["language"],)
    values["links"] = None if links is None else outlinks.read(links)
    return Found(values, host_of(values["url"]), answer.body, answer.header("Content-Type"))


def _of_archive(path: Path, lang: str) -> Source:
    web = ArchiveWeb(path)
    places = [int(place) for place in web.places()]
    parts: list[Part] = [
        ArchivePart(web, tuple(places[at : at + _ROWS]), lang)
        for at in range(0, len(places), _ROWS)
    ]
    size = sum(file.stat().st_size for file in web.files())
    return Source(parts, size / _MEGABYTE, Counter({DAMAGED: web.skipped.number}))


@dataclass(frozen=True)
class ArchivePart:
    """Some answers of an archive."""

    web: ArchiveWeb
    places: tuple[int, ...]
    lang: str

    @property
    def size(self) -> int:
        """The number of answers."""
        return len(self.places)

    def identity(self) -> str:
        """Return the files with their sizes and times, and the places."""
        files = [(str(file.resolve()), file.stat()) for file in self.web.files()]
        told = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]
        return f"archive {told} {_digest(repr(self.places))} {self.lang}"

    def pages(self, left_out: Counter[str], begin: Begin) -> Iterator[Found]:
        """Yield the pages in the order of the files."""
        for number, place in enumerate(self.places):
            if not begin(number):
                continue
            try:
                found = self.web.answer_at(place)
            except ArchiveError:
                left_out[DAMAGED] += 1
                continue
            url = None if found is None else normalise(found[0])
            if found is None or url is None:
                left_out[NOT_KEPT] += 1
            elif not _is_page(url, found[1]):
                left_out[NO_PAGE] += 1
            else:
                yield from _identified(_download(url, found[1]), found[1], self.lang, left_out)


def _is_page(url: str, answer: Answer) -> bool:
    is_robots = url.endswith("/robots.txt") and url.count("/") == 3
    is_whole = 200 <= answer.status < 300 and bool(answer.body)
    return is_whole and is_text(answer.header("Content-Type")) and not is_robots


def _download(url: str, answer: Answer) -> Download:
    return Download(
        url,
        answer.status,
        answer.body,
        answer.header("Content-Type"),
        answer.header("Content-Language"),
        ip=answer.ip,
        statements=directives.of_headers(answer.headers),
    )


def _of_files(folder: Path, files: Sequence[Path], lang: str) -> Source:
    names = [str(file.relative_to(folder)) for file in files]
    parts: list[Part] = [
        FilePart(folder, tuple(names[at : at + _ROWS]), lang) for at in range(0, len(names), _ROWS)
    ]
    return Source(parts, sum(file.stat().st_size for file in files) / _MEGABYTE)


@dataclass(frozen=True)
class FilePart:
    """Some HTML files of a folder. The host of a file is the first folder on its path."""

    folder: Path
    names: tuple[str, ...]
    lang: str

    @property
    def size(self) -> int:
        """The number of files."""
        return len(self.names)

    def identity(self) -> str:
        """Return the files with their sizes and times."""
        files = [(name, (self.folder / name).stat()) for name in self.names]
        told = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]
        return f"files {self.folder.resolve()} {_digest(repr(told))} {self.lang}"

    def pages(self, left_out: Counter[str], begin: Begin) -> Iterator[Found]:
        """Yield the pages in the order of their names."""
        for number, name in enumerate(self.names):
            if not begin(number):
                continue
            try:
                body = (self.folder / name).read_bytes()
            except OSError:
                left_out[DAMAGED] += 1
                continue
            host = name.partition("/")[0] if "/" in name else ""
            for found in _identified(Download(name, 200, body), None, self.lang, left_out):
                yield found._replace(host=host)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _identified(
    download: Download, answer: Answer | None, lang: str, left_out: Counter[str]
) -> Iterator[Found]:
    """Yield a page that no run has identified, if it is in the language."""
    page, told = identified(download, method_with(DEFAULT_METHOD, named_file()))
    statements = {*download.statements, *(directives.of_metas(page.statements) if page else ())}
    if page is None:
        left_out[NO_PAGE] += 1
    elif NOARCHIVE in statements:
        left_out[NO_COPY] += 1
    elif told.language is None:
        left_out[NO_LANGUAGE] += 1
    elif lang not in (told.language, ALL_LANGUAGES):
        left_out[OTHER_LANGUAGE] += 1
    else:
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
        host = host_of(download.url) if answer is not None else ""
        yield Found(values, host, download.body, download.content_type)
