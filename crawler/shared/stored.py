"""A shared crawl in Redis, found by its name: workers, records and counters.

This module needs no rules of the crawl. Only `forget` and `remove` change it.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

from langfocus.crawler.errors import CrawlError, SettingError, StorageError, one_line
from langfocus.crawler.frontier.base import Counts, HostStates
from langfocus.crawler.run.page_row import check_page
from langfocus.crawler.shared.packing import unpacked

if TYPE_CHECKING:
    from redis import Redis
    from redis.cluster import RedisCluster

Client = Union["Redis", "RedisCluster"]
T = TypeVar("T")
Question = tuple[Callable[..., T], Callable[[Any], object]]
"""What makes a value of the answers to commands, and what puts the commands into a pipeline."""

_LONGEST_PAUSE_S = 1.0
_KEYS_A_CALL = 1000
# Errors of a server without memory or disk; it refuses a script before the script begins.
_REFUSALS = ("OOM", "MISCONF", "command not allowed when used memory")
# Errors of our script: a key of the crawl is not what it wrote, or all keys are gone.
_LOST = ("LOST", "GONE")
_CLUSTER = "+cluster://"
_ADVICE = "merge the folders of its workers and begin another crawl (LANGFOCUS_CRAWL)"


def connect(url: str, *, timeout_s: float = 10.0) -> "Client":
    """Return a client for `redis://host:port/0`, `rediss://...` or `unix:///path`.

    `redis+cluster://host:port,host:port` (`rediss+cluster://...`) names some servers of a Redis
    Cluster, of which one must answer. Other addresses send nothing to the server yet. If an answer
    takes longer than `timeout_s`, the connection counts as lost. Raises `SettingError` for another
    address.
    """
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    options: dict[str, Any] = {
        "protocol": 2,
        "decode_responses": True,
        "encoding_errors": "surrogatepass",
        "socket_timeout": timeout_s,
        "socket_connect_timeout": min(timeout_s, 5.0),
    }
    retry = Retry(NoBackoff(), 0)
    try:
        if _CLUSTER in url:
            return _cluster(url, options)
        return redis.Redis.from_url(url, retry=retry, **options)
    except ValueError as error:
        raise SettingError(f"{url!r} is not the address of a Redis server: {error}") from error


def _cluster(url: str, options: Mapping[str, Any]) -> "RedisCluster":
    """Return a client that knows which server has which slot; `StoredCrawl` sends the commands."""
    from redis import connection
    from redis.cluster import ClusterNode, RedisCluster
    from redis.exceptions import RedisClusterException, RedisError

    scheme, _, rest = url.partition(_CLUSTER)
    parse: Callable[[str], dict[str, Any]] = connection.parse_url
    told = [parse(f"{scheme}://{each}") for each in rest.split(",")]
    node: Callable[..., Any] = ClusterNode
    nodes = [node(one.get("host", "localhost"), one.get("port", 6379)) for one in told]
    kept: dict[str, Any] = {
        name: told[0][name] for name in ("username", "password") if name in told[0]
    }
    kept["ssl"] = scheme == "rediss"
    try:
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options, **kept)
    except (RedisClusterException, RedisError) as error:
        told_by = one_line(str(error))
        raise StorageError(f"no server of the Redis Cluster {rest} answers: {told_by}") from error


class Settled(NamedTuple):
    """A settled URL in the stream of its worker: the id of the entry, and the row of `pages`.

    The row's `id` is 1, 2, 3, ... in the order in which all workers together settled URLs.
    """

    entry: str
    row: dict[str, Any]


class AwayError(StorageError):
    """The server of a crawl, or of some of its keys, could not be reached for some time."""


class RefusedError(StorageError):
    """Redis does not allow a call, or holds something else in the keys of the crawl."""


class StoredCrawl:
    """Reads a crawl; `crawler.shared.redis.RedisFrontier` adds to it.

    A method that reads a value that no crawl writes raises `RefusedError`. `ask_counts` and others
    return a `Question`, so that all shards of a server can be asked at once.
    """

    def __init__(
        self,
        client: "Client",
        crawl: str,
        *,
        wait_s: float = 5.0,
        sleep: Callable[[float], None] = time.sleep,
        shard: tuple[int, int] | None = None,
    ) -> None:
        """Read the crawl with that name; `client` comes from `connect`.

        `shard` is one of so many: its number from 0, and how many there are; None: the whole crawl,
        or what is common to its shards.

        A server that cannot be reached is tried again for `wait_s` seconds, while the calling
        thread sleeps with `sleep`; then `StorageError` is raised.
        """
        import redis

        if not crawl or "{" in crawl or "}" in crawl:
            told = f"the name of a crawl must not be empty or contain braces: {crawl!r}"
            raise SettingError(told)
        self.crawl = crawl
        self._client: Any = client
        self.place, self._places = shard or (0, 1)
        self._prefix = f"{{{crawl}}}:" if shard is None else f"{{{crawl}/{shard[0]:02d}}}:"
        self._wait_s = wait_s
        self._sleep = sleep
        self._losses: list[str] = []
        self._is_cluster = hasattr(client, "nodes_manager")
        self._errors = errors = redis.exceptions
        self._unreachable: tuple[type[Exception], ...] = (
            *(errors.ConnectionError, errors.TimeoutError, errors.ReadOnlyError),
            errors.RedisClusterException,
        )
        # A server will answer later: a cluster is changing. Keys that are on their way to another
        # server (ASK) are waited for, because a script needs all keys of its slot in one place.
        self._changing: tuple[type[Exception], ...] = (
            *(errors.ClusterDownError, errors.TryAgainError, errors.AskError),
        )
        self._connection: Any = None

    @property
    def is_lost(self) -> bool:
        """True if the server was found to have lost the crawl."""
        return bool(self._losses)

    @property
    def is_away(self) -> bool:
        """True for a part that could not be reached a moment ago."""
        return False

    def exists(self) -> bool:
        """Return True if Redis has a crawl with that name."""
        return self.read(*self.ask_existence())

    def ask_existence(self) -> Question[bool]:
        return bool, lambda pipe: pipe.exists(self.key("rules"))

    def workers(self) -> list[str]:
        """Return the names of all workers that ever joined; each may have left records."""
        return self.read(sorted, lambda pipe: pipe.smembers(self.key("workers")))

    def records(self, worker: str, number: int = 1000, *, after: str = "") -> list[Settled]:
        """Return up to `number` of the oldest records of a worker, those `after` an entry."""
        key, first = self.key(f"records:{worker}"), f"({after}" if after else "-"
        return self.read(
            lambda entries: [self._settled(*each) for each in entries],
            lambda pipe: pipe.xrange(key, first, "+", number),
        )

    def queued_urls(self) -> Iterator[tuple[str, str]]:
        """Yield fingerprint and URL of the queued and leased URLs; a few may come twice.

        A URL that is queued meanwhile may be missing.
        """
        words, cursor = ("HSCAN", self.key("urls")), b"0"
        while True:
            scan = partial(self._bytes, *words, cursor, "COUNT", _KEYS_A_CALL)
            with self._reading():
                cursor, pairs = self._insist(scan)
                urls = {key.decode(): unpacked(row)[0] for key, row in pairs.items()}
            for key, url in urls.items():
                yield key, url.decode("utf-8", "surrogatepass")
            if int(cursor) == 0:
                return

    def forget(self, entries: Sequence[str], worker: str) -> None:
        """Delete records that are stored elsewhere; a second call is harmless."""
        if entries:
            key = self.key(f"records:{worker}")
            self.run(lambda pipe: pipe.xdel(key, *entries))

    def worker_counts(self, worker: str) -> Counter[str]:
        """Return the counters of a worker, by their names in a run's `counts`."""
        return self.read(*self.ask_worker_counts(worker))

    def ask_worker_counts(self, worker: str) -> Question[Counter[str]]:
        return _numbers, lambda pipe: pipe.hgetall(self.key(f"counts:{worker}"))

    def totals(self) -> Counter[str]:
        """Return every counter of the crawl by its name, summed over the workers.

        `queued` includes the URLs that are `leased`; `settled` is the number of the last record.
        """
        keys = [self.key("counts"), *(self.key(f"counts:{name}") for name in self.workers())]

        def ask(pipe: Any) -> None:
            pipe.zcard(self.key("leases"))
            for key in keys:
                pipe.hgetall(key)

        return self.read(
            lambda leased, *counts: sum(map(_numbers, counts), Counter(leased=leased)), ask
        )

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages of all workers.

        Links on their way to other shards count as queued.
        """
        return self.read(*self.ask_counts())

    def ask_counts(self) -> Question[Counts]:
        names = ("hosts", "pages", "labelled", "relevant", "queued", "outbox")

        def counts(numbers: Sequence[str | None], leased: int) -> Counts:
            hosts, pages, labelled, relevant, *queued = (int(number or 0) for number in numbers)
            return Counts(sum(queued) - leased, leased, hosts, pages, labelled, relevant)

        def ask(pipe: Any) -> None:
            pipe.hmget(self.key("counts"), names)
            pipe.zcard(self.key("leases"))

        return counts, ask

    def host_states(self) -> HostStates:
        """Return the numbers of hosts of the whole crawl; some that are not ready may count so."""
        return self.read(*self.ask_host_states())

    def ask_host_states(self) -> Question[HostStates]:
        def ask(pipe: Any) -> None:
            for name in ("ready", "resting", "leases"):
                pipe.zcard(self.key(name))
            pipe.hget(self.key("counts"), "full_hosts")

        return lambda *found: HostStates(*(int(each or 0) for each in found)), ask

    def time(self) -> float:
        """Return the time of the server, unix seconds."""
        return self.read(lambda at: float(at[0] + at[1] / 1e6), lambda pipe: pipe.time())

    def crawl_time(self) -> float:
        """Return the time of the crawl: that of the server, or of the latest call if it is later.

        It is later if the clock of the server was set back.
        """
        key = self.key("clock")
        latest = self.read(lambda at: float(at or "-inf"), lambda pipe: pipe.get(key))
        return max(self.time(), latest)

    def remove(self) -> None:
        """Delete the crawl."""
        pattern = re.sub(r"([\\*?\[\]])", r"\\\1", self._prefix) + "*"
        keys = self._insist(lambda: list(self.server().scan_iter(pattern, _KEYS_A_CALL)))
        if keys:
            self.run(lambda pipe: pipe.unlink(*keys))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # Calls.

    def server(self) -> Any:
        """Return a client for the server that has the keys of the crawl, or of the shard."""
        if not self._is_cluster:
            return self._client
        node = self._client.get_node_from_key(self._prefix)
        return self._client.get_redis_connection(node)

    def _servers(self) -> list[Any]:
        """Return clients for all servers that may have keys of the crawl."""
        if not self._is_cluster:
            return [self._client]
        return [self._client.get_redis_connection(node) for node in self._client.get_primaries()]

    def _bytes(self, *words: str | bytes | int) -> Any:
        """Return the answer to a command as bytes."""
        return self.server().execute_command(*words, NEVER_DECODE=True)

    def _find_server(self) -> None:
        """Ask a cluster again which server has the keys."""
        if not self._is_cluster:
            return
        if self._connection is not None:
            self._connection.disconnect()
            self._connection = None
        # While no server of the cluster answers, the old table stays.
        with suppress(self._errors.RedisError, self._errors.RedisClusterException):
            self._client.nodes_manager.initialize()

    def run(self, ask: Callable[[Any], object]) -> list[Any]:
        """Run commands that may run twice without harm; return their answers."""

        def do() -> list[Any]:
            with self.server().pipeline(transaction=True) as pipe:
                ask(pipe)
                return list(pipe.execute())

        return self._insist(do)

    def read(self, made: Callable[..., T], ask: Callable[[Any], object]) -> T:
        """Run commands that change nothing; return what `made` makes of their answers."""
        with self._reading():
            return made(*self.run(ask))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise `RefusedError` for a value that no crawl writes."""
        try:
            yield
        except CrawlError:
            raise
        except Exception as error:
            raise self._refusal(f"{type(error).__name__}: {error}") from error

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
        waited_s, pause_s, errors = 0.0, 0.05, self._errors
        while True:
            began = time.monotonic()
            try:
                return do()
            except errors.AuthenticationError as error:
                raise SettingError(f"Redis refuses the user or password: {error}") from error
            except self._unreachable as error:
                waited_s += time.monotonic() - began
                self._find_server()
                self._check_patience(waited_s, error)
                if isinstance(error, errors.ReadOnlyError):
                    self._client.connection_pool.disconnect()  # the name may have a new address
            except errors.ResponseError as error:
                if str(error).startswith(_LOST):
                    self._losses.append(str(error))
                    raise StorageError(self._loss(str(error))) from error
                if str(error).startswith(_REFUSALS):
                    raise StorageError(f"Redis cannot store more: {error}") from error
                if not (isinstance(error, self._changing) or str(error).startswith("BUSY ")):
                    raise self._refusal(error) from error
                self._find_server()
                self._check_patience(waited_s, error)
            self._sleep(pause_s)
            waited_s += pause_s
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _loss(self, told: str) -> str:
        _, _, part = told.partition(" ")
        told = f"keys ({one_line(part)}) were changed of" if part else "nothing is kept of"
        return f"{told} this crawl, {self.crawl}, in Redis; {_ADVICE}"

    def _refusal(self, error: object) -> RefusedError:
        """Return the error for a call that Redis refused, or for a value that no crawl writes."""
        return RefusedError(
            f"Redis refuses a call of the crawl {self.crawl}, or another program wrote to its keys "
            f"({one_line(str(error))[:200]}); {_ADVICE}"
        )

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if waited_s >= self._wait_s and not isinstance(error, self._errors.BusyLoadingError):
            raise AwayError(f"Redis could not be reached for {waited_s:.0f} s: {error}") from error

    def _settled(self, entry: str, fields: Mapping[str, str]) -> Settled:
        """Return the record of an entry; raises an error for a missing or invalid value.

        A shard's records have every so-many-th number, so that no number comes twice.
        """
        row = json.loads(fields["row"])
        number = (int(fields["number"]) - 1) * self._places + self.place + 1
        row |= {"id": number, "queued": int(fields["queued"])}
        check_page(row)
        return Settled(entry, row)

    def reach(self, do: Callable[[], T], away: T | None = None) -> T | None:
        """Return the answer of a part of the crawl, `away` if it need not answer now."""
        return do()

    def at_address(self, address: str) -> "StoredCrawl":
        """Return the part of the crawl that counts the requests at an address."""
        return self

    def key(self, name: str) -> str:
        """Return the crawl's key with that name."""
        return self._prefix + name


def _numbers(counts: Mapping[str, str]) -> Counter[str]:
    return Counter({name: int(number) for name, number in counts.items() if number != "0"})
