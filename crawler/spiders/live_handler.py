"""The download handler of the live Web: Scrapy's handler with checked addresses and bounded heads.

The host of a URL is checked earlier (`crawler.politeness.network`). Here the IP addresses of a name
are checked, and the connection goes to a checked address: DNS rebinding fails, and the slot is
charged to the address that gets the request. The robots.txt request, which takes no slot, picks the
address of a host: the first that accepts a connection. Pages use the same address, even if a later
lookup lists others first.

A request is sent once. Twisted would resend it when a reused connection closes without an answer;
the crawl counts its own tries and retries itself.

Twisted stores an unbounded number of headers, so a fast server could fill the memory within the
download timeout, and it rejects answers that browsers read. Scrapy passes on neither the raw header
lines nor those of the request, which an archive needs. The module uses private parts of Scrapy's
handler: neither Scrapy nor Twisted has an option for parser and address.
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
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IAddress, IStreamClientEndpoint
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol, ParseError
from twisted.web._newclient import Request as TxRequest
from twisted.web.client import URI, Agent
from twisted.web.http import _DataLoss
from twisted.web.iweb import IResponse

from langfocus.crawler.frontier.slots import holder_of
from langfocus.crawler.http.body import Chunks
from langfocus.crawler.http.head import MAX_HEAD_BYTES, fields, status_line
from langfocus.crawler.politeness.network import (
    BusyAddressError,
    CapError,
    LocalFaultError,
    NoSuchNameError,
    PrivateAddressError,
    is_private_address,
)
from langfocus.crawler.politeness.robots import is_unreachable
from langfocus.crawler.politeness.turns import STEP_S, HostTurns, Line, Recent, Rests
from langfocus.crawler.spiders.faults import HeadTooLarge, local_fault
from langfocus.crawler.spiders.fetch import begin_fetch, fetch_of, is_file
from langfocus.crawler.spiders.fetches import crawl_of
from langfocus.crawler.spiders.messages import Heads, retry_after_s, sent
from langfocus.crawler.spiders.names import Names
from langfocus.crawler.url import host_of, zone_of

MAX_LINE_BYTES: Final = 64 * 1024
"""Most bytes of one header."""

BACKED_OFF: Final = "backed_off"
"""The outcome of a URL whose domain or address answers with errors alone."""

_MOST_ADDRESSES: Final = 4
"""Addresses of a host that its robots.txt is asked for at."""

_REFUSED = ConnectError, DownloadConnectionRefusedError
_FAILED = *_REFUSED, DownloadTimeoutError


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Downloads over HTTP/1.1, never from private networks; `HeadTooLarge` for too many headers."""

    def __init__(self, crawler: Crawler) -> None:
        """Read the permissions from the settings of the spider's crawl."""
        super().__init__(crawler)
        self._pool._factory = _BoundedFactory
        self._pool.retryAutomatically = False
        self._crawl = crawl_of(crawler)
        config = self._crawl.config
        self._names: Names | None = None
        self._chosen: Recent[str] = Recent()
        self._line = Line()
        self._delay_s = config.delay_s
        self._turns = HostTurns()
        self._rests = Rests(config.retry_delay_s)

    async def close(self) -> None:
        """End all connections and lookups."""
        await super().close()
        if self._names is not None:
            self._names.close()

    async def download_request(self, request: Request) -> Response:
        """Return the response, or raise the reason why the host was not contacted."""
        host = host_of(request.url)
        fetch = begin_fetch(request)
        visitor = fetch.lease.host if fetch else host
        wait_s = self._turns.enter(
            host, visitor, self._crawl.clock(), lambda: self._delay_of(request.url)
        )
        if wait_s is not None:
            raise BusyAddressError(f"{host} is in use by other requests", wait_s)
        was_contacted = True
        try:
            return await self._download(request)
        except (BusyAddressError, CapError):
            was_contacted = False
            raise
        finally:
            self._turns.leave(host, self._crawl.clock(), was_contacted=was_contacted)

    def _delay_of(self, url: str) -> float:
        return max(self._delay_s, self._crawl.robots.delay_s(url))

    async def _download(self, request: Request) -> Response:
        domain = zone_of(host_of(request.url))
        self._check_rest(domain)
        if request.meta.get("proxy"):  # the domain stands for the address, which is not known
            if not self._crawl.contacts.occupancy.pace(domain):
                raise self._busy(domain)
            return await self._contact(request, "", domain)
        host = urlparse_cached(request).hostname or ""
        allows_private = self._crawl.contacts.allows_private(request.url)
        try:
            addresses = await self._addresses(host, allows_private=allows_private)
        except NoSuchNameError as error:
            if error.is_new:  # the domain's name servers were asked
                self._take_slot(request, None, is_lookup=True)
            raise
        for address, other in zip(addresses, [*addresses[1:], *addresses[:1]], strict=True):
            place = holder_of(address)
            self._check_rest(place)
            if not self._crawl.contacts.occupancy.enter(place):
                raise self._busy(place)
            try:
                response = await self._contact(request, address, domain, place)
            except _FAILED as error:
                if not is_file(request):
                    raise
                self._chosen[host] = other
                if other == addresses[0] or not isinstance(error, _REFUSED):
                    raise
            else:
                self._chosen[host] = address
                return response
            finally:
                self._crawl.contacts.occupancy.leave(place)
        raise CannotResolveHostError(f"{host} has no address")

    def _check_rest(self, place: str) -> None:
        """Raise an error if a domain or an address rests."""
        now = self._crawl.clock()
        if self._rests.is_given_up(place, now):
            raise CapError(f"{place} answers with errors alone", BACKED_OFF)
        if wait_s := self._rests.wait_s(place, now):
            raise self._busy(place, wait_s)

    def _busy(self, place: str, wait_s: float = 0.0) -> BusyAddressError:
        """Return the error for a request that has to wait behind others."""
        now = self._crawl.clock()
        line = f"{place} rests" if wait_s else place
        after_s = self._line.wait(line, now + wait_s, max(STEP_S, self._crawl.config.pace_s))
        return BusyAddressError(f"{place} cannot be contacted now", wait_s + after_s)

    async def _contact(self, request: Request, address: str, *places: str) -> Response:
        """Return the response, and keep its bytes for the archive.

        `address` is that of the server, "" for a request to a proxy. `places` are its domain and
        the holder of its address, which rest after errors. Raises `LocalFaultError` if this machine
        could not make the connection.
        """
        self._take_slot(request, address or None)
        for place in places:
            self._rests.contact(place, self._crawl.clock())
        await self._crawl.contacts.until_written()
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
        fetch = fetch_of(request)
        if fetch is not None and self._crawl.config.keeps_warc:
            fetch.exchange = sent(request, response, agent.heads, fetch.began_at)
        now, is_error = self._crawl.clock(), is_unreachable(response.status)
        hold_s = (retry_after_s(response, now) or 0.0) if is_error else 0.0
        for place in places:
            self._rests.answer(place, now, is_error=is_error, hold_s=hold_s)
        return response

    def _take_slot(self, request: Request, address: str | None, *, is_lookup: bool = False) -> None:
        fetch = fetch_of(request)
        if fetch is not None:
            self._crawl.contacts.take_slot(
                fetch.lease, request.url, address, is_file=fetch.is_file, is_lookup=is_lookup
            )

    async def _addresses(self, host: str, *, allows_private: bool) -> list[str]:
        """Return the addresses of a host that may be contacted, the chosen one first."""
        if self._names is None:
            settings = self._crawler.settings
            self._names = Names(
                timeout_s=settings.getfloat("DNS_TIMEOUT"),
                cache_size=settings.getint("DNSCACHE_SIZE"),
                servers=self._crawl.config.dns,
            )
        addresses = await self._names.addresses(host)
        allowed = [
            address for address in addresses if allows_private or not is_private_address(address)
        ]
        if addresses and not allowed:
            raise PrivateAddressError(f"{host} has the private address {addresses[0]}")
        chosen = self._chosen.get(host)
        # IPv4 before IPv6: many machines have IPv6 addresses without a way out.
        return sorted(allowed, key=lambda each: (each != chosen, ":" in each))[:_MOST_ADDRESSES]


class _KeepingAgent(_ScrapyAgent):
    """An agent that keeps the heads of its answer."""

    heads = Heads(b"", b"")
    address = ""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent: Any = super()._get_agent(request, timeout)
        if self.address:
            agent.__class__, agent.address = _PinnedAgent, self.address
        return cast("Agent", agent)

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        fetch = fetch_of(request)
        if fetch is not None:
            fetch.status = txresponse.code
        return super()._cb_bodyready(txresponse, request)

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


class _Chunks(Chunks):
    def noMoreData(self) -> None:
        if not self.is_whole:
            raise _DataLoss("the last chunk is missing")


class _BoundedParser(_LenientHTTPClientParser):
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
