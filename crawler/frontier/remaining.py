"""The number of relevant pages to be expected from the queue: the sum of its probabilities.

The score of a queued URL is the log-odds that its page is relevant. A host counts with the URLs
that its cap still allows: those that are fetched first. Probabilities are summed as whole numbers
of 2**-32, so the sum does not depend on the order of the changes, and a crawl that is continued has
the same.
"""

from typing import Final

from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import unfallen
from crawler.frontier.storage import Storage
from crawler.strategies.focus.odds import probability_of

MOST_LOOKED_UP: Final = 256
"""With a higher host cap all queued URLs of a host count."""

_ONE: Final = 1 << 32


def _units(score: float, doubts_up_to: float) -> int:
    """Return the probability of a URL with a score in the queue, in units of 2**-32."""
    return round(probability_of(unfallen(score, doubts_up_to)) * _ONE)


class Remaining:
    """Follows the sum while the queue changes.

    Under a host cap a change costs one look at the index when the sum is next asked for.
    """

    def __init__(self, storage: Storage, rules: FrontierRules) -> None:
        """Count the queue of a run; costs O(queued URLs) without a host cap, else O(hosts)."""
        self._storage = storage
        self._doubts_up_to = rules.doubts_up_to or 0.0
        self._cap = rules.host_cap if rules.host_cap <= MOST_LOOKED_UP else 0
        self._total = 0
        self._of_host: dict[int, int] = {}
        self._changed: set[int] = set()
        for host, score in storage.queued_scores():
            self.count(host, score, 1)

    def count(self, host: int, score: float, by: int) -> None:
        """Note that a host, by its id, has one queued URL more (`by` 1) or one fewer (-1)."""
        if self._cap:
            self._changed.add(host)
        else:
            self._total += by * _units(score, self._doubts_up_to)

    def total(self) -> float:
        """Return the sum."""
        for host in self._changed:
            scores = self._storage.best_scores(host, self._cap)
            now = sum(_units(score, self._doubts_up_to) for score in scores)
            self._total += now - self._of_host.pop(host, 0)
            if now:
                self._of_host[host] = now
        self._changed.clear()
        return self._total / _ONE
