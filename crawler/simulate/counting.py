"""The compiled counting behind `crawler.simulate.figures`: loops over links, pages and courses.

`kind` (V,) is the `page_status` of each vertex, with `RELEVANT` added for pages in the target
language. Where a link points to a redirect, what counts is the vertex to which that leads. numba's
cache looks at this file alone, so all that these loops call stands here.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.instructions import prefetch
from crawler.simulate.webgraph import PAGE, REDIRECT, UNKNOWN

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.int16]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Entries = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]

RELEVANT: Final = 4
STATUS: Final = 3

NO_PAGE, NOT_RELEVANT, HAS_RELEVANT = range(3)
"""What is known of a server: no page of it, only other pages, at least one relevant page."""

FARTHEST: Final = 999
"""Distances beyond this one are counted with it."""

_NONE = -1
_MOST_REDIRECTS = 20
_SERVER_SHIFT = 4
"""Where a mark has what is known of the server, above the kind."""
_AHEAD = 24
"""Links between asking memory for what is known of a target and using it."""
_SOON, _LATER = 6, 12
"""The same in places of a queue, for links and for where they begin."""
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)


@inlined
def _landing(start: Longs, target: Ints, kind: Bytes, vertex: int) -> int:
    """The vertex that a link ends at, or -1 where redirects lead nowhere."""
    for _ in range(_MOST_REDIRECTS):
        if kind[vertex] != REDIRECT:
            return vertex
        if start[vertex] == start[vertex + 1]:
            break
        vertex = int(target[start[vertex]])
    return _NONE


@inlined
def _is_page(kind: Bytes, vertex: int) -> bool:
    return vertex >= 0 and kind[vertex] & STATUS == PAGE


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


# --- Distances


@compiled
def measure_distances(
    start: Longs,
    target: Ints,
    kind: Bytes,
    seeds: Ints,
    distance: Shorts,
    queue: Ints,
    bits: Words,
) -> None:
    """Write the distance of each page from the nearest seed into `distance` (V,), which is -1.

    `queue` (pages,) is written over, `bits` (V // 64 + 1,) is 0.
    """
    _open_all(kind, bits)
    end = 0
    for seed in seeds:
        vertex = _landing(start, target, kind, int(seed))
        if _is_page(kind, vertex) and distance[vertex] < 0:
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
            found = _landing(start, target, kind, found)
            if _is_page(kind, found) and distance[found] < 0:
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
    start: Longs,
    target: Ints,
    kind: Bytes,
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
                found = _landing(start, target, kind, found)
                if not _is_page(kind, found):
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


# --- Pages and links


@compiled
def count_pages(
    kind: Bytes,
    server: Ints,
    language: Shorts,
    server_domain: Shorts,
    server_kind: Bytes,
    counts: Longs,
) -> None:
    """Set what is known of each server, and count pages by language and domain.

    `counts` is (languages + 1, domains + 1); the last row and column are those without.
    """
    for vertex in range(len(kind)):
        if not _is_page(kind, vertex):
            continue
        at = server[vertex]
        known = HAS_RELEVANT if kind[vertex] & RELEVANT else NOT_RELEVANT
        server_kind[at] = max(int(server_kind[at]), known)
        counts[language[vertex], server_domain[at]] += 1


@compiled
def count_links(
    start: Longs,
    target: Ints,
    kind: Bytes,
    server: Ints,
    server_kind: Bytes,
    mark: Bytes,
    counts: Longs,
    unfetched: Bytes,
) -> None:
    """Count the links of pages.

    `mark` (V,) is written over; `unfetched` (V,) becomes 1 for what was named and not fetched.
    `counts` is (3, 2, 3, 3): by source (relevant; other, on a server with relevant pages; other),
    whether the link leaves its server, target (relevant; other page; no page), and what is known
    of the target's server.
    """
    for vertex in range(len(kind)):
        mark[vertex] = kind[vertex] | server_kind[server[vertex]] << _SERVER_SHIFT
    for vertex in range(len(kind)):
        if not _is_page(kind, vertex):
            continue
        own = server[vertex]
        source = 2 if mark[vertex] >> _SERVER_SHIFT != HAS_RELEVANT else 1
        source = 0 if kind[vertex] & RELEVANT else source
        for link in range(start[vertex], start[vertex + 1]):
            if link + _AHEAD < len(target):
                prefetch(mark, target[link + _AHEAD])
                prefetch(server, target[link + _AHEAD])
            found = int(target[link])
            if mark[found] & STATUS == REDIRECT:
                found = _landing(start, target, kind, found)
                if found < 0:
                    continue
            seen = mark[found]
            end = 2
            if seen & STATUS == PAGE:
                end = 0 if seen & RELEVANT else 1
            elif seen & STATUS == UNKNOWN:
                unfetched[found] = 1
            counts[source, int(own != server[found]), end, seen >> _SERVER_SHIFT] += 1


# --- Courses

RELEVANT_PAGES, SERVERS, BYTES, PAGES = range(4)


@compiled
def sample_course(
    order: Ints,
    kind: Bytes,
    server: Ints,
    sizes: Ints,
    points: Longs,
    samples: Longs,
    wanted: Longs,
    crossings: Longs,
    is_known: Bytes,
) -> None:
    """Count along a course: relevant pages, servers and bytes after `points` pages.

    `points` (P,) rise and begin with 1 or more; `samples` is (P, 4). `wanted` (W,) are numbers of
    relevant pages that rise, `crossings` (W, 4) gets the counts where each was reached and is left
    alone where none was. `sizes` is (V,), or (1,) where sizes are not known; `is_known` (S,) is 0.
    """
    now = np.zeros(4, np.int64)
    at_point, at_wanted = 0, 0
    has_sizes = len(sizes) == len(kind)
    for place in range(len(order)):
        vertex = order[place]
        if place + _AHEAD < len(order):
            prefetch(kind, order[place + _AHEAD])
            prefetch(server, order[place + _AHEAD])
        now[PAGES] += 1
        now[RELEVANT_PAGES] += kind[vertex] & RELEVANT != 0
        if not is_known[server[vertex]]:
            is_known[server[vertex]] = 1
            now[SERVERS] += 1
        if has_sizes:
            now[BYTES] += sizes[vertex]
        while at_wanted < len(wanted) and now[RELEVANT_PAGES] >= wanted[at_wanted]:
            crossings[at_wanted] = now
            at_wanted += 1
        if at_point < len(points) and place + 1 == points[at_point]:
            samples[at_point] = now
            at_point += 1


@compiled
def count_fetched(order: Ints, kind: Bytes, distance: Shorts, relevant: Longs) -> None:
    """Add the relevant pages of a course at each distance to `relevant` (FARTHEST + 1,)."""
    for place in range(len(order)):
        vertex = order[place]
        if place + _AHEAD < len(order):
            prefetch(kind, order[place + _AHEAD])
        if kind[vertex] & RELEVANT and distance[vertex] >= 0:
            relevant[distance[vertex]] += 1


@compiled
def count_by_server(kind: Bytes, distance: Shorts, server: Ints, relevant: Longs) -> None:
    """Add the relevant pages of each server that the seeds lead to to `relevant` (S,)."""
    for vertex in range(len(kind)):
        if kind[vertex] & RELEVANT and distance[vertex] >= 0:
            relevant[server[vertex]] += 1


@compiled
def weighted_costs(
    order: Ints,
    kind: Bytes,
    server: Ints,
    sizes: Ints,
    weights: Shorts,
    wanted: float,
    is_known: Bytes,
    costs: Floats,
) -> None:
    """Set `costs` (4,) to what a course costs until its weighted relevant pages are `wanted`.

    Everything of a server counts as often as its weight in `weights` (S,) says. Infinite where
    the course ends before. `is_known` (S,) is written over.
    """
    is_known[:] = 0
    now = np.zeros(4, np.int64)
    has_sizes = len(sizes) == len(kind)
    costs[:] = np.inf
    for place in range(len(order)):
        vertex = order[place]
        if place + _AHEAD < len(order):
            prefetch(kind, order[place + _AHEAD])
            prefetch(server, order[place + _AHEAD])
        own = server[vertex]
        weight = int(weights[own])
        if not is_known[own]:
            is_known[own] = 1
            now[SERVERS] += weight
        now[PAGES] += weight
        if has_sizes:
            now[BYTES] += weight * np.int64(sizes[vertex])
        if kind[vertex] & RELEVANT:
            now[RELEVANT_PAGES] += weight
            if now[RELEVANT_PAGES] >= wanted:
                costs[:] = now
                return
