"""The compiled crawl of a Web graph: frontier, filters and orderings in one loop.

This module implements the rules of `crawler.strategies.filters` and `crawler.frontier` a second
time, in the same order; tests compare both. URLs are numbered by discovery, and queues hold
numbers. Queued URLs of an irrelevant unit are skipped on removal from the queue. With one worker,
no page of an irrelevant unit is fetched, so no unit turns relevant again, and a URL is queued at
most once.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.crawler.frontier.learning import LEAST_CHANGE, MOST_TRIED
from langfocus.crawler.simulate.queues import (
    EMPTY,
    SIZE,
    Doubles,
    Ints,
    Longs,
    Words,
    add_scored,
    add_to_bag,
    draw,
    draw_below,
    is_better,
    move,
    remove_scored,
    second_place,
)
from langfocus.crawler.simulate.webgraph import FAILED, PAGE, REDIRECT
from langfocus.crawler.strategies import filters
from langfocus.crawler.strategies.focus.belief import MOST_COUNTED
from langfocus.crawler.strategies.focus.evidence import DOUBTS_UP_TO, N_FACTS, N_LINKS
from langfocus.crawler.strategies.focus.kernel import fill, learn_from, score_of

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

STATUS: Final = 3
"""Bits of a vertex's state with the `page_status`."""
RELEVANT: Final = 4
WANTED: Final = 8
"""The perfect strategy follows links to this vertex; other strategies set it everywhere."""
QUEUED: Final = 16
"""Set for a vertex that was ever queued."""
SETTLED: Final = 32
LABELLED: Final = 64
"""Set for a page with a label."""
SOFT, DEPTH, SCORE, DRAW, LEARNED = range(5)
"""How the next URL is chosen. With DRAW: at random; else by score. Scores are 1 for links of
relevant pages and 0 for others (SOFT), minus the depth (DEPTH), the graph's (SCORE), or learned
(LEARNED, for `focus`)."""

N_PAGES, WAITING, STORED, SEEN, REJECTED, HOST_FULL, DROPPED, FOUND = range(8)
CLOCK, CONTACTED, RESTED, N_COUNTS = range(8, 12)
"""Places in `Memory.counts`: results; then the clock in fetches, the contacts, and the contacts
whose server has rested since."""

_MOST_HALVINGS: Final = 62

is_irrelevant = inlined(filters.is_irrelevant)


@inlined
def declined(tolerance: int, half_life: int, n_pages: int) -> int:
    """Return the tolerance after `n_pages`; constant with a half-life of 0."""
    return tolerance >> min(n_pages // half_life, _MOST_HALVINGS) if half_life else tolerance


class WebArrays(NamedTuple):
    """Columns of a graph with V vertices, L links and S servers."""

    server: Ints  # (V,)
    unit: Ints  # (V,): server of a vertex, or directory, numbered after all servers
    link_start: Longs  # (V + 1,)
    link_target: Ints  # (L,)
    score: Floats  # (V,) with SCORE
    tier: Bytes  # (S,): 1 for servers whose URLs are drawn first
    shard: Ints  # (S,): the shard of a server
    first: Longs  # (n_shards + 1,): start of each shard in `Memory.heap`


class Rules(NamedTuple):
    """The filter (`crawler.strategies.filters.Filter`), the caps and the ordering."""

    follows_irrelevant_pages: bool
    uses_relevance: bool
    is_conservative: bool
    closes_servers: bool
    tolerance: int
    half_life: int
    host_cap: int
    host_queue: int
    kind: int
    choices: int  # shards whose best URLs are compared, 1 or 2
    rest: int  # fetches between two of one host; 0: no host rests


class Memory(NamedTuple):
    """Mutable state for F fetchable vertices and U units; the last S units are whole servers."""

    state: Bytes  # (V,)
    number: Ints  # (V,) with SOFT and LEARNED
    found: Ints  # (F,): vertex per URL number
    depth: Ints  # (F,)
    downloaded: Ints  # (U,): pages
    relevant: Ints  # (U,): relevant pages
    queued: Ints  # (U,): queued URLs
    is_closed: Bytes  # (U,): the unit turned irrelevant
    sent: Ints  # (S,): URLs that got a request
    waiting: Ints  # (S,): queued URLs
    order: Ints  # the pages of the course
    queue: Ints  # queue size after each page
    counts: Longs  # (N_COUNTS,)
    heap: Ints  # (F,): a heap for each shard, with DRAW a bag
    sizes: Longs  # (n_shards, 2): fill level of each heap or bag
    score: Doubles  # (F,) but with DRAW
    place: Ints  # (F,) but with DRAW: heap position of a URL number, or EMPTY
    chance: Words  # (1,): state of the random generator
    ready: Longs  # (S,): earliest next contact of a server
    contacted: Ints  # (F,): server of each fetch
    parked: Ints  # (S,): a URL of a resting server, or EMPTY
    parked_next: Ints  # (F,): the next parked URL of the same server, or EMPTY


class Learning(NamedTuple):
    """Evidence (E rows), unit records (R) and belief of `focus`."""

    facts: Floats  # (E, N_FACTS): per vertex, or per server with `by_server`
    by_server: bool
    deepest: Ints  # (V,): the smallest unit of a vertex
    parent: Ints  # (R,): enclosing unit; -1 for a registered domain
    strength: float  # of the prior
    labelled: Ints  # (R,): pages with a label
    relevant: Ints  # (R,)
    total: Longs  # (2,): pages with a label, relevant pages
    links: Bytes  # (F, N_LINKS): pages that link to a URL
    mean: Doubles  # (k,): the weights
    covariance: Doubles  # (k, k)
    known: Doubles  # (N_FACTS + N_LINKS + 2 N_UNITS,): scratch
    row: Doubles  # (k,): features of one URL, scratch
    gain: Doubles  # (k,): scratch


# --- Scores that are learned


@inlined
def _read(learning: Learning, number: int, vertex: int, host: int) -> None:
    """Write the features of a URL into `row`."""
    facts, by_server, deepest, parent, strength, labelled, relevant, total, links = learning[:9]
    known, row = learning.known, learning.row
    known[:] = 0.0
    for column in range(N_FACTS):
        known[column] = facts[host if by_server else vertex, column]
    for column in range(N_LINKS):
        known[N_FACTS + column] = links[number, column]
    at, unit = N_FACTS + N_LINKS, deepest[vertex]
    while unit >= 0:
        at += 2
        unit = parent[unit]
    unit = deepest[vertex]
    while unit >= 0:
        at -= 2
        known[at], known[at + 1] = labelled[unit], relevant[unit]
        unit = parent[unit]
    rate = (total[1] + 0.5) / (total[0] + 1.0)
    tallies = known[N_FACTS + N_LINKS :]
    fill(known[:N_FACTS], known[N_FACTS : N_FACTS + N_LINKS], tallies, rate, strength, row)


@inlined
def _score(learning: Learning, number: int, vertex: int, host: int) -> float:
    """Return the current score of a URL."""
    _read(learning, number, vertex, host)
    return score_of(learning.row, learning.mean, learning.covariance)


@inlined
def _rescore(web: WebArrays, memory: Memory, learning: Learning, number: int, vertex: int) -> None:
    """Rescore a queued URL; ignore a small change (`Scorer.linked`)."""
    score, place, host = memory.score, memory.place, web.server[vertex]
    if place[number] == EMPTY:
        return
    before, now = score[number], _score(learning, number, vertex, host)
    if abs(now - before) >= LEAST_CHANGE or (now > 0) != (before > 0):
        score[number] = now
        heap, size = _queue_of(web, memory, web.shard[host])
        move(heap, place, score, size, place[number])


@inlined
def _learn(learning: Learning, number: int, vertex: int, host: int, is_relevant: bool) -> None:
    """Update belief and unit records with a labelled page."""
    _read(learning, number, vertex, host)
    learn_from(learning.row, is_relevant, learning.mean, learning.covariance, learning.gain)
    learning.total[0] += 1
    learning.total[1] += is_relevant
    unit = learning.deepest[vertex]
    while unit >= 0:
        learning.labelled[unit] += 1
        learning.relevant[unit] += is_relevant
        unit = learning.parent[unit]


@inlined
def _count_link(links: Bytes, number: int, source: int, column: int) -> None:
    """Count an inlink of a URL (`LinkOrigin.links`); a redirect passes on its own inlinks."""
    if column >= 0:
        links[number, column] = min(links[number, column] + 1, MOST_COUNTED)
    elif source != EMPTY:
        for place in range(N_LINKS):
            total = np.int64(links[number, place]) + links[source, place]
            links[number, place] = min(total, MOST_COUNTED)


# --- Which URL is next


@inlined
def _queue_of(web: WebArrays, memory: Memory, shard: int) -> tuple[Ints, Longs]:
    """Return the heap of a shard and the fill level."""
    return memory.heap[web.first[shard] : web.first[shard + 1]], memory.sizes[shard]


@inlined
def _is_skipped(web: WebArrays, rules: Rules, memory: Memory, shard: int, at: int) -> bool:
    """Remove a void URL, or park a URL of a resting host; return True for either."""
    heap, size = _queue_of(web, memory, shard)
    number = heap[at]
    vertex = memory.found[number]
    host = web.server[vertex]
    is_void = 0 < rules.host_cap <= memory.sent[host]
    if rules.uses_relevance and not is_void:
        whole = len(memory.is_closed) - len(web.tier) + host
        is_void = memory.is_closed[web.unit[vertex]] != 0 or memory.is_closed[whole] != 0
    rests = not is_void and rules.rest > 0 and memory.ready[host] > memory.counts[CLOCK]
    if is_void or rests:
        remove_scored(heap, memory.place, memory.score, size, at)
    if rests:
        memory.parked_next[number] = memory.parked[host]
        memory.parked[host] = number
    return is_void or rests


@inlined
def _end_rests(web: WebArrays, memory: Memory) -> None:
    """Queue the parked URLs of rested servers."""
    counts, score = memory.counts, memory.score
    while counts[RESTED] < counts[CONTACTED]:
        host = memory.contacted[counts[RESTED]]
        if memory.ready[host] > counts[CLOCK]:
            break
        counts[RESTED] += 1
        heap, size = _queue_of(web, memory, web.shard[host])
        number = memory.parked[host]
        memory.parked[host] = EMPTY
        while number != EMPTY:
            add_scored(heap, memory.place, score, size, number)
            number = memory.parked_next[number]


@inlined
def _best(web: WebArrays, rules: Rules, memory: Memory, shard: int) -> int:
    """Return the best URL of a shard without removal, or EMPTY."""
    heap, size = _queue_of(web, memory, shard)
    while size[SIZE] > 0:
        if not _is_skipped(web, rules, memory, shard, 0):
            return int(np.int64(heap[0]))
    return EMPTY


@inlined
def _is_outdone(
    web: WebArrays, rules: Rules, memory: Memory, learning: Learning, shard: int, rival: int
) -> bool:
    """Rescore the best URL; return True if another URL is better (`learning.chosen`)."""
    score = memory.score
    heap, size = _queue_of(web, memory, shard)
    other = second_place(heap, score, size)
    while other != EMPTY and _is_skipped(web, rules, memory, shard, other):
        other = second_place(heap, score, size)
    best_other = -np.inf if other == EMPTY else score[heap[other]]
    if rival != EMPTY:
        best_other = max(best_other, score[rival])
    number = heap[0]
    vertex = memory.found[number]
    now, before = _score(learning, number, vertex, web.server[vertex]), score[number]
    if now > before - LEAST_CHANGE or (best_other == -np.inf and now > DOUBTS_UP_TO):
        return False
    if best_other > -np.inf and now >= best_other:
        return False
    score[number] = now
    move(heap, memory.place, score, size, 0)
    return True


@inlined
def _take_best(web: WebArrays, rules: Rules, memory: Memory, learning: Learning) -> int:
    """Remove and return the better best URL of two drawn shards, else of another, or EMPTY."""
    n_shards, score, tried = len(memory.sizes), memory.score, 0
    one = other = 0
    if n_shards > 1:
        one = other = draw_below(memory.chance, n_shards)
    if n_shards > 1 and rules.choices > 1:
        other = (one + 1 + draw_below(memory.chance, n_shards - 1)) % n_shards
    if _best(web, rules, memory, one) == EMPTY and _best(web, rules, memory, other) == EMPTY:
        for _ in range(n_shards - 1):
            one = (one + 1) % n_shards
            if _best(web, rules, memory, one) != EMPTY:
                break
        other = one
    while True:
        number, rival = _best(web, rules, memory, one), EMPTY
        if other != one:
            rival = _best(web, rules, memory, other)
        if rival != EMPTY and (number == EMPTY or is_better(score, rival, number)):
            one, other = other, one
            number, rival = rival, number
        tried += 1
        if (
            number == EMPTY
            or rules.kind != LEARNED
            or tried == MOST_TRIED
            or not _is_outdone(web, rules, memory, learning, one, rival)
        ):
            break
    if number != EMPTY:
        heap, size = _queue_of(web, memory, one)
        remove_scored(heap, memory.place, score, size, 0)
    return number


# --- The crawl


@compiled
def crawl(  # noqa: PLR0912, PLR0915  # a call would count the references of all of its arrays
    web: WebArrays, rules: Rules, memory: Memory, learning: Learning, seeds: Ints, until: int
) -> bool:
    """Queue seeds and crawl up to `until` pages; return True if the queue runs empty before.

    Seeds bypass the filter, not the host cap.
    """
    server, unit, link_start, link_target, graph_score, tier, shard, _ = web
    follows, by_unit, conservative, closes, tolerance, half_life, cap, room, kind, _, rest = rules
    state, number_of, found, depth, downloaded, relevant, queued, is_closed = memory[:8]
    sent, waiting, order, queue, counts, heap, sizes, score, place, chance = memory[8:18]
    first_whole = len(is_closed) - len(tier)
    # The page with the followed links; first, the seed list.
    targets, first, end, is_seed_list = seeds, 0, len(seeds), True
    source = number = column = inherited = EMPTY
    own = own_whole = own_relevant = depth_below = 0
    is_page, is_good, is_always_followed, limit = False, True, True, tolerance
    while True:
        n_before = counts[FOUND]
        for link in range(first, end):
            target = targets[link]
            was, host, of, whole = state[target], server[target], 0, 0
            is_full, is_void = 0 < cap <= sent[host], False
            if by_unit:
                of = unit[target]
                whole = first_whole + host
                is_void = is_closed[of] != 0 or is_closed[whole] != 0
            if was & SETTLED or (was & QUEUED and not (is_full or is_void)):
                counts[SEEN] += 1
                if was & SETTLED or not was & STATUS:
                    continue
                if kind == SOFT and is_good:
                    number = number_of[target]
                    if score[number] == 0.0:
                        score[number] = 1.0
                        if place[number] != EMPTY:
                            own_heap, size = _queue_of(web, memory, shard[host])
                            move(own_heap, place, score, size, place[number])
                elif kind == LEARNED and not is_seed_list:
                    here = column + 2 * (host == server[source]) if column >= 0 else EMPTY
                    _count_link(learning.links, number_of[target], inherited, here)
                continue
            if not is_seed_list:
                is_admitted = was & WANTED != 0
                if not is_always_followed:
                    is_admitted = is_admitted and (is_good or follows)
                    if conservative and own_relevant == 0 and downloaded[of] == 0:
                        is_admitted = False
                if by_unit and (
                    is_irrelevant(downloaded[of], relevant[of], limit)
                    or (closes and is_irrelevant(downloaded[whole], relevant[whole], limit))
                ):
                    is_admitted = False
                if not is_admitted:
                    counts[REJECTED] += 1
                    continue
            if is_full or 0 < room <= sent[host] + waiting[host]:
                counts[HOST_FULL] += 1
                continue
            if by_unit:
                queued[of] += 1
                queued[whole] += 1
            waiting[host] += 1
            counts[STORED] += 1
            counts[WAITING] += 1
            state[target] = was | np.uint8(QUEUED)
            if not was & STATUS:
                continue
            new = counts[FOUND]
            counts[FOUND] += 1
            found[new] = target
            depth[new] = depth_below
            if kind == DRAW:
                add_to_bag(heap, sizes[0], new, tier[host] != 0)
                continue
            if kind == DEPTH:
                score[new] = -depth_below
            elif kind == SCORE:
                score[new] = graph_score[target]
            else:
                number_of[target] = new
                score[new] = 1.0 if is_good else 0.0
            if kind == LEARNED:
                here = column + 2 * (host == server[source]) if column >= 0 else EMPTY
                here = 0 if is_seed_list else here
                _count_link(learning.links, new, inherited, here)
                score[new] = _score(learning, new, target, host)
            own_heap, size = _queue_of(web, memory, shard[host])
            add_scored(own_heap, place, score, size, new)
        if is_page:
            closed = EMPTY
            if closes and is_irrelevant(downloaded[own_whole], relevant[own_whole], limit):
                closed = own_whole
            elif by_unit and is_irrelevant(downloaded[own], relevant[own], limit):
                closed = own
            if closed != EMPTY:
                is_closed[closed] = 1
                host = server[source]
                if not 0 < cap <= sent[host]:
                    dropped = queued[closed]
                    queued[closed] = 0
                    if closed == own:
                        queued[own_whole] -= dropped
                    waiting[host] -= dropped
                    counts[DROPPED] += dropped
                    counts[WAITING] -= dropped
        if kind == LEARNED and not is_seed_list:
            for link in range(first, end):
                target = targets[link]
                was = state[target]
                if was & QUEUED and not was & SETTLED and was & STATUS:
                    number = number_of[target]
                    if number < n_before:
                        _rescore(web, memory, learning, number, target)
        if is_page:
            order[counts[N_PAGES]] = source
            queue[counts[N_PAGES]] = counts[WAITING]
            counts[N_PAGES] += 1
        if counts[N_PAGES] >= until:
            return False
        while True:
            if kind == DRAW:
                number = draw(heap, sizes[0], chance)
            else:
                _end_rests(web, memory)
                number = _take_best(web, rules, memory, learning)
            if number == EMPTY and counts[RESTED] < counts[CONTACTED]:
                counts[CLOCK] = memory.ready[memory.contacted[counts[RESTED]]]
                continue
            if number == EMPTY:
                return True
            source = found[number]
            host, own, own_whole = server[source], 0, 0
            is_full, is_void = 0 < cap <= sent[host], False
            if by_unit:
                own = unit[source]
                own_whole = first_whole + host
                is_void = is_closed[own] != 0 or is_closed[own_whole] != 0
            if not (state[source] & SETTLED or is_full or is_void):
                break
        status, was = state[source] & STATUS, state[source]
        is_page, is_seed_list = status == PAGE, False
        is_good = was & RELEVANT != 0
        column, inherited = EMPTY, EMPTY
        if kind == LEARNED:
            if was & LABELLED:
                _learn(learning, number, source, host, is_good)
                column = 0 if is_good else 1
            if status == REDIRECT:
                inherited = number
        state[source] = was | np.uint8(SETTLED)
        if rest:
            counts[CLOCK] += 1
            memory.ready[host] = counts[CLOCK] + rest
            memory.contacted[counts[CONTACTED]] = host
            counts[CONTACTED] += 1
        counts[WAITING] -= 1
        sent[host] += 1
        waiting[host] -= 1
        if 0 < cap <= sent[host]:
            counts[WAITING] -= waiting[host]
            waiting[host] = 0
        if by_unit:
            for tallied in (own, own_whole):
                queued[tallied] -= 1
                downloaded[tallied] += is_page
                relevant[tallied] += is_good
            own_relevant = relevant[own]
        depth_below = depth[number] + (status != REDIRECT)
        is_always_followed = status == REDIRECT or depth[number] == 0
        is_good = is_good or status == REDIRECT
        limit = declined(tolerance, half_life, counts[N_PAGES] + is_page)
        targets, first = link_target, link_start[source]
        end = first if status == FAILED else link_start[source + 1]


@compiled
def mark_wanted(
    link_start: Longs, link_target: Ints, seeds: Ints, state: Bytes, reached: Ints, parent: Ints
) -> None:
    """Set WANTED on a shortest path from the seeds to each relevant vertex: the perfect strategy.

    Among equally near parents, a relevant page is preferred. `reached` (F,) and `parent` (V,) are
    scratch arrays; all of `parent` is EMPTY at first.
    """
    end = 0
    for vertex in seeds:
        if not state[vertex] & SETTLED and state[vertex] & STATUS:
            state[vertex] |= np.uint8(SETTLED)
            reached[end] = vertex
            end += 1
    at, next_depth = 0, end
    while at < end:
        if at == next_depth:
            for later in range(at, end):
                state[reached[later]] |= np.uint8(SETTLED)
            next_depth = end
        vertex = reached[at]
        at += 1
        for target in link_target[link_start[vertex] : link_start[vertex + 1]]:
            was = state[target]
            if was & SETTLED or not was & STATUS:
                continue
            if not was & QUEUED:
                state[target] |= np.uint8(QUEUED)
                parent[target] = vertex
                reached[end] = target
                end += 1
            elif state[vertex] & RELEVANT and not state[parent[target]] & RELEVANT:
                parent[target] = vertex
    for at in range(end - 1, -1, -1):
        vertex = reached[at]
        state[vertex] &= np.uint8(~(QUEUED | SETTLED) & 255)
        if state[vertex] & RELEVANT:
            state[vertex] |= np.uint8(WANTED)
        if state[vertex] & WANTED and parent[vertex] != EMPTY:
            state[parent[vertex]] |= np.uint8(WANTED)
