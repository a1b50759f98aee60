"""Request concurrency: the only module that touches Scrapy's downloader and download slots.

The frontier keeps crawl delays and one connection per host. So all requests share one download slot
without a delay, as wide as the crawl. Scrapy plans to replace slots by throttling scopes (its
pull request 6931); then this module changes, and its test says so.
"""

import logging
import sys
from typing import TYPE_CHECKING, Any, Final, cast

from langfocus.crawler.errors import SettingError, StorageError, one_line

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.settings import BaseSettings

PAUSE_S: Final = 2.0
"""Seconds of rest for a host after a failed connection by this machine."""

_CALM_S: Final = 30.0
"""Fault-free seconds after which each page allows another request."""

_SLOT: Final = "langfocus"
_MOST_PER_DOMAIN: Final = 1000

IN_SLOT: Final = {"download_slot": _SLOT}
"""Entries in the meta of each request."""

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


def most_requests(engine: "ExecutionEngine") -> int:
    """Return how many requests may be in progress at once."""
    return engine.downloader.total_concurrency or sys.maxsize


def is_full(engine: "ExecutionEngine", unsettled: int = 0) -> bool:
    """Return True if no more requests may begin, with so many pages that are not settled yet."""
    downloader = engine.downloader
    return downloader.needs_backout() or 0 < downloader.total_concurrency <= unsettled


def check_throttle(settings: "BaseSettings") -> None:
    """Raise `SettingError` for a project that has Scrapy change the delay of the only slot."""
    if settings.getbool("AUTOTHROTTLE_ENABLED"):
        raise SettingError(
            "AUTOTHROTTLE_ENABLED=True: the frontier keeps the delay of each host; remove the "
            "setting, or raise DOWNLOAD_DELAY"
        )


def begin(engine: "ExecutionEngine", request: "Request") -> None:
    """Count a request sent outside Scrapy's engine as in progress."""
    cast("Any", engine)._slot.add_request(request)
    engine.downloader.active.add(request)


def end(engine: "ExecutionEngine", request: "Request") -> None:
    """Uncount a request, and make the engine poll for the next one."""
    slot = cast("Any", engine)._slot
    engine.downloader.active.discard(request)
    slot.remove_request(request)
    slot.nextcall.schedule()


def handler_of(engine: "ExecutionEngine", scheme: str) -> object | None:
    """Return the download handler of a scheme; None if missing in DOWNLOAD_HANDLERS.

    Raises `StorageError`, which ends the crawl, for an unloadable handler.
    """
    handlers: Any = engine.downloader.handlers
    found: object | None = handlers._get_handler(scheme)
    if found is None and scheme in handlers._schemes:
        reason = one_line(handlers._notconfigured[scheme])
        raise StorageError(f"DOWNLOAD_HANDLERS: {handlers._schemes[scheme]}: {reason}")
    return found


def intercept(engine: "ExecutionEngine", download: object) -> object:
    """Route the downloader's requests through `download`; return the handlers' own call."""
    handlers: Any = engine.downloader.handlers
    replaced, handlers.download_request_async = handlers.download_request_async, download
    return replaced


class Throttle:
    """Limits the requests at once: to half after a fault of this machine, to more again later."""

    def __init__(self) -> None:
        self._most: int | None = None
        self._changed_at = float("-inf")

    def slow_down(self, engine: "ExecutionEngine", lacking: str, now: float) -> None:
        """Allow half as many requests as there are; the faults of a burst count once."""
        downloader = engine.downloader
        allowed = downloader.total_concurrency
        if self._most is None:
            self._most = allowed
            _log.warning(
                "%s: the URLs go back to the queue, and the crawl goes on with fewer requests at "
                "once; raise the limit (ulimit -n) or lower CONCURRENT_REQUESTS",
                lacking,
            )
        if now - self._changed_at >= PAUSE_S:
            self._changed_at = now
            downloader.total_concurrency = max(1, min(allowed, len(downloader.active)) // 2)

    def recover(self, engine: "ExecutionEngine", now: float) -> None:
        """Allow one more request at once, if the last fault was some time ago."""
        if self._most is not None and now - self._changed_at >= _CALM_S:
            allowed = engine.downloader.total_concurrency + 1
            engine.downloader.total_concurrency = min(self._most, allowed)
