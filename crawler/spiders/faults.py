"""The reason why a download failed, in one word, and whether the fault was this machine's."""

import errno
import os
import re
import ssl
from collections.abc import Iterator

from OpenSSL import SSL
from scrapy import exceptions
from twisted.internet import error
from twisted.web._newclient import ParseError

from langfocus.crawler.http.body import BrokenEncoding
from langfocus.crawler.politeness.network import NoSuchNameError, PrivateAddressError
from langfocus.crawler.session.visit import NO_ADDRESS, PROTOCOL
from langfocus.crawler.sources.contract import NotArchived


class HeadTooLarge(Exception):
    """A server sent more headers than the limit."""


# (exceptions, reason, True if a retry is useless)
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str, bool], ...] = (
    ((NotArchived,), "not_archived", True),
    ((PrivateAddressError,), "private_address", True),
    ((NoSuchNameError,), NO_ADDRESS, True),
    ((exceptions.CannotResolveHostError, error.DNSLookupError), NO_ADDRESS, False),
    ((exceptions.DownloadTimeoutError, error.TimeoutError), "timeout", False),
    ((SSL.Error, ssl.SSLError), "tls", True),
    ((exceptions.DownloadConnectionRefusedError, error.ConnectionRefusedError), "refused", False),
    ((exceptions.DownloadCancelledError,), "too_large", True),
    ((exceptions.UnsupportedURLSchemeError, exceptions.NotSupported), "scheme", True),
    ((exceptions.IgnoreRequest,), "ignored", True),
    ((BrokenEncoding,), "encoding", True),
    ((HeadTooLarge,), "headers", True),
    # Twisted's parser raises these for invalid lengths and transfer encodings.
    ((ParseError, ValueError, KeyError), PROTOCOL, True),
)


_LOCAL = frozenset(
    {
        *(errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM),
        *(errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.ENETDOWN),
    }
)
"""Error numbers for exhausted resources or a missing network on this machine."""


_NO_SOCKET = re.compile(r"tcp open error.{0,80}?(?:Os \{ code: |\(os error )(\d+)")
"""The error number in texts of handlers written in Rust; a URL has no spaces."""

_TLS_TEXT = "SSL routines"
"""Texts of OpenSSL and BoringSSL, which some handlers pass on without a class."""


def local_fault(error: BaseException) -> str:
    """Return what this machine lacked for a connection, "" if the fault was the server's."""
    for value in _causes(error):
        # Twisted keeps the number of an OSError in its own class of errors.
        number = getattr(value, "osError", None) or getattr(value, "errno", None)
        if number is None and (found := _NO_SOCKET.search(str(value))):
            number = int(found[1])
        if number in _LOCAL:
            return os.strerror(number)
        if isinstance(value, MemoryError):
            return os.strerror(errno.ENOMEM)
    return ""


def explain(error: BaseException) -> tuple[str, bool]:
    """Return the reason for a failed download and whether it is final.

    The first row that fits any cause counts: some handlers call a failure of TLS a refusal.
    """
    causes = list(_causes(error))
    if any(_TLS_TEXT in str(value) for value in causes):
        return "tls", True
    for kinds, reason, is_final in _REASONS:
        if any(isinstance(value, kinds) for value in causes):
            return reason, is_final
    return "unreachable", False


def _causes(value: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes; Twisted has causes in a list of failures."""
    while value is not None:
        yield value
        for reason in getattr(value, "reasons", ()):
            yield from _causes(reason.value)
        value = value.__cause__
