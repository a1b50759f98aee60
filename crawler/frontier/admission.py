"""Admits the links of a page: each is seen, rejected, beyond a cap, or stored in the queue."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.domains import domain_of
from crawler.frontier.base import Admission, Link
from crawler.frontier.evidence_rows import ScoredUrl, packed
from crawler.frontier.learning import NO_PAGE, Learner, LinkingPage
from crawler.frontier.rules import FrontierRules
from crawler.frontier.slots import FREE_SHARE, are_full, fallen, level_of
from crawler.frontier.storage import HostRow, SeenUrl, Storage, UrlRow
from crawler.strategies.focus.evidence import NO_EVIDENCE
from crawler.strategies.relevance import NOTHING, Tally
from crawler.url import fingerprint, host_of


@dataclass(frozen=True, slots=True)
class Origin:
    """The facts about a page that decide about the admission of its links.

    `parent` is the id of its URL. `depth` and `redirects` are those of the links. `source` is the
    tally of the page's unit, None for seeds. `inlinks` are the languages that count for each link:
    that of the page, or those of the pages that linked to a redirect. `downloads` of the whole
    crawl include the page; they are counted only where the tolerance declines. `page` is what it
    tells an ordering that learns.
    """

    parent: int | None = None
    depth: int = 0
    redirects: int = 0
    page_is_relevant: bool = True
    source: Tally | None = None
    inlinks: tuple[str, ...] = ()
    downloads: int = 0
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
    scores are not lifted. `hosts` are the hosts of the links in the order
    in which they are decided. `domains` are the domains of the hosts; it is empty if domains have
    no cap.
    """

    links: Sequence[Link]
    prints: Sequence[int]
    first: Mapping[int, int]
    best: Mapping[int, float]
    hosts: Mapping[int, str]
    domains: Mapping[str, str]


class _Accepted(NamedTuple):
    place: int
    host: HostRow
    score: float
    falls: int


@dataclass(slots=True)
class _Caps:
    """The slots that hosts, domains and directories have left for the links of a page.

    `hosts` are the hosts and their domains by name, `domains` the domain of each host; that is
    empty if domains have no cap. `directories` have the slots given before, and those `taken` by
    this page. Unless the page `is_crowded`, all its links are in the free share of their domains.
    `queued` are the queued URLs of each host, those of this page too, where `rules.queue_cap` asks.
    """

    rules: FrontierRules
    hosts: Mapping[str, HostRow]
    domains: Mapping[str, HostRow]
    directories: Mapping[str, int]
    is_crowded: bool
    queued: Counter[str]
    taken: Counter[str] = field(default_factory=Counter)

    def level(self, host: str) -> int:
        """Return the number of falls of the next URL of a host on a crowded page."""
        domain = self.domains[host]
        return level_of(self.rules.domain_cap, domain.taken, domain.relevant)

    def take(self, url: str, name: str) -> Admission:
        """Take a slot of the host, the domain and the directory; no slot if one of them is full."""
        host, domain = self.hosts[name], self.domains.get(name)
        if self.rules.host_cap and host.admitted >= self.rules.host_cap:
            return Admission.HOST_FULL
        if self.rules.queue_cap and self.queued[name] >= self.rules.queue_cap:
            return Admission.HOST_FULL
        if domain and self.is_crowded and self._is_full(domain):
            return Admission.DOMAIN_FULL
        if self.rules.directory_cap and not self._take_directory(url):
            return Admission.DIRECTORY_FULL
        if self.rules.prior is not None:
            self.queued[name] += 1
            return Admission.STORED
        host.admitted += 1
        if domain:
            domain.taken += 1
        return Admission.STORED

    def _is_full(self, domain: HostRow) -> bool:
        return are_full(self.rules.domain_cap, domain.taken, domain.relevant)

    def changed_hosts(self, stored: Sequence[UrlRow]) -> Iterable[HostRow]:
        """Return the hosts and domains of stored URLs, each once."""
        changed = {row.host.key: row.host for row in stored}
        if self.domains:
            changed |= {(domain := self.domains[name]).key: domain for name in changed}
        return changed.values()

    def _take_directory(self, url: str) -> bool:
        directory = self.rules.filter.directory_of(url)
        if self.directories[directory] + self.taken[directory] >= self.rules.directory_cap:
            return False
        self.taken[directory] += 1
        return True


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
            level = caps.level(name) if caps.is_crowded else 0
            score = fallen(best, level, self.rules.doubts_up_to) if level else best
            if prints[place] in seen:
                self._lift(prints[place], score, outcome)
                continue
            if self._is_rejected(origin, targets.get(link.url, NOTHING)):
                admissions[place] = Admission.REJECTED
                continue
            admissions[place] = caps.take(link.url, name)
            if admissions[place] is Admission.STORED:
                accepted.append(_Accepted(place, caps.hosts[name], score, level))
                counts["lowered"] += level > 0
        accepted.sort()
        outcome.stored = [self._row(page, link, origin) for link in accepted]
        self._store(outcome, caps)
        outcome.met = self._meet(page, seen, origin)
        outcome.admissions = _with_repeated(page, admissions)
        counts.update(admission.value for admission in outcome.admissions)
        return outcome

    def _page(self, links: Sequence[Link], prints: Sequence[int], seen: Collection[int]) -> _Page:
        """Return the links to decide about: the new ones, or all if the scores of others may rise.

        Links that take slots of one domain are decided host by host, in the order in which the
        hosts come first on the page, because the shared frontier does so too.
        """
        places = range(len(links))
        first = dict(zip(reversed(prints), reversed(places), strict=True))
        wanted = [i for i in places if first[prints[i]] == i]
        if not self.rules.lifts:
            wanted = [i for i in wanted if prints[i] not in seen]
        hosts = {i: host_of(links[i].url) for i in wanted}
        domains: dict[str, str] = {}
        if self.rules.domain_cap:
            domains = {name: domain_of(name) for name in dict.fromkeys(hosts.values())}
            if len(set(domains.values())) < len(domains):
                rank: dict[str, int] = {}
                for link in links:
                    rank.setdefault(host_of(link.url), len(rank))
                hosts = dict(sorted(hosts.items(), key=lambda item: rank[item[1]]))
        best = _best_scores(links, prints) if self.rules.lifts else {}
        return _Page(links, prints, first, best, hosts, domains)

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
        others = (domain for name, domain in page.domains.items() if domain != name)
        hosts = self.storage.hosts([*page.hosts.values(), *others])
        directories: Mapping[str, int] = {}
        if self.rules.directory_cap:
            directory_of = self.rules.filter.directory_of
            directories = self.storage.directory_slots(
                directory_of(page.links[place].url) for place in page.hosts
            )
        domains = {name: hosts[domain] for name, domain in page.domains.items()}
        free = self.rules.domain_cap // FREE_SHARE - len(page.hosts)
        is_crowded = any(domain.taken >= free for domain in domains.values())
        queued: Counter[str] = Counter()
        if self.rules.queue_cap:
            for name in page.hosts.values():
                queued[name] = self.queued_of(hosts[name].id)
        return _Caps(self.rules, hosts, domains, directories, is_crowded, queued)

    def _targets(self, page: _Page, origin: Origin) -> Mapping[str, Tally]:
        """Return the tally of each link's unit by its URL; empty if no rule asks for it."""
        if origin.source is None or not self.rules.filter.uses_relevance:
            return {}
        urls = [page.links[place].url for place in page.hosts]
        units = {url: self.rules.filter.unit_of(url) for url in urls}
        tallies = self.storage.tallies(units.values())
        return {url: tallies[unit] for url, unit in units.items()}

    def _is_rejected(self, origin: Origin, target: Tally) -> bool:
        return origin.source is not None and not self.rules.filter.accepts(
            page_is_relevant=origin.page_is_relevant,
            source=origin.source,
            target=target,
            downloads=origin.downloads,
        )

    def _store(self, outcome: Outcome, caps: _Caps) -> None:
        if outcome.stored:
            self.storage.store_hosts(caps.changed_hosts(outcome.stored))
            self.storage.store(outcome.stored)
            self.storage.add_directory_slots(caps.taken)

    def free(self, host: str, urls: Collection[str]) -> None:
        """Give back the slots of domain and directories that queued URLs of a host held."""
        if self.rules.domain_cap and urls and self.rules.prior is None:
            self.storage.free_wide_slots(domain_of(host), len(urls))
        if self.rules.directory_cap:
            freed = Counter(map(self.rules.filter.directory_of, urls))
            self.storage.add_directory_slots({key: -number for key, number in freed.items()})

    def take_slot(self, host: int, name: str, *, is_download: bool) -> bool:
        """Count a fetched URL for its host and its domain; True if the host is full now.

        A fetch that gave no page takes a slot only after half as many such fetches as the host cap.
        """
        free = 0 if is_download else self.rules.host_cap // 2
        admitted = self.storage.take_slot(host, free, is_download=is_download)
        if self.rules.domain_cap:
            self.storage.take_wide_slot(domain_of(name))
        return 0 < self.rules.host_cap <= admitted

    def earn(self, host: str, address: str | None) -> None:
        """Count a relevant page for the domain and the address of a host."""
        holders = [domain_of(host)] if self.rules.domain_cap else []
        if self.rules.address_cap and address:
            holders.append(address)
        self.storage.count_relevant(holders)

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
            evidence = packed(link.evidence or NO_EVIDENCE, links, accepted.falls)
        return UrlRow(
            self.storage.next_url_id(),
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
