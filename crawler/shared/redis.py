"""The shared frontier: any number of processes on any machines, one Redis server.

Every call is one script (folder `lua`), executed by Redis without interruption. So caps, tallies,
the page budget and the rule "one worker at a host" are exact across all workers, as in a single
process. All keys of a crawl have the hash tag `{crawl}`: a Redis Cluster keeps each crawl on a
single node, unless the crawl has shards (`crawler.shared.sharded`).

Unlike the embedded frontier, this frontier stores leases and their expiry. Each worker's records
are in a stream, emptied by the worker. All times are worker times, so the delay between two
contacts is wrong by the clock difference.
"""

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, Self

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import (
    ANY_TEXT,
    PAGE,
    Admission,
    Counts,
    Frontier,
    HostStates,
    KeptRobots,
    KnownUrlError,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.learning import chosen
from langfocus.crawler.frontier.links import Held, LinkOrigin, QueuedUrl, origin_of
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.slots import penalties_of, with_penalties
from langfocus.crawler.run.page_row import check_page, page_values
from langfocus.crawler.shared.keyspace import Client, KeySpace
from langfocus.crawler.shared.learner import SharedLearner
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.packing import LinkPacker, Packed, PageLinks
from langfocus.crawler.shared.script import Script
from langfocus.crawler.shared.stored import StoredCrawl, queued_urls
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import fingerprint, host_of

_SEEDS_A_CALL: Final = 1000
_UNCOUNTED: Final[dict[str, object]] = {"units": [], "tally": 0}
_FIRST_WAIT_S: Final = 5.0

Outbox = Callable[[LinkOrigin], Mapping[str, object]]
"""Returns the arguments of `admit` for a page's links to other shards."""


def join(
    keys: KeySpace, rules: FrontierRules, member: Membership, now: float
) -> tuple[Script, SharedLearner | None]:
    """Join a crawl by the keys of the whole crawl; raises `SettingError` if that is refused."""
    if rules.keeps_links:
        raise ValueError("a shared crawl keeps no links")
    if rules.is_expected_only:
        raise ValueError("a shared crawl does not count expected URLs")
    keys.wait_s = min(member.wait_s, _FIRST_WAIT_S)
    if fault := StoredCrawl.of(keys, [keys]).eviction_fault():
        raise SettingError(fault)
    script = Script(keys, rules, member, now)
    if rules.prior is None:
        return script, None
    learner = SharedLearner(member.worker, rules.prior, rules, script)
    learner.take_over()
    return script, learner


class SharedFrontier(Frontier):
    """One worker's frontier of a shared crawl."""

    worker: str
    stored: StoredCrawl
    _learner: SharedLearner | None

    @abstractmethod
    def renew(self, now: float) -> None:
        """Extend this worker's leases to their full time from `now`."""

    @abstractmethod
    def release_all(self) -> None:
        """Release this worker's leases."""

    def host_states(self) -> HostStates:
        """Return host counts by state; `ready` may include some hosts that are not ready."""
        return self.stored.host_states()

    def group(self, later: Callable[[Callable[[], None]], object]) -> None:
        """Do nothing: every change is on the server at once."""

    def close(self) -> None:
        """Release the leases and close the connection."""
        try:
            if self._learner is not None:
                self._learner.leave()
            self.release_all()
        finally:
            self.stored.close()


class RedisFrontier(SharedFrontier):
    """See `crawler.frontier.base.Frontier`. An object is one worker, used by one thread."""

    def __init__(
        self,
        script: Script,
        rules: FrontierRules,
        membership: Membership,
        learner: SharedLearner | None,
    ) -> None:
        """Start without leases; `learner`: shared by this worker's shards. See `join`."""
        self.script, self.keys, self.worker = script, script.keys, membership.worker
        self.stored = StoredCrawl.of(script.keys, [script.keys])
        self._rules, self._member, self._learner = rules, membership, learner
        self._packer = LinkPacker(rules, Random(f"{rules.random_state} {membership.worker}"))
        self._held: dict[int, Held] = {}
        self._best_other: float | None = None  # the best score beside the last URL
        self._back: dict[str, dict[str, object]] = {}
        self._refusal = ""

    @classmethod
    def join(
        cls,
        client: Client,
        crawl: str,
        rules: FrontierRules,
        membership: Membership | None = None,
        *,
        now: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Join the crawl with that name, or begin it; `client` is from `keyspace.connect`.

        The rules of selection, the caps and `delay_s` are fixed for the crawl: another value, or
        another `membership.identity`, raises `SettingError`. For `patience_s`, `lease_s` and the
        budgets, the values of the last worker to join hold for all workers. The links of pages
        are not stored and doubtful URLs are leased (`rules.keeps_links` and
        `rules.is_expected_only` raise ValueError). While the server cannot be reached, the calling
        thread sleeps with `sleep`; after `wait_s` seconds `StorageError` is raised.
        """
        member = membership or Membership()
        keys = KeySpace(client, crawl, sleep=sleep)
        script, learner = join(keys, rules, member, now)
        keys.wait_s = member.wait_s
        return cls(script, rules, member, learner)

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds: no filter applies, the caps do."""
        self.script.now = now
        answers: list[Admission] = []
        origin = LinkOrigin(depth=depth)
        for start in range(0, len(links), _SEEDS_A_CALL):
            some = links[start : start + _SEEDS_A_CALL]
            if self._learner is not None:
                some = self._learner.at(self.script).arrived([PageLinks("", origin, some)])[0]
            packed = self._packer.pack(some, origin)
            answers += packed.admissions(self.script.call("seed", packed))
        return answers

    def admit(
        self, lease: Lease, record: Record, links: Sequence[Link] = (), *, now: float
    ) -> list[Admission]:
        """Settle a leased URL and return the admission of each link, in order.

        Raises `LeaseError` for an expired lease too: its new owner settles the URL.
        """
        admissions = self.settle(lease, record, links, now=now)
        if self._learner is not None:
            self._learner.exchange(now)
        return admissions

    def settle(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link],
        *,
        now: float,
        outbox: Outbox = lambda _: {},
    ) -> list[Admission]:
        """Settle a shard's leased URL; `outbox` has the links to other shards."""
        self.script.now = now
        held, counted = self.held_as(lease), _UNCOUNTED
        row = page_values(lease, record)
        check_page(row | {"id": 1, "queued": 0})
        if self._learner is None:
            origin = origin_of(lease, record, None)
        else:
            learner = self._learner.at(self.script)
            learns = record.is_labelled and not held.is_learned
            links, origin, counted = learner.settle(lease, record, links, learns=learns)
            held.is_learned = True
        packed = self._packer.pack(links, origin, lease.url)
        admissions = self._end(
            "admit",
            lease,
            packed,
            record={
                "is_page": int(record.outcome == PAGE),
                "always_followed": int(origin.always_followed),
                "is_download": int(record.is_download),
                "is_relevant": int(record.is_relevant),
                "is_rated": int(record.is_rated),
                "is_wanted": int(record.is_wanted),
                "earns_slots": int(record.earns_slots),
                "bytes": record.bytes,
            },
            counts=record.counts,
            directory=self._rules.filter.part_of_host(lease.url) or "",
            domain=self._rules.domain_of(lease.host),
            address=held.address,
            was_contacted=int(record.was_contacted),
            canonical=str(fingerprint(record.canonical)) if record.canonical else "",
            versions={str(fingerprint(url)): host_of(url) for url in record.versions},
            mark=_mark(lease.fingerprint),
            row=json.dumps(row),
            **counted,
            **outbox(origin),
        )
        return packed.admissions(admissions)

    def packed(self, pages: Sequence[PageLinks]) -> Packed:
        """Return the links of several pages to this shard, with new scores."""
        scored = [page.links for page in pages]
        if self._learner is not None:
            scored = [*self._learner.at(self.script).arrived(pages)]
        bodies = [
            self._packer.pack(links, page.origin, page.parent).body
            for links, page in zip(scored, pages, strict=True)
        ]
        return Packed(self._packer.list_of(bodies), [])

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Queue a leased URL for another fetch, at `url` if given; its host rests."""
        self.script.now = now
        held = self.held_as(lease)
        spelling: dict[str, Any] = {"url": url or "", "is_sent": int(held.is_sent_now)}
        spelling["tier"] = repr(0.0 - held.score_after_failure(self._rules.doubts_up_to))
        if url is not None:
            spelling["new"] = str(fingerprint(url))
            spelling["directory"] = self._rules.unit_of(url) or ""
        if self._end("retry", lease, not_before=not_before, **spelling) == "known":
            self._held[lease.fingerprint] = held
            raise KnownUrlError(url)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Queue a leased URL again; its host rests for its delay or until `not_before`."""
        self.script.now = now
        rests_until: dict[str, Any] = {} if not_before is None else {"not_before": not_before}
        self._end("release", lease, **rests_until)

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; note that it is."""
        self.script.now, held = now, self.held_as(lease)
        holder = self._rules.holder_of(address)
        answer = self.script.call(
            "send",
            **_named(held),
            domain=self._rules.domain_of(lease.host),
            address=holder,
            is_page=int(is_page),
            penalties=penalties_of(held.url.score, self._rules.doubts_up_to),
        )
        if answer == Sending.NOW.value and is_page:
            held.was_sent, held.is_sent_now, held.address = True, True, holder
        if answer is None:
            del self._held[lease.fingerprint]
            raise LeaseError(f"{lease.url} is not leased")
        return self.sending_of(lease, answer)

    def knows_version(self, lease: Lease) -> bool:
        """Return True if a leased URL's page is known in the language under another URL."""
        twins = self._rules.twins_of(lease)
        if not any(twins):
            return False
        marks = [{str(key): _mark(key) for key in keys} for keys in twins]
        return bool(self.script.call("knows_version", twins=marks))

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        """Return whether a file may be requested from a host that is not leased; count it."""
        self.script.now = now
        holder = self._rules.holder_of(address)
        domain = self._rules.domain_of(host)
        return Sending(self.script.call("ask", domain=domain, address=holder))

    def sending_of(self, lease: Lease, answer: str) -> Sending:
        """Return the meaning of an answer of the script; queue a URL with more penalties again."""
        if not answer.isdecimal():
            return Sending(answer)
        held = self.held_as(lease)
        score = with_penalties(held.url.score, int(answer), self._rules.doubts_up_to)
        self.script.call("lower", **self._given_back(held, score, is_penalized=True))
        return Sending.LATER

    def _given_back(
        self, held: Held, score: float, *, is_penalized: bool
    ) -> dict[str, dict[str, object]]:
        """Forget a lease; return the arguments that queue its URL again with another score."""
        del self._held[held.lease.fingerprint]
        tier = repr(0.0 - score)
        return {"back": {**_named(held), "tier": tier, "lowered": int(is_penalized)}}

    def held_as(self, lease: Lease) -> Held:
        """Return the lease as this worker holds it; raises `LeaseError`."""
        try:
            return self._held[lease.fingerprint]
        except KeyError:
            raise LeaseError(f"{lease.url} is not leased") from None

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None."""
        lease = self.next_within(now, {})
        return lease if isinstance(lease, Lease) else None

    def next_within(self, now: float, bounds: Mapping[str, object]) -> Lease | str:
        """Lease the best URL; a shard has `bounds` (`next` in Lua). Return a refusal in JSON."""
        self.script.now = now
        waits_up_to = self._rules.waits_up_to
        found = chosen(
            lambda: self._take(bounds), lambda _: self._best_other, self._put_back, waits_up_to
        )
        return self._refusal if found is None else found.lease

    def _take(self, bounds: Mapping[str, object]) -> Held | None:
        """Lease the URL with the best score in the queue; first release the one before."""
        answer: Any = "again"
        while answer == "again":
            answer, self._back = self.script.call("next", **self._back, **bounds), {}
        if isinstance(answer, str):
            self._refusal = answer
            return None
        *row, penalties, others = answer
        self._best_other = 0.0 - float(others) if others else None
        held = self._leased(row, int(penalties))
        self._held[held.lease.fingerprint] = held
        if self._learner is not None:
            learner = self._learner.at(self.script)
            learner.rescore(held, learner.leased(held.lease), int(penalties))
        return held

    def _put_back(self, held: Held) -> None:
        """Queue a URL again with its current score, as part of the next call."""
        self._back = self._given_back(held, held.score, is_penalized=held.is_penalized)

    def _leased(self, row: Sequence[str], penalties: int) -> Held:
        key, url, host, tier, depth, redirects, tries, parent, is_beyond_cap, sent = row
        numbers = int(depth), int(redirects), int(tries)
        flags = bool(is_beyond_cap), sent == "2"
        before = 0.0 - float(tier)
        lease = Lease(int(key), url, host, before, *numbers, parent or None, None, *flags)
        held = Held(lease, QueuedUrl(url, before, lease.depth), bool(sent), self.script.token)
        held.penalize(penalties, self._rules.doubts_up_to)
        return held

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or None until a lease of this worker ends.

        While other workers hold leases, this is the next poll time, because they do not announce
        found links.
        """
        self.script.now = now
        held, poll_s = len(self._held), self._member.poll_s
        try:
            ready_at = self.script.call("ready_at", held=held, poll_s=poll_s)
        except StorageError:
            if not self.stored.is_lost:
                raise
            return now  # `next` then raises the error
        return float(ready_at) if ready_at else None

    def renew(self, now: float) -> None:
        """Extend the leases of this worker to their full time from `now`."""
        self.script.now = now
        self.script.call("renew", leases=[_named(held) for held in self._held.values()])

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the queued URLs that are blocked and return their number; leased URLs stay."""
        found: dict[str, list[str]] = {}
        for key, url in queued_urls(self.keys):
            if is_blocked(url):
                found.setdefault(host_of(url), []).append(key)
        number = 0
        for host, keys in found.items():
            number += int(self.script.call("drop", host=host, fingerprints=keys))
        return number

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        self.script.call("delay", host=host, delay_s=repr(float(delay_s)))

    def robots(self, name: str) -> KeptRobots | None:
        """Return the stored text for a name, of any age, or None."""
        words = "HGET", self.keys.key("robots"), name
        with self.keys.reading():
            return _kept_robots(self.keys.insist(lambda: self.keys.send(*words)))

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        """Store the text of a name; False if another process changed the one `before`."""
        self.script.now = now
        robots = {"origin": name, "kept": _stored_robots(KeptRobots(text, now))}
        condition = {} if before is ANY_TEXT else {"before": _stored_robots(before)}
        most = self._rules.robots_bytes
        answer = self.script.call("keep_robots", **robots, most_bytes=most, **condition)
        return bool(answer != "changed")

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages."""
        return self.stored.counts()

    def release_all(self) -> None:
        """Release the leases of this worker."""
        while self._held:
            self.script.call("release", **_named(self._held.popitem()[1]))

    def forget_lease(self, lease: Lease) -> None:
        """Hold a lease no longer; it expires by itself."""
        self._held.pop(lease.fingerprint, None)

    @property
    def n_held(self) -> int:
        """Number of the worker's leases."""
        return len(self._held)

    def _end(
        self, command: str, lease: Lease, packed: Packed | None = None, **arguments: object
    ) -> str:
        answer = self.script.call(command, packed, **_named(self.held_as(lease)), **arguments)
        del self._held[lease.fingerprint]
        if answer is None:
            raise LeaseError(f"{lease.url} is not leased")
        return str(answer)


def _mark(key: int) -> str:
    """Return the number that is known as seen once the page of a fingerprint is relevant."""
    return str(key ^ 1)


def _named(held: Held) -> dict[str, str]:
    """Return the arguments that name a lease."""
    key, host = str(held.lease.fingerprint), held.lease.host
    return {"host": host, "fingerprint": key, "token": held.token}


def _kept_robots(stored: str | None) -> KeptRobots | None:
    if stored is None:
        return None
    fetched_at, _, text = stored.partition("\n")
    return KeptRobots(text, float(fetched_at))


def _stored_robots(kept: KeptRobots | None) -> str:
    return "" if kept is None else f"{float(kept.fetched_at)!r}\n{kept.text}"
