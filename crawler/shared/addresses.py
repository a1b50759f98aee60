"""The number of requests at an IP address, counted for all workers of a shared crawl."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from crawler.shared.stored import StoredCrawl

_ENTER = """
local key, now, ends_at = KEYS[1], tonumber(ARGV[1]), ARGV[2]
redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
if redis.call('ZSCORE', key, ARGV[4]) then
  return 1
end
if redis.call('ZCARD', key) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', key, ends_at, ARGV[4])
redis.call('EXPIRE', key, ARGV[5])
return 1
"""


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
        stay, now = uuid4().hex, self._clock()
        values = [now, now + self._lease_s, self._at_once, stay, int(2 * self._lease_s) + 1]
        key = self._key(address)
        is_in = self._crawl.read(lambda pipe: pipe.eval(_ENTER, 1, key, *values))[0]
        if is_in:
            self._stays.setdefault(address, []).append(stay)
        return bool(is_in)

    def leave(self, address: str) -> None:
        """Stop counting one request."""
        if not self._at_once:
            return
        stays = self._stays[address]
        stay = stays.pop()
        if not stays:
            del self._stays[address]
        self._crawl.read(lambda pipe: pipe.zrem(self._key(address), stay))

    def renew(self) -> None:
        """Make the requests of this worker count for another `lease_s` seconds."""
        ends_at = self._clock() + self._lease_s
        if not self._stays:
            return

        def prolong(pipe: Any) -> None:
            for address, stays in self._stays.items():
                pipe.zadd(self._key(address), dict.fromkeys(stays, ends_at), xx=True)
                pipe.expire(self._key(address), int(2 * self._lease_s) + 1)

        self._crawl.read(prolong)

    def _key(self, address: str) -> str:
        return self._crawl.key(f"address:{address}")
