"""Fetches given URLs and the targets of their redirects as a crawl does, and follows no link.

robots.txt, the contact in the User-Agent, the delays, the retries, the limits of a download and the
guard against private addresses are those of the crawl, since it is one: its visitor only keeps
what was found under each URL instead of following links.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from crawler.config import Config
from crawler.crawl import Crawl
from crawler.errors import one_line
from crawler.frontier.base import PAGE, REDIRECT, Lease, Link, Record
from crawler.opening import open_crawl
from crawler.reading import UNREAD, Download, Reading
from crawler.strategies.orderings import LinkSource
from crawler.url import fingerprint
from crawler.visit import Visitor, VisitRules

Found = TypeVar("Found")

REASONS: Final = {
    "robots": "forbidden by robots.txt",
    "robots_unreachable": "its robots.txt could not be fetched",
    "origins_full": "its host has given too many files robots.txt",
    "private_address": "private address (LANGFOCUS_PRIVATE_ADDRESSES allows those)",
    "dns": "its host has no address",
    "timeout": "timed out",
    "refused": "connection refused",
    "unreachable": "its server is unreachable",
    "too_large": "larger than DOWNLOAD_MAXSIZE",
    "headers": "its server sent too many headers",
    "encoding": "its body cannot be unpacked",
    "protocol": "its server does not speak HTTP",
    "tls": "no secure connection",
    "redirect_loop": "too many redirects",
    "error": "the page cannot be read",
}
"""Outcome of a URL without a page -> the reason in words."""


@dataclass(frozen=True, slots=True)
class Unfetched:
    """The reason why a URL has no page."""

    reason: str


class _Moved(NamedTuple):
    """A redirect; `key` is the fingerprint of its target."""

    key: int


@dataclass(slots=True)
class Lookup(Generic[Found]):
    """The finds under some URLs, while they are fetched and afterwards.

    `read` is called once with each page. About 200 bytes are kept for each URL besides its find.
    """

    read: Callable[[Download], Found]
    _ends: "dict[int, Found | Unfetched | _Moved]" = field(default_factory=dict)

    def find(self, url: str) -> Found | Unfetched | None:
        """Return what was found under a normalised URL, None if it is not settled yet."""
        key, passed = fingerprint(url), set[int]()
        while isinstance(end := self._ends.get(key), _Moved):
            passed.add(key)
            key = end.key
            if key in passed:
                return Unfetched("a circle of redirects")
        return end

    def end(self, key: int, end: "Found | Unfetched | _Moved") -> None:
        """Settle the URL with this fingerprint."""
        self._ends[key] = end


def open_fetch(urls: Iterable[str], config: Config, folder: Path, lookup: Lookup[Found]) -> Crawl:
    """Return a crawl of exactly these normalised URLs, ready to begin; raises `CrawlError`.

    The crawl keeps its state in `folder`, which is of no use afterwards.
    """
    seeds = tuple(dict.fromkeys(urls))
    crawl = open_crawl(
        replace(
            config,
            lang="",
            strategy="bfs",
            filter="none",
            host_cap=0,
            seeds=seeds,
            run_folder=folder,
            frontier=None,
            keeps_warc=False,
            readers=0,
        )
    )
    crawl.visitor = _Fetching(crawl, lookup)
    return crawl


class _Fetching(Visitor, Generic[Found]):
    """A visitor that passes pages to a lookup and follows redirects only."""

    def __init__(self, crawl: Crawl, lookup: Lookup[Found]) -> None:
        rules = VisitRules("", self._keep, crawl.config.retry_rule)
        super().__init__(crawl.frontier, crawl.ordering, rules, crawl.clock)
        self._lookup = lookup
        self._pages: list[Found] = []

    def _keep(self, download: Download, inlinks: Sequence[str], depth: int) -> Reading:
        self._pages.append(self._lookup.read(download))
        return UNREAD

    def links(self, urls: Sequence[str], source: LinkSource) -> list[Link]:
        """Return all URLs as links, also those that look like files."""
        return [Link(url, 0.0) for url in urls]

    def _settle(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        download: Download | None = None,
        was_contacted: bool = True,
    ) -> Record:
        super()._settle(lease, record, links, download=download, was_contacted=was_contacted)
        pages, self._pages = self._pages, []
        if record.outcome == REDIRECT and links:
            self._lookup.end(lease.fingerprint, _Moved(fingerprint(links[0].url)))
        else:
            found = pages[-1] if pages else Unfetched(_reason(record, download))
            self._lookup.end(lease.fingerprint, found)
        return record


def _reason(record: Record, download: Download | None) -> str:
    """Return the reason why a settled URL has no page."""
    if download is not None and record.outcome == REDIRECT:
        return f"redirected to {one_line(download.location or '')[:200]}, which is no page"
    if download is not None and record.outcome == PAGE:
        return f"HTTP status {download.status}"
    if download is not None and record.outcome == "media":
        return f"no page: {download.content_type}"
    return REASONS.get(record.outcome, record.outcome)
