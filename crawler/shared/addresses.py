"""The requests at an IP address or a domain, counted for all workers of a shared crawl."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from langfocus.crawler.shared.keyspace import KeySpace
from langfocus.crawler.shared.stored import StoredCrawl


class SharedOccupancy:
    """Counts the concurrent requests of all workers in the crawl's Redis server.

    Requests of a dead worker expire after `lease_s` seconds; a living worker calls `renew` more
    often.
    """

    def __init__(
        self,
        crawl: StoredCrawl,
        at_once: int,
        clock: Callable[[], float],
        *,
        lease_s: float,
        pace_s: float = 0.0,
    ) -> None:
        """Allow `at_once` requests at one address, 0: any number, each `pace_s` after another.

        `clock` returns unix seconds; the pace is kept by the clock of the server.
        """
        self._pace_ms = round(1000 * pace_s)
        self._crawl = crawl
        self._at_once = at_once
        self._clock = clock
        self._lease_s = lease_s
        self._stays: dict[str, list[str]] = {}

    def enter(self, address: str) -> bool:
        """Count one more request and return True, or return False if the limit is reached."""
        if not self._at_once:
            return True
        if not self.pace(address):
            return False
        key, stay, now = self._key(address), uuid4().hex, self._clock()

        def join(pipe: Any) -> None:
            pipe.zremrangebyscore(key, "-inf", now)
            pipe.zadd(key, {stay: now + self._lease_s}, nx=True)
            pipe.expire(key, int(2 * self._lease_s) + 1)
            pipe.zcard(key)

        part = self._crawl.at_address(address)
        is_over = part.reach(lambda: bool(part.run(join)[-1] > self._at_once), away=True)
        self._stays.setdefault(address, []).append(stay)
        if is_over:
            self.leave(address)
        return not is_over

    def pace(self, address: str) -> bool:
        """Return True if no worker sent a request for `pace_s` seconds, and let one be sent."""
        if not self._at_once or not self._pace_ms:
            return True
        part = self._crawl.at_address(address)
        words = "SET", part.key(f"pace:{address}"), "", "NX", "PX", self._pace_ms
        return part.reach(lambda: part.insist(lambda: part.send(*words)) is not None) is not False

    def leave(self, address: str) -> None:
        """Release one request; in an unreachable shard it expires."""
        if not self._at_once:
            return
        part, stay = self._crawl.at_address(address), self._stays[address].pop()
        part.reach(lambda: part.run(lambda pipe: pipe.zrem(self._key(address), stay)))

    def renew(self) -> None:
        """Extend this worker's requests by `lease_s` seconds."""
        ends_at = self._clock() + self._lease_s
        self._stays = {address: stays for address, stays in self._stays.items() if stays}
        by_part: dict[KeySpace, list[str]] = {}
        for address in self._stays:
            by_part.setdefault(self._crawl.at_address(address), []).append(address)

        def prolong(addresses: list[str], pipe: Any) -> None:
            for address in addresses:
                pipe.zadd(self._key(address), dict.fromkeys(self._stays[address], ends_at), xx=True)
                pipe.expire(self._key(address), int(2 * self._lease_s) + 1)

        for part, addresses in by_part.items():
            part.reach(partial(part.run, partial(prolong, addresses)))

    def _key(self, address: str) -> str:
        return self._crawl.at_address(address).key(f"address:{address}")
