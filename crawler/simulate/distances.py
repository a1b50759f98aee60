"""Breadth-first searches over the links of a graph, level by level.

A redirect adds nothing to a distance: a link to one is a link to the page at its end.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from crawler.simulate.webgraph import PAGE, REDIRECT, WebGraph

FARTHEST: Final = 999
"""Distances beyond this one are counted with it."""
_MOST_REDIRECTS: Final = 20
_CHUNK: Final = 1 << 18
"""Vertices whose links are in memory at once, 50 bytes for each link."""

Vertices = npt.NDArray[np.int64]


class EndsOfLinks:
    """The links of a graph, each with the vertex where it ends.

    `is_page` is (V,). Takes 5 bytes for each vertex, and 8 more if there are redirects.
    """

    def __init__(self, graph: WebGraph) -> None:
        self._start = np.asarray(graph.link_start)
        self._target = np.asarray(graph.link_target)
        self._status = np.asarray(graph.page_status)
        self.is_page = self._status == PAGE
        self._landing = self._landings() if graph.has_redirects else None
        self._scratch = np.empty(graph.n_vertices, np.int32)

    def landing(self, vertices: npt.NDArray[np.integer]) -> Vertices:
        """The vertices where links to some vertices end, -1 where redirects lead nowhere."""
        found = vertices if self._landing is None else self._landing[vertices]
        return found.astype(np.int64, copy=False)

    def once(self, vertices: Vertices) -> npt.NDArray[np.bool_]:
        """A mask of vertices that takes each of them once."""
        numbers = np.arange(len(vertices), dtype=np.int32)
        self._scratch[vertices] = numbers
        is_last: npt.NDArray[np.bool_] = self._scratch[vertices] == numbers
        return is_last

    def of(self, vertices: Vertices) -> Iterator[tuple[Vertices, Vertices]]:
        """Yield the links of some vertices, in parts: the place in `vertices`, and the end.

        Links to redirects that lead nowhere are left out.
        """
        for at in range(0, len(vertices), _CHUNK):
            some = vertices[at : at + _CHUNK]
            first, number = self._start[some], self._start[some + 1] - self._start[some]
            places = np.repeat(first - np.cumsum(number) + number, number)
            places += np.arange(len(places))
            sources = np.repeat(np.arange(at, at + len(some)), number)
            ends = self.landing(self._target[places])
            if self._landing is not None:
                sources, ends = sources[ends >= 0], ends[ends >= 0]
            yield sources, ends

    def _landings(self) -> Vertices:
        landing = np.arange(len(self._status))
        redirects = np.flatnonzero(self._status == REDIRECT)
        found = redirects
        for _ in range(_MOST_REDIRECTS - 1):
            found = self._one_on(found)
        found[self._is_redirect(found)] = -1
        landing[redirects] = found
        return landing

    def _one_on(self, vertices: Vertices) -> Vertices:
        """The vertices, those that redirect replaced by their targets."""
        going = np.flatnonzero(self._is_redirect(vertices))
        at = vertices[going]
        has_target = self._start[at + 1] > self._start[at]
        found = vertices.copy()
        found[going] = -1
        found[going[has_target]] = self._target[self._start[at[has_target]]]
        return found

    def _is_redirect(self, vertices: Vertices) -> npt.NDArray[np.bool_]:
        is_redirect: npt.NDArray[np.bool_] = self._status[vertices] == REDIRECT
        return is_redirect & (vertices >= 0)


def distances_from(links: EndsOfLinks, seeds: npt.NDArray[np.int32]) -> npt.NDArray[np.int16]:
    """Return the distance of each page from the nearest seed, -1 where no link leads, (V,)."""
    is_open = links.is_page.copy()
    distance = np.full(len(is_open), -1, np.int16)
    ends = links.landing(seeds)
    level, here = _closed(links, is_open, ends[ends >= 0]), 0
    distance[level] = here
    while len(level):
        here = min(here + 1, FARTHEST)
        level = np.concatenate([_closed(links, is_open, ends) for _, ends in links.of(level)])
        distance[level] = here
    return distance


def _closed(links: EndsOfLinks, is_open: npt.NDArray[np.bool_], ends: Vertices) -> Vertices:
    """Close the open vertices where links end, and return each of them once."""
    found = ends[is_open[ends]]
    found = found[links.once(found)]
    is_open[found] = False
    return found


def nearest_relevant(links: EndsOfLinks, relevant: npt.NDArray[np.bool_]) -> list[int]:
    """Return how many relevant pages are 0, 1, ... links from the nearest other one.

    Row 0 has those to which none leads. For each page the two nearest relevant pages are kept from
    which it is reached: two, since the nearest may be the page itself. `relevant` is (V,).
    """
    is_open = links.is_page.copy()
    origins = np.full((2, len(relevant)), -1, np.int32)
    level = np.flatnonzero(relevant)
    origins[0, level] = origin = level
    counts, here = np.zeros(FARTHEST + 1, np.int64), 0
    while len(level):
        here = min(here + 1, FARTHEST)
        reached = []
        for places, ends in links.of(level):
            kept = is_open[ends]
            ends, of_ends = ends[kept], origin[places[kept]]  # noqa: PLW2901
            for pages, of_pages in _reached(links, origins, ends, of_ends):
                counts[here] += np.count_nonzero(relevant[pages])
                # The way goes on from pages that are not relevant.
                goes_on = ~relevant[pages]
                reached.append((pages[goes_on], of_pages[goes_on]))
            is_open[ends] = origins[-1, ends] < 0
        level, origin = (np.concatenate(part) for part in zip(*reached, strict=True))
    counts[0] = np.count_nonzero(relevant) - counts.sum()
    return trimmed(counts)


def _reached(
    links: EndsOfLinks, origins: npt.NDArray[np.int32], pages: Vertices, origin: Vertices
) -> Iterator[tuple[Vertices, Vertices]]:
    """Yield the pages to which an origin is new, and that origin, for each place of origins."""
    for kept in origins:
        is_new = origins[0, pages] != origin
        pages, origin = pages[is_new], origin[is_new]
        is_free = np.flatnonzero(kept[pages] < 0)
        taken = is_free[links.once(pages[is_free])]
        kept[pages[taken]] = origin[taken]
        yield pages[taken], origin[taken]


def trimmed(counts: npt.NDArray[np.int64]) -> list[int]:
    """The counts up to the last that is not 0."""
    places = np.flatnonzero(counts)
    kept: list[int] = counts[: places[-1] + 1 if len(places) else 0].tolist()
    return kept
