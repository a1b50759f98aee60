"""The bound of links from one registered domain to other domains.

A page may link to 9,000 nonexistent domains. Each has a separate queue, so the bound per queue does
not help. So a domain's pages may queue as many URL bytes on other domains as on the domain itself;
relevant pages raise this bound.
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
    """Counts the URLs queued by domains on other domains; a restart resets the counts."""

    def __init__(self, domain_cap: int) -> None:
        """Bound the links of a domain by its cap; 0 is no bound."""
        self._cap = domain_cap
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def kept(self, domain: str, links: Sequence[Link], *, is_relevant: bool) -> list[Link]:
        """Return a page's first links within the bound, and all links to its own domain."""
        if not self._cap:
            return list(links)
        record = self._record(domain)
        record.relevant += is_relevant
        kept, found = [], record.found
        for link, size in zip(links, _sizes_elsewhere(domain, links), strict=True):
            if not size or has_room(self._cap, record.relevant, found, link.url):
                found += size
                kept.append(link)
        return kept

    def count(self, domain: str, links: Sequence[Link], answers: Sequence[Admission]) -> None:
        """Count a page's links that were queued on other domains."""
        if not self._cap:
            return
        sizes = zip(_sizes_elsewhere(domain, links), answers, strict=True)
        self._record(domain).found += sum(size for size, answer in sizes if answer.is_queued)

    def _record(self, domain: str) -> _Record:
        record = self._records.setdefault(domain, _Record())
        self._records.move_to_end(domain)
        if len(self._records) > _REMEMBERED:
            self._records.popitem(last=False)
        return record


def _sizes_elsewhere(domain: str, links: Sequence[Link]) -> list[int]:
    """Return the bytes as which each link counts, 0 for a link to the domain itself."""
    return [bytes_of(one.url) * (domain_of(host_of(one.url)) != domain) for one in links]
