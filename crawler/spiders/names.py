"""The addresses of names, asked for without threads.

Scrapy's resolver blocks a thread for each lookup. Twenty names whose servers never answer would
block all of them, and with them the lookups of all other hosts. c-ares waits for any number of
answers in one thread.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from twisted.internet.abstract import isIPAddress, isIPv6Address

from langfocus.crawler.politeness.network import NoAddressYetError
from langfocus.crawler.politeness.turns import PAUSE_S, LookupTurns

if TYPE_CHECKING:
    from pycares import AddrInfoResult

_TRIES: Final = 5
_GRACE_S: Final = 0.5
"""Seconds for which a connection of the crawl waits for an address."""

_LEAST_TTL_S: Final = 60.0
_MOST_TTL_S: Final = 3600.0


class Names:
    """Looks up hosts so that no connection of the crawl waits for a slow name server.

    IPv4 and IPv6 addresses are known for the time to live of their records, at least a minute and
    at most an hour. That a name has no address is told once.
    """

    def __init__(self, *, timeout_s: float, cache_size: int, servers: Sequence[str] = ()) -> None:
        """Ask `servers` (HOST or HOST:PORT), by default those of the system.

        A name that got no answer after `timeout_s` seconds at most has no address.
        """
        import pycares

        self._timeout_s = timeout_s
        self._cache_size = max(1, cache_size)
        self._known: OrderedDict[str, tuple[list[str], float]] = OrderedDict()
        self._turns = LookupTurns()
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
        """Return all addresses of a host, [] if it has none or nobody answered in time.

        Raises `NoAddressYetError` while the answer or the turn of the host has not come. The lookup
        goes on meanwhile, and its result is kept for the next call.
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
        """Return what is known of a host, None if a lookup is needed."""
        addresses, good_until = self._known.pop(host, ([], 0.0))
        if addresses and good_until > now:
            self._known[host] = addresses, good_until
            return addresses
        return None if good_until <= now else addresses

    async def _look_up(self, host: str) -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[AddrInfoResult | None] = loop.create_future()

        def called(result: "AddrInfoResult | None", error: int | None) -> None:
            # c-ares calls it in its own thread, also when the crawl has ended.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(answered, None if error else result)

        def answered(result: "AddrInfoResult | None") -> None:
            if not answer.done():
                answer.set_result(result)

        result = None
        with suppress(TimeoutError, ValueError):  # ValueError: not a name
            self._channel.getaddrinfo(host, None, callback=called)
            result = await asyncio.wait_for(answer, self._timeout_s)
        nodes, now = [] if result is None else result.nodes, time.monotonic()
        found = list(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes))
        ttl_s = min(max(_LEAST_TTL_S, min((node.ttl for node in nodes), default=0)), _MOST_TTL_S)
        self._turns.leave(host, now, has_addresses=bool(found))
        self._known[host] = found, now + ttl_s
        if len(self._known) > self._cache_size:
            self._known.popitem(last=False)
