"""A slow, obvious frontier against which the real ones are checked."""

from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.domains import domain_of
from crawler.frontier.base import (
    FORWARDING,
    MAX_INLINKS,
    PAGE,
    REDIRECT,
    Admission,
    Link,
    Located,
    Record,
)
from crawler.strategies.filters import Filter
from crawler.strategies.relevance import Tally
from crawler.url import host_of


@dataclass
class Known:
    link: Link
    order: int
    redirects: int = 0
    depth: int = 0
    is_queued: bool = True
    is_leased: bool = False
    is_located: bool = False
    address: str = ""
    inlinks: list[str] = field(default_factory=list)
    inlinks_at_lease: list[str] = field(default_factory=list)

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
    directory_cap: int = 0
    delay_s: float = 0.0
    budget_pages: int | None = None
    budget_relevant: int | None = None
    lifts: bool = False
    doubts_up_to: float | None = 0.0
    known: list[Known] = field(default_factory=list)
    records: list[tuple[str, Record]] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    relevant: dict[str, int] = field(default_factory=dict)
    lowered: int = 0
    ready_from: dict[str, float] = field(default_factory=dict)
    discovered: int = 0

    def seed(self, links: list[Link]) -> list[Admission]:
        return self._admit_links(links, 0, 0, is_welcome=lambda _: True)

    def _admit_links(
        self, links: list[Link], redirects: int, depth: int, is_welcome: Callable[[Link], bool]
    ) -> list[Admission]:
        """Host by host; of links with one URL the first counts, with the best score if lifted."""
        places = {li.url: place for place, li in reversed(list(enumerate(links)))}
        answers: dict[str, Admission] = {}
        hosts = list(dict.fromkeys(host_of(link.url) for link in links))
        for url in sorted(places, key=lambda url: (hosts.index(host_of(url)), places[url])):
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
        host = host_of(link.url)
        domain = domain_of(host)
        fallen = Link(link.url, self._fallen(link.score, domain, self.domain_cap))
        for known in self.known:
            if known.link.url == link.url:
                if self.lifts and known.is_queued and fallen.score > known.link.score:
                    known.link = fallen
                return Admission.SEEN
        if not is_welcome(link):
            return Admission.REJECTED
        full = self._full(link.url)
        if full is not None:
            return full
        self._change_slots(link.url, 1)
        self.lowered += fallen.score < link.score
        self.known.append(Known(fallen, 0, redirects, depth))
        return Admission.STORED

    def _full(self, url: str) -> Admission | None:
        """Return which cap refuses a URL, None if none does."""
        host, directory = host_of(url), self.filter.directory_of(url)
        if self.host_cap and self._is_host_full(host):
            return Admission.HOST_FULL
        if self.is_full(domain_of(host), self.domain_cap):
            return Admission.DOMAIN_FULL
        if self.directory_cap and self.slots.get(directory, 0) >= self.directory_cap:
            return Admission.DIRECTORY_FULL
        return None

    def _is_host_full(self, host: str) -> bool:
        return self.slots.get(host, 0) >= self.host_cap

    def is_full(self, holder: str, cap: int) -> bool:
        taken, relevant = self.slots.get(f"of {holder}", 0), self.relevant.get(holder, 0)
        return bool(cap) and taken >= cap + 10 * relevant

    def _falls(self, holder: str, cap: int) -> int:
        """A tenth of the slots is free; then a score falls each time that their number doubles.

        Each second relevant page pays for a slot.
        """
        level, bound = 0, cap // 10 or 1
        paid = self.relevant.get(holder, 0) // 2
        while cap and self.slots.get(f"of {holder}", 0) - paid >= bound:
            level, bound = level + 1, 2 * bound
        return level

    def _fallen(self, score: float, holder: str, cap: int) -> float:
        for _ in range(self._falls(holder, cap)):
            is_promising = self.doubts_up_to is not None and score > self.doubts_up_to
            score = score / 2.0**40 if is_promising else score - 2.0**20
        return score

    def locate(self, url: str, address: str) -> Located:
        page = self._find(url)
        if not self.address_cap:
            return Located.FETCH
        if not page.is_located:
            if self.is_full(address, self.address_cap):
                return Located.FULL
            score = self._fallen(page.link.score, address, self.address_cap)
            page.is_located = True
            self._change(f"of {address}", 1)
            if score < page.link.score:
                page.link = Link(url, score)
                page.is_leased = False
                self.lowered += 1
                return Located.LATER
        page.address = address
        return Located.FETCH

    def _change(self, name: str, number: int) -> None:
        self.slots[name] = self.slots.get(name, 0) + number

    def _change_slots(self, url: str, number: int) -> None:
        host = host_of(url)
        for name in (host, f"of {domain_of(host)}", self.filter.directory_of(url)):
            self._change(name, number)

    def candidates(self, now: float) -> list[Known]:
        leased = {k.host for k in self.known if k.is_leased}
        return [
            k
            for k in self.known
            if k.is_queued and k.host not in leased and self.ready_from.get(k.host, 0.0) <= now
        ]

    def next(self, now: float) -> str | None:
        candidates = self.candidates(now)
        if not candidates or self.is_budget_leased():
            return None
        best = min(candidates, key=lambda k: (-k.link.score, k.order))
        self.lease(best.link.url)
        return best.link.url

    def is_budget_leased(self) -> bool:
        pages = sum(record.outcome == PAGE for _, record in self.records)
        leased = sum(k.is_leased for k in self.known)
        relevant = sum(record.is_relevant for _, record in self.records)
        budgets = ((self.budget_pages, pages), (self.budget_relevant, relevant))
        return any(most is not None and number + leased >= most for most, number in budgets)

    def lease(self, url: str) -> None:
        """Follow another frontier's draw."""
        page = self._find(url)
        page.is_leased = True
        first = page.inlinks[:MAX_INLINKS]
        page.inlinks_at_lease = sorted(first, key=first.index)

    def inlinks(self, url: str) -> tuple[str, ...]:
        return tuple(self._find(url).inlinks_at_lease)

    def _find(self, url: str) -> Known:
        return next(k for k in self.known if k.link.url == url)

    def admit(self, url: str, record: Record, links: list[Link], now: float) -> list[Admission]:
        page = self._find(url)
        page.is_leased = page.is_queued = False
        self.records.append((url, record))
        if record.outcome in FORWARDING:
            self._change_slots(url, -1)
            if page.address:
                self._change(f"of {page.address}", -min(1, self.slots.get(f"of {page.address}", 0)))
        if record.is_download and record.is_relevant:
            for holder in (domain_of(page.host), page.address):
                self.relevant[holder] = self.relevant.get(holder, 0) + 1
        unit = self.filter.unit_of(url)
        tally = self.tallies.get(unit, Tally())
        if record.is_download:
            tally = self.tallies[unit] = tally.plus(is_relevant=record.is_relevant)
        before = dict(self.tallies)
        downloads = sum(record.is_download for _, record in self.records)
        if record.canonical:
            self._make_known(record.canonical)

        def is_welcome(link: Link) -> bool:
            target = before.get(self.filter.unit_of(link.url), Tally())
            if record.outcome in FORWARDING or page.depth == 0:
                return not self.filter.drops(target, downloads)
            return self.filter.accepts(
                page_is_relevant=record.is_relevant,
                source=tally,
                target=target,
                downloads=downloads,
            )

        redirects = page.redirects + 1 if record.outcome in FORWARDING else 0
        depth = page.depth + (record.outcome not in FORWARDING)
        admissions = self._admit_links(links, redirects, depth, is_welcome)
        self._note_inlinks(page, record, {link.url for link in links})
        if record.is_download and self.filter.drops(tally, downloads):
            for k in [k for k in self.known if k.is_queued and not k.is_leased]:
                if self.filter.unit_of(k.link.url) == unit:
                    self.known.remove(k)
                    self._change_slots(k.link.url, -1)
        self.ready_from[page.host] = now + self.delay_s
        return admissions

    def drop_blocked(self, is_blocked: Callable[[str], bool]) -> int:
        dropped = [
            k for k in self.known if k.is_queued and not k.is_leased and is_blocked(k.link.url)
        ]
        for k in dropped:
            self.known.remove(k)
            self._change_slots(k.link.url, -1)
        return len(dropped)

    def _make_known(self, url: str) -> None:
        known = [k for k in self.known if k.link.url == url]
        if not known:
            self.known.append(Known(Link(url, 0.0), 0, is_queued=False))
        elif known[0].is_queued:
            known[0].is_queued = False
            self._change_slots(url, -1)

    def _note_inlinks(self, page: Known, record: Record, urls: set[str]) -> None:
        counted = [record.language] if record.is_reference and record.language else []
        for known in self.known:
            if known.link.url in urls and known.is_queued:
                is_redirect = record.outcome == REDIRECT
                known.inlinks += page.inlinks_at_lease if is_redirect else counted

    def retry(self, url: str, not_before: float, now: float) -> None:
        page = self._end_lease(url)
        self.ready_from[page.host] = max(not_before, now + self.delay_s)

    def release(self, url: str, now: float) -> None:
        page = self._end_lease(url)
        self.ready_from[page.host] = now + self.delay_s

    def _end_lease(self, url: str) -> Known:
        page = self._find(url)
        page.is_leased = False
        page.address = ""
        return page
