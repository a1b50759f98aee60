"""The download handler that allows or refuses the contact to each address.

The host in a URL was checked before (`crawler.politeness.network`). Here a name is checked by its
addresses, twice. The first check, before the download, gives the reason for a refusal. The second
one filters the addresses that the reactor gets when it connects, so a name that changes its address
in between cannot lead into a private network.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

from crawler.frontier.base import Lease, Located
from crawler.politeness.host_turns import HostTurns
from crawler.politeness.network import (
    AddressCapError,
    BusyAddressError,
    NoContactError,
    PrivateAddressError,
    host_of_proxy,
    is_loopback_host,
    is_private_address,
)
from crawler.politeness.shared_address import SharedAddresses
from crawler.spiders.live_handler import LiveDownloadHandler
from crawler.spiders.request_meta import LEASE
from crawler.url import host_of

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Passes on the addresses of a name, except private ones."""

    def __init__(self, receiver: Any) -> None:
        self._receiver = receiver

    def resolutionBegan(self, resolution: object) -> None:
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:
        if not is_private_address(address.host):
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:
        self._receiver.resolutionComplete()


@implementer(IResolutionReceiver)
class _Gathering:
    """Collects the addresses of a name."""

    def __init__(self) -> None:
        self.all: Deferred[list[str]] = Deferred()
        self._addresses: list[str] = []

    def resolutionBegan(self, resolution: object) -> None:
        """Do nothing: there is no address yet."""

    def addressResolved(self, address: Any) -> None:
        self._addresses.append(address.host)

    def resolutionComplete(self) -> None:
        self.all.callback(self._addresses)


@implementer(IHostnameResolver)
class GuardedNames:
    """Resolves names by another resolver; while it `is_guarded`, only to public addresses.

    The names in `proxies` may have any address, since the user chose them.
    """

    def __init__(self, resolver: Any) -> None:
        """Resolve names by `resolver`."""
        self._resolver = resolver
        self.proxies: set[str] = set()
        self.is_guarded = False

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[Any]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        """Resolve a name; see Twisted's `IHostnameResolver`."""
        if self.is_guarded and hostName not in self.proxies:
            resolutionReceiver = _PublicOnly(resolutionReceiver)
        return self._resolver.resolveHostName(
            resolutionReceiver, hostName, portNumber, addressTypes, transportSemantics
        )

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host, including private ones."""
        gathering = _Gathering()
        self._resolver.resolveHostName(gathering, host)
        return await maybe_deferred_to_future(gathering.all)


class GuardedDownloadHandler(LiveDownloadHandler):
    """The handler of the live Web; it does not contact private networks."""

    def __init__(self, crawler: Crawler) -> None:
        """Read the permissions from the settings of the spider's crawl."""
        super().__init__(crawler)
        self._crawl = cast("LangfocusSpider", crawler.spider).crawl
        settings = self._crawl.settings
        self._is_anonymous = settings.bot.is_anonymous
        self._allows_private = settings.private_addresses
        self._shared = SharedAddresses(self._crawl.occupancy)
        self._delay_s = settings.delay_s
        self._turns = HostTurns(max(settings.delay_s, settings.max_crawl_delay_s))

    async def download_request(self, request: Request) -> Response:
        """Return the response, or raise the reason why the host was not contacted."""
        proxy = host_of_proxy(request.meta.get("proxy") or "")
        if self._is_anonymous and not is_loopback_host(proxy):
            raise NoContactError(f"{request.url} would be fetched without a contact")
        host = host_of(request.url)
        lease: Lease | None = request.meta.get(LEASE)
        visitor = lease.host if lease else host
        wait_s = self._turns.enter(
            host, visitor, self._crawl.clock(), lambda: self._delay_of(request.url)
        )
        if wait_s is not None:
            raise BusyAddressError(f"{host} is in use by other requests", wait_s)
        try:
            return await self._download(request, proxy)
        finally:
            self._turns.leave(host, visitor, self._crawl.clock())

    def _delay_of(self, url: str) -> float:
        return max(self._delay_s, self._crawl.robots.delay_s(url))

    async def _download(self, request: Request, proxy: str) -> Response:
        names = _names(is_guarded=not self._allows_private)
        if proxy:
            names.proxies.add(proxy)
            return await super().download_request(request)
        host = urlparse_cached(request).hostname or ""
        address = await self._address(names, host)
        self._locate(request, address)
        wait_s = self._shared.enter(address, host)
        if wait_s is not None:
            raise BusyAddressError(f"{host} has to wait for other requests at {address}", wait_s)
        try:
            return await super().download_request(request)
        finally:
            self._shared.leave(address)

    def _locate(self, request: Request, address: str) -> None:
        """Raise `AddressCapError` if a leased URL may not be fetched from an address now."""
        lease: Lease | None = request.meta.get(LEASE)
        if lease is None or host_of(request.url) != lease.host:
            return
        located = self._crawl.frontier.locate(lease, address, now=self._crawl.clock())
        if located is not Located.FETCH:
            raise AddressCapError(
                f"{lease.host} is at {address}, which has given many URLs",
                is_full=located is Located.FULL,
            )

    async def _address(self, names: GuardedNames, host: str) -> str:
        """Return the first address of a host that may be contacted."""
        addresses = await names.addresses(host)
        if not addresses:
            raise CannotResolveHostError(f"{host} has no address")
        if self._allows_private:
            return addresses[0]
        allowed = [address for address in addresses if not is_private_address(address)]
        if not allowed:
            raise PrivateAddressError(f"{host} has the private address {addresses[0]}")
        return allowed[0]


def _names(*, is_guarded: bool) -> GuardedNames:
    """Return the reactor's resolver, which is replaced by a `GuardedNames` at the first call.

    It is called at each download, because the reactor is completely set up by then.
    """
    from twisted.internet import reactor

    pluggable = cast("Any", reactor)
    if not isinstance(pluggable.nameResolver, GuardedNames):
        pluggable.installNameResolver(GuardedNames(pluggable.nameResolver))
    names = cast("GuardedNames", pluggable.nameResolver)
    # If one of two crawls in a process is guarded, both are.
    names.is_guarded |= is_guarded
    return names
