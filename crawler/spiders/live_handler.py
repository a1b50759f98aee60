"""The download handler of the live Web: Scrapy's own, with a limit for headers, which it keeps.

A request goes to the address that the caller chose. Twisted would ask for the addresses of the name
once more, and use the one that is connected first.

A request is sent once. Twisted would send it again if its connection was used before and closes
without an answer; the crawl counts its tries, and repeats what failed itself.

Twisted keeps every header of an answer, without a limit. A server with a fast connection could fill
the memory within the time limit of a download. Scrapy passes on neither the lines of the headers
nor those of the request, which belong into an archive. This module uses private parts of Scrapy's
handler, since neither Scrapy nor Twisted has an option for the parser and the address.
"""

from collections.abc import Iterable
from typing import Any, Final, cast

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _BindAddressAgent,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ScrapyAgent,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.interfaces import IAddress, IStreamClientEndpoint
from twisted.web._newclient import STATUS, HTTP11ClientProtocol, ParseError
from twisted.web._newclient import Request as TxRequest
from twisted.web.client import URI, Agent
from twisted.web.iweb import IResponse

from crawler.politeness.network import LocalFaultError
from crawler.reading import is_status
from crawler.spiders.failures import HeadTooLarge, local_fault
from crawler.spiders.requests import HEADS, Heads

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
        self._pool.retryAutomatically = False

    async def fetch(self, request: Request, address: str) -> Response:
        """Return the response; the bytes before the bodies are in `Request.meta` under `HEADS`.

        `address` is that of the server, "" for a request to a proxy. Raises `LocalFaultError` if
        this machine could not make the connection.
        """
        agent = _KeepingAgent(
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        agent.address = address
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except Exception as error:
            lacking = local_fault(error)
            if not lacking:
                raise
            # Connections that wait for another request to their host take files and ports.
            self._pool.closeCachedConnections()  # type: ignore[no-untyped-call]
            raise LocalFaultError(lacking) from error
        request.meta[HEADS] = agent.heads
        return response


class _KeepingAgent(_ScrapyAgent):
    """An agent that keeps the heads of its answer."""

    heads = Heads(b"", b"")
    address = ""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent: Any = super()._get_agent(request, timeout)
        if self.address:
            agent.__class__, agent.address = _PinnedAgent, self.address
        return cast("Agent", agent)

    def _cb_bodydone(self, result: Any, url: str) -> Response:
        self.heads = result["txresponse"].langfocus_heads
        return super()._cb_bodydone(result, url)


class _PinnedAgent(_BindAddressAgent):
    """An agent that connects to one address, whatever the host's name leads to by then."""

    address: str

    def _getEndpoint(self, uri: URI) -> IStreamClientEndpoint:
        given = self._endpointFactory
        kind: Any = TCP6ClientEndpoint if ":" in self.address else TCP4ClientEndpoint
        endpoint: IStreamClientEndpoint = kind(
            given._reactor, self.address, uri.port, given._connectTimeout, given._bindAddress
        )
        if uri.scheme == b"http":
            return endpoint
        return wrapClientTLS(given._policyForHTTPS.creatorForNetloc(uri.host, uri.port), endpoint)

    def _requestWithEndpoint(self, key: tuple[Any, ...], *request: Any) -> "Deferred[IResponse]":
        return super()._requestWithEndpoint((*key, self.address), *request)


class _BoundedParser(_LenientHTTPClientParser):
    """A parser that refuses invalid statuses and endless headers, and skips invalid headers."""

    MAX_LENGTH = MAX_LINE_BYTES
    # A class attribute: objects change to this class after their construction.
    _head_bytes = 0
    _lines: list[bytes]

    def statusReceived(self, status: bytes) -> None:
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not is_status(self.response.code):
            raise ParseError("a status has three digits", status)  # type: ignore[no-untyped-call]

    def lineReceived(self, line: bytes) -> None:
        self._head_bytes += len(line) + 1
        if self._head_bytes > MAX_HEAD_BYTES:
            raise HeadTooLarge(f"more than {MAX_HEAD_BYTES:,} bytes of headers")
        if self.state == STATUS:  # also after an answer of status 1xx
            self._lines = []
        self._lines.append(line)
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
        parser: Any = self._parser
        parser.__class__ = _BoundedParser
        sent = _head_of(request)

        def keep_heads(response: Any) -> Any:
            response.langfocus_heads = Heads(sent, b"\n".join([*parser._lines, b""]))
            return response

        return answer.addCallback(keep_heads)


class _Sink:
    data = b""

    def writeSequence(self, parts: Iterable[bytes]) -> None:
        self.data = b"".join(parts)


def _head_of(request: TxRequest) -> bytes:
    """Return the bytes that Twisted sends before the body of a request."""
    sink = _Sink()
    request._writeHeaders(sink, None)  # type: ignore[no-untyped-call]
    return sink.data


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
