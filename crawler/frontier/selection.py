"""The choice among the hosts that may be contacted now: the best URL of all of them.

It costs O(log hosts) for each URL, independent of the number of URLs of one host. Hosts and the
best URL of each are in memory; URLs stay on disk.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from random import Random
from typing import Final, NamedTuple

Head = tuple[float, int, int]
"""A host's best URL: minus score, the URL's id, the host's id."""


@dataclass(slots=True, eq=False)
class QueuedHost:
    """A host with a queued or leased URL, or one that still rests.

    It may be contacted again at `ready_at`, unix seconds. `promising` of its `queued` URLs are not
    doubtful. `head` is its best URL if `BestFirst` knows it.
    """

    id: int
    delay_s: float
    ready_at: float
    queued: int = 0
    promising: int = 0
    is_leased: bool = False
    is_ready: bool = False
    head: Head | None = None


class Pick(NamedTuple):
    """A URL in the queue of a host."""

    host: QueuedHost
    score: float
    url_id: int


class BestFirst:
    """Chooses the highest score of all ready hosts; among equal scores, the URL with the lowest id.

    Ids are in the order of discovery, or in that of `UniformDraw`.
    """

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
            host.head = None
            if host.is_ready:
                host.head = (*self._head_of(host.id), host.id)
                self._push(host.head)

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


TICK_BITS: Final = 20
"""The mean time until a URL is drawn has 2**20 ticks."""

_NUMBER_BITS: Final = 20


class UniformDraw:
    """Gives ids to URLs, so that the lowest id of a score is drawn uniformly from its queue.

    Each queued URL waits for a time with an exponential distribution, and its id is the tick at
    which this time ends. Such a time has no memory: whichever ends next is equally probably that of
    any queued URL, early or late. The clock of a score advances only when a URL is leased. A URL
    whose time ends while its host rests is drawn; it is leased when its host is ready.
    """

    def __init__(self, random: Random, drawn: Mapping[float, int]) -> None:
        """Draw with `random`; `drawn` has the highest id that was drawn of each score."""
        self._random = random
        self._ticks = {score: url_id >> _NUMBER_BITS for score, url_id in drawn.items()}
        self._number = 0

    def id_for(self, score: float) -> int:
        """Return the id of a new URL."""
        waits = int(self._random.expovariate(1.0) * (1 << TICK_BITS))
        self._number = (self._number + 1) % (1 << _NUMBER_BITS)
        return (self._ticks.get(score, 0) + waits) << _NUMBER_BITS | self._number

    def lease(self, score: float, url_id: int) -> None:
        """Advance the clock of a score to the tick of a URL that is leased."""
        ticks = url_id >> _NUMBER_BITS
        self._ticks[score] = max(ticks, self._ticks.get(score, 0))
