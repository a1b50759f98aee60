"""The ordering `focus` in a shared crawl: evidence is in the store, and each worker has a belief.

The script of a page counts evidence, so that is exact. The arithmetic is the worker's: it reads the
evidence of the URLs that it is about to queue or to fetch, and scores them by its own belief.
Beliefs are merged now and then. Each worker stores what its own pages add to the prior: a sum of
precisions, and of precisions times means. The belief of all is the prior and all these parts.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import numpy as np

from langfocus.crawler.frontier.base import Lease, Record
from langfocus.crawler.frontier.learning import Scorer, Tallies
from langfocus.crawler.frontier.links import KnownUrl, LinkOrigin, Links, origin_of
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.packing import known_url
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import NO_EVIDENCE, units_of
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import fingerprint

MERGED_EVERY: Final = 100
"""A worker merges its belief after so many pages with a label."""

MERGED_EVERY_S: Final = 5.0
"""It also merges, with its next page, after so many seconds."""

A_LABEL: Final = 1 << 26
"""A tally is one number: this times the pages with a label, and the relevant pages."""

Fields = Callable[[Mapping[str, Sequence[str]]], Sequence[Sequence[bytes | None]]]
"""Returns the values of fields of hashes of the crawl, by the names of their keys."""


class SharedLearner(Scorer):
    """Scores the URLs of a shared crawl by the belief of one worker."""

    def __init__(self, worker: str, prior: Prior, rules: FrontierRules, fields: Fields) -> None:
        """Begin with the prior; `merge` adds what was learned before."""
        super().__init__(Belief(prior), rules)
        self._worker = worker
        self._fields = fields
        self._tallies: dict[str, tuple[int, int]] = {}
        self._prior = self._merged = self._belief.sums()
        self._own = np.zeros_like(self._prior)
        self._merged_at = float("-inf")
        self._pages = 0

    # Scores.

    def leased(self, lease: Lease) -> KnownUrl:
        """Return what is known of a URL that was just leased."""
        known = self._known([lease.fingerprint], [lease.url])[0]
        return known or KnownUrl(lease.url, lease.score, lease.depth, NO_EVIDENCE, Links())

    def at(self, fields: Fields) -> "SharedLearner":
        """Read the evidence and the records of a shard from now on."""
        self._fields = fields
        return self

    def arrived(self, pages: Sequence[tuple[Sequence[Link], LinkOrigin]]) -> list[list[Link]]:
        """Return the links of several pages with the scores of their URLs, queued or new."""
        urls = [link.url for links, _ in pages for link in links]
        known = iter(self._known([fingerprint(url) for url in urls], urls))
        return [self._scored(links, [*islice(known, len(links))], of) for links, of in pages]

    def settle(
        self, lease: Lease, record: Record, links: Sequence[Link], *, learns: bool
    ) -> tuple[list[Link], LinkOrigin, dict[str, object]]:
        """Return a page's links with new scores, their origin, and what it counts; learn from it.

        The last are arguments of the script: the units of the page, and what their tallies get.
        """
        urls = [link.url for link in links]
        keys = [lease.fingerprint, *map(fingerprint, urls)]
        own, *known = self._known(keys, [lease.url, *urls])
        units = units_of(lease.url) if record.is_labelled else ()
        if own is not None and learns:
            self._belief.learn(self._standings([own])[0], is_relevant=record.is_relevant)
            self._pages += 1
        for unit in units:
            labelled, relevant = self._tallies[unit]
            self._tallies[unit] = labelled + 1, relevant + record.is_relevant
        origin = origin_of(lease, record, own.links if own else None)
        told = {"units": units, "tally": A_LABEL + record.is_relevant}
        return self._scored(links, known, origin), origin, told

    def _scored(
        self, links: Sequence[Link], known: Sequence[KnownUrl | None], origin: LinkOrigin
    ) -> list[Link]:
        urls = zip(links, self.linked(links, known, origin), strict=True)
        return [Link(link.url, url.score, link.evidence) for link, url in urls]

    def _known(self, keys: Sequence[int], urls: Sequence[str]) -> list[KnownUrl | None]:
        """Return what is known of URLs by their fingerprints; read the records of their units."""
        units = [*set(chain.from_iterable(map(units_of, urls)))]
        kept, tallies = self._fields({"urls": [*map(str, keys)], "tallies": units})
        self._tallies = dict(zip(units, map(_tally, tallies), strict=True))
        return [None if row is None else known_url(row) for row in kept]

    def tallies(self, units: Collection[str]) -> Tallies:
        """Return records of units; those of one page are read once."""
        if missing := [unit for unit in units if unit not in self._tallies]:
            kept = self._fields({"tallies": missing})[0]
            self._tallies |= zip(missing, map(_tally, kept), strict=True)
        return self._tallies

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


def _tally(kept: bytes | None) -> tuple[int, int]:
    """Return the pages with a label and the relevant ones."""
    labelled, relevant = divmod(int(kept or 0), A_LABEL)
    return labelled, relevant
