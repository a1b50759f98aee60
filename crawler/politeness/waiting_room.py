"""The visitors that wait for a host or an address in use, and their number."""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final

STEP_S: Final = 0.05
"""Seconds after which to try a place in use again."""

CAPACITY: Final = 100_000
"""Most visitors that are remembered; with one more, the one that waits longest is forgotten."""


def _ignore(place: str) -> None:
    """Do nothing."""


class WaitingRoom:
    """Visitors, each waiting for one place; len() is their number.

    No visitor occupies a connection while it waits: it gets the time at which to try again.
    """

    def __init__(
        self, *, on_empty: Callable[[str], object] = _ignore, capacity: int = CAPACITY
    ) -> None:
        """Call `on_empty` with each place for which the last visitor stops waiting."""
        self._on_empty = on_empty
        self._capacity = capacity
        self._places: OrderedDict[str, str] = OrderedDict()
        self._numbers: Counter[str] = Counter()

    def wait(self, visitor: str, place: str) -> int:
        """Let a visitor wait for a place; return the number that wait for it, this one included.

        A visitor that waits already, for this or another place, goes to the end.
        """
        self.leave(visitor)
        if len(self._places) >= self._capacity:
            self.leave(next(iter(self._places)))
        self._places[visitor] = place
        self._numbers[place] += 1
        return self._numbers[place]

    def leave(self, visitor: str) -> None:
        """End the wait of a visitor, if it waits."""
        place = self._places.pop(visitor, None)
        if place is None:
            return
        self._numbers[place] -= 1
        if not self._numbers[place]:
            del self._numbers[place]
            self._on_empty(place)

    def __len__(self) -> int:
        """Return the number of waiting visitors."""
        return len(self._places)
