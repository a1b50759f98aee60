"""The sources of graphs: run folders, WARC files, plain tables, lists of seeds."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from classifiers.urls.standard import absolute
from crawler.errors import GraphError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE as PAGE_OUTCOME
from crawler.frontier.base import REDIRECT as REDIRECT_OUTCOME
from crawler.reading import (
    Download,
    ReadPage,
    is_text,
    page_method,
    page_reader,
    sift,
)
from crawler.run import reading
from crawler.simulate.table_files import (
    ENDINGS,
    GraphRow,
    GraphSource,
    count_ignored,
    table_source,
)
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT
from crawler.sources.contract import Answer, NotArchived
from crawler.strategies.orderings import BreadthFirst
from crawler.url import fingerprint, normalise

if TYPE_CHECKING:
    from crawler.sources.archive import ArchiveWeb

_KINDS: Final = (
    "the folder of a run, a folder with tables called pages and links, a WARC file, "
    "a table (.tsv, .tsv.gz) or a list of seeds (.txt)"
)
_REDIRECTS: Final = (301, 302, 303, 307, 308)


def sources_of(paths: Sequence[Path]) -> list[GraphSource]:
    """Return the sources at these paths, in their order; raises `CrawlError`."""
    return [source for path in paths for source in _opened(Path(path))]


def _opened(path: Path) -> Iterator[GraphSource]:
    if not path.exists():
        raise GraphError(f"{path}: there is nothing; give {_KINDS}")
    if path.name == "run.db" or (path / "run.db").exists():
        yield _run(path)
    elif path.is_dir():
        names = [f"{name}{ending}" for name in ("pages", "links") for ending in ENDINGS]
        found = [path / name for name in ("seeds.txt", *names) if (path / name).is_file()]
        if not any(file.name.startswith("pages") for file in found):
            raise GraphError(f"{path}: neither a run nor a table called pages; give {_KINDS}")
        for file in found:
            yield from _opened(file)
    elif path.name.endswith((".warc", ".warc.gz")):
        yield _archive(path)
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
    return GraphSource(f"run {folder}", lambda _: _run_rows(folder), seeds)


def _run_rows(folder: Path) -> Iterator[GraphRow]:
    with reading(folder) as connection, closing(connection.cursor()) as cursor:
        for url, outcome, code, language, size, links in cursor.execute(
            "SELECT p.url, p.outcome, p.status, p.language, p.bytes, l.urls "
            "FROM pages AS p LEFT JOIN links AS l ON l.page = p.id ORDER BY p.id"
        ):
            try:
                targets = None if links is None else outlinks.read(links)
            except ValueError as error:
                raise GraphError(f"{folder}: damaged links of {url} ({error})") from error
            if outcome == PAGE_OUTCOME and code is not None and 200 <= code < 300:
                yield GraphRow(url, PAGE, language, size, targets)
            elif outcome == REDIRECT_OUTCOME:
                yield GraphRow(url, REDIRECT, links=targets)
            else:
                yield GraphRow(url, FAILED)
        for (url,) in cursor.execute("SELECT url FROM urls WHERE queued = 1 ORDER BY id"):
            yield GraphRow(url)


# --- Archives


def _archive(path: Path) -> GraphSource:
    """The answers in a WARC file; a page's language is told as a crawl tells it.

    Unlike in a crawl no languages of linking pages are among the evidence. Raises `ArchiveError`
    for a file that is missing or without answers.
    """
    from classifiers.pages.methods import DEFAULT_METHOD
    from classifiers.pages.text.fasttextengine import named_file
    from crawler.sources.archive import ArchiveWeb

    web, by = ArchiveWeb(path), page_method(DEFAULT_METHOD, named_file())
    read = page_reader(by, BreadthFirst(), "")
    return GraphSource(f"WARC {path}", lambda left_out: _archive_rows(web, read, left_out))


def _archive_rows(web: "ArchiveWeb", read: ReadPage, left_out: Counter[str]) -> Iterator[GraphRow]:
    """The answers in their order; of several to one URL the first counts."""
    left_out["damaged records"] += web.skipped.number
    for written in web.urls():
        url = normalise(written)
        if url is None:
            left_out["answers to invalid URLs"] += 1
        elif url.endswith("/robots.txt") and url.count("/") == 3:
            left_out["answers that are a robots.txt"] += 1
        else:
            try:
                row = _answer_row(url, web.respond(written), read, left_out)
            except NotArchived:  # a revisit of a page that is not in the archive
                left_out["answers whose body is not in the archive"] += 1
                continue
            targets = map(fingerprint, row.links or ())
            if row.status == REDIRECT and fingerprint(url) in targets:
                left_out["redirects to another spelling of the same page"] += 1
            else:
                yield row


def _answer_row(url: str, answer: Answer, read: ReadPage, left_out: Counter[str]) -> GraphRow:
    """The row of an answer, which is read as a crawl reads it."""
    kind, location = answer.header("Content-Type"), answer.header("Location")
    if answer.status in _REDIRECTS and location:
        sifted = sift([absolute(location, url) or ""])
        count_ignored(left_out, sifted.left_out)
        return GraphRow(url, REDIRECT, links=sifted.wanted)
    if not (200 <= answer.status < 300 and is_text(kind)):
        return GraphRow(url, FAILED)
    language = answer.header("Content-Language")
    try:
        found = read(Download(url, answer.status, answer.body, kind, language), (), 0)
    except Exception:
        # As in a crawl: whatever is wrong with a page, the others are read.
        left_out["pages that could not be read"] += 1
        return GraphRow(url, FAILED)
    count_ignored(left_out, found.left_out)
    links = [link.url for link in found.links]
    return GraphRow(url, PAGE, found.language, len(answer.body), links)
