"""A graph made from crawls, archives and tables; some 300 bytes of memory for each URL.

URLs are known by their fingerprints. A link takes 30 bytes while the links are sorted.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import ClassifierError
from crawler.errors import CrawlError, GraphError, SettingError
from crawler.simulate.sources import GraphRow, GraphSource, sources_of
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph, packed
from crawler.url import directory_of, fingerprint, host_of, normalise

_URLS_AT_A_TIME = 100_000
_MOST_BYTES = np.iinfo(np.int32).max
_MOST_DOMAINS = np.iinfo(np.int16).max
_RANKS: Final[Mapping[int, int]] = {UNKNOWN: 0, FAILED: 1, REDIRECT: 2, PAGE: 3}
"""Where several sources give a status for a URL, the highest counts."""
_SCORED: Final = ("svm", "cctld")
"""Orderings whose scores depend on nothing but the URL."""

_REPEATED = "URLs that were known before"
_LINKS_AGAIN = "links of pages whose links were known"
_ORPHANS = "links of URLs that are not among the pages"
_WITHOUT_LINKS = "pages whose links are not known"


@dataclass(frozen=True)
class GraphOptions:
    """How a graph is made of its sources.

    Crawls look for pages in `target`. `directory_depth` directories of a path make a unit.
    `orderings` are scored for every URL; the scores that a run recorded are taken as they are.
    `identify` names the method that tells the languages of pages in WARC files. Crawls begin at
    `seeds`, else at the seeds of the sources, else at the first page.
    """

    target: str
    directory_depth: int = 1
    orderings: Sequence[str] = ()
    identify: str = "composite"
    seeds: Sequence[str] = ()

    def check(self) -> None:
        """Raise `SettingError` for an ordering without scores and for a depth below 1."""
        for name in self.orderings:
            if name not in _SCORED:
                raise SettingError(
                    f"{name} does not score URLs; those that do are {', '.join(_SCORED)}"
                )
        if self.directory_depth < 1:
            raise SettingError(f"directory_depth={self.directory_depth}: 1 or more is needed")


def build(sources: Sequence[Path], folder: Path, options: GraphOptions) -> WebGraph:
    """Write the graph of all sources into `folder` and return it, opened.

    `sources` are folders of runs, WARC files, tables and lists of seeds (see
    `crawler.simulate.sources`). For one URL a page counts more than a redirect, a
    redirect more than a failure, and of two pages the first counts. The next page fills in facts
    that the first one lacks.

    `provenance` of the graph counts under `left_out` the rows and links that are not in it, by
    reason. Raises `CrawlError` where a source cannot be read, no page is in `options.target`, or
    `folder` has a graph already.
    """
    options.check()
    given = _normal_seeds(options.seeds)
    folder = Path(folder)
    if (folder / "graph.json").exists():
        raise GraphError(f"{folder}: there is a graph already")
    try:
        opened = sources_of(sources, identify=options.identify)
        provenance = _provenance(opened, options)
        folder.mkdir(parents=True, exist_ok=True)
        assembly = _Assembly(options)
        for number, source in enumerate(opened, 1):
            assembly.read(source, number)
        told = [url for source in opened for url in source.seeds()]
        assembly.graph(given or told, provenance).write(folder)
    except CrawlError:
        raise
    except ClassifierError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error}") from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # nothing is in it where it failed
    return WebGraph.open(folder, check=False)


def _normal_seeds(seeds: Sequence[str]) -> list[str]:
    urls = []
    for text in seeds:
        url = normalise(text)
        if url is None:
            raise SettingError(f"seed {text!r} is no URL")
        urls.append(url)
    return urls


def _provenance(sources: Sequence[GraphSource], options: GraphOptions) -> Mapping[str, object]:
    return {
        "made_by": "build",
        "sources": [source.name for source in sources],
        "directory_depth": options.directory_depth,
        "identify": options.identify,
    }


class _Numbers(dict[int, int]):
    """Numbers for keys, from 0 on in the order in which they come."""

    def __missing__(self, key: int) -> int:
        self[key] = number = len(self)
        return number


class _Vertices:
    """The facts about each URL, by its number.

    `source` is the number of the source that gave the links, 0: none. Links before `links_from`, as
    a number of links, do not count any more. A `score` is NaN where no run has one.
    """

    def __init__(self) -> None:
        self.server, self.directory = array("i"), array("i")
        self.language, self.status, self.size = array("h"), array("b"), array("i")
        self.url_length = array("i")
        self.source, self.links_from = array("i"), array("q")
        self.score = array("f")

    def add(self, server: int, directory: int, url_length: int) -> None:
        """Add a URL of which nothing else is known."""
        self.server.append(server)
        self.directory.append(directory)
        self.url_length.append(url_length)
        self.language.append(-1)
        self.score.append(float("nan"))
        for column in (self.status, self.size, self.source, self.links_from):
            column.append(0)


class _Assembly:
    """A graph while its sources are read."""

    def __init__(self, options: GraphOptions) -> None:
        self._options = options
        self._numbers, self._directories = _Numbers(), _Numbers()
        self._vertices = _Vertices()
        self._servers: dict[str, int] = {}
        self._languages: dict[str, int] = {}
        self._left_out: Counter[str] = Counter()
        self._first_page = -1
        self._texts = bytearray()
        self._links = array("i")
        """Source and target of each link."""

    # Reading.

    def read(self, source: GraphSource, number: int) -> None:
        """Take in all that a source knows; `number` is above 0."""
        takes_scores = source.ordering in self._options.orderings
        for row in source.rows():
            vertex = self._vertex(row.url)
            # In the order in which a row names them.
            targets = [self._vertex(url) for url in row.links or ()]
            is_told = self._settle(vertex, row)
            if takes_scores and row.score is not None:
                self._vertices.score[vertex] = row.score
            if row.links is not None and is_told:
                self._add_links(vertex, targets, number)
        self._left_out.update(source.left_out)

    def _settle(self, vertex: int, row: GraphRow) -> bool:
        """Note the facts of a row about its URL; False if more is known already."""
        known = self._vertices
        rank, before = _RANKS[row.status], _RANKS[int(known.status[vertex])]
        if rank < before and rank:
            self._left_out[_REPEATED] += 1
            return False
        if rank > before:
            if int(known.status[vertex]) == REDIRECT:
                known.source[vertex], known.links_from[vertex] = 0, len(self._links) // 2
            known.status[vertex] = row.status
        elif rank and rank == before and not self._fills(vertex, row):
            self._left_out[_REPEATED] += 1
            return False
        if row.status == PAGE:
            if self._first_page < 0:
                self._first_page = vertex
            if row.language and known.language[vertex] < 0:
                known.language[vertex] = self._languages.setdefault(
                    row.language, len(self._languages)
                )
            if not known.size[vertex]:
                known.size[vertex] = min(row.bytes, _MOST_BYTES)
        return True

    def _fills(self, vertex: int, row: GraphRow) -> bool:
        """True if a row adds facts about a known page."""
        known = self._vertices
        return (
            (row.language is not None and known.language[vertex] < 0)
            or (row.links is not None and not known.source[vertex])
            or (row.bytes > 0 and not known.size[vertex])
        )

    def _add_links(self, vertex: int, targets: Sequence[int], number: int) -> None:
        # The links of one page may come in several rows of a table.
        if self._vertices.source[vertex] not in (0, number):
            self._left_out[_LINKS_AGAIN] += len(targets)
            return
        self._vertices.source[vertex] = number
        for target in targets:
            self._links.append(vertex)
            self._links.append(target)

    def _vertex(self, url: str) -> int:
        """The number of a URL, which is added if it is new."""
        known = len(self._numbers)
        vertex = self._numbers[fingerprint(url)]
        if vertex == known:
            text = url.encode("utf-8", "surrogatepass")
            self._texts += text
            server = self._servers.setdefault(host_of(url), len(self._servers))
            directory = directory_of(url, self._options.directory_depth)
            is_root = directory.count("/") == 1
            number = -1 if is_root else self._directories[fingerprint(directory)]
            self._vertices.add(server, number, len(text))
        return vertex

    # The graph.

    def graph(self, seeds: Sequence[str], provenance: Mapping[str, object]) -> WebGraph:
        """Return the graph."""
        seed_vertices = self._seeds(seeds)
        self._check_language()
        known, target = self._vertices, self._options.target
        status, source = np.array(known.status), np.array(known.source)
        link_start, link_target = self._sorted_links(status)
        url_start = _starts(np.array(known.url_length))
        url_bytes = np.frombuffer(self._texts, np.uint8)
        self._left_out[_WITHOUT_LINKS] += int(np.count_nonzero((status == PAGE) & (source == 0)))
        left_out = {reason: number for reason, number in self._left_out.items() if number}
        return WebGraph(
            languages=tuple(self._languages),
            target=target,
            n_directories=len(self._directories),
            page_server=np.array(known.server),
            page_directory=np.array(known.directory),
            page_language=np.array(known.language),
            page_status=status,
            link_start=link_start,
            link_target=link_target,
            seeds=seed_vertices,
            page_bytes=np.array(known.size),
            url_start=url_start,
            url_bytes=url_bytes,
            scores={
                name: self._scores(name, url_start, url_bytes) for name in self._options.orderings
            },
            provenance={**provenance, "left_out": left_out},
            **_server_columns(list(self._servers)),
        )

    def _check_language(self) -> None:
        target = self._options.target
        if self._first_page < 0:
            raise GraphError("there is no page in the sources, so there is no graph")
        if target not in self._languages:
            known = ", ".join(list(self._languages)[:12]) or "none"
            raise GraphError(f"the sources have no page in {target!r}; languages: {known}")

    def _seeds(self, urls: Sequence[str]) -> npt.NDArray[np.int32]:
        vertices = dict.fromkeys(map(self._vertex, urls)) or [self._first_page]
        return np.array(list(vertices), np.int32)

    def _sorted_links(
        self, status: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Where the links of each vertex begin, and their targets, each once a page."""
        links = np.frombuffer(self._links, np.int32).reshape(-1, 2)
        source = links[:, 0]
        # A URL that gave no page has no links, whatever a table of links says.
        is_valid = np.arange(len(links)) >= np.array(self._vertices.links_from)[source]
        is_valid &= status[source] > UNKNOWN
        self._left_out[_ORPHANS] += len(links) - int(np.count_nonzero(is_valid))
        links = links[is_valid]
        pairs = links[:, 0].astype(np.int64) << 32 | links[:, 1]
        _, first = np.unique(pairs, return_index=True)
        links = links[np.sort(first)]
        by_source = np.argsort(links[:, 0], kind="stable")
        return _starts(np.bincount(links[:, 0], minlength=len(status))), links[by_source, 1]

    def _scores(
        self, ordering: str, starts: npt.NDArray[np.int64], texts: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float32]:
        from crawler.strategies import SEED, make_ordering

        rule = make_ordering(ordering, self._options.target)
        n = len(starts) - 1
        scores = np.empty(n, np.float32)
        for first in range(0, n, _URLS_AT_A_TIME):
            end = min(n, first + _URLS_AT_A_TIME)
            scores[first:end] = rule.scores(list(_texts(starts[first : end + 1], texts)), SEED)
        if ordering == "svm":
            written = np.array(self._vertices.score)
            np.copyto(scores, written, where=~np.isnan(written))
        return scores


def _starts(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _texts(starts: npt.NDArray[np.int64], texts: npt.NDArray[np.uint8]) -> Iterator[str]:
    offset = int(starts[0])
    data = texts[offset : int(starts[-1])].tobytes()
    places = (starts - offset).tolist()
    for at in range(len(places) - 1):
        yield data[places[at] : places[at + 1]].decode("utf-8", "surrogatepass")


def _server_columns(names: Sequence[str]) -> dict[str, Any]:
    """The columns of a graph about its servers."""
    domains, server_domain = _domains(names)
    server_start, server_bytes = packed(names)
    return {
        "n_servers": len(names),
        "domains": domains,
        "server_domain": server_domain,
        "server_start": server_start,
        "server_bytes": server_bytes,
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
