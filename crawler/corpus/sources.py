"""Page sources of an export: runs, other WARC files, and HTML files.

A source is divided into parts. Each part is read sequentially in a worker process.
"""

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from langfocus.classifiers.languages import codes_of
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, fasttext_file, method
from langfocus.crawler.corpus.item import ROW_FIELDS
from langfocus.crawler.errors import ArchiveError, RunFolderError
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import PAGE, RENDERED, UNCHANGED
from langfocus.crawler.http.download import Download, is_document, is_text
from langfocus.crawler.http.head import content_type_of, media_type
from langfocus.crawler.outputs import archived
from langfocus.crawler.outputs.warc_records import digest_text
from langfocus.crawler.politeness import directives
from langfocus.crawler.politeness.directives import NOARCHIVE
from langfocus.crawler.reading.page import leads_to
from langfocus.crawler.reading.time_limit import UnreadError, identified_in_time
from langfocus.crawler.run.folder import reading
from langfocus.crawler.run.target import in_target
from langfocus.crawler.run.whole_file import open_regular
from langfocus.crawler.sources.archive import (
    KEPT_BYTES,
    ArchivedAnswer,
    answer_of,
    answers_in,
    revisits_in,
)
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.sources.warc_reader import (
    PACKAGE_ENDINGS,
    WARC_ENDINGS,
    ArchiveRecord,
    Damage,
    Volume,
    find_volumes,
    is_warc,
    record_at,
    records,
)
from langfocus.crawler.url import host_of, is_site_file, normalise

ALL_LANGUAGES: Final = "all"
_ROWS: Final = 250
"""Pages per part: enough to amortise its start, few enough to keep all processes busy."""

_SLICE: Final = 16_000_000
"""Bytes per part of a WARC file."""

_HTML: Final = (".html", ".htm", ".xhtml")
_MEGABYTE: Final = 1_000_000

_ADVICE: Final = "; give a run or an archive"

NO_PAGE = "no page"
NO_COPY = NOARCHIVE
NOT_KEPT = "not in the WARC files"
OTHER_LANGUAGE = "in another language"
NO_LANGUAGE = "without a language"
DAMAGED = "damaged"

_OUTCOMES = {"page": PAGE, "unchanged": UNCHANGED, "noarchive": f'%"{NOARCHIVE}"%'}
# A kill changes the crawl order, but not the URL order.
_NUMBERS = (
    "SELECT a.id FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"  # noqa: S608
    " WHERE p.outcome IN (:page, :unchanged) AND p.language IS NOT NULL"
    f" AND (:lang = 'all' OR {in_target(':lang', 'p.language')} OR :scope AND p.in_scope)"
    " ORDER BY p.host, p.url"
)
_LANGUAGES = (
    "SELECT language, COUNT(*), COUNT(*) FILTER (WHERE NOT is_kept AND directives LIKE :noarchive),"
    " COUNT(*) FILTER (WHERE is_kept) FROM (SELECT p.directives,"
    " IIF(:scope AND p.in_scope AND p.language > '', :own, p.language) AS language, EXISTS("
    "SELECT 1 FROM archived AS a WHERE a.fingerprint = p.fingerprint) AS is_kept FROM pages AS p"
    " WHERE p.outcome IN (:page, :unchanged) AND p.status BETWEEN 200 AND 304) GROUP BY language"
)
_STAMP = (
    "SELECT COUNT(*), TOTAL(p.fetched_at), TOTAL(a.start), TOTAL(p.fingerprint)"
    " FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " WHERE a.id IN (SELECT value FROM json_each(?))"
)
_PAGE_OF = (
    f"SELECT l.urls, p.needs_browser, {', '.join(f'p.{name}' for name in ROW_FIELDS)}"  # noqa: S608
    " FROM archived AS a JOIN pages AS p ON p.fingerprint = a.fingerprint"
    " LEFT JOIN links AS l ON l.page = p.id WHERE a.id = ?"
)


class Found(NamedTuple):
    """A page: `PageItem` fields known to the source, host and body."""

    values: dict[str, Any]
    host: str
    body: bytes
    content_type: str | None


class Part(Protocol):
    """Pages of a source."""

    def stamp(self) -> str:
        """Return a text unique to the part and its current content."""

    def pages(self, first: int = 0) -> Iterator[Found | str]:
        """Yield the pages from number `first`, and a reason for each skipped page."""


@dataclass(slots=True)
class Source:
    """The parts of a source. `downloaded` are megabytes; `left_out` are pages in no part."""

    parts: list[Part]
    downloaded: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def source_of(path: Path, lang: str | None) -> Source:
    """Return the source at a path: a run, WARC files, packages or HTML files.

    `lang` is the page language; None: the run's language and the pages in its scope, and any
    language for pages outside a run;
    "all": any. Raises `CrawlError` for a path without pages.
    """
    if (path / "run.db").is_file() or path.name == "run.db":
        return _of_run(path.parent if path.name == "run.db" else path, lang)
    lang = lang or ALL_LANGUAGES
    try:
        if files := _html_files(path):
            pieces = (files[at : at + _ROWS] for at in range(0, len(files), _ROWS))
            folder = path if path.is_dir() else path.parent
            size = sum(file.stat().st_size for file in files)
            return Source([_FilesPart(folder, piece, lang) for piece in pieces], size / _MEGABYTE)
        volumes = find_volumes(path)
        for volume in volumes:
            if not volume.name and not is_warc(volume.path):
                raise ArchiveError(f"{volume}: it is no WARC file{_ADVICE}")
        slices = [part for volume in volumes for part in volume.slices(_SLICE)]
    except ArchiveError:
        raise
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror or error}{_ADVICE}") from error
    size = sum(part.end - part.start for part in slices)
    parts: list[Part] = [_ArchivePart((part,), lang) for part in slices]
    parts.append(_ArchivePart(tuple(volumes), lang, is_of_revisits=True))
    return Source(parts, size / _MEGABYTE)


def _html_files(path: Path) -> list[Path]:
    """Return the HTML files of a path; empty for a folder with WARC files or packages."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    if any(file.name.lower().endswith((*WARC_ENDINGS, *PACKAGE_ENDINGS)) for file in files):
        return []
    return [file for file in files if file.suffix.lower() in _HTML]


def _of_run(folder: Path, lang: str | None) -> Source:
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        wanted = lang or meta.get("lang") or ALL_LANGUAGES
        named = {**_OUTCOMES, "lang": wanted, "scope": lang is None, "own": codes_of(wanted)[0]}
        numbers = array("q", (row[0] for row in connection.execute(_NUMBERS, named)))
        left_out: Counter[str] = Counter()
        for language, number, forbidden, kept in connection.execute(_LANGUAGES, named):
            if language is None:
                left_out[NO_LANGUAGE] += number
            elif wanted == ALL_LANGUAGES or language in codes_of(wanted):
                left_out += Counter({NO_COPY: forbidden, NOT_KEPT: number - kept - forbidden})
            else:
                left_out[OTHER_LANGUAGE] += number
        size = connection.execute("SELECT TOTAL(bytes) FROM pages").fetchone()[0]
    starts = range(0, len(numbers), _ROWS)
    parts: list[Part] = [_RunPart(folder, numbers[at : at + _ROWS]) for at in starts]
    return Source(parts, size / _MEGABYTE, left_out)


@dataclass(frozen=True, slots=True)
class _RunPart:
    """Pages of a run, by exchange number."""

    folder: Path
    numbers: "array[int]"

    def stamp(self) -> str:
        numbers = json.dumps(list(self.numbers))
        with reading(self.folder) as connection:
            row = connection.execute(_STAMP, (numbers,)).fetchone()
        return f"run {self.folder.resolve()} {row!r} {numbers}"

    def pages(self, first: int = 0) -> Iterator[Found | str]:
        with reading(self.folder) as connection:
            target = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
            for number in self.numbers[first:]:
                yield self._page(connection, number, target)

    def _page(
        self, connection: sqlite3.Connection, number: int, target: tuple[str] | None
    ) -> Found | str:
        """Return the page of an exchange, or the skip reason."""
        row = connection.execute(_PAGE_OF, (number,)).fetchone()
        place = archived.found_archived(connection, "id = ?", number)
        if row is None or place is None:
            return NOT_KEPT
        try:
            answer = _kept_answer(self.folder, connection, place)
        except ArchiveError:
            return DAMAGED
        if answer is None:
            return NOT_KEPT
        links, needs_browser, *columns = row
        values = dict(zip(ROW_FIELDS, columns, strict=True))
        values["is_relevant"] = target is not None and values["language"] in codes_of(target[0])
        values["links"] = None if links is None else outlinks.read(links)
        values.update(warc_file=place.file, warc_offset=place.start)
        values["digest"] = digest_text(place.digest)
        kind = content_type_of(answer.all("Content-Type"))
        body = answer.body
        if needs_browser == RENDERED and (rendered := _rendered(self.folder, place)) is not None:
            body, kind = rendered.body, content_type_of(rendered.all("Content-Type"))
        return Found(values, host_of(values["url"]), body, kind)


def _kept_answer(
    folder: Path, connection: sqlite3.Connection, row: archived.ArchivedRow
) -> Answer | None:
    """Return the answer of an exchange in a run, None if its body was never kept.

    An unchanged page has the answer kept by the earlier run. Raises `ArchiveError` for a damaged or
    missing record.
    """
    record = _record(folder, row)
    if row.is_revisit == archived.SAME_PAYLOAD_AS:
        original = archived.with_payload(connection, row.digest)
        if original is not None:
            return answer_of(record, _record(folder, original))
        body = _earlier_record(connection, "digest = ?", row.digest)
        return None if body is None else answer_of(record, body)
    if row.is_revisit == archived.NOT_MODIFIED_SINCE:
        kept = archived.kept_earlier(connection, row.url)
        page = kept and _earlier_record(connection, "url = ? AND date = ?", *kept)
        return answer_of(page) if page else None
    return answer_of(record)


def _rendered(folder: Path, row: archived.ArchivedRow) -> Answer | None:
    """Return the page that a browser made of an exchange, None if it is missing."""
    start, finish = row.start + row.length, row.finish
    for found in records(Volume(folder / row.file, start, finish)):
        if isinstance(found, ArchiveRecord) and found.type == "conversion":
            return answer_of(found)
    return None


def _earlier_record(
    connection: sqlite3.Connection, where: str, *values: str
) -> ArchiveRecord | None:
    """Return a record with a body kept by an earlier run, None if the earlier run is missing."""
    since = connection.execute("SELECT value FROM meta WHERE key = 'since'").fetchone()
    if since is None or not since[0]:
        return None
    folder = Path(since[0])
    try:
        with reading(folder) as earlier:
            row = archived.found_archived(earlier, f"{where} AND is_revisit = 0", *values)
            if row is None:
                return _earlier_record(earlier, where, *values)
            return _record(folder, row)
    except RunFolderError:
        return None


def _record(folder: Path, row: archived.ArchivedRow) -> ArchiveRecord:
    path = folder / row.file
    record = record_at(Volume(path), row.start)
    if record.url != row.url:
        raise ArchiveError(f"{path}: at byte {row.start}: the record of another URL")
    return record


@dataclass(frozen=True, slots=True)
class _ArchivePart:
    """Answers in a WARC file slice that are in a language, or the revisits of files."""

    volumes: tuple[Volume, ...]
    lang: str
    is_of_revisits: bool = False

    def stamp(self) -> str:
        stats = [(volume.path.resolve(), volume.path.stat()) for volume in self.volumes]
        facts = [(str(path), stat.st_mtime_ns, stat.st_size) for path, stat in stats]
        return f"archive {facts} {self!r}"

    def pages(self, first: int = 0) -> Iterator[Found | str]:
        read = revisits_in if self.is_of_revisits else answers_in
        for found in islice(read(self.volumes), first, None):
            if isinstance(found, Damage):
                yield DAMAGED
                continue
            page, source = page_in(found), found.answer.source
            began_at = None if source is None else source.began_at
            if isinstance(page, str) or not page.url or not page.body:
                yield NO_PAGE
            else:
                made = _identified(page, host_of(page.url), began_at, self.lang)
                if not isinstance(made, str) and found.file:
                    made.values.update(warc_file=found.file, warc_offset=found.offset)
                    made.values["digest"] = found.digest or None
                yield made


@dataclass(frozen=True, slots=True)
class _FilesPart:
    """HTML files; a file's host is the first folder of its path."""

    folder: Path
    files: Sequence[Path]
    lang: str

    def stamp(self) -> str:
        stats = [(str(file.resolve()), file.stat()) for file in self.files]
        facts = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
        return f"files {facts} {self.lang}"

    def pages(self, first: int = 0) -> Iterator[Found | str]:
        for file in self.files[first:]:
            name = file.relative_to(self.folder)
            host = name.parts[0] if len(name.parts) > 1 else ""
            try:
                with open_regular(file) as opened:
                    download = Download(str(name), 0, opened.read(KEPT_BYTES))
            except OSError:
                yield DAMAGED
            else:
                yield _identified(download, host, None, self.lang)


def page_in(found: ArchivedAnswer) -> Download | str:
    """Return an answer as downloaded by a crawl, or the reason why it is no page."""
    answer, url = found.answer, normalise(found.url) or ""
    kind = content_type_of(answer.all("Content-Type"))
    if not 200 <= answer.status < 300:
        return f"HTTP status {answer.status}"
    if not (is_text(kind, answer.body) or is_document(kind, url, answer.body)):
        return f"no page: {kind if media_type(kind) else 'binary data'}"
    if is_site_file(url):
        return "no page: a robots.txt or tdmrep.json"
    stated = directives.of_headers(answer.texts())
    language = answer.header("Content-Language")
    refresh = answer.header("Refresh")
    return Download(
        url, answer.status, answer.body, kind, language, statements=stated, refresh=refresh
    )


def _identified(download: Download, host: str, at: float | None, lang: str) -> Found | str:
    """Identify and return a page from outside a run, or the reason for skipping it."""
    try:
        page, identified = identified_in_time(download, method(DEFAULT_METHOD, fasttext_file()))
    except UnreadError as error:
        return str(error)
    if page is None or leads_to(download, page, identified):
        return NO_PAGE
    statements_by = {"header": download.statements, "page": directives.of_metas(page.statements)}
    if any(NOARCHIVE in statements for statements in statements_by.values()):
        return NO_COPY
    if identified.language is None:
        return NO_LANGUAGE
    if lang not in (identified.language, ALL_LANGUAGES):
        return OTHER_LANGUAGE
    values = {
        **dict.fromkeys(("parent", "country", "robots_txt", "score", "depth", "links")),
        "url": download.url,
        "status": download.status or None,
        "language": identified.language,
        "confidence": identified.confidence,
        "method": identified.method,
        "is_relevant": lang == identified.language,
        "charset": page.charset,
        "directives": directives.written(statements_by),
        "bytes": len(download.body),
        "fetched_at": at,
    }
    return Found(values, host, download.body, download.content_type)
