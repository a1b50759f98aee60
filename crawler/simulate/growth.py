"""The compiled part of the generator: depths, parents and links of a Web's pages.

Pages are numbered server by server, and within a server by segment: relevant pages that relevant
pages link to (`LINKED`), relevant pages that only others link to (`SHY`), other pages that
relevant pages link to (`FRONT`), and the rest (`BACK`). A segment is sorted by depth, the
distance from the seeds. A page has one parent, one step nearer to the seeds, that links to it;
no other link skips a step, so that depths are what a breadth-first search will find.

All compiled code stands in this one module: numba's cache looks at the file of a function, not
at the files of what it calls.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

LINKED, SHY, FRONT, BACK = range(4)
"""Segments of a server."""

OPEN, ISLAND, REMOTE, OTHER = range(4)
"""Kinds of servers: with relevant pages that relevant pages link to; with relevant pages behind
others only, whose first page is linked from a relevant page, or from a server without any; with no
relevant page."""

INTRA_RELEVANT, INTRA_OTHER, INTRA_UNKNOWN = 0, 1, 2
INTER_RELEVANT, INTER_NEAR, INTER_FAR = 3, 4, 5
UNKNOWN_NEAR, UNKNOWN_FAR, NOWHERE = 6, 7, 8
N_CELLS: Final = 9
"""Kinds of links by their targets: on the same server a relevant page, another page, a URL that was
never fetched; on another server a relevant page, another page of a server with relevant pages
(near) or without (far); such URLs; URLs of servers without any page."""

MAX_DEPTH: Final = 31
_TRIES = 8
_NONE = -1
_MOST_LINKS = 255
_ROOM = np.float32(0.8)


class GrownServers(NamedTuple):
    """S servers: `start` (S, 5) are the first pages of its segments and the page after the last.

    `kind` (S,), `warmth` (S,) normal: the lower, the nearer to the seeds; `chain` (S,) pages in
    a row lead to the first relevant page of an island, `thickness` (S,) others stand beside the
    last of them.
    """

    start: Ints
    kind: Bytes
    warmth: Floats
    chain: Ints
    thickness: Ints


class Pools(NamedTuple):
    """Pages that links from other servers point to, by depth: those of depth d begin at [d].

    `linked` relevant pages, `front` and `near` other pages of servers with relevant ones,
    `far_front` and `far` those of servers without.
    """

    linked: Ints
    linked_start: Longs
    front: Ints
    front_start: Longs
    near: Ints
    near_start: Longs
    far_front: Ints
    far_front_start: Longs
    far: Ints
    far_start: Longs


# --- Chance


@inlined
def _next(chance: Words) -> np.uint64:
    """The next 64 random bits (splitmix64)."""
    chance[0] += np.uint64(0x9E3779B97F4A7C15)
    word = chance[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(word ^ (word >> np.uint64(31)))


@inlined
def _unit(chance: Words) -> float:
    """A number drawn from [0, 1)."""
    return float(np.int64(_next(chance) >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@inlined
def _below(chance: Words, end: int) -> int:
    return int(_unit(chance) * end)


@inlined
def _normal(chance: Words) -> float:
    radius = math.sqrt(-2.0 * math.log(1.0 - _unit(chance)))
    return radius * math.cos(2.0 * math.pi * _unit(chance))


# --- Depths


@compiled
def draw_places(servers: GrownServers, closeness: float, chance: Words, places: Floats) -> None:
    """For each page a normal number; those of one server are correlated by `closeness`."""
    own = math.sqrt(closeness)
    rest = math.sqrt(1.0 - closeness)
    for server in range(len(servers.kind)):
        for page in range(servers.start[server, 0], servers.start[server, 4]):
            places[page] = own * servers.warmth[server] + rest * _normal(chance)


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
def _make_island(servers: GrownServers, server: int, depth: Bytes) -> None:
    """Put the relevant pages of an island behind its chain, and leave no gap between depths."""
    start = servers.start[server]
    home, end, chain = start[FRONT], start[4], servers.chain[server]
    entry = min(max(int(depth[home]), 2), MAX_DEPTH - 1 - chain)
    depth[home] = entry
    for step in range(1, chain):
        depth[home + step] = entry + step
    before = entry + chain - 1
    beside = home + chain
    while beside < min(home + chain + servers.thickness[server], end):
        depth[beside] = before
        beside += 1
    _close_gaps(depth, start[LINKED], start[FRONT], before)
    _close_gaps(depth, beside, end, before)


@inlined
def _close_gaps(depth: Bytes, start: int, end: int, before: int) -> None:
    last = before
    for page in range(start, end):
        # One is the first; what stands beside it would have to be found without it.
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

    Chains and what stands beside them are the first pages of a segment.
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
        # Together: what relevant pages link to is what is nearest to the seeds.
        _sort(depth, start[FRONT], start[4], counts)
        if servers.kind[server] in (ISLAND, REMOTE):
            _make_island(servers, server, depth)


# --- Pools


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


# --- Parents


@inlined
def _first_at(depth: Bytes, start: int, end: int, value: int) -> int:
    """The first page of a segment with that depth or more."""
    while start < end:
        middle = (start + end) >> 1
        if depth[middle] < value:
            start = middle + 1
        else:
            end = middle
    return start


@inlined
def _own(depth: Bytes, start: int, end: int, value: int, chance: Words) -> int:
    """A page of a segment with that depth, or -1."""
    first = _first_at(depth, start, end, value)
    number = _first_at(depth, first, end, value + 1) - first
    return first + _below(chance, number) if number else _NONE


@inlined
def _any(pages: Ints, starts: Longs, value: int, chance: Words) -> int:
    """A page of a pool with that depth, or -1."""
    first, number = starts[value], starts[value + 1] - starts[value]
    return int(pages[first + _below(chance, number)]) if number else _NONE


@inlined
def _own_other(depth: Bytes, start: Ints, value: int, chance: Words) -> int:
    """An irrelevant page of a server with that depth, or -1."""
    front = _own(depth, start[FRONT], start[BACK], value, chance)
    back = _own(depth, start[BACK], start[4], value, chance)
    if front == _NONE or (back != _NONE and _unit(chance) < 0.5):
        return back
    return front


@inlined
def _parent(
    kind: int, segment: int, depth: Bytes, start: Ints, pools: Pools, value: int, chance: Words
) -> int:
    """A page of depth `value` that links to a page of a segment."""
    is_island = kind in (ISLAND, REMOTE)
    parent = _NONE
    if segment == LINKED and is_island:
        parent = _own(depth, start[LINKED], start[FRONT], value, chance)
    if segment == FRONT and kind == REMOTE:
        parent = _any(pools.far_front, pools.far_front_start, value, chance)
    if segment == SHY:
        # Hidden pages of a server are behind the same page.
        first = _first_at(depth, start[FRONT], start[4], value)
        if first < start[4] and depth[first] == value:
            parent = first
    if parent == _NONE and (segment in (SHY, BACK) or (segment == LINKED and is_island)):
        parent = _own_other(depth, start, value, chance)
        if parent == _NONE and kind == OTHER:
            parent = _any(pools.far, pools.far_start, value, chance)
        elif parent == _NONE:
            parent = _any(pools.near, pools.near_start, value, chance)
    if parent == _NONE and kind == OPEN:
        parent = _own(depth, start[LINKED], start[SHY], value, chance)
    while parent == _NONE and value >= 0:
        parent = _any(pools.linked, pools.linked_start, value, chance)
        value -= 1
    return parent


@compiled
def find_parents(
    servers: GrownServers, depth: Bytes, pools: Pools, chance: Words, parent: Ints
) -> None:
    """Choose the parent of each page; -1 for the seeds, which have depth 0."""
    for server in range(len(servers.kind)):
        start, kind = servers.start[server], int(servers.kind[server])
        for segment in range(4):
            for page in range(start[segment], start[segment + 1]):
                value = int(depth[page]) - 1
                if value < 0:
                    parent[page] = _NONE
                else:
                    parent[page] = _parent(kind, segment, depth, start, pools, value, chance)


# --- How many links


@inlined
def source_class(is_relevant: bool, kind: int) -> int:
    """0: a relevant page; 1: another page of a server with relevant ones; 2: of one without."""
    if is_relevant:
        return 0
    return 2 if kind == OTHER else 1


@compiled
def count_tree(servers: GrownServers, home: Ints, parent: Ints, counts: Longs) -> None:
    """Count the links from parents, (3, N_CELLS), by source and target."""
    for page in range(len(parent)):
        source = parent[page]
        if source == _NONE:
            continue
        server, other = home[source], home[page]
        is_relevant = source < servers.start[server, FRONT]
        row = source_class(is_relevant, int(servers.kind[server]))
        if page < servers.start[other, FRONT]:
            cell = INTRA_RELEVANT if server == other else INTER_RELEVANT
        elif server == other:
            cell = INTRA_OTHER
        else:
            cell = INTER_FAR if servers.kind[other] == OTHER else INTER_NEAR
        counts[row, cell] += 1


@compiled
def classify(servers: GrownServers, row: Bytes) -> None:
    """Write the class of each page, see `source_class`."""
    for server in range(len(servers.kind)):
        start = servers.start[server]
        for page in range(start[0], start[4]):
            row[page] = source_class(bool(page < start[FRONT]), int(servers.kind[server]))


@compiled
def list_children(parent: Ints, home: Ints, start: Longs, child: Ints, own: Longs) -> int:
    """List the pages that each page is the parent of; return how many pages have a parent.

    `start` (n + 1,) of zeros is where the children of a page begin in `child`; `own` (n,) of zeros
    counts those on its server.
    """
    for page in range(len(parent)):
        if parent[page] != _NONE:
            start[parent[page] + 1] += 1
            own[parent[page]] += home[parent[page]] == home[page]
    for page in range(len(parent)):
        start[page + 1] += start[page]
    at = start[:-1].copy()
    for page in range(len(parent)):
        if parent[page] != _NONE:
            child[at[parent[page]]] = page
            at[parent[page]] += 1
    return int(start[-1])


@inlined
def _eligible(depth: Bytes, start: int, end: int, value: int) -> int:
    return _first_at(depth, start, end, value + 1) - start


@compiled
def count_room(
    servers: GrownServers,
    depth: Bytes,
    children: Longs,
    own: Longs,
    relevant: Floats,
    other: Floats,
) -> None:
    """How many more links to relevant and to other pages of its own server each page can have.

    `children` (n + 1,) begins the children of each page, `own` (n,) of them are on its server.
    """
    for server in range(len(servers.kind)):
        start = servers.start[server]
        for page in range(start[0], start[4]):
            below = int(depth[page]) + 1
            linked = _eligible(depth, start[LINKED], start[SHY], below)
            front = _eligible(depth, start[FRONT], start[BACK], below)
            if page >= start[FRONT]:
                linked += _eligible(depth, start[SHY], start[FRONT], below)
                front += _eligible(depth, start[BACK], start[4], below)
            else:
                linked -= 1
            all_own = max(linked + front, 1)
            taken = float(own[page]) / all_own
            relevant[page] = max(linked * (1.0 - taken), 0.0) * _ROOM
            other[page] = max(front * (1.0 - taken), 0.0) * _ROOM


@compiled
def sum_capped(activity: Floats, room: Floats, row: Bytes, of: int, factor: float) -> float:
    """The links of the pages of one class, where each has as many as it has room for at most."""
    total = 0.0
    for page in range(len(activity)):
        if row[page] == of:
            total += min(factor * activity[page], room[page])
    return total


@compiled
def give_links(
    activity: Floats,
    room: Floats,
    row: Bytes,
    factors: Doubles,
    is_capped: bool,
    chance: Words,
    number: Bytes,
) -> None:
    """Whole numbers of links, in proportion to activity; `factors` (3,) by class."""
    for page in range(len(activity)):
        links = factors[row[page]] * activity[page]
        if is_capped:
            links = min(links, float(room[page]))
        number[page] = min(int(links + _unit(chance)), _MOST_LINKS)


# --- Links


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


@inlined
def _popular(end: int, chance: Words) -> int:
    """A place in [0, end), the first ones far more often: the n-th in proportion to n ** -2/3."""
    unit = _unit(chance)
    return int(unit * unit * unit * end)


@inlined
def _from_pool(pages: Ints, starts: Longs, below: int, chance: Words) -> int:
    end = starts[min(below + 1, len(starts) - 1)]
    return int(pages[_popular(end, chance)]) if end else _NONE


@inlined
def _from_segments(
    depth: Bytes, start: int, middle: int, end: int, below: int, chance: Words
) -> int:
    """A page of two segments that stand together, at most `below` steps from the seeds."""
    first = _eligible(depth, start, middle, below)
    second = _eligible(depth, middle, end, below)
    if first + second == 0:
        return _NONE
    at = _below(chance, first + second)
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
        other = start + _below(chance, at + 1 - start)
        target[at], target[other] = target[other], target[at]


@inlined
def _some_url(cell: int, row: int, number: int, touched: Ints, chance: Words) -> int:
    """One of a server's URLs that were never fetched, one without a link first, or -1."""
    if number == 0:
        return _NONE
    if touched[row] < number and cell in (INTRA_UNKNOWN, NOWHERE):
        touched[row] += 1
        return int(touched[row]) - 1
    return _below(chance, number)


@compiled
def link(  # noqa: PLR0912, PLR0915  # see `crawler.simulate.kernel.crawl`
    servers: GrownServers,
    home: Ints,
    depth: Bytes,
    child_start: Longs,
    child: Ints,
    number: Bytes,
    pools: Pools,
    urls: Unfetched,
    chance: Words,
    link_start: Longs,
    target: Ints,
) -> int:
    """Write the links of all pages, each once, in no order; return how many there are.

    `number` (N_CELLS, n) of them are wanted beside those to `child`ren; a page that has nothing new
    to link to has fewer.
    """
    linked_pool, linked_start = pools.linked, pools.linked_start
    front_pool, front_start = pools.front, pools.front_start
    far_front, far_front_start = pools.far_front, pools.far_front_start
    far, far_start = pools.far, pools.far_start
    url_number, url_base, touched = urls.number, urls.base, urls.touched
    starts, kinds = servers.start, servers.kind
    end = 0
    for server in range(len(kinds)):
        linked, shy, front, back, last = starts[server]
        is_near, base = kinds[server] != OTHER, int(url_base[server])
        for page in range(linked, last):
            vertex = int(page + base)
            link_start[vertex] = first = end
            for at in range(child_start[page], child_start[page + 1]):
                target[end] = child[at] + url_base[home[child[at]]]
                end += 1
            is_relevant = page < front
            below = int(depth[page]) + 1
            for cell in range(N_CELLS):
                left = int(number[cell, page])
                tries = left * _TRIES
                while left and tries:
                    tries -= 1
                    if cell == INTRA_RELEVANT:
                        stop = shy if is_relevant else front
                        other = _from_segments(depth, linked, shy, stop, below, chance)
                    elif cell == INTRA_OTHER:
                        stop = back if is_relevant else last
                        other = _from_segments(depth, front, back, stop, below, chance)
                    elif cell == INTER_RELEVANT:
                        other = _from_pool(linked_pool, linked_start, below, chance)
                    elif cell == INTER_NEAR:
                        other = _from_pool(front_pool, front_start, below, chance)
                    elif cell == INTER_FAR and is_near:
                        other = _from_pool(far_front, far_front_start, below, chance)
                    elif cell == INTER_FAR:
                        other = _from_pool(far, far_start, below, chance)
                    elif cell == NOWHERE:
                        row = len(kinds)
                        other = _some_url(cell, row, urls.n_nowhere, touched, chance)
                    else:
                        row = server
                        if cell == UNKNOWN_NEAR:
                            row = int(home[front_pool[_below(chance, len(front_pool))]])
                        elif cell == UNKNOWN_FAR:
                            row = int(home[far[_below(chance, len(far))]])
                        other = _some_url(cell, row, int(url_number[row]), touched, chance)
                    if other == _NONE:
                        break
                    if cell == NOWHERE:
                        other += urls.nowhere
                    elif cell in (INTRA_UNKNOWN, UNKNOWN_NEAR, UNKNOWN_FAR):
                        other += int(starts[row, 4] + url_base[row])
                    else:
                        if cell >= INTER_RELEVANT and home[other] == server:
                            continue
                        other += int(url_base[home[other]])
                    if other != vertex and _is_new(target, first, end, other):
                        target[end] = other
                        end += 1
                        left -= 1
            _shuffle(target, first, end, chance)
        after = int(last + base)
        link_start[after : after + url_number[server]] = end
    link_start[urls.nowhere :] = end
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
            at = _NONE
            if number and _unit(chance) >= 0.3:
                if page < start[FRONT]:
                    at = base[server] + _below(chance, part)
                elif page < start[4] and servers.kind[server] != OTHER:
                    at = base[server + 1] - 1 - _below(chance, part)
                else:
                    at = base[server] + _below(chance, number)
            directory[page + urls.base[server]] = at
