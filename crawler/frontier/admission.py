"""Admits the links of a page: each is seen, rejected, beyond a cap, or stored in the queue."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from crawler.frontier import inlinks
from crawler.frontier.base import Admission, Link, Sending
from crawler.frontier.evidence_rows import KnownUrl, known_url, packed
from crawler.frontier.learning import Learner
from crawler.frontier.origins import LinkOrigin
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import are_full
from crawler.frontier.storage import HostRow, SeenUrl, Storage, UrlRow
from crawler.strategies.relevance import NOTHING, Tally
from crawler.url import domain_of, fingerprint, host_of


class Source(NamedTuple):
    """The page of links: the id of its URL, and the facts that decide about their admission."""

    origin: LinkOrigin
    parent: int | None = None
    is_relevant: bool = True
    tally: Tally | None = None  # of the page's unit, None for seeds


class Moved(NamedTuple):
    """A queued URL whose score changed; `host` is the id of its host."""

    host: int
    url: int
    before: float
    after: float


@dataclass(slots=True)
class Outcome:
    """The result of an admission: URLs that were queued, and queued URLs with another score."""

    admissions: list[Admission] = field(default_factory=list)
    stored: list[UrlRow] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)


class _Target(NamedTuple):
    """A link that is the first of its URL on the page, with its place and its fingerprint.

    `known` is None if its URL is new. `score` and `evidence` are those in the queue after the page.
    """

    place: int
    key: int
    link: Link
    known: SeenUrl | None
    score: float
    evidence: bytes | None = None


def full_of(
    rules: FrontierRules, host: HostRow, domain: HostRow | None, place: HostRow | None = None
) -> Sending | None:
    """Return what has no slot left for another URL, None if all have one.

    `place` is the IP address; a domain or an address is None if it has no cap.
    """
    if 0 < rules.host_cap <= host.sent:
        return Sending.HOST_FULL
    if domain and are_full(rules.domain_cap, domain.taken, domain.relevant):
        return Sending.DOMAIN_FULL
    if place and are_full(rules.address_cap, place.taken, place.relevant):
        return Sending.ADDRESS_FULL
    return None


@dataclass(slots=True)
class _Caps:
    """What hosts and domains have left for the links of a page."""

    rules: FrontierRules
    hosts: Mapping[str, HostRow]  # the hosts and their domains, by name
    domains: Mapping[str, HostRow]  # the domain of each host; empty if domains have no cap
    queued: Counter[str]  # queued URLs of each host, with those of this page; empty if not asked

    def take(self, name: str) -> Admission:
        """Take a place in the queue of a host, unless it, its host or its domain is full."""
        host, domain, most = self.hosts[name], self.domains.get(name), self.rules.host_queue
        full = full_of(self.rules, host, domain)
        if full is not None:
            return Admission(full.value)
        if 0 < most <= host.settled + self.queued[name]:
            return Admission.HOST_FULL
        self.queued[name] += 1
        return Admission.STORED


@dataclass(frozen=True, slots=True)
class Admitter:
    """Decides about links by the rules of a crawl.

    `learner` scores the links of an ordering that learns. `queued_of` returns the number of queued
    URLs of a host by its id, `is_leased` whether a URL is leased: such a URL keeps its score.
    """

    storage: Storage
    rules: FrontierRules
    learner: Learner | None
    queued_of: Callable[[int], int]
    is_leased: Callable[[int], bool]

    def admit(self, links: Sequence[Link], source: Source, counts: Counter[str]) -> Outcome:
        """Decide about each link and queue the accepted ones, in the caller's transaction.

        `counts` gets the number of each admission.
        """
        if not links:
            return Outcome()
        prints = [fingerprint(link.url) for link in links]
        targets = self._scored(self._targets(links, prints), source.origin)
        admissions = [Admission.SEEN] * len(links)
        outcome = Outcome(admissions, moved=self._meet(targets, source.origin))
        new = [target for target in targets if target.known is None]
        caps, tallies = self._caps(new), self._tallies(new, source)
        for target in new:
            name = host_of(target.link.url)
            if self._is_rejected(source, tallies.get(target.link.url, NOTHING)):
                admissions[target.place] = Admission.REJECTED
                continue
            admissions[target.place] = caps.take(name)
            if admissions[target.place] is Admission.STORED:
                outcome.stored.append(self._row(target, caps.hosts[name], source))
        self.storage.store_hosts(
            {row.host.key: row.host for row in outcome.stored if row.host.is_new}.values()
        )
        self.storage.store(outcome.stored)
        if len(targets) < len(links):
            _repeat(admissions, prints)
        counts.update(admission.value for admission in admissions)
        return outcome

    def _targets(self, links: Sequence[Link], prints: Sequence[int]) -> list[_Target]:
        """Return the first link to each URL that is new or queued.

        Where scores are lifted, it has the best score of all links to that URL.
        """
        seen = self.storage.seen(prints)
        first: dict[int, _Target] = {}
        for place, (key, link) in enumerate(zip(prints, links, strict=True)):
            before = first.get(key)
            if before is None:
                first[key] = _Target(place, key, link, seen.get(key), link.score)
            elif self.rules.lifts and link.score > before.score:
                first[key] = before._replace(score=link.score)
        return [target for target in first.values() if not target.known or target.known.is_queued]

    def _scored(self, targets: Sequence[_Target], origin: LinkOrigin) -> list[_Target]:
        """Return links with the scores and the evidence that their URLs have in the queue."""
        if self.learner is None:
            return [
                target
                if target.known is None or (self.rules.lifts and target.score > target.known.score)
                else target._replace(score=target.known.score)
                for target in targets
            ]
        urls = self.learner.linked(
            [target.link for target in targets],
            [None if target.known is None else _known(target.known) for target in targets],
            origin.page,
            origin.depth,
        )
        return [
            target._replace(score=url.score, evidence=packed(url.evidence, url.links))
            for target, url in zip(targets, urls, strict=True)
        ]

    def _meet(self, targets: Sequence[_Target], origin: LinkOrigin) -> list[Moved]:
        """Store what the page adds to queued URLs; return those with another score."""
        moved, in_place, elsewhere = [], [], []
        for target in targets:
            known = target.known
            if known is None:
                continue
            languages = known.inlinks
            if origin.inlinks:
                languages = inlinks.written([*inlinks.read(languages), *origin.inlinks])
            after = known._replace(inlinks=languages, evidence=target.evidence)
            if target.score != known.score and not self.is_leased(known.id):
                moved.append(Moved(known.host, known.id, known.score, target.score))
                elsewhere.append(after._replace(score=target.score))
            elif after != known:
                in_place.append(after)
        self.storage.change(in_place, scores=False)
        self.storage.change(elsewhere, scores=True)
        return moved

    def _caps(self, new: Sequence[_Target]) -> _Caps:
        names = {host_of(target.link.url): None for target in new}
        domain_names = {name: domain_of(name) for name in names} if self.rules.domain_cap else {}
        hosts = self.storage.hosts([*names, *domain_names.values()])
        domains = {name: hosts[domain] for name, domain in domain_names.items()}
        queued: Counter[str] = Counter()
        if self.rules.host_queue:
            queued.update({name: self.queued_of(hosts[name].id) for name in names})
        return _Caps(self.rules, hosts, domains, queued)

    def _tallies(self, new: Sequence[_Target], source: Source) -> Mapping[str, Tally]:
        """Return the tally of each link's unit by its URL; empty if no rule asks for it."""
        if source.tally is None or not self.rules.filter.uses_relevance:
            return {}
        units = {target.link.url: self.rules.filter.units_of(target.link.url) for target in new}
        tallies = self.storage.tallies(chain.from_iterable(units.values()))
        return {
            url: self.rules.filter.worst([tallies[unit] for unit in of_url])
            for url, of_url in units.items()
        }

    def _is_rejected(self, source: Source, target: Tally) -> bool:
        return source.tally is not None and not self.rules.filter.accepts(
            page_is_relevant=source.is_relevant, source=source.tally, target=target
        )

    def _row(self, target: _Target, host: HostRow, source: Source) -> UrlRow:
        return UrlRow(
            self.storage.new_url_id(target.score),
            target.key,
            target.link.url,
            host,
            self.rules.filter.part_of_host(target.link.url),
            source.parent,
            source.origin.depth,
            source.origin.redirects,
            target.score,
            source.origin.inlinks,
            target.evidence,
        )


def _known(seen: SeenUrl) -> KnownUrl:
    return known_url(seen.url, seen.score, seen.depth, seen.evidence)


def _repeat(admissions: list[Admission], prints: Sequence[int]) -> None:
    """Let each repeated link have the admission of the first one, `SEEN` if that was stored."""
    first: dict[int, int] = {}
    for place, key in enumerate(prints):
        before = first.setdefault(key, place)
        if before != place and admissions[before] is not Admission.STORED:
            admissions[place] = admissions[before]
