"""Scores of queued URLs that follow what the crawl learns (the ordering `focus`).

A score is the log-odds that the URL's page will be in the target language. When a page is settled,
the weights and the records of its units change, and with them the scores of all queued URLs. The
URLs that the page links to are scored anew at once. Others are scored once more before their fetch
(`chosen`): their scores may have changed, also by a penalty for a domain. If the best URL is no
longer the best, it goes back, and the next best is tried.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Final, TypeVar

from langfocus.crawler.frontier.base import FIRST_SCORE, Lease
from langfocus.crawler.frontier.links import KnownUrl, LinkOrigin, Links
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.slots import (
    least_expected,
    penalized,
    penalties_of,
    with_penalties,
    without_penalties,
)
from langfocus.crawler.strategies.focus.belief import MOST_COUNTED, Belief, Standing
from langfocus.crawler.strategies.focus.evidence import NO_EVIDENCE, units_of
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import host_of

# Read by code of classifiers.compiled.
LEAST_CHANGE: Final = 0.2
"""A smaller change of the log-odds is not written."""

MOST_TRIED: Final = 16
"""The most URLs that are scored anew to find the one that is fetched next."""

MOST_PENALTIES: Final = 256
"""So many URLs of crowded domains may get a penalty before the next fetch besides."""

_KEPT_SUMS: Final = 16_384

Tallies = Mapping[str, tuple[int, int]]
"""Pages with a label and relevant pages of units."""


def _linked(link: Link, known: KnownUrl | None, origin: LinkOrigin) -> KnownUrl:
    """Return a URL with what a page adds to it; None is `known` of a new one."""
    evidence = link.evidence or NO_EVIDENCE
    if known is None:
        links = origin.links(host_of(link.url))
        return KnownUrl(link.url, link.score, origin.depth, evidence, links)
    # Each session begins with the list of seeds.
    more = Links() if origin.is_list else origin.links(host_of(known.url))
    first = known.evidence
    if evidence.declared and evidence.declared != first.declared:
        first = first._replace(declared=evidence.declared)
    return KnownUrl(known.url, known.score, known.depth, first, _sum(known.links, more))


@lru_cache(_KEPT_SUMS)
def _sum(links: Links, more: Links) -> Links:
    return Links(*(min(MOST_COUNTED, a + b) for a, b in zip(links, more, strict=True)))


class Scorer(ABC):
    """Scores URLs by a belief, and by the records of their units, which a subclass reads.

    Where only expected URLs are leased, a seed, and the target of its redirect, is always expected
    in the language: somebody chose it. Otherwise its score is that of any URL.
    """

    def __init__(self, belief: Belief, rules: FrontierRules) -> None:
        """Score by `belief`, which the subclass changes."""
        self._belief = belief
        self._doubts_up_to = rules.doubts_up_to
        self._expects_seeds = rules.is_expected_only

    @abstractmethod
    def tallies(self, units: Collection[str]) -> Tallies:
        """Return the records of units, (0, 0) for one without a page; others may be among them."""

    def again(self, lease: Lease, url: KnownUrl, penalties: int) -> tuple[Lease, float]:
        """Return the lease of a URL as it is scored now, and its score in the queue."""
        weighed = self._belief.weigh(self._standings([url])[0])
        score = self.score(url, weighed.odds, penalties)
        return replace(lease, score=weighed.odds, reasons=weighed.reasons()), score

    def score(self, url: KnownUrl, odds: float, penalties: int = 0) -> float:
        """Return the score in the queue that a URL has now, after at least so many penalties.

        A page of an earlier run keeps its own.
        """
        doubts_up_to = self._doubts_up_to
        doubts = doubts_up_to or 0.0
        if url.score > doubts and without_penalties(url.score, doubts) >= FIRST_SCORE:
            return with_penalties(url.score, penalties, doubts_up_to)
        return self._in_queue(url, odds, max(penalties, penalties_of(url.score, doubts_up_to)))

    def linked(
        self, links: Sequence[Link], known: Sequence[KnownUrl | None], origin: LinkOrigin
    ) -> list[KnownUrl]:
        """Return the URLs of links as a page leaves them: with a link more, and a new score.

        `known` is what was known of each queued URL, None for a new one.
        """
        urls = [_linked(link, found, origin) for link, found in zip(links, known, strict=True)]
        odds = self._belief.scores(self._standings(urls))
        scored = []
        for url, found, now in zip(urls, known, odds, strict=True):
            if found is not None:
                score = self._changed(url, now)
            else:
                score = url.score if url.score >= FIRST_SCORE else self._in_queue(url, now, 0)
            scored.append(KnownUrl(url.url, score, url.depth, url.evidence, url.links))
        return scored

    def _changed(self, url: KnownUrl, odds: float) -> float:
        before, now = url.score, self.score(url, odds)
        is_changed = abs(now - before) >= LEAST_CHANGE or (now > 0) != (before > 0)
        return now if is_changed else before

    def _in_queue(self, url: KnownUrl, odds: float, penalties: int) -> float:
        if self._expects_seeds and url.depth == 0 and self._doubts_up_to is not None:
            odds = max(odds, least_expected(self._doubts_up_to))
        return penalized(odds, penalties, self._doubts_up_to)

    def _standings(self, urls: Sequence[KnownUrl]) -> list[Standing]:
        units = [units_of(url.url) for url in urls]
        names = set(units)
        tallies = self.tallies(set(chain.from_iterable(names)))
        numbers = {of: tuple(chain.from_iterable(tallies[unit] for unit in of)) for of in names}
        return [
            Standing(url.evidence, url.links, numbers[of])
            for url, of in zip(urls, units, strict=True)
        ]


@dataclass(slots=True)
class Candidate:
    """The best URL, which was taken from the queue.

    Its score there was `before`, and is `score` now. `is_penalized` is True if it has a penalty
    that it did not have before.
    """

    lease: Lease
    before: float
    score: float
    is_penalized: bool


C = TypeVar("C", bound=Candidate)


def chosen(
    take: Callable[[], C | None],
    best_other: Callable[[C], float | None],
    put_back: Callable[[C], None],
    waits_up_to: float | None,
) -> C | None:
    """Return the URL that is fetched next, None if `take` has none.

    `take` takes the best URL of the queue, `put_back` gives it back with its new score.
    `best_other` returns the best score of all others; without one, a URL must be better than
    `waits_up_to`, or it waits.
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


def _keeps_place(found: Candidate) -> bool:
    """Return True if a new score is no reason to look at the others."""
    is_close = not found.is_penalized and found.score > found.before - LEAST_CHANGE
    return is_close or found.score >= found.before
