"""The addresses of names, asked for without threads.

Scrapy's resolver blocks a thread for each lookup. Twenty names whose servers never answer would
block all of them, and with them the lookups of all other hosts. c-ares waits for any number of
answers in one thread. Twisted's own `twisted.names` does so too; a lookup costs it three times the
CPU time (docs/research/measurements.md).
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import Deferred

from crawler.politeness.lookups import PAUSE_S, LookupTurns
from crawler.politeness.network import NoAddressYetError
from crawler.politeness.turns import Recent

if TYPE_CHECKING:
    from pycares import AddrInfoResult

_TRIES: Final = 5
_GRACE_S: Final = 0.5
"""Seconds for which a connection of the crawl waits for an address."""

_LEAST_TTL_S: Final = 60.0
_MOST_TTL_S: Final = 3600.0


class _Known(NamedTuple):
    addresses: list[str]
    good_until: float


class Names:
    """Looks up hosts so that no connection of the crawl waits for a slow name server.

    IPv4 and IPv6 addresses are known for the time to live of their records, at least a minute and
    at most an hour. Names without an address are not remembered.
    """

    def __init__(
        self, reactor: Any, *, timeout_s: float, cache_size: int, servers: Sequence[str] = ()
    ) -> None:
        """Ask `servers` (HOST or HOST:PORT), by default those of the system.

        A name that got no answer after `timeout_s` seconds at most has no address.
        """
        import pycares

        self._reactor = reactor
        self._turns = LookupTurns()
        self._finished: Recent[list[str]] = Recent()
        self._cache_size = cache_size
        self._cache: OrderedDict[str, _Known] = OrderedDict()
        self._timeout_s = timeout_s
        self._channel = pycares.Channel(
            timeout=timeout_s / 4,
            tries=_TRIES,
            flags=pycares.ARES_FLAG_NOSEARCH,
            servers=list(servers) or None,
        )

    def close(self) -> None:
        """End all lookups."""
        self._channel.close()

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host, [] if it has none or nobody answered in time.

        Raises `NoAddressYetError` while the answer or the turn of the host has not come. The lookup
        goes on meanwhile, and its result is kept for the next call.
        """
        now = self._reactor.seconds()
        if isIPAddress(host) or isIPv6Address(host):
            return [host]
        if host in self._finished:
            return self._finished.pop(host)
        if known := self._known(host, now):
            return known
        if self._turns.is_silent(host, now):
            return []
        wait_s = self._turns.enter(host, now)
        if wait_s is not None:
            raise NoAddressYetError(f"{host} waits for its address", wait_s)
        await maybe_deferred_to_future(self._begun(host))
        if host not in self._finished:
            raise NoAddressYetError(f"{host} waits for its address", PAUSE_S)
        return self._finished.pop(host)

    def _known(self, host: str, now: float) -> list[str]:
        known = self._cache.get(host)
        if known is None:
            return []
        if known.good_until <= now:
            del self._cache[host]
            return []
        self._cache.move_to_end(host)
        return known.addresses

    def _begun(self, host: str) -> "Deferred[None]":
        """Begin a lookup; the result fires when it ends, or after `_GRACE_S` seconds."""
        soon: Deferred[None] = Deferred()
        grace = self._reactor.callLater(_GRACE_S, soon.callback, None)

        def ended(result: "AddrInfoResult | None") -> None:
            self._keep(host, result)
            if grace.active():
                grace.cancel()
                soon.callback(None)

        limit = self._reactor.callLater(self._timeout_s, ended, None)

        def answered(result: "AddrInfoResult | None") -> None:
            if limit.active():
                limit.cancel()
                ended(result)

        def called(result: "AddrInfoResult | None", error: int | None) -> None:
            # c-ares calls it in its own thread.
            self._reactor.callFromThread(answered, None if error else result)

        try:
            self._channel.getaddrinfo(host, None, callback=called)
        except (ValueError, UnicodeError):  # not a name
            answered(None)
        return soon

    def _keep(self, host: str, result: "AddrInfoResult | None") -> None:
        now, nodes = self._reactor.seconds(), [] if result is None else result.nodes
        found = list(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes))
        self._turns.leave(host, now, has_addresses=bool(found))
        self._finished[host] = found
        if found and self._cache_size:
            ttl_s = min(max(_LEAST_TTL_S, min(node.ttl for node in nodes)), _MOST_TTL_S)
            self._cache[host] = _Known(found, now + ttl_s)
            if len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
