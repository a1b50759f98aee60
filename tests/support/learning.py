"""A prior whose effects are easy to foresee, and a slow, obvious frontier that learns."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ldexp

import numpy as np

from crawler.domains import domain_of
from crawler.frontier.base import (
    FORWARDING,
    REFUSED,
    UNCHANGED,
    Admission,
    Link,
    Located,
    Record,
)
from crawler.frontier.learning import HOST_QUEUE
from crawler.strategies.focus.belief import Belief, Prior, Standing
from crawler.strategies.focus.evidence import Evidence, units_of
from crawler.strategies.focus.features import FEATURES
from crawler.url import host_of
from tests.support.frontiers import Known, ObviousFrontier

_WEIGHTS = {
    "URL, new host": 1.0,
    "URL, known host": 0.3,
    "top-level domain": 0.2,
    "code in the URL": 1.0,
    "links from relevant pages of other hosts": 0.7,
    "links from other pages of other hosts": -0.7,
    "links from relevant pages of the host": 0.5,
    "links from other pages of the host": -0.5,
    "declared": 2.0,
    "registered domain": 0.5,
    "host": 1.0,
    "path": 1.0,
}
PRIOR = Prior(
    mean=tuple(_WEIGHTS.get(name, 0.0) for name in FEATURES),
    covariance=tuple(map(tuple, (0.25 * np.eye(len(FEATURES))).tolist())),
    strength=1.0,
)


@dataclass
class Learnt:
    """What is known of a queued URL besides its place in the queue."""

    evidence: Evidence
    links: tuple[int, ...] = (0, 0, 0, 0)
    falls: int = 0


@dataclass
class ObviousLearner(ObviousFrontier):
    """Scores URLs at the same events as a frontier that learns, each by looking at everything.

    Settled URLs hold slots of hosts and domains, queued ones only those of directories.
    """

    tried: int = 16
    least_change: float = 0.2
    belief: Belief = field(default_factory=lambda: Belief(PRIOR))
    of_units: dict[str, tuple[int, int]] = field(default_factory=dict)
    learnt: dict[str, Learnt] = field(default_factory=dict)
    page: tuple[str, int | None, tuple[int, ...]] = ("", None, (0, 0, 0, 0))
    """The host of the settled page, the place of its links among those counted, and the links that
    the target of a redirect inherits."""

    def standing(self, url: str) -> Standing:
        units = [self.of_units.get(unit, (0, 0)) for unit in units_of(url)]
        known = self.learnt[url]
        numbers = tuple(number for pair in units for number in pair)
        return Standing(known.evidence, known.links, numbers)  # type: ignore[arg-type]  # four

    def odds(self, url: str) -> float:
        return self.belief.scores([self.standing(url)])[0]

    def explained(self, url: str) -> tuple[float, str]:
        weighed = self.belief.weigh(self.standing(url))
        return weighed.odds, weighed.reasons()

    def score(self, url: str) -> float:
        score, falls = self.odds(url), self.learnt[url].falls
        if falls:
            score = ldexp(score, -40 * falls) if score > 0 else score - falls * 2.0**20
        return score

    # Admission.

    def seed(self, links: list[Link]) -> list[Admission]:
        self.page = "", None, (0, 0, 0, 0)
        self._note_links(links)
        admissions = super().seed(links)
        self._meet({link.url for link in links})
        return admissions

    def _note_links(self, links: list[Link]) -> None:
        """Of links with one URL the first counts."""
        self.new = {link.url for link in links} - {k.link.url for k in self.known}
        self.found: dict[str, Evidence] = {}
        for link in links:
            self.found.setdefault(link.url, link.evidence or Evidence())

    def _links_of(self, url: str) -> tuple[int, ...]:
        host, place, inherited = self.page
        if place is None:
            return inherited
        return tuple(int(at == place + 2 * (host_of(url) == host)) for at in range(4))

    def _admit_link(
        self, link: Link, redirects: int, depth: int, is_welcome: Callable[[Link], bool]
    ) -> Admission:
        if any(known.link.url == link.url for known in self.known):
            return Admission.SEEN
        if not is_welcome(link):
            return Admission.REJECTED
        full = self._full(link.url)
        if full is not None:
            return full
        self._change_slots(link.url, 1)
        falls = self._falls(domain_of(host_of(link.url)), self.domain_cap)
        self.learnt[link.url] = Learnt(self.found[link.url], self._links_of(link.url), falls)
        self.lowered += falls > 0
        self.known.append(Known(Link(link.url, self.score(link.url)), 0, redirects, depth))
        return Admission.STORED

    def _is_host_full(self, host: str) -> bool:
        queued = sum(k.is_queued and k.host == host for k in self.known)
        return super()._is_host_full(host) or queued >= 20 * self.host_cap

    def _change_slots(self, url: str, number: int) -> None:
        self._change(self.filter.directory_of(url), number)

    def _note_inlinks(self, page: Known, record: Record, urls: set[str]) -> None:
        super()._note_inlinks(page, record, urls)
        self._meet(urls)

    def _meet(self, urls: set[str]) -> None:
        self.met = []
        for known in self.known:
            url = known.link.url
            if url in urls and known.is_queued and url not in self.new:
                learnt = self.learnt[url]
                both = zip(learnt.links, self._links_of(url), strict=True)
                learnt.links = tuple(min(8, a + b) for a, b in both)
                declared = self.found[url].declared or learnt.evidence.declared
                learnt.evidence = learnt.evidence._replace(declared=declared)
                self.met.append(url)

    # Settling.

    def admit(self, url: str, record: Record, links: list[Link], now: float) -> list[Admission]:
        page, host = self._find(url), host_of(url)
        self._learn(url, record)
        is_fetched = record.outcome not in FORWARDING | REFUSED
        if is_fetched:
            self._take_slots(host, is_page=record.is_download or record.outcome == UNCHANGED)
        self._note_links(links)
        admissions = super().admit(url, record, links, now)
        if is_fetched and 0 < self.host_cap <= self.slots[host]:
            for k in [k for k in self.known if k.is_queued and k.host == host]:
                self.known.remove(k)
                self._change_slots(k.link.url, -1)
        self._rescore(host)
        assert not page.is_queued
        return admissions

    def _take_slots(self, host: str, *, is_page: bool) -> None:
        """Half as many fetches without a page as the cap of the host take no slot of it."""
        failed = self.slots.get(f"failed {host}", 0)
        self._change(f"failed {host}", not is_page)
        self._change(host, int(is_page or failed >= self.host_cap // 2))
        self._change(f"of {domain_of(host)}", 1)

    def _learn(self, url: str, record: Record) -> None:
        is_labelled = record.is_download and record.language is not None
        if is_labelled:
            self.belief.learn(self.standing(url), is_relevant=record.is_relevant)
            for unit in units_of(url):
                labelled, relevant = self.of_units.get(unit, (0, 0))
                self.of_units[unit] = labelled + 1, relevant + record.is_relevant
        inherited = self.learnt[url].links if record.outcome in FORWARDING else (0, 0, 0, 0)
        self.page = host_of(url), int(not record.is_relevant) if is_labelled else None, inherited

    def _rescore(self, host: str) -> None:
        of_host = [k for k in self.known if k.is_queued and k.host == host]
        best = sorted(of_host, key=lambda k: (-k.link.score, k.order))[:HOST_QUEUE]
        for known in self.known:
            is_met = known in best or known.link.url in self.met
            if is_met and known.is_queued and not known.is_leased:
                before, after = known.link.score, self.score(known.link.url)
                if abs(after - before) >= self.least_change or (after > 0) != (before > 0):
                    known.link = replace(known.link, score=after)

    # Leases.

    def next(self, now: float) -> str | None:
        if self.is_budget_leased():
            return None
        tries, falls = self.tried, 256
        while True:
            ready = sorted(self.candidates(now), key=lambda k: (-k.link.score, k.order))
            if not ready:
                return None
            best, *others = ready
            known = self.learnt[best.link.url]
            before, level = known.falls, self._falls(domain_of(best.host), self.domain_cap)
            known.falls = max(before, level)
            score = self.score(best.link.url)
            rest = [k for k in self.known if k.is_queued and k.host == best.host and k is not best]
            rivals = [k.link.score for k in (*others, *rest)]
            is_worse = score < max(rivals) if rivals else score <= self._doubtful()
            has_fallen = is_worse and score <= best.link.score - self.least_change
            if not has_fallen or tries == 1 or not falls:
                known.falls = before
                self.lease(best.link.url)
                return best.link.url
            has_sunk = known.falls > before
            self.lowered += has_sunk
            tries, falls = tries - (not has_sunk), falls - has_sunk
            best.link = replace(best.link, score=score)

    def _doubtful(self) -> float:
        return 2.0**-30 if self.domain_cap or self.address_cap else 0.0

    def locate(self, url: str, address: str) -> Located:
        page = self._find(url)
        level = self._falls(address, self.address_cap)
        was_located = page.is_located
        located = super().locate(url, address)
        if located is not Located.FULL and not was_located and self.address_cap:
            self.learnt[url].falls += level
        return located
