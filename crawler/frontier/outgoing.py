"""The bound of links from one registered domain to others.

A page may link to 9,000 domains that do not exist. Each has a queue of its own, so the bound of a
domain's queue does not help. So the bytes of URLs that a domain's pages queue on other domains have
the bound of its own queue: with more of its relevant pages it is higher.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langfocus.crawler.frontier.base import Admission
from langfocus.crawler.frontier.slots import bytes_of, has_room
from langfocus.crawler.strategies.links import Link
from langfocus.crawler.url import domain_of, host_of

_REMEMBERED: Final = 100_000


@dataclass(slots=True)
class _Record:
    relevant: int = 0
    found: int = 0  # bytes of URLs


class Outgoing:
    """Counts the URLs that domains queue on others; a restart begins at zero."""

    def __init__(self, domain_cap: int) -> None:
        """Bound the links of a domain by its cap; 0 is no bound."""
        self._cap = domain_cap
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def kept(self, domain: str, links: Sequence[Link], *, is_relevant: bool) -> list[Link]:
        """Return the first links of a page that are in the bound, and all to its own domain."""
        if not self._cap:
            return list(links)
        record = self._record(domain)
        record.relevant += is_relevant
        kept, found = [], record.found
        for link in links:
            if domain_of(host_of(link.url)) != domain:
                if not has_room(self._cap, record.relevant, found, link.url):
                    continue
                found += bytes_of(link.url)
            kept.append(link)
        return kept

    def count(self, domain: str, links: Sequence[Link], answers: Sequence[Admission]) -> None:
        """Count the links of a page that were queued on other domains."""
        if not self._cap:
            return
        record = self._record(domain)
        record.found += sum(
            bytes_of(link.url)
            for link, answer in zip(links, answers, strict=True)
            if answer.is_queued and domain_of(host_of(link.url)) != domain
        )

    def _record(self, domain: str) -> _Record:
        record = self._records.setdefault(domain, _Record())
        self._records.move_to_end(domain)
        if len(self._records) > _REMEMBERED:
            self._records.popitem(last=False)
        return record
