"""The embedded frontier: one process, one SQLite file in the run's folder.

URLs, their order and all counters are on disk; in memory are only the hosts that have
something queued or still rest: 325 bytes for one that is ready, 390 for one that rests, whatever
it has queued. Leases are not written down: a URL leaves the queue in the transaction that settles
it, so after a kill whatever was leased is simply still queued.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from random import Random

from crawler.errors import StorageError
from crawler.frontier.admission import Admitter, Origin, Outcome
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
)
from crawler.frontier.selection import BestFirst, Host, Pick, Selection, UniformDraw
from crawler.frontier.storage import HostRow, Tables
from crawler.strategies.filters import Filter
from crawler.strategies.orderings import Draw
from crawler.strategies.relevance import Tally

_VOUCHED_FOR = Tally(1, 1)
"""The tally of a source whose links need no relevant page of its own.

A redirect is as good as the link that led to it, which was accepted. For a seed the person
vouches who named it: unlike in the paper, whose seeds are home pages in the target language
(Tamura 2007, 2.1), it may be a portal in another language.
"""


class SqliteFrontier:
    """See `crawler.frontier.base.Frontier`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        now: float,
        filter: Filter,
        draw: Draw = Draw.FIRST,
        lifts: bool = False,
        doubts_up_to: float | None = None,
        patience_s: float = 0.0,
        host_cap: int = 10,
        directory_cap: int = 0,
        delay_s: float = 0.0,
        budget_pages: int | None = None,
        random_state: int = 0,
        keeps_links: bool = False,
    ) -> None:
        """Open the frontier on a run's database (`crawler.run.open_run`).

        Where `draw` is uniform there are few scores, and none is lifted. `host_cap` URLs of a host
        and `directory_cap` of a directory hold a slot at most, 0: any number. `delay_s` is the time
        between two contacts of a host. `budget_pages` pages are settled or leased at most, None:
        any number. A URL with the score `doubts_up_to` or less, None: no score, waits until for
        `patience_s` seconds nothing better was ready, as long as something better may come: from a
        page on its way, or from a host that rests. Hosts that an earlier process knew rest for
        their delay first, since nobody knows when that process last contacted whom. With
        `keeps_links` all links of pages and redirects are written down, in their order.
        """
        if lifts and draw is Draw.UNIFORM:
            raise ValueError("scores are not lifted where URLs are drawn uniformly")
        self._tables = Tables(connection)
        self._filter = filter
        self._admitter = Admitter(self._tables, filter, host_cap, directory_cap, lifts)
        self._pages, self._labelled, self._relevant = self._tables.page_totals()
        self._visited = self._tables.visited_hosts()
        self._delay_s = delay_s
        self._budget_pages = budget_pages
        self._keeps_links = keeps_links
        self._hosts: dict[int, Host] = {}
        self._resting: list[tuple[float, int]] = []
        self._has_doubts = doubts_up_to is not None
        self._doubts_up_to = float("-inf") if doubts_up_to is None else doubts_up_to
        self._patience_s = patience_s
        self._doubting_since: float | None = None
        self._promising_leases = 0
        self._promising_rests: list[tuple[float, int]] = []
        self._leased: dict[int, Pick] = {}
        self._queued = 0
        self._opened_at, self._last_known_host = now, self._tables.last_host()
        self._selection = self._select(draw, random_state)
        self._take_over(now, knows_heads=draw is Draw.FIRST)

    def seed(self, links: Sequence[Link], now: float) -> list[Admission]:
        """Queue links that no page gave: no filter applies, the caps do."""
        with self._tables.transaction() as counts:
            outcome = self._admitter.admit(links, Origin(), counts)
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
        """Settle a leased URL and return what became of its links, in their order."""
        pick = self._pick(lease)
        host = pick.host
        dropped: list[tuple[float, int]] = []
        with self._tables.transaction() as counts:
            counts.update(
                ignored_file=record.ignored_files,
                ignored_url=record.ignored_urls,
                ignored_trap=record.ignored_traps,
                cut_short=record.is_cut,
            )
            if record.parser is not None:
                counts[f"parser_{record.parser}"] += 1
            self._tables.unqueue(pick.url_id)
            if record.outcome == REDIRECT:
                self._tables.free_slots(host.id, 1)
                self._admitter.free_directories([lease.url])
            tally = self._tally(lease, record)
            origin = self._origin(lease, pick, record, tally)
            outcome = self._admitter.admit(links, origin, counts)
            if record.is_download and self._filter.drops(tally):
                urls, dropped = self._tables.drop(host.id, self._filter.part_of_host(lease.url))
                self._admitter.free_directories(urls)
                counts["dropped_irrelevant"] += len(dropped)
            is_new_host = record.outcome == PAGE and self._tables.count_page(host.id)
            queued = self._queued - 1 + len(outcome.stored) - len(dropped)
            page = self._tables.add_record(lease, pick.url_id, record, queued)
            if self._keeps_links and (record.is_download or record.outcome == REDIRECT):
                self._tables.add_links(page, [link.url for link in links])
        self._count(record, is_new_host=is_new_host)
        self._take_out(host, [(pick.score, pick.url_id), *dropped])
        self._take_in(outcome, now)
        self._end_lease(lease)
        self._rest(host, now + host.delay_s if was_contacted else host.ready_at, now)
        return outcome.admissions

    def retry(self, lease: Lease, *, now: float, not_before: float) -> None:
        """Give a leased URL back to be fetched again; its host rests until `not_before`."""
        pick = self._pick(lease)
        host = pick.host
        not_before = max(not_before, now + host.delay_s)
        with self._tables.transaction() as counts:
            counts["retried"] += 1
            self._tables.count_retry(pick.url_id)
            self._tables.hold(host.id, not_before)
        self._end_lease(lease)
        self._rest(host, not_before, now)

    def release(self, lease: Lease, *, now: float, not_before: float | None = None) -> None:
        """Give a leased URL back unchanged; its host rests for its delay or until `not_before`."""
        pick = self._pick(lease)
        self._end_lease(lease)
        self._selection.put_back(pick)
        self._rest(pick.host, now + pick.host.delay_s if not_before is None else not_before, now)

    def next(self, now: float) -> Lease | None:
        """Lease the best URL among the hosts that may be contacted now, or return None."""
        try:
            return self._next(now)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run cannot be read any more: {error}") from error

    def _next(self, now: float) -> Lease | None:
        self._wake_rested(now)
        if self._is_budget_leased() or self._hopes_for_better(now):
            return None
        pick = self._selection.take()
        if pick is None:
            return None
        host = pick.host
        self._promising_leases += pick.score > self._doubts_up_to
        host.is_ready, host.is_leased = False, True
        if not pick.url_id:
            url_id = self._tables.url_at(host.id, pick.score, pick.first_id, pick.offset)
            pick = Pick(host, pick.score, url_id)
        lease = self._tables.lease(pick.url_id)
        self._leased[lease.fingerprint] = pick
        return lease

    def ready_at(self, now: float) -> float | None:
        """Return when `next` will have something, or None until a lease ends."""
        if self._is_budget_leased():
            return None
        rested_at = self._resting[0][0] if self._resting else None
        if self._selection.best() is None:
            return rested_at
        if self._doubting_since is None or not self._hopes_for_better(now):
            return now
        out_of_patience_at = self._doubting_since + self._patience_s
        return out_of_patience_at if rested_at is None else min(rested_at, out_of_patience_at)

    def set_delay(self, host: str, delay_s: float) -> None:
        """Contact a host at most once in `delay_s` seconds, if that is longer."""
        delay_s = max(delay_s, self._delay_s)
        host_id = self._tables.set_delay(host, delay_s)
        if host_id in self._hosts:
            self._hosts[host_id].delay_s = delay_s

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the robots.txt kept for an origin, however old, None if it was not fetched."""
        try:
            return self._tables.robots(origin)
        except sqlite3.DatabaseError as error:
            raise StorageError(f"the run cannot be read any more: {error}") from error

    def set_robots(self, origin: str, text: str, now: float) -> None:
        """Keep the robots.txt of an origin."""
        self._tables.set_robots(origin, text, now)

    def counts(self) -> Counts:
        """Return where the crawl stands."""
        return Counts(
            queued=self._queued - len(self._leased),
            leased=len(self._leased),
            hosts=self._visited,
            pages=self._pages,
            labelled=self._labelled,
            relevant=self._relevant,
        )

    def close(self) -> None:
        """Give the leases back; the connection stays with whoever opened it."""
        self._leased.clear()

    # Settling.

    def _tally(self, lease: Lease, record: Record) -> Tally:
        unit = self._filter.unit_of(lease.url)
        if record.is_download:
            return self._tables.count_download(unit, is_relevant=record.is_relevant)
        return self._tables.tallies([unit])[unit]

    def _origin(self, lease: Lease, pick: Pick, record: Record, tally: Tally) -> Origin:
        if record.outcome == REDIRECT:
            redirects = lease.redirects + 1
            return Origin(
                pick.url_id, lease.depth, redirects, source=_VOUCHED_FOR, inlinks=lease.inlinks
            )
        inlinks = (record.language,) if record.is_reference and record.language else ()
        if lease.depth == 0:
            return Origin(pick.url_id, depth=1, source=_VOUCHED_FOR, inlinks=inlinks)
        return Origin(
            pick.url_id,
            lease.depth + 1,
            page_is_relevant=record.is_relevant,
            source=tally,
            inlinks=inlinks,
        )

    def _count(self, record: Record, *, is_new_host: bool) -> None:
        if record.outcome == PAGE:
            self._pages += 1
            self._labelled += record.language is not None
            self._relevant += record.is_relevant
            self._visited += is_new_host

    # Leases.

    def _pick(self, lease: Lease) -> Pick:
        try:
            return self._leased[lease.fingerprint]
        except KeyError:
            raise LeaseError(f"{lease.url} is not leased") from None

    def _end_lease(self, lease: Lease) -> None:
        pick = self._leased.pop(lease.fingerprint)
        pick.host.is_leased = False
        self._promising_leases -= pick.score > self._doubts_up_to

    def _is_budget_leased(self) -> bool:
        return (
            self._budget_pages is not None and self._pages + len(self._leased) >= self._budget_pages
        )

    # Doubt: free connections wait a little rather than fetch what is likely in vain.

    def _hopes_for_better(self, now: float) -> bool:
        best = self._selection.best()
        if best is None:
            return False
        if best > self._doubts_up_to:
            self._doubting_since = None
            return False
        if not (self._promising_leases or self._promises_soon(now)):
            return False
        if self._doubting_since is None:
            self._doubting_since = now
        return now - self._doubting_since < self._patience_s

    def _promises_soon(self, now: float) -> bool:
        """Tell whether a host with something better will have rested within the patience."""
        while self._promising_rests:
            ready_at, host_id = self._promising_rests[0]
            host = self._hosts.get(host_id)
            is_resting = host is not None and not (host.is_leased or host.is_ready)
            if is_resting and host and host.promising and host.ready_at == ready_at:
                return ready_at <= now + self._patience_s
            heappop(self._promising_rests)
        return False

    # Hosts in memory: leased, resting or ready; without queue and rest they are forgotten.

    def _select(self, draw: Draw, random_state: int) -> Selection:
        """Return a selection; where URLs are drawn it knows already what is queued."""
        if draw is Draw.FIRST:
            return BestFirst(self._hosts, self._tables.head)
        random = Random(random_state + self._pages)
        return UniformDraw(random, self._hosts, self._tables.ids, self._tables.tiers())

    def _take_over(self, now: float, *, knows_heads: bool) -> None:
        for row, queued, promising, score, url_id in self._tables.queues(self._doubts_up_to):
            host = self._host(row)
            host.queued, host.promising = queued, promising
            if knows_heads:
                host.head = (score, url_id, host.id)
            self._queued += queued
            self._rest(host, host.ready_at, now)

    def _take_in(self, outcome: Outcome, now: float) -> None:
        for row in outcome.stored:
            is_waiting = row.host.id in self._hosts
            host = self._host(row.host)
            self._count_queued(host, row.score, 1)
            self._selection.add(host, row.score, row.id)
            is_waiting = is_waiting and host.ready_at > now
            if not (host.is_ready or host.is_leased or is_waiting):
                self._rest(host, host.ready_at, now)
        for host_id in outcome.lifted:
            lifted = self._hosts.get(host_id)
            if lifted is not None:
                self._selection.lift(lifted)

    def _take_out(self, host: Host, urls: Iterable[tuple[float, int]]) -> None:
        for score, url_id in urls:
            self._count_queued(host, score, -1)
            self._selection.discard(host, score, url_id)

    def _host(self, row: HostRow) -> Host:
        host = self._hosts.get(row.id)
        if host is None:
            delay_s = self._delay_s if row.delay_s is None else max(row.delay_s, self._delay_s)
            ready_at = row.not_before
            if row.id <= self._last_known_host:
                ready_at = max(ready_at, self._opened_at + delay_s)
            host = self._hosts[row.id] = Host(row.id, delay_s, ready_at)
        return host

    def _count_queued(self, host: Host, score: float, by: int) -> None:
        host.queued += by
        self._queued += by
        if score > self._doubts_up_to:
            host.promising += by
            if by == host.promising and self._has_doubts and not (host.is_ready or host.is_leased):
                heappush(self._promising_rests, (host.ready_at, host.id))

    def _rest(self, host: Host, ready_at: float, now: float) -> None:
        """Let a host that is not leased wait until `ready_at`, or take part at once."""
        host.ready_at = ready_at
        if ready_at > now:
            rest = (ready_at, host.id)
            heappush(self._resting, rest)
            if host.promising and self._has_doubts:
                heappush(self._promising_rests, rest)
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
        while self._promising_rests and self._promising_rests[0][0] <= now:
            heappop(self._promising_rests)
