"""The only module that touches Scrapy's private parts: waking its engine.

An engine whose scheduler returned None asks again at the next response, or after a heartbeat
of some seconds. The frontier knows when a host has rested enough, so it owns the wake-up.
"""

from collections.abc import Callable

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import CallLaterResult, call_later


class WakeUp:
    """One alarm at a time: the engine asks its scheduler again when it rings."""

    def __init__(self, crawler: Crawler, clock: Callable[[], float]) -> None:
        """Wake the engine of `crawler`; `clock` gives unix seconds."""
        self._crawler = crawler
        self._clock = clock
        self._rings_at: float | None = None
        self._call: CallLaterResult | None = None

    def at(self, when: float) -> None:
        """Ring at `when`, unix seconds, unless an earlier alarm is set."""
        if self._rings_at is not None and self._rings_at <= when:
            return
        self.cancel()
        self._rings_at = when
        # Some milliseconds more than asked for: an alarm that rings early finds nothing.
        self._call = call_later(max(0.0, when - self._clock()) + 0.002, self._ring)

    def cancel(self) -> None:
        """Ring no more."""
        if self._call is not None:
            self._call.cancel()
        self._call = self._rings_at = None

    def _ring(self) -> None:
        self._call = self._rings_at = None
        slot = self._crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()
