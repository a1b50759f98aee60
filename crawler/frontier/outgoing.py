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
class _Domain:
    relevant: int = 0
    found: int = 0  # bytes of URLs


class Outgoing:
    """Counts the URLs queued by domains on other domains; a restart resets the counts."""

    def __init__(self, domain_cap: int) -> None:
        """Bound the links of a domain by its cap; 0 is no bound."""
        self._cap = domain_cap
        self._domains: OrderedDict[str, _Domain] = OrderedDict()

    def kept(self, domain: str, links: Sequence[Link], *, is_relevant: bool) -> list[Link]:
        """Return a page's first links within the bound, and all links to its own domain."""
        if not self._cap:
            return list(links)
        source = self._source(domain)
        source.relevant += is_relevant
        kept, found = [], source.found
        for link in links:
            size = _size_elsewhere(domain, link)
            if not size or has_room(self._cap, source.relevant, found, link.url):
                found += size
                kept.append(link)
        return kept

    def count(self, domain: str, links: Sequence[Link], answers: Sequence[Admission]) -> None:
        """Count a page's links that were queued on other domains."""
        if self._cap:
            pairs = zip(links, answers, strict=True)
            sizes = [_size_elsewhere(domain, link) for link, answer in pairs if answer.is_queued]
            self._source(domain).found += sum(sizes)

    def _source(self, domain: str) -> _Domain:
        source = self._domains.setdefault(domain, _Domain())
        self._domains.move_to_end(domain)
        if len(self._domains) > _REMEMBERED:
            self._domains.popitem(last=False)
        return source


def _size_elsewhere(domain: str, link: Link) -> int:
    """Return the bytes that a link counts, 0 for a link to the domain itself."""
    return bytes_of(link.url) * (domain_of(host_of(link.url)) != domain)
