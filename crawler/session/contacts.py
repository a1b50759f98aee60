"""The last checks before a request is sent: private networks, the user's blocks, and slots."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Frontier, Lease, Sending
from langfocus.crawler.politeness.blocking import Blocking
from langfocus.crawler.politeness.network import CapError, has_bad_port, is_private_url, port_of
from langfocus.crawler.politeness.scope import OUT_OF_SCOPE
from langfocus.crawler.politeness.turns import Occupancy
from langfocus.crawler.session.ending import Ending
from langfocus.crawler.url import host_of

_GROUPED_S: Final = 0.02
"""Seconds of frontier changes per write."""


class Contacts:
    """Permits requests, and records each request in the frontier before it is sent.

    `occupancy` limits the requests per address. `blocking` has the URLs blocked by a person.
    """

    def __init__(
        self,
        frontier: Frontier,
        ending: Ending,
        occupancy: Occupancy,
        blocking: Blocking,
        clock: Callable[[], float],
        *,
        is_sitemap: Callable[[Lease], bool] = lambda _: False,
        is_live: bool = True,
        private_addresses: bool = False,
        own_ports: Collection[int | None] = (),
        is_refused: Callable[[str, str], bool] = lambda *_: False,
    ) -> None:
        """Unless the Web `is_live`, no server is contacted, and every URL is allowed.

        A URL that is fetched as a sitemap takes no slot of its host. With `private_addresses`
        private hosts are allowed, but not at the crawl's `own_ports`. `-a scope` refuses
        a URL at an address by `is_refused`.
        """
        self._frontier, self._ending, self._clock = frontier, ending, clock
        self.occupancy, self.blocking = occupancy, blocking
        self._is_sitemap, self._is_live, self._is_refused = is_sitemap, is_live, is_refused
        self._private_addresses, self._own_ports = private_addresses, own_ports
        self._written: asyncio.Event | None = None

    def may_contact(self, url: str) -> bool:
        """Return False for a URL with a bad port or a private host, unless those are allowed."""
        if not self._is_live:
            return True
        return not has_bad_port(url) and (self.allows_private(url) or not is_private_url(url))

    def allows_private(self, url: str) -> bool:
        """Return True if the host of a URL may be private; never at a port of the crawl."""
        return self._private_addresses and port_of(url) not in self._own_ports

    def take_slot(
        self,
        lease: Lease,
        url: str,
        address: str | None,
        *,
        is_file: bool = False,
        is_lookup: bool = False,
    ) -> None:
        """Take the slots of a request for a lease; raises `CapError` if none is free.

        `address` is the server's IP address, None if unknown. A file, possibly on another host, and
        a DNS lookup take no slot of their host.
        """
        if address is not None and self._is_refused(url, address):
            raise CapError(f"{lease.url}: {address} is out of the scope", OUT_OF_SCOPE)
        now, host = self._clock(), host_of(url)
        if is_file and host != lease.host:
            answer = self._frontier.ask_file(host, address, now=now)
        else:
            is_page = not (is_file or is_lookup or self._is_sitemap(lease))
            answer = self._frontier.send(lease, address, now=now, is_page=is_page)
        if answer is not Sending.NOW:
            outcome = "" if answer is Sending.LATER else answer.value
            raise CapError(f"{lease.url}: {answer.value}", outcome)

    def group_writes(self, call_later: Callable[..., object]) -> None:
        """Group frontier changes into writes scheduled by the event loop's `call_later`."""

        def begin(write: Callable[[], None]) -> None:
            written = self._written = asyncio.Event()
            call_later(_GROUPED_S, end, write, written)

        def end(write: Callable[[], None], written: asyncio.Event) -> None:
            self._ending.guard(write)
            written.set()

        self._frontier.group(begin)

    async def until_written(self) -> None:
        """Return when the slots that were taken are on the disk; raises `StorageError`."""
        if self._written is not None:
            await self._written.wait()
        if self._ending.fault:
            raise StorageError(self._ending.fault)
