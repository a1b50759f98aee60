"""Scores of queued URLs that follow the learning of a crawl (the ordering `focus`).

A score is the log-odds that the URL's page will be in the target language. A settled page changes
the weights and the records of its units, and so the scores of all queued URLs. URLs linked from the
page are rescored at once. Other URLs are rescored once before their fetch (`chosen`): their scores
may have changed, also by a penalty for a domain. A best URL that is no longer the best is queued
again, and the next best is tried.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final

from langfocus.crawler.frontier.base import FIRST_SCORE, Record
from langfocus.crawler.frontier.links import Held, LinkOrigin, Links, QueuedUrl
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.slots import (
    least_expected,
    penalized,
    penalties_of,
    with_penalties,
    without_penalties,
)
from langfocus.crawler.strategies.focus.belief import MOST_COUNTED, Belief, Numbers
from langfocus.crawler.strategies.focus.evidence import NO_EVIDENCE, units_of
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import host_of

# Read by code of classifiers.compiled.
LEAST_CHANGE: Final = 0.2
"""A smaller change of the log-odds is not written."""

MOST_TRIED: Final = 16
"""Most URLs rescored to find the next one to fetch."""

MOST_PENALTIES: Final = 256
"""So many URLs of crowded domains may get a penalty before the next fetch besides."""

MOST_VERSIONS: Final = 10
"""Versions of the mean page of a domain that is no farm; learned (docs/research/focus.md)."""

MOST_DOMAINS: Final = 10_000
"""Most domains whose versions are remembered, the latest ones."""

_KEPT_SUMS: Final = 16_384

Tallies = Mapping[str, tuple[int, int]]
"""Pages with a label and relevant pages of units."""


def _linked(url: QueuedUrl, link: Link, origin: LinkOrigin) -> QueuedUrl:
    """Return a URL with the evidence of another inlink."""
    evidence = link.evidence or NO_EVIDENCE
    if not url.id:
        links = origin.links(host_of(url.url))
        return url.linked(evidence, links)
    # Each session begins with the list of seeds.
    more = Links() if origin.is_list else origin.links(host_of(url.url))
    first = url.evidence or NO_EVIDENCE
    if evidence.declared and evidence.declared != first.declared:
        first = first._replace(declared=evidence.declared)
    return url.linked(first, _sum(url.links, more))


@lru_cache(_KEPT_SUMS)
def _sum(links: Links, more: Links) -> Links:
    return Links(*(min(MOST_COUNTED, a + b) for a, b in zip(links, more, strict=True)))


class Scorer(ABC):
    """Scores URLs by a belief and by unit tallies, read by a subclass.

    With only expected URLs, a seed and its redirect target always count as expected in the
    language, as a person's choice. Otherwise they are scored like any URL.
    """

    def __init__(self, belief: Belief, rules: FrontierRules) -> None:
        """Score by `belief`, which the subclass changes."""
        self._belief = belief
        self._offered: dict[str, tuple[int, int]] = {}  # relevant pages of a domain, their versions
        self._doubts_up_to = rules.doubts_up_to
        self._expects_seeds = rules.is_expected_only

    @abstractmethod
    def tallies(self, units: Collection[str]) -> Tallies:
        """Return the tallies of units, (0, 0) without pages; more units may be included."""

    def rescore(self, held: Held, url: QueuedUrl, penalties: int) -> None:
        """Score a URL removed from the queue anew."""
        weighed = self._belief.weigh(self._known([url])[0])
        held.score = self.score(url, weighed.odds, penalties)
        held.lease = replace(held.lease, score=weighed.odds, reasons=weighed.reasons())

    def rescore_all(self, found: Collection[Held]) -> None:
        """Score URLs removed from the queue anew; their leases stay unchanged."""
        odds = self._belief.scores(self._known([held.url for held in found]))
        for held, now in zip(found, odds, strict=True):
            held.score = self.score(held.url, now, held.penalties)

    def score(self, url: QueuedUrl, odds: float, penalties: int = 0) -> float:
        """Return the current score of a queued URL, with at least `penalties` penalties.

        A page of an earlier run keeps its score.
        """
        doubts_up_to = self._doubts_up_to
        doubts = doubts_up_to or 0.0
        if url.score > doubts and without_penalties(url.score, doubts) >= FIRST_SCORE:
            return with_penalties(url.score, penalties, doubts_up_to)
        return self._in_queue(url, odds, max(penalties, penalties_of(url.score, doubts_up_to)))

    def linked(
        self, urls: Sequence[QueuedUrl], links: Sequence[Link], origin: LinkOrigin
    ) -> list[QueuedUrl]:
        """Return new and queued URLs after a page linked to each of them, with new scores."""
        linked = [_linked(url, link, origin) for url, link in zip(urls, links, strict=True)]
        odds = self._belief.scores(self._known(linked))
        return [
            url.scored(self._score_after(url, now)) for url, now in zip(linked, odds, strict=True)
        ]

    def _score_after(self, url: QueuedUrl, odds: float) -> float:
        """Return the score of a URL after a link; a small change is left out."""
        before = url.score
        if not url.id:
            return before if before >= FIRST_SCORE else self._in_queue(url, odds, 0)
        now = self.score(url, odds)
        is_changed = abs(now - before) >= LEAST_CHANGE or (now > 0) != (before > 0)
        return now if is_changed else before

    def _in_queue(self, url: QueuedUrl, odds: float, penalties: int) -> float:
        if self._expects_seeds and url.depth == 0 and self._doubts_up_to is not None:
            odds = max(odds, least_expected(self._doubts_up_to))
        is_expected = odds > (self._doubts_up_to or 0.0)
        if is_expected and self._is_farm(units_of(url.url)[0]):
            penalties = max(penalties, 1)
        return penalized(odds, penalties, self._doubts_up_to)

    def _is_farm(self, domain: str) -> bool:
        pages, versions = self._offered.get(domain, (0, 0))
        return versions > MOST_VERSIONS * pages

    def note(self, url: str, record: Record) -> None:
        """Note a page with a label: expected URLs of a probable farm get a penalty from now on.

        A farm of translated pages is recognised by the number of languages that its pages offer.
        Some human sites offer as many. Therefore the evidence only changes the order of a crawl.
        """
        if not record.is_relevant:
            return
        domain = units_of(url)[0]
        pages, versions = self._offered.pop(domain, (0, 0))
        self._offered[domain] = pages + 1, versions + record.offered
        if len(self._offered) > MOST_DOMAINS:
            del self._offered[next(iter(self._offered))]

    def _known(self, urls: Sequence[QueuedUrl]) -> list[Numbers]:
        units = [units_of(url.url) for url in urls]
        names = set(units)
        tally_of = self.tallies(set(chain.from_iterable(names))).__getitem__
        numbers = {of: tuple(chain.from_iterable(map(tally_of, of))) for of in names}
        return [
            (*(url.evidence or NO_EVIDENCE), *url.links, *numbers[of])
            for url, of in zip(urls, units, strict=True)
        ]


def chosen(
    take: Callable[[], Held | None],
    best_other: Callable[[Held], float | None],
    put_back: Callable[[Held], None],
    waits_up_to: float | None,
) -> Held | None:
    """Return the next URL to fetch, or None.

    `take` removes the best URL from the queue, `put_back` queues a URL again with its new score.
    `best_other` returns the best score of all other queued URLs. Without another URL, a score up to
    `waits_up_to` must wait.
    """
    tries, penalties = MOST_TRIED, MOST_PENALTIES
    while (found := take()) is not None:
        if tries == 1 or not penalties or _keeps_place(found):
            return found
        best = best_other(found)
        if best is not None and found.score >= best:
            return found
        if best is None and (waits_up_to is None or found.score > waits_up_to):
            return found
        put_back(found)
        tries -= not found.is_penalized
        penalties -= found.is_penalized
    return None


def _keeps_place(found: Held) -> bool:
    """Return True if a new score needs no comparison with other URLs."""
    before = found.url.score
    is_close = not found.is_penalized and found.score > before - LEAST_CHANGE
    return is_close or found.score >= before
