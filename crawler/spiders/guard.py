"""The guard of the live Web: the last checks of a request, for any download handler.

The host of a URL is checked earlier (`crawler.politeness.network`). The guard checks the IP
addresses of a name, charges slots to an address, and schedules domains, hosts and addresses. Then
the download handler is called, the project's or a user's (`other_handlers`). A handler that
connects to the checked address defeats DNS rebinding.

The robots.txt request, which takes no slot, picks a host's address: the first one that accepts a
connection. Pages use the same address, even if a later lookup lists another address first.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final, cast

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.error import ConnectError

from langfocus.crawler.frontier.slots import holder_of
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
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.spiders import other_handlers
from langfocus.crawler.spiders.concurrency import handler_of, intercept
from langfocus.crawler.spiders.faults import explain, local_fault
from langfocus.crawler.spiders.fetch import Send, begin_fetch, fetch_of, is_file
from langfocus.crawler.spiders.live_handler import PinnedDownloadHandler
from langfocus.crawler.spiders.messages import retry_after_s, sent
from langfocus.crawler.spiders.names import Names, connecting_to, install_checked_names
from langfocus.crawler.spiders.other_handlers import CheckedHandler
from langfocus.crawler.url import host_of, zone_of

BACKED_OFF: Final = "backed_off"
"""Outcome of a URL whose domain or address returns only errors."""

_MOST_ADDRESSES: Final = 4
"""Most addresses of a host tried for its robots.txt."""

_REFUSED = ConnectError, DownloadConnectionRefusedError
_FAILED = *_REFUSED, DownloadTimeoutError


class Guard:
    """Passes requests one after another to the download handlers of a live crawl."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        """Intercept the download handlers of a crawler with a started engine."""
        self._crawler, self._crawl = crawler, crawl
        self._send = cast("Send", intercept(crawler.engine, self.download))
        self._sends: dict[str, Send] = {}
        self._pinned: set[str] = set()
        self._look_at_handlers(crawler)
        self._names: Names | None = None
        self._chosen: Recent[str] = Recent()
        self._line = Line()
        self._delay_s, self._signer = crawl.config.delay_s, crawl.config.signer
        self._has_files = crawl.visitor.embeds is not None or crawl.config.render is not None
        self._turns = HostTurns()
        self._rests = Rests(crawl.config.retry_delay_s)
        crawler.signals.connect(self.close, signals.engine_stopped)

    def _look_at_handlers(self, crawler: Crawler) -> None:
        most_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        others: dict[type, object] = {}
        for scheme in ("http", "https"):
            handler = self._crawl.ending.guard(partial(handler_of, crawler.engine, scheme))
            is_own = handler is None or isinstance(handler, PinnedDownloadHandler)
            if is_own or other_handlers.uses_checked_address(handler):
                self._pinned.add(scheme)
            if is_own:
                self._sends[scheme] = self._send
                continue
            self._sends[scheme] = CheckedHandler(self._send, self._crawl, most_bytes)
            others[type(handler)] = handler
        for handler in others.values():
            install_checked_names()
            other_handlers.remark(handler)

    def close(self) -> None:
        """End all lookups."""
        if self._names is not None:
            self._names.close()

    async def download(self, request: Request) -> Response:
        """Return the response; raise an error if the host may not be contacted now."""
        if urlparse_cached(request).scheme not in self._sends:
            return await self._send(request)  # of the user's own code
        host = host_of(request.url)
        fetch = begin_fetch(request)
        visitor = fetch.lease.host if fetch else host
        wait_s = self._turns.enter(
            host, visitor, self._crawl.clock(), lambda: self._delay_of(request.url)
        )
        if wait_s is not None:
            raise BusyAddressError(f"{host} is in use by other requests", wait_s)
        was_contacted, hold_s = True, 0.0
        try:
            response = await self._addressed(request)
            if self._has_files and is_unreachable(response.status):
                # The frontier rests the host for pages alone.
                after_s = retry_after_s(response, self._crawl.clock()) or 0.0
                hold_s = self._crawl.config.rest_s(1, after_s)
            return response
        except (BusyAddressError, CapError):
            was_contacted = False
            raise
        finally:
            self._turns.leave(host, self._crawl.clock() + hold_s, was_contacted=was_contacted)

    def _delay_of(self, url: str) -> float:
        return max(self._delay_s, self._crawl.robots.delay_s(url))

    async def _addressed(self, request: Request) -> Response:
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
        tried = addresses if urlparse_cached(request).scheme in self._pinned else addresses[:1]
        for address, other in zip(tried, [*tried[1:], *tried[:1]], strict=True):
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
                if other == tried[0] or not isinstance(error, _REFUSED):
                    raise
            else:
                used = str(response.ip_address)
                self._chosen[host] = used if used in addresses else address
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
        """Return the error for a request that must wait."""
        now = self._crawl.clock()
        line = f"{place} rests" if wait_s else place
        after_s = self._line.wait(line, now + wait_s, max(STEP_S, self._crawl.config.pace_s))
        return BusyAddressError(f"{place} cannot be contacted now", wait_s + after_s)

    async def _contact(self, request: Request, address: str, *places: str) -> Response:
        """Return the response, and keep its bytes for the archive.

        `address` is the server's address, "" for a proxy. `places`, its domain and slot holder,
        rest after errors. Raises `LocalFaultError` if this machine could not connect.
        """
        self._take_slot(request, address or None)
        began_at = self._crawl.clock()
        for place in places:
            self._rests.contact(place, began_at)
        await self._crawl.contacts.until_written()
        if self._signer is not None:  # anew for each try, whose request may be a redirected one
            request.headers.update(self._signer.fields(request.url))
        try:
            with connecting_to(urlparse_cached(request).hostname or "", address):
                response = await self._sends[urlparse_cached(request).scheme](request)
        except Exception as error:
            if lacking := local_fault(error):
                raise LocalFaultError(lacking) from error
            if not explain(error)[1]:
                self._failed(request, filter(self._rests.has_answered, places), began_at)
            raise
        fetch = fetch_of(request)
        if fetch is not None and fetch.heads is not None and self._crawl.config.keeps_warc:
            fetch.exchange = sent(request, response, fetch.heads, fetch.began_at)
        if is_unreachable(response.status):
            hold_s = retry_after_s(response, self._crawl.clock()) or 0.0
            self._failed(request, places, began_at, hold_s)
            return response
        for place in places:
            self._rests.succeed(place, is_page=not is_file(request))
        return response

    def _failed(
        self, request: Request, places: Iterable[str], began_at: float, hold_s: float = 0.0
    ) -> None:
        """Note an error of some places, unless it is that of a URL after which others came."""
        fetch = fetch_of(request)
        if fetch is None or not fetch.lease.is_deferred:
            for place in places:
                now = self._crawl.clock()
                self._rests.fail(place, request.url, now, began_at=began_at, hold_s=hold_s)

    def _take_slot(self, request: Request, address: str | None, *, is_lookup: bool = False) -> None:
        fetch = fetch_of(request)
        if fetch is not None and not fetch.most_bytes:
            self._crawl.contacts.take_slot(
                fetch.lease, request.url, address, is_file=fetch.is_file, is_lookup=is_lookup
            )

    async def _addresses(self, host: str, *, allows_private: bool) -> list[str]:
        """Return the permitted addresses of a host, the chosen address first."""
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
