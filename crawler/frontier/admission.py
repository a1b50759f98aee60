"""Admits the links of a page: each is seen, rejected, beyond a cap, or stored in the queue."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from langfocus.crawler.frontier.base import Admission, Sending
from langfocus.crawler.frontier.evidence_rows import Learner
from langfocus.crawler.frontier.links import LinkOrigin, QueuedUrl, answers_to_all, distinct
from langfocus.crawler.frontier.rules import IN_SCOPE, FrontierRules
from langfocus.crawler.frontier.slots import are_full, bytes_of, has_room
from langfocus.crawler.frontier.storage import QUEUED, HostRow, Storage
from langfocus.crawler.frontier.transactions import TallyTable
from langfocus.crawler.strategies.filters import NOTHING, Tally
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import fingerprint, host_of


class Source(NamedTuple):
    """The source page of links: its URL id, and the facts for admission."""

    origin: LinkOrigin
    parent: int | None = None
    is_relevant: bool = True
    tally: Tally | None = None  # of the page's unit, None for seeds


@dataclass(slots=True)
class Admitted:
    """The result of an admission: new queued URLs, and queued URLs with new scores.

    `hosts` has the hosts of stored URLs by id.
    """

    admissions: list[Admission] = field(default_factory=list)
    hosts: dict[int, HostRow] = field(default_factory=dict)
    stored: list[QueuedUrl] = field(default_factory=list)
    moved: list[QueuedUrl] = field(default_factory=list)


def full_of(
    rules: FrontierRules, host: HostRow, domain: HostRow | None, place: HostRow | None = None
) -> Sending | None:
    """Return the first full holder (host, domain or address), or None.

    `place` is the IP address; a domain or an address without a cap is None.
    """
    if 0 < rules.host_bytes <= host.received:
        return Sending.HOST_BYTES
    if 0 < rules.host_cap <= host.sent:
        return Sending.HOST_FULL
    return full_holder_of(rules, domain, place)


def full_holder_of(
    rules: FrontierRules, domain: HostRow | None, place: HostRow | None
) -> Sending | None:
    """Return the full one of a domain and an address, or None."""
    if domain and are_full(rules.domain_cap, domain.taken, domain.relevant):
        return Sending.DOMAIN_FULL
    if place and are_full(rules.address_cap, place.taken, place.relevant):
        return Sending.ADDRESS_FULL
    return None


@dataclass(frozen=True, slots=True)
class Admitter:
    """Admits links by the rules of a crawl.

    `learner` scores the links of a learning ordering. `queued_of` returns the number of a host's
    queued URLs by host id. `is_leased` returns True for the fingerprint of a leased URL, whose
    score is kept.
    """

    storage: Storage
    units: TallyTable
    rules: FrontierRules
    learner: Learner | None
    queued_of: Callable[[int], int]
    is_leased: Callable[[int], bool]

    def admit(self, links: Sequence[Link], source: Source, counts: Counter[str]) -> Admitted:
        """Decide about each link and queue accepted links, in the caller's transaction.

        Admissions are counted in `counts`.
        """
        if not links:
            return Admitted()
        keys = [fingerprint(link.url) for link in links]
        first = distinct(links, keys, lifts=self.rules.lifts)
        seen = self.storage.seen(first)
        waiting = {key: link for key, link in first.items() if key not in seen}
        waiting |= {key: first[key] for key, url in seen.items() if url.state == QUEUED}
        urls = self._linked(waiting, seen, source)
        admitted = Admitted(moved=self._meet(urls, seen))
        answers = self._store([url for url in urls if not url.id], source, admitted)
        admitted.admissions = answers_to_all(keys, answers)
        counts.update(admission.value for admission in admitted.admissions)
        return admitted

    def _linked(
        self, links: Mapping[int, Link], seen: Mapping[int, QueuedUrl], source: Source
    ) -> list[QueuedUrl]:
        """Return new and queued URLs after a page linked to them."""
        urls = [seen.get(key) or self._new(key, link, source) for key, link in links.items()]
        if self.learner is not None:
            return self.learner.linked(urls, list(links.values()), source.origin)
        if not self.rules.lifts:
            return urls
        return [
            url._replace(score=max(url.score, link.score))
            for url, link in zip(urls, links.values(), strict=True)
        ]

    def _new(self, key: int, link: Link, source: Source) -> QueuedUrl:
        return QueuedUrl(
            link.url,
            link.score,
            source.origin.depth,
            fingerprint=key,
            state=QUEUED,
            unit=self.rules.unit_of(link.url),
            parent=source.parent,
            redirects=source.origin.redirects,
        )

    def _meet(self, urls: Sequence[QueuedUrl], seen: Mapping[int, QueuedUrl]) -> list[QueuedUrl]:
        """Store what the page adds to queued URLs; return those with another score."""
        changed, moved = [], []
        for url in urls:
            known = seen.get(url.fingerprint)
            if known is None or url == known:
                continue
            if self.is_leased(url.fingerprint):
                changed.append(url._replace(score=known.score))
                continue
            changed.append(url)
            if url.score != known.score:
                moved.append(url)
        self.storage.change(changed)
        return moved

    def _store(
        self, new: Sequence[QueuedUrl], source: Source, admitted: Admitted
    ) -> dict[int, Admission]:
        """Queue accepted new URLs; return the decisions by fingerprint."""
        names = {url.fingerprint: host_of(url.url) for url in new}
        domains = {name: self.rules.domain_of(name) for name in names.values()}
        hosts = self.storage.hosts(filter(None, (*domains, *domains.values())))
        tallies, added, answers = self._tallies(new, names, source), Counter[str](), {}
        widened: dict[int, HostRow] = {}
        for url in new:
            key, name = url.fingerprint, names[url.fingerprint]
            if url.unit != IN_SCOPE and self._is_rejected(source, tallies.get(key, NOTHING)):
                answers[key] = Admission.REJECTED
                continue
            host, domain = hosts[name], hosts.get(domains[name])
            full = full_of(self.rules, host, domain)
            if self._is_queue_full(host, added[name]):
                answers[key] = Admission.HOST_FULL
            elif full is not None:
                answers[key] = Admission(full.value)
            elif not self._takes_room(host, domain, url.url):
                answers[key] = Admission.DOMAIN_FULL
            else:
                if domain is not None and domain is not host:
                    widened[domain.id] = domain
                answers[key] = Admission.STORED
                added[name] += 1
                url_id = self.storage.new_url_id(url.score)
                admitted.hosts[host.id] = host
                admitted.stored.append(url.at(url_id, host.id))
        widened |= {host.id: host for host in admitted.hosts.values() if host.is_new}
        self.storage.store_hosts(widened.values())
        self.storage.store(admitted.stored)
        return answers

    def _takes_room(self, host: HostRow, domain: HostRow | None, url: str) -> bool:
        """Count a URL for its domain, unless the host is the domain; False for a full domain."""
        if domain is None or domain is host:
            return True
        if not has_room(self.rules.domain_cap, domain.relevant, domain.found, url):
            return False
        domain.found += bytes_of(url)
        return True

    def _is_queue_full(self, host: HostRow, added: int) -> bool:
        most = self.rules.host_queue
        return 0 < most <= host.settled + self.queued_of(host.id) + added

    def _tallies(
        self, new: Sequence[QueuedUrl], names: Mapping[int, str], source: Source
    ) -> Mapping[int, Tally]:
        """Return the tally of each link's unit, by fingerprint; empty if no rule needs tallies.

        `names` has the links' hosts.
        """
        rule = self.rules.filter
        if source.tally is None or not rule.uses_relevance:
            return {}
        places = {url.fingerprint: (url.unit, names[url.fingerprint]) for url in new}
        units = {place: rule.units_in(*place) for place in places.values()}
        tallies = self.units.of(set(chain.from_iterable(units.values())))
        worst = {place: rule.worst([tallies[one] for one in of]) for place, of in units.items()}
        return {key: worst[place] for key, place in places.items()}

    def _is_rejected(self, source: Source, target: Tally) -> bool:
        return source.tally is not None and not self.rules.filter.accepts(
            page_is_relevant=source.is_relevant, source=source.tally, target=target
        )
