"""The links of a generated Web's pages, and their directories, compiled.

No link skips a step, so depths are the distances that a breadth-first search will find.
"""

from typing import NamedTuple

from classifiers.compiled import borrowing, compiled, step
from crawler.simulate.layout import (
    BACK,
    FRONT,
    INTER_NEAR,
    INTER_RELEVANT,
    INTRA_OTHER,
    INTRA_RELEVANT,
    INTRA_UNKNOWN,
    LINKED,
    N_CELLS,
    NONE,
    NOWHERE,
    OTHER,
    SHY,
    UNKNOWN_FAR,
    UNKNOWN_NEAR,
    Bytes,
    GrownServers,
    Ints,
    Longs,
    Pools,
    eligible,
)
from crawler.simulate.randomness import Words, draw_below, draw_unit

_TRIES = 8


class Unfetched(NamedTuple):
    """URLs that were never fetched: `number` (S,) of each server, `base` (S + 1,) before it.

    `touched` (S + 1,) of them have a link; the last row are those of servers without pages, which
    begin at `nowhere` and are `n_nowhere`.
    """

    number: Ints
    base: Ints
    touched: Ints
    nowhere: int
    n_nowhere: int


class TreePages(NamedTuple):
    """Pages: `home` (n,) their servers, `depth` (n,), and `child` those that each is the parent of.

    `child_start` (n + 1,) is where the children of a page begin; `number` (N_CELLS, n) links of
    each kind are wanted beside those to children.
    """

    home: Ints
    depth: Bytes
    child_start: Longs
    child: Ints
    number: Bytes


class WrittenLinks(NamedTuple):
    """The links that are written, as `link_start` and `link_target` of a graph."""

    start: Longs
    target: Ints


class GrownWeb(NamedTuple):
    """A Web whose links, other than those to children, are still to be drawn."""

    servers: GrownServers
    pages: TreePages
    pools: Pools
    urls: Unfetched


# --- Draws


@step
def _popular(end: int, chance: Words) -> int:
    """A place in [0, end), the first ones far more often: the n-th in proportion to n ** -2/3."""
    unit = draw_unit(chance)
    return int(unit * unit * unit * end)


@step
def _from_pool(pages: Ints, starts: Longs, below: int, chance: Words) -> int:
    end = starts[min(below + 1, len(starts) - 1)]
    return int(pages[_popular(end, chance)]) if end else NONE


@step
def _from_segments(
    depth: Bytes, start: int, middle: int, end: int, below: int, chance: Words
) -> int:
    """A page of two segments that stand together, at most `below` steps from the seeds."""
    first = eligible(depth, start, middle, below)
    second = eligible(depth, middle, end, below)
    if first + second == 0:
        return NONE
    at = draw_below(chance, first + second)
    return start + at if at < first else middle + at - first


@step
def _is_new(target: Ints, start: int, end: int, vertex: int) -> bool:
    for at in range(start, end):  # noqa: SIM110  # numba knows no generators
        if target[at] == vertex:
            return False
    return True


@step
def _shuffle(target: Ints, start: int, end: int, chance: Words) -> None:
    for at in range(end - 1, start, -1):
        other = start + draw_below(chance, at + 1 - start)
        target[at], target[other] = target[other], target[at]


@step
def _some_url(cell: int, row: int, number: int, touched: Ints, chance: Words) -> int:
    """One of a server's URLs that were never fetched, one without a link first, or -1."""
    if number == 0:
        return NONE
    if touched[row] < number and cell in (INTRA_UNKNOWN, NOWHERE):
        touched[row] += 1
        return int(touched[row]) - 1
    return draw_below(chance, number)


# --- Targets


@step
def _vertex(web: GrownWeb, page: int) -> int:
    """The vertex of a page: before it are also URLs that were never fetched."""
    return page + int(web.urls.base[web.pages.home[page]])


@step
def _draw_own(web: GrownWeb, page: int, cell: int, chance: Words) -> int:
    """A page of the same server, or NONE."""
    start = web.servers.start[web.pages.home[page]]
    depth, below = web.pages.depth, int(web.pages.depth[page]) + 1
    is_relevant = page < start[FRONT]
    if cell == INTRA_RELEVANT:
        end = start[SHY] if is_relevant else start[FRONT]
        return _from_segments(depth, start[LINKED], start[SHY], end, below, chance)
    end = start[BACK] if is_relevant else start[4]
    return _from_segments(depth, start[FRONT], start[BACK], end, below, chance)


@step
def _draw_elsewhere(web: GrownWeb, page: int, cell: int, chance: Words) -> int:
    """A page of another server, the page itself where its own server was drawn, or NONE."""
    pools, server = web.pools, web.pages.home[page]
    below = int(web.pages.depth[page]) + 1
    if cell == INTER_RELEVANT:
        other = _from_pool(pools.linked, pools.linked_start, below, chance)
    elif cell == INTER_NEAR:
        other = _from_pool(pools.front, pools.front_start, below, chance)
    elif web.servers.kind[server] != OTHER:
        other = _from_pool(pools.far_front, pools.far_front_start, below, chance)
    else:
        other = _from_pool(pools.far, pools.far_start, below, chance)
    return page if other != NONE and web.pages.home[other] == server else other


@step
def _draw_unfetched(web: GrownWeb, page: int, cell: int, chance: Words) -> int:
    """The vertex of a URL that was never fetched, or NONE."""
    urls, home = web.urls, web.pages.home
    if cell == NOWHERE:
        row = len(web.servers.kind)
        url = _some_url(cell, row, urls.n_nowhere, urls.touched, chance)
        return NONE if url == NONE else url + urls.nowhere
    row = int(home[page])
    if cell == UNKNOWN_NEAR:
        row = int(home[web.pools.front[draw_below(chance, len(web.pools.front))]])
    elif cell == UNKNOWN_FAR:
        row = int(home[web.pools.far[draw_below(chance, len(web.pools.far))]])
    url = _some_url(cell, row, int(urls.number[row]), urls.touched, chance)
    return NONE if url == NONE else url + int(web.servers.start[row, 4] + urls.base[row])


@step
def _draw_target(web: GrownWeb, page: int, cell: int, chance: Words) -> int:
    """The vertex that a link of a kind leads to, or NONE."""
    if cell in (INTRA_UNKNOWN, UNKNOWN_NEAR, UNKNOWN_FAR, NOWHERE):
        return _draw_unfetched(web, page, cell, chance)
    if cell in (INTRA_RELEVANT, INTRA_OTHER):
        other = _draw_own(web, page, cell, chance)
    else:
        other = _draw_elsewhere(web, page, cell, chance)
    return NONE if other == NONE else _vertex(web, other)


# --- Links


@step
def _draw_links(web: GrownWeb, target: Ints, page: int, end: int, chance: Words) -> int:
    """Write the links of a page that do not lead to its children, from `end` on."""
    vertex = _vertex(web, page)
    first = end - int(web.pages.child_start[page + 1] - web.pages.child_start[page])
    for cell in range(N_CELLS):
        left = int(web.pages.number[cell, page])
        tries = left * _TRIES
        while left and tries:
            tries -= 1
            other = _draw_target(web, page, cell, chance)
            if other == NONE:
                break
            if other != vertex and _is_new(target, first, end, other):
                target[end] = other
                end += 1
                left -= 1
    return end


@borrowing
def link(web: GrownWeb, links: WrittenLinks, chance: Words) -> int:
    """Write the links of all pages, each once, in no order; return how many there are.

    A page that has nothing new to link to has fewer links than are wanted.
    """
    pages, urls, end = web.pages, web.urls, 0
    for server in range(len(web.servers.kind)):
        start = web.servers.start[server]
        for page in range(start[0], start[4]):
            first = end
            links.start[page + urls.base[server]] = first
            for at in range(pages.child_start[page], pages.child_start[page + 1]):
                links.target[end] = _vertex(web, int(pages.child[at]))
                end += 1
            end = _draw_links(web, links.target, page, end, chance)
            _shuffle(links.target, first, end, chance)
        after = int(start[4] + urls.base[server])
        links.start[after : after + urls.number[server]] = end
    links.start[urls.nowhere :] = end
    return end


@compiled
def place_directories(
    servers: GrownServers, urls: Unfetched, chance: Words, base: Ints, directory: Ints
) -> None:
    """Put vertices into the directories of their servers, which begin at `base` (S + 1,).

    Relevant pages are in the first seven tenths of a server's directories, other pages of such
    servers in the last; three pages in ten are in none.
    """
    for server in range(len(servers.kind)):
        start, number = servers.start[server], base[server + 1] - base[server]
        part = number - int(0.3 * number)
        end = start[4] + urls.number[server]
        for page in range(start[0], end):
            at = NONE
            if number and draw_unit(chance) >= 0.3:
                if page < start[FRONT]:
                    at = base[server] + draw_below(chance, part)
                elif page < start[4] and servers.kind[server] != OTHER:
                    at = base[server + 1] - 1 - draw_below(chance, part)
                else:
                    at = base[server] + draw_below(chance, number)
            directory[page + urls.base[server]] = at
