"""The ordering `focus` in a shared crawl: evidence is in Redis, and each worker has a belief.

The script of a page counts the evidence, so counts are exact. The worker does the arithmetic: it
reads the evidence about URLs before queueing or fetching them, and scores them by its own belief.
Beliefs are merged from time to time. Each worker publishes the contribution of its own pages to the
prior: a sum of precisions, and of precisions times means. The common belief is the prior plus all
contributions.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Lease, Record
from langfocus.crawler.frontier.learning import Scorer, Tallies
from langfocus.crawler.frontier.links import LinkOrigin, QueuedUrl, origin_of
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.packing import PageLinks, queued_url
from langfocus.crawler.strategies.focus.belief import Belief
from langfocus.crawler.strategies.focus.evidence import units_of
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import fingerprint

if TYPE_CHECKING:
    from langfocus.crawler.shared.script import Script

MERGED_EVERY: Final = 100
"""A worker merges its belief after so many pages with a label."""

MERGED_EVERY_S: Final = 5.0
"""Seconds after which beliefs are also merged, with the next page."""

A_LABEL: Final = 1 << 26
"""A tally is one number: this times the pages with a label, and the relevant pages."""


class SharedLearner(Scorer):
    """Scores the URLs of a shared crawl by one worker's belief."""

    def __init__(self, worker: str, prior: Prior, rules: FrontierRules, script: "Script") -> None:
        """Start with the prior; `script` is the whole crawl's script."""
        super().__init__(Belief(prior), rules)
        self._worker = worker
        self._whole = self._script = script
        self._tallies: dict[str, tuple[int, int]] = {}
        self._prior = self._merged = self._belief.sums()
        self._own = np.zeros_like(self._prior)
        self._merged_at = float("-inf")
        self._pages = 0

    # Scores.

    def leased(self, lease: Lease) -> QueuedUrl:
        """Return the evidence about a URL just leased."""
        known = self._rows([lease.fingerprint], [lease.url])[0]
        return known or QueuedUrl(lease.url, lease.score, lease.depth)

    def at(self, script: "Script") -> "SharedLearner":
        """Read the evidence and the records of a shard from now on."""
        self._script = script
        return self

    def arrived(self, pages: Sequence[PageLinks]) -> list[list[Link]]:
        """Return the links of several pages, scored anew, for queued and new URLs."""
        urls = [link.url for page in pages for link in page.links]
        known = iter(self._rows([fingerprint(url) for url in urls], urls))
        parts = ((*page, [*islice(known, len(page.links))]) for page in pages)
        return [self._scored(links, found, origin) for _, origin, links, found in parts]

    def settle(
        self, lease: Lease, record: Record, links: Sequence[Link], *, learns: bool
    ) -> tuple[list[Link], LinkOrigin, dict[str, object]]:
        """Return a page's scored links, their origin, and its unit counts; learn from the page.

        The unit counts are script arguments: the page's units, and the increments of their tallies.
        """
        urls = [link.url for link in links]
        keys = [lease.fingerprint, *map(fingerprint, urls)]
        own, *known = self._rows(keys, [lease.url, *urls])
        units = units_of(lease.url) if record.is_labelled else ()
        if own is not None and learns:
            self._belief.learn(self._known([own])[0], is_relevant=record.is_relevant)
            self.note(lease.url, record)
            self._pages += 1
        for unit in units:
            labelled, relevant = self._tallies[unit]
            self._tallies[unit] = labelled + 1, relevant + record.is_relevant
        origin = origin_of(lease, record, own.links if own else None)
        counted = {"units": units, "tally": A_LABEL + record.is_relevant}
        return self._scored(links, known, origin), origin, counted

    def _scored(
        self, links: Sequence[Link], known: Sequence[QueuedUrl | None], origin: LinkOrigin
    ) -> list[Link]:
        urls = [
            url or QueuedUrl(link.url, link.score, origin.depth)
            for link, url in zip(links, known, strict=True)
        ]
        scored = zip(links, self.linked(urls, links, origin), strict=True)
        return [Link(link.url, url.score, link.evidence) for link, url in scored]

    def _rows(self, keys: Sequence[int], urls: Sequence[str]) -> list[QueuedUrl | None]:
        """Return the evidence about URLs by fingerprint; reads the records of their units."""
        units = [*set(chain.from_iterable(map(units_of, urls)))]
        kept, tallies = self._script.fields({"urls": [*map(str, keys)], "tallies": units})
        self._tallies = dict(zip(units, map(_tally, tallies), strict=True))
        return [None if row is None else queued_url(row) for row in kept]

    def tallies(self, units: Collection[str]) -> Tallies:
        """Return unit records; a page's units are read once."""
        if missing := [unit for unit in units if unit not in self._tallies]:
            kept = self._script.fields({"tallies": missing})[0]
            self._tallies |= zip(missing, map(_tally, kept), strict=True)
        return self._tallies

    # Merging.

    def exchange(self, now: float) -> None:
        """Exchange beliefs with the other workers, now and then."""
        is_due = self._pages >= MERGED_EVERY or now >= self._merged_at + MERGED_EVERY_S
        if self._pages and is_due:
            self._whole.now = self._merged_at = now
            self._publish()
            self.take_over()

    def leave(self) -> None:
        """Publish the last pages; the crawl goes on without them if the server is away."""
        if self._pages and not self._whole.keys.losses:
            with suppress(StorageError):
                self._publish()

    def take_over(self) -> None:
        """Update the belief with the evidence of all workers."""
        keys = self._whole.keys
        keys.read(self._merge, lambda pipe: pipe.hgetall(keys.key("belief")))

    def _publish(self) -> None:
        """Publish the contribution of this worker's pages to the prior."""
        sums = self._belief.sums()
        self._own = self._own + sums - self._merged
        self._merged, self._pages = sums, 0
        self._whole.call("note", counts={}, belief=b64encode(self._own.tobytes()).decode())

    def _merge(self, published: Mapping[str, str]) -> None:
        """Update the belief to the prior plus all workers' contributions."""
        parts = {name: np.frombuffer(b64decode(text)) for name, text in published.items()}
        has_returned = not self._own.any() and self._worker in parts
        if has_returned:
            self._own = parts[self._worker]
        if has_returned or parts.keys() - {self._worker}:
            self._merged = self._prior + sum(parts.values())
            self._belief.take_over(self._merged)


def _tally(kept: bytes | None) -> tuple[int, int]:
    """Return the pages with a label and the relevant ones."""
    labelled, relevant = divmod(int(kept or 0), A_LABEL)
    return labelled, relevant
