"""The compiled simulation: the frontier and its filters as loops over arrays.

What `crawler.strategies.filters` and `crawler.frontier` decide is decided here too, in the same
order; tests hold both together. Two things differ in the doing, not in the result. A URL that was
found has a number, its place in the order of discovery, and queues hold numbers. What a unit that
turned irrelevant has in the queue is skipped when its turn comes: with one worker such a unit
gives no page any more, so it never turns relevant again and a URL is queued at most once.

All compiled code stands in this one module: numba's cache looks at the file of a function, not
at the files of what it calls.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.instructions import prefetch
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint32]

STATUS: Final = 3
"""The bits of a vertex's state that are its `page_status`."""
RELEVANT: Final = 4
WANTED: Final = 8
"""Set where the perfect strategy follows links to a vertex; elsewhere it is set for all."""
PLACE: Final = 0x30
UNSEEN: Final = 0x00
LOW: Final = 0x10
"""Queued; with `SOFT`, behind all that is queued `HIGH`."""
HIGH: Final = 0x20
SETTLED: Final = 0x30

FIFO, SOFT, DEPTH, SCORE, DRAW = range(5)
"""How the next URL is found: first found; from links of relevant pages first; least depth; best
score; drawn uniformly."""

N_PAGES, QUEUED, STORED, SEEN, REJECTED, HOST_FULL, DROPPED = range(7)
FOUND, FIRST_LOW, HEAP = range(7, 10)
N_COUNTS: Final = 10
"""What `Memory.counts` holds: results, then how far the queues are filled and read."""

ENDED, PAUSED = 0, 1
_SPARE_WORDS = 128
_NONE = -1
_PAGES_AHEAD = 4
_LINKS_AHEAD = 64
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


class WebArrays(NamedTuple):
    """The columns of a graph that a crawl reads; `key` uint32 (V,) is least for the best score.

    `tier` uint8 (S,) is 1 for servers from whose URLs is drawn first.
    """

    server: Ints
    directory: Ints
    link_start: Longs
    link_target: Ints
    key: Keys
    tier: Bytes


class Rules(NamedTuple):
    """The filter and the frontier's settings, see `crawler.strategies.filters.Filter`."""

    follows_irrelevant_pages: bool
    uses_relevance: bool
    is_conservative: bool
    by_directory: bool
    tolerance: int
    host_cap: int
    kind: int


class HighNumbers(NamedTuple):
    """The numbers queued `HIGH` as bits, the words with such bits as bits, and those again."""

    bits: Words
    words: Words
    blocks: Words


class Drawing(NamedTuple):
    """What is drawn from: the URLs of servers, which are numbered from `first` (S+1,) on.

    `admitted` (S,) of these numbers are given. `inner` (F,) sums what is queued within each
    server, `outer` (2 S,) within the servers of each tier, by their `place` (S,), as Fenwick
    trees; `at_place` (2, S) are the servers, `free` (2, S) places given up, `weight` (S,) what each
    server has queued. `tiers` (2, 4) are servers that have a place, places, free places and URLs;
    `words` are random numbers of 32 bits, of which `word` (1,) are used up.
    """

    first: Ints
    admitted: Ints
    inner: Ints
    outer: Ints
    place: Ints
    at_place: Ints
    free: Ints
    weight: Ints
    tiers: Longs
    words: Keys
    word: Longs


class Memory(NamedTuple):
    """All that changes. F vertices can be fetched; U units are S servers, then D directories.

    `state` (V,); `number` (V,) with `SOFT`; `found` and `depth` (F,) by number; the tallies of
    units `downloaded`, `relevant`, `unit_queued` and `is_dropped` (U,); `slots` (S,) of the host
    cap; `order` and `queue` are the course; `counts` (N_COUNTS,); `heap` (F,) holds keys and
    numbers.
    """

    state: Bytes
    number: Ints
    found: Ints
    depth: Ints
    downloaded: Ints
    relevant: Ints
    unit_queued: Ints
    is_dropped: Bytes
    slots: Ints
    order: Ints
    queue: Ints
    counts: Longs
    heap: Words
    high: HighNumbers
    drawing: Drawing


# --- The rules


@inlined
def accepts(
    page_is_relevant: bool,
    source_relevant: int,
    target_downloaded: int,
    target_relevant: int,
    rules: Rules,
) -> bool:
    """`Filter.accepts`: whether a link enters the queue."""
    if not (page_is_relevant or rules.follows_irrelevant_pages):
        return False
    if rules.is_conservative and source_relevant == 0 and target_downloaded == 0:
        return False
    return not drops(target_downloaded, target_relevant, rules)


@inlined
def drops(downloaded: int, relevant: int, rules: Rules) -> bool:
    """`Filter.drops`: whether a unit is irrelevant."""
    return rules.uses_relevance and relevant == 0 and downloaded > rules.tolerance


@inlined
def _unit(server: Ints, directory: Ints, n_servers: int, by_directory: bool, vertex: int) -> int:
    """The server of a vertex, or its directory: those have the numbers after all servers."""
    if by_directory and directory[vertex] >= 0:
        return n_servers + int(directory[vertex])
    return int(server[vertex])


# --- Numbers queued HIGH: the least is found through words of words


@inlined
def _lowest_bit(word: np.uint64) -> np.uint64:
    """The position of the lowest bit of a word that is not 0."""
    at = np.uint64(0)
    for shift in (32, 16, 8, 4, 2, 1):
        if word & ((_ONE << np.uint64(shift)) - _ONE) == 0:
            word >>= np.uint64(shift)
            at += np.uint64(shift)
    return at


@inlined
def _add_high(bits: Words, words: Words, blocks: Words, number: int) -> None:
    at = np.uint64(number)
    bits[at >> _SIX] |= _ONE << (at & _LOW_SIX)
    at >>= _SIX
    words[at >> _SIX] |= _ONE << (at & _LOW_SIX)
    at >>= _SIX
    blocks[at >> _SIX] |= _ONE << (at & _LOW_SIX)


@inlined
def _take_high(bits: Words, words: Words, blocks: Words) -> int:
    """The least number queued HIGH, which is taken out, or -1."""
    for top in range(len(blocks)):
        if blocks[top]:
            block = np.uint64(top) << _SIX | _lowest_bit(blocks[top])
            word = block << _SIX | _lowest_bit(words[block])
            number = word << _SIX | _lowest_bit(bits[word])
            bits[word] &= bits[word] - _ONE
            if not bits[word]:
                words[block] &= words[block] - _ONE
                if not words[block]:
                    blocks[top] &= blocks[top] - _ONE
            return int(np.int64(number))
    return _NONE


@inlined
def _take_low(state: Bytes, found: Ints, counts: Longs) -> int:
    """The least number that is queued LOW, or -1; its place tells when it has left."""
    while counts[FIRST_LOW] < counts[FOUND]:
        number = counts[FIRST_LOW]
        counts[FIRST_LOW] += 1
        if state[found[number]] & PLACE == LOW:
            return int(number)
    return _NONE


# --- Keys in a heap of four branches


@inlined
def _add_key(heap: Words, counts: Longs, key: int, number: int) -> None:
    at = counts[HEAP]
    counts[HEAP] += 1
    entry = np.uint64(key) << _HALF | np.uint64(number)
    while at > 0:
        above = (at - 1) >> 2
        if heap[above] <= entry:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = entry


@inlined
def _take_key(heap: Words, counts: Longs) -> int:
    """The number with the least key, of equal ones the least number, or -1."""
    size = counts[HEAP] - 1
    if size < 0:
        return _NONE
    counts[HEAP] = size
    best, entry, at = heap[0], heap[size], 0
    while 4 * at + 1 < size:
        below = 4 * at + 1
        for other in range(below + 1, min(below + 4, size)):
            if heap[other] < heap[below]:
                below = other
        if heap[below] >= entry:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = entry
    return int(np.int64(best & _LOW_HALF))


# --- Numbers drawn: servers have the places that `crawler.frontier.selection.Weights` gives them

_SERVERS, _PLACES, _FREE, _URLS = range(4)


@inlined
def _add(sums: Ints, first: int, size: int, at: int, by: int) -> None:
    """Add to a row of the Fenwick tree that is in `size` rows of an array from `first` on."""
    at += 1
    while at <= size:
        sums[first + at - 1] += by
        at += at & -at


@inlined
def _find(sums: Ints, first: int, size: int, position: int) -> tuple[int, int]:
    """The row of a Fenwick tree that a position is in, and where in its weight that is."""
    at, step = 0, 1
    while 2 * step <= size:
        step *= 2
    while step:
        after = at + step
        if after <= size and sums[first + after - 1] <= position:
            position -= sums[first + after - 1]
            at = after
        step >>= 1
    return at, position


@inlined
def _give_place(
    place: Ints, at_place: Ints, free: Ints, tiers: Longs, server: int, tier: int
) -> None:
    tiers[tier, _SERVERS] += 1
    if tiers[tier, _FREE]:
        tiers[tier, _FREE] -= 1
        place[server] = free[tier, tiers[tier, _FREE]]
    else:
        place[server] = tiers[tier, _PLACES]
        tiers[tier, _PLACES] += 1
    at_place[tier, place[server]] = server


@inlined
def _take_place(place: Ints, free: Ints, tiers: Longs, server: int, tier: int) -> None:
    tiers[tier, _SERVERS] -= 1
    free[tier, tiers[tier, _FREE]] = place[server]
    tiers[tier, _FREE] += 1
    if tiers[tier, _SERVERS] == 0:
        tiers[tier, _FREE] = tiers[tier, _PLACES] = 0


@inlined
def _change(drawing: Drawing, server: int, at: int, tier: int, by: int) -> None:
    """Add to what is queued of a server: its URL `at` in the order of discovery."""
    first, end = int(drawing.first[server]), int(drawing.first[server + 1])
    weight, tiers, place = drawing.weight, drawing.tiers, drawing.place
    _add(drawing.inner, first, end - first, at, by)
    if weight[server] == 0:
        _give_place(place, drawing.at_place, drawing.free, tiers, server, tier)
    weight[server] += by
    tiers[tier, _URLS] += by
    _add(drawing.outer, tier * len(weight), len(weight), int(place[server]), by)
    if weight[server] == 0:
        _take_place(place, drawing.free, tiers, server, tier)


@inlined
def _draw_below(words: Keys, used: Longs, total: int) -> int:
    """A whole number in [0, total), as `random.Random.randrange` draws it."""
    bits = 0
    while total >> bits:
        bits += 1
    while True:
        word = np.int64(words[used[0]]) >> (32 - bits)
        used[0] += 1
        if word < total:
            return int(word)


@inlined
def _take_drawn(drawing: Drawing) -> int:
    """A number drawn from the first tier that has any, or -1."""
    tier = 1 if drawing.tiers[1, _URLS] else 0
    total = int(drawing.tiers[tier, _URLS])
    if total == 0:
        return _NONE
    n_servers = len(drawing.weight)
    drawn = _draw_below(drawing.words, drawing.word, total)
    place, position = _find(drawing.outer, tier * n_servers, n_servers, drawn)
    server = int(drawing.at_place[tier, place])
    first, end = int(drawing.first[server]), int(drawing.first[server + 1])
    at, _ = _find(drawing.inner, first, end - first, position)
    _change(drawing, server, at, tier, -1)
    return first + at


@inlined
def _undraw(web: WebArrays, rules: Rules, memory: Memory, server: int, unit: int) -> None:
    """Take what is queued of a unit out of the draws."""
    drawing, n_servers = memory.drawing, len(web.tier)
    for at in range(drawing.admitted[server]):
        vertex = int(memory.found[drawing.first[server] + at])
        if memory.state[vertex] & PLACE == LOW:
            own = _unit(web.server, web.directory, n_servers, rules.by_directory, vertex)
            if own == unit:
                _change(drawing, server, at, int(web.tier[server]), -1)


@inlined
def _draw_in(drawing: Drawing, server: int, tier: int) -> int:
    """Let a URL of a server be drawn; return its number."""
    at = int(drawing.admitted[server])
    drawing.admitted[server] += 1
    _change(drawing, server, at, tier, 1)
    return int(drawing.first[server] + at)


# --- The crawl


@compiled
def crawl(web: WebArrays, rules: Rules, memory: Memory, seeds: Ints, until: int) -> int:  # noqa: PLR0912, PLR0915  # see below
    """Queue seeds, crawl until there are `until` pages (PAUSED) or nothing is left (ENDED).

    Also want of random `words` is a pause. No filter applies to seeds, the host cap does.
    """
    # One long function over plain arrays: each field of a tuple and each argument of a call has its
    # references counted, which took twenty times as long as the crawl itself.
    server, directory = web.server, web.directory
    link_start, link_target = web.link_start, web.link_target
    state, found, depths = memory.state, memory.found, memory.depth
    downloaded, relevant = memory.downloaded, memory.relevant
    unit_queued, is_dropped, slots = memory.unit_queued, memory.is_dropped, memory.slots
    counts, heap = memory.counts, memory.heap
    bits, words, blocks = memory.high.bits, memory.high.words, memory.high.blocks
    kind, uses_relevance, host_cap = rules.kind, rules.uses_relevance, rules.host_cap
    n_servers, by_directory = len(web.tier), rules.by_directory
    targets, at, end = seeds, 0, len(seeds)
    vertex = depth = unit = source_relevant = 0
    is_vouched_for = source_is_relevant = True
    is_seeding, is_page, is_dropping = True, False, False
    while True:
        for link in range(at, min(end, at + _LINKS_AHEAD)):
            prefetch(state, targets[link])
            if uses_relevance:
                prefetch(server, targets[link])
        for link in range(at, end):
            target = int(targets[link])
            place = state[target] & PLACE
            if place == SETTLED or (place != UNSEEN and not uses_relevance):
                is_seen = True
            elif uses_relevance:
                target_unit = _unit(server, directory, n_servers, by_directory, target)
                is_seen = place != UNSEEN and not is_dropped[target_unit]
            else:
                is_seen = False
            if is_seen:
                counts[SEEN] += 1
                if kind == SOFT and source_is_relevant and place == LOW and state[target] & STATUS:
                    state[target] ^= LOW | HIGH
                    _add_high(bits, words, blocks, int(memory.number[target]))
                continue
            target_downloaded = target_relevant = 0
            if uses_relevance:
                target_downloaded = int(downloaded[target_unit])
                target_relevant = int(relevant[target_unit])
            if is_vouched_for:
                is_accepted = not drops(target_downloaded, target_relevant, rules)
            else:
                is_accepted = accepts(
                    source_is_relevant, source_relevant, target_downloaded, target_relevant, rules
                )
            if not (is_seeding or (is_accepted and state[target] & WANTED)):
                counts[REJECTED] += 1
                continue
            if host_cap:
                if slots[server[target]] >= host_cap:
                    counts[HOST_FULL] += 1
                    continue
                slots[server[target]] += 1
            if uses_relevance:
                unit_queued[target_unit] += 1
            counts[STORED] += 1
            counts[QUEUED] += 1
            place = LOW
            if state[target] & STATUS:
                if kind == DRAW:
                    tier = int(web.tier[server[target]])
                    number = _draw_in(memory.drawing, int(server[target]), tier)
                else:
                    number = int(counts[FOUND])
                    counts[FOUND] += 1
                if kind == SOFT:
                    memory.number[target] = number
                    if source_is_relevant:
                        place = HIGH
                        _add_high(bits, words, blocks, number)
                elif kind == DEPTH:
                    _add_key(heap, counts, depth, number)
                elif kind == SCORE:
                    _add_key(heap, counts, int(np.int64(web.key[target])), number)
                found[number] = target
                depths[number] = depth
            state[target] |= place
        if is_dropping:
            dropped = unit_queued[unit]
            is_dropped[unit] = 1
            unit_queued[unit] = 0
            counts[DROPPED] += dropped
            counts[QUEUED] -= dropped
            if host_cap:
                slots[server[vertex]] -= dropped
        if is_page:
            memory.order[counts[N_PAGES]] = vertex
            memory.queue[counts[N_PAGES]] = counts[QUEUED]
            counts[N_PAGES] += 1
        is_seeding = False
        while True:
            if counts[N_PAGES] >= until:
                return PAUSED
            if kind == DRAW:
                if memory.drawing.word[0] + _SPARE_WORDS > len(memory.drawing.words):
                    return PAUSED
                number = _take_drawn(memory.drawing)
            elif kind in (DEPTH, SCORE):
                number = _take_key(heap, counts)
            else:
                number = _take_high(bits, words, blocks) if kind == SOFT else _NONE
                if number == _NONE:
                    number = _take_low(state, found, counts)
            if number == _NONE:
                return ENDED
            # Memory is asked for the pages that are likely to come: their turn is in order.
            if kind <= SOFT and number + 2 * _PAGES_AHEAD < counts[FOUND]:
                later = found[number + 2 * _PAGES_AHEAD]
                prefetch(link_start, later)
                prefetch(state, later)
                sooner = found[number + _PAGES_AHEAD]
                prefetch(link_target, link_start[sooner])
                if uses_relevance:
                    prefetch(server, sooner)
            vertex = int(found[number])
            if uses_relevance:
                unit = _unit(server, directory, n_servers, by_directory, vertex)
                if is_dropped[unit]:
                    continue
            break
        state[vertex] |= SETTLED
        counts[QUEUED] -= 1
        status = state[vertex] & STATUS
        is_page, is_redirect = bool(status == PAGE), bool(status == REDIRECT)
        is_relevant = state[vertex] & RELEVANT != 0
        is_vouched_for = bool(is_redirect or depths[number] == 0)
        source_is_relevant = bool(is_redirect or is_relevant)
        depth = int(depths[number]) if is_redirect else int(depths[number]) + 1
        if uses_relevance:
            unit_queued[unit] -= 1
            downloaded[unit] += is_page
            relevant[unit] += is_relevant
            source_relevant = int(relevant[unit])
            is_dropping = is_page and drops(int(downloaded[unit]), source_relevant, rules)
            if is_dropping and kind == DRAW:
                _undraw(web, rules, memory, int(server[vertex]), unit)
        if is_redirect and host_cap:
            slots[server[vertex]] -= 1
        targets, at = link_target, int(link_start[vertex])
        end = at if status == FAILED else int(link_start[vertex + 1])


# --- The perfect strategy


@compiled
def mark_wanted(
    link_start: Longs, link_target: Ints, seeds: Ints, state: Bytes, reached: Ints, parent: Ints
) -> None:
    """Set WANTED on the way from the seeds to each relevant vertex, in a breadth-first tree.

    Of pages that are equally near, a relevant one is preferred as parent.
    `reached` (F,) and `parent` (V,) are written over.
    """
    end = 0
    for vertex in seeds:
        if not state[vertex] & PLACE and state[vertex] & STATUS:
            state[vertex] |= SETTLED
            parent[vertex] = _NONE
            reached[end] = vertex
            end += 1
    at, next_depth = 0, end
    while at < end:
        if at == next_depth:
            for later in range(at, end):
                state[reached[later]] |= SETTLED
            next_depth = end
        vertex = reached[at]
        is_relevant = state[vertex] & RELEVANT != 0
        at += 1
        for link in range(link_start[vertex], link_start[vertex + 1]):
            target = link_target[link]
            place = state[target] & PLACE
            if place == UNSEEN and state[target] & STATUS:
                state[target] |= LOW
                parent[target] = vertex
                reached[end] = target
                end += 1
            elif place == LOW and is_relevant and not state[parent[target]] & RELEVANT:
                parent[target] = vertex
    for at in range(end - 1, -1, -1):
        vertex = reached[at]
        state[vertex] &= ~np.uint8(PLACE)
        if state[vertex] & RELEVANT:
            state[vertex] |= WANTED
        if state[vertex] & WANTED and parent[vertex] != _NONE:
            state[parent[vertex]] |= WANTED
