"""The tables and figures of Tamura 2007 as plain numbers, of a graph and of crawls on it.

A graph has Tables 1, 4 and 5 and Figures 1 and 2, a course Figures 4 to 8. A curve has some hundred
points whatever the number of pages. The target language is always said; a relevant page is one in
it, a relevant server one with such a page. Distances are numbers of links from the nearest seed; a
redirect adds nothing to them, and a link to one is a link to its target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crawler.simulate.distances import (
    FARTHEST,
    EndsOfLinks,
    distances_from,
    nearest_relevant,
    trimmed,
)
from crawler.simulate.engine import Course
from crawler.simulate.webgraph import PAGE, UNKNOWN, WebGraph

MILESTONES: Final = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Coverages for which a course gives the costs to reach them."""

ROUND_NUMBERS: Final = tuple(factor * 10**power for power in range(1, 10) for factor in (1, 2, 5))
"""Numbers of pages that are among the points of every course that has so many."""

_LINEAR_POINTS = 160
_EARLY_POINTS = 80
NOT_RELEVANT, HAS_RELEVANT = 1, 2
"""The knowledge of a server with pages; 0 is that of one without."""
_LINK_CELLS = 3 * 2 * 3 * 3

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Links of one kind of source, by the kind of their target, within and between servers.

    `inside` and `outside` are (links to the first kind of target, to the second), links within
    the server of their source and links to another (the upper and lower rows of Tables 4 and 5).
    """

    source: str
    inside: tuple[int, int]
    outside: tuple[int, int]

    @property
    def all(self) -> tuple[int, int]:
        """Links to the first and the second kind of target."""
        return self.inside[0] + self.outside[0], self.inside[1] + self.outside[1]


@dataclass(frozen=True)
class GraphFigures:
    """The figures of a data set in Tamura 2007, chapters 2 and 3.

    `pages_by` counts pages by (language, top-level domain), "" where a page has no language or a
    server no known domain. `by_page` is Table 4, `by_server` Table 5. Row d of `by_distance` is
    how many pages, and relevant ones, are d links from the seeds (Fig. 1 sums them up);
    `nearest[d]` relevant pages are d links from the nearest other one (Fig. 2), row 0 those to
    which no way leads. `unfetched_links` name `unfetched_urls` that were never fetched.
    """

    target: str
    vertices: int
    pages: int
    relevant_pages: int
    links: int
    servers: int
    relevant_servers: int
    pages_by: Mapping[tuple[str, str], int]
    by_page: Sequence[LinkCounts]
    by_server: Sequence[LinkCounts]
    by_distance: Sequence[tuple[int, int]]
    nearest: Sequence[int]
    unfetched_links: int
    unfetched_urls: int


def graph_figures(graph: WebGraph, target: str | None = None) -> GraphFigures:
    """Return Tables 1, 4, 5 and Figures 1, 2 of a graph, in half a minute for 120 million links.

    Needs some 30 bytes for each vertex. Raises `GraphError` for a language that no page is in.
    """
    yardstick = Yardstick(graph, target)
    known = _knowledge(yardstick)
    counts, unfetched = _count_links(yardstick, known)
    return GraphFigures(
        target=yardstick.target,
        vertices=graph.n_vertices,
        pages=graph.n_pages,
        relevant_pages=yardstick.n_relevant,
        links=graph.n_links,
        servers=int(np.count_nonzero(known)),
        relevant_servers=int(np.count_nonzero(known == HAS_RELEVANT)),
        pages_by=_pages_by(graph),
        by_page=_table_4(counts),
        by_server=_table_5(counts),
        by_distance=yardstick.by_distance,
        nearest=nearest_relevant(yardstick.links, yardstick.relevant),
        unfetched_links=int(counts[:, :, 2].sum()),
        unfetched_urls=unfetched,
    )


class Yardstick:
    """The facts by which courses on a graph are measured: relevant pages and distances.

    Takes 3 bytes for each vertex, 8 more if there are redirects. Distances are counted from the
    seeds of the graph.
    """

    def __init__(self, graph: WebGraph, target: str | None = None) -> None:
        self.graph = graph
        self.target = graph.target if target is None else target
        self.relevant = graph.relevant(self.target)
        self.n_relevant = int(np.count_nonzero(self.relevant))

    @cached_property
    def links(self) -> EndsOfLinks:
        """The links of the graph."""
        return EndsOfLinks(self.graph)

    @cached_property
    def distance(self) -> npt.NDArray[np.int16]:
        """Distance of each page from the seeds, -1 where no link leads, (V,)."""
        return distances_from(self.links, self.graph.seeds)

    @cached_property
    def by_distance(self) -> list[tuple[int, int]]:
        """Pages and relevant pages at distance 0, 1, ... up to the farthest page."""
        pages, relevant = (
            np.bincount(self.distance[which], minlength=FARTHEST + 1)
            for which in (self.distance >= 0, self.relevant & (self.distance >= 0))
        )
        return list(zip(trimmed(pages), relevant.tolist(), strict=False))


class Cost(NamedTuple):
    """The pages, servers and bytes (None: sizes are not known) that a coverage took."""

    pages: int
    servers: int
    bytes: int | None


@dataclass(frozen=True)
class CourseFigures:
    """How a crawl went, as Tamura 2007, Figures 4 to 8, draw it.

    `points` are numbers of pages; `relevant`, `servers`, `queue` and `bytes` (None: sizes are not
    known) are the counts after so many. Row d of `missed` is how many of the relevant pages within
    d links from the seeds were not crawled, and how many there are. `milestones` maps a coverage
    to its cost, and lacks those that were not reached.
    """

    points: Sequence[int]
    relevant: Sequence[int]
    servers: Sequence[int]
    queue: Sequence[int]
    bytes: Sequence[int] | None
    relevant_there_are: int
    missed: Sequence[tuple[int, int]]
    milestones: Mapping[float, Cost]
    stored: int
    seen: int
    rejected: int
    host_full: int
    dropped_irrelevant: int
    is_complete: bool

    @property
    def pages(self) -> int:
        """Pages crawled."""
        return self.points[-1] if self.points else 0

    @property
    def coverage(self) -> Sequence[float]:
        """Share of all relevant pages crawled, at each point (Fig. 5)."""
        return [count / max(1, self.relevant_there_are) for count in self.relevant]

    @property
    def harvest(self) -> Sequence[float]:
        """Share of relevant pages among those crawled, at each point (Fig. 6)."""
        return [count / pages for count, pages in zip(self.relevant, self.points, strict=True)]

    @property
    def miss_ratio(self) -> Sequence[float]:
        """Share of the relevant pages within distance 0, 1, ... that were missed (Fig. 4)."""
        return [missed / max(1, there_are) for missed, there_are in self.missed]

    def harvest_after(self, pages: int) -> float | None:
        """Return the harvest rate of the first so many pages, None where there are not as many."""
        if pages > self.pages or pages < 1:
            return None
        return float(np.interp(pages, self.points, self.harvest))


def course_figures(
    course: Course, yardstick: Yardstick, milestones: Sequence[float] = MILESTONES
) -> CourseFigures:
    """Return Figures 4 to 8 of a course, and its costs to reach some coverages."""
    points = _points(len(course.order), yardstick.graph.n_pages)
    counts = _CountsAlong(course, yardstick)
    return CourseFigures(
        points=points.tolist(),
        relevant=counts.relevant(points).tolist(),
        servers=counts.servers(points).tolist(),
        queue=course.queue[points - 1].tolist(),
        bytes=None if counts.bytes is None else counts.bytes[points - 1].tolist(),
        relevant_there_are=yardstick.n_relevant,
        missed=_missed(course.order, yardstick),
        milestones={
            coverage: cost
            for coverage in sorted(set(milestones))
            if (cost := counts.cost(wanted_pages(coverage, yardstick.n_relevant))) is not None
        },
        stored=course.stored,
        seen=course.seen,
        rejected=course.rejected,
        host_full=course.host_full,
        dropped_irrelevant=course.dropped_irrelevant,
        is_complete=course.is_complete,
    )


class _CountsAlong:
    """The counts of a course after numbers of pages, all of 1 or more."""

    def __init__(self, course: Course, yardstick: Yardstick) -> None:
        graph, order = yardstick.graph, course.order
        self._relevant = np.flatnonzero(yardstick.relevant[order])
        # The place of the first page of each server: written backwards, the first stays.
        first = np.full(graph.n_servers, -1, np.int64)
        first[graph.page_server[order[::-1]]] = np.arange(len(order))[::-1]
        self._servers = np.sort(first[first >= 0])
        sizes = graph.page_bytes
        self.bytes = None if sizes is None else np.cumsum(sizes[order], dtype=np.int64)

    def relevant(self, pages: Longs) -> Longs:
        """The relevant pages among the first."""
        return np.searchsorted(self._relevant, pages)

    def servers(self, pages: Longs) -> Longs:
        """The servers of the first pages."""
        return np.searchsorted(self._servers, pages)

    def cost(self, relevant: int) -> Cost | None:
        """The cost of the first so many relevant pages, None where there are fewer."""
        if len(self._relevant) < relevant:
            return None
        pages = int(self._relevant[relevant - 1]) + 1
        size = None if self.bytes is None else int(self.bytes[pages - 1])
        return Cost(pages, int(np.searchsorted(self._servers, pages)), size)


def wanted_pages(coverage: float, relevant: int) -> int:
    """Return how many relevant pages a coverage is, at least 1."""
    return max(1, int(np.ceil(coverage * relevant - 1e-9)))


def _knowledge(yardstick: Yardstick) -> npt.NDArray[np.int8]:
    """The knowledge of each server, (S,)."""
    graph = yardstick.graph
    known = np.zeros(graph.n_servers, np.int8)
    known[graph.page_server[graph.page_status == PAGE]] = NOT_RELEVANT
    known[graph.page_server[yardstick.relevant]] = HAS_RELEVANT
    return known


def _pages_by(graph: WebGraph) -> dict[tuple[str, str], int]:
    """The pages by language and top-level domain; the last of both are those without."""
    languages, domains = (*graph.languages, ""), (*graph.domains, "")
    pages = np.flatnonzero(graph.page_status == PAGE)
    domain = np.full(len(pages), -1)
    if graph.server_domain is not None:
        domain = graph.server_domain[graph.page_server[pages]].astype(np.int64)
    row = graph.page_language[pages].astype(np.int64) % len(languages)
    counts = np.bincount(row * len(domains) + domain % len(domains))
    return {
        (languages[cell // len(domains)], domains[cell % len(domains)]): int(counts[cell])
        for cell in np.flatnonzero(counts).tolist()
    }


def _count_links(yardstick: Yardstick, known: npt.NDArray[np.int8]) -> tuple[Longs, int]:
    """The links of pages, and the linked URLs that were never fetched.

    Counts are (3, 2, 3, 3): by source (relevant; other, on a server with relevant pages; other),
    whether the link leaves its server, target (relevant; other page; no page), and the knowledge of
    the target's server.
    """
    graph, relevant = yardstick.graph, yardstick.relevant
    status, server = np.asarray(graph.page_status), np.asarray(graph.page_server)
    pages = np.flatnonzero(status == PAGE)
    own = server[pages]
    kind = np.where(relevant[pages], 0, np.where(known[own] == HAS_RELEVANT, 1, 2))
    status_of_end = np.where(relevant, 0, np.where(status == PAGE, 1, 2))
    of_end = (3 * status_of_end + known[server]).astype(np.uint8)
    counts = np.zeros(_LINK_CELLS, np.int64)
    is_linked = np.zeros(graph.n_vertices, np.bool_)
    for places, ends in yardstick.links.of(pages):
        leaves = own[places] != server[ends]
        cells = 18 * kind[places] + 9 * leaves + of_end[ends]
        counts += np.bincount(cells, minlength=_LINK_CELLS)
        is_linked[ends] = True
    unfetched = int(np.count_nonzero(is_linked & (status == UNKNOWN)))
    return counts.reshape(3, 2, 3, 3), unfetched


def _table_4(counts: Longs) -> list[LinkCounts]:
    by_target = counts.sum(axis=3)
    sources = ("relevant page", "other page, relevant server", "other page, other server")
    return [
        LinkCounts(source, _pair(by_target[at, 0, :2]), _pair(by_target[at, 1, :2]))
        for at, source in enumerate(sources)
    ]


def _table_5(counts: Longs) -> list[LinkCounts]:
    by_server = counts.sum(axis=2)
    of_relevant, of_others = by_server[:2].sum(axis=0), by_server[2]
    return [
        LinkCounts(source, _pair(links[0, :0:-1]), _pair(links[1, :0:-1]))
        for source, links in (("relevant server", of_relevant), ("other server", of_others))
    ]


def _pair(counts: Longs) -> tuple[int, int]:
    return int(counts[0]), int(counts[1])


def _missed(order: npt.NDArray[np.int32], yardstick: Yardstick) -> list[tuple[int, int]]:
    found = order[yardstick.relevant[order] & (yardstick.distance[order] >= 0)]
    fetched = np.bincount(yardstick.distance[found], minlength=FARTHEST + 1)
    there_are = np.cumsum([relevant for _, relevant in yardstick.by_distance], dtype=np.int64)
    missed = there_are - np.cumsum(fetched)[: len(there_are)]
    return list(zip(missed.tolist(), there_are.tolist(), strict=True))


def _points(pages: int, most: int) -> Longs:
    """Numbers of pages at which a course is looked at: the same for all courses of a graph."""
    if pages == 0:
        return np.zeros(0, np.int64)
    even = np.linspace(0, most, _LINEAR_POINTS + 1)
    early = np.geomspace(1, max(1, most), _EARLY_POINTS)
    every = np.concatenate([even, early, ROUND_NUMBERS, [pages]])
    points = np.unique(np.rint(every).astype(np.int64))
    return points[(points >= 1) & (points <= pages)]
