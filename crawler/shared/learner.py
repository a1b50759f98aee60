"""The ordering `focus` in a shared crawl: evidence is in the store, and each worker has a belief.

The script of a page counts evidence, so that is exact. The arithmetic is the worker's: it reads the
evidence of the URLs that it is about to queue or to fetch, and scores them by its own belief.
Beliefs are merged now and then. Each worker stores what its own pages add to the prior: a sum of
precisions, and of precisions times means. The belief of all is the prior and all these parts.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from crawler.frontier.base import FIRST_SCORE, FORWARDING, Lease, Link, Record
from crawler.frontier.evidence_rows import Links
from crawler.frontier.learning import (
    NO_PAGE,
    LinkingPage,
    has_changed,
    is_of_earlier_run,
    sum_of,
)
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import fallen, fallen_to, falls_of
from crawler.shared.packing import KnownUrl, known_url
from crawler.strategies.focus.belief import Belief, Prior, Standing, Weighed
from crawler.strategies.focus.evidence import NO_EVIDENCE, Evidence, units_of
from crawler.url import fingerprint, host_of

MERGED_EVERY: Final = 100
"""A worker merges its belief after so many pages with a label."""

MERGED_EVERY_S: Final = 5.0
"""It also merges, with its next page, after so many seconds."""

A_LABEL: Final = 1 << 26
"""A tally is one number: this times the pages with a label, and the relevant pages."""

Fields = Callable[[str, Sequence[str]], Sequence[bytes | None]]
"""Returns the values of fields of a hash of the crawl, by the name of its key."""


_Url = tuple[str, Evidence, Links]


class Settled(NamedTuple):
    """What a page changes: its links with new scores, what it tells of them, and what is counted.

    `counted` are the arguments of the script: the units of the page, and what their tallies get.
    """

    links: list[Link]
    page: LinkingPage
    counted: dict[str, object]


class SharedLearner:
    """Scores the URLs of a shared crawl by the belief of one worker."""

    def __init__(self, worker: str, prior: Prior, rules: FrontierRules, fields: Fields) -> None:
        """Begin with the prior; `merge` adds what was learned before."""
        self._worker = worker
        self._doubts_up_to = rules.doubts_up_to
        self._fields = fields
        self._belief = Belief(prior)
        self._prior = self._merged = self._belief.sums()
        self._own = np.zeros_like(self._prior)
        self._merged_at = float("-inf")
        self._pages = 0

    # Scores.

    def weigh(self, key: int, url: str) -> Weighed:
        """Return the log-odds of a URL that was just leased."""
        (known,) = self._known([key])
        return self._belief.weigh(self._standings([_as_known(url, known)], {})[0])

    def score(self, before: float, odds: float, falls: int = 0) -> float:
        """Return the score in the queue of a URL, after at least so many falls.

        A page of an earlier run keeps its own.
        """
        if is_of_earlier_run(before, self._doubts_up_to):
            return fallen_to(before, falls, self._doubts_up_to)
        most = max(falls, falls_of(before, self._doubts_up_to))
        return fallen(odds, most, self._doubts_up_to)

    def scored(self, links: Sequence[Link]) -> list[Link]:
        """Return seeds with the scores that their URLs have, queued or new."""
        known = self._known([fingerprint(link.url) for link in links])
        return self._scored(links, known, NO_PAGE, {})

    def settle(self, lease: Lease, record: Record, links: Sequence[Link]) -> Settled:
        """Learn from a page, and score its links as the store will count it."""
        keys = [lease.fingerprint, *(fingerprint(link.url) for link in links)]
        own, *known = self._known(keys)
        is_labelled = record.is_download and record.language is not None
        counted = dict[str, tuple[int, int]]()
        if is_labelled:
            standing = self._standings([_as_known(lease.url, own)], {})[0]
            if own is not None:
                self._belief.learn(standing, is_relevant=record.is_relevant)
                self._pages += 1
            counted = dict.fromkeys(units_of(lease.url), (1, int(record.is_relevant)))
        page = LinkingPage(lease.host, record.is_relevant if is_labelled else None)
        if record.outcome in FORWARDING:
            page = LinkingPage(inherited=own.links if own else Links())
        told = {"units": list(counted), "tally": A_LABEL + record.is_relevant}
        return Settled(self._scored(links, known, page, counted), page, told)

    def _scored(
        self,
        links: Sequence[Link],
        known: Sequence[KnownUrl | None],
        page: LinkingPage,
        counted: Mapping[str, tuple[int, int]],
    ) -> list[Link]:
        pairs = list(zip(links, known, strict=True))
        standings = self._standings([_after(link, found, page) for link, found in pairs], counted)
        odds = self._belief.scores(standings)
        return [
            Link(link.url, self._score_of(link, found, now), link.evidence)
            for (link, found), now in zip(pairs, odds, strict=True)
        ]

    def _score_of(self, link: Link, found: KnownUrl | None, odds: float) -> float:
        if found is None:
            return link.score if link.score >= FIRST_SCORE else odds
        now = self.score(found.score, odds)
        return now if has_changed(found.score, now) else found.score

    def _known(self, keys: Sequence[int]) -> list[KnownUrl | None]:
        kept = self._fields("urls", [str(key) for key in keys])
        return [None if row is None else known_url(row) for row in kept]

    def _standings(
        self, urls: Sequence[_Url], counted: Mapping[str, tuple[int, int]]
    ) -> list[Standing]:
        """Return what is known of URLs; the store does not have yet what is `counted`."""
        units = [units_of(url) for url, _, _ in urls]
        names = list(dict.fromkeys(unit for of in units for unit in of))
        tallies = dict[str, tuple[int, int]]()
        for name, kept in zip(names, self._fields("tallies", names), strict=True):
            labelled, relevant = divmod(int(kept or 0), A_LABEL)
            more = counted.get(name, (0, 0))
            tallies[name] = labelled + more[0], relevant + more[1]
        return [
            Standing(evidence, links, tuple(number for unit in of for number in tallies[unit]))
            for (_, evidence, links), of in zip(urls, units, strict=True)
        ]

    # Merging.

    @property
    def has_learned(self) -> bool:
        """True if this worker learned something that the others should know."""
        return self._pages > 0

    def is_due(self, now: float) -> bool:
        """Return True if it is time to merge what this worker learned."""
        return self.has_learned and (
            self._pages >= MERGED_EVERY or now >= self._merged_at + MERGED_EVERY_S
        )

    def own(self, now: float) -> str:
        """Return what the pages of this worker add to the prior, as `merge` reads it."""
        sums = self._belief.sums()
        self._own = self._own + sums - self._merged
        self._merged, self._pages, self._merged_at = sums, 0, now
        return b64encode(self._own.tobytes()).decode()

    def merge(self, kept: Mapping[str, str]) -> None:
        """Believe what all workers learned; `kept` has the `own` of each.

        Raises ValueError for a value that no worker writes.
        """
        parts = {name: np.frombuffer(b64decode(text)) for name, text in kept.items()}
        is_again = not self._own.any() and self._worker in parts
        if is_again:
            self._own = parts[self._worker]
        if is_again or parts.keys() - {self._worker}:
            self._merged = self._prior + sum(parts.values())
            self._belief.take_over(self._merged)


def _as_known(url: str, known: KnownUrl | None) -> _Url:
    return (url, known.evidence, known.links) if known else (url, NO_EVIDENCE, Links())


def _after(link: Link, found: KnownUrl | None, page: LinkingPage) -> _Url:
    """Return a URL with its evidence and links as a page changes them."""
    url, evidence = found.url if found else link.url, link.evidence or NO_EVIDENCE
    more = page.links(host_of(url))
    if found is None:
        return url, evidence, more
    declared = evidence.declared or found.evidence.declared
    return url, found.evidence._replace(declared=declared), sum_of(found.links, more)
