"""The sitemaps and feeds that a crawl fetches, and the links that it takes from them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from crawler.frontier.base import Lease, Link
from crawler.politeness.host_files import HostFiles
from crawler.politeness.ports import has_bad_port
from crawler.politeness.robots import Robots
from crawler.sitemap import Sitemap, read_sitemap
from crawler.strategies.orderings import LinkSource, Ordering
from crawler.url import normalise
from crawler.visit import Download, Sifted, scored, sift

MAX_STEPS: Final = 3
"""Steps from a page to its links by sitemaps: redirects, an index, a sitemap."""

MAX_ADMITTED: Final = 10_000
"""Links of a file that are offered, as many as of a page: those with the best scores."""


@dataclass(frozen=True, slots=True)
class SitemapLinks:
    """The sitemaps of a crawl.

    The files count as expected in the language, since they are those of hosts with a relevant page.
    So do links that a file declares to be in the `target` language; None: no declaration counts.
    """

    ordering: Ordering
    robots: Robots
    files: HostFiles
    is_blocked: Callable[[str], bool]
    target: str | None = None

    def is_file(self, lease: Lease) -> bool:
        """Return True if a URL was chosen as a sitemap or a feed."""
        return self.files.has(lease.url)

    def read(self, lease: Lease, download: Download, now: float) -> Sitemap | None:
        """Return a download as a sitemap; None if it is none, or its host had too many."""
        found = read_sitemap(download.body, download.url, download.content_type, self.target)
        if found is None or not self.files.choose([lease.url], now):
            return None
        return found

    def may_lead(self, lease: Lease, url: str, now: float) -> bool:
        """Return True if a redirect may be followed: a file leads to one that may be fetched."""
        return not self.files.has(lease.url) or bool(self.files.choose([url], now))

    def of_page(self, lease: Lease, feeds: Sequence[str], now: float) -> list[Link]:
        """Return the sitemaps and feeds of the host of a relevant page, the best first."""
        named = [url for url in map(normalise, feeds) if url]
        ranked = [*self._ranked(self.robots.sitemaps(lease.url)), *self._ranked(named)]
        return self._chosen(ranked, lease.depth, now)

    def of_file(self, lease: Lease, found: Sitemap, now: float) -> tuple[list[Link], Sifted]:
        """Return the links of a sitemap, the best first, and the numbers of those left out."""
        if found.is_index:
            files = self._ranked(list(found.entries), found) if lease.redirects < MAX_STEPS else []
            return self._chosen(files, lease.depth - 1, now), sift([])
        sifted = sift(list(found.entries), self.is_blocked)
        declared = {url for url in sifted.wanted if found.entries[url].is_declared}
        links = self._links(sifted.wanted, lease.depth - 1, declared)
        return self._newest_first(links, found)[:MAX_ADMITTED], sifted

    def _chosen(self, urls: Sequence[str], depth: int, now: float) -> list[Link]:
        chosen = self.files.choose(urls, now)
        return self._links(chosen, depth, set(chosen))

    def _ranked(self, urls: Sequence[str], found: Sitemap | None = None) -> list[str]:
        """Return the files that may be fetched, those first whose URLs fit the language best."""
        wanted = [url for url in urls if not (has_bad_port(url) or self.is_blocked(url))]
        return [link.url for link in self._newest_first(self._links(wanted, 0, ()), found)]

    @staticmethod
    def _newest_first(links: list[Link], found: Sitemap | None) -> list[Link]:
        """Return links by their scores; of equal ones those with the latest date first."""
        if found is not None:
            links.sort(key=lambda link: found.entries[link.url].date, reverse=True)
        return sorted(links, key=lambda link: -link.score)

    def _links(self, urls: Sequence[str], depth: int, declared: Collection[str]) -> list[Link]:
        source = LinkSource(is_relevant=True, depth=depth, declared=declared)
        return scored(self.ordering, urls, source)
