"""The download handler of the live Web: Scrapy's own, with bounds on what precedes a body.

Twisted keeps every header of an answer, however many come; a server on a fast line would fill
the memory within the time limit of a download. Only here are private parts of Scrapy's handler
touched, since neither it nor Twisted lets a parser be chosen.
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
from twisted.web._newclient import HTTP11ClientProtocol
from twisted.web._newclient import Request as TxRequest
from twisted.web.iweb import IResponse

MAX_HEAD_BYTES: Final = 256 * 1024
"""Bytes of all that comes before a body, answers of status 1xx included; browsers read as much."""

MAX_LINE_BYTES: Final = 64 * 1024
"""Bytes of one header."""


class HeadTooLarge(Exception):
    """A server sent more headers than are read."""


class LiveDownloadHandler(HTTP11DownloadHandler):
    """Downloads over HTTP/1.1; a failure's cause is `HeadTooLarge` where headers do not end."""

    def __init__(self, crawler: Crawler) -> None:
        """Handle the requests of a crawl."""
        super().__init__(crawler)
        self._pool._factory = _BoundedFactory


class _BoundedParser(_LenientHTTPClientParser):
    """A parser that gives up on endless headers and skips those whose name is no token."""

    MAX_LENGTH = MAX_LINE_BYTES
    # Not set by a constructor: the object was made as one of another class.
    _head_bytes = 0

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
