"""A graph of crawls, archives and tables; some 600 bytes of memory for a URL and 10 for a link."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import ClassifierError
from crawler.errors import CrawlError, GraphError, SettingError
from crawler.simulate.sources import sources_of
from crawler.simulate.table_files import GraphRow, GraphSource
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from crawler.url import directory_of, fingerprint, host_of

_MOST_BYTES = np.iinfo(np.int32).max
_MOST_DOMAINS = np.iinfo(np.int16).max
_RANKS: Final[Mapping[int, int]] = {UNKNOWN: 0, FAILED: 1, REDIRECT: 2, PAGE: 3}
"""Where several sources give a status for a URL, the highest counts."""

_REPEATED = "URLs that were known before"
_LINKS_AGAIN = "links of pages whose links were known"
_ORPHANS = "links of URLs that are not among the pages"
_WITHOUT_LINKS = "pages whose links are not known"


def build(sources: Sequence[Path], folder: Path, target: str) -> WebGraph:
    """Write the graph of all sources into `folder` and return it, opened.

    `sources` are folders of runs, WARC files, tables and lists of seeds (see
    `crawler.simulate.sources`). For one URL a page counts more than a redirect, a
    redirect more than a failure, and of two pages the first counts. The next page fills in facts
    that the first one lacks. Crawls begin at the seeds of the sources, else at the first page.

    `provenance` of the graph counts under `left_out` the rows and links that are not in it, by
    reason. Raises `CrawlError` where a source cannot be read, no page is in the `target` language,
    or `folder` has a graph already.
    """
    folder = Path(folder)
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    try:
        opened = sources_of(sources)
        folder.mkdir(parents=True, exist_ok=True)
        assembly = _Assembly(target)
        for number, source in enumerate(opened, 1):
            assembly.read(source, number)
        assembly.graph(opened).write(folder)
    except CrawlError:
        raise
    except ClassifierError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # nothing is in it where it failed
    return WebGraph.open(folder)


class _Known:
    """The facts about a URL that a source gave a row of."""

    __slots__ = ("language", "links", "size", "source", "status")

    def __init__(self) -> None:
        self.status, self.language, self.size = UNKNOWN, -1, 0
        self.links, self.source = array("i"), 0
        """The vertices that it links to, and the number of the source that gave them; 0: none."""


class _Assembly:
    """A graph while its sources are read."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._numbers: dict[int, int] = {}
        self._urls: list[str] = []
        self._known: defaultdict[int, _Known] = defaultdict(_Known)
        self._languages: dict[str, int] = {}
        self._left_out: Counter[str] = Counter()
        self._first_page = -1

    # Reading.

    def read(self, source: GraphSource, number: int) -> None:
        """Take in all that a source knows; `number` is above 0."""
        for row in source.rows(self._left_out):
            vertex = self._vertex(row.url)
            # In the order in which a row names them.
            targets = [self._vertex(url) for url in row.links or ()]
            known = self._known[vertex]
            if self._is_new(known, row):
                self._settle(vertex, known, row)
                if row.links is not None:
                    self._add_links(known, targets, number)
            else:
                self._left_out[_REPEATED] += 1

    def _vertex(self, url: str) -> int:
        """The number of a URL, which is added if it is new."""
        vertex = self._numbers.setdefault(fingerprint(url), len(self._urls))
        if vertex == len(self._urls):
            self._urls.append(url)
        return vertex

    @staticmethod
    def _is_new(known: _Known, row: GraphRow) -> bool:
        """True if a row says nothing of the status, or more than is known."""
        rank, before = _RANKS[row.status], _RANKS[known.status]
        return (
            rank == 0
            or rank > before
            or (
                rank == before
                and (
                    (row.language is not None and known.language < 0)
                    or (row.links is not None and not known.source)
                    or (row.bytes > 0 and not known.size)
                )
            )
        )

    def _settle(self, vertex: int, known: _Known, row: GraphRow) -> None:
        """Note the facts of a row about its URL."""
        if known.status == REDIRECT and row.status == PAGE:
            self._left_out[_ORPHANS] += len(known.links)
            known.links, known.source = array("i"), 0
        known.status = row.status or known.status
        if row.status == PAGE:
            if self._first_page < 0:
                self._first_page = vertex
            if row.language and known.language < 0:
                known.language = self._languages.setdefault(row.language, len(self._languages))
            known.size = known.size or min(row.bytes, _MOST_BYTES)

    def _add_links(self, known: _Known, targets: Sequence[int], number: int) -> None:
        # The links of one page may come in several rows of a table.
        if known.source in (0, number):
            known.source = number
            known.links.extend(targets)
        else:
            self._left_out[_LINKS_AGAIN] += len(targets)

    # The graph.

    def graph(self, sources: Sequence[GraphSource]) -> WebGraph:
        """Return the graph."""
        self._check_language()
        told = [url for source in sources for url in source.seeds]
        seeds = list(dict.fromkeys(map(self._vertex, told))) or [self._first_page]
        n = len(self._urls)
        status, language = np.zeros(n, np.int8), np.full(n, -1, np.int16)
        size, n_links = np.zeros(n, np.int32), np.zeros(n, np.int64)
        link_target = array("i")
        for vertex, known in sorted(self._known.items()):
            status[vertex], language[vertex] = known.status, known.language
            size[vertex] = known.size
            # A URL that gave no page has no links, whatever a table of links says.
            if known.status == UNKNOWN:
                self._left_out[_ORPHANS] += len(known.links)
                continue
            self._left_out[_WITHOUT_LINKS] += known.status == PAGE and known.source == 0
            targets = dict.fromkeys(known.links)
            n_links[vertex] = len(targets)
            link_target.extend(targets)
        url_start, url_bytes = packed(self._urls)
        return WebGraph(
            languages=tuple(self._languages),
            target=self._target,
            page_language=language,
            page_status=status,
            link_start=np.concatenate(([0], np.cumsum(n_links))),
            link_target=np.array(link_target, np.int32),
            seeds=np.array(seeds, np.int32),
            page_bytes=size,
            url_start=url_start,
            url_bytes=url_bytes,
            provenance={
                "made_by": "build",
                "sources": [source.name for source in sources],
                "left_out": dict(+self._left_out),
            },
            **self._server_columns(),
        )

    def _check_language(self) -> None:
        target = self._target
        if self._first_page < 0:
            raise GraphError("there is no page in the sources, so there is no graph")
        if target not in self._languages:
            known = ", ".join(list(self._languages)[:12]) or "none"
            raise GraphError(f"the sources have no page in {target!r}; languages: {known}")

    def _server_columns(self) -> dict[str, Any]:
        """The columns of a graph about servers and directories."""
        servers: dict[str, int] = {}
        directories: dict[str, int] = {}
        server, directory = array("i"), array("i")
        for url in self._urls:
            server.append(servers.setdefault(host_of(url), len(servers)))
            name = directory_of(url, 1)
            is_root = name.count("/") == 1
            directory.append(-1 if is_root else directories.setdefault(name, len(directories)))
        domains, server_domain = _domains(list(servers))
        return {
            "n_servers": len(servers),
            "n_directories": len(directories),
            "page_server": np.array(server, np.int32),
            "page_directory": np.array(directory, np.int32),
            "domains": domains,
            "server_domain": server_domain,
        }


def _domains(names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.int16]]:
    """Return the top-level domains of servers and the index of each server's, -1: none."""
    from classifiers.urls.cctld import top_level_domain

    domains: dict[str, int] = {}
    indexes = np.full(len(names), -1, np.int16)
    for at, name in enumerate(names):
        domain = top_level_domain(name)
        is_name = bool(domain) and not domain.isdigit()
        if is_name and (domain in domains or len(domains) < _MOST_DOMAINS):
            indexes[at] = domains.setdefault(domain, len(domains))
    return tuple(domains), indexes
