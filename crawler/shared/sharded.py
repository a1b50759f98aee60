"""The frontier of a shared crawl with several shards, possibly on servers of a Redis Cluster.

A shard is a `crawler.shared.redis` frontier with separate keys. URLs are sharded by registered
domain, so caps of hosts and domains, host rests, tallies and known URLs are as exact as in a single
frontier. Four things belong to the whole crawl:

- The order. A worker compares the best URLs of two drawn shards, and leases the better.
- Links to other shards (`crawler.shared.outbox`).
- Budgets. A shard leases no more than its grant, and returns unused budget.
- The slots of an IP address, stored in one shard, by address.

A shard without a reachable server rests, and the other shards continue. Its pages settled meanwhile
are written once the server is back.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import inf
from random import Random
from typing import Any, Final, Self, TypeVar

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import (
    ANY_TEXT,
    Admission,
    Counts,
    KeptRobots,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.links import LinkOrigin
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.slots import penalties_of
from langfocus.crawler.shared.keyspace import Client, KeySpace, shard_of
from langfocus.crawler.shared.learner import SharedLearner
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.outbox import Delivery, entries_of
from langfocus.crawler.shared.redis import RedisFrontier, SharedFrontier, join
from langfocus.crawler.shared.script import Script
from langfocus.crawler.shared.stored import StoredCrawl, ask_counts, total
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.url import host_of

T = TypeVar("T")

_MOST_TURNS: Final = 64
_IDLE_POLLS: Final = 5
"""Polls between requests for idle shards to return budget."""


class Shard:
    """A shard, with this worker's last view of the shard's queue."""

    best = inf  # the tier of its best URL, infinite if it has none
    has_hopes = False  # something better than a doubtful URL may come soon
    quiet_until = -inf  # nothing may be leased before
    spent: Sequence[Sequence[int]] = ()  # `quotas` in Lua; () if no budget was the reason

    def __init__(self, frontier: RedisFrontier, rules: FrontierRules, member: Membership) -> None:
        """Use a shard's frontier; unreachable keys rest."""
        self.frontier = frontier
        self.keys = frontier.keys
        self.place = self.keys.place
        self._waits_up_to = rules.waits_up_to
        self._poll_s = member.poll_s

    def waits(self, score: float) -> bool:
        """Return True if a URL with that score waits for better ones."""
        return self._waits_up_to is not None and score <= self._waits_up_to

    def lease(
        self, now: float, rival: float, *, hopes: bool, granted: Sequence[int] = ()
    ) -> Lease | None:
        """Lease the best URL unless its tier is above `rival`; record the queue state.

        Ties may be leased by either shard, or neither would lease. `hopes`: another shard may soon
        have a better URL than a doubtful one. `granted`: total grant per budget.
        """
        of_others = {"rival": "" if rival == inf else repr(rival), "hopes": int(hopes)}
        own = {"held": self.frontier.n_held, "poll_s": self._poll_s, "granted": [*granted]}
        answer = self.frontier.next_within(now, of_others | own)
        lease, state = (answer, {}) if isinstance(answer, Lease) else (None, json.loads(answer))
        self.spent, self.best = state.get("spent", ()), float(state.get("best", inf))
        self.has_hopes, self.quiet_until = state.get("hopes", self.has_hopes), -inf
        if "ready_at" in state:  # at the latest after a poll, as other workers bring links too
            self.quiet_until = min(now + self._poll_s, float(state["ready_at"] or inf))
        if lease is not None:
            self.best, self.has_hopes = 0.0 - lease.score, not self.waits(lease.score)
        return lease


class ShardedFrontier(SharedFrontier):
    """See `crawler.frontier.base.Frontier`. An object is one worker, used by one thread.

    Calls for an unreachable shard wait in this process for `Membership.wait_s` seconds.
    """

    _reclaimed_at = -inf  # no shard had anything to return then

    def __init__(
        self,
        whole: Script,
        frontiers: Sequence[RedisFrontier],
        rules: FrontierRules,
        membership: Membership,
        learner: SharedLearner | None,
    ) -> None:
        """Start without leases; `whole` has the keys of the whole crawl. See `join`."""
        self.worker = membership.worker
        self.shards = [Shard(frontier, rules, membership) for frontier in frontiers]
        self.stored = StoredCrawl.of(whole.keys, [frontier.keys for frontier in frontiers])
        self.delivery = Delivery(self.stored, frontiers, self._wake)
        self._whole, self._rules, self._member, self._learner = whole, rules, membership, learner
        self._random = Random(f"{rules.random_state} {self.worker} shards")
        self._now = whole.now
        self._addresses: dict[int, str] = {}
        self._counts: dict[int, Counts] = {}

    @classmethod
    def join(
        cls,
        client: Client,
        crawl: str,
        rules: FrontierRules,
        membership: Membership,
        *,
        now: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Join the crawl and all shards; see `RedisFrontier.join`."""
        if rules.draw is Draw.UNIFORM:
            raise SettingError("URLs are drawn at random from one queue: use LANGFOCUS_SHARDS=1")
        number = membership.shards
        of_shard = replace(rules, robots_bytes=rules.robots_bytes // number)
        keys = KeySpace(client, crawl, sleep=sleep)
        whole, learner = join(keys, rules, membership, now)
        frontiers = []
        for place in range(number):
            script = Script(keys.shard(place, number), of_shard, membership, now)
            frontiers.append(RedisFrontier(script, of_shard, membership, learner))
        if rules.budget_pages is not None or rules.budget_relevant is not None:
            quotas = [(one.keys.place, one.script.call("return_quota")) for one in frontiers]
            whole.call("grant", quotas=quotas, is_first_grant=True)
        for resting in (keys, *(frontier.keys for frontier in frontiers)):
            resting.rest_for(membership.wait_s)
        return cls(whole, frontiers, rules, membership, learner)

    def shard(self, host: str) -> Shard:
        """Return the shard of a host."""
        return self.shards[shard_of(host, len(self.shards))]

    def _at(
        self, host: str, do: Callable[..., T], *arguments: object, is_late: bool = False
    ) -> T | None:
        """Call a method of the frontier of a host's shard; None while the shard is away."""
        shard = self.shard(host)
        return shard.keys.reach(partial(do, shard.frontier, *arguments), is_late=is_late)

    def _wake(self, place: int) -> None:
        self.shards[place].quiet_until = -inf

    # URLs.

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds; seeds of an unreachable shard are `Admission.SENT`."""
        answers: dict[int, Admission] = {}
        for place, numbers in self._by_place(links).items():
            shard = self.shards[place]
            shard.quiet_until = -inf
            seed = partial(shard.frontier.seed, [links[n] for n in numbers], now, depth)
            answers |= zip(numbers, shard.keys.reach(seed, is_late=True) or (), strict=False)
        return [answers.get(n, Admission.SENT) for n in range(len(links))]

    def _by_place(self, links: Sequence[Link]) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for number, link in enumerate(links):
            places.setdefault(shard_of(host_of(link.url), len(self.shards)), []).append(number)
        return places

    def admit(
        self, lease: Lease, record: Record, links: Sequence[Link] = (), *, now: float
    ) -> list[Admission]:
        """Settle a leased URL; links to other shards are `Admission.SENT`."""
        self._now, shard = now, self.shard(lease.host)
        places = self._by_place(links)
        own = places.pop(shard.place, [])
        foreign = {place: [links[n] for n in numbers] for place, numbers in places.items()}
        ready_at = now + self._rules.delay_s if record.was_contacted and not own else now

        def outbox(origin: LinkOrigin) -> Mapping[str, object]:
            others = [counts for place, counts in self._counts.items() if place != shard.place]
            queued = sum(counts.queued + counts.leased for counts in others)
            return {"outbox": entries_of(lease.url, foreign, origin), "queued_elsewhere": queued}

        holder = self._addresses.get(lease.fingerprint, "")
        of_shard = [links[n] for n in own]
        settle = partial(shard.frontier.settle, lease, record, of_shard, now=now, outbox=outbox)
        answers = dict(zip(own, self._end_late(lease, ready_at, settle) or (), strict=False))
        if foreign:
            self.delivery.unsent.add(shard.place)
        if holder and record.earns_slots:
            self._address_gets(holder, "earned", 1)
        if self._learner is not None:
            self._whole.keys.reach(partial(self._learner.exchange, now))
        if self._member.deliver_s == 0:
            self.delivery.deliver({shard.place}, now)
        return [answers.get(n, Admission.SENT) for n in range(len(links))]

    def _end_late(self, lease: Lease, ready_at: float, do: Callable[[], T]) -> T | None:
        """End a lease; for an unreachable shard, end it later and return None.

        The shard may have a URL at `ready_at`, or at once if a doubtful URL waited for this lease.
        """
        shard = self.shard(lease.host)
        shard.quiet_until = -inf if shard.has_hopes else min(shard.quiet_until, ready_at)
        answer = shard.keys.reach(do, is_late=True)
        self._addresses.pop(lease.fingerprint, None)
        return answer

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Queue a leased URL again for another fetch; see `Frontier.retry`."""
        self._now, retry = now, self.shard(lease.host).frontier.retry
        do = partial(retry, lease, now=now, not_before=not_before, url=url)
        self._end_late(lease, not_before, do)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Queue a leased URL again, unchanged; see `Frontier.release`."""
        self._now, release = now, self.shard(lease.host).frontier.release
        ready_at = now + self._rules.delay_s if not_before is None else not_before
        self._end_late(lease, ready_at, partial(release, lease, now=now, not_before=not_before))

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; see `Frontier.send`.

        The URL of a shard that is away is fetched later.
        """
        self._now, shard = now, self.shard(lease.host)
        answer = shard.keys.reach(partial(self._send, shard, lease, address, is_page))
        if answer is None:
            shard.frontier.forget_lease(lease)
        if answer is not Sending.NOW:
            shard.quiet_until = -inf
        return answer or Sending.LATER

    def knows_version(self, lease: Lease) -> bool:
        """Return True if a leased URL's page is known under another URL of its domain."""
        return bool(self._at(lease.host, RedisFrontier.knows_version, lease))

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        """Return whether a file may be requested from a host; it counts for its domain alone."""
        ask = partial(RedisFrontier.ask_file, host=host, address=None, now=now)
        return self._at(host, ask) or Sending.NOW

    def _send(self, shard: Shard, lease: Lease, address: str | None, is_page: bool) -> Sending:
        now, holder = self._now, self._rules.holder_of(address)
        frontier = shard.frontier
        held = frontier.held_as(lease)
        is_first = not held.was_sent
        if holder and is_first:
            before = penalties_of(held.url.score, self._rules.doubts_up_to)
            shard.keys.check_rest()
            answer = self._address_call(
                "address", address=holder, is_page=int(is_page), penalties=before
            )
            if answer != "now":
                # A full host or a full domain is reported first.
                full = frontier.send(lease, None, now=now, is_page=False)
                return full if full is not Sending.NOW else frontier.sending_of(lease, answer)
        sent = None
        with suppress(LeaseError):
            sent = frontier.send(lease, None, now=now, is_page=is_page)
        if holder and is_page and sent is Sending.NOW:
            self._addresses[lease.fingerprint] = holder
        elif holder and is_page and is_first:
            self._address_gets(holder, "taken", -1)
        if sent is None:
            raise LeaseError(f"{lease.url} is not leased")
        return sent

    def _address_gets(self, holder: str, name: str, number: int) -> None:
        call = partial(self._address_call, "address_gets", address=holder, hash=name, number=number)
        self.stored.at_address(holder).reach(call, is_late=True)

    def _address_call(self, command: str, *, address: str, **arguments: object) -> Any:
        """Run a command in the shard with an address's slots."""
        script = self.shards[self.stored.at_address(address).place].frontier.script
        return script.call(command, address=address, **arguments)

    def next(self, now: float) -> Lease | None:
        """Lease the better best URL of two shards; if both are empty, another shard's best URL."""
        self._now = now
        if now >= self.delivery.delivered_at + self._member.deliver_s:
            # The links of this worker and of a randomly drawn shard.
            drawn = self._random.randrange(len(self.shards))
            self.delivery.deliver({*self.delivery.unsent, drawn}, now)
        lease = self._best(now)
        if lease is None and self.delivery.has_arrivals(now, self._member.poll_s):
            lease = self._best(now)
        return lease

    def _best(self, now: float) -> Lease | None:
        order = [shard for shard in self.shards if now >= shard.quiet_until]
        self._random.shuffle(order)
        while order:
            one = order.pop()
            if not order:
                return self.lease(one, inf, now)
            other, rival = order.pop(), self._peek(one, now)
            if order and (rival == inf or one.waits(-rival)):
                # Another shard may have shown a better URL than these two shards have.
                place = min(range(len(order)), key=lambda n: order[n].best)
                if order[place].best < rival:
                    one, order[place] = order[place], one
                    rival = self._peek(one, now)
            if (lease := self._better(one, other, rival, now)) is not None:
                return lease
        return None

    def _better(self, one: Shard, other: Shard, rival: float, now: float) -> Lease | None:
        """Lease the better of two best URLs; scores may fall during the comparison."""
        for _ in range(_MOST_TURNS):
            lease = self.lease(other, rival, now)
            if lease is not None or other.best == rival == inf:
                return lease
            one, other, rival = other, one, other.best
        return None

    def _peek(self, shard: Shard, now: float) -> float:
        """Return the tier of a shard's best URL, infinite if none may be leased now."""
        self.lease(shard, -inf, now)
        return shard.best

    def lease(self, shard: Shard, rival: float, now: float) -> Lease | None:
        """Lease the best URL of a shard unless its tier is above `rival`."""
        if now < shard.quiet_until:
            return None
        shard.best, shard.quiet_until = inf, now + self._member.poll_s  # if it is away
        return shard.keys.reach(partial(self._leased_by, shard, rival, now))

    def _leased_by(self, shard: Shard, rival: float, now: float) -> Lease | None:
        hopes = any(other.has_hopes for other in self.shards if other is not shard)
        lease = shard.lease(now, rival, hopes=hopes)
        while shard.spent and (granted := self._granted(shard, now)):
            lease = shard.lease(now, rival, hopes=hopes, granted=granted)
        return lease

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or a time to ask again."""
        poll_at = now + self._member.poll_s  # other workers bring links too
        if self.delivery.unsent:
            poll_at = min(poll_at, max(now, self.delivery.delivered_at + self._member.deliver_s))
        return min(poll_at, *(max(now, shard.quiet_until) for shard in self.shards))

    # Budgets.

    def _granted(self, shard: Shard, now: float) -> Sequence[int]:
        """Return the total grants to a shard that spent a budget, () if there is no new one."""
        before, poll_s = [granted for granted, _, _ in shard.spent], self._member.poll_s
        quotas = [(shard.place, shard.spent)]
        granted = self._grant(quotas, before)
        if granted == before and now >= self._reclaimed_at + _IDLE_POLLS * poll_s:
            granted = self._grant([*self._returned(), *quotas], before)
            if granted == before:
                self._reclaimed_at = now
        if granted == before:
            for each in self.shards:
                each.quiet_until = now + poll_s
            return ()
        return granted

    def _returned(self) -> list[tuple[int, list[list[int]]]]:
        """Collect unused budget from all shards; return the quotas of each shard."""
        found = self._each(lambda frontier: frontier.script.call("return_quota"))
        return [*found.items()]

    def _grant(self, quotas: Sequence[object], before: Sequence[int]) -> Sequence[int]:
        """Grant more to the last shard; `quotas` has the other shards' returned budget."""
        self._whole.now = self._now
        return self._whole.keys.reach(lambda: self._whole.call("grant", quotas=quotas)) or before

    # The rest of the contract.

    def _each(self, ask: Callable[[RedisFrontier], T]) -> dict[int, T]:
        """Return the answers of reachable shards, by place."""
        found = {one.place: one.keys.reach(partial(ask, one.frontier)) for one in self.shards}
        return {place: answer for place, answer in found.items() if answer is not None}

    def renew(self, now: float) -> None:
        """Extend the leases of this worker to their full time from `now`."""
        self._each(lambda frontier: frontier.renew(now))
        self._whole.now = now
        self._whole.keys.reach(partial(self._whole.call, "renew", leases=[]))

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the queued URLs that are blocked and return their number; leased URLs stay."""
        self.delivery.deliver({*range(len(self.shards))}, self._now)
        return sum(self._each(lambda frontier: frontier.drop_blocked(is_blocked)).values())

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        self._at(host, RedisFrontier.set_delay, host, delay_s, is_late=True)

    def robots(self, name: str) -> KeptRobots | None:
        """Return the text of a name; None for an unreachable shard too."""
        return self._at(host_of(name), RedisFrontier.robots, name)

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        """Store the text of a name; False also while its shard is away."""
        return bool(self._at(host_of(name), RedisFrontier.set_robots, name, text, now, before))

    def counts(self) -> Counts:
        """Return URL and page counts; an unreachable shard has its last counts."""
        self._counts |= self.stored.answers(ask_counts)
        return total(self._counts.values())

    def release_all(self) -> None:
        """Release this worker's leases, and deliver its links."""
        with ExitStack() as each:  # a shard that was away for too long keeps no other from it
            for shard in self.shards:
                each.callback(shard.keys.reach, shard.frontier.release_all)
            self.delivery.deliver({*self.delivery.unsent}, self._now)
