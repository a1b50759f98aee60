"""Many hosts on one address are one machine: how many of them are contacted at once.

Which address a host has is known only once its name is resolved, so the frontier, which keeps
the delay of each host, cannot tell. Whoever comes when an address is busy is told when to come
again; nobody waits with a connection in hand.
"""

from collections import Counter, OrderedDict

from crawler.politeness.occupancy import Occupancy

STEP_S = 0.05
"""Seconds between two hosts that come again to one busy address."""

_MAX_WAITING = 100_000


class SharedAddresses:
    """Lets requests in at addresses, and tells others when to come again."""

    def __init__(self, occupancy: Occupancy) -> None:
        """Let as many in as `occupancy` does."""
        self._occupancy = occupancy
        self._queues: Counter[str] = Counter()
        self._waiting: OrderedDict[str, str] = OrderedDict()

    def enter(self, address: str, host: str) -> float | None:
        """Let a request in, or return after how many seconds to come again.

        The more hosts wait for an address, the later the next of them comes: however many they
        are, an address is asked for every `STEP_S` seconds on average.
        """
        if not self._occupancy.enter(address):
            self._wait(address, host)
            return STEP_S * self._queues[address]
        self._end_wait(host)
        return None

    def leave(self, address: str) -> None:
        """End a request that was let in."""
        self._occupancy.leave(address)

    def __len__(self) -> int:
        """Return how many hosts wait."""
        return len(self._waiting)

    def _wait(self, address: str, host: str) -> None:
        self._end_wait(host)
        if len(self._waiting) >= _MAX_WAITING:
            self._end_wait(next(iter(self._waiting)))
        self._waiting[host] = address
        self._queues[address] += 1

    def _end_wait(self, host: str) -> None:
        address = self._waiting.pop(host, None)
        if address is not None:
            self._queues[address] -= 1
            if self._queues[address] <= 0:
                del self._queues[address]
