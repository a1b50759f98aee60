"""The parents of a generated Web's pages, compiled.

A page has one parent, one step nearer to the seeds, that links to it.
"""

from typing import NamedTuple

from classifiers.compiled import compiled, inlined
from crawler.simulate.layout import (
    BACK,
    FRONT,
    ISLAND,
    LINKED,
    NONE,
    OPEN,
    OTHER,
    REMOTE,
    SHY,
    Bytes,
    GrownServers,
    Ints,
    Longs,
    Pools,
    first_at,
)
from crawler.simulate.randomness import Words, draw_below, draw_unit


class OrphanWeb(NamedTuple):
    """A Web whose pages, of `depth` (n,), have no parents yet."""

    servers: GrownServers
    depth: Bytes
    pools: Pools


@inlined
def _own(depth: Bytes, start: int, end: int, value: int, chance: Words) -> int:
    """A page of a segment with that depth, or -1."""
    first = first_at(depth, start, end, value)
    number = first_at(depth, first, end, value + 1) - first
    return first + draw_below(chance, number) if number else NONE


@inlined
def _any(pages: Ints, starts: Longs, value: int, chance: Words) -> int:
    """A page of a pool with that depth, or -1."""
    first, number = starts[value], starts[value + 1] - starts[value]
    return int(pages[first + draw_below(chance, number)]) if number else NONE


@inlined
def _own_other(depth: Bytes, start: Ints, value: int, chance: Words) -> int:
    """An irrelevant page of a server with that depth, or -1."""
    front = _own(depth, start[FRONT], start[BACK], value, chance)
    back = _own(depth, start[BACK], start[4], value, chance)
    if front == NONE or (back != NONE and draw_unit(chance) < 0.5):
        return back
    return front


@inlined
def _parent(web: OrphanWeb, server: int, segment: int, value: int, chance: Words) -> int:
    """A page of depth `value` that links to a page of a segment of a server."""
    kind = int(web.servers.kind[server])
    is_island = kind in (ISLAND, REMOTE)
    start, depth, parent = web.servers.start[server], web.depth, NONE
    if segment == LINKED and is_island:
        parent = _own(depth, start[LINKED], start[FRONT], value, chance)
    if segment == FRONT and kind == REMOTE:
        parent = _any(web.pools.far_front, web.pools.far_front_start, value, chance)
    if segment == SHY:
        # Hidden pages of a server are behind the same page.
        first = first_at(depth, start[FRONT], start[4], value)
        if first < start[4] and depth[first] == value:
            parent = first
    if parent == NONE and (segment in (SHY, BACK) or (segment == LINKED and is_island)):
        parent = _own_other(depth, start, value, chance)
        if parent == NONE and kind == OTHER:
            parent = _any(web.pools.far, web.pools.far_start, value, chance)
        elif parent == NONE:
            parent = _any(web.pools.near, web.pools.near_start, value, chance)
    if parent == NONE and kind == OPEN:
        parent = _own(depth, start[LINKED], start[SHY], value, chance)
    while parent == NONE and value >= 0:
        parent = _any(web.pools.linked, web.pools.linked_start, value, chance)
        value -= 1
    return parent


@compiled
def find_parents(web: OrphanWeb, chance: Words, parent: Ints) -> None:
    """Choose the parent of each page; -1 for the seeds, which have depth 0."""
    for server in range(len(web.servers.kind)):
        start = web.servers.start[server]
        for segment in range(4):
            for page in range(start[segment], start[segment + 1]):
                value = int(web.depth[page]) - 1
                if value < 0:
                    parent[page] = NONE
                else:
                    parent[page] = _parent(web, server, segment, value, chance)


@compiled
def list_children(parent: Ints, home: Ints, start: Longs, child: Ints, own: Longs) -> int:
    """List the pages that each page is the parent of; return how many pages have a parent.

    `start` (n + 1,) of zeros is where the children of a page begin in `child`; `own` (n,) of zeros
    counts those on its server.
    """
    for page in range(len(parent)):
        if parent[page] != NONE:
            start[parent[page] + 1] += 1
            own[parent[page]] += home[parent[page]] == home[page]
    for page in range(len(parent)):
        start[page + 1] += start[page]
    at = start[:-1].copy()
    for page in range(len(parent)):
        if parent[page] != NONE:
            child[at[parent[page]]] = page
            at[parent[page]] += 1
    return int(start[-1])
