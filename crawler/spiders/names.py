"""DNS lookups without threads.

Scrapy's resolver blocks a thread per lookup: twenty names with silent servers would block the
lookups of all other hosts. c-ares waits for any number of answers in one thread.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from scrapy.resolver import HostResolution
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.address import IPv4Address, IPv6Address

from langfocus.crawler.politeness.network import NoAddressYetError, NoSuchNameError
from langfocus.crawler.politeness.turns import PAUSE_S, LookupTurns, Recent

if TYPE_CHECKING:
    from pycares import AddrInfoResult

_TRIES: Final = 5
_MOST_LOOKUPS: Final = 3
"""Unanswered lookups after which a name counts as nonexistent."""

_GRACE_S: Final = 0.5
"""Seconds for which a connection of the crawl waits for an address."""

_LEAST_TTL_S: Final = 60.0
_MOST_TTL_S: Final = 3600.0

_CHECKED: ContextVar[tuple[str, str]] = ContextVar("checked address", default=("", ""))


@contextmanager
def connecting_to(host: str, address: str) -> Iterator[None]:
    """Set the host's `checked_address` for the code called in the block."""
    token = _CHECKED.set((host, address))
    try:
        yield
    finally:
        _CHECKED.reset(token)


def checked_address() -> str:
    """Return the checked address for this task's request; "" for a proxy or without one."""
    return _CHECKED.get()[1]


class CheckedNames:
    """Resolves checked names to their address, other names by another resolver."""

    def __init__(self, other: Any) -> None:
        self._other = other

    def resolveHostName(
        self, receiver: Any, hostName: str, portNumber: int = 0, *more: Any, **options: Any
    ) -> object:
        host, address = _CHECKED.get()
        # Twisted shows an international name in Unicode.
        if not address or (hostName != host if hostName.isascii() else "xn--" not in host):
            return self._other.resolveHostName(receiver, hostName, portNumber, *more, **options)
        found = HostResolution(hostName)
        receiver.resolutionBegan(found)
        kind = IPv6Address if ":" in address else IPv4Address
        receiver.addressResolved(kind("TCP", address, portNumber))
        receiver.resolutionComplete()
        return found


def install_checked_names() -> None:
    """Make Twisted connect to checked addresses, for handlers without address support."""
    from twisted.internet import reactor

    ours: Any = reactor
    if not isinstance(ours.nameResolver, CheckedNames):
        ours.installNameResolver(CheckedNames(ours.nameResolver))


class Names:
    """Resolves hosts without delaying connections by slow name servers.

    Addresses are cached for the time to live of their records, a minute to an hour. A nonexistent
    name, or one without an address, is cached for an hour. After errors and timeouts of its
    servers, a name is looked up three times.
    """

    def __init__(self, *, timeout_s: float, cache_size: int, servers: Sequence[str] = ()) -> None:
        """Query `servers` (HOST or HOST:PORT), by default the system's.

        A lookup without an answer after `timeout_s` seconds fails.
        """
        import pycares

        self._timeout_s = timeout_s
        self._cache_size = max(1, cache_size)
        self._known: OrderedDict[str, tuple[list[str], float]] = OrderedDict()
        self._turns = LookupTurns()
        self._missing: Recent[float] = Recent()
        self._unreported: set[str] = set()  # missing names whose lookup raised no error yet
        self._failures: Recent[int] = Recent()
        self._lookups: set[asyncio.Task[None]] = set()
        self._channel = pycares.Channel(
            timeout=timeout_s / 4,
            tries=_TRIES,
            flags=pycares.ARES_FLAG_NOSEARCH,
            servers=list(servers) or None,
        )

    def close(self) -> None:
        """End all lookups."""
        for lookup in self._lookups:
            lookup.cancel()
        self._channel.close()

    async def addresses(self, host: str) -> list[str]:
        """Return all addresses of a host; [] after a timeout.

        Raises `NoSuchNameError` for a host without an address, and `NoAddressYetError` while the
        lookup is waiting or running. The lookup continues, and the next call returns its result.
        """
        if isIPAddress(host) or isIPv6Address(host):
            return [host]
        now = time.monotonic()
        found = self._found(host, now)
        if found is not None:
            return found
        if self._turns.is_silent(host, now):
            return []
        wait_s = self._turns.enter(host, now)
        if wait_s is None:
            lookup = asyncio.ensure_future(self._look_up(host))
            self._lookups.add(lookup)
            lookup.add_done_callback(self._lookups.discard)
            await asyncio.wait([lookup], timeout=_GRACE_S)
            found = self._found(host, now)
        if found is None:
            raise NoAddressYetError(f"{host} waits for its address", wait_s or PAUSE_S)
        return found

    def _found(self, host: str, now: float) -> list[str] | None:
        """Return the cached result for a host; None if a lookup is needed."""
        if self._missing.get(host, now) > now:
            is_new = host in self._unreported
            self._unreported.discard(host)
            raise NoSuchNameError(f"{host} has no address", is_new=is_new)
        addresses, good_until = self._known.pop(host, ([], 0.0))
        if addresses and good_until > now:
            self._known[host] = addresses, good_until
            return addresses
        return None if good_until <= now else addresses

    async def _look_up(self, host: str) -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple[AddrInfoResult | None, int | None]] = loop.create_future()

        def called(result: "AddrInfoResult | None", error: int | None) -> None:
            # c-ares calls this function in its own thread, also after the end of the crawl.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(answered, (None if error else result, error))

        def answered(result: "tuple[AddrInfoResult | None, int | None]") -> None:
            if not answer.done():
                answer.set_result(result)

        result, error = None, None
        with suppress(TimeoutError, ValueError):  # ValueError: not a name
            self._channel.getaddrinfo(host, None, callback=called)
            result, error = await asyncio.wait_for(answer, self._timeout_s)
        nodes, now = [] if result is None else result.nodes, time.monotonic()
        found = list(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes))
        ttl_s = min(max(_LEAST_TTL_S, min((node.ttl for node in nodes), default=0)), _MOST_TTL_S)
        self._turns.leave(host, now, has_addresses=bool(found))
        if not found and self._is_missing(host, error):
            self._missing[host] = now + _MOST_TTL_S
            self._unreported.add(host)
            return
        self._known[host] = found, now + ttl_s
        if len(self._known) > self._cache_size:
            self._known.popitem(last=False)

    def _is_missing(self, host: str, error: int | None) -> bool:
        """Return True for a name that does not exist, has no address, or failed too often."""
        from pycares import errno

        failures = self._failures[host] = self._failures.get(host, 0) + 1
        if error in (errno.ARES_ENOTFOUND, errno.ARES_ENODATA) or failures >= _MOST_LOOKUPS:
            self._failures.pop(host, None)
            return True
        return False
