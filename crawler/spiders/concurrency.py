"""How many requests Scrapy sends at once: all that knows its downloader and download slots.

The frontier keeps the delays, and one connection to a host. So all requests share one slot, which
has no delay and is as wide as the crawl. Scrapy plans to replace slots by throttling scopes (its
pull request 6931); then this module changes, and its test says so.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine

PAUSE_S: Final = 2.0
"""Seconds for which a host rests after a connection to it could not be made here."""

_CALM_S: Final = 30.0
"""Seconds without a fault after which each page allows one more request."""

_MOST_WAITING_BYTES: Final = 64 * 2**20
"""Bytes of the pages whose requests may wait beside the limit."""

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


def in_progress(engine: "ExecutionEngine") -> int:
    """Return the number of requests in progress."""
    return len(engine.downloader.active)


def is_full(engine: "ExecutionEngine") -> bool:
    """Return True if no more requests may begin."""
    return engine.downloader.needs_backout()


def begin(engine: "ExecutionEngine", request: "Request") -> None:
    """Count a request that Scrapy's engine does not send as one of those in progress."""
    cast("Any", engine)._slot.add_request(request)
    engine.downloader.active.add(request)


def end(engine: "ExecutionEngine", request: "Request") -> None:
    """End the count of a request, and have the engine ask for the next one."""
    engine.downloader.active.discard(request)
    cast("Any", engine)._slot.remove_request(request)
    _ask_again(engine)


def _ask_again(engine: "ExecutionEngine") -> None:
    """Have the engine ask its scheduler for requests; an engine that is closing has no slot."""
    slot = cast("Any", engine)._slot
    if slot is not None:
        slot.nextcall.schedule()


class Throttle:
    """Scrapy's limit of requests at once.

    It halves after a fault of this machine, and rises again later. Requests that only wait count
    beside it.
    """

    def __init__(self) -> None:
        self._most: int | None = None
        self._changed_at = float("-inf")
        self._waiting = 0
        self._waiting_bytes = 0

    def slow_down(self, engine: "ExecutionEngine", lacking: str, now: float) -> None:
        """Allow half as many requests as there are; the faults of a burst count once."""
        downloader = engine.downloader
        allowed = downloader.total_concurrency - self._waiting
        if self._most is None:
            self._most = allowed
            _log.warning(
                "%s: the URLs go back to the queue, and the crawl goes on with fewer requests at "
                "once; raise the limit (ulimit -n) or lower CONCURRENT_REQUESTS",
                lacking,
            )
        if now - self._changed_at >= PAUSE_S:
            self._changed_at = now
            least = min(allowed, len(downloader.active) - self._waiting)
            downloader.total_concurrency = max(1, least // 2) + self._waiting

    def recover(self, engine: "ExecutionEngine", now: float) -> None:
        """Allow one more request at once, if the last fault was some time ago."""
        if self._most is not None and now - self._changed_at >= _CALM_S:
            allowed = engine.downloader.total_concurrency - self._waiting + 1
            engine.downloader.total_concurrency = min(self._most, allowed) + self._waiting

    @contextmanager
    def beside(self, engine: "ExecutionEngine", size: int) -> Iterator[None]:
        """Allow one more request while one of them only waits, with a page of `size` bytes.

        That is so until the pages that wait fill the memory they may have.
        """
        downloader = engine.downloader
        counts = int(
            downloader.total_concurrency > self._waiting
            and self._waiting_bytes + size <= _MOST_WAITING_BYTES
        )
        self._waiting += counts
        self._waiting_bytes += counts * size
        downloader.total_concurrency += counts
        _ask_again(engine)
        try:
            yield
        finally:
            self._waiting -= counts
            self._waiting_bytes -= counts * size
            downloader.total_concurrency -= counts
