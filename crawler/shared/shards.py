"""The shards of a shared crawl: which one has the URLs of a host, and all of them as one crawl."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar
from zlib import crc32

from langfocus.crawler.frontier.base import Counts, HostStates
from langfocus.crawler.shared.stored import Client, Question, Settled, StoredCrawl
from langfocus.crawler.url import domain_of

T = TypeVar("T")

_NUMBERS = [field.name for field in fields(Counts) if field.name != "has_expected"]


def shard_of(host: str, shards: int) -> int:
    """Return the number of the shard that has the URLs of a host: its registered domain decides."""
    return crc32(domain_of(host).encode("utf-8", "surrogatepass")) % shards


def stored_crawl(client: "Client", crawl: str, shards: int, **how: Any) -> StoredCrawl:
    """Return a crawl to read; `how` is as for `StoredCrawl`."""
    whole = StoredCrawl(client, crawl, **how)
    return whole if shards == 1 else ShardedCrawl(client, crawl, shards, **how)


class Shards(StoredCrawl):
    """Reads all shards as one crawl; its own keys are those of the whole crawl."""

    parts: Sequence[StoredCrawl]

    def each(self, ask: Callable[[Any], T]) -> list[T]:
        """Return the answers of the shards that can be reached, without None."""
        found = [part.reach(partial(ask, part)) for part in self.parts]
        return [answer for answer in found if answer is not None]

    def answers(
        self, ask: Callable[[Any], Question[T]], places: Collection[int] | None = None
    ) -> dict[int, T]:
        """Return what the shards answer, by their places; without those that are away.

        A server is asked once for all of its shards. If that fails, each shard is asked alone, so
        that it waits, finds its new server, or tells what is wrong.
        """
        parts = [part for part in self.parts if places is None or part.place in places]
        if not any(part.is_away for part in parts):
            with suppress(Exception):
                return _answers_at_once({part: ask(part) for part in parts})
        found = {part.place: part.reach(partial(part.read, *ask(part))) for part in parts}
        return {place: answer for place, answer in found.items() if answer is not None}

    def records(self, worker: str, number: int = 1000, *, after: str = "") -> list[Settled]:
        """Return up to `number` records of a worker, the oldest ones of each shard first."""
        first, _, entry = after.partition("/")
        found: list[Settled] = []

        def ask(part: StoredCrawl) -> None:
            place, left = part.place, number - len(found)
            if place >= int(first or 0) and left:
                some = part.records(worker, left, after=entry if str(place) == first else "")
                found.extend(Settled(f"{place}/{one.entry}", one.row) for one in some)

        self.each(ask)
        return found

    def forget(self, entries: Sequence[str], worker: str) -> None:
        """Delete records that are stored elsewhere; a second call is harmless."""
        by_place: dict[int, list[str]] = {}
        for told in entries:
            place, _, entry = told.partition("/")
            by_place.setdefault(int(place), []).append(entry)
        self.each(lambda part: part.forget(by_place.get(part.place, []), worker))

    def queued_urls(self) -> Iterator[tuple[str, str]]:
        """Yield fingerprint and URL of the queued and leased URLs; a few may come twice."""
        for part in self.parts:
            yield from part.queued_urls()

    def worker_counts(self, worker: str) -> Counter[str]:
        """Return the counters of a worker in all shards."""
        found = self.answers(lambda part: part.ask_worker_counts(worker))
        return sum(found.values(), Counter[str]())

    def totals(self) -> Counter[str]:
        """Return every counter of the crawl by its name, summed over shards and workers."""
        return sum(self.each(lambda part: part.totals()), Counter[str]())

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages of all shards."""
        return total([*self.answers(StoredCrawl.ask_counts).values()])

    def host_states(self) -> HostStates:
        """Return the numbers of hosts of all shards."""
        states = self.answers(StoredCrawl.ask_host_states).values()
        return HostStates(*map(sum, zip((0, 0, 0, 0), *states, strict=True)))

    def remove(self) -> None:
        """Delete the crawl."""
        self.each(lambda part: part.remove())
        super().remove()


def _answers_at_once(questions: Mapping[StoredCrawl, Question[T]]) -> dict[int, T]:
    by_server: dict[Any, list[StoredCrawl]] = {}
    for part in questions:
        by_server.setdefault(part.server(), []).append(part)
    found: dict[int, T] = {}
    for server, parts in by_server.items():
        with server.pipeline(transaction=False) as pipe:
            ends = [0]
            for part in parts:
                questions[part][1](pipe)
                ends.append(len(pipe))
            told = pipe.execute()
        for part, (start, end) in zip(parts, pairwise(ends), strict=True):
            found[part.place] = questions[part][0](*told[start:end])
    return found


def total(counts: Sequence[Counts]) -> Counts:
    """Return the sums of the numbers of several shards."""
    return Counts(*(sum(getattr(one, name) for one in counts) for name in _NUMBERS))


class ShardedCrawl(Shards):
    """Reads a crawl with several shards."""

    def __init__(self, client: "Client", crawl: str, shards: int, **how: Any) -> None:
        """Read the crawl with that name; `client` comes from `connect`."""
        super().__init__(client, crawl, **how)
        self.parts = [StoredCrawl(client, crawl, shard=(n, shards), **how) for n in range(shards)]
