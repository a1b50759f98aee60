"""Why nothing came from a URL, in one word."""

from scrapy import exceptions
from twisted.internet import error
from twisted.python.failure import Failure

from crawler.web.base import NotArchived

# (exceptions, reason, whether another try is useless)
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str, bool], ...] = (
    ((NotArchived,), "not_archived", True),
    ((exceptions.CannotResolveHostError, error.DNSLookupError), "dns", False),
    ((exceptions.DownloadTimeoutError, error.TimeoutError), "timeout", False),
    ((exceptions.DownloadConnectionRefusedError, error.ConnectionRefusedError), "refused", False),
    ((exceptions.DownloadCancelledError,), "too_large", True),
    ((exceptions.UnsupportedURLSchemeError,), "scheme", True),
    ((exceptions.IgnoreRequest,), "ignored", True),
)


def explain(failure: Failure) -> tuple[str, bool]:
    """Return the reason for a failed download and whether it is final."""
    for kinds, reason, is_final in _REASONS:
        if isinstance(failure.value, kinds):
            return reason, is_final
    return "unreachable", False
