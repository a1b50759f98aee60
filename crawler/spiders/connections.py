"""The download handler that allows or refuses the contact to each address.

The host in a URL was checked before (`crawler.politeness.network`). Here a name is checked by its
addresses, twice. The check before the download gives the reason for a refusal. The second one is a
filter for each connection (`crawler.spiders.names`).
"""

from typing import TYPE_CHECKING, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from crawler.frontier.base import Lease
from crawler.politeness.host_turns import HostTurns
from crawler.politeness.network import (
    BusyAddressError,
    PrivateAddressError,
    host_of_proxy,
    is_private_address,
)
from crawler.politeness.shared_address import SharedAddresses
from crawler.spiders.exchanges import sent
from crawler.spiders.live_handler import LiveDownloadHandler
from crawler.spiders.names import GuardedNames, Lookups, guarded_names
from crawler.spiders.request_meta import EXCHANGE, LEASE
from crawler.spiders.sending import take_slot
from crawler.url import host_of

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider


class GuardedDownloadHandler(LiveDownloadHandler):
    """The handler of the live Web; it does not contact private networks."""

    def __init__(self, crawler: Crawler) -> None:
        """Read the permissions from the settings of the spider's crawl."""
        super().__init__(crawler)
        self._crawl = cast("LangfocusSpider", crawler.spider).crawl
        config = self._crawl.config
        self._allows_private = config.private_addresses
        self._lookups = Lookups()
        self._shared = SharedAddresses(self._crawl.occupancy)
        self._delay_s = config.delay_s
        self._turns = HostTurns(max(config.delay_s, config.max_crawl_delay_s))

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
        try:
            response = await self._download(request, proxy)
            if self._crawl.archive is not None:
                request.meta[EXCHANGE] = sent(request, response)
            return response
        finally:
            self._turns.leave(host, visitor, self._crawl.clock())

    def _delay_of(self, url: str) -> float:
        return max(self._delay_s, self._crawl.robots.delay_s(url))

    async def _download(self, request: Request, proxy: str) -> Response:
        names = guarded_names(is_guarded=not self._allows_private)
        if proxy:
            names.proxies.add(proxy)
            take_slot(self._crawl, request, None)
            return await super().download_request(request)
        host = urlparse_cached(request).hostname or ""
        address = await self._address(names, host)
        wait_s = self._shared.enter(address, host)
        if wait_s is not None:
            raise BusyAddressError(f"{host} has to wait for other requests at {address}", wait_s)
        try:
            take_slot(self._crawl, request, address)
            return await super().download_request(request)
        finally:
            self._shared.leave(address)

    async def _address(self, names: GuardedNames, host: str) -> str:
        """Return the first address of a host that may be contacted."""
        addresses = await self._lookups.addresses(names, host)
        if not addresses:
            raise CannotResolveHostError(f"{host} has no address")
        if self._allows_private:
            return addresses[0]
        allowed = [address for address in addresses if not is_private_address(address)]
        if not allowed:
            raise PrivateAddressError(f"{host} has the private address {addresses[0]}")
        return allowed[0]
