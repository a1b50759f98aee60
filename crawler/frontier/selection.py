"""Selection of the best URL among all hosts that may be contacted now.

Selection costs O(log hosts) per URL, whatever the number of URLs of a host. Hosts and their best
URLs are in memory; all URLs are on disk.

A free connection waits briefly for a better URL than a doubtful URL: without this wait, a crawl
with many connections would spend its first seconds on the few doubtful URLs queued at the start. A
URL is doubtful if its score is `FrontierRules.waits_up_to` or less; any other is promising.

The scores of an ordering that learns are probabilities. There a doubtful URL waits while all leased
URLs together are expected to be `EXPECTED` relevant pages: otherwise a crawl of a rare language
would fetch dozens of doubtful URLs before the first answer teaches anything. The less probable they
are, the more of them are fetched at once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from random import Random
from typing import Final

from langfocus.crawler.frontier.rules import EXPECTED, FrontierRules
from langfocus.crawler.strategies.focus.evidence import probability_of

Head = tuple[float, int, int]
"""A host's best URL: minus score, the URL's id, the host's id."""


@dataclass(slots=True, eq=False)
class QueuedHost:
    """A host with queued URLs, or a resting host.

    It is leased, or ready, or rests until `ready_at`, unix seconds. `queued` includes the leased
    URL. `head` is the best URL; None for a leased host or an empty queue.
    """

    id: int
    delay_s: float
    ready_at: float
    queued: int = 0
    is_leased: bool = False
    is_ready: bool = False
    is_resting: bool = False
    head: Head | None = None


class Hosts:
    """Selects the highest score among all ready hosts, then the lowest URL id.

    Ids are in discovery order, or in the order of `UniformDraw`. A host without queue and rest is
    forgotten. `queued` is the number of queued and leased URLs, `ready` the number of ready hosts.
    """

    def __init__(
        self,
        rules: FrontierRules,
        head_of: Callable[[int], tuple[float, int]],
        leases: Callable[[], Iterable[tuple[float, float]]],
    ) -> None:
        """Start without hosts.

        `head_of` returns minus the score and the id of a host's best URL, by host id. `leases`
        returns the start and the score of each lease, the latest first.
        """
        waits_up_to = rules.waits_up_to
        self.threshold = float("-inf") if waits_up_to is None else waits_up_to
        self.queued = 0
        doubts_up_to = rules.doubts_up_to if rules.is_expected_only else None
        self._above = float("-inf") if doubts_up_to is None else doubts_up_to
        self._patience_s = rules.patience_s
        self._head_of = head_of
        self._leases = leases
        self._learns = rules.prior is not None
        self._hosts: dict[int, QueuedHost] = {}
        self._heap: list[Head] = []
        self.ready = 0
        self._resting: list[tuple[float, int]] = []
        self._promising: list[tuple[float, int]] = []  # of these, hosts with a promising URL
        self._since: float | None = None

    def __len__(self) -> int:
        """Return the number of hosts that are leased, ready or resting."""
        return len(self._hosts)

    def __getitem__(self, host_id: int) -> QueuedHost:
        """Return the host with an id that is leased, ready or resting."""
        return self._hosts[host_id]

    def get(self, host_id: int) -> QueuedHost | None:
        """Return the host with an id; None for a host without queue and rest."""
        return self._hosts.get(host_id)

    def enter(self, host: QueuedHost) -> None:
        """Add a host."""
        self._hosts[host.id] = host
        self.queued += host.queued

    def add(self, host: QueuedHost, score: float, url_id: int, now: float) -> None:
        """Note that a URL of a host was queued."""
        host.queued += 1
        self.queued += 1
        head = (-score, url_id, host.id)
        if not host.is_leased and (host.head is None or head < host.head):
            host.head = head
            self._show(host)
        if not (host.is_leased or host.is_ready or host.is_resting):
            self.rest(host, host.ready_at, now)

    def rescore(self, host_id: int, score: float, url_id: int) -> None:
        """Update the best URL of a host after a score change."""
        host = self._hosts[host_id]
        if host.head is None:
            return
        head = (-score, url_id, host.id)
        if head < host.head or host.head[1] == url_id:
            host.head = head if head < host.head else (*self._head_of(host.id), host.id)
            self._show(host)

    def leave(self, host_id: int, number: int) -> None:
        """Subtract `number` URLs of a host from the queue."""
        host = self._hosts[host_id]
        host.queued -= number
        self.queued -= number
        host.head = None
        if host.is_ready:
            self.ready -= 1
        if not host.is_leased:
            self._place(host)

    def rest(self, host: QueuedHost, ready_at: float, now: float) -> None:
        """End a host's lease; the host rests until `ready_at`, or is ready at once."""
        host.ready_at, host.is_leased = ready_at, False
        host.is_resting = ready_at > now
        if host.is_resting:
            heappush(self._resting, (ready_at, host.id))
        self._place(host)

    def wake(self, now: float) -> None:
        """Make rested hosts ready."""
        while self._resting and self._resting[0][0] <= now:
            ready_at, host_id = heappop(self._resting)
            host = self._hosts.get(host_id)
            if host is not None and host.is_resting and host.ready_at == ready_at:
                self.rest(host, ready_at, now)
        while self._promising and self._promising[0][0] <= now:
            heappop(self._promising)

    def best(self) -> float | None:
        """Return the score of the URL next returned by `take`; None without a ready host."""
        while self._heap:
            if self._is_current(self._heap[0]):
                score = -self._heap[0][0]
                return score if score > self._above else None
            heappop(self._heap)
        return None

    def following(self, number: int) -> list[int]:
        """Return the ids that the next calls of `take` return if no score changes."""
        found: list[Head] = []
        while self._heap and len(found) < number:
            head = heappop(self._heap)
            if self._is_current(head):
                found.append(head)
        for head in found:
            heappush(self._heap, head)
        return [url_id for _, url_id, _ in found]

    def has_expected(self) -> bool:
        """Return True if a host has a URL for `take`, now or later; leased URLs do not count."""
        heads = (host.head for host in self._hosts.values())
        return any(head is not None and -head[0] > self._above for head in heads)

    def take(self, now: float) -> int | None:
        """Lease the host of the best URL, and return the URL's id.

        Return None if no host is ready, or while a doubtful URL waits for a better one.
        """
        best = self.best()
        if best is None or self._is_waiting(best, now):
            return None
        _, url_id, host_id = heappop(self._heap)
        # From now on all other entries of the host in the heap are void.
        self.ready -= 1
        host = self._hosts[host_id]
        host.head, host.is_ready, host.is_leased = None, False, True
        return url_id

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `take`; None without ready or resting hosts."""
        rested_at = self._resting[0][0] if self._resting else None
        best = self.best()
        if best is None:
            return rested_at
        if not self._is_waiting(best, now):
            return now
        waits_until = self._expected_until()
        if self._since is not None:
            waits_until = max(waits_until, self._since + self._patience_s)
        return waits_until if rested_at is None else min(rested_at, waits_until)

    def _is_waiting(self, best: float, now: float) -> bool:
        """Return True if the best ready URL is doubtful and must still wait."""
        if best > self.threshold:
            self._since = None
            return False
        if now < self._expected_until():
            return True
        if not (self._is_promised() or self._is_promised_soon(now)):
            return False
        if self._since is None:
            self._since = now
        return now - self._since < self._patience_s

    def _expected_until(self) -> float:
        """Return the time until which `EXPECTED` relevant pages are expected of leased URLs.

        Nothing is expected of a URL without an answer after the patience.
        """
        expected = 0.0
        for leased_at, score in self._leases() if self._learns else ():
            expected += probability_of(score)
            if expected >= EXPECTED:
                return leased_at + self._patience_s
        return float("-inf")

    def _is_promised(self) -> bool:
        """Return True if a promising URL is leased; never with an ordering that learns."""
        return not self._learns and any(score > self.threshold for _, score in self._leases())

    def _is_promised_soon(self, now: float) -> bool:
        """Return True if a host with a promising URL will be ready before the patience ends."""
        while self._promising:
            ready_at, host_id = self._promising[0]
            host = self._hosts.get(host_id)
            rests = host is not None and host.is_resting and host.ready_at == ready_at
            if rests and host and host.head and -host.head[0] > self.threshold:
                return ready_at <= now + self._patience_s
            heappop(self._promising)
        return False

    def _is_current(self, head: Head) -> bool:
        # The same object, because an equal entry may be void and later be pushed again.
        host = self._hosts.get(head[2])
        return host is not None and host.head is head and host.is_ready

    def _place(self, host: QueuedHost) -> None:
        """Make an unleased host ready, unless it rests; forget a host without queued URLs."""
        host.is_ready = host.queued > 0 and not host.is_resting
        if host.queued and host.head is None:
            host.head = (*self._head_of(host.id), host.id)
        if host.is_ready:
            self.ready += 1
        elif not host.is_resting:
            del self._hosts[host.id]
        self._show(host)

    def _show(self, host: QueuedHost) -> None:
        """Add the best URL of a ready host to the choice, or of a resting one to the hopes."""
        if host.head is None:
            return
        if host.is_resting and -host.head[0] > self.threshold > float("-inf"):
            heappush(self._promising, (host.ready_at, host.id))
        if not host.is_ready:
            return
        heappush(self._heap, host.head)
        if len(self._heap) > 2 * self.ready + 1024:
            self._heap = [entry for entry in self._heap if self._is_current(entry)]
            heapify(self._heap)


TICK_BITS: Final = 20
"""The mean time until a URL is drawn has 2**20 ticks."""

_NUMBER_BITS: Final = 20


class UniformDraw:
    """Gives ids to URLs, so that the lowest id of a score is drawn uniformly from its queue.

    Each queued URL waits for a time with an exponential distribution, and its id is the tick at the
    end of this time. The distribution has no memory: each queued URL, early or late, is equally
    probably next. The clock of a score advances only when a URL is leased. A URL whose time ends
    while its host rests is drawn, and is leased when the host is ready.
    """

    def __init__(self, random: Random, drawn: Mapping[float, int]) -> None:
        """Draw with `random`; `drawn` has the highest drawn id of each score."""
        self._random = random
        self._ticks = {score: url_id >> _NUMBER_BITS for score, url_id in drawn.items()}
        self._number = 0

    def id_for(self, score: float) -> int:
        """Return the id of a new URL."""
        waits = int(self._random.expovariate(1.0) * (1 << TICK_BITS))
        self._number = (self._number + 1) % (1 << _NUMBER_BITS)
        return (self._ticks.get(score, 0) + waits) << _NUMBER_BITS | self._number

    def lease(self, score: float, url_id: int) -> None:
        """Advance the clock of a score to the tick of a leased URL."""
        ticks = url_id >> _NUMBER_BITS
        self._ticks[score] = max(ticks, self._ticks.get(score, 0))
