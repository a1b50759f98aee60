"""Tables and figures of Tamura 2007 as plain numbers, for a graph and for crawls on the graph.

A graph has Tables 1, 4 and 5 and Figures 1 and 2, a course Figures 4 to 8. A curve has some hundred
points for any number of pages. The target language is always explicit; a relevant page is in the
target language, a relevant server has such a page. Distances are link counts from the nearest seed;
a redirect adds no distance, and a link to a redirect is a link to its target.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from time import perf_counter
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.crawler.report.effort import Effort, effort
from langfocus.crawler.simulate.engine import Course, simulate
from langfocus.crawler.simulate.plan import Simulation, prepared
from langfocus.crawler.simulate.webgraph import PAGE, REDIRECT, UNKNOWN, WebGraph

ROUND_NUMBERS: Final = tuple(factor * 10**power for power in range(1, 10) for factor in (1, 2, 5))
"""Page counts that are points in every long enough course."""

_LINEAR_POINTS = 160
_EARLY_POINTS = 80
_CHUNK = 1 << 17
_FARTHEST: Final = 999
"""Greatest counted distance; greater distances are counted here."""
_MOST_REDIRECTS: Final = 19
_NOT_RELEVANT, _HAS_RELEVANT = 1, 2
"""Facts about a server with pages; 0 is for a server without pages."""

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LinkCounts:
    """Links from a source kind to the two target kinds; `outside` counts links across servers."""

    source: str
    all: tuple[int, int]
    outside: tuple[int, int]


@dataclass(frozen=True)
class GraphFigures:
    """Data set figures of Tamura 2007, chapters 2 and 3.

    `pages_by` counts pages by language and top-level domain, "" for a page without a language or a
    server without a known domain. `by_page` is Table 4, `by_server` Table 5. Row d of `by_distance`
    is the number of pages, and of relevant pages, at d links from the seeds (Fig. 1 is cumulative);
    `nearest[d]` relevant pages are d links from the nearest other relevant page (Fig. 2), row 0 is
    for unreachable relevant pages. `unfetched_links` is the number of links to `unfetched_urls`
    URLs.
    """

    target: str
    vertices: int
    pages: int
    relevant_pages: int
    links: int
    servers: int
    relevant_servers: int
    pages_by: Mapping[str, Mapping[str, int]]
    by_page: Sequence[LinkCounts]
    by_server: Sequence[LinkCounts]
    by_distance: Sequence[tuple[int, int]]
    nearest: Sequence[int]
    unfetched_links: int
    unfetched_urls: int


def graph_figures(graph: WebGraph, target: str | None = None) -> GraphFigures:
    """Return Tables 1, 4, 5 and Figures 1, 2 of a graph.

    Needs some 30 bytes per vertex. Raises `GraphError` for a language without pages.
    """
    yardstick = Yardstick(graph, target)
    known = np.zeros(graph.n_servers, np.int8)
    known[graph.page_server[graph.page_status == PAGE]] = _NOT_RELEVANT
    known[graph.page_server[yardstick.relevant]] = _HAS_RELEVANT
    counts, unfetched = yardstick.count_links(known)
    by_page, by_server = counts.sum(axis=3)[:, :, :2], counts.sum(axis=2)[:, :, :0:-1]
    return GraphFigures(
        target=yardstick.target,
        vertices=graph.n_vertices,
        pages=graph.n_pages,
        relevant_pages=yardstick.n_relevant,
        links=graph.n_links,
        servers=int(np.count_nonzero(known)),
        relevant_servers=int(np.count_nonzero(known == _HAS_RELEVANT)),
        pages_by=_pages_by(graph),
        by_page=[
            _link_counts("relevant page", by_page[0]),
            _link_counts("other page, relevant server", by_page[1]),
            _link_counts("other page, other server", by_page[2]),
        ],
        by_server=[
            _link_counts("relevant server", by_server[0] + by_server[1]),
            _link_counts("other server", by_server[2]),
        ],
        by_distance=yardstick.by_distance,
        nearest=yardstick.nearest(),
        unfetched_links=int(counts[:, :, 2].sum()),
        unfetched_urls=unfetched,
    )


def _link_counts(source: str, counts: Longs) -> LinkCounts:
    """Return link counts from counts (2, 2): across servers or not, and target kind."""
    (to_first, to_second), outside = counts.sum(axis=0).tolist(), counts[1].tolist()
    return LinkCounts(source, (to_first, to_second), (outside[0], outside[1]))


class Yardstick:
    """Reference facts for courses on a graph: relevant pages and distances.

    Needs 3 bytes per vertex, 4 more with redirects. Distances are from the graph's seeds.
    """

    def __init__(self, graph: WebGraph, target: str | None = None) -> None:
        self.graph = graph
        self.target = graph.target if target is None else target
        self.relevant = graph.relevant(self.target)
        self.n_relevant = int(np.count_nonzero(self.relevant))
        self._is_page = graph.page_status == PAGE
        self._landing = _landings(graph) if (graph.page_status == REDIRECT).any() else None

    @cached_property
    def distance(self) -> npt.NDArray[np.int16]:
        """Distance of each page from the seeds, -1 if unreachable, (V,)."""
        distance = np.full(self.graph.n_vertices, -1, np.int16)
        pages = np.asarray(self.graph.seeds)
        if self._landing is not None:
            pages = self._landing[pages]
        pages = np.unique(pages[(pages >= 0) & self._is_page[pages]])
        distance[pages] = 0
        for steps in count(1):
            reached = [pages[:0]]
            for _, ends in self._links(pages):
                reached.append(np.unique(ends[self._is_page[ends] & (distance[ends] < 0)]))
                distance[reached[-1]] = min(steps, _FARTHEST)
            pages = np.concatenate(reached)
            if not len(pages):
                break
        return distance

    @cached_property
    def by_distance(self) -> list[tuple[int, int]]:
        """Pages and relevant pages at distance 0, 1, ... up to the farthest page."""
        is_reached = self.distance >= 0
        pages = _trimmed(np.bincount(self.distance[is_reached], minlength=1))
        relevant = np.bincount(self.distance[is_reached & self.relevant], minlength=len(pages))
        return list(zip(pages, relevant.tolist(), strict=True))

    def reachable(self, host_cap: int) -> int:
        """Return the number of relevant pages that seeds lead to, at most `host_cap` of a server.

        0 is no cap. With a cap, some may be out of reach: pages on the way to them count too.
        """
        places = self.graph.page_server[self.relevant & (self.distance >= 0)]
        of_server = np.bincount(places)
        return int(np.minimum(of_server, host_cap).sum() if host_cap else of_server.sum())

    def nearest(self) -> list[int]:
        """Return the number of relevant pages 0, 1, ... links from the nearest other relevant page.

        Row 0 counts unreachable relevant pages. Each page keeps its two nearest relevant origins:
        two, since the nearest may be the page itself.
        """
        counts = np.zeros(_FARTHEST + 1, np.int64)
        pages = origins = np.flatnonzero(self.relevant).astype(np.int32)
        nearest, second = np.full((2, len(self.relevant)), -1, np.int32)
        nearest[pages] = pages
        for steps in count(1):
            reached = [(pages[:0], origins[:0])]
            for places, ends in self._links(pages):
                from_page = origins[places]
                for kept in (nearest, second):
                    is_new = self._is_page[ends] & (kept[ends] < 0) & (nearest[ends] != from_page)
                    kept[ends[is_new]] = from_page[is_new]
                    new = np.unique(ends[is_new])
                    is_relevant = self.relevant[new]
                    counts[min(steps, _FARTHEST)] += np.count_nonzero(is_relevant)
                    # Only irrelevant pages are expanded further.
                    reached.append((new[~is_relevant], kept[new[~is_relevant]]))
            pages, origins = map(np.concatenate, zip(*reached, strict=True))
            if not len(pages):
                break
        counts[0] = self.n_relevant - counts.sum()
        return _trimmed(counts)

    def count_links(self, known: npt.NDArray[np.int8]) -> tuple[Longs, int]:
        """Return the link counts of pages, and the number of linked but unfetched URLs.

        Counts are (3, 2, 3, 3): by source (relevant; other, on a server with relevant pages;
        other), whether the link leaves its server, target (relevant; other page; no page), and the
        target server's entry in `known` (S,).
        """
        server, status = self.graph.page_server, self.graph.page_status
        of_server = known[server]
        source = np.where(self.relevant, 0, np.where(of_server == _HAS_RELEVANT, 1, 2))
        target = np.where(self.relevant, 0, np.where(self._is_page, 1, 2))
        cell = (3 * target + of_server).astype(np.int8)
        counts, is_linked = np.zeros(3 * 2 * 9, np.int64), np.zeros(len(server), np.bool_)
        pages = np.flatnonzero(self._is_page)
        for places, ends in self._links(pages):
            sources = pages[places]
            is_linked[ends] = True
            leaves = server[sources] != server[ends]
            counts += np.bincount((source[sources] * 2 + leaves) * 9 + cell[ends], minlength=54)
        unfetched = int(np.count_nonzero(is_linked & (status == UNKNOWN)))
        return counts.reshape(3, 2, 3, 3), unfetched

    def _links(self, vertices: npt.NDArray[np.integer]) -> Iterator[tuple[Longs, Ints]]:
        """Yield the links of vertices: the index of the source in `vertices`, and the target.

        A link to a redirect ends at the redirect's target; a dead redirect is skipped.
        """
        starts, targets = self.graph.link_start, self.graph.link_target
        for first in range(0, len(vertices), _CHUNK):
            some = vertices[first : first + _CHUNK]
            begins, number = starts[some], starts[some + 1] - starts[some]
            places = np.repeat(np.arange(first, first + len(some)), number)
            links = np.arange(len(places)) + np.repeat(begins - np.cumsum(number) + number, number)
            ends = targets[links]
            if self._landing is not None:
                ends = self._landing[ends]
                places, ends = places[ends >= 0], ends[ends >= 0]
            yield places, ends


def _landings(graph: WebGraph) -> Ints:
    """Return the final vertex of a link to each vertex, -1 for a dead redirect."""
    landing = np.arange(graph.n_vertices, dtype=np.int32)
    for _ in range(_MOST_REDIRECTS):
        at = np.flatnonzero(graph.page_status[landing] == REDIRECT)
        starts = graph.link_start[landing[at]]
        leads_on = starts < graph.link_start[landing[at] + 1]
        landing[at[leads_on]] = graph.link_target[starts[leads_on]]
    landing[graph.page_status[landing] == REDIRECT] = -1
    return landing


def _trimmed(counts: Longs) -> list[int]:
    """Return the counts up to the last non-zero count."""
    places = np.flatnonzero(counts)
    kept: list[int] = counts[: places[-1] + 1 if len(places) else 0].tolist()
    return kept


@dataclass(frozen=True)
class CourseFigures:
    """Figures 4 to 8 of Tamura 2007 for a crawl.

    `points` are numbers of pages; `relevant`, `servers` and `queue` are the counts at these points.
    Row d of `missed` is the number of uncrawled relevant pages within d links from the seeds, and
    the number of all relevant pages there. `links` are the `Course`'s links. The area of `effort`
    is over all pages of the graph.
    """

    points: Sequence[int]
    relevant: Sequence[int]
    servers: Sequence[int]
    queue: Sequence[int]
    relevant_there_are: int
    missed: Sequence[tuple[int, int]]
    links: Mapping[str, int]
    effort: Effort
    is_complete: bool

    @property
    def pages(self) -> int:
        """Pages crawled."""
        return self.points[-1] if self.points else 0

    @property
    def coverage(self) -> Sequence[float]:
        """Crawled share of all relevant pages at each point (Fig. 5)."""
        return [count / max(1, self.relevant_there_are) for count in self.relevant]

    @property
    def harvest(self) -> Sequence[float]:
        """Share of relevant pages among crawled pages at each point (Fig. 6)."""
        return [count / pages for count, pages in zip(self.relevant, self.points, strict=True)]

    @property
    def miss_ratio(self) -> Sequence[float]:
        """Missed share of relevant pages within distance 0, 1, ... (Fig. 4)."""
        return [missed / max(1, there_are) for missed, there_are in self.missed]


@dataclass(frozen=True)
class SimulatedCrawl:
    """A finished simulation: its course figures and running time in seconds."""

    simulation: Simulation
    figures: CourseFigures
    seconds: float


def simulate_all(
    graph: WebGraph, plan: Sequence[Simulation], *, jobs: int = 1
) -> Iterator[SimulatedCrawl]:
    """Yield each simulation when it finishes; at most `jobs` threads run at once.

    All simulations have the same target language. `jobs` changes only the order of the results. A
    running simulation needs some 30 bytes per page. Raises `SettingError` and `GraphError` as
    `simulate` does.
    """
    graph = prepared(graph, plan)
    yardstick = Yardstick(graph, plan[0].target)
    _ = yardstick.by_distance  # compute distances once, before the threads start

    def run(simulation: Simulation) -> SimulatedCrawl:
        begun = perf_counter()
        figures = course_figures(simulate(graph, simulation), yardstick, simulation.host_cap)
        return SimulatedCrawl(simulation, figures, perf_counter() - begun)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(run, simulation) for simulation in plan]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def course_figures(course: Course, yardstick: Yardstick, host_cap: int = 0) -> CourseFigures:
    """Return Figures 4 to 8 of a course, and its effort under a host cap."""
    graph, order = yardstick.graph, course.order
    points = _points(len(order), graph.n_pages)
    # Place of each server's first page: in reverse order, the first page is written last.
    first = np.full(graph.n_servers, -1, np.int64)
    first[graph.page_server[order[::-1]]] = np.arange(len(order))[::-1]
    found = np.flatnonzero(yardstick.relevant[order])
    return CourseFigures(
        points=points.tolist(),
        relevant=np.searchsorted(found, points).tolist(),
        servers=np.searchsorted(np.sort(first[first >= 0]), points).tolist(),
        queue=course.queue[points - 1].tolist(),
        relevant_there_are=yardstick.n_relevant,
        missed=_missed(order, yardstick),
        links=course.links,
        effort=effort((found + 1).tolist(), yardstick.reachable(host_cap), graph.n_pages),
        is_complete=course.is_complete,
    )


def _pages_by(graph: WebGraph) -> dict[str, dict[str, int]]:
    """Return pages by language and top-level domain; the last of both is for unknown values."""
    languages, domains = (*graph.languages, ""), (*graph.domains, "")
    pages = np.flatnonzero(graph.page_status == PAGE)
    domain = np.full(len(pages), -1)
    if graph.server_domain is not None:
        domain = graph.server_domain[graph.page_server[pages]].astype(np.int64)
    row = graph.page_language[pages].astype(np.int64) % len(languages)
    size = len(languages) * len(domains)
    counts = np.bincount(row * len(domains) + domain % len(domains), minlength=size)
    return {
        language: {name: number for name, number in zip(domains, of, strict=True) if number}
        for language, of in zip(languages, counts.reshape(len(languages), -1).tolist(), strict=True)
        if any(of)
    }


def _missed(order: npt.NDArray[np.int32], yardstick: Yardstick) -> list[tuple[int, int]]:
    fetched = order[yardstick.relevant[order] & (yardstick.distance[order] >= 0)]
    there_are = np.cumsum([relevant for _, relevant in yardstick.by_distance], dtype=np.int64)
    n_fetched = np.bincount(yardstick.distance[fetched], minlength=len(there_are))
    missed = there_are - np.cumsum(n_fetched)
    return list(zip(missed.tolist(), there_are.tolist(), strict=True))


def _points(pages: int, most: int) -> Longs:
    """Return the sampled page numbers, equal for all courses on a graph."""
    if pages == 0:
        return np.zeros(0, np.int64)
    even = np.linspace(0, most, _LINEAR_POINTS + 1)
    early = np.geomspace(1, max(1, most), _EARLY_POINTS)
    every = np.concatenate([even, early, ROUND_NUMBERS, [pages]])
    points = np.unique(np.rint(every).astype(np.int64))
    return points[(points >= 1) & (points <= pages)]
