"""The number of relevant pages to be expected from the queue: the sum of its probabilities.

The score of a queued URL is the log-odds that its page is relevant. A host counts with the URLs
that its cap still allows: those that are fetched first. Probabilities, and the variances p (1 - p)
of each URL, are summed as whole numbers of 2**-32, so the sums do not depend on the order of the
changes, and a crawl that is continued has the same.
"""

from math import floor
from typing import Final

from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import unfallen
from crawler.frontier.storage import Storage
from crawler.strategies.focus.odds import probability_of

MOST_LOOKED_UP: Final = 256
"""With a higher host cap all queued URLs of a host count."""

UNITS: Final = 1 << 32
"""The units of a page in the sums."""


class Remaining:
    """Follows the sums while the queue changes.

    Under a host cap a change costs one look at the index when the sums are next asked for.
    """

    def __init__(self, storage: Storage, rules: FrontierRules) -> None:
        """Count the queue of a run; costs O(queued URLs) without a host cap, else O(hosts)."""
        self._storage = storage
        self._doubts_up_to = rules.doubts_up_to or 0.0
        self._cap = rules.host_cap if rules.host_cap <= MOST_LOOKED_UP else 0
        self._sum = self._variance = 0
        self._of_host: dict[int, tuple[int, int]] = {}
        self._changed: set[int] = set()
        for host, score in storage.queued_scores():
            self.count(host, score, 1)

    def count(self, host: int, score: float, by: int) -> None:
        """Note that a host, by its id, has one queued URL more (`by` 1) or one fewer (-1)."""
        if self._cap:
            self._changed.add(host)
        else:
            self._add(self._units(score), by)

    def _add(self, units: tuple[int, int], by: int) -> None:
        self._sum += by * units[0]
        self._variance += by * units[1]

    def _units(self, score: float) -> tuple[int, int]:
        """Return the probability of a URL with a score in the queue, and its variance."""
        share = probability_of(unfallen(score, self._doubts_up_to))
        return floor(share * UNITS + 0.5), floor(share * (1.0 - share) * UNITS + 0.5)

    def totals(self) -> tuple[float, float]:
        """Return the sum of the probabilities and that of the variances."""
        for host in self._changed:
            self._add(self._of_host.pop(host, (0, 0)), -1)
            scores = self._storage.best_scores(host, self._cap)
            found = [self._units(score) for score in scores]
            if found:
                now = sum(one for one, _ in found), sum(other for _, other in found)
                self._of_host[host] = now
                self._add(now, 1)
        self._changed.clear()
        return self._sum / UNITS, self._variance / UNITS
