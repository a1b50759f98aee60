"""Parents, links and directories of a generated Web's pages, compiled.

Pages are numbered by server, and within a server by segment: relevant pages linked from relevant
pages (`LINKED`), other relevant pages (`SHY`), irrelevant pages linked from relevant pages
(`FRONT`), and the rest (`BACK`). A segment is sorted by depth, the breadth-first distance from the
seeds: no link skips a step.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.crawler.simulate.queues import Words, draw_below, draw_normal, draw_unit

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

LINKED, SHY, FRONT, BACK = range(4)
"""Server segments."""

OPEN, ISLAND, REMOTE, OTHER = range(4)
"""Server kinds: with relevant pages linked from relevant pages; with relevant pages only behind
irrelevant pages, whose first page is linked from a relevant page, or from a server without relevant
pages; without relevant pages.
"""

INTRA_RELEVANT, INTRA_OTHER, INTRA_UNKNOWN = 0, 1, 2
INTER_RELEVANT, INTER_NEAR, INTER_FAR = 3, 4, 5
UNKNOWN_NEAR, UNKNOWN_FAR, NOWHERE = 6, 7, 8
N_CELLS: Final = 9
"""Link kinds by target: on the same server a relevant page, another page, an unfetched URL; on
another server a relevant page, another page of a server with relevant pages (near) or without
(far); an unfetched URL; a URL of a server without any page.
"""

MAX_DEPTH: Final = 31
NONE: Final = -1
"""No page."""

_TRIES = 8


class GrownWeb(NamedTuple):
    """The n pages of S servers, and pools of target pages for links across servers.

    The pages of depth d in a pool begin at its `start`[d].
    """

    start: Ints  # (S, 5): the first pages of a server's segments, and the page after the last
    kind: Bytes  # (S,)
    home: Ints  # (n,): the server of a page
    depth: Bytes  # (n,)
    linked: Ints  # relevant pages
    linked_start: Longs
    front: Ints  # pages of `FRONT` on relevant servers
    front_start: Longs
    near: Ints  # irrelevant pages of relevant servers
    near_start: Longs
    far_front: Ints  # pages of `FRONT` on irrelevant servers
    far_front_start: Longs
    far: Ints
    far_start: Longs


class Unfetched(NamedTuple):
    """Unfetched URLs; the last row is for servers without pages."""

    number: Ints  # (S + 1,): URLs per server
    base: Ints  # (S + 1,): URLs numbered before a server's own
    touched: Ints  # (S + 1,): URLs with a link
    nowhere: int  # the first URL of servers without pages


# --- Draws


@compiled
def draw_units(chance: Words, drawn: Doubles) -> None:
    """Fill an array with numbers from [0, 1)."""
    for at in range(len(drawn)):
        drawn[at] = draw_unit(chance)


@compiled
def draw_normals(chance: Words, drawn: Doubles) -> None:
    """Fill an array with normal numbers."""
    for at in range(len(drawn)):
        drawn[at] = draw_normal(chance)


@inlined
def _first_at(depth: Bytes, start: int, end: int, value: int) -> int:
    """Return a segment's first page at this depth or deeper."""
    while start < end:
        middle = (start + end) >> 1
        if depth[middle] < value:
            start = middle + 1
        else:
            end = middle
    return start


@inlined
def _own(depth: Bytes, start: int, end: int, value: int, chance: Words) -> int:
    """Return a segment page at this depth, or NONE."""
    first = _first_at(depth, start, end, value)
    number = _first_at(depth, first, end, value + 1) - first
    return first + draw_below(chance, number) if number else NONE


@inlined
def _any(pages: Ints, starts: Longs, value: int, chance: Words) -> int:
    """Return a pool page at this depth, or NONE."""
    first, number = starts[value], starts[value + 1] - starts[value]
    return int(pages[first + draw_below(chance, number)]) if number else NONE


@inlined
def _popular(pages: Ints, starts: Longs, below: int, chance: Words) -> int:
    """Return a page of a pool, at most `below` steps from the seeds; early pages are far likelier.

    The n-th page is drawn in proportion to n ** -2/3.
    """
    end = starts[min(below + 1, len(starts) - 1)]
    if end == 0:
        return NONE
    unit = draw_unit(chance)
    return int(pages[int(unit * unit * unit * end)])


@inlined
def _of_two(depth: Bytes, start: int, middle: int, end: int, below: int, chance: Words) -> int:
    """Return a page of two adjacent segments, at most `below` steps from the seeds."""
    first = _first_at(depth, start, middle, below + 1) - start
    second = _first_at(depth, middle, end, below + 1) - middle
    if first + second == 0:
        return NONE
    at = draw_below(chance, first + second)
    return start + at if at < first else middle + at - first


# --- Depths and parents


@compiled
def close_gaps(depth: Bytes, start: int, end: int, before: int) -> None:
    """Close the depth gaps between an island's pages, behind a page at depth `before`."""
    last = before
    for page in range(start, end):
        # Only one page is the first; a second page beside it would need its own discovery.
        nearest = before + 1 if page == start else before + 2
        last = min(max(int(depth[page]), nearest), last + 1, MAX_DEPTH)
        depth[page] = last


@inlined
def _own_other(depth: Bytes, start: Ints, value: int, chance: Words) -> int:
    """Return an irrelevant page on a server at this depth, or NONE."""
    front = _own(depth, start[FRONT], start[BACK], value, chance)
    back = _own(depth, start[BACK], start[4], value, chance)
    if front == NONE or (back != NONE and draw_unit(chance) < 0.5):
        return back
    return front


@inlined
def _parent(web: GrownWeb, server: int, segment: int, value: int, chance: Words) -> int:
    """Return a page at depth `value` that links to a page in a server segment."""
    kind = int(web.kind[server])
    is_island = kind in (ISLAND, REMOTE)
    start, depth, parent = web.start[server], web.depth, NONE
    if segment == LINKED and is_island:
        parent = _own(depth, start[LINKED], start[FRONT], value, chance)
    if segment == FRONT and kind == REMOTE:
        parent = _any(web.far_front, web.far_front_start, value, chance)
    if segment == SHY:
        # Hidden pages of a server are behind the same page.
        first = _first_at(depth, start[FRONT], start[4], value)
        if first < start[4] and depth[first] == value:
            parent = first
    if parent == NONE and (segment in (SHY, BACK) or (segment == LINKED and is_island)):
        parent = _own_other(depth, start, value, chance)
        if parent == NONE and kind == OTHER:
            parent = _any(web.far, web.far_start, value, chance)
        elif parent == NONE:
            parent = _any(web.near, web.near_start, value, chance)
    if parent == NONE and kind == OPEN:
        parent = _own(depth, start[LINKED], start[SHY], value, chance)
    while parent == NONE and value >= 0:
        parent = _any(web.linked, web.linked_start, value, chance)
        value -= 1
    return parent


@compiled
def find_parents(web: GrownWeb, chance: Words, parent: Ints) -> None:
    """Choose a parent per page: a linking page one step nearer to the seeds.

    NONE for the seeds, at depth 0.
    """
    for server in range(len(web.kind)):
        start = web.start[server]
        for segment in range(4):
            for page in range(start[segment], start[segment + 1]):
                value = int(web.depth[page]) - 1
                parent[page] = NONE
                if value >= 0:
                    parent[page] = _parent(web, server, segment, value, chance)


# --- Links


@inlined
def _is_new(target: Ints, start: int, end: int, vertex: int) -> bool:
    for at in range(start, end):  # noqa: SIM110  # numba knows no generators
        if target[at] == vertex:
            return False
    return True


@inlined
def _unfetched(cell: int, row: int, number: int, touched: Ints, chance: Words) -> int:
    """Return an unfetched URL of a server, unlinked URLs first, or NONE."""
    if number == 0:
        return NONE
    if touched[row] < number and cell in (INTRA_UNKNOWN, NOWHERE):
        touched[row] += 1
        return int(touched[row]) - 1
    return draw_below(chance, number)


@inlined
def _of_server(start: Ints, depth: Bytes, page: int, is_relevant: bool, chance: Words) -> int:
    """Return a relevant or irrelevant page on the page's server, or NONE."""
    below, is_source_relevant = int(depth[page]) + 1, page < start[FRONT]
    if is_relevant:
        end = start[SHY] if is_source_relevant else start[FRONT]
        return _of_two(depth, start[LINKED], start[SHY], end, below, chance)
    end = start[BACK] if is_source_relevant else start[4]
    return _of_two(depth, start[FRONT], start[BACK], end, below, chance)


@compiled
def link(  # noqa: PLR0912, PLR0915  # a call would count the references of all of its arrays
    web: GrownWeb,
    urls: Unfetched,
    child_start: Longs,
    child: Ints,
    number: Bytes,
    begins: Longs,
    target: Ints,
    chance: Words,
) -> int:
    """Write the links of all pages, unique per page and unordered; return the link count.

    The children of a page begin at `child_start` (n + 1,) in `child`. `number` (N_CELLS, n) links
    of each kind are wanted beside links to children; a page without a new link target has fewer.
    `begins` and `target` are `link_start` and `link_target` of the graph.
    """
    # Each tuple is read once: numba counts the references of each array that is read.
    start, kind, home, depth, linked, linked_start, front, front_start = web[:8]
    far_front, far_front_start, far, far_start = web[10:]
    of_server, base, touched, nowhere = urls
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
                    if cell in (INTRA_UNKNOWN, UNKNOWN_NEAR, UNKNOWN_FAR, NOWHERE):
                        if cell == UNKNOWN_NEAR:
                            row = home[front[draw_below(chance, len(front))]]
                        elif cell == UNKNOWN_FAR:
                            row = home[far[draw_below(chance, len(far))]]
                        elif cell == NOWHERE:
                            row = len(kind)
                        url = _unfetched(cell, row, int(of_server[row]), touched, chance)
                        if url != NONE:
                            other = url + nowhere
                            if cell != NOWHERE:
                                other = url + start[row, 4] + base[row]
                    else:
                        if cell in (INTRA_RELEVANT, INTRA_OTHER):
                            is_relevant = cell == INTRA_RELEVANT
                            other = _of_server(start[server], depth, page, is_relevant, chance)
                        elif cell == INTER_RELEVANT:
                            other = _popular(linked, linked_start, below, chance)
                        elif cell == INTER_NEAR:
                            other = _popular(front, front_start, below, chance)
                        elif kind[server] != OTHER:
                            other = _popular(far_front, far_front_start, below, chance)
                        else:
                            other = _popular(far, far_start, below, chance)
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
            for at in range(end - 1, first, -1):
                other = first + draw_below(chance, at + 1 - first)
                target[at], target[other] = target[other], target[at]
        after = start[server, 4] + base[server]
        begins[after : after + of_server[server]] = end
    begins[nowhere:] = end
    return end


@compiled
def place_directories(
    web: GrownWeb, urls: Unfetched, chance: Words, base: Ints, directory: Ints
) -> None:
    """Assign vertices to the directories of their servers, which begin at `base` (S + 1,).

    Relevant pages are in the first seven tenths of a server's directories, other pages of relevant
    servers in the last; three pages in ten are in none.
    """
    for server in range(len(web.kind)):
        start, number = web.start[server], base[server + 1] - base[server]
        part = number - int(0.3 * number)
        for page in range(start[0], start[4] + urls.number[server]):
            at = NONE
            if number and draw_unit(chance) >= 0.3:
                if page < start[FRONT]:
                    at = base[server] + draw_below(chance, part)
                elif page < start[4] and web.kind[server] != OTHER:
                    at = base[server + 1] - 1 - draw_below(chance, part)
                else:
                    at = base[server] + draw_below(chance, number)
            directory[page + urls.base[server]] = at
