"""Admits the links of a page: each is seen, rejected, beyond a cap, or stored in the queue."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from crawler.frontier.base import Admission, Link
from crawler.frontier.evidence_rows import ScoredUrl, packed
from crawler.frontier.learning import NO_PAGE, Learner, LinkingPage
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import are_full
from crawler.frontier.storage import HostRow, SeenUrl, Storage, UrlRow
from crawler.strategies.focus.evidence import NO_EVIDENCE
from crawler.strategies.relevance import NOTHING, Tally
from crawler.url import domain_of, fingerprint, host_of


@dataclass(frozen=True, slots=True)
class Origin:
    """The facts about a page that decide about the admission of its links.

    `parent` is the id of its URL. `depth` and `redirects` are those of the links. `source` is the
    tally of the page's unit, None for seeds. `inlinks` are the languages that count for each link:
    that of the page, or those of the pages that linked to a redirect. `page` is what it tells an
    ordering that learns.
    """

    parent: int | None = None
    depth: int = 0
    redirects: int = 0
    page_is_relevant: bool = True
    source: Tally | None = None
    inlinks: tuple[str, ...] = ()
    page: LinkingPage = NO_PAGE


@dataclass(slots=True)
class Outcome:
    """The result of an admission.

    `lifted` are the ids of hosts with a URL whose score rose. `met` are queued URLs that the page
    links to, for an ordering that learns.
    """

    admissions: list[Admission] = field(default_factory=list)
    stored: list[UrlRow] = field(default_factory=list)
    lifted: set[int] = field(default_factory=set)
    met: list[ScoredUrl] = field(default_factory=list)


class _Page(NamedTuple):
    """The links of a page that are decided about, by their place on the page, from 0.

    `first` is the first place of each fingerprint, and `best` its best score; that is empty if
    scores are not lifted. `hosts` are the hosts of the links.
    """

    links: Sequence[Link]
    prints: Sequence[int]
    first: Mapping[int, int]
    best: Mapping[int, float]
    hosts: Mapping[int, str]


class _Accepted(NamedTuple):
    place: int
    host: HostRow
    score: float


@dataclass(slots=True)
class _Caps:
    """What hosts and domains have left for the links of a page.

    `hosts` are the hosts and their domains by name, `domains` the domain of each host; that is
    empty if domains have no cap. `queued` are the queued URLs of each host, those of this page too,
    where `rules.host_queue` asks.
    """

    rules: FrontierRules
    hosts: Mapping[str, HostRow]
    domains: Mapping[str, HostRow]
    queued: Counter[str]

    def take(self, name: str) -> Admission:
        """Take a place in the queue of a host, unless it, its host or its domain is full."""
        host, domain, most = self.hosts[name], self.domains.get(name), self.rules.host_queue
        if 0 < self.rules.host_cap <= host.sent:
            return Admission.HOST_FULL
        if 0 < most <= host.settled + self.queued[name]:
            return Admission.HOST_FULL
        if domain and are_full(self.rules.domain_cap, domain.taken, domain.relevant):
            return Admission.DOMAIN_FULL
        self.queued[name] += 1
        return Admission.STORED


@dataclass(frozen=True, slots=True)
class Admitter:
    """Decides about links by the rules of a crawl.

    `learner` scores the links of an ordering that learns. `queued_of` returns the number of queued
    URLs of a host by its id.
    """

    storage: Storage
    rules: FrontierRules
    learner: Learner | None
    queued_of: Callable[[int], int]

    def admit(self, links: Sequence[Link], origin: Origin, counts: Counter[str]) -> Outcome:
        """Decide about each link and queue the accepted ones, in the caller's transaction.

        `counts` gets the number of each admission.
        """
        outcome = Outcome()
        if not links:
            return outcome
        prints = [fingerprint(link.url) for link in links]
        seen = self.storage.seen(prints)
        self.storage.add_inlinks(seen.values(), origin.inlinks)
        page = self._scored(self._page(links, prints, seen), origin)
        caps = self._caps(page)
        targets = self._targets(page, origin)
        admissions = [Admission.SEEN] * len(links)
        accepted: list[_Accepted] = []
        for place, name in page.hosts.items():
            link = page.links[place]
            best = page.best.get(prints[place], link.score)
            if prints[place] in seen:
                self._lift(prints[place], best, outcome)
                continue
            if self._is_rejected(origin, targets.get(link.url, NOTHING)):
                admissions[place] = Admission.REJECTED
                continue
            admissions[place] = caps.take(name)
            if admissions[place] is Admission.STORED:
                accepted.append(_Accepted(place, caps.hosts[name], best))
        outcome.stored = [self._row(page, link, origin) for link in accepted]
        self._store(outcome)
        outcome.met = self._meet(page, seen, origin)
        outcome.admissions = _with_repeated(page, admissions)
        counts.update(admission.value for admission in outcome.admissions)
        return outcome

    def _page(self, links: Sequence[Link], prints: Sequence[int], seen: Collection[int]) -> _Page:
        """Return the links to decide about: the new ones, or all if scores of others may rise."""
        places = range(len(links))
        first = dict(zip(reversed(prints), reversed(places), strict=True))
        wanted = [i for i in places if first[prints[i]] == i]
        if not self.rules.lifts:
            wanted = [i for i in wanted if prints[i] not in seen]
        hosts = {i: host_of(links[i].url) for i in wanted}
        best = _best_scores(links, prints) if self.rules.lifts else {}
        return _Page(links, prints, first, best, hosts)

    def _scored(self, page: _Page, origin: Origin) -> _Page:
        """Return a page whose new links have the scores that an ordering that learns gives them."""
        if self.learner is None:
            return page
        new = [page.links[place] for place in page.hosts]
        scored = self.learner.scored(new, list(page.hosts.values()), origin.page, origin.depth)
        links = list(page.links)
        for place, link in zip(page.hosts, scored, strict=True):
            links[place] = link
        return page._replace(links=links)

    def _meet(self, page: _Page, seen: Mapping[int, SeenUrl], origin: Origin) -> list[ScoredUrl]:
        """Count the page's links to queued URLs, for an ordering that learns."""
        if self.learner is None:
            return []
        queued = {}
        for key, place in page.first.items():
            known = seen.get(key)
            if known is not None and known.is_queued:
                queued[known.id] = page.links[place]
        return self.learner.meet(queued, origin.page)

    def _caps(self, page: _Page) -> _Caps:
        names = set(page.hosts.values())
        domain_names = {name: domain_of(name) for name in names} if self.rules.domain_cap else {}
        hosts = self.storage.hosts([*page.hosts.values(), *domain_names.values()])
        domains = {name: hosts[domain] for name, domain in domain_names.items()}
        queued: Counter[str] = Counter()
        if self.rules.host_queue:
            queued.update({name: self.queued_of(hosts[name].id) for name in names})
        return _Caps(self.rules, hosts, domains, queued)

    def _targets(self, page: _Page, origin: Origin) -> Mapping[str, Tally]:
        """Return the tally of each link's unit by its URL; empty if no rule asks for it."""
        if origin.source is None or not self.rules.filter.uses_relevance:
            return {}
        urls = [page.links[place].url for place in page.hosts]
        units = {url: self.rules.filter.units_of(url) for url in urls}
        tallies = self.storage.tallies(chain.from_iterable(units.values()))
        return {
            url: self.rules.filter.worst([tallies[unit] for unit in of_url])
            for url, of_url in units.items()
        }

    def _is_rejected(self, origin: Origin, target: Tally) -> bool:
        return origin.source is not None and not self.rules.filter.accepts(
            page_is_relevant=origin.page_is_relevant,
            source=origin.source,
            target=target,
        )

    def _store(self, outcome: Outcome) -> None:
        if outcome.stored:
            new = {row.host.key: row.host for row in outcome.stored if row.host.is_new}
            self.storage.store_hosts(new.values())
            self.storage.store(outcome.stored)

    def _lift(self, fp: int, score: float, outcome: Outcome) -> None:
        """Raise the score of a queued URL."""
        host = self.storage.lift(fp, score)
        if host is not None:
            outcome.lifted.add(host)

    def _row(self, page: _Page, accepted: _Accepted, origin: Origin) -> UrlRow:
        link = page.links[accepted.place]
        url, evidence = link.url, None
        if self.learner is not None:
            links = origin.page.links(accepted.host.key)
            evidence = packed(link.evidence or NO_EVIDENCE, links)
        return UrlRow(
            self.storage.new_url_id(accepted.score),
            page.prints[accepted.place],
            url,
            accepted.host,
            self.rules.filter.part_of_host(url),
            origin.parent,
            origin.depth,
            origin.redirects,
            accepted.score,
            origin.inlinks,
            evidence,
        )


def _best_scores(links: Sequence[Link], prints: Sequence[int]) -> dict[int, float]:
    """Return the best score of each fingerprint, as a page may link to a URL several times."""
    best: dict[int, float] = {}
    for link, key in zip(links, prints, strict=True):
        best[key] = max(link.score, best.get(key, link.score))
    return best


def _with_repeated(page: _Page, admissions: list[Admission]) -> list[Admission]:
    """Let each repeated link have the admission of the first one, `SEEN` if that was stored."""
    if len(page.first) == len(admissions):
        return admissions
    for place, fp in enumerate(page.prints):
        first = page.first[fp]
        if first != place and admissions[first] is not Admission.STORED:
            admissions[place] = admissions[first]
    return admissions
