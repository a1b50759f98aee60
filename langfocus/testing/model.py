"""A slow, obvious frontier against which the real ones are checked."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from langfocus.crawler.frontier.base import FORWARDING, PAGE, Admission, Record, Sending
from langfocus.crawler.frontier.slots import (
    are_full,
    bytes_of,
    has_room,
    highest_penalized,
    penalized,
    penalties_for,
)
from langfocus.crawler.strategies.filters import Filter, Tally
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.strategies.versions import Versions
from langfocus.crawler.url import domain_of, fingerprint, host_of

LEAST_CHANGE: Final = 0.2
"""The least decrease of a score for which a URL is put back."""

TRIED: Final = 16
"""URLs whose scores are lowered before one is leased."""


@dataclass
class Known:
    link: Link
    order: int
    redirects: int = 0
    depth: int = 0
    is_queued: bool = True
    is_leased: bool = False
    is_sent: bool = False
    is_sent_now: bool = False
    tries: int = 0
    tries_before: int = 0  # at its lease
    penalties: int = 0
    address: str | None = None

    @property
    def host(self) -> str:
        return host_of(self.link.url)


@dataclass
class ObviousFrontier:
    """All URLs in one list; every question is answered by looking at all of them."""

    filter: Filter
    host_cap: int = 10
    domain_cap: int = 0
    address_cap: int = 0
    host_queue: int = 0
    delay_s: float = 0.0
    budget_pages: int | None = None
    budget_relevant: int | None = None
    lifts: bool = False
    known: list[Known] = field(default_factory=list)
    records: list[tuple[str, Record]] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    slots: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    queued_bytes: Counter[str] = field(default_factory=Counter)
    relevant: dict[str, int] = field(default_factory=dict)
    counts_only_pages_of_addresses: bool = False
    lowered: int = 0
    doubts_up_to: float | None = 0.0
    ready_from: dict[str, float] = field(default_factory=dict)
    discovered: int = 0
    host_bytes: int = 0
    received: Counter[str] = field(default_factory=Counter)
    in_scope: Callable[[str], bool] | None = None
    versions: Versions | None = None

    def seed(self, links: list[Link]) -> list[Admission]:
        return self._admit_links(links, 0, 0, is_welcome=lambda _: True)

    def _admit_links(
        self, links: list[Link], redirects: int, depth: int, is_welcome: Callable[[Link], bool]
    ) -> list[Admission]:
        """Of links with one URL the first counts, with the best score if lifted."""
        places = {li.url: place for place, li in reversed(list(enumerate(links)))}
        answers: dict[str, Admission] = {}
        for url in sorted(places, key=lambda url: places[url]):
            score = max(li.score for li in links if li.url == url)
            link = Link(url, score if self.lifts else links[places[url]].score)
            answers[url] = self._admit_link(link, redirects, depth, is_welcome)
            if answers[url] is Admission.STORED:
                self.known[-1].order = self.discovered + places[url]
        self.discovered += len(links)
        return [
            Admission.SEEN
            if answers[li.url] is Admission.STORED and places[li.url] != place
            else answers[li.url]
            for place, li in enumerate(links)
        ]

    def _admit_link(
        self, link: Link, redirects: int, depth: int, is_welcome: Callable[[Link], bool]
    ) -> Admission:
        for known in self.known:
            if known.link.url == link.url:
                is_waiting = known.is_queued and not known.is_leased
                if self.lifts and is_waiting and link.score > known.link.score:
                    known.link, known.penalties = link, 0
                return Admission.SEEN
        if not (is_welcome(link) or self._is_in_scope(link.url)):
            return Admission.REJECTED
        full = self._full(host_of(link.url))
        if full is not None:
            return full
        host = host_of(link.url)
        domain = domain_of(host)
        if self.domain_cap and domain != host:
            relevant = self.relevant.get(domain, 0)
            if not has_room(self.domain_cap, relevant, self.queued_bytes[domain], link.url):
                return Admission.DOMAIN_FULL
            self.queued_bytes[domain] += bytes_of(link.url)
        self.known.append(Known(self._as_new(link), 0, redirects, depth))
        return Admission.STORED

    def _is_in_scope(self, url: str) -> bool:
        return self.in_scope is not None and self.in_scope(url)

    def _as_new(self, link: Link) -> Link:
        return link

    def _full(self, host: str) -> Admission | None:
        """Return which cap refuses a URL of a host, None if none does."""
        of_host = [k for k in self.known if k.host == host]
        if 0 < self.host_queue <= sum(k.is_queued or k.is_sent for k in of_host):
            return Admission.HOST_FULL
        if self.is_spent(host):
            return Admission.HOST_BYTES
        if self.is_host_full(host):
            return Admission.HOST_FULL
        return Admission.DOMAIN_FULL if self.is_full(domain_of(host), self.domain_cap) else None

    def is_host_full(self, host: str) -> bool:
        return 0 < self.host_cap <= sum(k.is_sent and k.host == host for k in self.known)

    def is_spent(self, host: str) -> bool:
        return 0 < self.host_bytes <= self.received[host]

    def is_full(self, holder: str, cap: int) -> bool:
        return are_full(cap, self.slots[holder], self.relevant.get(holder, 0))

    def _penalties(self, holder: str, cap: int) -> int:
        return penalties_for(cap, self.slots[holder], self.relevant.get(holder, 0))

    def send(self, url: str, address: str | None, *, is_page: bool) -> Sending:
        page = self.find(url)
        holder = address if self.address_cap else None
        if self.is_spent(page.host):
            return Sending.HOST_BYTES
        if not page.is_sent:
            if self.is_host_full(page.host):
                return Sending.HOST_FULL
            if self.is_full(domain_of(page.host), self.domain_cap):
                return Sending.DOMAIN_FULL
            if holder and self.is_full(holder, self.address_cap):
                return Sending.ADDRESS_FULL
            more = self._penalties(holder, self.address_cap) - page.penalties if holder else 0
            if more > 0:
                page.link = Link(url, penalized(page.link.score, more, self.doubts_up_to))
                page.penalties += more
                self.lowered += 1
                self._end_lease(url)
                return Sending.LATER
        holders = [domain_of(page.host)] if self.domain_cap else []
        is_counted = not self.counts_only_pages_of_addresses or (is_page and not page.is_sent)
        holders += [holder] if holder and is_counted else []
        self.slots.update(holders)
        if is_page:
            self._note_request(page, holder)
        elif holders:
            self.files[page.host] += 1
        return Sending.NOW

    def _note_request(self, page: Known, holder: str | None) -> None:
        was_full = self.is_host_full(page.host)
        page.is_sent = page.is_sent_now = True
        page.tries += 1
        page.address = holder
        if self.is_host_full(page.host) and not was_full:
            self._drop(lambda known: known.host == page.host)

    def _drop(self, is_dropped: Callable[[Known], bool]) -> int:
        """Drop queued URLs that got no request and are not leased."""
        left = [
            k
            for k in self.known
            if not k.is_queued or k.is_leased or k.is_sent or not is_dropped(k)
        ]
        dropped = len(self.known) - len(left)
        self.known[:] = left
        return dropped

    def candidates(self, now: float) -> list[Known]:
        leased = {k.host for k in self.known if k.is_leased}
        return [
            k
            for k in self.known
            if k.is_queued and k.host not in leased and self.ready_from.get(k.host, 0.0) <= now
        ]

    def next(self, now: float) -> str | None:
        if self.is_budget_leased():
            return None
        tries = TRIED
        while True:
            ready = sorted(self.candidates(now), key=lambda k: (-k.link.score, k.order))
            if not ready:
                return None
            best, *others = ready
            due = 0 if best.is_sent else self._penalties(domain_of(best.host), self.domain_cap)
            penalties = max(best.penalties, due)
            score = self._score_now(best, penalties)
            rest = [k for k in self.known if k.is_queued and k.host == best.host and k is not best]
            rivals = [k.link.score for k in (*others, *rest)]
            doubtful = self.doubts_up_to
            if self.domain_cap or self.address_cap:
                doubtful = highest_penalized(doubtful)
            is_alone = doubtful is not None and score <= doubtful
            is_worse = score < max(rivals) if rivals else is_alone
            is_moved = penalties > best.penalties or score <= best.link.score - LEAST_CHANGE
            if score >= best.link.score or not (is_worse and is_moved) or tries == 1:
                self.lease(best.link.url)
                return best.link.url
            self.lowered += penalties > best.penalties
            tries -= penalties == best.penalties
            best.link, best.penalties = replace(best.link, score=score), penalties

    def _score_now(self, known: Known, penalties: int) -> float:
        return penalized(known.link.score, penalties - known.penalties, self.doubts_up_to)

    def is_budget_leased(self) -> bool:
        pages = sum(record.outcome == PAGE for _, record in self.records)
        leased = sum(k.is_leased for k in self.known)
        relevant = sum(record.is_wanted for _, record in self.records)
        budgets = ((self.budget_pages, pages), (self.budget_relevant, relevant))
        return any(most is not None and number + leased >= most for most, number in budgets)

    def lease(self, url: str) -> None:
        """Follow another frontier's draw."""
        page = self.find(url)
        page.is_leased, page.tries_before = True, page.tries

    def find(self, url: str) -> Known:
        return next(k for k in self.known if k.link.url == url)

    def admit(self, url: str, record: Record, links: list[Link], now: float) -> list[Admission]:
        page = self.find(url)
        page.is_leased = page.is_queued = False
        self.records.append((url, record))
        files = self.files.pop(page.host, 0) if record.is_download else 0
        for holder in filter(None, (domain_of(page.host), page.address)):
            self.slots[holder] -= files if holder != page.address else 0
            if record.earns_slots:
                self.relevant[holder] = self.relevant.get(holder, 0) + 1
        units = self._units_of(url)
        if record.is_download:
            for unit in units:
                tally = self.tallies.get(unit, Tally())
                self.tallies[unit] = Tally(
                    tally.downloaded + 1, tally.relevant + record.is_relevant
                )
        tally = self.tallies.get(units[0], Tally())
        before = dict(self.tallies)
        if record.canonical:
            self._make_known(record.canonical, 0)
        for version in record.versions:
            self._make_known(version, 1)
        self.received[page.host] += record.bytes
        self._drop(lambda known: known.host == page.host and self.is_spent(page.host))

        def is_welcome(link: Link) -> bool:
            target, *more = (before.get(unit, Tally()) for unit in self._units_of(link.url))
            if any(self.filter.drops(other) for other in more):
                return False
            if record.outcome in FORWARDING or page.depth == 0:
                return not self.filter.drops(target)
            return self.filter.accepts(
                page_is_relevant=record.is_relevant,
                source=tally,
                target=target,
            )

        redirects = page.redirects + 1 if record.outcome in FORWARDING else 0
        depth = page.depth + (record.outcome not in FORWARDING)
        admissions = self._admit_links(links, redirects, depth, is_welcome)
        self._meet({link.url for link in links})
        closed = {
            unit
            for unit in units
            if record.is_download and self.filter.drops(self.tallies.get(unit, Tally()))
        }
        self._drop(
            lambda known: (
                not self._is_in_scope(known.link.url)
                and not closed.isdisjoint(self._units_of(known.link.url))
            )
        )
        self.ready_from[page.host] = now + self.delay_s
        return admissions

    def _units_of(self, url: str) -> list[str]:
        """Return the directory or the server, then the server if both can be closed."""
        if not self.filter.closes_servers:
            return [self.filter.unit_of(url)]
        return [self.filter.directory_of(url), host_of(url)]

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        return self._drop(lambda known: is_blocked(known.link.url))

    def _make_known(self, url: str, depth: int) -> None:
        known = [k for k in self.known if k.link.url == url]
        if not known:
            self.known.append(Known(Link(url, 0.0), 0, is_queued=False))
        elif not known[0].is_leased and known[0].depth >= depth:
            known[0].is_queued = False

    def knows_version(self, url: str, score: float) -> bool:
        """Return True if the page of a leased URL with a score is known in the language."""
        if self.versions is None or self.find(url).depth == 0 or self._is_in_scope(url):
            return False
        least = inf if self.doubts_up_to is None else self.doubts_up_to
        is_expected = self.doubts_up_to is None or score > least
        twins = self.versions.twins(url, is_expected=is_expected)
        relevant = {fingerprint(other) for other, record in self.records if record.is_wanted}
        queued = {fingerprint(k.link.url): k.link.score for k in self.known if k.is_queued}
        return (
            not relevant.isdisjoint(frozenset().union(*twins))
            or not twins.queued.isdisjoint(queued)
            or any(queued.get(key, -inf) > least for key in twins.expected)
        )

    def _meet(self, urls: set[str]) -> None:
        """Take in links to known URLs; this frontier does not learn."""

    def retry(self, url: str, not_before: float, now: float) -> None:
        page = self.find(url)
        if page.tries_before and not page.penalties:
            score = penalized(page.link.score, 1, self.doubts_up_to)
            page.link, page.penalties = replace(page.link, score=score), 1
        page.tries += not page.is_sent_now
        self._end_lease(url)
        self.ready_from[page.host] = max(not_before, now + self.delay_s)

    def release(self, url: str, now: float) -> None:
        page = self._end_lease(url)
        self.ready_from[page.host] = now + self.delay_s

    def _end_lease(self, url: str) -> Known:
        page = self.find(url)
        page.is_leased = page.is_sent_now = False
        page.address = None
        return page
