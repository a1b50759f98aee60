"""The compiled simulation of the ordering `focus`, whose scores follow what the crawl learns.

The rules of `crawler.frontier.learning`, and of the frontier around it, are written here a second
time, in the same order, with the arithmetic of `crawler.strategies.focus.kernel`; tests compare
the two. Links, filters and pages are those of `crawler.simulate.kernel`.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import borrowing, part, step
from crawler.frontier.learning import LEAST_CHANGE, MOST_TRIED
from crawler.simulate import hostqueues
from crawler.simulate.hostqueues import HostQueues
from crawler.simulate.kernel import (
    ENDED,
    FOUND,
    HOST_FULL,
    LOW,
    N_PAGES,
    PAUSED,
    PLACE,
    REJECTED,
    RELEVANT,
    SEED_LIST,
    SEEN,
    SETTLED,
    STATUS,
    UNSEEN,
    Bytes,
    Ints,
    Longs,
    Memory,
    Rules,
    Source,
    WebArrays,
    closed_unit,
    count_stored,
    drop_unit,
    has_room,
    is_admitted,
    is_dropped,
    is_full,
    is_of,
    record,
    settle,
)
from crawler.simulate.queues import EMPTY
from crawler.simulate.webgraph import FAILED, REDIRECT
from crawler.strategies.focus.belief import MOST_COUNTED
from crawler.strategies.focus.kernel import fill, learn_from, score_of

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

LABELLED: Final = 0x40
"""The bit of a vertex's state that is set for a page whose language is known."""


class FocusArrays(NamedTuple):
    """The evidence about vertices, and their units.

    `facts` (E, 5) are those of each vertex, or with `by_server` of each server. A vertex has the
    unit `deepest` (V,), that lies in `parent` (U,), and so on up to a registered domain, which has
    the parent -1.
    """

    facts: Floats
    deepest: Ints
    parent: Ints
    by_server: bool


class FocusRules(NamedTuple):
    """The rules of a frontier that learns: see `crawler.frontier.rules.FrontierRules`.

    `strength` is that of the prior.
    """

    doubts_up_to: float
    strength: float


class Learned(NamedTuple):
    """All that changes beside `Memory`.

    The records of units `labelled` and `relevant` (U,); `links` (F, 4), the pages that link to a
    queued URL, by number; the weights `mean` (k,) and `covariance` (k, k) after `total` (2,) pages
    with a label, and relevant ones. The others are written over: the features `row` of a URL, its
    `facts` and `tallies`, and `gain`.
    """

    labelled: Ints
    relevant: Ints
    links: Bytes
    mean: Doubles
    covariance: Doubles
    total: Longs
    row: Doubles
    gain: Doubles
    facts: Doubles
    tallies: Doubles


class Focused(NamedTuple):
    """The arguments of a crawl in one."""

    web: WebArrays
    rules: Rules
    memory: Memory
    evidence: FocusArrays
    focus: FocusRules
    learned: Learned
    queues: HostQueues


class SettledPage(NamedTuple):
    """A settled URL as the source of links: its `source`, its server, and the number of its URL.

    `place` is that of `Links` which it adds to for URLs of other hosts, -1: it has no label.
    `inherits` is true for a redirect, whose target has the links of the redirect.
    """

    source: Source
    server: int
    number: int
    place: int
    inherits: bool


# --- Scores


@step
def _read_tallies(evidence: FocusArrays, learned: Learned, vertex: int) -> None:
    """Write the records of a vertex's units, from the registered domain down."""
    learned.tallies[:] = 0.0
    at, unit = 0, int(evidence.deepest[vertex])
    while unit >= 0:
        at += 2
        unit = int(evidence.parent[unit])
    unit = int(evidence.deepest[vertex])
    while unit >= 0:
        at -= 2
        learned.tallies[at] = learned.labelled[unit]
        learned.tallies[at + 1] = learned.relevant[unit]
        unit = int(evidence.parent[unit])


@step
def _read(of: Focused, vertex: int) -> None:
    """Write the evidence about a vertex, and the records of its units."""
    _read_tallies(of.evidence, of.learned, vertex)
    at = int(of.web.server[vertex]) if of.evidence.by_server else vertex
    for column in range(len(of.learned.facts)):
        of.learned.facts[column] = of.evidence.facts[at, column]


@part
def _find_features(learned: Learned, number: int, strength: float) -> None:
    """Write the features of the URL with a number, whose facts and tallies are there."""
    rate = (learned.total[1] + 0.5) / (learned.total[0] + 1.0)
    links = learned.links[number]
    fill(learned.facts, links, learned.tallies, rate, strength, learned.row)


@part
def _score(learned: Learned, number: int, focus: FocusRules) -> float:
    """The score of the URL with a number, whose facts and tallies are there."""
    _find_features(learned, number, focus.strength)
    return score_of(learned.row, learned.mean, learned.covariance)


@step
def _score_now(of: Focused, number: int) -> float:
    """The score that the URL with a number has now."""
    _read(of, int(of.memory.found[number]))
    return _score(of.learned, number, of.focus)


@step
def _rescore(of: Focused, number: int) -> None:
    """Score a URL anew if it is queued; a small change is not written (`Learner.rescore`)."""
    if of.queues.place[number] == EMPTY:
        return
    before = of.queues.score[number]
    now = _score_now(of, number)
    if abs(now - before) >= LEAST_CHANGE or (now > 0) != (before > 0):
        server = int(of.web.server[of.memory.found[number]])
        hostqueues.set_score(of.queues, server, number, now)


# --- Links


@step
def _is_seen(of: Focused, target: int) -> bool:
    """Whether a URL is settled, or queued and not dropped with its unit or its host."""
    place = of.memory.state[target] & PLACE
    if place in (SETTLED, UNSEEN):
        return bool(place == SETTLED)
    return not is_dropped(of.web, of.rules, of.memory, target)


@step
def _count_link(of: Focused, page: SettledPage, number: int) -> None:
    """Count a page that links to a queued URL (`LinkingPage.links`)."""
    links = of.learned.links
    if page.inherits:
        for place in range(links.shape[1]):
            total = links[number, place] + links[page.number, place]
            links[number, place] = min(total, MOST_COUNTED)
    elif page.place >= 0:
        is_here = of.web.server[of.memory.found[number]] == page.server
        place = page.place + 2 * is_here
        links[number, place] = min(links[number, place] + 1, MOST_COUNTED)


@step
def _store(of: Focused, page: SettledPage, target: int) -> None:
    """Count a URL as queued, and queue it by its score if it can be fetched."""
    memory, server = of.memory, int(of.web.server[target])
    count_stored(of.web, of.rules, memory, target)
    memory.state[target] |= LOW
    if memory.state[target] & STATUS:
        number = int(memory.counts[FOUND])
        memory.counts[FOUND] += 1
        memory.number[target] = number
        memory.found[number] = target
        memory.depth[number] = page.source.depth
        _count_link(of, page, number)
        hostqueues.add_url(of.queues, server, number, _score_now(of, number))


@step
def _follow(of: Focused, page: SettledPage, target: int) -> None:
    """Store the target of a link, or count why not."""
    counts = of.memory.counts
    if _is_seen(of, target):
        counts[SEEN] += 1
        if of.memory.state[target] & PLACE == LOW and of.memory.state[target] & STATUS:
            _count_link(of, page, int(of.memory.number[target]))
    elif not is_admitted(of.web, of.rules, of.memory, page.source, target):
        counts[REJECTED] += 1
    elif not has_room(of.web, of.rules, of.memory, target):
        counts[HOST_FULL] += 1
    else:
        _store(of, page, target)


# --- Pages


@step
def _has_fallen(of: Focused, number: int) -> bool:
    """Score the best URL anew; True if it is then not the best (`SqliteFrontier._fell`)."""
    queues = of.queues
    now, before = _score_now(of, number), queues.score[number]
    other = hostqueues.second_best(queues)
    if now > before - LEAST_CHANGE or (other == EMPTY and now > of.focus.doubts_up_to):
        return False
    if other != EMPTY and now >= queues.score[other]:
        return False
    server = int(of.web.server[of.memory.found[number]])
    hostqueues.set_score(queues, server, number, now)
    return True


@step
def _take(of: Focused) -> int:
    """The number of the next URL, or EMPTY."""
    for tried in range(MOST_TRIED):
        number = hostqueues.best(of.queues)
        if number == EMPTY or tried == MOST_TRIED - 1 or not _has_fallen(of, number):
            return number
    return EMPTY


@step
def _learn(of: Focused, number: int) -> int:
    """Learn from a page; return the place of `Links` that it adds to, -1 for no label."""
    learned, vertex = of.learned, int(of.memory.found[number])
    state = of.memory.state[vertex]
    if not state & LABELLED:
        return EMPTY
    is_relevant = bool(state & RELEVANT)
    _read(of, vertex)
    _find_features(learned, number, of.focus.strength)
    learn_from(learned.row, is_relevant, learned.mean, learned.covariance, learned.gain)
    learned.total[0] += 1
    learned.total[1] += is_relevant
    unit = int(of.evidence.deepest[vertex])
    while unit >= 0:
        learned.labelled[unit] += 1
        learned.relevant[unit] += is_relevant
        unit = int(of.evidence.parent[unit])
    return 0 if is_relevant else 1


@step
def _settle(of: Focused, number: int) -> SettledPage:
    """Learn from a URL's page and take the URL out of the queue for good."""
    vertex = int(of.memory.found[number])
    server = int(np.int64(of.web.server[vertex]))
    place = _learn(of, number)
    hostqueues.remove_url(of.queues, server, number)
    is_redirect = bool(of.memory.state[vertex] & STATUS == REDIRECT)
    source = settle(of.web, of.rules, of.memory, number)
    if is_full(of.web, of.rules, of.memory, vertex):
        hostqueues.clear(of.queues, server)
    return SettledPage(source, server, number, place, is_redirect)


@step
def _drop_unit(of: Focused, page: SettledPage, closed: int) -> None:
    """Drop the queued URLs of a unit of a page, which has turned irrelevant."""
    queues, server = of.queues, page.server
    drop_unit(of.web, of.rules, of.memory, page.source, closed)
    if not of.rules.by_directory or closed != page.source.unit:
        hostqueues.clear(queues, server)
        return
    first, before, left = int(queues.first[server]), int(queues.size[server]), 0
    for at in range(before):
        number = queues.heap[first + at]
        if is_of(of.web, of.rules, of.memory, int(of.memory.found[number]), closed):
            queues.place[number] = EMPTY
        else:
            queues.heap[first + left] = number
            left += 1
    queues.size[server] = left
    hostqueues.reorder(queues, server, before)


# --- Scores anew


@step
def _met_before(state: Bytes, numbers: Ints, target: int, n_before: int) -> int:
    """The number of a queued URL if it had one before the page, else EMPTY."""
    if state[target] & PLACE != LOW or not state[target] & STATUS:
        return EMPTY
    number = int(np.int64(numbers[target]))
    return number if number < n_before else EMPTY


# --- The crawl


@step
def _finish(of: Focused, page: SettledPage, first: int, end: int, n_before: int) -> None:
    """Drop URLs and score others anew after the links of a page are followed."""
    source = page.source
    closed = closed_unit(of.web, of.rules, of.memory, source)
    if closed != EMPTY:
        _drop_unit(of, page, closed)
    for link in range(first, end):
        target = int(of.web.link_target[link])
        number = _met_before(of.memory.state, of.memory.number, target, n_before)
        if number != EMPTY:
            _rescore(of, number)
    if source.is_page:
        record(of.memory, source.vertex)


@borrowing
def crawl(of: Focused, seeds: Ints, until: int) -> int:
    """Queue seeds, crawl until there are `until` pages (PAUSED) or nothing is left (ENDED).

    No filter applies to seeds, the host cap does.
    """
    page = SettledPage(SEED_LIST, EMPTY, EMPTY, EMPTY, False)
    targets, first, end = seeds, 0, len(seeds)
    while True:
        n_before = int(of.memory.counts[FOUND])
        for link in range(first, end):
            _follow(of, page, int(targets[link]))
        if not page.source.is_seed_list:
            _finish(of, page, first, end, n_before)
        if of.memory.counts[N_PAGES] >= until:
            return PAUSED
        number = _take(of)
        if number == EMPTY:
            return ENDED
        page = _settle(of, number)
        targets, vertex = of.web.link_target, page.source.vertex
        first = end = int(of.web.link_start[vertex])
        if of.memory.state[vertex] & STATUS != FAILED:
            end = int(of.web.link_start[vertex + 1])
