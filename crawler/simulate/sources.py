"""The sources of graphs: run folders, WARC files, plain tables, lists of seeds.

A table (TSV, packed or not) begins with the names of its columns. One of pages has `url` and
`language`, and may have `status` (of HTTP; empty is 200, 0 is a URL that was never fetched); one of
links has `source` and `target`, in the order of the page. Rows that say nothing are left out and
counted.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from classifiers.datasets.rows import cells_of, opened
from classifiers.errors import DatasetError
from classifiers.pages.methods import DEFAULT_METHOD, fasttext_file
from classifiers.urls.standard import absolute
from crawler.errors import ArchiveError, GraphError
from crawler.frontier import outlinks
from crawler.frontier.base import PAGE as PAGE_OUTCOME
from crawler.frontier.base import REDIRECT as REDIRECT_OUTCOME
from crawler.reading import Download, ReadPage, is_text, page_method, page_reader, sift
from crawler.run import reading
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.sources.archive import ArchivedAnswer, answers
from crawler.strategies.orderings import BREADTH_FIRST
from crawler.url import is_robots_txt, normalise

_KINDS: Final = (
    "the folder of a run, a folder with tables called pages and links, a WARC file, "
    "a table (.tsv, .tsv.gz) or a list of seeds (.txt)"
)
_TABLES: Final = (".tsv", ".tsv.gz")
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_LONGEST_LINE: Final = 1 << 16
_LEFT_OUT: Final = {
    "ignored_file": "links to files that are no pages",
    "ignored_url": "links that are no URLs",
    "ignored_trap": "links that look endless",
}


class GraphRow(NamedTuple):
    """A URL, normalised, and the facts that a source knows of it."""

    url: str
    status: int = UNKNOWN
    """One of `crawler.simulate.webgraph`; UNKNOWN: the source does not say."""
    language: str | None = None
    links: Sequence[str] | None = None
    """Normalised and as a crawl would queue them, in the order of the page; None: not known."""
    is_seed: bool = False


def rows_of(path: Path, left_out: Counter[str]) -> Iterator[GraphRow]:
    """Yield all that a source knows, one row or more for each URL.

    What is not among the rows is counted by its kind. Raises `CrawlError` for a source that cannot
    be read.
    """
    if not path.exists():
        raise GraphError(f"{path}: there is nothing; give {_KINDS}")
    if path.name == "run.db" or (path / "run.db").exists():
        yield from _of_run(path)
    elif path.is_dir():
        names = [f"{name}{ending}" for name in ("pages", "links") for ending in _TABLES]
        found = [path / name for name in (*names, "seeds.txt") if (path / name).is_file()]
        if not any(file.name.startswith("pages") for file in found):
            raise GraphError(f"{path}: neither a run nor a table called pages; give {_KINDS}")
        for file in found:
            yield from rows_of(file, left_out)
    elif path.name.endswith((".warc", ".warc.gz")):
        yield from _of_archive(path, left_out)
    elif path.name.endswith(_TABLES):
        yield from _of_table(path, left_out)
    elif path.suffix == ".txt":
        yield from _of_seed_list(path)
    else:
        raise GraphError(f"{path}: not a source of a graph; give {_KINDS}")


def _of_seed_list(path: Path) -> Iterator[GraphRow]:
    """The URLs of a file, one a line; empty lines and those after `#` say nothing."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GraphError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            url = normalise(text)
            if url is None:
                raise GraphError(f"{path}:{number}: {text[:80]!r} is no URL")
            yield GraphRow(url, is_seed=True)


def _sifted(targets: Sequence[str], left_out: Counter[str]) -> list[str]:
    """The links that a crawl would queue."""
    sifted = sift(targets)
    _count(sifted.left_out, left_out)
    return sifted.wanted


def _count(ignored: Mapping[str, int], left_out: Counter[str]) -> None:
    for name, kind in _LEFT_OUT.items():
        left_out[kind] += ignored[name]


# --- Runs


def _of_run(folder: Path) -> Iterator[GraphRow]:
    """The pages that a crawl fetched in their order, then the URLs left in its queue."""
    with reading(folder) as connection, closing(connection.cursor()) as cursor:
        tables = cursor.execute("SELECT name FROM sqlite_master WHERE name = 'links'").fetchall()
        if not tables or not cursor.execute("SELECT EXISTS(SELECT 1 FROM links)").fetchone()[0]:
            recorded = "links of its pages are not recorded: crawl with -s LANGFOCUS_LINKS=True"
            raise GraphError(f"{folder}: {recorded}")
        for url, outcome, code, language, links in cursor.execute(
            "SELECT p.url, p.outcome, p.status, p.language, l.urls "
            "FROM pages AS p LEFT JOIN links AS l ON l.page = p.id ORDER BY p.id"
        ):
            try:
                targets = None if links is None else outlinks.read(links)
            except ValueError as error:
                raise GraphError(f"{folder}: damaged links of {url} ({error})") from error
            if outcome == PAGE_OUTCOME and code is not None and 200 <= code < 300:
                yield GraphRow(url, PAGE, language, targets)
            elif outcome == REDIRECT_OUTCOME:
                yield GraphRow(url, REDIRECT, links=targets)
            else:
                yield GraphRow(url, FAILED)
        for (url,) in cursor.execute("SELECT url FROM urls WHERE queued = 1 ORDER BY id"):
            yield GraphRow(url)
        told = cursor.execute("SELECT value FROM meta WHERE key = 'seeds'").fetchone()
        for seed in map(normalise, json.loads(told[0]) if told else ()):
            if seed is not None:
                yield GraphRow(seed, is_seed=True)


# --- Archives


def _of_archive(path: Path, left_out: Counter[str]) -> Iterator[GraphRow]:
    """The answers in a WARC file; a page's language is told as a crawl tells it."""
    read = page_reader(page_method(DEFAULT_METHOD, fasttext_file()), BREADTH_FIRST, "")
    is_empty = True
    for found in answers(path):
        if not isinstance(found, ArchivedAnswer):
            left_out["damaged records"] += 1
            continue
        is_empty, url = False, normalise(found.url)
        if url is None:
            left_out["answers to invalid URLs"] += 1
        elif not is_robots_txt(url):
            yield _of_answer(url, found, read, left_out)
    if is_empty:
        raise ArchiveError(f"{path}: no answer of a server can be read in it")


def _of_answer(url: str, found: ArchivedAnswer, read: ReadPage, left_out: Counter[str]) -> GraphRow:
    """The row of an answer, which is read as a crawl reads it."""
    answer = found.answer
    kind, location = answer.header("Content-Type"), answer.header("Location")
    if answer.status in _REDIRECTS and location:
        return GraphRow(url, REDIRECT, links=_sifted([absolute(location, url) or ""], left_out))
    if not (200 <= answer.status < 300 and is_text(kind)):
        return GraphRow(url, FAILED)
    language = answer.header("Content-Language")
    try:
        page = read(Download(url, answer.status, answer.body, kind, language), 0)
    except Exception:
        # As in a crawl: whatever is wrong with a page, the others are read.
        left_out["pages that could not be read"] += 1
        return GraphRow(url, FAILED)
    _count(page.left_out, left_out)
    return GraphRow(url, PAGE, page.language, [link.url for link in page.links])


# --- Tables


def _of_table(path: Path, left_out: Counter[str]) -> Iterator[GraphRow]:
    """The rows of a table of pages or of links, as its header says."""
    try:
        with opened(path) as file:
            header = file.readline(_LONGEST_LINE).decode("utf-8-sig").rstrip("\r\n").split("\t")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise GraphError(f"{path}:1: cannot be read ({error})") from error
    language = "lang" if "lang" in header else "language"
    status = ["status"] * ("status" in header)
    try:
        if {"source", "target"} <= set(header):
            yield from _of_links(cells_of(path, ("source", "target"), left_out), left_out)
        elif {"url", language} <= set(header):
            yield from _of_pages(cells_of(path, ("url", language, *status), left_out), left_out)
        else:
            raise GraphError(
                f"{path}: has the columns {', '.join(header)[:200]}; a table of pages has url and "
                "language, one of links source and target"
            )
    except DatasetError as error:
        raise GraphError(str(error)) from error


def _of_pages(rows: Iterator[list[str]], left_out: Counter[str]) -> Iterator[GraphRow]:
    for written, language, *more in rows:
        url, code = normalise(written), "".join(more) or "200"
        if url is None:
            left_out["rows with an invalid URL"] += 1
        elif not (code.isascii() and code.isdigit() and len(code) <= 3):
            left_out["rows with an invalid status"] += 1
        elif int(code) == 0:
            yield GraphRow(url)
        elif 200 <= int(code) < 300:
            yield GraphRow(url, PAGE, language or None)
        else:
            yield GraphRow(url, REDIRECT if 300 <= int(code) < 400 else FAILED)


def _of_links(rows: Iterator[list[str]], left_out: Counter[str]) -> Iterator[GraphRow]:
    for written, of_page in groupby(rows, key=lambda cells: cells[0]):
        url, targets = normalise(written), [target for _, target in of_page]
        if url is None:
            left_out["rows with an invalid URL"] += len(targets)
        else:
            yield GraphRow(url, links=_sifted(targets, left_out))
