"""A shared crawl in Redis, found by its name: workers, records and counters.

This module needs no rules of the crawl. Only `forget` and `remove` change it.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from classifiers.errors import MissingPackageError
from crawler.errors import CrawlError, SettingError, StorageError, one_line
from crawler.frontier.base import Record
from crawler.page_row import URL_COLUMNS, checked_values, fault_of
from crawler.shared.packing import unpacked
from crawler.url import fingerprint

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound="StoredCrawl")

_LONGEST_PAUSE_S = 1.0
_KEYS_A_CALL = 1000
# Errors of a server without memory or disk; it refuses a script before the script begins.
_REFUSALS = ("OOM", "MISCONF", "command not allowed when used memory")
# Errors of our scripts: keys of the crawl have vanished, or all of them.
_LOST = ("LOST", "GONE")
# Errors of a server that will answer later: it is running another script, or a cluster is changing.
_LATER = ("BUSY ", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN")


def connect(url: str, *, timeout_s: float = 10.0) -> "Redis":
    """Return a client for `redis://host:port/0`, `rediss://...` or `unix:///path`.

    Sends nothing to the server yet. If an answer takes longer than `timeout_s`, the connection
    counts as lost. Raises `SettingError` for another address, and if a package is missing.
    """
    try:
        import msgpack  # noqa: F401  # `packing` needs it
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        package = (error.name or "redis").partition(".")[0]
        raise SettingError(f"a shared frontier: {MissingPackageError(package, 'redis')}") from error

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
    """A settled URL in the stream of its worker.

    `id` is that of the stream's entry. `number` is 1, 2, 3, ... in the order in which all workers
    together settled URLs. `parent` is the URL of the page that linked to it first, None for seeds.
    `queued` is the number of queued URLs of the whole crawl after it was settled.
    """

    id: str
    number: int
    fingerprint: int
    url: str
    host: str
    parent: str | None
    depth: int
    score: float
    reasons: str | None
    queued: int
    record: Record


class Records(NamedTuple):
    """Records of a worker in the order of its stream, and the ids of all its entries."""

    settled: list[Settled]
    ids: list[str]


class RefusedError(StorageError):
    """Redis does not allow a call, or holds something else in the keys of the crawl."""


def reads_crawl(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """Return a method that raises `RefusedError` if it reads a value that no crawl writes."""

    @wraps(method)
    def checked(crawl: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(crawl, *args, **kwargs)
        except CrawlError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise crawl.refusal(error) from error

    return checked


class StoredCrawl:
    """Reads a crawl; `crawler.shared.redis.RedisFrontier` adds to it."""

    def __init__(
        self,
        client: "Redis",
        crawl: str,
        *,
        wait_s: float = 5.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read the crawl with that name; `client` comes from `connect`.

        A server that cannot be reached is tried again for `wait_s` seconds, while the calling
        thread sleeps with `sleep`; then `StorageError` is raised.
        """
        import redis

        self._client = client
        self._prefix = f"{{{_checked_name(crawl)}}}:"
        self._wait_s = wait_s
        self._sleep = sleep
        self.is_lost = False
        self._unreachable = (redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError)
        self._denied = redis.AuthenticationError
        self._loading = redis.BusyLoadingError
        self._read_only = redis.ReadOnlyError
        self._unknown_script = redis.exceptions.NoScriptError
        self._refused = redis.ResponseError

    def exists(self) -> bool:
        """Return True if Redis has a crawl with that name."""
        return bool(self.read(lambda pipe: pipe.exists(self.key("rules")))[0])

    @reads_crawl
    def workers(self) -> list[str]:
        """Return the names of all workers that ever joined; each may have left records."""
        return sorted(self.read(lambda pipe: pipe.smembers(self.key("workers")))[0])

    def records(self, worker: str, number: int = 1000, *, after: str | None = None) -> Records:
        """Return up to `number` of the oldest records of a worker, those `after` an id.

        Raises `RefusedError` for an entry that no worker writes.
        """
        key = self.key(f"records:{worker}")
        first = "-" if after is None else f"({after}"
        entries = self._insist(lambda: self._raw_entries(key, first, number))
        records = Records([], [entry.decode() for entry, _ in entries])
        for entry, values in entries:
            try:
                records.settled.append(_settled(entry.decode(), values))
            except Exception as error:
                reason = str(error) or type(error).__name__
                raise self.refusal(f"record {entry.decode()} of {worker}: {reason}") from error
        return records

    def _raw_entries(
        self, key: str, first: str, number: int
    ) -> list[tuple[bytes, dict[bytes, bytes]]]:
        """Return entries of a stream as bytes: one damaged text must not hide the others."""
        words = ("XRANGE", key, first, "+", "COUNT", number)
        ask: Callable[..., Any] = self._client.execute_command
        return list(ask(*words, NEVER_DECODE=True))

    def queued_urls(self) -> Iterator[tuple[str, str]]:
        """Yield fingerprint and URL of the queued and leased URLs; a few may come twice.

        A URL that is queued meanwhile may be missing.
        """
        ask: Callable[..., Any] = self._client.execute_command
        words, cursor = ("HSCAN", self.key("urls")), b"0"
        while True:
            scan = partial(ask, *words, cursor, "COUNT", _KEYS_A_CALL, NEVER_DECODE=True)
            cursor, pairs = self._insist(scan)
            for key, packed in pairs.items():
                url = unpacked(packed)[0]
                yield key.decode(), url.decode("utf-8", "surrogatepass")
            if int(cursor) == 0:
                return

    def forget(self, ids: Sequence[str], worker: str) -> None:
        """Delete records that are stored elsewhere; a second call is harmless."""
        if ids:
            key = self.key(f"records:{worker}")
            self.read(lambda pipe: pipe.xdel(key, *ids))

    @reads_crawl
    def worker_counts(self, worker: str) -> dict[str, int]:
        """Return the counters of a worker, by their names in a run's `counts`."""
        return _numbers(self.read(lambda pipe: pipe.hgetall(self.key(f"counts:{worker}")))[0])

    @reads_crawl
    def totals(self) -> dict[str, int]:
        """Return every counter of the crawl by its name, summed over the workers.

        `queued` includes the URLs that are `leased`; `settled` is the number of the last record.
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

    @reads_crawl
    def time(self) -> float:
        """Return the time of the server, unix seconds."""
        seconds, microseconds = self.read(lambda pipe: pipe.time())[0]
        return float(seconds) + float(microseconds) / 1e6

    @reads_crawl
    def crawl_time(self) -> float:
        """Return the time of the crawl: that of the server, or of the latest call if it is later.

        It is later if the clock of the server was set back.
        """
        latest = self.read(lambda pipe: pipe.get(self.key("clock")))[0]
        return max(self.time(), float(latest or "-inf"))

    def remove(self) -> None:
        """Delete the crawl."""
        pattern = re.sub(r"([\\*?\[\]])", r"\\\1", self._prefix) + "*"
        cursor = -1
        while cursor:
            at = max(cursor, 0)
            cursor, keys = self.read(lambda pipe: pipe.scan(at, pattern, _KEYS_A_CALL))[0]  # noqa: B023  # called at once
            if keys:
                self.read(lambda pipe: pipe.unlink(*keys))  # noqa: B023  # called at once

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # Calls.

    def read(self, ask: Callable[[Any], object]) -> list[Any]:
        """Run commands that may run twice without harm; return their answers."""

        def do() -> list[Any]:
            with self._client.pipeline(transaction=True) as pipe:
                ask(pipe)
                return list(pipe.execute())

        return self._insist(do)

    def _insist(self, do: Callable[[], T]) -> T:
        try:
            return self._until_done(do)
        except RefusedError:
            raise
        except StorageError:
            # After one failed wait, the next call does not wait.
            self._wait_s = 0.0
            raise

    def _until_done(self, do: Callable[[], T]) -> T:
        waited_s, pause_s = 0.0, 0.05
        while True:
            began = time.monotonic()
            try:
                return do()
            except self._denied as error:
                raise SettingError(f"Redis refuses the user or password: {error}") from error
            except self._unreachable as error:
                waited_s += time.monotonic() - began
                self._check_patience(waited_s, error)
                if isinstance(error, self._read_only):
                    self._client.connection_pool.disconnect()  # the name may have a new address
            except self._refused as error:
                if str(error).startswith(_LOST):
                    self.is_lost = True
                    raise StorageError(self._loss(str(error))) from error
                if str(error).startswith(_REFUSALS):
                    raise StorageError(f"Redis cannot store more: {error}") from error
                if not str(error).startswith(_LATER):
                    raise self.refusal(error) from error
                self._check_patience(waited_s, error)
            self._sleep(pause_s)
            waited_s += pause_s
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _loss(self, told: str) -> str:
        _, _, part = told.partition(" ")
        told = f"keys ({one_line(part)}) were deleted from" if part else "nothing is kept of"
        return (
            f"{told} this crawl, {self._prefix[1:-2]}, in Redis; merge the folders of its workers "
            "and begin another crawl (LANGFOCUS_CRAWL)"
        )

    def refusal(self, error: object) -> RefusedError:
        """Return the error for a call that Redis refused, or for a value that no crawl writes."""
        return RefusedError(
            f"Redis refuses a call of the crawl {self._prefix[1:-2]}, or another program wrote to "
            f"its keys ({one_line(str(error))[:200]}); merge the folders of its workers and begin "
            "another crawl (LANGFOCUS_CRAWL)"
        )

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if waited_s >= self._wait_s and not isinstance(error, self._loading):
            raise StorageError(
                f"Redis could not be reached for {waited_s:.0f} s: {error}"
            ) from error

    def key(self, name: str) -> str:
        """Return the crawl's key with that name."""
        return self._prefix + name


def _checked_name(crawl: str) -> str:
    if not crawl or "{" in crawl or "}" in crawl:
        raise SettingError(f"the name of a crawl must not be empty or contain braces: {crawl!r}")
    return crawl


def _numbers(counts: Mapping[str, str]) -> dict[str, int]:
    return {name: int(number) for name, number in counts.items() if number != "0"}


def _settled(entry: str, fields: Mapping[bytes, bytes]) -> Settled:
    """Return the record of an entry; raises an error for a missing or invalid value."""
    told = {name.decode(): value.decode("utf-8", "surrogatepass") for name, value in fields.items()}
    row = json.loads(told["row"])
    record = Record(**row.pop("record"))
    settled = Settled(entry, int(told["number"]), queued=int(told["queued"]), record=record, **row)
    values = {name: getattr(settled, name) for name in URL_COLUMNS}
    fault = fault_of({"id": settled.number, "queued": settled.queued, **values})
    if fault:
        raise ValueError(fault)
    checked_values(record)
    if settled.fingerprint != fingerprint(settled.url):
        raise ValueError(f"its fingerprint is not that of {settled.url!r:.60}")
    return settled
