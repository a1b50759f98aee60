"""The sources of graphs: run folders, WARC files, plain tables, lists of seeds.

Each gives rows, one or more for each URL that it knows.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

from crawler.config import RetryRule
from crawler.errors import GraphError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE as PAGE_OUTCOME
from crawler.frontier.base import REDIRECT as REDIRECT_OUTCOME
from crawler.frontier.base import Admission, Frontier, Lease, Link, Record
from crawler.reading import Download, Read
from crawler.run import reading
from crawler.simulate.rows import GraphRow, GraphSource, count_ignored
from crawler.simulate.table_files import ENDINGS, table_source
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT
from crawler.sources.contract import Answer, NotArchived
from crawler.strategies.orderings import BreadthFirst
from crawler.url import fingerprint, normalise
from crawler.visit import Visitor, VisitRules

_KINDS: Final = (
    "the folder of a run, a folder with tables called pages and links, a WARC file, "
    "a table (.tsv, .tsv.gz, .parquet) or a list of seeds (.txt)"
)
_NO_URL: Final = "answers to invalid URLs"
_RESPELLED: Final = "redirects to another spelling of the same page"
_ROBOTS: Final = "answers that are a robots.txt"
_NO_BODY: Final = "answers whose body is not in the archive"
_UNREADABLE: Final = "pages that could not be read"


def sources_of(paths: Sequence[Path], *, identify: str) -> list[GraphSource]:
    """Return the sources at these paths, in their order; raises `CrawlError`.

    `identify` names the method that tells the languages of pages in WARC files.
    """
    return [source for path in paths for source in _opened(Path(path), identify)]


def _opened(path: Path, identify: str) -> Iterator[GraphSource]:
    if not path.exists():
        raise GraphError(f"{path}: there is nothing; give {_KINDS}")
    if path.name == "run.db" or (path / "run.db").exists():
        yield _run(path)
    elif path.is_dir():
        seeds = path / "seeds.txt"
        names = [f"{name}{ending}" for name in ("pages", "links") for ending in ENDINGS]
        found = [path / name for name in names if (path / name).is_file()]
        if not any(file.name.startswith("pages") for file in found):
            raise GraphError(f"{path}: neither a run nor a table called pages; give {_KINDS}")
        for file in [seeds] * seeds.is_file() + found:
            yield from _opened(file, identify)
    elif path.name.endswith((".warc", ".warc.gz")):
        yield _archive(path, identify)
    elif path.name.endswith(ENDINGS):
        yield table_source(path)
    elif path.suffix == ".txt":
        yield GraphSource(f"seeds {path}", lambda _: iter(()), _seed_list(path))
    else:
        raise GraphError(f"{path}: not a source of a graph; give {_KINDS}")


def _seed_list(path: Path) -> list[str]:
    """The URLs of a file, one a line; empty lines and those after `#` say nothing."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GraphError(f"{path}: cannot be read ({error})") from error
    seeds = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            url = normalise(text)
            if url is None:
                raise GraphError(f"{path}:{number}: {text[:80]!r} is no URL")
            seeds.append(url)
    return seeds


def _status_of(outcome: str, *, is_download: bool) -> int:
    """The status of a URL that a crawl settled."""
    if outcome == PAGE_OUTCOME and is_download:
        return PAGE
    return REDIRECT if outcome == REDIRECT_OUTCOME else FAILED


# --- Runs


def _run(folder: Path) -> GraphSource:
    """The pages that a crawl fetched in their order, then the URLs left in its queue.

    Raises `RunFolderError` where the folder is no run and `GraphError` for a run without links.
    """
    with reading(folder) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        try:
            has_links = connection.execute("SELECT EXISTS(SELECT 1 FROM links)").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            has_links = False
    if not has_links:
        recorded = "links of its pages are not recorded: crawl with -s LANGFOCUS_LINKS=True"
        raise GraphError(f"{folder}: {recorded}")
    seeds = [url for url in map(normalise, json.loads(meta.get("seeds", "[]"))) if url]
    ordering = meta.get("ordering") if meta.get("ordering") == "svm" else None
    return GraphSource(f"run {folder}", lambda _: _run_rows(folder), seeds, ordering)


def _run_rows(folder: Path) -> Iterator[GraphRow]:
    with reading(folder) as connection, closing(connection.cursor()) as cursor:
        for url, outcome, code, language, size, score, links in cursor.execute(
            "SELECT p.url, p.outcome, p.status, p.language, p.bytes, p.score, l.urls "
            "FROM pages AS p LEFT JOIN links AS l ON l.page = p.id ORDER BY p.id"
        ):
            is_download = code is not None and 200 <= code < 300
            status = _status_of(outcome, is_download=is_download)
            try:
                targets = None if links is None else outlinks.read(links)
            except ValueError as error:
                raise GraphError(f"{folder}: damaged links of {url} ({error})") from error
            if status == FAILED:
                yield GraphRow(url, status, score=score)
            else:
                yield GraphRow(url, status, language, size, targets, score)
        for url, score in cursor.execute(
            "SELECT url, score FROM urls WHERE queued = 1 ORDER BY id"
        ):
            yield GraphRow(url, score=score)


# --- Archives


def _archive(path: Path, identify: str) -> GraphSource:
    """The answers in a WARC file; a page's language is told as a crawl tells it.

    Unlike in a crawl no languages of linking pages are among the evidence. Raises `ArchiveError`
    for a file that is missing or without answers.
    """
    from classifiers.pages.text.fasttextengine import named_file
    from crawler.reading import page_method, page_reader
    from crawler.sources.archive import ArchiveWeb

    web, read = ArchiveWeb(path), page_reader(page_method(identify, named_file()))
    source = GraphSource(f"WARC {path}", lambda left_out: _archive_rows(web, read, left_out))
    source.left_out["damaged records"] = web.skipped.number
    return source


def _archive_rows(web: Any, read: Read, left_out: Counter[str]) -> Iterator[GraphRow]:
    """The answers in their order; of several to one URL the first counts."""
    reader = _AnswerReader(read, left_out)
    for written in web.urls():
        url = normalise(written)
        if url is None:
            left_out[_NO_URL] += 1
        elif url.endswith("/robots.txt") and url.count("/") == 3:
            left_out[_ROBOTS] += 1
        else:
            try:
                row = reader.row(url, web.respond(written))
            except NotArchived:  # a revisit of a page that is not in the archive
                left_out[_NO_BODY] += 1
                continue
            page = fingerprint(url)
            if row.status == REDIRECT and any(
                fingerprint(link) == page for link in row.links or ()
            ):
                left_out[_RESPELLED] += 1
            else:
                yield row


class _AnswerReader:
    """Reads answers as a crawl does: it stands where a visitor expects a frontier."""

    def __init__(self, read: Read, left_out: Counter[str]) -> None:
        self._left_out = left_out
        self._settled: list[tuple[Record, list[str]]] = []
        # A visitor that never retries calls only `admit` of a frontier.
        rules = VisitRules("", read, RetryRule(retry_times=0))
        self._visitor = Visitor(cast(Frontier, self), BreadthFirst(), rules, lambda: 0.0)

    def row(self, url: str, answer: Answer) -> GraphRow:
        kind, language = answer.header("Content-Type"), answer.header("Content-Language")
        location = answer.header("Location")
        download = Download(url, answer.status, answer.body, kind, language, location)
        try:
            self._visitor.answered(Lease(0, url, "", 0.0, 1, 0, 0), download)
            record, links = self._settled.pop()
        except Exception:
            # As in a crawl: whatever is wrong with a page, the others are read.
            self._left_out[_UNREADABLE] += 1
            return GraphRow(url, FAILED)
        count_ignored(
            self._left_out, record.ignored_files, record.ignored_urls, record.ignored_traps
        )
        status = _status_of(record.outcome, is_download=record.is_download)
        if status == FAILED:
            return GraphRow(url, FAILED)
        return GraphRow(url, status, record.language, record.bytes, links)

    def admit(
        self, lease: Lease, record: Record, links: Sequence[Link] = (), **_: object
    ) -> list[Admission]:
        """Take the record and the links of an answer from the visitor."""
        self._settled.append((record, [link.url for link in links]))
        return []
