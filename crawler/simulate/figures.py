"""The tables and figures of Tamura 2007 as plain numbers, of a graph and of crawls on it.

A graph has Tables 1, 4 and 5 and Figures 1 and 2, a course Figures 4 to 8. A curve has some hundred
points whatever the number of pages. The target language is always said; a relevant page is one in
it, a relevant server one with such a page. Distances are numbers of links from the nearest seed; a
redirect adds nothing to them, and a link to one is a link to its target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from crawler.simulate.engine import Course
from crawler.simulate.webgraph import WebGraph

if TYPE_CHECKING:
    from crawler.simulate.counting import ServerArrays
    from crawler.simulate.courses import CourseArrays
    from crawler.simulate.linkarrays import LinkArrays

MILESTONES: Final = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Coverages for which a course gives the costs to reach them."""

ROUND_NUMBERS: Final = tuple(factor * 10**power for power in range(1, 10) for factor in (1, 2, 5))
"""Numbers of pages that are among the points of every course that has so many."""

_LINEAR_POINTS = 160
_EARLY_POINTS = 80

Longs = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


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
    """Return Tables 1, 4, 5 and Figures 1, 2 of a graph, in seconds for 100 million links.

    Needs 16 bytes for each vertex. Raises `GraphError` for a language that no page is in.
    """
    yardstick = Yardstick(graph, target)
    servers, by_language = _count_pages(yardstick)
    counts, unfetched = _count_links(yardstick, servers)
    return GraphFigures(
        target=yardstick.target,
        vertices=graph.n_vertices,
        pages=graph.n_pages,
        relevant_pages=yardstick.n_relevant,
        links=graph.n_links,
        servers=int(np.count_nonzero(servers.known)),
        relevant_servers=int(np.count_nonzero(servers.known == 2)),
        pages_by=by_language,
        by_page=_table_4(counts),
        by_server=_table_5(counts),
        by_distance=yardstick.by_distance,
        nearest=_nearest(yardstick),
        unfetched_links=int(counts[:, :, 2].sum()),
        unfetched_urls=unfetched,
    )


class Yardstick:
    """The facts by which courses on a graph are measured: relevant pages and distances.

    Takes 3 bytes for each vertex. Distances are counted from the seeds of the graph.
    """

    def __init__(self, graph: WebGraph, target: str | None = None) -> None:
        from crawler.simulate.linkarrays import RELEVANT

        self.graph = graph
        self.target = graph.target if target is None else target
        self.seeds = np.asarray(graph.seeds, np.int32)
        self.kind = graph.page_status.astype(np.uint8)
        is_relevant = graph.relevant(self.target)
        self.n_relevant = int(np.count_nonzero(is_relevant))
        self.kind[is_relevant] |= np.uint8(RELEVANT)

    @cached_property
    def distance(self) -> npt.NDArray[np.int16]:
        """Distance of each page from the seeds, -1 where no link leads, (V,)."""
        from crawler.simulate.distances import measure_distances

        distance = np.full(self.graph.n_vertices, -1, np.int16)
        queue = np.empty(self.graph.n_pages, np.int32)
        measure_distances(self.links, _own(self.seeds), distance, queue, _bits(self.graph))
        return distance

    @property
    def links(self) -> "LinkArrays":
        """The links and kinds as compiled code takes them."""
        from crawler.simulate.linkarrays import LinkArrays

        graph = self.graph
        return LinkArrays(_own(graph.link_start), _own(graph.link_target), self.kind)

    @cached_property
    def by_distance(self) -> list[tuple[int, int]]:
        """Pages and relevant pages at distance 0, 1, ... up to the farthest page."""
        from crawler.simulate.distances import FARTHEST, count_distances

        pages, relevant = np.zeros((2, FARTHEST + 1), np.int64)
        count_distances(self.kind, self.distance, pages, relevant)
        return list(zip(_trimmed(pages), relevant.tolist(), strict=False))


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
    from crawler.simulate import courses

    points = _points(len(course.order), yardstick.graph.n_pages)
    coverages = sorted(set(milestones))
    samples, crossings = _samples(course, yardstick, points, coverages)
    has_sizes = yardstick.graph.page_bytes is not None
    return CourseFigures(
        points=points.tolist(),
        relevant=samples[:, courses.RELEVANT_PAGES].tolist(),
        servers=samples[:, courses.SERVERS].tolist(),
        queue=course.queue[points - 1].tolist(),
        bytes=samples[:, courses.BYTES].tolist() if has_sizes else None,
        relevant_there_are=yardstick.n_relevant,
        missed=_missed(course.order, yardstick),
        milestones={
            coverage: Cost(
                int(row[courses.PAGES]),
                int(row[courses.SERVERS]),
                int(row[courses.BYTES]) if has_sizes else None,
            )
            for coverage, row in zip(coverages, crossings, strict=True)
            if row[courses.PAGES] >= 0
        },
        stored=course.stored,
        seen=course.seen,
        rejected=course.rejected,
        host_full=course.host_full,
        dropped_irrelevant=course.dropped_irrelevant,
        is_complete=course.is_complete,
    )


def _samples(
    course: Course, yardstick: Yardstick, points: Longs, coverages: Sequence[float]
) -> tuple[Longs, Longs]:
    """The counts at each point, and those where each coverage was reached, -1 where not."""
    from crawler.simulate.courses import sample_course

    wanted = np.array([wanted_pages(c, yardstick.n_relevant) for c in coverages], np.int64)
    samples = np.zeros((len(points), 4), np.int64)
    crossings = np.full((len(wanted), 4), -1, np.int64)
    is_known = np.zeros(yardstick.graph.n_servers, np.uint8)
    arrays = course_arrays(course, yardstick)
    sample_course(arrays, points, samples, wanted, crossings, is_known)
    return samples, crossings


def wanted_pages(coverage: float, relevant: int) -> int:
    """Return how many relevant pages a coverage is, at least 1."""
    return max(1, int(np.ceil(coverage * relevant - 1e-9)))


def course_arrays(course: Course, yardstick: Yardstick) -> "CourseArrays":
    """Return a course and its graph's pages as compiled code takes them."""
    from crawler.simulate.courses import CourseArrays

    graph = yardstick.graph
    sizes = np.zeros(1, np.int32) if graph.page_bytes is None else graph.page_bytes
    return CourseArrays(_own(course.order), yardstick.kind, _own(graph.page_server), _own(sizes))


def _own(column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A column as the one kind of array for which the loops are compiled: one not to be written."""
    view = np.ascontiguousarray(column).view(np.ndarray)
    view.flags.writeable = False
    return view


def _bits(graph: WebGraph) -> npt.NDArray[np.uint64]:
    return np.zeros(graph.n_vertices // 64 + 1, np.uint64)


def _count_pages(yardstick: Yardstick) -> tuple["ServerArrays", dict[tuple[str, str], int]]:
    from crawler.simulate.counting import ServerArrays, count_pages

    graph = yardstick.graph
    servers = ServerArrays(_own(graph.page_server), np.zeros(graph.n_servers, np.uint8))
    counts = np.zeros((len(graph.languages) + 1, len(graph.domains) + 1), np.int64)
    domains = graph.server_domain
    if domains is None:
        domains = np.full(graph.n_servers, -1, np.int16)
    count_pages(yardstick.kind, servers, _own(graph.page_language), _own(domains), counts)
    names = (*graph.languages, ""), (*graph.domains, "")
    rows, columns = np.nonzero(counts)
    pages_by = {
        (names[0][row], names[1][column]): int(counts[row, column])
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    }
    return servers, pages_by


def _count_links(yardstick: Yardstick, servers: "ServerArrays") -> tuple[Longs, int]:
    from crawler.simulate.counting import count_links

    counts = np.zeros((3, 2, 3, 3), np.int64)
    mark, unfetched = np.zeros((2, yardstick.graph.n_vertices), np.uint8)
    count_links(yardstick.links, servers, mark, counts, unfetched)
    return counts, int(np.count_nonzero(unfetched))


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


def _nearest(yardstick: Yardstick) -> list[int]:
    from crawler.simulate.distances import FARTHEST, nearest_relevant

    graph = yardstick.graph
    origins = np.full(2 * graph.n_vertices, -1, np.int32)
    queue = np.empty(2 * graph.n_pages - yardstick.n_relevant, np.uint32)
    counts = np.zeros(FARTHEST + 1, np.int64)
    nearest_relevant(yardstick.links, origins, queue, _bits(graph), counts)
    counts[0] = yardstick.n_relevant - counts.sum()
    return _trimmed(counts)


def _missed(order: npt.NDArray[np.int32], yardstick: Yardstick) -> list[tuple[int, int]]:
    from crawler.simulate.courses import count_fetched
    from crawler.simulate.distances import FARTHEST

    fetched = np.zeros(FARTHEST + 1, np.int64)
    count_fetched(_own(order), yardstick.kind, yardstick.distance, fetched)
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


def _trimmed(counts: Longs) -> list[int]:
    """The counts up to the last that is not 0."""
    places = np.nonzero(counts)[0]
    kept: list[int] = counts[: places[-1] + 1 if len(places) else 0].tolist()
    return kept
