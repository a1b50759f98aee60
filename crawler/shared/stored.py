"""A shared crawl in Redis, found by its name: workers, records and counters.

This module needs no rules of the crawl. Only `forget` and `remove` change it.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from itertools import pairwise
from operator import methodcaller
from typing import Any, Final, NamedTuple, TypeVar
from zlib import crc32

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Counts, HostStates
from langfocus.crawler.run.page_row import check_page
from langfocus.crawler.shared.keyspace import AwayError, Client, KeySpace, RefusedError
from langfocus.crawler.shared.packing import unpacked

T = TypeVar("T")
Question = tuple[Callable[..., T], Callable[[Any], object]]
"""Converts command answers to a value; adds commands to a pipeline."""

_KEYS_A_CALL: Final = 1000
_ORDER_DIGITS: Final = 15
_KEEPS_ALL: Final = "noeviction"
_NUMBERS: Final = [field.name for field in fields(Counts) if field.name != "has_expected"]


class Settled(NamedTuple):
    """A settled URL in its worker's stream: shard, entry id, and row.

    The row's `id` is 1, 2, 3, ... in the settling order of all workers; within a shard it grows by
    the number of shards.
    """

    entry: str
    row: dict[str, Any]


class StoredCrawl:
    """Reads a crawl and its shards as one.

    Methods raise `RefusedError` for a value that no crawl writes. Counts omit unreachable shards.
    """

    def __init__(self, client: Client, crawl: str, shards: int = 1, **how: Any) -> None:
        """Read the crawl with that name; `client` is from `connect`, `how` as for `KeySpace`."""
        self.whole = KeySpace(client, crawl, **how)
        self.parts: Sequence[KeySpace] = [self.whole]
        if shards > 1:
            self.parts = [self.whole.shard(place, shards) for place in range(shards)]
        self._ahead_s = 0.0

    @classmethod
    def of(cls, whole: KeySpace, parts: Sequence[KeySpace]) -> "StoredCrawl":
        """Read a crawl by the keys of a worker."""
        stored = cls(whole.client, whole.crawl)
        stored.whole, stored.parts = whole, parts
        return stored

    def apart(self) -> "StoredCrawl":
        """Return the same crawl for another thread, whose calls do not wait for the server."""
        return StoredCrawl(self.whole.client, self.whole.crawl, len(self.parts), wait_s=0.0)

    @property
    def is_lost(self) -> bool:
        """True if a server was found to have lost keys of the crawl."""
        return bool(self.whole.losses)

    def exists(self) -> bool:
        """Return True if the crawl exists in Redis."""
        return self.whole.read(*_existence(self.whole))

    def is_complete(self) -> bool:
        """Return True if the crawl and all shards are readable."""
        return bool(self.whole.reach(self.exists)) and len(self.parts) == sum(
            self.answers(_existence).values()
        )

    def workers(self) -> list[str]:
        """Return the names of all past and present workers; each may have records."""
        return self.whole.read(*_workers(self.whole))

    def records(self, worker: str, number: int = 1000, *, after: str = "") -> list[Settled]:
        """Return up to `number` records of a worker, those `after` an entry.

        The first shard's oldest records come first, then the next shard's.
        """
        first, _, entry = after.partition("/")
        found: list[Settled] = []
        for part in self.parts[int(first or 0) :]:
            begin = entry if str(part.place) == first else ""
            if left := number - len(found):
                found += part.reach(partial(_records, part, worker, left, begin)) or ()
        return found

    def forget(self, entries: Sequence[str], worker: str) -> None:
        """Delete records that are stored elsewhere; a second call is harmless."""
        by_place: dict[int, list[str]] = {}
        for entry in entries:
            place, _, name = entry.partition("/")
            by_place.setdefault(int(place), []).append(name)
        for number, names in by_place.items():
            part = self.parts[number]
            delete = methodcaller("xdel", part.key(f"records:{worker}"), *names)
            part.reach(partial(part.run, delete))

    def queued_urls(self) -> Iterator[tuple[str, str]]:
        """Yield fingerprint and URL of the queued and leased URLs; a few may come twice.

        A URL that is queued meanwhile may be missing.
        """
        for part in self.parts:
            yield from queued_urls(part)

    def worker_counts(self, worker: str) -> Counter[str]:
        """Return the counters of a worker, by their names in a run's `counts`."""
        found = self.answers(
            lambda part: (_numbers, lambda pipe: pipe.hgetall(part.key(f"counts:{worker}")))
        )
        return sum(found.values(), Counter[str]())

    def totals(self) -> Counter[str]:
        """Return every counter of the crawl by its name, summed over shards and workers.

        `queued` includes the URLs that are `leased`; `settled` is the number of the last record.
        """
        found = (part.reach(partial(_totals, part)) or () for part in self.parts)
        return sum(map(Counter[str], found), Counter[str]())

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages of all workers.

        Undelivered links to other shards count as queued.
        """
        return total(self.answers(ask_counts).values())

    def host_states(self) -> HostStates:
        """Return the host counts of the whole crawl; `ready` may include some other hosts."""
        states = self.answers(_host_states).values()
        return HostStates(*map(sum, zip((0, 0, 0, 0), *states, strict=True)))

    def expected(self, doubts_up_to: float) -> int:
        """Return how many queued and leased URLs have a score above `doubts_up_to`; O(hosts).

        Links to other shards that are not delivered have no score there yet.
        """
        return sum(_expected(part, doubts_up_to) for part in self.parts)

    def time(self) -> float:
        """Return the server time in unix seconds, estimated while the server is unreachable."""
        clock: Question[float] = (lambda at: at[0] + at[1] / 1e6), lambda pipe: pipe.time()
        at = self.whole.reach(partial(self.whole.read, *clock))
        self._ahead_s = self._ahead_s if at is None else at - time.time()
        return time.time() + self._ahead_s if at is None else at

    def crawl_time(self) -> float:
        """Return the crawl time: the server time, or the latest call's time if later.

        The latter is later after a server clock was set back.
        """
        key = self.whole.key("clock")
        latest = self.whole.read(lambda at: float(at or "-inf"), lambda pipe: pipe.get(key))
        return max(self.time(), latest)

    def eviction_fault(self) -> str:
        """Return what is wrong if a server deletes keys when its memory is full, else ""."""
        answers = self._of_servers(lambda server: server.info("memory"))
        policies = {info.get("maxmemory_policy", _KEEPS_ALL) for info in answers} - {_KEEPS_ALL}
        if not policies:
            return ""
        return (
            f"this Redis deletes keys when its memory is full (maxmemory-policy "
            f"{', '.join(sorted(policies))}), so a crawl would lose URLs and delays; "
            f"set maxmemory-policy {_KEEPS_ALL}"
        )

    def check_eviction(self) -> None:
        """Raise `StorageError` if a server deletes keys when its memory is full."""
        if fault := self.whole.reach(self.eviction_fault):
            raise StorageError(fault)

    def is_durable(self) -> bool:
        """Return False if a server reports no append-only file."""
        answers = self._of_servers(lambda server: server.config_get("appendonly"))
        return all(each.get("appendonly") != "no" for each in answers)

    def _of_servers(self, ask: Callable[[Any], Mapping[str, str]]) -> list[Mapping[str, str]]:
        """Return the answers of all servers; [] if a server is unreachable or refuses this user."""
        with suppress(RefusedError, AwayError):
            return self.whole.insist(lambda: [ask(server) for server in self.whole.servers()])
        return []

    def at_address(self, address: str) -> KeySpace:
        """Return the keys that count the requests at an address."""
        return self.parts[crc32(address.encode()) % len(self.parts)]

    def close(self) -> None:
        """Close the connection."""
        self.whole.client.close()

    def remove(self) -> None:
        """Delete the crawl."""
        for keys in {*self.parts, self.whole}:
            keys.reach(partial(_remove, keys))

    def answers(
        self, ask: Callable[[KeySpace], Question[T]], places: Collection[int] | None = None
    ) -> dict[int, T]:
        """Return the answers of reachable shards, by place.

        A server is queried once for all its shards. After a failure each shard is queried alone, so
        that it waits, finds its new server, or raises an error.
        """
        parts = [part for part in self.parts if places is None or part.place in places]
        if len(parts) > 1 and not any(part.is_away for part in parts):
            with suppress(Exception):
                return _answers_at_once({part: ask(part) for part in parts})
        found = {part.place: part.reach(partial(part.read, *ask(part))) for part in parts}
        return {place: answer for place, answer in found.items() if answer is not None}


def total(counts: Collection[Counts]) -> Counts:
    """Return the sums of the numbers of several shards."""
    return Counts(*(sum(getattr(one, name) for one in counts) for name in _NUMBERS))


def _answers_at_once(questions: Mapping[KeySpace, Question[T]]) -> dict[int, T]:
    by_server: dict[Any, list[KeySpace]] = {}
    for part in questions:
        by_server.setdefault(part.server(), []).append(part)
    found: dict[int, T] = {}
    for server, parts in by_server.items():
        with server.pipeline(transaction=False) as pipe:
            ends = [0]
            for part in parts:
                questions[part][1](pipe)
                ends.append(len(pipe))
            answers = pipe.execute()
        for part, (start, end) in zip(parts, pairwise(ends), strict=True):
            found[part.place] = questions[part][0](*answers[start:end])
    return found


# The answer of one key space.


def _existence(keys: KeySpace) -> Question[bool]:
    return bool, lambda pipe: pipe.exists(keys.key("rules"))


def ask_counts(keys: KeySpace) -> Question[Counts]:
    """Queue the commands for `StoredCrawl.counts`."""
    names = ("hosts", "pages", "labelled", "relevant", "queued", "outbox")

    def counts(numbers: Sequence[str | None], leased: int) -> Counts:
        hosts, pages, labelled, relevant, *queued = (int(number or 0) for number in numbers)
        return Counts(sum(queued) - leased, leased, hosts, pages, labelled, relevant)

    def ask(pipe: Any) -> None:
        pipe.hmget(keys.key("counts"), names)
        pipe.zcard(keys.key("leases"))

    return counts, ask


def _host_states(keys: KeySpace) -> Question[HostStates]:
    def ask(pipe: Any) -> None:
        for name in ("ready", "resting", "leases"):
            pipe.zcard(keys.key(name))
        pipe.hget(keys.key("counts"), "full_hosts")

    return lambda *found: HostStates(*(int(each or 0) for each in found)), ask


def _expected(keys: KeySpace, doubts_up_to: float) -> int:
    # Each host with a queue is in one of these sets; in `ready` behind an order.
    hosts = {name[_ORDER_DIGITS:] for name in _members(keys, "ready")}
    queues = [
        keys.key(f"queue:{host}")
        for host in hosts.union(_members(keys, "resting"), _members(keys, "leases"))
    ]
    most, number = f"({0.0 - doubts_up_to!r}", 0  # a tier is minus a score
    for start in range(0, len(queues), _KEYS_A_CALL):
        some = queues[start : start + _KEYS_A_CALL]
        number += sum(keys.run(partial(_count_up_to, some, most)))
    return number


def _members(keys: KeySpace, name: str) -> list[str]:
    scan = partial(keys.server().zscan_iter, keys.key(name), count=_KEYS_A_CALL)
    return keys.insist(lambda: [member for member, _ in scan()])


def _count_up_to(queues: Sequence[str], most: str, pipe: Any) -> None:
    for queue in queues:
        pipe.zcount(queue, "-inf", most)


def _workers(keys: KeySpace) -> Question[list[str]]:
    return sorted, lambda pipe: pipe.smembers(keys.key("workers"))


def _totals(keys: KeySpace) -> Counter[str]:
    names = [
        keys.key("counts"),
        *(keys.key(f"counts:{name}") for name in keys.read(*_workers(keys))),
    ]

    def ask(pipe: Any) -> None:
        pipe.zcard(keys.key("leases"))
        for name in names:
            pipe.hgetall(name)

    return keys.read(
        lambda leased, *counts: sum(map(_numbers, counts), Counter(leased=leased)), ask
    )


def _records(keys: KeySpace, worker: str, number: int, after: str) -> list[Settled]:
    stream, first = keys.key(f"records:{worker}"), f"({after}" if after else "-"
    return keys.read(
        lambda entries: [_settled(keys, *each) for each in entries],
        lambda pipe: pipe.xrange(stream, first, "+", number),
    )


def _settled(keys: KeySpace, entry: str, values: Mapping[str, str]) -> Settled:
    """Return the record of an entry; raises an error for a missing or invalid value.

    The numbers of shards interleave: no two shards have the same.
    """
    row = json.loads(values["row"])
    number = (int(values["number"]) - 1) * keys.shards + keys.place + 1
    row |= {"id": number, "queued": int(values["queued"])}
    check_page(row)
    return Settled(f"{keys.place}/{entry}", row)


def queued_urls(keys: KeySpace) -> Iterator[tuple[str, str]]:
    """Yield fingerprint and URL of all queued and leased URLs in a key space."""
    cursor: int | bytes = b"0"
    words = ("HSCAN", keys.key("urls"))

    def scan() -> Any:
        how = {"NEVER_DECODE": True}
        return keys.server().execute_command(*words, cursor, "COUNT", _KEYS_A_CALL, **how)

    while True:
        with keys.reading():
            cursor, rows = keys.insist(scan)
            urls = {key.decode(): unpacked(row)[0] for key, row in rows.items()}
        for key, url in urls.items():
            yield key, url.decode("utf-8", "surrogatepass")
        if int(cursor) == 0:
            return


def _remove(keys: KeySpace) -> None:
    pattern = re.sub(r"([\\*?\[\]])", r"\\\1", keys.prefix) + "*"
    names = keys.insist(lambda: list(keys.server().scan_iter(pattern, _KEYS_A_CALL)))
    if names:
        keys.run(lambda pipe: pipe.unlink(*names))


def _numbers(counts: Mapping[str, str]) -> Counter[str]:
    return Counter({name: int(number) for name, number in counts.items() if number != "0"})
