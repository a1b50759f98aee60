"""Searches over the links of a graph, compiled.

A redirect adds nothing to a distance: a link to one is a link to the page at its end. `landing` is
(V,), or empty for a graph without redirects; see `landings`.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from crawler.simulate.webgraph import PAGE, REDIRECT

Statuses = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FARTHEST: Final = 999
"""Distances beyond this one are counted with it."""
_MOST_REDIRECTS: Final = 20


@compiled
def landings(start: Longs, target: Ints, status: Statuses, landing: Ints) -> None:
    """Write the vertex at which a link to each vertex ends, -1 where redirects lead nowhere."""
    for vertex in range(len(landing)):
        end, left = vertex, _MOST_REDIRECTS
        while left and end >= 0 and status[end] == REDIRECT:
            left -= 1
            end = target[start[end]] if start[end] < start[end + 1] else -1
        landing[vertex] = end if left else -1


@inlined
def _page_at(vertex: int, status: Statuses, landing: Ints) -> int:
    """The page at which a link to a vertex ends, or -1."""
    end = int(landing[vertex]) if len(landing) else vertex
    return end if end >= 0 and status[end] == PAGE else -1


@compiled
def distances_from(
    start: Longs,
    target: Ints,
    status: Statuses,
    landing: Ints,
    seeds: Ints,
    distance: npt.NDArray[np.int16],
    queue: Ints,
) -> None:
    """Write the distance of each page from the nearest seed into `distance` (V,), which is all -1.

    `queue` (V,) is written over.
    """
    at = end = 0
    for seed in seeds:
        page = _page_at(seed, status, landing)
        if page >= 0 and distance[page] < 0:
            distance[page] = 0
            queue[end] = page
            end += 1
    while at < end:
        vertex = queue[at]
        at += 1
        for link in range(start[vertex], start[vertex + 1]):
            page = _page_at(target[link], status, landing)
            if page >= 0 and distance[page] < 0:
                distance[page] = min(distance[vertex] + 1, FARTHEST)
                queue[end] = page
                end += 1


@compiled
def nearest_relevant(
    start: Longs, target: Ints, status: Statuses, landing: Ints, relevant: Mask, queue: Ints
) -> Longs:
    """Count the relevant pages that are 1, 2, ... links from the nearest other one.

    For each page the two nearest relevant pages are kept from which it is reached: two, since the
    nearest may be the page itself. `queue` is (2, twice the pages), and is written over. The counts
    go up to FARTHEST.
    """
    counts = np.zeros(FARTHEST + 1, np.int64)
    origins = np.full((2, len(relevant)), -1, np.int32)
    at = end = here = 0
    for vertex in range(len(relevant)):
        if relevant[vertex]:
            origins[0, vertex] = vertex
            queue[0, end], queue[1, end] = vertex, vertex
            end += 1
    farther = 0
    while at < end:
        if at == farther:
            here, farther = min(here + 1, FARTHEST), end
        vertex, origin = queue[0, at], queue[1, at]
        at += 1
        for link in range(start[vertex], start[vertex + 1]):
            page = _page_at(target[link], status, landing)
            if page < 0 or origins[1, page] >= 0 or origins[0, page] == origin:
                continue
            origins[1 if origins[0, page] >= 0 else 0, page] = origin
            if relevant[page]:
                counts[here] += 1
            else:  # the way goes on from pages that are not relevant
                queue[0, end], queue[1, end] = page, origin
                end += 1
    return counts
