"""The download handler that allows or refuses the contact to each address.

The host in a URL was checked before (`crawler.politeness.network`). Here a name is checked by its
addresses, and the connection goes to one of those that were checked. So a name that changes its
address afterwards leads nowhere, and a slot is charged to the address that gets the request.

The request for robots.txt, which takes no slot, finds the address of a host: the first that can be
connected to. Pages are asked for there too, also after an answer with other addresses first.
"""

from typing import TYPE_CHECKING, Final, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.error import ConnectError

from crawler.frontier.base import Lease
from crawler.politeness.network import (
    BusyAddressError,
    CapError,
    PrivateAddressError,
    host_of_proxy,
    is_private_address,
)
from crawler.politeness.turns import HostTurns, Line, Recent
from crawler.spiders.live_handler import LiveDownloadHandler
from crawler.spiders.names import Names
from crawler.spiders.requests import EXCHANGE, LEASE, ROBOTS_BYTES, take_slot
from crawler.spiders.responses import sent
from crawler.url import host_of

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider

_MOST_ADDRESSES: Final = 4
"""Addresses of a host that its robots.txt is asked for at."""

_REFUSED = ConnectError, DownloadConnectionRefusedError
_FAILED = *_REFUSED, DownloadTimeoutError


class GuardedDownloadHandler(LiveDownloadHandler):
    """The handler of the live Web; it does not contact private networks."""

    def __init__(self, crawler: Crawler) -> None:
        """Read the permissions from the settings of the spider's crawl."""
        super().__init__(crawler)
        self._crawl = cast("LangfocusSpider", crawler.spider).crawl
        config = self._crawl.config
        self._allows_private = config.private_addresses
        self._names: Names | None = None
        self._chosen: Recent[str] = Recent()
        self._line = Line()
        self._delay_s = config.delay_s
        self._turns = HostTurns(max(config.delay_s, config.max_crawl_delay_s))

    async def close(self) -> None:
        """End all connections and lookups."""
        await super().close()
        if self._names is not None:
            self._names.close()

    async def download_request(self, request: Request) -> Response:
        """Return the response, or raise the reason why the host was not contacted."""
        proxy = host_of_proxy(request.meta.get("proxy") or "")
        host = host_of(request.url)
        lease: Lease | None = request.meta.get(LEASE)
        visitor = lease.host if lease else host
        wait_s = self._turns.enter(
            host, visitor, self._crawl.clock(), lambda: self._delay_of(request.url)
        )
        if wait_s is not None:
            raise BusyAddressError(f"{host} is in use by other requests", wait_s)
        was_contacted = True
        try:
            response = await self._download(request, proxy)
            if self._crawl.archive is not None:
                request.meta[EXCHANGE] = sent(request, response)
            return response
        except (BusyAddressError, CapError):
            was_contacted = False
            raise
        finally:
            self._turns.leave(host, self._crawl.clock(), was_contacted=was_contacted)

    def _delay_of(self, url: str) -> float:
        return max(self._delay_s, self._crawl.robots.delay_s(url))

    async def _download(self, request: Request, proxy: str) -> Response:
        if proxy:
            return await self._contact(request, "")
        host = urlparse_cached(request).hostname or ""
        addresses = await self._addresses(host)
        for address, other in zip(addresses, [*addresses[1:], *addresses[:1]], strict=True):
            if not self._crawl.occupancy.enter(address):
                wait_s = self._line.wait(address, self._crawl.clock())
                raise BusyAddressError(f"{host} has to wait for requests at {address}", wait_s)
            try:
                response = await self._contact(request, address)
            except _FAILED as error:
                if ROBOTS_BYTES not in request.meta:
                    raise
                self._chosen[host] = other
                if other == addresses[0] or not isinstance(error, _REFUSED):
                    raise
            else:
                self._chosen[host] = address
                return response
            finally:
                self._crawl.occupancy.leave(address)
        raise CannotResolveHostError(f"{host} has no address")

    async def _contact(self, request: Request, address: str) -> Response:
        take_slot(self._crawl, request, address or None)
        await self._crawl.until_written()
        return await self.fetch(request, address)

    async def _addresses(self, host: str) -> list[str]:
        """Return the addresses of a host that may be contacted, the chosen one first."""
        if self._names is None:
            from twisted.internet import reactor

            settings, servers = self._crawler.settings, self._crawl.config.dns
            self._names = Names(
                reactor,
                timeout_s=settings.getfloat("DNS_TIMEOUT"),
                cache_size=settings.getint("DNSCACHE_SIZE"),
                servers=servers,
            )
        addresses = await self._names.addresses(host)
        allowed = [
            address
            for address in addresses
            if self._allows_private or not is_private_address(address)
        ]
        if addresses and not allowed:
            raise PrivateAddressError(f"{host} has the private address {addresses[0]}")
        chosen = self._chosen.get(host)
        # IPv4 before IPv6: many machines have IPv6 addresses without a way out.
        return sorted(allowed, key=lambda each: (each != chosen, ":" in each))[:_MOST_ADDRESSES]
