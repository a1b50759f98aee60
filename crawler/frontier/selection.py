"""Which of the hosts that may be contacted now gives the next URL.

Both ways cost O(log hosts) a URL. They know hosts and scores, not URLs: those stay on disk.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from random import Random
from typing import Protocol


@dataclass(slots=True, eq=False)
class Host:
    """A host with something queued or leased, or one that still rests.

    `ready_at` is when it may be contacted again, unix seconds. `promising` of its `queued` URLs
    have a score that is not doubted. `head` is the sort key of its best URL (kept by `BestFirst`
    while the host is ready), `tiers` the number of queued URLs by score and `drawn` a URL that
    was drawn and put back (kept where URLs are drawn uniformly).
    """

    id: int
    key: str
    delay_s: float
    ready_at: float
    queued: int = 0
    promising: int = 0
    is_leased: bool = False
    is_ready: bool = False
    head: tuple[float, int] | None = None
    tiers: dict[float, int] = field(default_factory=dict)
    drawn: "Pick | None" = None


@dataclass(frozen=True, slots=True)
class Pick:
    """A place in a host's queue: a URL, or (`url_id` 0) the `offset`-th of those with a score."""

    host: Host
    score: float
    url_id: int = 0
    offset: int = 0


class Selection(Protocol):
    """The hosts that may be contacted now."""

    def put(self, host: Host) -> None:
        """Let a host with queued URLs take part."""

    def change(self, host: Host, score: float, by: int, url_id: int = 0) -> None:
        """Note that the host's queue has one URL of that score more or less."""

    def refresh(self, host: Host) -> None:
        """Note that the queue of a ready host changed in other ways."""

    def put_back(self, pick: Pick) -> None:
        """Note that a URL was taken and is queued again, its host not being ready yet."""

    def best(self) -> float | None:
        """Return the score of the URL that `take` would give, or None if there is none."""

    def take(self) -> Pick | None:
        """Return whose turn it is and remove that host, or None if there is none."""


class BestFirst:
    """The highest score of all hosts first; among equal scores, the URL discovered first."""

    def __init__(self, head_of: Callable[[Host], tuple[float, int] | None]) -> None:
        """Rank hosts by `head_of`, which returns (minus score, URL id) of a host's best URL."""
        self._head_of = head_of
        self._heap: list[tuple[tuple[float, int], int, Host]] = []
        self._ready = 0

    def put(self, host: Host) -> None:
        """Let a host with queued URLs take part."""
        self._ready += 1
        self.refresh(host)

    def change(self, host: Host, score: float, by: int, url_id: int = 0) -> None:
        """Note that the host's queue has one URL of that score more."""
        if host.is_ready and by > 0 and (host.head is None or (-score, url_id) < host.head):
            self._push(host, (-score, url_id))

    def refresh(self, host: Host) -> None:
        """Look up the host's best URL again."""
        head = self._head_of(host)
        if head is not None:
            self._push(host, head)

    def put_back(self, pick: Pick) -> None:
        """Let the URL stand for itself again: what is better by then goes before it."""

    def best(self) -> float | None:
        """Return the score of the URL that `take` would give, or None if there is none."""
        while self._heap:
            head, _, host = self._heap[0]
            if host.is_ready and host.head == head:
                return -head[0]
            heappop(self._heap)
        return None

    def take(self) -> Pick | None:
        """Return the host with the best URL and remove it, or None if there is none."""
        if self.best() is None:
            return None
        head, _, host = heappop(self._heap)
        # What else stands of the host in the heap is void from now on.
        self._ready -= 1
        host.head = None
        return Pick(host, -head[0], head[1])

    def _push(self, host: Host, head: tuple[float, int]) -> None:
        host.head = head
        heappush(self._heap, (head, host.id, host))
        if len(self._heap) > 2 * self._ready + 1024:
            self._heap = [entry for entry in self._heap if entry[2].head == entry[0]]
            heapify(self._heap)


class UniformDraw:
    """A URL drawn uniformly from all that is queued at hosts that may be contacted now.

    Where scores differ, the draw is among the URLs with the highest. A URL that was drawn and
    put back (its robots.txt had to be fetched first) goes before the next draw with its score:
    drawn anew, URLs of hosts that were contacted before would be drawn more often than others.
    """

    def __init__(self, random: Random) -> None:
        """Draw with `random`."""
        self._random = random
        self._tiers: dict[float, WeightedHosts] = {}
        self._drawn: dict[float, deque[Host]] = {}

    def put(self, host: Host) -> None:
        """Let a host with queued URLs take part."""
        self.refresh(host)
        if host.drawn is not None:
            self._drawn.setdefault(host.drawn.score, deque()).append(host)

    def change(self, host: Host, score: float, by: int, url_id: int = 0) -> None:
        """Note that the host's queue has one URL of that score more or less."""
        host.tiers[score] = host.tiers.get(score, 0) + by
        if host.is_ready:
            self._weigh(host, score)

    def refresh(self, host: Host) -> None:
        """Weigh the host again by all its scores."""
        for score in host.tiers:
            self._weigh(host, score)

    def put_back(self, pick: Pick) -> None:
        """Remember what was drawn until its host is ready."""
        pick.host.drawn = pick

    def best(self) -> float | None:
        """Return the score of the URL that `take` would give, or None if there is none."""
        return max((score for score, hosts in self._tiers.items() if hosts.total), default=None)

    def take(self) -> Pick | None:
        """Return a URL's place and remove its host, or None if there is none."""
        score = self.best()
        if score is None:
            return None
        pick = self._drawn_before(score) or self._draw(self._tiers[score], score)
        pick.host.drawn = None
        for tier in pick.host.tiers:
            self._tiers[tier].set(pick.host, 0)
        return pick

    def _draw(self, hosts: "WeightedHosts", score: float) -> Pick:
        host, offset = hosts.at(self._random.randrange(hosts.total))
        return Pick(host, score, offset=offset)

    def _drawn_before(self, score: float) -> Pick | None:
        hosts = self._drawn.get(score)
        while hosts:
            pick = hosts.popleft().drawn
            # A host that gave another URL meanwhile has nothing drawn any more.
            if pick is not None and pick.host.is_ready:
                return pick
        return None

    def _weigh(self, host: Host, score: float) -> None:
        self._tiers.setdefault(score, WeightedHosts()).set(host, host.tiers[score])


class WeightedHosts:
    """Hosts with whole weights, found by a position among all weights: a Fenwick tree."""

    def __init__(self) -> None:
        """Start empty."""
        self.total = 0
        self._size = 1
        self._sums = [0, 0]
        self._hosts: list[Host | None] = [None]
        self._weights: list[int] = [0]
        self._place: dict[int, int] = {}
        self._free: list[int] = []

    def set(self, host: Host, weight: int) -> None:
        """Give the host that weight; 0 removes it."""
        place = self._place.get(host.id)
        if place is None:
            if weight == 0:
                return
            place = self._new_place(host)
        self._add(place, weight - self._weights[place])
        if weight == 0:
            self._free.append(self._place.pop(host.id))
            self._hosts[place] = None

    def at(self, position: int) -> tuple[Host, int]:
        """Return the host at a position in [0, total) and how far inside its weight that is."""
        place, step = 0, self._size
        while step:
            after = place + step
            if after <= self._size and self._sums[after] <= position:
                place, position = after, position - self._sums[after]
            step //= 2
        host = self._hosts[place]
        if host is None:
            raise IndexError(position)
        return host, position

    def _new_place(self, host: Host) -> int:
        if not self._free:
            self._grow()
        place = self._free.pop()
        self._place[host.id] = place
        self._hosts[place] = host
        return place

    def _add(self, place: int, difference: int) -> None:
        self.total += difference
        self._weights[place] += difference
        index = place + 1
        while index <= self._size:
            self._sums[index] += difference
            index += index & -index

    def _grow(self) -> None:
        old = self._size if self._place else 0
        self._size = max(2 * old, 16)
        self._hosts += [None] * (self._size - len(self._hosts))
        self._weights += [0] * (self._size - len(self._weights))
        self._free = list(range(self._size - 1, old - 1, -1))
        self._sums = [0, *self._weights]
        for index in range(1, self._size + 1):
            parent = index + (index & -index)
            if parent <= self._size:
                self._sums[parent] += self._sums[index]
