"""The number of requests at an IP address, counted for all workers of a shared crawl."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from crawler.shared.stored import AwayError, StoredCrawl


class SharedOccupancy:
    """Counts the requests of all workers of a crawl, in its Redis server.

    A request of a worker that died stops counting after `lease_s` seconds; a living worker calls
    `renew` more often.
    """

    def __init__(
        self, crawl: StoredCrawl, at_once: int, clock: Callable[[], float], *, lease_s: float
    ) -> None:
        """Allow `at_once` requests at one address, 0: any number; `clock` returns unix seconds."""
        self._crawl = crawl
        self._at_once = at_once
        self._clock = clock
        self._lease_s = lease_s
        self._stays: dict[str, list[str]] = {}

    def enter(self, address: str) -> bool:
        """Count one more request and return True, or return False if the limit is reached."""
        if not self._at_once:
            return True
        key, stay, now = self._key(address), uuid4().hex, self._clock()

        def join(pipe: Any) -> None:
            pipe.zremrangebyscore(key, "-inf", now)
            pipe.zadd(key, {stay: now + self._lease_s}, nx=True)
            pipe.expire(key, int(2 * self._lease_s) + 1)
            pipe.zcard(key)

        try:
            answer = self._crawl.at_address(address).run(join)[-1]
        except AwayError:
            if not self._crawl.may_be_away:
                raise
            return False
        self._stays.setdefault(address, []).append(stay)
        if answer > self._at_once:
            self.leave(address)
            return False
        return True

    def leave(self, address: str) -> None:
        """Stop counting one request."""
        if not self._at_once:
            return
        stay = self._stays[address].pop()
        self._tell(
            self._crawl.at_address(address), lambda pipe: pipe.zrem(self._key(address), stay)
        )

    def renew(self) -> None:
        """Make the requests of this worker count for another `lease_s` seconds."""
        ends_at = self._clock() + self._lease_s
        self._stays = {address: stays for address, stays in self._stays.items() if stays}
        parts = {self._crawl.at_address(address) for address in self._stays} or {self._crawl}

        def prolong(part: StoredCrawl, pipe: Any) -> None:
            for address, stays in self._stays.items():
                if self._crawl.at_address(address) is part:
                    pipe.zadd(self._key(address), dict.fromkeys(stays, ends_at), xx=True)
                    pipe.expire(self._key(address), int(2 * self._lease_s) + 1)

        for part in parts:
            self._tell(part, partial(prolong, part))

    def _tell(self, part: StoredCrawl, ask: Callable[[Any], object]) -> None:
        """Run commands that a part need not get: what it counts ends by itself."""
        try:
            part.run(ask)
        except AwayError:
            if not self._crawl.may_be_away:
                raise

    def _key(self, address: str) -> str:
        return self._crawl.at_address(address).key(f"address:{address}")
