"""The number of requests at each address, counted for one process."""

from collections import Counter
from typing import Protocol


class Occupancy(Protocol):
    """Limits the requests at an address."""

    def enter(self, address: str) -> bool:
        """Count one more request and return True, or return False if the limit is reached."""

    def leave(self, address: str) -> None:
        """End a request; raises `crawler.errors.StorageError` if that cannot be recorded."""


class OwnOccupancy:
    """Counts the requests of this process; with `at_once` 0 there is no limit."""

    def __init__(self, at_once: int) -> None:
        """Allow `at_once` requests at one address."""
        self._at_once = at_once
        self._inside: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Let one more request in and return True, or return False."""
        if self._at_once and self._inside[address] >= self._at_once:
            return False
        self._inside[address] += 1
        return True

    def leave(self, address: str) -> None:
        """End a request."""
        self._inside[address] -= 1
        if self._inside[address] <= 0:
            del self._inside[address]
