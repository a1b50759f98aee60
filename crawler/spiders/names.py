"""The addresses of names, asked for without threads.

Scrapy's resolver blocks a thread for each lookup. Twenty names whose servers never answer would
block all of them, and with them the lookups of all other hosts. c-ares waits for any number of
answers in one thread. Twisted's own `twisted.names` does so too; a lookup costs it three times the
CPU time (docs/research/measurements.md).
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from crawler.config import of_settings
from crawler.politeness.lookups import PAUSE_S, LookupTurns
from crawler.politeness.network import NoAddressYetError
from crawler.politeness.turns import Recent
from crawler.spiders.scrapy_settings import given

if TYPE_CHECKING:
    from pycares import AddrInfoResult

_TRIES: Final = 5
_GRACE_S: Final = 0.5
"""Seconds for which a connection of the crawl waits for an address."""

_LEAST_TTL_S: Final = 60.0
_MOST_TTL_S: Final = 3600.0


class _Known(NamedTuple):
    addresses: tuple[str, ...]
    good_until: float


@implementer(IHostResolution)
class _Resolution:
    """A lookup in progress; it cannot be cancelled."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        raise NotImplementedError


@implementer(IHostnameResolver)
class CaresNames:
    """Scrapy's `TWISTED_DNS_RESOLVER` for crawls: c-ares with a cache.

    IPv4 and IPv6 addresses are known for the time to live of their records, at least a minute and
    at most an hour. Names without an address are not remembered. Several lookups of one name at a
    time are one.
    """

    def __init__(
        self, reactor: Any, *, timeout_s: float, cache_size: int, servers: Sequence[str] = ()
    ) -> None:
        """Ask `servers` (HOST or HOST:PORT), by default those of the system.

        A name that got no answer after `timeout_s` seconds at most has no address.
        """
        import pycares

        self._reactor = reactor
        self._cache_size = cache_size
        self._cache: OrderedDict[str, _Known] = OrderedDict()
        self._asked: dict[str, list[Deferred[tuple[str, ...]]]] = {}
        self._timeout_s = timeout_s
        self._channel = pycares.Channel(
            timeout=timeout_s / 4,
            tries=_TRIES,
            flags=pycares.ARES_FLAG_NOSEARCH,
            servers=list(servers) or None,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> "CaresNames":
        """Return the resolver that Scrapy's settings describe."""
        settings = crawler.settings
        return cls(
            reactor,
            timeout_s=settings.getfloat("DNS_TIMEOUT"),
            cache_size=settings.getint("DNSCACHE_SIZE"),
            servers=of_settings(given(settings)).get("dns", ()),
        )

    def install_on_reactor(self) -> None:
        """Let the reactor resolve names here; Scrapy calls it."""
        self._reactor.installNameResolver(self)
        self._reactor.addSystemEventTrigger("after", "shutdown", self._channel.close)

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[Any]] | None = None,
        transportSemantics: Any = "TCP",
    ) -> _Resolution:
        """Resolve a name; see Twisted's `IHostnameResolver`."""
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def tell(addresses: tuple[str, ...]) -> None:
            for address in addresses:
                kind = IPv6Address if ":" in address else IPv4Address
                if addressTypes is None or kind in addressTypes:
                    resolutionReceiver.addressResolved(
                        kind(transportSemantics, address, portNumber)
                    )
            resolutionReceiver.resolutionComplete()

        self.addresses(hostName).addCallback(tell)
        return resolution

    def addresses(self, name: str) -> "Deferred[tuple[str, ...]]":
        """Return the addresses of a name; () if it has none or nobody answered in time."""
        answer: Deferred[tuple[str, ...]] = Deferred()
        known = (name,) if isIPAddress(name) or isIPv6Address(name) else self._known(name)
        if known:
            answer.callback(known)
        elif name in self._asked:
            self._asked[name].append(answer)
        else:
            self._asked[name] = [answer]
            self._ask(name)
        return answer

    def _known(self, name: str) -> tuple[str, ...]:
        known = self._cache.get(name)
        if known is None:
            return ()
        if known.good_until <= self._reactor.seconds():
            del self._cache[name]
            return ()
        self._cache.move_to_end(name)
        return known.addresses

    def _ask(self, name: str) -> None:
        timer = self._reactor.callLater(self._timeout_s, self._answered, name, None)

        def called(result: "AddrInfoResult | None", error: int | None) -> None:
            # c-ares calls it in its own thread.
            self._reactor.callFromThread(finished, None if error else result)

        def finished(result: "AddrInfoResult | None") -> None:
            if timer.active():
                timer.cancel()
                self._answered(name, result)

        try:
            self._channel.getaddrinfo(name, None, callback=called)
        except (ValueError, UnicodeError):  # not a name
            finished(None)

    def _answered(self, name: str, result: "AddrInfoResult | None") -> None:
        nodes = [] if result is None else result.nodes
        addresses = tuple(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes))
        if addresses and self._cache_size:
            ttl_s = min(max(_LEAST_TTL_S, min(node.ttl for node in nodes)), _MOST_TTL_S)
            self._cache[name] = _Known(addresses, self._reactor.seconds() + ttl_s)
            if len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
        for answer in self._asked.pop(name):
            answer.callback(addresses)


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


class Lookups:
    """Looks up hosts so that no connection of the crawl waits for a slow name server."""

    def __init__(self) -> None:
        """Start without lookups."""
        self._turns = LookupTurns()
        self._finished: Recent[list[str]] = Recent()

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host, [] if it has none.

        Raises `NoAddressYetError` while the answer or the turn of the host has not come. The lookup
        goes on meanwhile, and its result is kept for the next call.
        """
        from twisted.internet import reactor

        clock = cast("Any", reactor)
        if host in self._finished:
            return self._finished.pop(host)
        if isIPAddress(host) or isIPv6Address(host):
            return [host]
        if self._turns.is_silent(host, clock.seconds()):
            return []
        wait_s = self._turns.enter(host, clock.seconds())
        if wait_s is not None:
            raise NoAddressYetError(f"{host} waits for its address", wait_s)
        await maybe_deferred_to_future(self._begun(host, clock))
        if host not in self._finished:
            raise NoAddressYetError(f"{host} waits for its address", PAUSE_S)
        return self._finished.pop(host)

    def _begun(self, host: str, clock: Any) -> "Deferred[None]":
        """Begin a lookup; the result fires when it ends, or after `_GRACE_S` seconds."""
        soon: Deferred[None] = Deferred()
        timer = clock.callLater(_GRACE_S, soon.callback, None)

        def finished(addresses: list[str]) -> None:
            self._turns.leave(host, clock.seconds(), has_addresses=bool(addresses))
            self._finished[host] = addresses
            if timer.active():
                timer.cancel()
                soon.callback(None)

        gathering = _Gathering()
        gathering.all.addCallback(finished)
        clock.nameResolver.resolveHostName(gathering, host)
        return soon
