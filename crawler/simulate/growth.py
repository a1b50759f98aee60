"""The links of a generated Web's pages, and their directories, compiled.

No link skips a step, so depths are the distances that a breadth-first search will find.
"""

from typing import NamedTuple

from classifiers.compiled import compiled, inlined
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


@inlined
def _popular(end: int, chance: Words) -> int:
    """A place in [0, end), the first ones far more often: the n-th in proportion to n ** -2/3."""
    unit = draw_unit(chance)
    return int(unit * unit * unit * end)


@inlined
def _from_pool(pages: Ints, starts: Longs, below: int, chance: Words) -> int:
    end = starts[min(below + 1, len(starts) - 1)]
    return int(pages[_popular(end, chance)]) if end else NONE


@inlined
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


@inlined
def _is_new(target: Ints, start: int, end: int, vertex: int) -> bool:
    for at in range(start, end):  # noqa: SIM110  # numba knows no generators
        if target[at] == vertex:
            return False
    return True


@inlined
def _shuffle(target: Ints, start: int, end: int, chance: Words) -> None:
    for at in range(end - 1, start, -1):
        other = start + draw_below(chance, at + 1 - start)
        target[at], target[other] = target[other], target[at]


@inlined
def _some_url(cell: int, row: int, number: int, touched: Ints, chance: Words) -> int:
    """One of a server's URLs that were never fetched, one without a link first, or -1."""
    if number == 0:
        return NONE
    if touched[row] < number and cell in (INTRA_UNKNOWN, NOWHERE):
        touched[row] += 1
        return int(touched[row]) - 1
    return draw_below(chance, number)


# --- Links


@inlined
def _draw_own(
    start: Ints, depth: Bytes, server: int, page: int, is_wanted_relevant: bool, chance: Words
) -> int:
    """A page of the same server, or NONE."""
    below, front = int(depth[page]) + 1, start[server, FRONT]
    is_relevant = page < front
    if is_wanted_relevant:
        end = start[server, SHY] if is_relevant else front
        return _from_segments(depth, start[server, LINKED], start[server, SHY], end, below, chance)
    end = start[server, BACK] if is_relevant else start[server, 4]
    return _from_segments(depth, front, start[server, BACK], end, below, chance)


@compiled
def link(web: GrownWeb, links: WrittenLinks, chance: Words) -> int:  # noqa: PLR0912, PLR0915
    """Write the links of all pages, each once, in no order; return how many there are.

    A page that has nothing new to link to has fewer links than are wanted.
    """
    # Each tuple is read once: numba counts the references of each array that is read.
    (start, kind), (begins, target), urls = web.servers[:2], links, web.urls
    home, depth, child_start, child, number = web.pages
    linked, linked_start, front, front_start = web.pools[:4]
    far_front, far_front_start, far, far_start = web.pools[6:]
    of_server, base, touched, nowhere, n_nowhere = urls
    end = 0
    for server in range(len(kind)):
        for page in range(start[server, 0], start[server, 4]):
            vertex, first, below = page + base[server], end, int(depth[page]) + 1
            begins[vertex] = first
            for at in range(child_start[page], child_start[page + 1]):
                target[end] = child[at] + base[home[child[at]]]
                end += 1
            for cell in range(N_CELLS):
                left = int(number[cell, page])
                tries = left * _TRIES
                while left and tries:
                    tries -= 1
                    row, other = server, NONE
                    if cell == NOWHERE:
                        url = _some_url(cell, len(kind), n_nowhere, touched, chance)
                        other = NONE if url == NONE else url + nowhere
                    elif cell in (INTRA_UNKNOWN, UNKNOWN_NEAR, UNKNOWN_FAR):
                        if cell == UNKNOWN_NEAR:
                            row = home[front[draw_below(chance, len(front))]]
                        elif cell == UNKNOWN_FAR:
                            row = home[far[draw_below(chance, len(far))]]
                        url = _some_url(cell, row, int(of_server[row]), touched, chance)
                        other = NONE if url == NONE else url + start[row, 4] + base[row]
                    else:
                        if cell in (INTRA_RELEVANT, INTRA_OTHER):
                            is_wanted = cell == INTRA_RELEVANT
                            other = _draw_own(start, depth, server, page, is_wanted, chance)
                        elif cell == INTER_RELEVANT:
                            other = _from_pool(linked, linked_start, below, chance)
                        elif cell == INTER_NEAR:
                            other = _from_pool(front, front_start, below, chance)
                        elif kind[server] != OTHER:
                            other = _from_pool(far_front, far_front_start, below, chance)
                        else:
                            other = _from_pool(far, far_start, below, chance)
                        if other != NONE:
                            # A page of its own server counts as the page itself between servers.
                            is_away = cell not in (INTRA_RELEVANT, INTRA_OTHER)
                            other = page if is_away and home[other] == server else other
                            other += base[home[other]]
                    if other == NONE:
                        break
                    if other != vertex and _is_new(target, first, end, other):
                        target[end] = other
                        end += 1
                        left -= 1
            _shuffle(target, first, end, chance)
        after = start[server, 4] + base[server]
        begins[after : after + of_server[server]] = end
    begins[nowhere:] = end
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
