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

from classifiers.compiled import borrowing, step
from crawler.simulate.drawing import Drawing, change, draw_in, take_drawn
from crawler.simulate.queues import EMPTY, HEAP, add_key, take_key
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

SOFT, DEPTH, SCORE, DRAW, LEARNED = range(5)
"""How the next URL is found: links of relevant pages first; least depth; best score; drawn
uniformly; best of the scores that follow what the crawl learns (`crawler.simulate.focuskernel`)."""

N_PAGES, QUEUED, STORED, SEEN, REJECTED, HOST_FULL, DROPPED = range(7)
FOUND: Final = 7
N_COUNTS: Final = HEAP + 1
"""Places in `Memory.counts`: results, then how far the queues are filled."""

ENDED, PAUSED = -1, -2
"""Results of `crawl`, and of looking for the next URL, whose number is 0 or more."""
_SPARE_WORDS = 128
_MOST_HALVINGS = 62
_FIRST, _LATER = 0, 1
"""The keys of `SOFT`."""


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
    closes_servers: bool
    tolerance: int
    host_cap: int
    host_queue: int
    kind: int
    half_life: int


class Memory(NamedTuple):
    """All that changes. F vertices can be fetched; U units are S servers, then D directories.

    `state` (V,); `number` (V,) with `SOFT`; `found` and `depth` (F,) by number; the tallies of
    units `downloaded`, `relevant`, `unit_queued` and `is_dropped` (U,); `sent` (S,), the URLs of
    servers that got a request, and `waiting` (S,), those that are queued; `order` and `queue` are
    the course; `counts` (N_COUNTS,); `heap` (F,) holds keys and numbers, with `SOFT` (2 F,): a URL
    whose key falls is there twice.
    """

    state: Bytes
    number: Ints
    found: Ints
    depth: Ints
    downloaded: Ints
    relevant: Ints
    unit_queued: Ints
    is_dropped: Bytes
    sent: Ints
    waiting: Ints
    order: Ints
    queue: Ints
    counts: Longs
    heap: Words
    drawing: Drawing


class Source(NamedTuple):
    """The vertex whose links are followed, or the list of seeds.

    `unit` is its server or directory, of which `unit_relevant` pages are relevant; `depth` is that
    of the vertices that it links to. Links of a redirect are those of a relevant page, and the
    conservative rule does not apply to them and to links of seeds (`is_vouched_for`). `tolerance`
    is the one in force, after this page.
    """

    vertex: int
    unit: int
    unit_relevant: int
    depth: int
    is_seed_list: bool
    is_relevant: bool
    is_vouched_for: bool
    is_page: bool
    tolerance: int


SEED_LIST: Final = Source(
    vertex=0,
    unit=0,
    unit_relevant=0,
    depth=0,
    is_seed_list=True,
    is_relevant=True,
    is_vouched_for=True,
    is_page=False,
    tolerance=0,
)


# --- The rules


@step
def accepts(
    page_is_relevant: bool,
    source_relevant: int,
    target_downloaded: int,
    target_relevant: int,
    rules: Rules,
    tolerance: int,
) -> bool:
    """`Filter.accepts`: whether a link enters the queue, with the tolerance in force."""
    if not (page_is_relevant or rules.follows_irrelevant_pages):
        return False
    if rules.is_conservative and source_relevant == 0 and target_downloaded == 0:
        return False
    return not drops(target_downloaded, target_relevant, rules, tolerance)


@step
def drops(downloaded: int, relevant: int, rules: Rules, tolerance: int) -> bool:
    """`Filter.drops`: whether a unit is irrelevant, with the tolerance in force."""
    return rules.uses_relevance and relevant == 0 and downloaded > tolerance


@step
def tolerance_after(rules: Rules, downloads: int) -> int:
    """The tolerance after so many downloads of the whole crawl.

    It is halved, and rounded down, after each `half_life` downloads; 0: it stays. A unit that a
    smaller tolerance makes irrelevant gets no new links at once, and loses its queued URLs with its
    next irrelevant page.
    """
    if rules.half_life == 0:
        return rules.tolerance
    return rules.tolerance >> min(downloads // rules.half_life, _MOST_HALVINGS)


@step
def unit_of(web: WebArrays, rules: Rules, vertex: int) -> int:
    """The server of a vertex, or its directory, which has a number after those of all servers."""
    if not rules.uses_relevance:
        return 0
    if rules.by_directory and web.directory[vertex] >= 0:
        return len(web.tier) + int(web.directory[vertex])
    return int(web.server[vertex])


@step
def is_full(web: WebArrays, rules: Rules, memory: Memory, vertex: int) -> bool:
    """Whether so many URLs of a vertex's server got a request as the host cap allows."""
    return bool(0 < rules.host_cap <= memory.sent[web.server[vertex]])


@step
def server_unit_of(web: WebArrays, rules: Rules, memory: Memory, vertex: int) -> int:
    """The server of a vertex as a whole; its number comes after those of all units."""
    if not rules.closes_servers:
        return unit_of(web, rules, vertex)
    return len(memory.is_dropped) - len(web.tier) + int(web.server[vertex])


@step
def _is_closed(web: WebArrays, rules: Rules, memory: Memory, vertex: int) -> bool:
    """Whether a unit of a vertex is irrelevant, so that its queued URLs are void."""
    if not rules.uses_relevance:
        return False
    return bool(
        memory.is_dropped[unit_of(web, rules, vertex)]
        or memory.is_dropped[server_unit_of(web, rules, memory, vertex)]
    )


@step
def is_dropped(web: WebArrays, rules: Rules, memory: Memory, vertex: int) -> bool:
    """Whether a vertex is void if it is queued: a unit is irrelevant, or its server is full."""
    return is_full(web, rules, memory, vertex) or _is_closed(web, rules, memory, vertex)


# --- Links


@step
def _is_seen(web: WebArrays, rules: Rules, memory: Memory, target: int) -> bool:
    """Whether a URL is settled, or queued and not dropped with its unit or its server."""
    place = memory.state[target] & PLACE
    if place == SETTLED:
        return True
    return place != UNSEEN and not is_dropped(web, rules, memory, target)


@step
def _see_again(rules: Rules, memory: Memory, source: Source, target: int) -> None:
    """Count a URL as seen; with `SOFT`, a link of a relevant page makes it `HIGH`."""
    memory.counts[SEEN] += 1
    if rules.kind == SOFT and source.is_relevant:
        state = memory.state
        if state[target] & PLACE == LOW and state[target] & STATUS:
            state[target] ^= LOW | HIGH
            add_key(memory.heap, memory.counts, _FIRST, int(memory.number[target]))


@step
def _is_irrelevant(rules: Rules, memory: Memory, unit: int, tolerance: int) -> bool:
    return drops(int(memory.downloaded[unit]), int(memory.relevant[unit]), rules, tolerance)


@step
def is_admitted(web: WebArrays, rules: Rules, memory: Memory, source: Source, target: int) -> bool:
    """Whether the filter lets a link into the queue."""
    if source.is_seed_list:
        return True
    downloaded = relevant = 0
    if rules.uses_relevance:
        unit, server = unit_of(web, rules, target), server_unit_of(web, rules, memory, target)
        if _is_irrelevant(rules, memory, server, source.tolerance):
            return False
        downloaded, relevant = int(memory.downloaded[unit]), int(memory.relevant[unit])
    if source.is_vouched_for:
        is_accepted = not drops(downloaded, relevant, rules, source.tolerance)
    else:
        is_accepted = accepts(
            source.is_relevant,
            source.unit_relevant,
            downloaded,
            relevant,
            rules,
            source.tolerance,
        )
    return is_accepted and bool(memory.state[target] & WANTED)


@step
def has_room(web: WebArrays, rules: Rules, memory: Memory, target: int) -> bool:
    """Whether another URL of a server may enter the queue."""
    if is_full(web, rules, memory, target):
        return False
    server = web.server[target]
    return not bool(0 < rules.host_queue <= memory.sent[server] + memory.waiting[server])


@step
def _new_number(web: WebArrays, rules: Rules, memory: Memory, target: int) -> int:
    """The place of a URL in the order of discovery; with `DRAW`, among those of its server."""
    if rules.kind == DRAW:
        server = int(web.server[target])
        return draw_in(memory.drawing, server, int(web.tier[server]))
    number = int(memory.counts[FOUND])
    memory.counts[FOUND] += 1
    return number


@step
def _queue(web: WebArrays, rules: Rules, memory: Memory, source: Source, target: int) -> int:
    """Put a URL that can be fetched into the queue; return its place there, LOW or HIGH."""
    number = _new_number(web, rules, memory, target)
    place = HIGH if rules.kind == SOFT and source.is_relevant else LOW
    if rules.kind == SOFT:
        memory.number[target] = number
        add_key(memory.heap, memory.counts, _FIRST if place == HIGH else _LATER, number)
    elif rules.kind == DEPTH:
        add_key(memory.heap, memory.counts, source.depth, number)
    elif rules.kind == SCORE:
        add_key(memory.heap, memory.counts, int(np.int64(web.key[target])), number)
    memory.found[number] = target
    memory.depth[number] = source.depth
    return place


@step
def count_stored(web: WebArrays, rules: Rules, memory: Memory, target: int) -> None:
    """Count a URL that enters the queue."""
    if rules.uses_relevance:
        memory.unit_queued[unit_of(web, rules, target)] += 1
        if rules.closes_servers:
            memory.unit_queued[server_unit_of(web, rules, memory, target)] += 1
    memory.waiting[web.server[target]] += 1
    memory.counts[STORED] += 1
    memory.counts[QUEUED] += 1


@step
def _store(web: WebArrays, rules: Rules, memory: Memory, source: Source, target: int) -> None:
    """Count a URL as queued, and queue it if it can be fetched."""
    count_stored(web, rules, memory, target)
    place = LOW
    if memory.state[target] & STATUS:
        place = _queue(web, rules, memory, source, target)
    memory.state[target] |= place


@step
def _follow(web: WebArrays, rules: Rules, memory: Memory, source: Source, target: int) -> None:
    """Store the target of a link, or count why not."""
    if _is_seen(web, rules, memory, target):
        _see_again(rules, memory, source, target)
    elif not is_admitted(web, rules, memory, source, target):
        memory.counts[REJECTED] += 1
    elif not has_room(web, rules, memory, target):
        memory.counts[HOST_FULL] += 1
    else:
        _store(web, rules, memory, source, target)


# --- Pages


@step
def _take_number(rules: Rules, memory: Memory) -> int:
    """The number of the next queued URL, or EMPTY."""
    if rules.kind == DRAW:
        return take_drawn(memory.drawing)
    number = take_key(memory.heap, memory.counts)
    while number != EMPTY and memory.state[memory.found[number]] & PLACE == SETTLED:
        number = take_key(memory.heap, memory.counts)
    return number


@step
def _must_pause(rules: Rules, memory: Memory, until: int) -> bool:
    """Whether there are enough pages, or too few random words for another draw."""
    drawing = memory.drawing
    has_words = drawing.word[0] + _SPARE_WORDS <= len(drawing.words)
    return memory.counts[N_PAGES] >= until or (rules.kind == DRAW and not has_words)


@step
def _next(web: WebArrays, rules: Rules, memory: Memory, until: int) -> int:
    """The number of the next URL that is not dropped, or ENDED or PAUSED."""
    while not _must_pause(rules, memory, until):
        number = _take_number(rules, memory)
        if number == EMPTY:
            return ENDED
        if not is_dropped(web, rules, memory, int(memory.found[number])):
            return number
    return PAUSED


@step
def _count(memory: Memory, unit: int, is_page: bool, is_relevant: bool) -> None:
    memory.unit_queued[unit] -= 1
    memory.downloaded[unit] += is_page
    memory.relevant[unit] += is_relevant


@step
def closed_unit(web: WebArrays, rules: Rules, memory: Memory, source: Source) -> int:
    """The unit of a settled page that is irrelevant: its server before its directory; or EMPTY."""
    if not (source.is_page and rules.uses_relevance):
        return EMPTY
    server = server_unit_of(web, rules, memory, source.vertex)
    if _is_irrelevant(rules, memory, server, source.tolerance):
        return server
    is_closed = _is_irrelevant(rules, memory, source.unit, source.tolerance)
    return source.unit if is_closed else EMPTY


@step
def settle(web: WebArrays, rules: Rules, memory: Memory, number: int) -> Source:
    """Take a URL out of the queue for good and count its page for its unit and its server."""
    vertex, depth = int(np.int64(memory.found[number])), int(memory.depth[number])
    memory.state[vertex] |= SETTLED
    memory.counts[QUEUED] -= 1
    server = web.server[vertex]
    memory.sent[server] += 1
    memory.waiting[server] -= 1
    if is_full(web, rules, memory, vertex):
        memory.counts[QUEUED] -= memory.waiting[server]
        memory.waiting[server] = 0
    status = memory.state[vertex] & STATUS
    is_page, is_redirect = bool(status == PAGE), bool(status == REDIRECT)
    is_relevant = memory.state[vertex] & RELEVANT != 0
    unit, unit_relevant = unit_of(web, rules, vertex), 0
    if rules.uses_relevance:
        _count(memory, unit, is_page, is_relevant)
        if rules.closes_servers:
            _count(memory, server_unit_of(web, rules, memory, vertex), is_page, is_relevant)
        unit_relevant = int(memory.relevant[unit])
    return Source(
        vertex=vertex,
        unit=unit,
        unit_relevant=unit_relevant,
        depth=depth if is_redirect else depth + 1,
        is_seed_list=False,
        is_relevant=bool(is_redirect or is_relevant),
        is_vouched_for=bool(is_redirect or depth == 0),
        is_page=is_page,
        tolerance=tolerance_after(rules, int(memory.counts[N_PAGES]) + is_page),
    )


@step
def is_of(web: WebArrays, rules: Rules, memory: Memory, vertex: int, unit: int) -> bool:
    """Whether a vertex belongs to a unit: its directory or its server."""
    return bool(
        unit_of(web, rules, vertex) == unit or server_unit_of(web, rules, memory, vertex) == unit
    )


@step
def _undraw(web: WebArrays, rules: Rules, memory: Memory, source: Source, closed: int) -> None:
    """Take the queued URLs of a closed unit, or all of a page's full server, out of the draws."""
    drawing, server = memory.drawing, int(web.server[source.vertex])
    is_all = is_full(web, rules, memory, source.vertex)
    for at in range(drawing.admitted[server]):
        vertex = int(memory.found[drawing.first[server] + at])
        is_gone = is_all or is_of(web, rules, memory, vertex, closed)
        is_queued = memory.state[vertex] & PLACE == LOW
        if is_queued and is_gone and not _is_closed(web, rules, memory, vertex):
            change(drawing, server, at, int(web.tier[server]), -1)


@step
def drop_unit(web: WebArrays, rules: Rules, memory: Memory, source: Source, closed: int) -> None:
    """Void the queued URLs of a page's unit, which has turned irrelevant."""
    memory.is_dropped[closed] = 1
    if is_full(web, rules, memory, source.vertex):
        return
    dropped = memory.unit_queued[closed]
    memory.unit_queued[closed] = 0
    if closed == source.unit and rules.closes_servers:
        memory.unit_queued[server_unit_of(web, rules, memory, source.vertex)] -= dropped
    memory.waiting[web.server[source.vertex]] -= dropped
    memory.counts[DROPPED] += dropped
    memory.counts[QUEUED] -= dropped


@step
def record(memory: Memory, vertex: int) -> None:
    """Add a page to the course."""
    memory.order[memory.counts[N_PAGES]] = vertex
    memory.queue[memory.counts[N_PAGES]] = memory.counts[QUEUED]
    memory.counts[N_PAGES] += 1


# --- The crawl


@borrowing
def crawl(web: WebArrays, rules: Rules, memory: Memory, seeds: Ints, until: int) -> int:
    """Queue seeds, crawl until there are `until` pages (PAUSED) or nothing is left (ENDED).

    It also pauses where random `words` run out. No filter applies to seeds, the host cap does.
    """
    for seed in seeds:
        _follow(web, rules, memory, SEED_LIST, int(seed))
    while True:
        number = _next(web, rules, memory, until)
        if number < 0:
            return number
        source = settle(web, rules, memory, number)
        vertex = source.vertex
        closed = closed_unit(web, rules, memory, source)
        if rules.kind == DRAW and (closed != EMPTY or is_full(web, rules, memory, vertex)):
            _undraw(web, rules, memory, source, closed)
        first = int(web.link_start[vertex])
        end = first if memory.state[vertex] & STATUS == FAILED else int(web.link_start[vertex + 1])
        for link in range(first, end):
            _follow(web, rules, memory, source, int(web.link_target[link]))
        if closed != EMPTY:
            drop_unit(web, rules, memory, source, closed)
        if source.is_page:
            record(memory, vertex)
