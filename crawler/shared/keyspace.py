"""Redis keys of a shared crawl, or of a single shard, and their server."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, Union
from zlib import crc32

from langfocus.crawler.errors import CrawlError, SettingError, StorageError, one_line
from langfocus.crawler.frontier.base import KnownUrlError, LeaseError
from langfocus.crawler.url import domain_of

if TYPE_CHECKING:
    from redis import Redis
    from redis.cluster import RedisCluster

Client = Union["Redis", "RedisCluster"]
T = TypeVar("T")

_LONGEST_PAUSE_S: Final = 1.0
# Errors of a server without memory or disk, which refuses a script before the script begins.
_REFUSALS: Final = ("OOM", "MISCONF", "command not allowed when used memory")
# Errors of our script: a key of the crawl was overwritten, or all keys are gone.
_LOST: Final = ("LOST", "GONE")
_CLUSTER: Final = "+cluster://"
_ADVICE: Final = "merge the folders of its workers and begin another crawl (LANGFOCUS_CRAWL)"
_SHORTEST_REST_S: Final = 0.05
_LONGEST_REST_S: Final = 5.0


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
    """Return a client with the cluster's slot map; `KeySpace` sends the commands."""
    from redis import connection
    from redis.cluster import ClusterNode, RedisCluster
    from redis.exceptions import RedisClusterException, RedisError

    scheme, _, rest = url.partition(_CLUSTER)
    parse: Callable[[str], dict[str, Any]] = connection.parse_url
    parsed = [parse(f"{scheme}://{each}") for each in rest.split(",")]
    node: Callable[..., Any] = ClusterNode
    nodes = [node(one.get("host", "localhost"), one.get("port", 6379)) for one in parsed]
    login: dict[str, Any] = {
        name: parsed[0][name] for name in ("username", "password") if name in parsed[0]
    }
    login["ssl"] = scheme == "rediss"
    try:
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options, **login)
    except (RedisClusterException, RedisError) as error:
        fault = one_line(str(error))
        raise StorageError(f"no server of the Redis Cluster {rest} answers: {fault}") from error


def shard_of(host: str, shards: int) -> int:
    """Return the number of a host's shard: its registered domain decides."""
    return crc32(domain_of(host).encode("utf-8", "surrogatepass")) % shards


class AwayError(StorageError):
    """The server of a crawl, or of some of its keys, was unreachable for some time."""


class RefusedError(StorageError):
    """Redis does not allow a call, or holds something else in the keys of the crawl."""


class KeySpace:
    """The keys with one prefix, on one Redis server or one node of a Redis Cluster.

    A server that cannot be reached is tried again for `wait_s` seconds, while the calling thread
    sleeps with `sleep`; then `AwayError` is raised. After `rest_for` no call waits: it raises
    `AwayError` at once, and the server is not asked again for a moment.
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
        """Use the keys of a crawl, or of a `shard`: (number from 0, number of shards)."""
        import redis

        if not crawl or "{" in crawl or "}" in crawl:
            fault = f"the name of a crawl must not be empty or contain braces: {crawl!r}"
            raise SettingError(fault)
        self.client: Any = client
        self.crawl, self.wait_s = crawl, wait_s
        self.place, self.shards = shard or (0, 1)
        self.prefix = f"{{{crawl}}}:" if shard is None else f"{{{crawl}/{shard[0]:02d}}}:"
        self.losses: list[str] = []  # the script's reports of lost keys, of all shards
        self._sleep = sleep
        self._is_cluster = hasattr(client, "nodes_manager")
        self.errors = errors = redis.exceptions
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
        self.late: list[Callable[[], object]] = []  # calls that wait for the server
        self._most_away_s: float | None = None
        self._away_since: float | None = None
        self._rests_until = 0.0

    def rest_for(self, most_away_s: float) -> None:
        """Rest from now on; after so many seconds without an answer raise `StorageError`."""
        self._most_away_s = most_away_s

    def shard(self, place: int, shards: int) -> "KeySpace":
        """Return a shard's keys."""
        how: Any = {"wait_s": self.wait_s, "sleep": self._sleep, "shard": (place, shards)}
        shard = KeySpace(self.client, self.crawl, **how)
        shard.losses = self.losses
        return shard

    def key(self, name: str) -> str:
        """Return the full name of a key."""
        return self.prefix + name

    @property
    def is_away(self) -> bool:
        """True if the server is not asked now, or if calls wait for it."""
        return self._away_since is not None or bool(self.late)

    def reach(
        self, do: Callable[[], T], away: T | None = None, *, is_late: bool = False
    ) -> T | None:
        """Make the late calls, then return what `do` returns.

        After `rest_for`, return `away` while the server is away. With `is_late`, `do` is then
        called when the server is back.
        """
        try:
            while self.late:
                with suppress(LeaseError, KnownUrlError):  # it was done, or the lease has ended
                    self.late[0]()
                del self.late[0]
            return do()
        except AwayError:
            if self._most_away_s is None:
                raise
            if is_late:
                self.late.append(do)
            return away

    # Servers.

    def server(self) -> Any:
        """Return a client for the server that holds the keys."""
        if not self._is_cluster:
            return self.client
        node = self.client.get_node_from_key(self.prefix)
        return self.client.get_redis_connection(node)

    def servers(self) -> list[Any]:
        """Return clients for all servers with keys of the crawl."""
        if not self._is_cluster:
            return [self.client]
        return [self.client.get_redis_connection(node) for node in self.client.get_primaries()]

    def _find_server(self) -> None:
        """Refresh the server of the keys from the cluster."""
        if not self._is_cluster:
            return
        if self._connection is not None:
            self._connection.disconnect()
            self._connection = None
        # While no server of the cluster answers, the old table stays.
        with suppress(self.errors.RedisError, self.errors.RedisClusterException):
            self.client.nodes_manager.initialize()

    # Commands.

    def send(self, *words: str | bytes | int) -> Any:
        """Run one command on this thread's own connection."""
        return self.send_all([words])[0]

    def send_all(self, commands: Sequence[Sequence[str | bytes | int]], **how: bool) -> list[Any]:
        """Run commands on this thread's own connection, in one round trip.

        A pool connection per call, as in `execute_command`, costs a tenth of the links/s and a
        quarter of the pops/s.
        """
        if self._connection is None:
            self._connection = self.server().connection_pool.get_connection()
        self._connection.send_packed_command(self._connection.pack_commands(commands))
        try:
            return [self._connection.read_response(**how) for _ in commands]
        except self.errors.ResponseError:
            self._connection.disconnect()  # with the answers behind the error
            raise

    def run(self, ask: Callable[[Any], object]) -> list[Any]:
        """Run commands that may run twice without harm; return their answers."""

        def do() -> list[Any]:
            with self.server().pipeline(transaction=True) as pipe:
                ask(pipe)
                return list(pipe.execute())

        return self.insist(do)

    def read(self, made: Callable[..., T], ask: Callable[[Any], object]) -> T:
        """Run read-only commands; return the result of `made` for their answers."""
        with self.reading():
            return made(*self.run(ask))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise `RefusedError` for a value that no crawl writes."""
        try:
            yield
        except CrawlError:
            raise
        except Exception as error:
            raise self._refusal(f"{type(error).__name__}: {error}") from error

    def insist(self, do: Callable[[], T]) -> T:
        """Call `do` until the server answers; raise `StorageError` if it does not."""
        self.check_rest()
        began = time.monotonic()
        try:
            answer = self._until_done(do)
        except RefusedError:
            raise
        except StorageError as error:
            # After one failed wait, the next call does not wait.
            self.wait_s = 0.0
            if isinstance(error, AwayError) and self._most_away_s is not None:
                self._rest(began, self._most_away_s, error)
            raise
        self._away_since = None
        return answer

    def check_rest(self) -> None:
        """Raise `AwayError` if the server could not be reached a moment ago."""
        if time.monotonic() < self._rests_until:
            raise AwayError("Redis could not be reached a moment ago")

    def _rest(self, began: float, most_away_s: float, error: AwayError) -> None:
        ended = time.monotonic()
        self._away_since = self._away_since or began
        rest_s = max(_SHORTEST_REST_S, min(_LONGEST_REST_S, 4 * (ended - began)))
        self._rests_until = ended + rest_s
        if ended - self._away_since > most_away_s:
            raise StorageError(str(error)) from error

    def _until_done(self, do: Callable[[], T]) -> T:
        waited_s, pause_s, errors = 0.0, 0.05, self.errors
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
                    self.client.connection_pool.disconnect()  # the name may have a new address
            except errors.ResponseError as error:
                if str(error).startswith(_LOST):
                    self.losses.append(str(error))
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

    def _loss(self, error: str) -> str:
        _, _, keys = error.partition(" ")
        fault = f"keys ({one_line(keys)}) were changed of" if keys else "nothing is kept of"
        return f"{fault} this crawl, {self.crawl}, in Redis; {_ADVICE}"

    def _refusal(self, error: object) -> RefusedError:
        """Return the error for a call that Redis refused, or for a value that no crawl writes."""
        return RefusedError(
            f"Redis refuses a call of the crawl {self.crawl}, or another program wrote to its keys "
            f"({one_line(str(error))[:200]}); {_ADVICE}"
        )

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if self._most_away_s is not None:
            raise AwayError(f"Redis could not be reached: {error}") from error
        if waited_s >= self.wait_s and not isinstance(error, self.errors.BusyLoadingError):
            raise AwayError(f"Redis could not be reached for {waited_s:.0f} s: {error}") from error
