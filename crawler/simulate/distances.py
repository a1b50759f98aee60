"""The compiled measuring of distances: breadth-first searches over the links of a graph.

Where a link points to a redirect, the vertex at the end of the redirects counts.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
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


@inlined
def _is_open(bits: Words, vertex: int) -> bool:
    at = np.uint64(vertex)
    return bool(bits[at >> _SIX] >> (at & _LOW_SIX) & _ONE)


@inlined
def _open(bits: Words, vertex: int) -> None:
    at = np.uint64(vertex)
    bits[at >> _SIX] |= _ONE << (at & _LOW_SIX)


@inlined
def _close(bits: Words, vertex: int) -> None:
    at = np.uint64(vertex)
    bits[at >> _SIX] &= ~(_ONE << (at & _LOW_SIX))


@inlined
def _open_all(kind: Bytes, bits: Words) -> None:
    """Open all pages, and redirects, which stay so."""
    for vertex in range(len(kind)):
        if kind[vertex] & STATUS in (PAGE, REDIRECT):
            _open(bits, vertex)


@compiled
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
    start, target, kind = links.start, links.target, links.kind
    _open_all(kind, bits)
    end = 0
    for seed in seeds:
        vertex = landing(start, target, kind, int(seed))
        if is_page(kind, vertex) and distance[vertex] < 0:
            distance[vertex] = 0
            _close(bits, vertex)
            queue[end] = vertex
            end += 1
    at = 0
    while at < end:
        if at + _LATER < end:
            prefetch(start, queue[at + _LATER])
            prefetch(target, start[queue[at + _SOON]])
        vertex = int(queue[at])
        at += 1
        below = min(int(distance[vertex]) + 1, FARTHEST)
        for link in range(start[vertex], start[vertex + 1]):
            found = int(target[link])
            if not _is_open(bits, found):
                continue
            found = landing(start, target, kind, found)
            if is_page(kind, found) and distance[found] < 0:
                distance[found] = below
                _close(bits, found)
                queue[end] = found
                end += 1


@compiled
def count_distances(kind: Bytes, distance: Shorts, pages: Longs, relevant: Longs) -> None:
    """Add the pages at each distance, and the relevant ones, to rows of FARTHEST + 1."""
    for vertex in range(len(kind)):
        if distance[vertex] >= 0:
            pages[distance[vertex]] += 1
            relevant[distance[vertex]] += kind[vertex] & RELEVANT != 0


@compiled
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
    start, target, kind = links.start, links.target, links.kind
    _open_all(kind, bits)
    end = 0
    for vertex in range(len(kind)):
        if kind[vertex] & RELEVANT:
            origins[2 * vertex] = vertex
            queue[end] = 2 * vertex
            end += 1
    at, distance = 0, 0
    while at < end:
        level_end, distance = end, min(distance + 1, FARTHEST)
        while at < level_end:
            if at + _LATER < end:
                prefetch(start, queue[at + _LATER] >> 1)
                prefetch(target, start[queue[at + _SOON] >> 1])
            origin, vertex = origins[queue[at]], int(queue[at] >> 1)
            at += 1
            for link in range(start[vertex], start[vertex + 1]):
                found = int(target[link])
                if not _is_open(bits, found):
                    continue
                found = landing(start, target, kind, found)
                if not is_page(kind, found):
                    continue
                first = 2 * found
                if origins[first] == origin or origins[first + 1] >= 0:
                    continue
                if kind[found] & RELEVANT:
                    origins[first + 1] = origin
                    _close(bits, found)
                    counts[distance] += 1
                    continue
                if origins[first] >= 0:
                    first += 1
                    _close(bits, found)
                origins[first] = origin
                queue[end] = first
                end += 1
