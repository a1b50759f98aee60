"""The crawl clock, in unix seconds: monotonic, without jumps.

A machine's clock may be set during a crawl. With that clock, hosts would rest an hour too long or
be contacted before their delay.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

STEP_S: Final = 1.0
"""A difference between two clocks of at least this many seconds is not drift."""

_QUESTIONS = 8


elapsed_s = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)
"""Returns seconds since some moment, those in which the machine slept included if possible."""


class CrawlClock:
    """A clock that starts at the machine's time and then counts seconds.

    Workers of a shared crawl set the clock to their server's time.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = elapsed_s,
    ) -> None:
        """Start at `wall()`, unix seconds; `elapsed` counts seconds and never goes back."""
        self._wall, self._elapsed = wall, elapsed
        self._offset = wall() - elapsed()
        self._latest = float("-inf")
        self._has_jumped = False

    def __call__(self) -> float:
        """Return the time in unix seconds, never less than before."""
        self._latest = max(self._latest, self._offset + self._elapsed())
        return self._latest

    def set_to(self, now_of: Callable[[], float]) -> float:
        """Set the clock to another clock; return the lead of the machine's clock in seconds.

        Only for a clock that was never read.
        """
        self._offset, _ = self._offset_from(now_of)
        self._latest = float("-inf")
        return self._wall() - self()

    def follow(self, now_of: Callable[[], float]) -> float:
        """Correct the drift from another clock; return the seconds of that clock's first jump.

        After a jump, this clock does not change. Without one, and after the first, 0 is returned.
        """
        offset, error_s = self._offset_from(now_of)
        difference = offset - self._offset
        if abs(difference) >= STEP_S:
            was_known, self._has_jumped = self._has_jumped, True
            return 0.0 if was_known else difference
        if abs(difference) > error_s:
            self._offset = offset
        return 0.0

    def _offset_from(self, now_of: Callable[[], float]) -> tuple[float, float]:
        """Return the difference to another clock and its greatest error, half the shortest answer.

        An answer may be late by chance, so there are several questions, as NTP does.
        """
        offsets = []
        for _ in range(_QUESTIONS):
            before = self._elapsed()
            now = now_of()
            after = self._elapsed()
            offsets.append(((after - before) / 2, now - (before + after) / 2))
        error_s, offset = min(offsets)
        return offset, error_s
