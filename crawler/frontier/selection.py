"""The choice among the hosts that may be contacted now: best first, or a uniform draw.

Both cost O(log hosts) for each URL, independent of the number of URLs of one host. They keep hosts
and scores in memory; URLs stay on disk.
"""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from random import Random
from typing import Protocol

Head = tuple[float, int, int]
"""A host's best URL: minus score, the URL's id, the host's id."""


@dataclass(slots=True, eq=False)
class QueuedHost:
    """A host with a queued or leased URL, or one that still rests.

    It may be contacted again at `ready_at`, unix seconds. `promising` of its `queued` URLs are not
    doubtful. `head` is its best URL if `BestFirst` knows it. `drawn` is a URL that `UniformDraw`
    drew and that was put back.

    There may be a million hosts, so facts that only a selection needs are kept there.
    """

    id: int
    delay_s: float
    ready_at: float
    queued: int = 0
    promising: int = 0
    is_leased: bool = False
    is_ready: bool = False
    head: Head | None = None
    drawn: "Pick | None" = None


@dataclass(frozen=True, slots=True)
class Pick:
    """A place in a host's queue: the URL `url_id`.

    If `url_id` is 0, it is the `offset`-th URL among those of the host with this score and an id
    of at least `first_id`.
    """

    host: QueuedHost
    score: float
    url_id: int = 0
    offset: int = 0
    first_id: int = 0


class Selection(Protocol):
    """The hosts that may be contacted now."""

    def put(self, host: QueuedHost) -> None:
        """Add a host with queued URLs to the choice."""

    def withdraw(self, host: QueuedHost) -> None:
        """Take a ready host out of the choice, until it is put again."""

    def add(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL was queued; `host.queued` already counts it."""

    def discard(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL left the queue of a host that is not ready."""

    def lift(self, host: QueuedHost) -> None:
        """Note that the scores of queued URLs of a host rose."""

    def rescore(self, host: QueuedHost, url_id: int, score: float) -> None:
        """Note that a queued URL of a host has another score."""

    def lower(self, pick: Pick, score: float) -> None:
        """Note that a taken URL is queued again with a lower score; its host is not ready yet."""

    def put_back(self, pick: Pick) -> None:
        """Note that a taken URL is queued again; its host is not ready yet."""

    def best(self) -> float | None:
        """Return the score of the URL that `take` would return, None if no host is ready."""

    def take(self) -> Pick | None:
        """Return the chosen URL and remove its host, or None if no host is ready."""


class BestFirst:
    """Chooses the highest score of all hosts; among equal scores, the URL discovered first."""

    def __init__(
        self, hosts: Mapping[int, QueuedHost], head_of: Callable[[int], tuple[float, int]]
    ) -> None:
        """Choose among `hosts` (by id).

        `head_of` returns minus the score and the id of the best URL of the host with that id.
        """
        self._hosts = hosts
        self._head_of = head_of
        self._heap: list[Head] = []
        self._ready = 0

    def put(self, host: QueuedHost) -> None:
        """Add a host with queued URLs to the choice."""
        self._ready += 1
        if host.head is None:
            host.head = (*self._head_of(host.id), host.id)
        self._push(host.head)

    def withdraw(self, host: QueuedHost) -> None:
        """Take a ready host out of the choice; its entries in the heap are void."""
        self._ready -= 1
        host.head = None

    def add(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL was queued; `host.queued` already counts it."""
        head = (-score, url_id, host.id)
        if host.queued == 1 or (host.head is not None and head < host.head):
            host.head = head
            if host.is_ready:
                self._push(head)

    def discard(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL left the queue of a host that is not ready."""
        host.head = None

    def lift(self, host: QueuedHost) -> None:
        """Look up the host's best URL again: now, or when the host is ready."""
        host.head = None
        if host.is_ready:
            host.head = (*self._head_of(host.id), host.id)
            self._push(host.head)

    def rescore(self, host: QueuedHost, url_id: int, score: float) -> None:
        """Make a URL the host's best one if it is, or look up another if it was."""
        if host.head is None:
            return
        head = (-score, url_id, host.id)
        if head < host.head:
            host.head = head
            if host.is_ready:
                self._push(head)
        elif host.head[1] == url_id:
            self.lift(host)

    def lower(self, pick: Pick, score: float) -> None:
        """Do nothing: the host's best URL is looked up when the host is ready."""

    def put_back(self, pick: Pick) -> None:
        """Do nothing: the URL competes again by its score."""

    def best(self) -> float | None:
        """Return the score of the URL that `take` would return, None if no host is ready."""
        while self._heap:
            if self._stands(self._heap[0]):
                return -self._heap[0][0]
            heappop(self._heap)
        return None

    def take(self) -> Pick | None:
        """Return the best URL and remove its host, or None if no host is ready."""
        if self.best() is None:
            return None
        score, url_id, host_id = heappop(self._heap)
        # From now on all other entries of the host in the heap are void.
        self._ready -= 1
        host = self._hosts[host_id]
        host.head = None
        return Pick(host, -score, url_id)

    def _stands(self, head: Head) -> bool:
        # The same object, because an equal entry may be void and later be pushed again.
        host = self._hosts.get(head[2])
        return host is not None and host.head is head

    def _push(self, head: Head) -> None:
        heappush(self._heap, head)
        if len(self._heap) > 2 * self._ready + 1024:
            self._heap = [entry for entry in self._heap if self._stands(entry)]
            heapify(self._heap)


class UniformDraw:
    """Draws a URL uniformly from the queues of all hosts that may be contacted now.

    If scores differ, the draw is among the URLs with the highest score. The cost grows with the
    number of different scores; the orderings with random draws have one or two. A URL that was
    drawn and put back, because its robots.txt had to be fetched first, is taken before the next
    draw of its score. A second draw would favour hosts that were contacted before.
    """

    def __init__(
        self,
        random: Random,
        hosts: Mapping[int, QueuedHost],
        ids_of: Callable[[int, float], Iterable[int]],
        queued: Iterable[tuple[int, float, int]] = (),
    ) -> None:
        """Draw with `random` from `hosts` (by id).

        `ids_of` returns the ids of the queued URLs of a host with a score, in the order of
        discovery; it is called once for each queue that grows long. `queued` has the id, a score
        and the number of URLs with that score for each host with a queue.
        """
        self._random = random
        self._hosts = hosts
        self._ids_of = ids_of
        self._tiers: dict[float, Weights] = {}
        self._long: dict[tuple[int, float], LongQueue] = {}
        self._drawn: dict[float, deque[QueuedHost]] = {}
        for host_id, score, number in queued:
            self._tiers.setdefault(score, Weights()).change(host_id, number)

    def put(self, host: QueuedHost) -> None:
        """Add a host with queued URLs to the choice."""
        for tier in self._tiers.values():
            tier.show(host.id)
        if host.drawn is not None:
            self._drawn.setdefault(host.drawn.score, deque()).append(host)

    def withdraw(self, host: QueuedHost) -> None:
        """Take a ready host out of the choice, until it is put again."""
        for tier in self._tiers.values():
            tier.hide(host.id)

    def add(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL was queued; `host.queued` already counts it."""
        tier = self._tiers.get(score)
        if tier is None:
            tier = self._tiers[score] = Weights()
        tier.change(host.id, 1, is_shown=host.is_ready)
        queue = self._long.get((host.id, score))
        if queue is not None:
            queue.add(url_id)

    def discard(self, host: QueuedHost, score: float, url_id: int) -> None:
        """Note that a URL left the queue of a host that is not ready."""
        tier = self._tiers[score]
        tier.change(host.id, -1)
        queue = self._long.get((host.id, score))
        if queue is not None:
            queue.discard(url_id)
            if not tier.weight(host.id):
                del self._long[host.id, score]
        if not len(tier):
            del self._tiers[score]

    def lift(self, host: QueuedHost) -> None:
        """Raise NotImplementedError: orderings that lift scores do not draw."""
        raise NotImplementedError

    def rescore(self, host: QueuedHost, url_id: int, score: float) -> None:
        """Raise NotImplementedError: an ordering that learns does not draw."""
        raise NotImplementedError

    def lower(self, pick: Pick, score: float) -> None:
        """Count a taken URL, not ready yet, with its lower score."""
        self.discard(pick.host, pick.score, pick.url_id)
        # The places of a long queue are in the order of ids, so it is counted anew.
        self._long.pop((pick.host.id, score), None)
        self.add(pick.host, score, pick.url_id)

    def put_back(self, pick: Pick) -> None:
        """Keep the drawn URL until its host is ready."""
        pick.host.drawn = pick

    def best(self) -> float | None:
        """Return the score of the URL that `take` would return, None if no host is ready."""
        return max((score for score, tier in self._tiers.items() if tier.total), default=None)

    def take(self) -> Pick | None:
        """Return a drawn URL and remove its host, or None if no host is ready."""
        score = self.best()
        if score is None:
            return None
        pick = self._drawn_before(score) or self._draw(score)
        pick.host.drawn = None
        for tier in self._tiers.values():
            tier.hide(pick.host.id)
        return pick

    def _draw(self, score: float) -> Pick:
        tier = self._tiers[score]
        host_id, offset = tier.at(self._random.randrange(tier.total))
        first_id = 0
        if tier.weight(host_id) > BLOCK:
            first_id, offset = self._long_queue(host_id, score).at(offset)
        return Pick(self._hosts[host_id], score, offset=offset, first_id=first_id)

    def _drawn_before(self, score: float) -> Pick | None:
        hosts = self._drawn.get(score)
        while hosts:
            pick = hosts.popleft().drawn
            # If the host gave another URL meanwhile, its drawn URL is forgotten.
            if pick is not None and pick.host.is_ready:
                return pick
        return None

    def _long_queue(self, host_id: int, score: float) -> "LongQueue":
        queue = self._long.get((host_id, score))
        if queue is None:
            queue = self._long[host_id, score] = LongQueue()
            for url_id in self._ids_of(host_id, score):
                queue.add(url_id)
        return queue


BLOCK = 512
"""The most URLs on disk that the search for a place in a host's queue steps over."""


class LongQueue:
    """The number of URLs between some ids of a host, so that its n-th URL is found quickly."""

    def __init__(self) -> None:
        """Start empty."""
        self._firsts = array("q")
        self._blocks = Weights()
        self._room = 0

    def add(self, url_id: int) -> None:
        """Count a URL; its id must be higher than all before."""
        if not self._room:
            self._firsts.append(url_id)
            self._room = BLOCK
        self._room -= 1
        self._blocks.change(self._firsts[-1], 1, is_shown=True)

    def discard(self, url_id: int) -> None:
        """Stop counting a URL."""
        self._blocks.change(self._firsts[bisect_right(self._firsts, url_id) - 1], -1)

    def at(self, position: int) -> tuple[int, int]:
        """Return the first id of the block with a position, and the offset in that block."""
        return self._blocks.at(position)


class Weights:
    """Integer weights of keys in a Fenwick tree; a key that is shown is found by a position.

    A key has a place in the tree while its weight is above 0.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.total = 0
        self._size = 1
        self._sums = array("q", (0, 0))
        self._keys = array("q")
        self._weights = array("q")
        self._is_shown = bytearray()
        self._place: dict[int, int] = {}
        self._free = array("q")

    def __len__(self) -> int:
        """Return the number of keys with a weight."""
        return len(self._place)

    def weight(self, key: int) -> int:
        """Return the weight of a key, shown or hidden."""
        place = self._place.get(key)
        return 0 if place is None else self._weights[place]

    def change(self, key: int, by: int, *, is_shown: bool = False) -> None:
        """Add to a weight; `is_shown` is for a new key."""
        place = self._place.get(key)
        if place is None:
            place = self._new_place(key, is_shown=is_shown)
        self._weights[place] += by
        if self._is_shown[place]:
            self._add(place, by)
        if not self._weights[place]:
            self._free.append(self._place.pop(key))

    def show(self, key: int) -> None:
        """Show a key, if it has a weight, so that it can be found."""
        place = self._place.get(key)
        if place is not None and not self._is_shown[place]:
            self._is_shown[place] = True
            self._add(place, self._weights[place])

    def hide(self, key: int) -> None:
        """Hide a key, so that it cannot be found."""
        place = self._place.get(key)
        if place is not None and self._is_shown[place]:
            self._is_shown[place] = False
            self._add(place, -self._weights[place])

    def at(self, position: int) -> tuple[int, int]:
        """Return the key at a position in [0, total) and the offset inside its weight."""
        if not 0 <= position < self.total:
            raise IndexError(position)
        sums, size, place, step = self._sums, self._size, 0, self._size
        while step:
            after = place + step
            if after <= size and sums[after] <= position:
                place, position = after, position - sums[after]
            step //= 2
        return self._keys[place], position

    def _new_place(self, key: int, *, is_shown: bool) -> int:
        if self._free:
            place = self._free.pop()
            self._keys[place] = key
            self._is_shown[place] = is_shown
        else:
            place = len(self._keys)
            if place == self._size:
                self._double()
            self._keys.append(key)
            self._weights.append(0)
            self._is_shown.append(is_shown)
        self._place[key] = place
        return place

    def _add(self, place: int, difference: int) -> None:
        self.total += difference
        sums, size = self._sums, self._size
        index = place + 1
        while index <= size:
            sums[index] += difference
            index += index & -index

    def _double(self) -> None:
        # Only the last of the new sums covers places from before.
        self._sums.frombytes(bytes(8 * self._size))
        self._size *= 2
        self._sums[self._size] = self.total
