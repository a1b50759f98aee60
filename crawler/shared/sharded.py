"""The frontier of a shared crawl with several shards, which may be on servers of a Redis Cluster.

A shard is a frontier as `crawler.shared.redis` has it, with keys of its own. The registered domain
of a URL decides its shard. So the caps of hosts and domains, their rests, tallies and known URLs
are as exact as in one frontier. Four things are of the whole crawl:

- The order. A worker compares the best URLs of two shards that it draws, and takes the better.
- Links to other shards. The script that settles a page keeps them in an outbox. A worker takes them
  to their shards a moment later, and may do so twice: a shard knows the last one that it got.
- Budgets. A shard leases no more than it was granted, and returns what it does not use.
- The slots of an IP address. They are in one shard, which the address decides.

A shard whose server is away rests, and the others go on. Pages of it that are settled meanwhile are
told to it when it is back.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, nextafter
from random import Random
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from crawler.errors import SettingError, StorageError
from crawler.frontier.base import (
    Admission,
    Counts,
    KeptRobots,
    KnownUrlError,
    Lease,
    LeaseError,
    Link,
    Record,
    Sending,
)
from crawler.frontier.links import LinkOrigin, Links
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import holder_of, penalties_of, with_penalties
from crawler.shared.learner import SharedLearner
from crawler.shared.membership import Membership
from crawler.shared.packing import Packed
from crawler.shared.redis import RedisFrontier, Taken
from crawler.shared.shards import Shard, Shards, shard_of, total
from crawler.shared.stored import AwayError, Client, StoredCrawl
from crawler.strategies.focus.evidence import Evidence
from crawler.strategies.orderings import Draw
from crawler.url import host_of

T = TypeVar("T")

_ENTRIES_A_CALL = 50
_SHORTEST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0
_MOST_TURNS = 64


class _Patient(RedisFrontier):
    """A part of a crawl that may be away. Then it is not asked for a moment, and nothing waits."""

    _is_open = False
    _away_since: float | None = None
    _asked_again_at = 0.0

    def _insist(self, do: Callable[[], T]) -> T:
        if not self._is_open:
            return super()._insist(do)
        began = time.monotonic()
        if began < self._asked_again_at:
            raise AwayError("Redis could not be reached a moment ago")
        try:
            answer = super()._insist(do)
        except AwayError as error:
            ended = time.monotonic()
            self._away_since = self._away_since or began
            pause_s = max(_SHORTEST_PAUSE_S, min(_LONGEST_PAUSE_S, 4 * (ended - began)))
            self._asked_again_at = ended + pause_s
            if ended - self._away_since > self._member.wait_s:
                raise StorageError(str(error)) from error
            raise
        self._away_since = None
        return answer

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if self._is_open:
            raise AwayError(f"Redis could not be reached: {error}") from error
        super()._check_patience(waited_s, error)


class Entry(NamedTuple):
    """Links of a page in the outbox of its shard: where they are, and what the script kept."""

    source: int
    target: int
    id: str
    number: int  # of links
    origin: Mapping[str, object]  # what the filter must know of the page
    links: str  # JSON, by `FrontierShard._outbox`


class FrontierShard(Shard, _Patient):
    """One shard of the frontier, for one worker."""

    def __init__(
        self,
        client: "Client",
        crawl: str,
        rules: FrontierRules,
        membership: Membership,
        *,
        now: float,
        sleep: Callable[[float], None],
        shard: tuple[int, int],
        learner: SharedLearner | None,
    ) -> None:
        """Join the shard; what the worker learns is stored by the whole crawl."""
        told: dict[str, Any] = {"now": now, "sleep": sleep, "shard": shard, "learner": learner}
        super().__init__(client, crawl, rules, membership, **told)
        self.place = shard[0]
        self.foreign: Mapping[int, Sequence[Link]] = {}
        self.late: list[Callable[[], object]] = []
        self.best: float | None = None  # the last tier that it told, None if it has none
        self.has_hopes = False  # something better than a doubtful URL may come soon
        self._rival: float | None = None
        self.quiet_until: float | None = None  # until then nothing may be ready
        self.ready_from = -inf  # of what is known then
        self._is_open = True

    def _merge(self) -> None:
        """Do nothing: the whole crawl merges."""

    # The next URL.

    def ask(self, now: float, rival: float | None, *, hopes: bool = False) -> Lease | None:
        """Lease the best URL unless its tier is above `rival`; note what the shard told.

        `hopes`: another shard may soon have something better than a doubtful URL.
        """
        self._rival = rival
        # Of equal URLs each may be leased, or neither shard would lease its own.
        than = "" if rival is None else repr(nextafter(rival, inf))
        told = {"held": len(self._held), "poll_s": self._member.poll_s, "hopes": int(hopes)}
        self._bounds = {"than": than, **told}
        self._refusal_of_next, self.quiet_until = "", None
        lease = self.next(now)
        word, *numbers = self._refusal_of_next.split() or [""]
        if lease is not None:
            self.has_hopes = lease.score > (self._rules.waits_up_to or -inf)
        elif word == "none":
            self.best, self.ready_from = None, float(numbers[1]) if numbers[1:] else inf
            # Other workers bring links too.
            self.quiet_until = min(self.ready_from, now + self._member.poll_s)
        elif word == "worse":
            self.best = float(numbers[1])
        if lease is None and numbers:
            self.has_hopes = numbers[0] == "1"
        return lease

    def _take(self) -> Taken | None:
        """Lease the best URL; the best one of the other shard is one of the others."""
        taken = super()._take()
        if taken is not None:
            rival = None if self._rival is None else 0.0 - self._rival
            known = [score for score in (taken.best_other, rival) if score is not None]
            taken.best_other = max(known, default=None)
        return taken

    @property
    def has_spent(self) -> bool:
        """True if the last URL was not leased because a budget is used up."""
        return self._refusal_of_next == "budget"

    def is_quiet(self, now: float) -> bool:
        """Return True if the shard told that it has nothing yet."""
        return self.quiet_until is not None and now < self.quiet_until

    def changed(self) -> None:
        """Ask again, since something may be ready now."""
        self.quiet_until = None

    def tell_queued(self, counts: Mapping[int, Counts]) -> None:
        """Let the records of pages have the URLs that were queued in the other shards, too."""
        others = [of for place, of in counts.items() if place != self.place]
        self._queued_elsewhere = {
            "queued_elsewhere": sum(one.queued + one.leased for one in others)
        }

    # Links to other shards.

    def _outbox(self, origin: LinkOrigin, parent: str) -> bytes:
        """Return what `_arrived` reads, for each shard that the page links to."""
        packed = [
            (f"{place:02d}", len(links), json.dumps([parent, origin, [_told(li) for li in links]]))
            for place, links in self.foreign.items()
        ]
        return self._packer.bytes_of(packed) if packed else b""

    def outbox(self) -> list[Entry]:
        """Return the oldest entries for each other shard."""
        targets: list[str] = self.read(sorted, lambda pipe: pipe.smembers(self.key("outboxes")))

        def ask(pipe: Any) -> None:
            for target in targets:
                pipe.xrange(self.key(f"outbox:{target}"), "-", "+", _ENTRIES_A_CALL)

        def made(*answers: Sequence[tuple[str, Mapping[str, str]]]) -> list[Entry]:
            return [
                Entry(
                    *(self.place, int(target), entry, int(told["number"])),
                    *(json.loads(told["origin"]), told["links"]),
                )
                for target, entries in zip(targets, answers, strict=True)
                for entry, told in entries
            ]

        return self.read(made, ask) if targets else []

    def deliver(self, entries: Sequence[Entry], now: float) -> None:
        """Take in links of other shards; entries that came before are left out."""
        self._now = now
        pages = [_arrived(entry.links) for entry in entries]
        scored: Sequence[Sequence[Link]] = [links for _, _, links in pages]
        if self._learner is not None:
            of_pages = [(links, origin) for _, origin, links in pages]
            scored = self._learner.at(self._fields).arrived(of_pages)
        bodies = [
            self._packer.pack(links, origin, parent).body
            for links, (parent, origin, _) in zip(scored, pages, strict=True)
        ]
        told = [[f"{entry.source:02d}", entry.id, entry.origin] for entry in entries]
        self._call("deliver", Packed(self._packer.list_of(bodies), []), entries=told)
        self.changed()

    def delivered(self, entries: Sequence[Entry]) -> None:
        """Forget entries of the outbox."""
        told = [[f"{entry.target:02d}", entry.id, entry.number] for entry in entries]
        self._call("delivered", entries=told)

    # Slots and budgets.

    def first_of(self, lease: Lease) -> bool:
        """Return True if the request of a leased URL would be its first."""
        held = self._held_as(lease)
        return not (held.was_sent or held.is_sent)

    def forget_lease(self, lease: Lease) -> None:
        """Let a lease end by itself."""
        self._held.pop(lease.fingerprint, None)

    def lower(self, lease: Lease, penalties: int, doubts_up_to: float | None) -> None:
        """Give a leased URL back with so many penalties."""
        score = with_penalties(lease.score, penalties, doubts_up_to)
        self._call("lower", **self._given_back(lease, score, is_penalized=True))

    def address(self, holder: str, is_page: bool, penalties: int) -> str:
        """Return "now" if an address has a slot, and take it for a page; else why not."""
        told = {"is_page": int(is_page), "penalties": penalties}
        return str(self._call("address", address=holder, **told))

    def address_gets(self, holder: str, name: str, number: int) -> None:
        """Add to the slots that an address has taken, or to the pages that earn it more."""
        self._call("address_gets", address=holder, hash=name, number=number)

    def quota(self, granted: Sequence[int] = (0, 0), *, returns: bool = False) -> list[list[int]]:
        """Take over what was granted; return what was granted and returned, and what is left."""
        told: list[list[int]] = self._call("quota", granted=list(granted), returns=int(returns))
        return told


def _told(link: Link) -> list[object]:
    return [link.url, link.score, link.evidence and [float(fact) for fact in link.evidence]]


def _arrived(text: str) -> tuple[str, LinkOrigin, list[Link]]:
    parent, facts, links = json.loads(text)
    origin = LinkOrigin._make((*facts[:-1], Links._make(facts[-1])))
    return (
        parent,
        origin,
        [Link(url, score, evidence and Evidence(*evidence)) for url, score, evidence in links],
    )


class ShardedFrontier(Shards, _Patient):
    """See `crawler.frontier.base.Frontier`. Its own keys are those of the whole crawl.

    While a shard is away its calls wait in this process for `Membership.wait_s` seconds.
    """

    may_be_away = True
    parts: Sequence[FrontierShard]

    def __init__(
        self,
        client: "Client",
        crawl: str,
        rules: FrontierRules,
        membership: Membership,
        *,
        now: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Join the crawl and all of its shards; see `RedisFrontier`."""
        if rules.draw is Draw.UNIFORM:
            raise SettingError("URLs are drawn at random from one queue: use LANGFOCUS_SHARDS=1")
        super().__init__(client, crawl, rules, membership, now=now, sleep=sleep)
        number = membership.shards
        of_shard = replace(rules, robots_bytes=rules.robots_bytes // number)
        how: dict[str, Any] = {"now": now, "sleep": sleep, "learner": self._learner}
        self.parts = [
            FrontierShard(client, crawl, of_shard, membership, shard=(place, number), **how)
            for place in range(number)
        ]
        for part in self.parts:
            part._losses = self._losses
        self._random = Random(f"{rules.random_state} {membership.worker} shards")
        self._addresses: dict[int, str] = {}
        self._unsent: set[int] = set()  # shards with links for others
        self._delivered_at = self._looked_at = float("-inf")
        self._spent_at: float | None = None  # no budget was left then
        self._counts: dict[int, Counts] = {}
        self._ahead_s = 0.0
        self._is_open = True
        if rules.budget_pages is not None or rules.budget_relevant is not None:
            self._reclaim()  # another budget may be in force now

    def _part(self, host: str) -> FrontierShard:
        return self.parts[shard_of(host, len(self.parts))]

    def each(self, ask: Callable[[Any], T]) -> list[T]:
        """Return the answers of the shards that can be reached."""
        found = []
        for part in self.parts:
            with suppress(AwayError):
                found.append(ask(part))
        return found

    # URLs.

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds; see `Frontier.seed`."""
        answers: dict[int, Admission] = {}
        for place, numbers in self._by_place(links).items():
            part = self.parts[place]
            part.changed()
            told = part.seed([links[n] for n in numbers], now, depth)
            answers |= zip(numbers, told, strict=True)
        return [answers[n] for n in range(len(links))]

    def _by_place(self, links: Sequence[Link]) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for number, link in enumerate(links):
            places.setdefault(shard_of(host_of(link.url), len(self.parts)), []).append(number)
        return places

    def admit(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        now: float,
        was_contacted: bool = True,
    ) -> list[Admission]:
        """Settle a leased URL; links to other shards are `Admission.SENT`."""
        self._now, part = now, self._part(lease.host)
        places = self._by_place(links)
        own = places.pop(part.place, [])
        foreign = {place: [links[n] for n in numbers] for place, numbers in places.items()}

        def settle() -> list[Admission]:
            part.foreign = foreign
            part.tell_queued(self._counts)
            of_own = [links[n] for n in own]
            return part.admit(lease, record, of_own, now=now, was_contacted=was_contacted)

        told = self._or_later(part, settle)
        self._spent_at = None
        if foreign:
            self._unsent.add(part.place)
        holder = self._addresses.pop(lease.fingerprint, "")
        if holder and record.is_download and record.is_relevant:
            home = self._home(holder)
            self._or_later(home, lambda: home.address_gets(holder, "earned", 1))
        with suppress(AwayError):
            self._merge()
        if self._member.deliver_s == 0:
            self._deliver({part.place}, now)
        answers = dict(zip(own, told or (), strict=False))
        return [answers.get(n, Admission.SENT) for n in range(len(links))]

    def _or_later(self, part: FrontierShard, do: Callable[[], T]) -> T | None:
        """Do something with a shard; if it is away, when it is back, and return None."""
        part.changed()
        try:
            self._do_late(part)
            return do()
        except AwayError:
            part.late.append(do)
            return None

    def _do_late(self, part: FrontierShard) -> None:
        while part.late:
            with suppress(LeaseError, KnownUrlError):  # it was done, or the lease has ended
                part.late[0]()
            del part.late[0]

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Give a leased URL back to be fetched again; see `Frontier.retry`."""
        self._now, self._spent_at, part = now, None, self._part(lease.host)
        told: dict[str, Any] = {"now": now, "not_before": not_before, "url": url}
        self._or_later(part, lambda: part.retry(lease, **told))
        self._addresses.pop(lease.fingerprint, None)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; see `Frontier.release`."""
        self._now, self._spent_at, part = now, None, self._part(lease.host)
        self._or_later(part, lambda: part.release(lease, now=now, not_before=not_before))
        self._addresses.pop(lease.fingerprint, None)

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; see `Frontier.send`.

        The URL of a shard that is away is fetched later.
        """
        self._now, part = now, self._part(lease.host)
        part.changed()
        try:
            return self._send(part, lease, address, is_page)
        except AwayError:
            part.forget_lease(lease)
            return Sending.LATER

    def _send(
        self, part: FrontierShard, lease: Lease, address: str | None, is_page: bool
    ) -> Sending:
        now, holder = self._now, holder_of(address) if address and self._rules.address_cap else ""
        is_first = part.first_of(lease)
        if holder and is_first:
            before = penalties_of(lease.score, self._rules.doubts_up_to)
            answer = self._home(holder).address(holder, is_page, before)
            if answer != "now":
                # A full host or a full domain is told first.
                told = part.send(lease, None, now=now, is_page=False)
                if told is not Sending.NOW or not answer.isdecimal():
                    return told if told is not Sending.NOW else Sending(answer)
                part.lower(lease, int(answer), self._rules.doubts_up_to)
                return Sending.LATER
        told = part.send(lease, None, now=now, is_page=is_page)
        if holder and is_page and told is Sending.NOW:
            self._addresses[lease.fingerprint] = holder
        elif holder and is_page and is_first:
            self._home(holder).address_gets(holder, "taken", -1)
        return told

    def _home(self, name: str) -> FrontierShard:
        """Return the shard that counts the slots of an address."""
        return self.parts[crc32(name.encode()) % len(self.parts)]

    def next(self, now: float) -> Lease | None:
        """Lease the better of the best URLs of two shards; if both have none, that of another."""
        self._now = now
        if now >= self._delivered_at + self._member.deliver_s:
            self._deliver({*self._unsent, self._random.randrange(len(self.parts))}, now)
        lease = self._best(now)
        if lease is None and self._spent_at != now and self._has_arrivals(now):
            lease = self._best(now)
        return lease

    def _has_arrivals(self, now: float) -> bool:
        """Deliver what is on its way; also, now and then, what workers that died left."""
        places = {*self._unsent}
        if now >= self._looked_at + self._member.poll_s:
            self._looked_at, places = now, {*range(len(self.parts))}
        return self._deliver(places, now) > 0

    def _best(self, now: float) -> Lease | None:
        if self._spent_at is not None and now < self._spent_at + self._member.poll_s:
            return None
        order = self._random.sample(self.parts, len(self.parts))
        one, other = order[0], order[-1]
        if self._is_doubtful(self._peek(one, now)):
            # Another shard may have told a better one than these two have.
            one = min(order[:-1] or order, key=lambda part: inf if part.best is None else part.best)
        lease = self._better(one, other, now)
        for part in order:
            if lease is not None or self._spent_at is not None:
                break
            lease = self._lease(part, None, now)
        return lease

    def _better(self, one: FrontierShard, other: FrontierShard, now: float) -> Lease | None:
        """Lease the better of two best URLs; their scores may fall while they are looked at."""
        rival = self._peek(one, now)
        for _ in range(_MOST_TURNS):
            lease = self._lease(other, rival, now)
            if lease is not None or self._spent_at is not None or other.best is rival is None:
                return lease
            one, other, rival = other, one, other.best
        return None

    def _is_doubtful(self, tier: float | None) -> bool:
        waits_up_to = self._rules.waits_up_to
        return tier is None or (waits_up_to is not None and -tier <= waits_up_to)

    def _peek(self, part: FrontierShard, now: float) -> float | None:
        """Return the tier of a shard's best URL, None if none may be leased now."""
        self._lease(part, -inf, now)
        return None if part.is_quiet(now) or part.has_spent else part.best

    def _lease(self, part: FrontierShard, rival: float | None, now: float) -> Lease | None:
        if part.is_quiet(now):
            return None
        hopes = any(other.has_hopes for other in self.parts if other is not part)
        ask = partial(part.ask, now, rival, hopes=hopes)
        try:
            self._do_late(part)
            lease = ask()
            for others_return in (False, True):
                if lease is None and part.has_spent:
                    if others_return:
                        self._reclaim()
                    self._grant(part)
                    lease = ask()
        except AwayError:
            part.best = None
            part.quiet_until = part.ready_from = now + self._member.poll_s
            return None
        self._spent_at = now if part.has_spent else None
        return lease

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or a time to ask again."""
        if self._spent_at is not None:
            return now + self._member.poll_s
        times = [now if part.quiet_until is None else part.ready_from for part in self.parts]
        return min(*times, now + self._member.poll_s)  # other workers bring links too

    # Budgets.

    def _grant(self, part: FrontierShard, told: Sequence[Sequence[int]] | None = None) -> None:
        """Let a shard have a part of what is left of the budgets, if it has nothing left."""
        told = told or part.quota()
        part.quota(self._call("grant", shard=str(part.place), told=told))

    def _reclaim(self) -> None:
        """Let all shards return what they do not use."""

        def reclaim(part: FrontierShard) -> None:
            told = [[granted, returned, -1] for granted, returned, _ in part.quota(returns=True)]
            self._call("grant", shard=str(part.place), told=told)

        self.each(reclaim)

    # Links to other shards.

    def _deliver(self, places: set[int], now: float) -> int:
        """Take the links in the outboxes of some shards to their shards; return their number."""
        self._delivered_at, done = now, list[Entry]()
        self._unsent -= places
        entries: list[Entry] = []
        for place in places:
            try:
                entries += self.parts[place].outbox()
            except AwayError:
                self._unsent.add(place)
        for target in {entry.target for entry in entries}:
            some = [entry for entry in entries if entry.target == target]
            with suppress(AwayError):
                for start in range(0, len(some), _ENTRIES_A_CALL):
                    self.parts[target].deliver(some[start : start + _ENTRIES_A_CALL], now)
                done += some
        for source in {entry.source for entry in done}:
            with suppress(AwayError):
                self.parts[source].delivered([each for each in done if each.source == source])
        if len(done) < len(entries) or len(entries) >= _ENTRIES_A_CALL:  # there may be more
            self._unsent |= {entry.source for entry in entries}
        return len(done)

    # The rest of the contract.

    def renew(self, now: float) -> None:
        """Extend the leases of this worker to their full time from `now`."""

        def renew(part: FrontierShard) -> None:
            self._do_late(part)
            part.renew(now)

        self.each(renew)
        with suppress(AwayError):
            super().renew(now)

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the queued URLs that are blocked and return their number; leased URLs stay."""
        self._deliver({*range(len(self.parts))}, self._now)
        return sum(self.each(lambda part: part.drop_blocked(is_blocked)))

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        part = self._part(host)
        self._or_later(part, lambda: part.set_delay(host, delay_s))

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the stored robots.txt of an origin; None also while its shard is away."""
        with suppress(AwayError):
            return self._part(host_of(origin)).robots(origin)
        return None

    def _keep_robots(self, name: str, text: str, now: float, **condition: str) -> bool:
        part = self._part(host_of(name))
        with suppress(AwayError):
            return part._keep_robots(name, text, now, **condition)
        return False

    def counts(self) -> Counts:
        """Return the numbers of URLs and pages; those of a shard that is away are the last ones."""
        for part in self.parts:
            with suppress(AwayError):
                self._counts[part.place] = part.counts()
        return total([*self._counts.values()])

    def exists(self) -> bool:
        """Return True if the crawl and all of its shards can be read."""
        try:
            return super().exists() and all(part.exists() for part in self.parts)
        except AwayError:
            return False

    def check_eviction(self) -> None:
        """Raise `StorageError` if a server deletes keys when its memory is full."""
        with suppress(AwayError):
            super().check_eviction()

    def time(self) -> float:
        """Return the time of the server of the whole crawl; while it is away, by this machine."""
        with suppress(AwayError):
            self._ahead_s = super().time() - time.time()
        return time.time() + self._ahead_s

    def at_address(self, address: str) -> StoredCrawl:
        """Return the shard that counts the requests at an address."""
        return self._home(address)

    def give_back(self) -> None:
        """Give the leases of this worker back, and deliver its links."""
        self._deliver({*self._unsent}, self._now)
        self.each(self._do_late)
        self.each(lambda part: part.give_back())
