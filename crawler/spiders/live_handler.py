"""The download handler of the live Web: Scrapy's handler with checked addresses and bounded heads.

The connection goes to the address that the guard has checked (`guard`), and to no other.

A request is sent once. Twisted would resend it when a reused connection closes without an answer;
the crawl counts its own tries and retries itself.

Twisted stores an unbounded number of headers, so a fast server could fill the memory within the
download timeout, and it rejects answers that browsers read. Scrapy passes on neither the raw header
lines nor those of the request, which an archive needs. The module uses private parts of both:
neither has an option for the parser, and Scrapy none for the agent.
"""

from functools import partial
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any, Final, cast

from OpenSSL import SSL
from scrapy import Request
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _ScrapyAgent
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.utils._download_handlers import normalize_bind_address, wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet._sslverify import ClientTLSOptions
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory
from twisted.web._newclient import (
    HEADER,
    STATUS,
    HTTP11ClientProtocol,
    HTTPClientParser,
    ParseError,
)
from twisted.web._newclient import Request as TxRequest
from twisted.web.client import URI, Agent, HTTPConnectionPool
from twisted.web.http import _DataLoss
from twisted.web.iweb import IResponse

from langfocus.crawler.http.body import Chunks
from langfocus.crawler.http.head import MAX_HEAD_BYTES, fields, status_line
from langfocus.crawler.spiders.faults import HeadTooLarge, local_fault
from langfocus.crawler.spiders.fetch import Heads, fetch_of
from langfocus.crawler.spiders.names import checked_address

MAX_LINE_BYTES: Final = 64 * 1024
"""Most bytes of one header."""


class PinnedDownloadHandler(HTTP11DownloadHandler):
    """Downloads over HTTP/1.1 from checked addresses; `HeadTooLarge` for too many headers."""

    def __init__(self, crawler: Crawler) -> None:
        """Read Scrapy's settings of a crawler."""
        super().__init__(crawler)
        from twisted.internet import reactor

        most, self._pool = self._pool.maxPersistentPerHost, _Pool(reactor)  # type: ignore[no-untyped-call]
        self._pool.maxPersistentPerHost = most
        policy: Any = self._contextFactory
        is_verified = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        if type(policy) is _ScrapyClientContextFactory and not is_verified:
            made = partial(_AnyCertificate, policy._get_context())
            policy.creatorForNetloc = made  # type: ignore[method-assign]

    async def download_request(self, request: Request) -> Response:
        """Return the response, and keep the bytes of its head in the fetch of the request."""
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
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except Exception as error:
            if local_fault(error):
                # Connections that wait for another request to their host take files and ports.
                self._pool.closeCachedConnections()  # type: ignore[no-untyped-call]
            raise
        if response.ip_address is None and (address := checked_address()):  # without a body
            response.ip_address = ip_address(address)
        return response


class _AnyCertificate(ClientTLSOptions):
    """Makes the TLS connections of a host with a shared context, and ignores certificates.

    Scrapy ignores them too, but logs their faults, and makes a context for each connection.
    """

    def __init__(self, context: SSL.Context, host: bytes, port: int) -> None:
        self._context, self._host = context, host

    def clientConnectionForTLS(self, protocol: object) -> SSL.Connection:
        made, name = SSL.Connection(self._context), self._host.decode("ascii")
        if not (isIPAddress(name) or isIPv6Address(name)):  # RFC 6066, 3
            made.set_tlsext_host_name(self._host)
        return made


class _KeepingAgent(_ScrapyAgent):
    """Connects to the checked address, and keeps the heads of its answer."""

    _place: tuple[str, tuple[str, int] | None]

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        if not checked_address():  # a proxy
            return super()._get_agent(request, timeout)
        from twisted.internet import reactor

        bound_to = normalize_bind_address(request.meta.get("bindaddress") or self._bindAddress)
        self._place, self._connectTimeout = (checked_address(), bound_to), timeout
        found: Agent = cast("Any", Agent).usingEndpointFactory(reactor, self, self._pool)
        return found

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        """Return an endpoint at the address, whatever the host's name leads to by then."""
        from twisted.internet import reactor

        address, bound_to = self._place
        kind: Any = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
        found: Any = kind(reactor, address, uri.port, self._connectTimeout, bound_to)
        if uri.scheme != b"http":
            policy: Any = self._contextFactory
            found = wrapClientTLS(policy.creatorForNetloc(uri.host, uri.port), found)
        found.langfocus_place = self._place
        return cast("IStreamClientEndpoint", found)

    @staticmethod
    def _headers_from_twisted_response(response: Any) -> Headers:
        """Return the headers; Scrapy makes them twice, a seventh of a request's time."""
        found = getattr(response, "langfocus_headers", None)
        if found is None:
            made = _ScrapyAgent._headers_from_twisted_response(response)
            found = response.langfocus_headers = made
        return cast("Headers", found)

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        fetch = fetch_of(request)
        if fetch is not None:
            fetch.status, fetch.heads = txresponse.code, txresponse.langfocus_heads
        return super()._cb_bodyready(txresponse, request)


class _Pool(HTTPConnectionPool):
    """Keeps connections to different addresses apart."""

    retryAutomatically = False

    def getConnection(self, key: Any, endpoint: Any) -> "Deferred[HTTP11ClientProtocol]":
        place = getattr(endpoint, "langfocus_place", None)
        return super().getConnection((key, place), endpoint)

    def _factory(self, quiescentCallback: Any, metadata: str) -> Any:  # type: ignore[override]
        made: Any = Factory.forProtocol(partial(_BoundedProtocol, quiescentCallback))
        made.noisy = False
        return made


class _Chunks(Chunks):
    def noMoreData(self) -> None:
        if not self.is_whole:
            raise _DataLoss("the last chunk is missing")


class _BoundedParser(HTTPClientParser):
    """A parser that reads heads and bodies as archives are read, and refuses endless headers."""

    MAX_LENGTH = MAX_LINE_BYTES
    # Class attributes: objects change to this class after their construction.
    _head_bytes = 0
    _lines: list[bytes]
    _transferDecoders: Any = {b"chunked": _Chunks}  # noqa: RUF012  # as Twisted declares it

    def lineReceived(self, line: bytes) -> None:
        self._head_bytes += len(line) + 1
        if self._head_bytes > MAX_HEAD_BYTES:
            raise HeadTooLarge(f"more than {MAX_HEAD_BYTES:,} bytes of headers")
        is_blank = not line.removesuffix(b"\r")
        if self.state == STATUS:  # also after an answer of status 1xx
            if not line.strip():
                return
            self._lines = []
            self._begin(line)
        self._lines.append(line)
        if is_blank:
            for name, value in fields(self._lines[1:-1]):
                self.headerReceived(name, value)  # type: ignore[no-untyped-call]
            self._choose_framing()
            self.allHeadersReceived()  # type: ignore[no-untyped-call]

    def _begin(self, line: bytes) -> None:
        found = status_line(line)
        if found is None:
            raise ParseError("no status line", line)  # type: ignore[no-untyped-call]
        plain = b"HTTP/1.1 %d %s" % (found.status, found.reason)
        self.statusReceived(plain)  # type: ignore[no-untyped-call]
        self.state = HEADER

    def _choose_framing(self) -> None:
        """Leave `chunked` alone among the transfer encodings, and none that changes nothing."""
        values = self.connHeaders.getRawHeaders(b"Transfer-Encoding") or []
        names = {name.strip().lower() for value in values for name in value.split(b",")}
        if b"chunked" in names:
            self.connHeaders.setRawHeaders(b"Transfer-Encoding", [b"chunked"])
        elif names <= {b"", b"identity"}:
            self.connHeaders.removeHeader(b"Transfer-Encoding")

    def lineLengthExceeded(self, line: bytes) -> None:
        raise HeadTooLarge(f"a header of more than {MAX_LINE_BYTES:,} bytes")


class _BoundedProtocol(HTTP11ClientProtocol):
    def request(self, request: TxRequest) -> "Deferred[IResponse]":
        sent: list[bytes] = []
        request._writeHeaders(SimpleNamespace(writeSequence=sent.extend), None)  # type: ignore[no-untyped-call]
        answer = super().request(request)
        parser: Any = self._parser
        parser.__class__ = _BoundedParser

        def keep_heads(response: Any) -> Any:
            response.langfocus_heads = Heads(b"".join(sent), b"\n".join([*parser._lines, b""]))
            return response

        return answer.addCallback(keep_heads)
