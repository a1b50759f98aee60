"""Link graph from crawls, archives and tables; some 600 bytes of memory per URL and 10 per link.

A table (TSV, packed or not) has a header row. A page table has `url` and `language`, a link table
has `source` and `target`, in page order. Rows without information are skipped and counted.
"""

import json
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from langfocus.classifiers.datasets.rows import cells_of, opened
from langfocus.classifiers.errors import ClassifierError, DatasetError
from langfocus.classifiers.pages.methods import DEFAULT_METHOD, fasttext_file
from langfocus.classifiers.urls.cctld import top_level_domain
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.corpus.sources import page_in
from langfocus.crawler.errors import ArchiveError, CrawlError, GraphError, SettingError
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import PAGE as PAGE_OUTCOME
from langfocus.crawler.frontier.base import REDIRECT as REDIRECT_OUTCOME
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.reading.configured import page_method
from langfocus.crawler.reading.page import TRIAL, ReadPage, page_reader
from langfocus.crawler.reading.time_limit import TooSlow, limited
from langfocus.crawler.run.folder import reading
from langfocus.crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from langfocus.crawler.sources.archive import ArchivedAnswer, answers
from langfocus.crawler.strategies.orderings import BREADTH_FIRST
from langfocus.crawler.url import directory_of, fingerprint, host_of, is_site_file, normalise

_MOST_DOMAINS: Final = np.iinfo(np.int16).max
_SOURCES: Final = "the folder of a run, a WARC file or a table (.tsv, .tsv.gz)"
_TABLES: Final = "a table of pages has url and language, one of links source and target"
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_LONGEST_LINE: Final = 1 << 16


class _Row(NamedTuple):
    """A normalised URL, and its facts from a source."""

    url: str
    status: int = UNKNOWN
    """As in a `WebGraph`; UNKNOWN: not in the source."""
    language: str | None = None
    links: Sequence[str] | None = None
    """Normalised links that a crawl would queue, in page order; None: unknown."""
    is_seed: bool = False


def build(sources: Sequence[Path], folder: Path, target: str) -> WebGraph:
    """Write the graph of all sources into `folder` and return it, opened.

    `sources` are run folders, WARC files and tables. The first source that fetched a URL counts.
    Seeds are the sources' seeds, else the first page.

    `provenance` of the graph counts skipped rows and links by reason, under `left_out`. Raises
    `CrawlError` for an unreadable source, without a page in the `target` language, or if `folder`
    has a graph already.
    """
    folder = Path(folder)
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        assembly = _Assembly()
        for source in sources:
            for row in _rows_of(Path(source), assembly.left_out):
                assembly.add(row)
        assembly.graph(target, sources).write(folder)
    except CrawlError:
        raise
    except ClassifierError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # empty after a failed write
    return WebGraph.open(folder)


class _Assembly:
    """A graph under construction: facts per URL number."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._numbers: dict[int, int] = {}
        self._urls: list[str] = []
        self._status, self._language = array("b"), array("h")
        self._links: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        self._languages: dict[str, int] = {}
        self._seeds: dict[int, None] = {}
        self._first_page: int | None = None

    def add(self, row: _Row) -> None:
        """Add a source's row."""
        vertex = self._vertex(row.url)
        if row.is_seed:
            self._seeds[vertex] = None
        # In row order.
        targets = [self._vertex(url) for url in row.links or ()]
        # A link table lists a page's links in any number of rows.
        if row.status != UNKNOWN and self._status[vertex] != UNKNOWN:
            return
        self._status[vertex] = row.status or self._status[vertex]
        if row.status == PAGE and self._first_page is None:
            self._first_page = vertex
        if row.language:
            number = self._languages.setdefault(row.language, len(self._languages))
            self._language[vertex] = number
        if row.links is not None:
            self._links[vertex].extend(targets)

    def _vertex(self, url: str) -> int:
        """Return the number of a URL; a new URL is added."""
        vertex = self._numbers.setdefault(fingerprint(url), len(self._urls))
        if vertex == len(self._urls):
            self._urls.append(url)
            self._status.append(UNKNOWN)
            self._language.append(-1)
        return vertex

    def graph(self, target: str, sources: Sequence[Path]) -> WebGraph:
        """Return the graph; raises `GraphError` where no page is in the `target` language."""
        if self._first_page is None:
            raise GraphError("there is no page in the sources, so there is no graph")
        if target not in self._languages:
            known = ", ".join(list(self._languages)[:12]) or "none"
            raise GraphError(f"the sources have no page in {target!r}; languages: {known}")
        n_links = np.zeros(len(self._urls), np.int64)
        link_target = array("i")
        for vertex, status in enumerate(self._status):
            targets = dict.fromkeys(self._links.get(vertex, ()))
            # A URL without a page has no links, even if a link table lists some.
            if status == UNKNOWN:
                self.left_out["links of URLs that are not among the pages"] += len(targets)
            else:
                n_links[vertex] = len(targets)
                link_target.extend(targets)
                is_known = status != PAGE or vertex in self._links
                self.left_out["pages whose links are not known"] += not is_known
        url_start, url_bytes = packed(self._urls)
        return WebGraph(
            languages=tuple(self._languages),
            target=target,
            page_language=np.array(self._language, np.int16),
            page_status=np.array(self._status, np.int8),
            link_start=np.concatenate(([0], np.cumsum(n_links))),
            link_target=np.array(link_target, np.int32),
            seeds=np.array(list(self._seeds) or [self._first_page], np.int32),
            url_start=url_start,
            url_bytes=url_bytes,
            provenance={
                "source": ", ".join(map(str, sources)),
                "left_out": dict(+self.left_out),
            },
            **_server_columns(self._urls),
        )


def _server_columns(urls: Sequence[str]) -> dict[str, Any]:
    """Return the graph's server columns: servers, domains and directories."""
    servers: dict[str, int] = {}
    directories: dict[str, int] = {}
    domains: dict[str, int] = {}
    server, directory, server_domain = array("i"), array("i"), array("h")
    for url in urls:
        host, name = host_of(url), directory_of(url, 1)
        if host not in servers:
            domain = top_level_domain(host)
            is_name = bool(domain) and not domain.isdigit()
            is_kept = is_name and (domain in domains or len(domains) < _MOST_DOMAINS)
            server_domain.append(domains.setdefault(domain, len(domains)) if is_kept else -1)
        server.append(servers.setdefault(host, len(servers)))
        is_root = name.count("/") == 1
        directory.append(-1 if is_root else directories.setdefault(name, len(directories)))
    return {
        "n_servers": len(servers),
        "n_directories": len(directories),
        "page_server": np.array(server, np.int32),
        "page_directory": np.array(directory, np.int32),
        "domains": tuple(domains),
        "server_domain": np.array(server_domain, np.int16),
    }


# --- Sources


def _rows_of(path: Path, left_out: Counter[str]) -> Iterator[_Row]:
    """Yield the rows of a source, at least one per URL.

    Skipped data are counted by kind. Raises `CrawlError` for an unreadable source.
    """
    if not path.exists():
        raise GraphError(f"{path}: there is nothing; give {_SOURCES}")
    if path.name == "run.db" or (path / "run.db").exists():
        yield from _of_run(path)
    elif path.name.endswith((".warc", ".warc.gz")):
        yield from _of_archive(path, left_out)
    elif path.name.endswith((".tsv", ".tsv.gz")):
        yield from _of_table(path, left_out)
    else:
        raise GraphError(f"{path}: not a source of a graph; give {_SOURCES}")


def _of_run(folder: Path) -> Iterator[_Row]:
    """Yield a crawl's fetched pages in fetch order, then the URLs left in its queue."""
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
                yield _Row(url, PAGE, language, targets)
            elif outcome == REDIRECT_OUTCOME:
                yield _Row(url, REDIRECT, links=targets)
            else:
                yield _Row(url, FAILED)
        for (url,) in cursor.execute("SELECT url FROM urls WHERE queued = 1 ORDER BY id"):
            yield _Row(url)
        seeds = cursor.execute("SELECT value FROM meta WHERE key = 'seeds'").fetchone()
        for seed in map(normalise, json.loads(seeds[0]) if seeds else ()):
            if seed is not None:
                yield _Row(seed, is_seed=True)


def _of_archive(path: Path, left_out: Counter[str]) -> Iterator[_Row]:
    """Yield the answers in a WARC file; pages are identified as in a crawl."""
    read = page_reader(page_method(DEFAULT_METHOD, fasttext_file()), BREADTH_FIRST, "")
    read(TRIAL, 0)
    is_empty = True
    for found in answers(path):
        if not isinstance(found, ArchivedAnswer):
            left_out["damaged records"] += 1
            continue
        is_empty, url = False, normalise(found.url)
        if url is None:
            left_out["answers to invalid URLs"] += 1
        elif not is_site_file(url):
            yield _of_answer(url, found, read, left_out)
    if is_empty:
        raise ArchiveError(f"{path}: no answer of a server can be read in it")


def _of_answer(url: str, found: ArchivedAnswer, read: ReadPage, left_out: Counter[str]) -> _Row:
    """Return the row of an answer, parsed as in a crawl."""
    location, download = found.answer.header("Location"), page_in(found)
    if found.answer.status in _REDIRECTS and location:
        return _Row(url, REDIRECT, links=sift([absolute(location, url) or ""])[0])
    if isinstance(download, str):
        return _Row(url, FAILED)
    try:
        with limited():
            page = read(download, 0)
    except (Exception, TooSlow):
        # As in a crawl, a bad page does not stop the build.
        left_out["pages that could not be read"] += 1
        return _Row(url, FAILED)
    if page.leads_to:
        return _Row(url, REDIRECT, links=sift([page.leads_to])[0])
    return _Row(url, PAGE, page.language, [link.url for link in page.links])


def _of_table(path: Path, left_out: Counter[str]) -> Iterator[_Row]:
    """Yield the rows of a page table or link table, according to its header."""
    try:
        with opened(path) as file:
            header = file.readline(_LONGEST_LINE).decode("utf-8-sig").rstrip("\r\n").split("\t")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise GraphError(f"{path}:1: cannot be read ({error})") from error
    try:
        if {"source", "target"} <= set(header):
            yield from _of_links(cells_of(path, ("source", "target"), left_out), left_out)
        elif {"url", "language"} <= set(header):
            yield from _of_pages(cells_of(path, ("url", "language"), left_out), left_out)
        else:
            raise GraphError(f"{path}: has the columns {', '.join(header)[:200]}; {_TABLES}")
    except DatasetError as error:
        raise GraphError(str(error)) from error


def _of_pages(rows: Iterator[list[str]], left_out: Counter[str]) -> Iterator[_Row]:
    for written, language in rows:
        url = normalise(written)
        if url is None:
            left_out["rows with an invalid URL"] += 1
        else:
            yield _Row(url, PAGE, language or None)


def _of_links(rows: Iterator[list[str]], left_out: Counter[str]) -> Iterator[_Row]:
    for written, of_page in groupby(rows, key=lambda cells: cells[0]):
        url, targets = normalise(written), [target for _, target in of_page]
        if url is None:
            left_out["rows with an invalid URL"] += len(targets)
        else:
            yield _Row(url, links=sift(targets)[0])
