"""The embedded frontier: one process, one SQLite file in the run folder.

URLs, their order and all counters are on disk. Only hosts with a queued URL or a rest are in
memory: some 400 bytes per host, for any queue length. Leases are not stored: a URL leaves the queue
in the transaction that settles it, so after a kill every leased URL is still queued. A crawl writes
the changes of some 20 ms in one transaction (`group`). A kill undoes them, and their URLs are
queued again. A request waits until the slot of its URL is written: a host with ten requested URLs
is full after a kill, too.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from random import Random

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.admission import Admitted, Admitter, Source, full_holder_of, full_of
from langfocus.crawler.frontier.base import (
    ANY_TEXT,
    PAGE,
    REDIRECT,
    Admission,
    Counts,
    HostStates,
    KeptRobots,
    Lease,
    LeaseError,
    Record,
    Sending,
)
from langfocus.crawler.frontier.evidence_rows import Learner
from langfocus.crawler.frontier.learning import chosen
from langfocus.crawler.frontier.links import Held, LinkOrigin, Links, origin_of
from langfocus.crawler.frontier.robots_table import RobotsTable
from langfocus.crawler.frontier.rules import IN_SCOPE, FrontierRules
from langfocus.crawler.frontier.selection import Hosts, QueuedHost, UniformDraw
from langfocus.crawler.frontier.slots import (
    are_full,
    penalties_for,
    with_penalties,
)
from langfocus.crawler.frontier.storage import HostRow, Storage
from langfocus.crawler.frontier.transactions import TallyTable, Transactions
from langfocus.crawler.strategies.filters import Tally
from langfocus.crawler.strategies.links import Draw, Link
from langfocus.crawler.url import fingerprint

_ALWAYS_FOLLOWED = Tally(1, 1)
"""Tally of a source whose links pass every filter."""

_READ_AHEAD = 3
"""URLs that are read with the one that `next` tries after an outdated score."""

_MOST_BYTES = 1 << 62
"""Most bytes counted for a host per record; `add_record` refuses a number beyond 64 bits."""


class SqliteFrontier:
    """See `crawler.frontier.base.Frontier`."""

    def __init__(self, connection: sqlite3.Connection, rules: FrontierRules, *, now: float) -> None:
        """Open the frontier on a run's database (`crawler.run.folder.open_run`).

        A host known to an earlier process rests for its delay first, because that process may have
        contacted it just before. If `now` is earlier than that process's times, the machine's clock
        was set back, and no host rests longer because of it.
        """
        self._transactions = Transactions(connection)
        self._storage = Storage(connection)
        self._robots = RobotsTable(connection, self._transactions)
        self._units = TallyTable(connection, "units", "downloaded, relevant")
        self._transactions.written_later.append(self._units)
        if ahead_s := self._storage.seconds_ahead(now):
            with self._transactions.transaction():
                self._storage.set_back(ahead_s)
        self._rules = rules
        self._learner: Learner | None = None
        if rules.prior is not None:
            self._learner = Learner(connection, rules.prior, rules)
            self._transactions.written_later.append(self._learner)
        self._leased: dict[int, Held] = {}
        self._leaving: Counter[int] = Counter()
        self._ahead: dict[int, Held] = {}  # URLs that `next` probably tries
        self._is_outdated = False  # a score that `next` tried
        self._lowered: dict[int, Held] = {}  # put back by `next`, and not written yet, by host
        self._admitter = Admitter(
            self._storage,
            self._units,
            rules,
            self._learner,
            self._queued_of,
            self._leased.__contains__,
        )
        totals = self._storage.totals()
        self._visited, self._pages, self._labelled, self._relevant = totals
        self._full = self._storage.full_hosts(rules.host_cap) if rules.host_cap else 0
        self._opened_at, self._last_known_host = now, self._storage.last_host
        self._hosts = Hosts(rules, self._storage.head, self._latest_leases)
        if rules.draw is Draw.UNIFORM:
            random = Random(rules.random_state + self._pages)
            self._storage.draw = UniformDraw(random, self._storage.drawn())
        for row, queued, score, url_id in self._storage.queues():
            host = self._entered(row, queued)
            host.head = (score, url_id, host.id)
            self._hosts.rest(host, host.ready_at, now)

    def seed(self, links: Sequence[Link], now: float, depth: int = 0) -> list[Admission]:
        """Queue the seeds: no filter applies, the caps do."""
        self._leaving.clear()
        with self._transactions.transaction() as counts:
            admitted = self._admitter.admit(links, Source(LinkOrigin(depth)), counts)
        self._take_in(admitted, now)
        return admitted.admissions

    def admit(
        self, lease: Lease, record: Record, links: Sequence[Link] = (), *, now: float
    ) -> list[Admission]:
        """Settle a leased URL and return the admission of each link, in order."""
        held = self._held(lease)
        host = self._hosts[held.url.host]
        with self._transactions.transaction() as counts:
            counts.update(record.counts)
            admitted, dropped, is_new_host = self._settle(lease, held, record, links, counts)
        if record.outcome == PAGE:
            self._pages += 1
            self._labelled += record.is_rated
            self._relevant += record.is_wanted
            self._visited += is_new_host
        self._take_in(admitted, now)
        for of, number in dropped.items():
            self._hosts.leave(of, number)
        ready_at = now + host.delay_s if record.was_contacted else host.ready_at
        self._end_lease(lease, ready_at, now)
        return admitted.admissions

    def retry(self, lease: Lease, *, now: float, not_before: float, url: str | None = None) -> None:
        """Queue a leased URL for another fetch, at `url` if given; its host rests."""
        held = self._held(lease)
        host = self._hosts[held.url.host]
        not_before = max(not_before, now + host.delay_s)
        with self._transactions.transaction() as counts:
            if url is None:
                counts["retried"] += 1
                if not held.is_sent_now:
                    self._storage.count_try(held.url.id)
                score = held.score_after_failure(self._rules.doubts_up_to)
                self._storage.set_scores([(score, held.url.id)])
            else:
                counts["respelled"] += 1
                unit = self._rules.unit_of(url)
                self._storage.respell(held.url.id, lease.url, url, unit)
            self._storage.hold(host.id, not_before)
        self._end_lease(lease, not_before, now)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Queue a leased URL again; its host rests for its delay or until `not_before`."""
        host = self._hosts[self._held(lease).url.host]
        self._end_lease(lease, now + host.delay_s if not_before is None else not_before, now)

    def send(
        self, lease: Lease, address: str | None, *, now: float, is_page: bool = True
    ) -> Sending:
        """Return whether the request for a leased URL may be sent; note that it is."""
        held = self._held(lease)
        score, dropped = held.url.score, 0
        host, domain, place = self._holders(lease.host, address)
        full = full_of(self._rules, host, domain, place)
        if full is not None and (not held.was_sent or full is Sending.HOST_BYTES):
            return full
        if not held.was_sent and place is not None:
            penalties = penalties_for(self._rules.address_cap, place.taken, place.relevant)
            score = with_penalties(score, penalties, self._rules.doubts_up_to)
        if score < held.url.score:
            with self._transactions.transaction() as counts:
                counts["lowered"] += 1
                self._storage.set_scores([(score, held.url.id)])
            self._end_lease(lease, self._hosts[held.url.host].ready_at, now)
            return Sending.LATER
        if not is_page:
            self._count_file(host, [domain, place])
            return Sending.NOW
        with self._transactions.transaction() as counts:
            self._storage.send(held.url.id)
            host.sent += not held.was_sent
            self._take_slots([host], [domain, place])
            if not held.was_sent and host.sent == self._rules.host_cap:
                self._full += 1
                dropped = self._storage.drop(host.id, None)
                counts["dropped_host_full"] += dropped
        held.was_sent = held.is_sent_now = True
        held.address = place.key if place else ""
        self._hosts.leave(held.url.host, dropped)
        return Sending.NOW

    def knows_version(self, lease: Lease) -> bool:
        """Return True if a leased URL's page is known in the language under another URL."""
        twins = self._rules.twins_of(lease)
        return any(twins) and self._storage.knows_version(twins, self._rules.doubts_up_to)

    def ask_file(self, host: str, address: str | None, *, now: float) -> Sending:
        """Return whether a file may be requested from a host that is not leased; count it."""
        _, domain, place = self._holders(host, address)
        full = full_holder_of(self._rules, domain, place)
        if full is None and (domain or place):
            with self._transactions.transaction():
                self._take_slots([], [domain, place])
        return full or Sending.NOW

    def _count_file(self, host: HostRow, others: Sequence[HostRow | None]) -> None:
        """Count a request for a file of a host, where domains or addresses have slots."""
        if any(others):
            with self._transactions.transaction():
                host.files += 1
                self._take_slots([host], others)

    def _holders(
        self, name: str, address: str | None
    ) -> tuple[HostRow, HostRow | None, HostRow | None]:
        """Return a host, and its domain and address if capped."""
        domain, holder = self._rules.domain_of(name), self._rules.holder_of(address)
        rows = self._storage.hosts(filter(None, (name, domain, holder)))
        return rows[name], rows.get(domain), rows.get(holder)

    def _take_slots(self, hosts: Iterable[HostRow], others: Iterable[HostRow | None]) -> None:
        """Count a request for a domain and an address; store them and `hosts`."""
        holders = {host.key: host for host in hosts}
        for holder in filter(None, others):
            holder.taken += 1
            holders[holder.key] = holder
        self._storage.store_hosts(holders.values())

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None."""
        try:
            return self._next(now)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run can no longer be read: {error}") from error

    def _next(self, now: float) -> Lease | None:
        self._hosts.wake(now)
        if self._is_budget_leased():
            return None
        self._ahead.clear()
        self._is_outdated = False
        held = chosen(
            lambda: self._take(now),
            self._best_besides,
            lambda held: self._put_back(held, now),
            self._rules.waits_up_to,
        )
        self._write_back()
        if held is None:
            return None
        if self._learner is not None:
            self._learner.rescore(held, held.url, held.penalties)
        if self._storage.draw is not None:
            self._storage.draw.lease(held.url.score, held.url.id)
        held.leased_at = now
        self._leased[held.lease.fingerprint] = held
        return held.lease

    def _latest_leases(self) -> Iterator[tuple[float, float]]:
        """Yield the start and the score of each lease, the latest first."""
        return ((one.leased_at, one.url.score) for one in reversed(self._leased.values()))

    def _take(self, now: float) -> Held | None:
        """Remove the best URL from the queue, with its current score."""
        url_id = self._hosts.take(now)
        if url_id is None:
            return None
        if url_id not in self._ahead:
            self._write_back()
            # After one outdated score others follow. Together they are read in half the time.
            others = self._hosts.following(_READ_AHEAD) if self._is_outdated else []
            self._ahead = self._held_now([url_id, *others])
        return self._ahead.pop(url_id)

    def _held_now(self, url_ids: Sequence[int]) -> dict[int, Held]:
        """Return queued URLs with their current scores, by id."""
        found, rules = self._storage.leases(url_ids), self._rules
        domains = {held.lease.host: rules.domain_of(held.lease.host) for held in found.values()}
        rows = self._storage.slots(filter(None, domains.values()))
        for held in found.values():
            taken, relevant = rows.get(domains[held.lease.host], (0, 0))
            if not held.was_sent and are_full(rules.domain_cap, taken, relevant):
                held.lease = replace(held.lease, is_beyond_cap=True)
            if not held.was_sent:
                held.penalties = penalties_for(rules.domain_cap, taken, relevant)
            held.penalize(held.penalties, rules.doubts_up_to)
        if self._learner is not None:
            self._learner.rescore_all(found.values())
        return found

    def _best_besides(self, held: Held) -> float | None:
        """Return the best score of all other ready URLs."""
        # Other URLs of the host were not scored anew either, so one may be better.
        host = held.url.host
        if host in self._lowered:
            self._write_back()
        is_alone = self._hosts[host].queued == 1
        held.beside = None if is_alone else self._storage.best_besides(host, held.url.id)
        best, other = self._hosts.best(), held.beside and -held.beside[0]
        return max((score for score in (best, other) if score is not None), default=None)

    def _put_back(self, held: Held, now: float) -> None:
        """Queue a URL again with its current score, which `_write_back` writes."""
        host, self._is_outdated = self._hosts[held.url.host], True
        self._lowered[host.id] = held
        own = (-held.score, held.url.id)
        host.head = (*(own if held.beside is None else min(own, held.beside)), host.id)
        self._hosts.rest(host, host.ready_at, now)

    def _write_back(self) -> None:
        """Write the scores of URLs that were put back."""
        lowered, self._lowered = self._lowered.values(), {}
        if lowered:
            with self._transactions.transaction() as counts:
                self._storage.set_scores([(held.score, held.url.id) for held in lowered])
                counts["lowered"] += sum(held.is_penalized for held in lowered)

    def ready_at(self, now: float) -> float | None:
        """Return the time of the next URL from `next`, or None until a lease ends."""
        return None if self._is_budget_leased() else self._hosts.ready_at(now)

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        """Drop the blocked URLs in the queue and return their number; leased URLs are kept."""
        leased = [one.url.id for one in self._leased.values()]
        with self._transactions.transaction() as counts:
            dropped = self._storage.drop_blocked(is_blocked, leased)
            counts["dropped_blocked"] += dropped.total()
        for host, number in dropped.items():
            self._hosts.leave(host, number)
        return dropped.total()

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        delay_s = max(delay_s, self._rules.delay_s)
        with self._transactions.transaction():
            host_id = self._storage.set_delay(host, delay_s)
        queued = None if host_id is None else self._hosts.get(host_id)
        if queued is not None:
            queued.delay_s = delay_s

    def robots(self, name: str) -> KeptRobots | None:
        """Return the text of a name, of any age, or None."""
        try:
            return self._robots.text_of(name)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run can no longer be read: {error}") from error

    def set_robots(
        self, name: str, text: str, now: float, before: KeptRobots | None = ANY_TEXT
    ) -> bool:
        """Store the text of a name; no other process can have changed the text."""
        self._robots.store(name, text, now, self._rules.robots_bytes)
        return True

    def counts(self) -> Counts:
        """Return the numbers of queued URLs, leased URLs and pages."""
        leased = len(self._leased)
        numbers = self._visited, self._pages, self._labelled, self._relevant
        is_left = leased > 0 or not self._rules.is_expected_only or self._hosts.has_expected()
        return Counts(self._hosts.queued - leased, leased, *numbers, has_expected=is_left)

    def host_states(self) -> HostStates:
        """Return the host counts by state."""
        known, ready, leased = len(self._hosts), self._hosts.ready, len(self._leased)
        return HostStates(ready, known - ready - leased, leased, self._full)

    def close(self) -> None:
        """Write the open group and release the leases; the connection stays open."""
        self._leased.clear()
        self._transactions.end_groups()

    def group(self, later: Callable[[Callable[[], None]], object]) -> None:
        """Write the changes of some time together, when `later` runs the given function."""
        self._transactions.group(lambda: later(self._transactions.commit))

    # Settling.

    def _settle(
        self,
        lease: Lease,
        held: Held,
        record: Record,
        links: Sequence[Link],
        counts: Counter[str],
    ) -> tuple[Admitted, Counter[int], bool]:
        """Persist all changes by a settled URL.

        Return the changes by its links, the number of URLs that left the queue by host, and True
        for the first page of the host.
        """
        host_id, url_id = held.url.host, held.url.id
        origin = origin_of(lease, record, self._learn(url_id, lease, record))
        self._storage.unqueue(url_id)
        is_new_host, files, received = self._storage.settle_host(
            host_id,
            is_page=record.outcome == PAGE,
            was_sent=held.was_sent,
            received=min(record.bytes, _MOST_BYTES),
        )
        if record.earns_slots or (record.is_download and files):
            self._earn(lease, held, files, earns=record.earns_slots)
        leaving = self._leaving = Counter({host_id: 1})
        for url in filter(None, (record.canonical, *record.versions)):
            if fingerprint(url) not in self._leased:
                depth = int(url != record.canonical)
                found = self._storage.make_known(url, host_id, url_id, depth=depth)
                if found is not None:
                    leaving[found] += 1
                    counts["dropped_version" if depth else "dropped_same_page"] += 1
        if 0 < self._rules.host_bytes <= received:
            of_host = self._storage.drop(host_id, None)
            counts["dropped_host_bytes"] += of_host
            leaving[host_id] += of_host
        tally, *of_server = self._tallies(lease, record)
        source = Source(origin, url_id, record.is_relevant, tally)
        if origin.always_followed:
            source = Source(origin, url_id, tally=_ALWAYS_FOLLOWED)
        admitted = self._admitter.admit(links, source, counts)
        rule = self._rules.filter
        worst = rule.worst([*of_server, tally])
        if record.is_download and rule.drops(worst):
            part = None if worst in of_server else rule.part_of_host(lease.url)
            of_unit = self._storage.drop(host_id, part, spared=IN_SCOPE)
            counts["dropped_irrelevant"] += of_unit
            leaving[host_id] += of_unit
        queued = self._hosts.queued + len(admitted.stored) - leaving.total()
        page = self._storage.add_record(lease, record, queued)
        if record.visit is not None:
            self._storage.add_visit(page, record.visit)
        if self._rules.keeps_links and (record.is_download or record.outcome == REDIRECT):
            self._storage.add_links(page, [link.url for link in links])
        return admitted, leaving, is_new_host

    def _earn(self, lease: Lease, held: Held, files: int, *, earns: bool) -> None:
        """Release the slots of files of a page's domain; a page may earn more slots."""
        domain = self._rules.domain_of(lease.host)
        if files:
            self._storage.repay(held.url.host, files, domain)
        if earns:
            self._storage.count_relevant(filter(None, (domain, held.address)))

    def _learn(self, url_id: int, lease: Lease, record: Record) -> Links | None:
        """Learn from a settled URL; return the links that led to it, None without a learner."""
        if self._learner is None:
            return None
        url = self._learner.known(url_id)
        if record.is_labelled:
            self._learner.learn(url, is_relevant=record.is_relevant)
            self._learner.note(lease.url, record)
        return url.links

    def _tallies(self, lease: Lease, record: Record) -> list[Tally]:
        """Return the tallies of a page's units, this page included."""
        units = self._rules.filter.units_of(lease.url)
        if record.is_download:
            return self._units.count(units, is_relevant=record.is_relevant)
        known = self._units.of(units)
        return [known[unit] for unit in units]

    def transaction(self) -> AbstractContextManager[Counter[str]]:
        """Return a block that writes to the run completely or not at all, with its counts."""
        return self._transactions.transaction()

    # Leases.

    def _held(self, lease: Lease) -> Held:
        try:
            return self._leased[lease.fingerprint]
        except KeyError:
            raise LeaseError(f"{lease.url} is not leased") from None

    def _end_lease(self, lease: Lease, ready_at: float, now: float) -> None:
        host = self._hosts[self._leased.pop(lease.fingerprint).url.host]
        self._hosts.rest(host, ready_at, now)

    def _is_budget_leased(self) -> bool:
        budgets = (
            (self._rules.budget_pages, self._pages),
            (self._rules.budget_relevant, self._relevant),
        )
        leased = len(self._leased)
        return any(most is not None and number + leased >= most for most, number in budgets)

    # Hosts in memory.

    def _take_in(self, admitted: Admitted, now: float) -> None:
        for url in admitted.stored:
            host = self._hosts.get(url.host) or self._entered(admitted.hosts[url.host])
            self._hosts.add(host, url.score, url.id, now)
        for url in admitted.moved:
            self._hosts.rescore(url.host, url.score, url.id)

    def _queued_of(self, host_id: int) -> int:
        """Return the number of a host's queued URLs, except URLs about to leave."""
        host = self._hosts.get(host_id)
        return 0 if host is None else host.queued - self._leaving[host_id]

    def _entered(self, row: HostRow, queued: int = 0) -> QueuedHost:
        delay_s = max(row.delay_s or 0.0, self._rules.delay_s)
        ready_at = row.not_before
        if row.id <= self._last_known_host:
            ready_at = max(ready_at, self._opened_at + delay_s)
        host = QueuedHost(row.id, delay_s, ready_at, queued)
        self._hosts.enter(host)
        return host
