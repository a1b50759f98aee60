"""How many requests Scrapy sends at once: all that knows its downloader and download slots.

The frontier keeps the delays, and one connection to a host. So all requests share one slot, which
has no delay and is as wide as the crawl. Scrapy plans to replace slots by throttling scopes (its
pull request 6931); then this module changes, and its test says so.
"""

import logging
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine

PAUSE_S: Final = 2.0
"""Seconds for which a host rests after a connection to it could not be made here."""

_CALM_S: Final = 30.0
"""Seconds without a fault after which each page allows one more request."""

_SLOT: Final = "langfocus"
_MOST_PER_DOMAIN: Final = 1000

IN_SLOT: Final = {"download_slot": _SLOT}
"""What the meta of each request has."""

_log = logging.getLogger(__name__)


def slot_settings(requests: int) -> dict[str, Any]:
    """Return Scrapy's settings for this number of requests at once, 0 for any number."""
    most = requests or sys.maxsize
    return {
        "CONCURRENT_REQUESTS_PER_DOMAIN": min(most, _MOST_PER_DOMAIN),
        "DOWNLOAD_SLOTS": {_SLOT: {"concurrency": most, "delay": 0, "jitter": 0}},
    }


class Throttle:
    """Halves the number of requests at once after a fault, and raises it again later."""

    def __init__(self) -> None:
        self._most: int | None = None
        self._changed_at = float("-inf")

    def slow_down(self, engine: "ExecutionEngine", lacking: str, now: float) -> None:
        """Allow half as many requests as there are; the faults of a burst count once."""
        downloader = engine.downloader
        if self._most is None:
            self._most = downloader.total_concurrency
            _log.warning(
                "%s: the URLs go back to the queue, and the crawl goes on with fewer requests at "
                "once; raise the limit (ulimit -n) or lower CONCURRENT_REQUESTS",
                lacking,
            )
        if now - self._changed_at >= PAUSE_S:
            self._changed_at = now
            least = min(downloader.total_concurrency, len(downloader.active))
            downloader.total_concurrency = max(1, least // 2)

    def recover(self, engine: "ExecutionEngine", now: float) -> None:
        """Allow one more request at once, if the last fault was some time ago."""
        if self._most is not None and now - self._changed_at >= _CALM_S:
            allowed = engine.downloader.total_concurrency + 1
            engine.downloader.total_concurrency = min(self._most, allowed)
