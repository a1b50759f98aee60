"""A crawl that no server answers ends soon: without a network all its seeds would fail in vain.

Any answer shows that there is a network: a robots.txt or an error too. From the first one on a
crawl is patient.
"""

from collections import Counter
from typing import Final

PATIENCE_S: Final = 15.0
"""Seconds after the first request in which a server must answer."""

UNANSWERED: Final = "unanswered"
"""The finish reason of a crawl that no server answered."""

NO_ADDRESS: Final = "dns"
"""The reason of a failure if a host has no address."""


class FirstAnswer:
    """Watches whether any server answers. Times are unix seconds."""

    def __init__(self, patience_s: float = PATIENCE_S, *, is_awaited: bool = True) -> None:
        """Wait `patience_s` seconds after the first request; not at all if nothing `is_awaited`."""
        self.is_awaited = is_awaited
        self._patience_s = patience_s
        self._asked_at = float("inf")
        self._reasons: dict[str, str] = {}

    @property
    def deadline(self) -> float:
        """The time at which the wait ends, infinite if there is none."""
        return self._asked_at + self._patience_s if self.is_awaited else float("inf")

    @property
    def reasons(self) -> Counter[str]:
        """The reason of the last failure of each host, counted; empty after an answer."""
        return Counter(self._reasons.values() if self.is_awaited else ())

    def ask(self, now: float) -> None:
        """Count a request that is sent."""
        self._asked_at = min(self._asked_at, now)

    def fail(self, host: str, reason: str) -> None:
        """Count the failure of a request."""
        if self.is_awaited:
            self._reasons[host] = reason

    def come(self) -> None:
        """Count an answer."""
        self.is_awaited = False

    def may_come(self, now: float) -> bool:
        """Return False if no further request shall be sent."""
        return now < self.deadline

    def is_missing(self, now: float, ready_at: float | None) -> bool:
        """Return True if no request in time is left, while none is in progress.

        The next one can be sent at `ready_at`, None if nothing is queued.
        """
        at = float("inf") if ready_at is None else ready_at
        return now >= self.deadline or (bool(self.reasons) and at >= self.deadline)
