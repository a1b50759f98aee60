"""Decides if a free connection waits for a better URL than a doubtful one.

A URL is doubtful if its score is `FrontierRules.waits_up_to` or less; any other is promising.
Without this wait, a crawl with many connections would spend its first seconds on the few doubtful
URLs that are queued at the start.
"""

from collections.abc import Mapping
from heapq import heappop, heappush

from crawler.frontier.rules import FrontierRules
from crawler.frontier.selection import QueuedHost


class Patience:
    """Knows the hosts and leases that may bring a better URL, and the time without one."""

    def __init__(self, rules: FrontierRules, hosts: Mapping[int, QueuedHost]) -> None:
        """Read `hosts` (by id), which the frontier keeps."""
        waits_up_to = rules.waits_up_to
        self._is_on = waits_up_to is not None
        self.threshold = float("-inf") if waits_up_to is None else waits_up_to
        self._patience_s = rules.patience_s
        self._hosts = hosts
        self._rests: list[tuple[float, int]] = []
        self._leases = 0
        self._since: float | None = None

    def lease(self, score: float) -> None:
        """Note that a URL with this score was leased."""
        self._leases += score > self.threshold

    def end_lease(self, score: float) -> None:
        """Note that the lease of a URL with this score ended."""
        self._leases -= score > self.threshold

    def count(self, host: QueuedHost, score: float, by: int) -> None:
        """Note that the queue of a host has one URL more (`by` 1) or one fewer (-1)."""
        if score > self.threshold:
            host.promising += by
            if by == host.promising and not (host.is_ready or host.is_leased):
                self.rest(host)

    def rest(self, host: QueuedHost) -> None:
        """Note that a host rests until its `ready_at`."""
        if self._is_on and host.promising:
            heappush(self._rests, (host.ready_at, host.id))

    def wake(self, now: float) -> None:
        """Remove the rests that have ended."""
        while self._rests and self._rests[0][0] <= now:
            heappop(self._rests)

    def is_waiting(self, best: float | None, now: float) -> bool:
        """Return True if the best ready URL is doubtful and must still wait.

        `best` is its score, None if no URL is ready.
        """
        if best is None:
            return False
        if best > self.threshold:
            self._since = None
            return False
        if not (self._leases or self._promises_soon(now)):
            return False
        if self._since is None:
            self._since = now
        return now - self._since < self._patience_s

    def waits_until(self, best: float, now: float) -> float:
        """Return the time at which the best ready URL is leased if no better one arrives."""
        if self._since is None or not self.is_waiting(best, now):
            return now
        return self._since + self._patience_s

    def _promises_soon(self, now: float) -> bool:
        """Return True if a host with a promising URL will be ready before the patience ends."""
        while self._rests:
            ready_at, host_id = self._rests[0]
            host = self._hosts.get(host_id)
            is_resting = host is not None and not (host.is_leased or host.is_ready)
            if is_resting and host and host.promising and host.ready_at == ready_at:
                return ready_at <= now + self._patience_s
            heappop(self._rests)
        return False
