"""What becomes of the links of one page: seen, rejected, host full or stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawler.frontier.base import Admission, Link
from crawler.frontier.tables import HostRow, Tables, UrlRow
from crawler.strategies.filters import Filter
from crawler.strategies.relevance import NOTHING, Tally
from crawler.url import fingerprint, host_of


@dataclass(frozen=True, slots=True)
class Origin:
    """Where links come from.

    `source` is the tally of the page's unit, None for seeds; `inlinks` what counts for each link:
    the page's language, or that of the pages that linked to a redirect.
    """

    parent: int | None = None
    depth: int = 0
    redirects: int = 0
    page_is_relevant: bool = True
    source: Tally | None = None
    inlinks: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """What became of links. `lifted` are the hosts of queued URLs whose score was raised."""

    admissions: list[Admission] = field(default_factory=list)
    stored: list[UrlRow] = field(default_factory=list)
    lifted: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Admitter:
    """The rules that hold for a whole crawl. `host_cap` 0: any number of URLs a host."""

    tables: Tables
    filter: Filter
    host_cap: int
    lifts: bool

    def admit(self, links: Sequence[Link], origin: Origin, counts: Counter[str]) -> Outcome:
        """Store what may be stored, inside the transaction that the caller opened."""
        outcome = Outcome()
        if not links:
            return outcome
        prints = [fingerprint(link.url) for link in links]
        seen = self.tables.seen(prints)
        self.tables.add_inlinks(seen, origin.inlinks)
        keys = {
            fp: host_of(link.url) for link, fp in zip(links, prints, strict=True) if fp not in seen
        }
        hosts = self.tables.hosts(keys.values())
        targets = self._targets(links, origin)
        for link, fp in zip(links, prints, strict=True):
            if fp in seen:
                outcome.admissions.append(Admission.SEEN)
                self._lift(link, fp, outcome)
                continue
            host = hosts[keys[fp]]
            admission = self._decide(host, origin, targets.get(link.url, NOTHING))
            outcome.admissions.append(admission)
            if admission is Admission.STORED:
                seen.add(fp)
                host.admitted += 1
                outcome.stored.append(self._row(link, fp, host, origin))
        self.tables.store(outcome.stored)
        counts.update(admission.value for admission in outcome.admissions)
        return outcome

    def _targets(self, links: Sequence[Link], origin: Origin) -> Mapping[str, Tally]:
        """Return the tally of each link's unit by its URL; empty where no rule asks for it."""
        if origin.source is None or not self.filter.uses_relevance:
            return {}
        units = {link.url: self.filter.unit_of(link.url) for link in links}
        tallies = self.tables.tallies(units.values())
        return {url: tallies[unit] for url, unit in units.items()}

    def _decide(self, host: HostRow, origin: Origin, target: Tally) -> Admission:
        if origin.source is not None and not self.filter.accepts(
            page_is_relevant=origin.page_is_relevant, source=origin.source, target=target
        ):
            return Admission.REJECTED
        if self.host_cap and host.admitted >= self.host_cap:
            return Admission.HOST_FULL
        return Admission.STORED

    def _lift(self, link: Link, fp: int, outcome: Outcome) -> None:
        if self.lifts:
            host = self.tables.lift(fp, link.score)
            if host is not None:
                outcome.lifted.add(host)

    def _row(self, link: Link, fp: int, host: HostRow, origin: Origin) -> UrlRow:
        return UrlRow(
            self.tables.next_url_id(),
            fp,
            link.url,
            host,
            self.filter.part_of_host(link.url),
            origin.parent,
            origin.depth,
            origin.redirects,
            link.score,
            origin.inlinks,
        )
