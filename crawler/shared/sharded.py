"""The frontier of a shared crawl with several shards, which may be on servers of a Redis Cluster.

A shard is a frontier as `crawler.shared.redis` has it, with keys of its own. The registered domain
of a URL decides its shard. So the caps of hosts and domains, their rests, tallies and known URLs
are as exact as in one frontier. Four things are of the whole crawl:

- The order. A worker compares the best URLs of two shards that it draws, and takes the better.
- Links to other shards. The script that settles a page keeps them in an outbox. A worker takes them
  to their shards a moment later, and may do so twice: a shard knows the last one that it got. They
  leave the outbox when a replica has them too, if the server has one.
- Budgets. A shard leases no more than it was granted, and returns what it does not use.
- The slots of an IP address. They are in one shard, which the address decides.

A shard whose server is away rests, and the others go on. Pages of it that are settled meanwhile are
told to it when it is back.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import inf
from random import Random
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import (
    Admission,
    Counts,
    KeptRobots,
    KnownUrlError,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.links import LinkOrigin, Links
from langfocus.crawler.frontier.slots import holder_of, penalties_of
from langfocus.crawler.shared.packing import Packed
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.shards import Shards, shard_of, total
from langfocus.crawler.shared.stored import AwayError, Question, StoredCrawl
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.url import host_of

T = TypeVar("T")

_ENTRIES_A_CALL = 50
_SHORTEST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0
_MOST_TURNS = 64
_COPIED_MS = 100
_VAIN_POLLS = 5  # shards that had nothing to return are asked again after so many


class _Part(RedisFrontier):
    """A part of a crawl that may be away. Then it is not asked for a moment, and nothing waits."""

    _is_open = False
    _away_since: float | None = None
    _asked_again_at = 0.0

    def _join(self) -> None:
        super()._join()
        self.late: list[Callable[[], object]] = []
        self._is_open = True

    @property
    def is_away(self) -> bool:
        """True if it is not asked now, or if calls wait for it."""
        return self._away_since is not None or bool(self.late)

    def reach(
        self, do: Callable[[], T], away: T | None = None, *, is_late: bool = False
    ) -> T | None:
        """Do what waited for this part, then `do`; while the part is away return `away`.

        If it may be done late, it waits until the part is back.
        """
        try:
            while self.late:
                with suppress(LeaseError, KnownUrlError):  # it was done, or the lease has ended
                    self.late[0]()
                del self.late[0]
            return do()
        except AwayError:
            if is_late:
                self.late.append(do)
            return away

    def _waits(self, score: float) -> bool:
        """Return True if a URL with that score waits for better ones."""
        waits_up_to = self._rules.waits_up_to
        return waits_up_to is not None and score <= waits_up_to

    def _insist(self, do: Callable[[], T]) -> T:
        if not self._is_open:
            return super()._insist(do)
        self.check_rest()
        began = time.monotonic()
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

    def check_rest(self) -> None:
        """Raise `AwayError` if it was away a moment ago."""
        if time.monotonic() < self._asked_again_at:
            raise AwayError("Redis could not be reached a moment ago")

    def _check_patience(self, waited_s: float, error: Exception) -> None:
        if self._is_open:
            raise AwayError(f"Redis could not be reached: {error}") from error
        super()._check_patience(waited_s, error)


class Entry(NamedTuple):
    """Links of a page in the outbox of its shard: where they are, and what the script kept."""

    source: int
    target: int
    id: str
    reign: str  # of the server that kept it; ids grow within it
    number: int  # of links
    origin: Mapping[str, object]  # what the filter must know of the page
    links: str  # JSON, by `FrontierShard._of_others`


class FrontierShard(_Part):
    """One shard of the frontier, for one worker; what it learns is merged by the whole crawl."""

    foreign: Mapping[int, Sequence[Link]] = {}  # links of the next page that belong to other shards
    queued_elsewhere = 0  # in the other shards
    best = inf  # the last tier that it told, infinite if it has none
    has_hopes = False  # something better than a doubtful URL may come soon
    quiet_until = -inf  # nothing may be leased before
    spent: Sequence[Sequence[int]] = ()  # `quotas` in Lua; () if it did not refuse for a budget

    def _merge(self) -> None:
        """Do nothing."""

    # The next URL.

    def ask(
        self, now: float, rival: float, *, hopes: bool, granted: Sequence[int] = ()
    ) -> Lease | None:
        """Lease the best URL unless its tier is above `rival`; note what the shard told.

        Of equal URLs each may be leased, or neither shard would lease its own. `hopes`: another
        shard may soon have something better than a doubtful URL. `granted`: of each budget, in all.
        """
        poll_s = self._member.poll_s
        of_others = {"rival": "" if rival == inf else repr(rival), "hopes": int(hopes)}
        own = {"held": len(self._held), "poll_s": poll_s, "granted": [*granted]}
        self._bounds, self._refusal_of_next = of_others | own, "{}"
        lease = self.next(now)
        told = json.loads(self._refusal_of_next)
        self.spent, self.best = told.get("spent", ()), float(told.get("best", inf))
        self.has_hopes, self.quiet_until = told.get("hopes", self.has_hopes), -inf
        if "ready_at" in told:  # at the latest after a poll, as other workers bring links too
            self.quiet_until = min(now + poll_s, float(told["ready_at"] or inf))
        if lease is not None:
            self.best, self.has_hopes = 0.0 - lease.score, not self._waits(lease.score)
        return lease

    # Links to other shards.

    def _of_others(self, origin: LinkOrigin, parent: str) -> dict[str, object]:
        packed = [
            (f"{place:02d}", len(links), json.dumps([parent, origin, [_told(li) for li in links]]))
            for place, links in self.foreign.items()
        ]
        return {"outbox": packed, "queued_elsewhere": self.queued_elsewhere}

    def ask_targets(self) -> Question[list[str]]:
        """Ask which shards have entries in the outbox."""
        return sorted, lambda pipe: pipe.smembers(self.key("outboxes"))

    def ask_outbox(self, targets: Sequence[str]) -> Question[list[Entry]]:
        """Ask for the oldest entries for other shards."""

        def ask(pipe: Any) -> None:
            for target in targets:
                pipe.xrange(self.key(f"outbox:{target}"), "-", "+", _ENTRIES_A_CALL)

        def made(*answers: Sequence[tuple[str, Mapping[str, str]]]) -> list[Entry]:
            return [
                Entry(
                    *(self.place, int(target), entry, told["reign"], int(told["number"])),
                    *(json.loads(told["origin"]), told["links"]),
                )
                for target, entries in zip(targets, answers, strict=True)
                for entry, told in entries
            ]

        return made, ask

    def deliver(self, entries: Sequence[Entry], now: float) -> bool:
        """Take in links of other shards; entries that came before are left out.

        Return False if they may still be lost with the server, as no replica told that it has them.
        """
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
        told = [[f"{one.source:02d} {one.reign}", one.id, one.origin] for one in entries]
        replicas = self._call("deliver", Packed(self._packer.list_of(bodies), []), entries=told)
        self.quiet_until = -inf
        # This connection asks whether a replica has all that it wrote.
        return not replicas or bool(self._insist(lambda: self._ask("WAIT", 1, _COPIED_MS)))

    def delivered(self, entries: Sequence[Entry]) -> None:
        """Forget entries of the outbox."""
        told = [[f"{entry.target:02d}", entry.id, entry.number] for entry in entries]
        self._call("delivered", entries=told)


def _told(link: Link) -> list[object]:
    return [link.url, link.score, link.evidence and [float(fact) for fact in link.evidence]]


def _arrived(text: str) -> tuple[str, LinkOrigin, list[Link]]:
    parent, facts, links = json.loads(text)
    origin = LinkOrigin._make((*facts[:-1], Links._make(facts[-1])))
    found = [Link(url, score, evidence and Evidence(*evidence)) for url, score, evidence in links]
    return parent, origin, found


class _Post:
    """Takes links from the outboxes of shards to their shards, for one worker."""

    def __init__(self, shards: "ShardedFrontier") -> None:
        self._shards, self._parts = shards, shards.parts
        self.unsent: set[int] = set()  # shards with links for others
        self.delivered_at = self._looked_at = -inf

    def has_arrivals(self, now: float, poll_s: float) -> bool:
        """Deliver, now and then, all that is on its way, also of workers that died."""
        if now < self._looked_at + poll_s:
            return False
        self._looked_at = now
        return self.deliver({*range(len(self._parts))}, now) > 0

    def deliver(self, places: set[int], now: float) -> int:
        """Take the links in the outboxes of some shards to their shards; return their number."""
        self.delivered_at, done = now, list[Entry]()
        targets = self._shards.answers(FrontierShard.ask_targets, places)
        sources = {place for place in places if targets.get(place)}
        found = self._shards.answers(lambda part: part.ask_outbox(targets[part.place]), sources)
        self.unsent -= targets.keys() - sources | found.keys()
        entries = [entry for of_source in found.values() for entry in of_source]
        for target in {entry.target for entry in entries}:
            some, part = [one for one in entries if one.target == target], self._parts[target]
            for start in range(0, len(some), _ENTRIES_A_CALL):
                batch = some[start : start + _ENTRIES_A_CALL]
                done += batch if part.reach(partial(part.deliver, batch, now)) else ()
        for source in {entry.source for entry in done}:
            its, part = [one for one in done if one.source == source], self._parts[source]
            part.reach(partial(part.delivered, its))
        if len(done) < len(entries) or len(entries) >= _ENTRIES_A_CALL:  # there may be more
            self.unsent |= {entry.source for entry in entries}
        return len(done)


class ShardedFrontier(Shards, _Part):
    """See `crawler.frontier.base.Frontier`. Its own keys are those of the whole crawl.

    While a shard is away its calls wait in this process for `Membership.wait_s` seconds.
    """

    parts: Sequence[FrontierShard]
    _reclaimed_at = -inf  # no shard had anything to return then
    _ahead_s = 0.0

    def _join(self) -> None:
        """Join the crawl and all of its shards."""
        rules, number = self._rules, self._member.shards
        if rules.draw is Draw.UNIFORM:
            raise SettingError("URLs are drawn at random from one queue: use LANGFOCUS_SHARDS=1")
        super()._join()
        of_shard = replace(rules, robots_bytes=rules.robots_bytes // number)
        make = partial(FrontierShard, self._client, self.crawl, of_shard, self._member)
        make = partial(make, now=self._now, sleep=self._sleep, learner=self._learner)
        self.parts = [make(shard=(place, number)) for place in range(number)]
        for part in self.parts:
            part._losses = self._losses
        self._random = Random(f"{rules.random_state} {self.worker} shards")
        self._post = _Post(self)
        self._addresses: dict[int, str] = {}
        self._counts: dict[int, Counts] = {}
        if rules.budget_pages is not None or rules.budget_relevant is not None:
            told = [(part.place, part._call("return_quota")) for part in self.parts]
            self._call("grant", told=told, is_all_told=True)

    def _part(self, host: str) -> FrontierShard:
        return self.parts[shard_of(host, len(self.parts))]

    # URLs.

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds; those of a shard that is away are `Admission.SENT`."""
        answers: dict[int, Admission] = {}
        for place, numbers in self._by_place(links).items():
            part = self.parts[place]
            part.quiet_until = -inf
            seed = partial(part.seed, [links[n] for n in numbers], now, depth)
            answers |= zip(numbers, part.reach(seed, is_late=True) or (), strict=False)
        return [answers.get(n, Admission.SENT) for n in range(len(links))]

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
        ready_at = now + self._rules.delay_s if was_contacted and not own else now

        def settle() -> list[Admission]:
            others = [of for place, of in self._counts.items() if place != part.place]
            part.foreign = foreign
            part.queued_elsewhere = sum(one.queued + one.leased for one in others)
            of_own = [links[n] for n in own]
            return part.admit(lease, record, of_own, now=now, was_contacted=was_contacted)

        holder = self._addresses.get(lease.fingerprint, "")
        told = self._end_late(lease, ready_at, settle)
        if foreign:
            self._post.unsent.add(part.place)
        if holder and record.is_download and record.is_relevant:
            self._address_gets(holder, "earned", 1)
        self.reach(self._merge)
        if self._member.deliver_s == 0:
            self._post.deliver({part.place}, now)
        answers = dict(zip(own, told or (), strict=False))
        return [answers.get(n, Admission.SENT) for n in range(len(links))]

    def _end_late(self, lease: Lease, ready_at: float, do: Callable[[], T]) -> T | None:
        """End a lease; if its shard is away, when it is back, and return None.

        The shard may have a URL at `ready_at`; at once if a doubtful one waited for this lease.
        """
        part = self._part(lease.host)
        part.quiet_until = -inf if part.has_hopes else min(part.quiet_until, ready_at)
        told = part.reach(do, is_late=True)
        self._addresses.pop(lease.fingerprint, None)
        return told

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Give a leased URL back to be fetched again; see `Frontier.retry`."""
        self._now, retry = now, self._part(lease.host).retry
        do = partial(retry, lease, now=now, not_before=not_before, url=url)
        self._end_late(lease, not_before, do)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; see `Frontier.release`."""
        self._now, release = now, self._part(lease.host).release
        ready_at = now + self._rules.delay_s if not_before is None else not_before
        self._end_late(lease, ready_at, partial(release, lease, now=now, not_before=not_before))

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; see `Frontier.send`.

        The URL of a shard that is away is fetched later.
        """
        self._now, part = now, self._part(lease.host)
        answer = part.reach(partial(self._send, part, lease, address, is_page))
        if answer is None:
            part._held.pop(lease.fingerprint, None)  # the lease ends by itself
        if answer is not Sending.NOW:
            part.quiet_until = -inf
        return answer or Sending.LATER

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        """Return whether a file may be requested from a host; it counts for its domain alone."""
        part = self._part(host)
        return part.reach(partial(part.ask_file, host, None, now=now)) or Sending.NOW

    def _send(
        self, part: FrontierShard, lease: Lease, address: str | None, is_page: bool
    ) -> Sending:
        now, holder = self._now, holder_of(address) if address and self._rules.address_cap else ""
        held = part.held_as(lease)
        is_first = not (held.was_sent or held.is_sent)
        if holder and is_first:
            before = penalties_of(held.lease.score, self._rules.doubts_up_to)
            part.check_rest()
            asked = {"address": holder, "is_page": int(is_page), "penalties": before}
            answer = self._home(holder)._call("address", **asked)
            if answer != "now":
                # A full host or a full domain is told first.
                told = part.send(lease, None, now=now, is_page=False)
                return told if told is not Sending.NOW else part.sending_of(lease, answer)
        sent = None
        with suppress(LeaseError):
            sent = part.send(lease, None, now=now, is_page=is_page)
        if holder and is_page and sent is Sending.NOW:
            self._addresses[lease.fingerprint] = holder
        elif holder and is_page and is_first:
            self._address_gets(holder, "taken", -1)
        if sent is None:
            raise LeaseError(f"{lease.url} is not leased")
        return sent

    def _address_gets(self, holder: str, name: str, number: int) -> None:
        call = partial(self._home(holder)._call, "address_gets")
        add = partial(call, address=holder, hash=name, number=number)
        self._home(holder).reach(add, is_late=True)

    def _home(self, name: str) -> FrontierShard:
        """Return the shard that counts the slots of an address."""
        return self.parts[crc32(name.encode()) % len(self.parts)]

    def next(self, now: float) -> Lease | None:
        """Lease the better of the best URLs of two shards; if both have none, that of another."""
        self._now = now
        if now >= self._post.delivered_at + self._member.deliver_s:
            # The links of this worker, and of one shard that is drawn.
            drawn = self._random.randrange(len(self.parts))
            self._post.deliver({*self._post.unsent, drawn}, now)
        lease = self._best(now)
        if lease is None and self._post.has_arrivals(now, self._member.poll_s):
            lease = self._best(now)
        return lease

    def _best(self, now: float) -> Lease | None:
        order = [part for part in self.parts if now >= part.quiet_until]
        self._random.shuffle(order)
        while order:
            one = order.pop()
            if not order:
                return self._lease(one, inf, now)
            other, rival = order.pop(), self._peek(one, now)
            if order and (rival == inf or self._waits(-rival)):
                # Another shard may have told a better one than these two have.
                place = min(range(len(order)), key=lambda n: order[n].best)
                if order[place].best < rival:
                    one, order[place] = order[place], one
                    rival = self._peek(one, now)
            if (lease := self._better(one, other, rival, now)) is not None:
                return lease
        return None

    def _better(
        self, one: FrontierShard, other: FrontierShard, rival: float, now: float
    ) -> Lease | None:
        """Lease the better of two best URLs; their scores may fall while they are looked at."""
        for _ in range(_MOST_TURNS):
            lease = self._lease(other, rival, now)
            if lease is not None or other.best == rival == inf:
                return lease
            one, other, rival = other, one, other.best
        return None

    def _peek(self, part: FrontierShard, now: float) -> float:
        """Return the tier of a shard's best URL, infinite if none may be leased now."""
        self._lease(part, -inf, now)
        return part.best

    def _lease(self, part: FrontierShard, rival: float, now: float) -> Lease | None:
        if now < part.quiet_until:
            return None
        part.best, part.quiet_until = inf, now + self._member.poll_s  # if it is away
        return part.reach(partial(self._leased_by, part, rival, now))

    def _leased_by(self, part: FrontierShard, rival: float, now: float) -> Lease | None:
        hopes = any(other.has_hopes for other in self.parts if other is not part)
        lease = part.ask(now, rival, hopes=hopes)
        while part.spent and (granted := self._granted(part, now)):
            lease = part.ask(now, rival, hopes=hopes, granted=granted)
        return lease

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or a time to ask again."""
        poll_at = now + self._member.poll_s  # other workers bring links too
        if self._post.unsent:
            poll_at = min(poll_at, max(now, self._post.delivered_at + self._member.deliver_s))
        return min(poll_at, *(max(now, part.quiet_until) for part in self.parts))

    # Budgets.

    def _granted(self, part: FrontierShard, now: float) -> Sequence[int]:
        """Return what a shard that spent a budget was granted in all, () if that is no more."""
        had, poll_s = [granted for granted, _, _ in part.spent], self._member.poll_s
        told = [(part.place, part.spent)]
        granted = self._grant(told, had)
        if granted == had and now >= self._reclaimed_at + _VAIN_POLLS * poll_s:
            granted = self._grant([*self._returned(), *told], had)
            if granted == had:
                self._reclaimed_at = now
        if granted == had:
            for each in self.parts:
                each.quiet_until = now + poll_s
            return ()
        return granted

    def _returned(self) -> list[tuple[int, list[list[int]]]]:
        """Let all shards return what they do not use, and tell what each one told."""
        return self.each(lambda part: (part.place, part._call("return_quota")))

    def _grant(self, told: Sequence[object], had: Sequence[int]) -> Sequence[int]:
        """Take back what shards returned; the last one, which had all that, may get more."""
        return self.reach(lambda: self._call("grant", told=told), had) or had

    # The rest of the contract.

    def renew(self, now: float) -> None:
        """Extend the leases of this worker to their full time from `now`."""
        self.each(lambda part: part.renew(now))
        self.reach(partial(super().renew, now))

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the queued URLs that are blocked and return their number; leased URLs stay."""
        self._post.deliver({*range(len(self.parts))}, self._now)
        return sum(self.each(lambda part: part.drop_blocked(is_blocked)))

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        part = self._part(host)
        part.reach(partial(part.set_delay, host, delay_s), is_late=True)

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the stored robots.txt of an origin; None also while its shard is away."""
        part = self._part(host_of(origin))
        return part.reach(partial(part.robots, origin))

    def _keep_robots(self, name: str, text: str, now: float, **condition: str) -> bool:
        part = self._part(host_of(name))
        return bool(part.reach(partial(part._keep_robots, name, text, now, **condition)))

    def counts(self) -> Counts:
        """Return the numbers of URLs and pages; those of a shard that is away are the last ones."""
        self._counts |= self.answers(StoredCrawl.ask_counts)
        return total([*self._counts.values()])

    def exists(self) -> bool:
        """Return True if the crawl and all of its shards can be read."""
        found = [self.reach(super().exists), *self.answers(StoredCrawl.ask_existence).values()]
        return len(found) == len(self.parts) + 1 and all(found)

    def check_eviction(self) -> None:
        """Raise `StorageError` if a server deletes keys when its memory is full."""
        self.reach(super().check_eviction)

    def time(self) -> float:
        """Return the time of the server of the whole crawl; while it is away, by this machine."""
        told = self.reach(super().time)
        self._ahead_s = self._ahead_s if told is None else told - time.time()
        return time.time() + self._ahead_s

    def at_address(self, address: str) -> StoredCrawl:
        """Return the shard that counts the requests at an address."""
        return self._home(address)

    def give_back(self) -> None:
        """Give the leases of this worker back, and deliver its links."""
        with ExitStack() as each:  # a shard that was away for too long keeps no other from it
            for part in self.parts:
                each.callback(part.reach, part.give_back)
            self._post.deliver({*self._post.unsent}, self._now)
