"""The compiled measuring of distances: breadth-first searches over the links of a graph.

Where a link points to a redirect, the vertex at the end of the redirects counts.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import borrowing, step
from classifiers.instructions import prefetch
from crawler.simulate.linkarrays import (
    RELEVANT,
    STATUS,
    Bytes,
    Ints,
    LinkArrays,
    Longs,
    is_page,
    landing,
)
from crawler.simulate.webgraph import PAGE, REDIRECT

Shorts = npt.NDArray[np.int16]
Entries = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]

FARTHEST: Final = 999
"""Distances beyond this one are counted with it."""
_SOON, _LATER = 6, 12
"""Places of a queue between asking memory for links, or for where they begin, and using them."""
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)

# --- Vertices of which something is still to be found, as bits: few enough to stay in a cache


@step
def _is_open(bits: Words, vertex: int) -> bool:
    at = np.uint64(vertex)
    return bool(bits[at >> _SIX] >> (at & _LOW_SIX) & _ONE)


@step
def _open(bits: Words, vertex: int) -> None:
    at = np.uint64(vertex)
    bits[at >> _SIX] |= _ONE << (at & _LOW_SIX)


@step
def _close(bits: Words, vertex: int) -> None:
    at = np.uint64(vertex)
    bits[at >> _SIX] &= ~(_ONE << (at & _LOW_SIX))


@step
def _open_all(kind: Bytes, bits: Words) -> None:
    """Open all pages, and redirects, which stay so."""
    for vertex in range(len(kind)):
        if kind[vertex] & STATUS in (PAGE, REDIRECT):
            _open(bits, vertex)


@step
def _open_page(links: LinkArrays, bits: Words, vertex: int) -> int:
    """The page at the end of a link to `vertex`; -1 if that is closed or leads to no page."""
    if not _is_open(bits, vertex):
        return -1
    found = landing(links.start, links.target, links.kind, vertex)
    return found if is_page(links.kind, found) else -1


# --- From the seeds


@step
def _begin(links: LinkArrays, seeds: Ints, distance: Shorts, queue: Ints, bits: Words) -> int:
    """Queue the pages that seeds lead to; return how many they are."""
    end = 0
    for seed in seeds:
        vertex = landing(links.start, links.target, links.kind, int(seed))
        if is_page(links.kind, vertex) and distance[vertex] < 0:
            distance[vertex] = 0
            _close(bits, vertex)
            queue[end] = vertex
            end += 1
    return end


@borrowing
def measure_distances(
    links: LinkArrays,
    seeds: Ints,
    distance: Shorts,
    queue: Ints,
    bits: Words,
) -> None:
    """Write the distance of each page from the nearest seed into `distance` (V,), which is -1.

    `queue` (pages,) is written over, `bits` (V // 64 + 1,) is 0.
    """
    _open_all(links.kind, bits)
    at, end = 0, _begin(links, seeds, distance, queue, bits)
    while at < end:
        if at + _LATER < end:
            prefetch(links.start, queue[at + _LATER])
            prefetch(links.target, links.start[queue[at + _SOON]])
        vertex = int(queue[at])
        at += 1
        below = min(int(distance[vertex]) + 1, FARTHEST)
        for link in range(links.start[vertex], links.start[vertex + 1]):
            found = _open_page(links, bits, int(links.target[link]))
            if found >= 0 and distance[found] < 0:
                distance[found] = below
                _close(bits, found)
                queue[end] = found
                end += 1


@borrowing
def count_distances(kind: Bytes, distance: Shorts, pages: Longs, relevant: Longs) -> None:
    """Add the pages at each distance, and the relevant ones, to rows of FARTHEST + 1."""
    for vertex in range(len(kind)):
        if distance[vertex] >= 0:
            pages[distance[vertex]] += 1
            relevant[distance[vertex]] += kind[vertex] & RELEVANT != 0


# --- From relevant page to relevant page


@step
def _begin_at_relevant(kind: Bytes, origins: Ints, queue: Entries) -> int:
    """Queue the relevant pages, each reached from itself; return how many they are."""
    end = 0
    for vertex in range(len(kind)):
        if kind[vertex] & RELEVANT:
            origins[2 * vertex] = vertex
            queue[end] = 2 * vertex
            end += 1
    return end


@step
def _reach(origins: Ints, bits: Words, page: int, origin: int) -> int:
    """Write that a page is reached from `origin`; return where, or -1 if it is known or full."""
    place = 2 * page
    if origins[place] == origin or origins[place + 1] >= 0:
        return -1
    if origins[place] >= 0:
        place += 1
        _close(bits, page)
    origins[place] = origin
    return place


@borrowing
def nearest_relevant(
    links: LinkArrays,
    origins: Ints,
    queue: Entries,
    bits: Words,
    counts: Longs,
) -> None:
    """Add for each relevant page how far from the nearest other one it is to `counts`.

    `origins` (2 V,) is -1 and becomes the two nearest relevant pages from which each page is
    reached: two, since the nearest may be the very page whose distance is sought. `queue` has room
    for the relevant pages and for twice the others; its entries are places in `origins`.
    `bits` (V // 64 + 1,) is 0.
    """
    _open_all(links.kind, bits)
    at, end = 0, _begin_at_relevant(links.kind, origins, queue)
    level_end = distance = 0
    while at < end:
        if at == level_end:
            level_end, distance = end, min(distance + 1, FARTHEST)
        if at + _LATER < end:
            prefetch(links.start, queue[at + _LATER] >> 1)
            prefetch(links.target, links.start[queue[at + _SOON] >> 1])
        origin, vertex = int(origins[queue[at]]), int(queue[at] >> 1)
        at += 1
        for link in range(links.start[vertex], links.start[vertex + 1]):
            found = _open_page(links, bits, int(links.target[link]))
            place = _reach(origins, bits, found, origin) if found >= 0 else -1
            if place >= 0 and links.kind[found] & RELEVANT:
                counts[distance] += 1
            elif place >= 0:
                queue[end] = place
                end += 1
