"""Admits the links of a page: each is seen, rejected, beyond a cap, or stored in the queue."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crawler.frontier.base import Admission, Link
from crawler.frontier.rules import FrontierRules
from crawler.frontier.storage import HostRow, Storage, UrlRow
from crawler.strategies.filters import Filter
from crawler.strategies.relevance import NOTHING, Tally
from crawler.url import fingerprint, host_of


@dataclass(frozen=True, slots=True)
class Origin:
    """The facts about a page that decide about the admission of its links.

    `parent` is the id of its URL. `depth` and `redirects` are those of the links. `source` is the
    tally of the page's unit, None for seeds. `inlinks` are the languages that count for each link:
    that of the page, or those of the pages that linked to a redirect.
    """

    parent: int | None = None
    depth: int = 0
    redirects: int = 0
    page_is_relevant: bool = True
    source: Tally | None = None
    inlinks: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """The result of an admission. `lifted` are the ids of hosts with a URL whose score rose."""

    admissions: list[Admission] = field(default_factory=list)
    stored: list[UrlRow] = field(default_factory=list)
    lifted: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Directories:
    """The slots that directories had `given` before, and those `taken` by this page."""

    filter: Filter
    cap: int
    given: Mapping[str, int]
    taken: Counter[str] = field(default_factory=Counter)

    def take(self, url: str) -> bool:
        """Take a slot of the directory of a URL; False if it has none."""
        if self.cap:
            directory = self.filter.directory_of(url)
            if self.given[directory] + self.taken[directory] >= self.cap:
                return False
            self.taken[directory] += 1
        return True


@dataclass(frozen=True, slots=True)
class Admitter:
    """Decides about links by the rules of a crawl."""

    storage: Storage
    rules: FrontierRules

    def admit(self, links: Sequence[Link], origin: Origin, counts: Counter[str]) -> Outcome:
        """Decide about each link and queue the accepted ones, in the caller's transaction.

        `counts` gets the number of each admission.
        """
        outcome = Outcome()
        if not links:
            return outcome
        prints = [fingerprint(link.url) for link in links]
        seen = self.storage.seen(prints)
        self.storage.add_inlinks(seen, origin.inlinks)
        keys = {
            fp: host_of(link.url) for link, fp in zip(links, prints, strict=True) if fp not in seen
        }
        hosts = self.storage.hosts(keys.values())
        targets = self._targets(links, origin)
        directories = self._directories(links)
        places: dict[int, int] = {}
        for link, fp in zip(links, prints, strict=True):
            if fp in seen:
                outcome.admissions.append(Admission.SEEN)
                self._lift(link, fp, places.get(fp), outcome)
                continue
            host = hosts[keys[fp]]
            admission = self._decide(host, origin, targets.get(link.url, NOTHING))
            if admission is Admission.STORED and not directories.take(link.url):
                admission = Admission.DIRECTORY_FULL
            outcome.admissions.append(admission)
            if admission is Admission.STORED:
                seen.add(fp)
                places[fp] = len(outcome.stored)
                host.admitted += 1
                outcome.stored.append(self._row(link, fp, host, origin))
        self.storage.store(outcome.stored)
        self.storage.add_directory_slots(directories.taken)
        counts.update(admission.value for admission in outcome.admissions)
        return outcome

    def _targets(self, links: Sequence[Link], origin: Origin) -> Mapping[str, Tally]:
        """Return the tally of each link's unit by its URL; empty if no rule asks for it."""
        if origin.source is None or not self.rules.filter.uses_relevance:
            return {}
        units = {link.url: self.rules.filter.unit_of(link.url) for link in links}
        tallies = self.storage.tallies(units.values())
        return {url: tallies[unit] for url, unit in units.items()}

    def _decide(self, host: HostRow, origin: Origin, target: Tally) -> Admission:
        if origin.source is not None and not self.rules.filter.accepts(
            page_is_relevant=origin.page_is_relevant, source=origin.source, target=target
        ):
            return Admission.REJECTED
        if self.rules.host_cap and host.admitted >= self.rules.host_cap:
            return Admission.HOST_FULL
        return Admission.STORED

    def free_directories(self, urls: Iterable[str]) -> None:
        """Give back the slots of their directories that URLs held."""
        if self.rules.directory_cap:
            freed = Counter(map(self.rules.filter.directory_of, urls))
            self.storage.add_directory_slots({key: -number for key, number in freed.items()})

    def _directories(self, links: Sequence[Link]) -> "_Directories":
        given: Mapping[str, int] = {}
        if self.rules.directory_cap:
            given = self.storage.directory_slots(
                self.rules.filter.directory_of(li.url) for li in links
            )
        return _Directories(self.rules.filter, self.rules.directory_cap, given)

    def _lift(self, link: Link, fp: int, place: int | None, outcome: Outcome) -> None:
        """Raise the score of a URL; `place` is its position among the new URLs, if it is new."""
        if not self.rules.lifts:
            return
        if place is not None:
            row = outcome.stored[place]
            outcome.stored[place] = replace(row, score=max(row.score, link.score))
        else:
            host = self.storage.lift(fp, link.score)
            if host is not None:
                outcome.lifted.add(host)

    def _row(self, link: Link, fp: int, host: HostRow, origin: Origin) -> UrlRow:
        return UrlRow(
            self.storage.next_url_id(),
            fp,
            link.url,
            host,
            self.rules.filter.part_of_host(link.url),
            origin.parent,
            origin.depth,
            origin.redirects,
            link.score,
            origin.inlinks,
        )
