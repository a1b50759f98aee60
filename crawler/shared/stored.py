"""A crawl as Redis keeps it: what its workers left behind, for whoever knows its name.

Nothing here needs to know how the crawl was run, and nothing but `forget` and `remove` changes it.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.errors import SettingError, StorageError
from crawler.frontier.base import Record

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_LONGEST_PAUSE_S = 1.0
_KEYS_A_CALL = 1000
# A server without memory or disk refuses writes before a script begins.
_REFUSALS = ("OOM", "MISCONF", "GONE", "command not allowed when used memory")
# A server that is there and will answer: it runs another script, or a cluster changes.
_LATER = ("BUSY ", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN")


def connect(url: str, *, timeout_s: float = 10.0) -> "Redis":
    """Return a client for `redis://host:port/0`, `rediss://...` or `unix:///path`.

    Nothing is asked of the server yet. An answer that takes longer than `timeout_s` counts as a
    lost connection.
    """
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise SettingError(
            "a shared frontier needs a package more: pip install 'langfocus[redis]'"
        ) from error

    try:
        return redis.Redis.from_url(
            url,
            protocol=2,
            decode_responses=True,
            encoding_errors="surrogatepass",
            socket_timeout=timeout_s,
            socket_connect_timeout=min(timeout_s, 5.0),
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise SettingError(f"{url!r} is not the address of a Redis server: {error}") from error


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled URL as the stream of its worker keeps it. `id` grows with the time of settling.

    `number` is 1, 2, 3, ... in the order in which all workers together settled URLs. `parent` is
    the URL of the page that linked to it first, None for seeds; `queued` is how many URLs waited
    after it, in the whole crawl.
    """

    id: str
    number: int
    fingerprint: int
    url: str
    host: str
    parent: str | None
    depth: int
    score: float
    queued: int
    record: Record


class StoredCrawl:
    """What there is of a crawl: see `crawler.shared.redis` for the one that adds to it."""

    def __init__(
        self,
        client: "Redis",
        crawl: str,
        *,
        wait_s: float = 5.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Look at the crawl of that name; `client` comes from `connect`.

        A server that cannot be reached is tried for `wait_s` seconds, in which the calling thread
        sleeps, then `StorageError` is raised.
        """
        import redis

        self._client = client
        self._prefix = f"{{{_checked_name(crawl)}}}:"
        self._wait_s = wait_s
        self._sleep = sleep
        self._unreachable = (redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError)
        self._denied = redis.AuthenticationError
        self._loading = redis.BusyLoadingError
        self._read_only = redis.ReadOnlyError
        self._unknown_script = redis.exceptions.NoScriptError
        self._refused = redis.ResponseError

    def exists(self) -> bool:
        """Tell whether a crawl of that name was begun."""
        return bool(self.read(lambda pipe: pipe.exists(self.key("rules")))[0])

    def workers(self) -> list[str]:
        """Return the names of all workers that ever joined: those that may have left records."""
        return sorted(self.read(lambda pipe: pipe.smembers(self.key("workers")))[0])

    def settled(
        self, worker: str, number: int = 1000, *, after: str | None = None
    ) -> list[Settled]:
        """Return the oldest records of a worker that were not forgotten, `after` an id."""
        key = self.key(f"records:{worker}")
        first = "-" if after is None else f"({after}"
        entries = self.read(lambda pipe: pipe.xrange(key, first, count=number))[0]
        return [_settled(entry, fields) for entry, fields in entries]

    def forget(self, settled: Sequence[Settled], worker: str) -> None:
        """Let go of records that were written down elsewhere; doing so twice is harmless."""
        if settled:
            key = self.key(f"records:{worker}")
            self.read(lambda pipe: pipe.xdel(key, *(entry.id for entry in settled)))

    def worker_counts(self, worker: str) -> dict[str, int]:
        """Return what a worker counted, by the names that a run's `counts` have."""
        return _numbers(self.read(lambda pipe: pipe.hgetall(self.key(f"counts:{worker}")))[0])

    def totals(self) -> dict[str, int]:
        """Return every counter of the crawl by its name, summed over the workers.

        `queued` includes what is `leased`; `settled` is the number of the last record.
        """
        keys = [self.key(f"counts:{worker}") for worker in self.workers()]
        leased, *counts = self.read(
            lambda pipe: (
                pipe.zcard(self.key("leases")),
                *(pipe.hgetall(key) for key in [self.key("counts"), *keys]),
            )
        )
        totals = {"leased": int(leased)}
        for numbers in map(_numbers, counts):
            for name, number in numbers.items():
                totals[name] = totals.get(name, 0) + number
        return totals

    def remove(self) -> None:
        """Delete all that is kept of the crawl."""
        pattern = re.sub(r"([\\*?\[\]])", r"\\\1", self._prefix) + "*"
        cursor = -1
        while cursor:
            at = max(cursor, 0)
            cursor, keys = self.read(lambda pipe: pipe.scan(at, pattern, _KEYS_A_CALL))[0]  # noqa: B023  # called at once
            if keys:
                self.read(lambda pipe: pipe.unlink(*keys))  # noqa: B023  # called at once

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    # Calls.

    def read(self, ask: Callable[[Any], object]) -> list[Any]:
        """Do what may be done twice without harm."""

        def do() -> list[Any]:
            with self._client.pipeline(transaction=True) as pipe:
                ask(pipe)
                return list(pipe.execute())

        return self._insist(do)

    def _insist(self, do: Callable[[], T]) -> T:
        try:
            return self._until_done(do)
        except StorageError:
            # Nobody waits a second time for what was given up.
            self._wait_s = 0.0
            raise

    def _until_done(self, do: Callable[[], T]) -> T:
        waited_s, pause_s = 0.0, 0.05
        while True:
            began = time.monotonic()
            try:
                return do()
            except self._denied as error:
                raise SettingError(f"Redis lets nobody in with this address: {error}") from error
            except self._unreachable as error:
                waited_s += time.monotonic() - began
                self._check_patience(waited_s, error)
                if isinstance(error, self._read_only):
                    self._client.connection_pool.disconnect()  # its name may lead elsewhere now
            except self._refused as error:
                if str(error).startswith(_REFUSALS):
                    raise StorageError(f"Redis takes nothing any more: {error}") from error
                if not str(error).startswith(_LATER):
                    raise
                self._check_patience(waited_s, error)
            self._sleep(pause_s)
            waited_s += pause_s
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if waited_s >= self._wait_s and not isinstance(error, self._loading):
            raise StorageError(
                f"Redis could not be reached for {waited_s:.0f} s: {error}"
            ) from error

    def key(self, name: str) -> str:
        """Return the key of that name among those of the crawl."""
        return self._prefix + name


def _checked_name(crawl: str) -> str:
    if not crawl or "{" in crawl or "}" in crawl:
        raise SettingError(f"the name of a crawl is some characters without braces, not {crawl!r}")
    return crawl


def _numbers(counts: Mapping[str, str]) -> dict[str, int]:
    return {name: int(number) for name, number in counts.items()}


def _settled(entry: str, fields: Mapping[str, str]) -> Settled:
    row = json.loads(fields["row"])
    record = Record(**row.pop("record"))
    return Settled(entry, int(fields["number"]), queued=int(fields["queued"]), record=record, **row)
