"""Links between shards: the script stores links in an outbox, and workers deliver the entries.

An entry may be delivered twice: a shard remembers the last received entry. An entry is deleted once
a replica has its links too, if the server has a replica.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langfocus.crawler.frontier.links import LinkOrigin, Links
from langfocus.crawler.shared.keyspace import KeySpace
from langfocus.crawler.shared.packing import PageLinks
from langfocus.crawler.shared.stored import Question, StoredCrawl
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Link

if TYPE_CHECKING:
    from langfocus.crawler.shared.redis import RedisFrontier

_ENTRIES_A_CALL: Final = 50
_COPIED_MS: Final = 100


class Entry(NamedTuple):
    """A page's links in its shard's outbox: entry place and content."""

    source: int
    target: int
    id: str
    reign: str  # of the server that kept it; ids grow within it
    number: int  # of links
    origin: Mapping[str, object]  # the facts about the page that the filter reads
    links: str  # JSON, by `entries_of`


def entries_of(
    parent: str, links: Mapping[int, Sequence[Link]], origin: LinkOrigin
) -> list[tuple[str, int, str]]:
    """Return a page's outbox entries for the script; `links` are per target shard."""
    return [
        (f"{place:02d}", len(some), json.dumps([parent, origin, [_plain(link) for link in some]]))
        for place, some in links.items()
    ]


def _plain(link: Link) -> list[object]:
    return [link.url, link.score, link.evidence and [float(fact) for fact in link.evidence]]


def _page_links(text: str) -> PageLinks:
    parent, facts, links = json.loads(text)
    origin = LinkOrigin._make((*facts[:-1], Links._make(facts[-1])))
    found = [Link(url, score, evidence and Evidence(*evidence)) for url, score, evidence in links]
    return PageLinks(parent, origin, found)


def ask_targets(keys: KeySpace) -> Question[list[str]]:
    """Return the shards with entries in an outbox."""
    return sorted, lambda pipe: pipe.smembers(keys.key("outboxes"))


def ask_entries(keys: KeySpace, targets: Sequence[str]) -> Question[list[Entry]]:
    """Fetch the oldest entries for other shards."""

    def ask(pipe: Any) -> None:
        for target in targets:
            pipe.xrange(keys.key(f"outbox:{target}"), "-", "+", _ENTRIES_A_CALL)

    def made(*answers: Sequence[tuple[str, Mapping[str, str]]]) -> list[Entry]:
        return [
            Entry(
                *(keys.place, int(target), entry, values["reign"], int(values["number"])),
                *(json.loads(values["origin"]), values["links"]),
            )
            for target, entries in zip(targets, answers, strict=True)
            for entry, values in entries
        ]

    return made, ask


def receive(frontier: "RedisFrontier", entries: Sequence[Entry], now: float) -> int:
    """Admit links from other shards, except entries received before.

    Return the number of replicas that must confirm.
    """
    frontier.script.now = now
    packed = frontier.packed([_page_links(entry.links) for entry in entries])
    names = [[f"{one.source:02d} {one.reign}", one.id, one.origin] for one in entries]
    return int(frontier.script.call("deliver", packed, entries=names))


def _is_replicated(frontier: "RedisFrontier") -> bool:
    """Return True if a replica confirms all writes of this connection."""
    keys = frontier.keys
    return bool(keys.insist(lambda: keys.send("WAIT", 1, _COPIED_MS)))


def _remove(frontier: "RedisFrontier", entries: Iterable[Entry]) -> None:
    """Remove delivered entries from the outbox of their shard."""
    names = [[f"{entry.target:02d}", entry.id, entry.number] for entry in entries]
    frontier.script.call("delivered", entries=names)


class Delivery:
    """Delivers the links in the outboxes of shards, for one worker."""

    def __init__(
        self,
        stored: StoredCrawl,
        frontiers: Sequence["RedisFrontier"],
        on_arrival: Callable[[int], object],
    ) -> None:
        """Deliver between `frontiers`; `on_arrival` is called with the place of a target."""
        self._stored, self._frontiers, self._on_arrival = stored, frontiers, on_arrival
        self.unsent: set[int] = set()  # shards with links for others
        self.delivered_at = self._looked_at = -inf

    def has_arrivals(self, now: float, poll_s: float) -> bool:
        """Deliver all links once per poll, dead workers' links too; True if there were any."""
        if now < self._looked_at + poll_s:
            return False
        self._looked_at = now
        return self.deliver({*range(len(self._frontiers))}, now) > 0

    def deliver(self, places: set[int], now: float) -> int:
        """Deliver the links in the outboxes of some shards; return the number of entries."""
        self.delivered_at, done = now, list[Entry]()
        entries = self._entries(places)
        for target in {entry.target for entry in entries}:
            some = [entry for entry in entries if entry.target == target]
            for start in range(0, len(some), _ENTRIES_A_CALL):
                batch = some[start : start + _ENTRIES_A_CALL]
                done += batch if self._receive(target, batch, now) else ()
        for source in {entry.source for entry in done}:
            frontier = self._frontiers[source]
            delivered = [entry for entry in done if entry.source == source]
            frontier.keys.reach(partial(_remove, frontier, delivered))
        if len(done) < len(entries) or len(entries) >= _ENTRIES_A_CALL:  # there may be more
            self.unsent |= {entry.source for entry in entries}
        return len(done)

    def _entries(self, places: set[int]) -> list[Entry]:
        targets = self._stored.answers(ask_targets, places)
        sources = {place for place in places if targets.get(place)}
        found = self._stored.answers(lambda keys: ask_entries(keys, targets[keys.place]), sources)
        self.unsent -= targets.keys() - sources | found.keys()
        return [entry for of_source in found.values() for entry in of_source]

    def _receive(self, target: int, batch: Sequence[Entry], now: float) -> bool:
        """Deliver entries; False if the target server might still lose them."""
        frontier = self._frontiers[target]

        def do() -> bool:
            replicas = receive(frontier, batch, now)
            self._on_arrival(target)
            return not replicas or _is_replicated(frontier)

        return bool(frontier.keys.reach(do))
