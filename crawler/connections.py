"""The seam to Scrapy's downloader: to which addresses connections are made.

What a URL spells out was judged before. Here a name is judged by the addresses that it resolves
to, twice: before the download, to say why it is refused, and by what the reactor itself is told
when it connects, so that a name that changes its address in between leads nowhere.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

from crawler.network import (
    NoContactError,
    PrivateAddressError,
    host_of_proxy,
    is_loopback_host,
    is_private_address,
)

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Hands on what a name resolves to but for private addresses."""

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
    """Gathers what a name resolves to."""

    def __init__(self) -> None:
        self.all: Deferred[list[str]] = Deferred()
        self._addresses: list[str] = []

    def resolutionBegan(self, resolution: object) -> None:
        """Nothing has come yet."""

    def addressResolved(self, address: Any) -> None:
        self._addresses.append(address.host)

    def resolutionComplete(self) -> None:
        self.all.callback(self._addresses)


@implementer(IHostnameResolver)
class PublicNames:
    """Resolves names as another resolver does, to public addresses only.

    The names in `proxies` are resolved to any: the user chose them.
    """

    def __init__(self, resolver: Any) -> None:
        """Stand before `resolver`."""
        self._resolver = resolver
        self.proxies: set[str] = set()

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[Any]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        """Resolve a name; see Twisted's `IHostnameResolver`."""
        if hostName not in self.proxies:
            resolutionReceiver = _PublicOnly(resolutionReceiver)
        return self._resolver.resolveHostName(
            resolutionReceiver, hostName, portNumber, addressTypes, transportSemantics
        )

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host, private ones too."""
        gathering = _Gathering()
        self._resolver.resolveHostName(gathering, host)
        return await maybe_deferred_to_future(gathering.all)


class GuardedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's own handler, kept out of the network that the crawl runs in."""

    def __init__(self, crawler: Crawler) -> None:
        """Read what is allowed from the crawl of the crawler's spider."""
        super().__init__(crawler)
        settings = cast("LangfocusSpider", crawler.spider).crawl.settings
        self._is_anonymous = settings.is_anonymous
        self._allows_private = settings.private_addresses

    async def download_request(self, request: Request) -> Response:
        """Return the response, or raise what tells why the host was not contacted."""
        proxy = host_of_proxy(request.meta.get("proxy") or "")
        if self._is_anonymous and not is_loopback_host(proxy):
            raise NoContactError(f"{request.url} would be fetched without a contact")
        if not self._allows_private:
            names = _public_names()
            if proxy:
                names.proxies.add(proxy)
            else:
                await self._judge(names, urlparse_cached(request).hostname or "")
        return await super().download_request(request)

    async def _judge(self, names: PublicNames, host: str) -> None:
        addresses = await names.addresses(host)
        if not addresses:
            raise CannotResolveHostError(f"{host} has no address")
        if all(map(is_private_address, addresses)):
            raise PrivateAddressError(f"{host} has the private address {addresses[0]}")


def _public_names() -> PublicNames:
    """Return the reactor's resolver of names, replaced by one that tells public addresses only.

    At each download, since it runs later than anything that sets the reactor up.
    """
    from twisted.internet import reactor

    pluggable = cast("Any", reactor)
    if not isinstance(pluggable.nameResolver, PublicNames):
        pluggable.installNameResolver(PublicNames(pluggable.nameResolver))
    return cast("PublicNames", pluggable.nameResolver)
