"""The download handler of the live Web: Scrapy's own, with a limit for headers.

Twisted keeps every header of an answer, without a limit. A server with a fast connection could fill
the memory within the time limit of a download. This module uses private parts of Scrapy's handler,
since neither Scrapy nor Twisted has an option for the parser.
"""

from typing import Final

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HTTP11ClientProtocol, ParseError
from twisted.web._newclient import Request as TxRequest
from twisted.web.iweb import IResponse

from crawler.spiders.failures import HeadTooLarge
from crawler.visit import is_status

MAX_HEAD_BYTES: Final = 256 * 1024
"""Most bytes before a body, answers of status 1xx included; browsers have the same limit."""

MAX_LINE_BYTES: Final = 64 * 1024
"""Most bytes of one header."""


class LiveDownloadHandler(HTTP11DownloadHandler):
    """Downloads over HTTP/1.1; too many headers fail with `HeadTooLarge`."""

    def __init__(self, crawler: Crawler) -> None:
        """Set the limits on the connections of this handler."""
        super().__init__(crawler)
        self._pool._factory = _BoundedFactory


class _BoundedParser(_LenientHTTPClientParser):
    """A parser that refuses invalid statuses and endless headers, and skips invalid headers."""

    MAX_LENGTH = MAX_LINE_BYTES
    # A class attribute: objects change to this class after their construction.
    _head_bytes = 0

    def statusReceived(self, status: bytes) -> None:
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not is_status(self.response.code):
            raise ParseError("a status has three digits", status)  # type: ignore[no-untyped-call]

    def lineReceived(self, line: bytes) -> None:
        self._head_bytes += len(line) + 1
        if self._head_bytes > MAX_HEAD_BYTES:
            raise HeadTooLarge(f"more than {MAX_HEAD_BYTES:,} bytes of headers")
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        raise HeadTooLarge(f"a header of more than {MAX_LINE_BYTES:,} bytes")

    def headerReceived(self, name: bytes, value: bytes) -> None:
        try:
            super().headerReceived(name, value)  # type: ignore[no-untyped-call]
        except ValueError:
            return


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: TxRequest) -> "Deferred[IResponse]":
        answer = super().request(request)
        self._parser.__class__ = _BoundedParser
        return answer


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
