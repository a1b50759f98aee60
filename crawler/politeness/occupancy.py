"""How many requests are at an address: counted for one process."""

from collections import Counter
from typing import Protocol


class Occupancy(Protocol):
    """Lets so many in at an address."""

    def enter(self, address: str) -> bool:
        """Let one more in, or return False."""

    def leave(self, address: str) -> None:
        """End a stay; raises `crawler.errors.StorageError` where that cannot be said."""


class OwnOccupancy:
    """Counts the requests of this process; `at_once` 0: any number."""

    def __init__(self, at_once: int) -> None:
        """Let so many in at one address."""
        self._at_once = at_once
        self._inside: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Let one more in, or return False."""
        if self._at_once and self._inside[address] >= self._at_once:
            return False
        self._inside[address] += 1
        return True

    def leave(self, address: str) -> None:
        """End a stay."""
        self._inside[address] -= 1
        if self._inside[address] <= 0:
            del self._inside[address]
