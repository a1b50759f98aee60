"""A prior whose effects are easy to foresee, and a slow, obvious frontier that learns."""

from dataclasses import dataclass, field, replace

import numpy as np

from langfocus.crawler.frontier.base import FORWARDING, Admission, Record
from langfocus.crawler.frontier.slots import penalized
from langfocus.crawler.strategies.focus.belief import Belief, Numbers
from langfocus.crawler.strategies.focus.evidence import FEATURES, Evidence, units_of
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import host_of
from langfocus.testing.model import LEAST_CHANGE, Known, ObviousFrontier

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


@dataclass
class ObviousLearner(ObviousFrontier):
    """Scores URLs at the same events as a frontier that learns, each by looking at everything."""

    belief: Belief = field(default_factory=lambda: Belief(PRIOR))
    of_units: dict[str, tuple[int, int]] = field(default_factory=dict)
    learnt: dict[str, Learnt] = field(default_factory=dict)
    page: tuple[str, int | None, tuple[int, ...]] = ("", None, (0, 0, 0, 0))
    """The host of the settled page, the place of its links among those counted, and the links that
    the target of a redirect inherits."""

    def numbers(self, url: str) -> Numbers:
        units = [self.of_units.get(unit, (0, 0)) for unit in units_of(url)]
        known = self.learnt[url]
        return (*known.evidence, *known.links, *(number for pair in units for number in pair))

    def odds(self, url: str) -> float:
        return self.belief.scores([self.numbers(url)])[0]

    def explained(self, url: str) -> tuple[float, str]:
        weighed = self.belief.weigh(self.numbers(url))
        return weighed.odds, weighed.reasons()

    def score(self, url: str, penalties: int) -> float:
        return penalized(self.odds(url), penalties, 0.0)

    def _score_now(self, known: Known, penalties: int) -> float:
        return self.score(known.link.url, penalties)

    # Admission.

    def seed(self, links: list[Link]) -> list[Admission]:
        self.page = "", None, (1, 0, 0, 0)
        self._note_links(links)
        admissions = super().seed(links)
        self.page = "", None, (0, 0, 0, 0)  # known URLs get no further link
        self._meet({link.url for link in links})
        self._rescore()
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

    def _as_new(self, link: Link) -> Link:
        self.learnt[link.url] = Learnt(self.found[link.url], self._links_of(link.url))
        return Link(link.url, self.score(link.url, 0))

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
        self._learn(url, record)
        self._note_links(links)
        admissions = super().admit(url, record, links, now)
        self._rescore()
        return admissions

    def _learn(self, url: str, record: Record) -> None:
        is_labelled = record.is_download and record.language is not None
        if is_labelled:
            self.belief.learn(self.numbers(url), is_relevant=record.is_relevant)
            for unit in units_of(url):
                labelled, relevant = self.of_units.get(unit, (0, 0))
                self.of_units[unit] = labelled + 1, relevant + record.is_relevant
        inherited = self.learnt[url].links if record.outcome in FORWARDING else (0, 0, 0, 0)
        self.page = host_of(url), int(not record.is_relevant) if is_labelled else None, inherited

    def _rescore(self) -> None:
        for known in self.known:
            if known.link.url in self.met and known.is_queued and not known.is_leased:
                before, after = known.link.score, self.score(known.link.url, known.penalties)
                if abs(after - before) >= LEAST_CHANGE or (after > 0) != (before > 0):
                    known.link = replace(known.link, score=after)
