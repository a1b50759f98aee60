"""The embedded frontier: one process, one SQLite file in the run's folder.

URLs, their order and all counters are on disk. Only the hosts with a queued URL or a rest are in
memory: 325 bytes for a host that is ready, 390 for one that rests, for any length of its queue.
Leases are not stored: a URL leaves the queue in the transaction that settles it. After a kill,
every URL that was leased is therefore still queued. A crawl writes the changes of some 20 ms in one
transaction (`group`). A kill undoes them, so their URLs are queued again. A request waits until the
slot of its URL is written: a host that was asked for ten URLs is full after a kill, too.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from crawler.errors import StorageError
from crawler.frontier.admission import Admitter, Outcome, Source, full_of
from crawler.frontier.base import (
    PAGE,
    REDIRECT,
    Admission,
    Counts,
    KeptRobots,
    Lease,
    LeaseError,
    Link,
    Record,
    Sending,
)
from crawler.frontier.choosing import Candidate, chosen
from crawler.frontier.evidence_rows import EvidenceRows
from crawler.frontier.learning import Learner
from crawler.frontier.links import LinkOrigin, Links, origin_of
from crawler.frontier.patience import Patience
from crawler.frontier.rules import FrontierRules
from crawler.frontier.selection import BestFirst, Pick, QueuedHost, UniformDraw
from crawler.frontier.slots import are_full, holder_of, penalties_for, penalties_of, with_penalties
from crawler.frontier.storage import HostRow, Storage
from crawler.strategies.orderings import Draw
from crawler.strategies.relevance import Tally
from crawler.url import domain_of

_ALWAYS_FOLLOWED = Tally(1, 1)
"""The tally of a source whose links pass each filter."""


class _Settlement(NamedTuple):
    """The changes by a settled page; `dropped` has the score and id of each dropped URL."""

    outcome: Outcome
    dropped: list[tuple[float, int]]
    is_new_host: bool


class _QueuedUrl(NamedTuple):
    """A queued URL; `host` is the id of its host."""

    id: int
    url: str
    host: int
    score: float


@dataclass(slots=True)
class _Taken(Candidate):
    """A URL that may be leased next; `lease` explains its score if the ordering learns."""

    pick: Pick
    was_sent: bool


@dataclass(slots=True)
class _Leased:
    """A leased URL. `address` holds the slot of its server's IP address, None if there is none."""

    pick: Pick
    was_sent: bool  # it got a request, in this lease or before
    is_sent_now: bool = False
    address: str | None = None


class SqliteFrontier:
    """See `crawler.frontier.base.Frontier`."""

    def __init__(self, connection: sqlite3.Connection, rules: FrontierRules, *, now: float) -> None:
        """Open the frontier on a run's database (`crawler.run.open_run`).

        A host that an earlier process knew rests for its delay first, because that process may have
        contacted it just before. If `now` is earlier than the times of that process, the machine's
        clock was set back, and no host rests longer for that.
        """
        self._storage = Storage(connection)
        self._storage.set_back(now)
        self._rules = rules
        self._learner: Learner | None = None
        if rules.prior is not None:
            rows = EvidenceRows(connection)
            self._learner = Learner(rows, rules.prior, rules)
        self._admitter = Admitter(
            self._storage, rules, self._learner, self._queued_of, self._is_leased
        )
        self._pages, self._labelled, self._relevant = self._storage.page_totals()
        self._visited = self._storage.visited_hosts()
        self._hosts: dict[int, QueuedHost] = {}
        self._resting: list[tuple[float, int]] = []
        self._patience = Patience(rules, self._hosts)
        self._leased: dict[int, _Leased] = {}
        self._leased_ids: set[int] = set()
        self._leaving: Counter[int] = Counter()
        self._queued = 0
        self._opened_at, self._last_known_host = now, self._storage.last_host()
        self._selection = BestFirst(self._hosts, self._storage.head)
        if rules.draw is Draw.UNIFORM:
            random = Random(rules.random_state + self._pages)
            self._storage.draw = UniformDraw(random, self._storage.drawn())
        self._take_over(now)

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds: no filter applies, the caps do."""
        self._leaving.clear()
        with self._storage.transaction() as counts:
            outcome = self._admitter.admit(links, Source(LinkOrigin(depth)), counts)
        self._take_in(outcome, now)
        return outcome.admissions

    def admit(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        now: float,
        was_contacted: bool = True,
    ) -> list[Admission]:
        """Settle a leased URL and return the admission of each of its links, in their order."""
        held = self._held(lease)
        pick, host = held.pick, held.pick.host
        try:
            with self._storage.transaction() as counts:
                counts.update(record.counts)
                settlement = self._settle(lease, held, record, links, counts)
        except BaseException:
            if self._learner is not None:
                with suppress(sqlite3.Error):  # the first error says more
                    self._learner.reload()
            raise
        self._count(record, is_new_host=settlement.is_new_host)
        self._take_in(settlement.outcome, now)
        self._take_out(host, [(pick.score, pick.url_id), *settlement.dropped])
        self._end_lease(lease)
        self._rest(host, now + host.delay_s if was_contacted else host.ready_at, now)
        return settlement.outcome.admissions

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Give a leased URL back to be fetched again, at `url` if given; its host rests."""
        held = self._held(lease)
        pick, host = held.pick, held.pick.host
        not_before = max(not_before, now + host.delay_s)
        with self._storage.transaction() as counts:
            if url is None:
                counts["retried"] += 1
                if not held.is_sent_now:
                    self._storage.count_try(pick.url_id)
            else:
                counts["respelled"] += 1
                unit = self._rules.filter.part_of_host(url)
                self._storage.respell(pick.url_id, lease.url, url, unit)
            self._storage.hold(host.id, not_before)
        self._end_lease(lease)
        self._rest(host, not_before, now)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; its host rests for its delay or until `not_before`."""
        host = self._held(lease).pick.host
        self._end_lease(lease)
        self._rest(host, now + host.delay_s if not_before is None else not_before, now)

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; note that it is."""
        held = self._held(lease)
        pick = held.pick
        holder = None if address is None or not self._rules.address_cap else holder_of(address)
        score, dropped = pick.score, list[tuple[float, int]]()
        with self._storage.transaction() as counts:
            host = None
            if not held.was_sent:
                host, domain, place = self._holders(lease.host, holder)
                full = full_of(self._rules, host, domain, place)
                if full is not None:
                    return full
                if place is not None:
                    penalties = penalties_for(self._rules.address_cap, place.taken, place.relevant)
                    score = with_penalties(score, penalties, self._rules.doubts_up_to)
            if score < pick.score:
                counts["lowered"] += 1
                self._storage.set_score(pick.url_id, score)
            elif is_page:
                self._storage.send(pick.url_id)
                if host is not None:
                    dropped = self._take_slots(host, [domain, place], counts)
        if score < pick.score:
            self._lower(lease, pick, score, now)
            return Sending.LATER
        if is_page:
            held.was_sent, held.is_sent_now, held.address = True, True, holder
        self._take_out(pick.host, dropped)
        return Sending.NOW

    def _holders(
        self, name: str, holder: str | None
    ) -> tuple[HostRow, HostRow | None, HostRow | None]:
        """Return a host, and its domain and its address if these have caps."""
        domain = domain_of(name) if self._rules.domain_cap else None
        rows = self._storage.hosts(filter(None, (name, domain, holder)))
        return rows[name], rows[domain] if domain else None, rows[holder] if holder else None

    def _take_slots(
        self, host: HostRow, others: Iterable[HostRow | None], counts: Counter[str]
    ) -> list[tuple[float, int]]:
        """Count a URL that gets a request; drop the others of a host that is full now."""
        host.sent += 1
        holders = {host.key: host}
        for holder in filter(None, others):
            holder.taken += 1
            holders[holder.key] = holder
        self._storage.store_hosts(holders.values())
        if host.sent != self._rules.host_cap:
            return []
        dropped = self._storage.drop(host.id, None)
        counts["dropped_host_full"] += len(dropped)
        return dropped

    def _lower(self, lease: Lease, pick: Pick, score: float, now: float) -> None:
        """Give a leased URL back with a lower score; its host was not contacted."""
        host = pick.host
        self._count_moved(host, pick.score, score)
        self._end_lease(lease)
        self._rest(host, host.ready_at, now)

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None."""
        try:
            return self._next(now)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run can no longer be read: {error}") from error

    def _next(self, now: float) -> Lease | None:
        self._wake_rested(now)
        if self._is_budget_leased():
            return None
        threshold = self._patience.threshold
        taken = chosen(lambda: self._take(now), self._best_besides, self._put_back, threshold)
        if taken is None:
            return None
        pick, lease = taken.pick, taken.lease
        self._patience.lease(pick.score)
        if self._storage.draw is not None:
            self._storage.draw.lease(pick.score, pick.url_id)
        pick.host.is_ready, pick.host.is_leased = False, True
        self._leased[lease.fingerprint] = _Leased(pick, taken.was_sent)
        self._leased_ids.add(pick.url_id)
        return lease

    def _take(self, now: float) -> _Taken | None:
        """Take the best URL, with the score that it has now."""
        best = self._selection.best()
        if best is None or self._patience.is_waiting(best, now):
            return None
        pick = self._selection.take()
        if pick is None:
            return None
        lease, penalties, was_sent = self._lease(pick)
        is_penalized = penalties > penalties_of(pick.score, self._rules.doubts_up_to)
        if self._learner is None:
            score = with_penalties(pick.score, penalties, self._rules.doubts_up_to)
        else:
            url = self._learner.known(pick.url_id)
            weighed = self._learner.weigh(url)
            score = self._learner.score(url, weighed.odds, penalties)
            lease = replace(lease, score=weighed.odds, reasons=weighed.reasons())
        return _Taken(lease, pick.score, score, is_penalized, pick, was_sent)

    def _best_besides(self, taken: _Taken) -> float | None:
        """Return the best score of all other URLs that are ready."""
        # The others of its host were not scored anew either, so one of them may be better.
        host = self._storage.best_besides(taken.pick.host.id, taken.pick.url_id)
        best = self._selection.best()
        return max((score for score in (best, host) if score is not None), default=None)

    def _put_back(self, taken: _Taken) -> None:
        """Give a URL that was taken back, with the score that it has now."""
        host = taken.pick.host
        with self._storage.transaction() as counts:
            self._storage.set_score(taken.pick.url_id, taken.score)
            counts["lowered"] += taken.is_penalized
        self._count_moved(host, taken.before, taken.score)
        self._selection.put(host)

    def _lease(self, pick: Pick) -> tuple[Lease, int, bool]:
        """Return the lease of a URL, its penalties with its domain, and if it got a request."""
        lease, was_sent = self._storage.lease(pick.url_id)
        cap = self._rules.domain_cap
        if not cap or was_sent:
            return lease, 0, was_sent
        taken, relevant = self._storage.slots(domain_of(lease.host))
        if are_full(cap, taken, relevant):
            lease = replace(lease, is_beyond_cap=True)
        return lease, penalties_for(cap, taken, relevant), was_sent

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or None until a lease ends."""
        if self._is_budget_leased():
            return None
        rested_at = self._resting[0][0] if self._resting else None
        best = self._selection.best()
        if best is None:
            return rested_at
        ready_at = self._patience.waits_until(best, now)
        return ready_at if rested_at is None or ready_at <= now else min(rested_at, ready_at)

    def drop_blocked(self, is_blocked: Callable[[str], bool], ignored_lines: int = 0) -> int:
        """Drop the queued URLs that are blocked and return their number; leased URLs stay."""
        found: dict[int, list[_QueuedUrl]] = {}
        with self._storage.transaction() as counts:
            for url in map(_QueuedUrl._make, self._storage.queued_urls()):
                if url.id not in self._leased_ids and is_blocked(url.url):
                    found.setdefault(url.host, []).append(url)
            for urls in found.values():
                self._storage.delete_urls(url.id for url in urls)
            number = sum(map(len, found.values()))
            counts["dropped_blocked"] += number
            counts["ignored_block_line"] += ignored_lines
        for host, urls in found.items():
            self._leave(self._hosts[host], [(url.score, url.id) for url in urls])
        return number

    def _leave(self, host: QueuedHost, urls: Sequence[tuple[float, int]]) -> None:
        """Take URLs out of the queue of a host that may be ready."""
        was_ready = host.is_ready
        if was_ready:
            self._selection.withdraw(host)
            host.is_ready = False
        self._take_out(host, urls)
        if was_ready:
            self._rest(host, host.ready_at, host.ready_at)

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        delay_s = max(delay_s, self._rules.delay_s)
        host_id = self._storage.set_delay(host, delay_s)
        if host_id in self._hosts:
            self._hosts[host_id].delay_s = delay_s

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the stored robots.txt of an origin, of any age; None if it was not fetched."""
        try:
            return self._storage.robots(origin)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run can no longer be read: {error}") from error

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Store the robots.txt of an origin; the oldest may be deleted (`rules.robots_bytes`)."""
        self._storage.set_robots(origin, text, now, self._rules.robots_bytes)

    def replace_robots(self, name: str, before: KeptRobots | None, text: str, now: float) -> bool:
        """Store a text like a robots.txt; no other process can have changed it."""
        self.set_robots(name, text, now)
        return True

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages."""
        return Counts(
            queued=self._queued - len(self._leased),
            leased=len(self._leased),
            hosts=self._visited,
            pages=self._pages,
            labelled=self._labelled,
            relevant=self._relevant,
        )

    def close(self) -> None:
        """Write what is grouped and give the leases back; the connection stays open."""
        self._leased.clear()
        self._storage.end_groups()

    def group(self, later: Callable[[Callable[[], None]], object]) -> None:
        """Write the changes of some time together, when `later` runs the given function."""
        self._storage.group(lambda: later(self._storage.commit))

    # Settling.

    def _settle(
        self,
        lease: Lease,
        held: _Leased,
        record: Record,
        links: Sequence[Link],
        counts: Counter[str],
    ) -> _Settlement:
        pick, host = held.pick, held.pick.host
        origin = origin_of(lease, record, self._learn(pick, record))
        was_sent, is_page = self._storage.unqueue(pick.url_id), record.outcome == PAGE
        is_new_host = self._storage.settle_host(host.id, is_page=is_page, was_sent=was_sent)
        if record.is_download and record.is_relevant:
            self._earn(lease, held.address)
        dropped = self._drop_canonical(pick, record, counts)
        self._leaving = Counter({host.id: 1 + len(dropped)})
        tally, *of_server = self._tallies(lease, record)
        source = Source(origin, pick.url_id, record.is_relevant, tally)
        if origin.always_followed:
            source = Source(origin, pick.url_id, tally=_ALWAYS_FOLLOWED)
        outcome = self._admitter.admit(links, source, counts)
        rule = self._rules.filter
        worst = rule.worst([*of_server, tally])
        if record.is_download and rule.drops(worst):
            part = None if worst in of_server else rule.part_of_host(lease.url)
            of_unit = self._storage.drop(host.id, part)
            counts["dropped_irrelevant"] += len(of_unit)
            dropped += of_unit
        queued = self._queued - 1 + len(outcome.stored) - len(dropped)
        page = self._storage.add_record(lease, record, queued)
        if record.visit is not None:
            self._storage.add_visit(page, record.visit)
        if self._rules.keeps_links and (record.is_download or record.outcome == REDIRECT):
            self._storage.add_links(page, [link.url for link in links])
        return _Settlement(outcome, dropped, is_new_host)

    def _earn(self, lease: Lease, address: str | None) -> None:
        """Count a relevant page for its domain and its address."""
        holders = [domain_of(lease.host)] if self._rules.domain_cap else []
        self._storage.count_relevant([*holders, address] if address else holders)

    def _learn(self, pick: Pick, record: Record) -> Links | None:
        """Learn from a settled URL; return the links that led to it, None without a learner."""
        if self._learner is None:
            return None
        url = self._learner.known(pick.url_id)
        if record.is_labelled:
            self._learner.learn(url, is_relevant=record.is_relevant)
        return url.links

    def _tallies(self, lease: Lease, record: Record) -> list[Tally]:
        """Return the tallies of a page's units, this page included."""
        units = self._rules.filter.units_of(lease.url)
        if not record.is_download:
            known = self._storage.tallies(units)
            return [known[unit] for unit in units]
        is_relevant = record.is_relevant
        return [self._storage.count_download(unit, is_relevant=is_relevant) for unit in units]

    def _drop_canonical(
        self, pick: Pick, record: Record, counts: Counter[str]
    ) -> list[tuple[float, int]]:
        """Make the canonical URL of a page a known one; return score and id if it was queued."""
        if record.canonical is None:
            return []
        dropped = self._storage.make_known(record.canonical, pick.host.id, pick.url_id)
        counts["dropped_same_page"] += dropped is not None
        return [] if dropped is None else [dropped]

    def _count(self, record: Record, *, is_new_host: bool) -> None:
        if record.outcome == PAGE:
            self._pages += 1
            self._labelled += record.language is not None
            self._relevant += record.is_relevant
            self._visited += is_new_host

    # Leases.

    def _held(self, lease: Lease) -> _Leased:
        try:
            return self._leased[lease.fingerprint]
        except KeyError:
            raise LeaseError(f"{lease.url} is not leased") from None

    def _end_lease(self, lease: Lease) -> None:
        pick = self._leased.pop(lease.fingerprint).pick
        self._leased_ids.discard(pick.url_id)
        pick.host.is_leased = False
        self._patience.end_lease(pick.score)

    def _is_budget_leased(self) -> bool:
        budgets = (
            (self._rules.budget_pages, self._pages),
            (self._rules.budget_relevant, self._relevant),
        )
        leased = len(self._leased)
        return any(most is not None and number + leased >= most for most, number in budgets)

    # Hosts in memory: leased, resting or ready. A host with no queue and no rest is forgotten.

    def _take_over(self, now: float) -> None:
        for row, queued, promising, score, url_id in self._storage.queues(self._patience.threshold):
            host = self._host(row)
            host.queued, host.promising = queued, promising
            host.head = (score, url_id, host.id)
            self._queued += queued
            self._rest(host, host.ready_at, now)

    def _take_in(self, outcome: Outcome, now: float) -> None:
        for url in outcome.stored:
            is_waiting = url.host in self._hosts
            host = self._host(outcome.hosts[url.host])
            self._count_queued(host, url.score, 1)
            self._selection.add(host, url.score, url.id)
            is_waiting = is_waiting and host.ready_at > now
            if not (host.is_ready or host.is_leased or is_waiting):
                self._rest(host, host.ready_at, now)
        for moved in outcome.moved:
            host = self._hosts[moved.host]
            self._count_moved(host, moved.before, moved.after)
            self._selection.rescore(host, moved.url, moved.after)

    def _queued_of(self, host: int) -> int:
        """Return the number of queued URLs of a host, without those that leave just now."""
        queued = self._hosts.get(host)
        return 0 if queued is None else queued.queued - self._leaving[host]

    def _is_leased(self, url_id: int) -> bool:
        """Return True if the URL with an id is leased."""
        return url_id in self._leased_ids

    def _count_moved(self, host: QueuedHost, before: float, after: float) -> None:
        """Count a queued URL whose score changed."""
        self._patience.count(host, before, -1)
        self._patience.count(host, after, 1)

    def _take_out(self, host: QueuedHost, urls: Iterable[tuple[float, int]]) -> None:
        host.head = None
        for score, _ in urls:
            self._count_queued(host, score, -1)

    def _host(self, row: HostRow) -> QueuedHost:
        host = self._hosts.get(row.id)
        if host is None:
            delay_s = self._rules.delay_s
            if row.delay_s is not None:
                delay_s = max(row.delay_s, delay_s)
            ready_at = row.not_before
            if row.id <= self._last_known_host:
                ready_at = max(ready_at, self._opened_at + delay_s)
            host = self._hosts[row.id] = QueuedHost(row.id, delay_s, ready_at)
        return host

    def _count_queued(self, host: QueuedHost, score: float, by: int) -> None:
        host.queued += by
        self._queued += by
        self._patience.count(host, score, by)

    def _rest(self, host: QueuedHost, ready_at: float, now: float) -> None:
        """Make a host without a lease wait until `ready_at`, or make it ready at once."""
        host.ready_at = ready_at
        if ready_at > now:
            heappush(self._resting, (ready_at, host.id))
            self._patience.rest(host)
        elif host.queued:
            host.is_ready = True
            self._selection.put(host)
        else:
            del self._hosts[host.id]

    def _wake_rested(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            ready_at, host_id = heappop(self._resting)
            host = self._hosts.get(host_id)
            if host and not (host.is_leased or host.is_ready) and host.ready_at == ready_at:
                self._rest(host, ready_at, now)
        self._patience.wake(now)
