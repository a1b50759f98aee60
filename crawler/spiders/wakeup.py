"""The alarm that makes Scrapy's engine ask its scheduler again.

After the scheduler returned None, the engine asks again at the next response or after some seconds.
The frontier knows the time at which the next host is ready, so the scheduler sets an alarm for it.
The alarm uses private parts of the engine, since Scrapy has no public way to wake it.
"""

from collections.abc import Callable
from typing import Any, cast

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import CallLaterResult, call_later

from crawler.clock import CrawlClock


def keep_time(clock: CrawlClock) -> None:
    """Make the reactor's time-outs independent of the machine's clock, which may be set.

    Twisted reads `time.time`: if that is set back an hour, no time-out of a download ends for an
    hour.
    """
    from twisted.internet import reactor

    timer = cast("Any", reactor)
    if not isinstance(timer.seconds, CrawlClock):
        timer.seconds = clock


class WakeUp:
    """One alarm at a time; when it rings, the engine asks its scheduler again."""

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
        # Two milliseconds later than requested: an alarm that rings early would find no URL.
        self._call = call_later(max(0.0, when - self._clock()) + 0.002, self._ring)

    def cancel(self) -> None:
        """Cancel the alarm."""
        if self._call is not None:
            self._call.cancel()
        self._call = self._rings_at = None

    def _ring(self) -> None:
        self._call = self._rings_at = None
        slot = self._crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()
