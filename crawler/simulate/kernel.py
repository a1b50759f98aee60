"""The compiled simulation: the frontier and its filters as loops over arrays.

The rules of `crawler.strategies.filters` and `crawler.frontier` are written here a second time, in
the same order, and tests compare the two. The results are equal, two of the means differ. A URL has
a number, its place in the order of discovery, and queues hold numbers. The queued URLs of a unit
that turned irrelevant are skipped when their turn comes. With one worker such a unit gives no page
any more, so it never turns relevant again, and a URL is queued at most once.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.instructions import prefetch
from crawler.simulate.drawing import Drawing, change, draw_in, take_drawn
from crawler.simulate.queues import (
    EMPTY,
    HEAP,
    HighNumbers,
    add_high,
    add_key,
    take_high,
    take_key,
)
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
FOUND, FIRST_LOW = range(7, HEAP)
N_COUNTS: Final = 10
"""What `Memory.counts` holds: results, then how far the queues are filled and read."""

ENDED, PAUSED = 0, 1
_SPARE_WORDS = 128
_PAGES_AHEAD = 4
_LINKS_AHEAD = 64


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


@inlined
def _take_low(state: Bytes, found: Ints, counts: Longs) -> int:
    """The least number that is queued LOW, or -1; its place tells when it has left."""
    while counts[FIRST_LOW] < counts[FOUND]:
        number = counts[FIRST_LOW]
        counts[FIRST_LOW] += 1
        if state[found[number]] & PLACE == LOW:
            return int(number)
    return EMPTY


@inlined
def _undraw(web: WebArrays, rules: Rules, memory: Memory, server: int, unit: int) -> None:
    """Take the queued URLs of a unit out of the draws."""
    drawing, n_servers = memory.drawing, len(web.tier)
    for at in range(drawing.admitted[server]):
        vertex = int(memory.found[drawing.first[server] + at])
        if memory.state[vertex] & PLACE == LOW:
            own = _unit(web.server, web.directory, n_servers, rules.by_directory, vertex)
            if own == unit:
                change(drawing, server, at, int(web.tier[server]), -1)


# --- The crawl


@compiled
def crawl(web: WebArrays, rules: Rules, memory: Memory, seeds: Ints, until: int) -> int:  # noqa: PLR0912, PLR0915  # see below
    """Queue seeds, crawl until there are `until` pages (PAUSED) or nothing is left (ENDED).

    It also pauses where random `words` run out. No filter applies to seeds, the host cap does.
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
                    add_high(bits, words, blocks, int(memory.number[target]))
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
                    number = draw_in(memory.drawing, int(server[target]), tier)
                else:
                    number = int(counts[FOUND])
                    counts[FOUND] += 1
                if kind == SOFT:
                    memory.number[target] = number
                    if source_is_relevant:
                        place = HIGH
                        add_high(bits, words, blocks, number)
                elif kind == DEPTH:
                    add_key(heap, counts, depth, number)
                elif kind == SCORE:
                    add_key(heap, counts, int(np.int64(web.key[target])), number)
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
                number = take_drawn(memory.drawing)
            elif kind in (DEPTH, SCORE):
                number = take_key(heap, counts)
            else:
                number = take_high(bits, words, blocks) if kind == SOFT else EMPTY
                if number == EMPTY:
                    number = _take_low(state, found, counts)
            if number == EMPTY:
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
