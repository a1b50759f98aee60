"""The depths of a generated Web's pages, and pools of pages by depth, compiled.

A depth is the distance from the seeds that a breadth-first search will find.
"""

import math

import numpy as np

from classifiers.compiled import compiled, step
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


@step
def _depth_of(place: float, bounds: Floats) -> int:
    depth = 1
    while depth <= len(bounds) and place > bounds[depth - 1]:
        depth += 1
    return depth


@step
def _sort(depth: Bytes, start: int, end: int, counts: Longs) -> None:
    counts[:] = 0
    for page in range(start, end):
        counts[depth[page]] += 1
    page = start
    for value in range(len(counts)):
        for _ in range(counts[value]):
            depth[page] = value
            page += 1


@step
def _make_island(servers: GrownServers, server: int, depth: Bytes) -> None:
    """Put the relevant pages of an island behind its chain, and leave no gap between depths."""
    start = servers.start[server]
    home, end, chain = start[FRONT], start[4], servers.chain[server]
    entry = min(max(int(depth[home]), 2), MAX_DEPTH - 1 - chain)
    depth[home] = entry
    for further in range(1, chain):
        depth[home + further] = entry + further
    before = entry + chain - 1
    beside = home + chain
    while beside < min(home + chain + servers.thickness[server], end):
        depth[beside] = before
        beside += 1
    _close_gaps(depth, start[LINKED], start[FRONT], before)
    _close_gaps(depth, beside, end, before)


@step
def _close_gaps(depth: Bytes, start: int, end: int, before: int) -> None:
    last = before
    for page in range(start, end):
        # One page is the first; a page beside it would have to be found without it.
        nearest = before + 1 if page == start else before + 2
        last = min(max(int(depth[page]), nearest), last + 1, MAX_DEPTH)
        depth[page] = last


@compiled
def settle_depths(
    servers: GrownServers,
    places: Floats,
    relevant: Floats,
    near: Floats,
    far: Floats,
    depth: Bytes,
) -> None:
    """Depths from places: the bounds are those of relevant, near and far pages; then sort.

    Chains and the pages beside them are the first pages of a segment.
    """
    counts = np.zeros(MAX_DEPTH + 1, np.int64)
    for server in range(len(servers.kind)):
        start = servers.start[server]
        others = far if servers.kind[server] == OTHER else near
        for page in range(start[LINKED], start[FRONT]):
            depth[page] = _depth_of(places[page], relevant)
        for page in range(start[FRONT], start[4]):
            depth[page] = _depth_of(places[page], others)
        _sort(depth, start[LINKED], start[SHY], counts)
        _sort(depth, start[SHY], start[FRONT], counts)
        # Together: relevant pages link to the pages that are nearest to the seeds.
        _sort(depth, start[FRONT], start[4], counts)
        if servers.kind[server] in (ISLAND, REMOTE):
            _make_island(servers, server, depth)


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
