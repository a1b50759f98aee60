"""The reason why a download failed, in one word, and fewer requests at once after own faults."""

import errno
import logging
import os
from collections.abc import Iterator
from typing import Final, Protocol

from OpenSSL import SSL
from scrapy import Request, exceptions
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError

from crawler.politeness.network import PrivateAddressError
from crawler.sources.contract import NotArchived
from crawler.spiders.middlewares import BrokenEncoding
from crawler.visit import NO_ADDRESS, PROTOCOL

PAUSE_S: Final = 2.0
"""Seconds for which a host rests after a connection to it could not be made here."""

_CALM_S: Final = 30.0
"""Seconds without a fault after which each page allows one more request."""

_log = logging.getLogger(__name__)


class HeadTooLarge(Exception):
    """A server sent more headers than the limit."""


# (exceptions, reason, True if a retry is useless)
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str, bool], ...] = (
    ((NotArchived,), "not_archived", True),
    ((PrivateAddressError,), "private_address", True),
    ((exceptions.CannotResolveHostError, error.DNSLookupError), NO_ADDRESS, False),
    ((exceptions.DownloadTimeoutError, error.TimeoutError), "timeout", False),
    ((exceptions.DownloadConnectionRefusedError, error.ConnectionRefusedError), "refused", False),
    ((exceptions.DownloadCancelledError,), "too_large", True),
    ((exceptions.UnsupportedURLSchemeError,), "scheme", True),
    ((exceptions.IgnoreRequest,), "ignored", True),
    ((BrokenEncoding,), "encoding", True),
    ((HeadTooLarge,), "headers", True),
    ((SSL.Error,), "tls", True),
    # Twisted's parser raises these for invalid lengths and transfer encodings.
    ((ParseError, ValueError, KeyError), PROTOCOL, True),
)


_LOCAL = frozenset(
    {
        *(errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM),
        *(errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENETDOWN),
    }
)
"""Numbers of the errors of a machine that has too few of something, or no network."""


def local_fault(error: BaseException) -> str:
    """Return what this machine lacked for a connection, "" if the fault was the server's."""
    for value in _causes(error):
        # Twisted keeps the number of an OSError in an error of its own.
        number = getattr(value, "osError", None) or getattr(value, "errno", None)
        if number in _LOCAL:
            return os.strerror(number)
        if isinstance(value, MemoryError):
            return os.strerror(errno.ENOMEM)
    return ""


def explain(failure: Failure) -> tuple[str, bool]:
    """Return the reason for a failed download and whether it is final."""
    for value in _causes(failure.value):
        for kinds, reason, is_final in _REASONS:
            if isinstance(value, kinds):
                return reason, is_final
    return "unreachable", False


def _causes(value: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes; Twisted keeps those in a list of failures."""
    while value is not None:
        yield value
        for reason in getattr(value, "reasons", ()):
            yield from _causes(reason.value)
        value = value.__cause__


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
