"""The depths of a generated Web's pages, and pools of pages by depth, compiled.

A depth is the distance from the seeds that a breadth-first search will find.
"""

import math

import numpy as np

from classifiers.compiled import compiled, inlined
from crawler.simulate.layout import (
    FRONT,
    ISLAND,
    LINKED,
    MAX_DEPTH,
    OTHER,
    REMOTE,
    SHY,
    Bytes,
    Floats,
    GrownServers,
    Ints,
    Longs,
)
from crawler.simulate.randomness import Words, draw_normal


@compiled
def draw_places(servers: GrownServers, closeness: float, chance: Words, places: Floats) -> None:
    """For each page a normal number; those of one server are correlated by `closeness`."""
    own = math.sqrt(closeness)
    rest = math.sqrt(1.0 - closeness)
    for server in range(len(servers.kind)):
        for page in range(servers.start[server, 0], servers.start[server, 4]):
            places[page] = own * servers.warmth[server] + rest * draw_normal(chance)


@inlined
def _depth_of(place: float, bounds: Floats) -> int:
    depth = 1
    while depth <= len(bounds) and place > bounds[depth - 1]:
        depth += 1
    return depth


@inlined
def _sort(depth: Bytes, start: int, end: int, counts: Longs) -> None:
    counts[:] = 0
    for page in range(start, end):
        counts[depth[page]] += 1
    page = start
    for value in range(len(counts)):
        for _ in range(counts[value]):
            depth[page] = value
            page += 1


@inlined
def end_of_chain(servers: GrownServers, server: int) -> int:
    """The page after an island's chain and the pages beside it; elsewhere the first of `FRONT`.

    Unlike the other irrelevant pages of relevant servers, these have depths that follow from the
    relevant pages behind them.
    """
    front, end = servers.start[server, FRONT], servers.start[server, 4]
    return int(min(front + servers.chain[server] + servers.thickness[server], end))


@inlined
def _make_island(servers: GrownServers, server: int, depth: Bytes) -> None:
    """Put a chain before the relevant pages of an island, and leave no gap between their depths.

    The first relevant page keeps its depth if a chain that begins at depth 2 or more fits before
    it.
    """
    start = servers.start[server]
    home, chain = start[FRONT], servers.chain[server]
    entry = min(max(int(depth[start[LINKED]]) - chain, 2), MAX_DEPTH - 1 - chain)
    for further in range(chain):
        depth[home + further] = entry + further
    before = entry + chain - 1
    for beside in range(home + chain, end_of_chain(servers, server)):
        depth[beside] = before
    _close_gaps(depth, start[LINKED], start[FRONT], before)


@inlined
def _close_gaps(depth: Bytes, start: int, end: int, before: int) -> None:
    last = before
    for page in range(start, end):
        # One page is the first; a page beside it would have to be found without it.
        nearest = before + 1 if page == start else before + 2
        last = min(max(int(depth[page]), nearest), last + 1, MAX_DEPTH)
        depth[page] = last


@compiled
def settle_relevant(
    servers: GrownServers, places: Floats, linked: Floats, hidden: Floats, depth: Bytes
) -> Longs:
    """Depths of relevant pages and of the chains before them; return how many of the latter.

    `linked` are the bounds between the places of relevant pages that relevant ones link to,
    `hidden` between those of others. The result is (MAX_DEPTH + 1,), by depth.
    """
    counts, placed = np.zeros((2, MAX_DEPTH + 1), np.int64)
    for server in range(len(servers.kind)):
        start = servers.start[server]
        is_island = servers.kind[server] in (ISLAND, REMOTE)
        bounds = hidden if is_island else linked
        for page in range(start[LINKED], start[SHY]):
            depth[page] = _depth_of(places[page], bounds)
        for page in range(start[SHY], start[FRONT]):
            depth[page] = _depth_of(places[page], hidden)
        _sort(depth, start[LINKED], start[SHY], counts)
        _sort(depth, start[SHY], start[FRONT], counts)
        if is_island:
            _make_island(servers, server, depth)
            for page in range(start[FRONT], end_of_chain(servers, server)):
                placed[depth[page]] += 1
    return placed


@compiled
def settle_others(
    servers: GrownServers, places: Floats, near: Floats, far: Floats, depth: Bytes
) -> None:
    """Depths of irrelevant pages that are in no chain, sorted.

    `near` are the bounds between the places of those on servers with relevant pages, `far` between
    those of others.
    """
    counts = np.zeros(MAX_DEPTH + 1, np.int64)
    for server in range(len(servers.kind)):
        bounds = far if servers.kind[server] == OTHER else near
        first, end = end_of_chain(servers, server), servers.start[server, 4]
        for page in range(first, end):
            depth[page] = _depth_of(places[page], bounds)
        # Together: relevant pages link to the pages that are nearest to the seeds.
        _sort(depth, first, end, counts)
        if servers.kind[server] in (ISLAND, REMOTE):
            _close_gaps(depth, first, end, int(depth[first - 1]))


@compiled
def pool(
    servers: GrownServers, kinds: int, first: int, end: int, depth: Bytes, starts: Longs
) -> Ints:
    """Pages of the segments from `first` to before `end` of servers of some kinds, by depth.

    `kinds` has a bit for each kind; `starts` (MAX_DEPTH + 2,) is written.
    """
    starts[:] = 0
    for server in range(len(servers.kind)):
        if kinds >> servers.kind[server] & 1:
            for page in range(servers.start[server, first], servers.start[server, end]):
                starts[depth[page] + 1] += 1
    for value in range(1, len(starts)):
        starts[value] += starts[value - 1]
    pages = np.empty(starts[-1], np.int32)
    at = starts.copy()
    for server in range(len(servers.kind)):
        if kinds >> servers.kind[server] & 1:
            for page in range(servers.start[server, first], servers.start[server, end]):
                pages[at[depth[page]]] = page
                at[depth[page]] += 1
    return pages
