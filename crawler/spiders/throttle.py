"""Fewer requests at once while this machine has no files, ports or memory for more."""

import logging
from typing import Final, Protocol

from scrapy import Request

PAUSE_S: Final = 2.0
"""Seconds for which a host rests after a connection to it could not be made here."""

_CALM_S: Final = 30.0
"""Seconds without a fault after which each page allows one more request."""

_log = logging.getLogger(__name__)


class Downloader(Protocol):
    """The part of Scrapy's downloader that has its limit of requests."""

    total_concurrency: int
    active: set[Request]


class Throttle:
    """Halves the number of requests at once after a fault, and raises it again later."""

    def __init__(self) -> None:
        self._most: int | None = None
        self._changed_at = float("-inf")

    def slow_down(self, downloader: Downloader, lacking: str, now: float) -> None:
        """Allow half as many requests as there are; the faults of a burst count once."""
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

    def recover(self, downloader: Downloader, now: float) -> None:
        """Allow one more request at once, if the last fault was some time ago."""
        if self._most is not None and now - self._changed_at >= _CALM_S:
            downloader.total_concurrency = min(self._most, downloader.total_concurrency + 1)
