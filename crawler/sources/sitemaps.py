"""Sitemaps (sitemaps.org, with Google's `hreflang`) and feeds (RSS, Atom), and their links.

XML is read piece by piece. Entities are not expanded, nothing is loaded, and bytes, elements and
links are bounded. Broken XML is read as far as it goes.
"""

import re
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from lxml import etree

from langfocus.classifiers.languages import meant
from langfocus.crawler.frontier.base import Lease, Link
from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.politeness.robots import HostFiles, Robots
from langfocus.crawler.reading import Download, scored, sift
from langfocus.crawler.strategies.orderings import LinkSource, Ordering
from langfocus.crawler.url import normalise

MAX_BYTES: Final = 10 * 1024 * 1024
"""Unpacked bytes of a file that are read."""

MAX_ELEMENTS: Final = 200_000
"""XML elements of a file that are read, 2 us each."""

MAX_LINKS: Final = 20_000
"""Links of a file that are read, 5 us each; sitemaps.org allows 50,000 of its pages."""

MAX_STEPS: Final = 3
"""Steps from a page to its links by sitemaps: redirects, an index, a sitemap."""

MAX_ADMITTED: Final = 10_000
"""Links of a file that are offered, as many as of a page: those with the best scores."""

_PIECE = 64 * 1024
_MAX_FAULTS = 1_000
_MAX_TEXT = 4_096
_MAX_DATE = 32
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE\b[^>\[]*+>\s*+)*+"
    rb"<(?:[\w.-]+:)?(urlset|sitemapindex|rss|feed|rdf)\b",
    re.DOTALL | re.IGNORECASE,
)
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_XML = re.compile(
    r"(?:text|application)/(?:[\w.-]++\+)?xml|application/(?:x-)?gzip|application/octet"
)

_ENTRIES: Final = {
    ("urlset", "url"),
    ("sitemapindex", "sitemap"),
    ("channel", "item"),
    ("rdf", "item"),
    ("feed", "entry"),
}
"""The elements with links, each behind the one that it stands in."""


class Sitemap(NamedTuple):
    """The links of a sitemap or a feed: normalised URLs, and whether they are in the language.

    The newest come first by their `lastmod`; those without a date come last. `is_index`
    is True if they lead to other sitemaps. `malformed` counts links that are no URLs.
    """

    links: dict[str, bool]
    is_index: bool = False
    malformed: int = 0


def may_be_sitemap(content_type: str | None) -> bool:
    """Return True if a Content-Type may belong to a sitemap or a feed, packed or not."""
    return _XML.match((content_type or "").strip().lower()) is not None


def read_sitemap(body: bytes, url: str, target: str | None = None) -> Sitemap | None:
    """Return the links of a sitemap or a feed that was fetched from `url`; None for another body.

    The body decides, not its Content-Type. With a `target` language its links to pages in that
    language are declared ones: those with its `hreflang`, and those of a feed in it.
    """
    data = _unpacked(body) if body.startswith(_GZIP) else body[:MAX_BYTES]
    root = _ROOT.match(data[:_PIECE])
    if root is None:
        return None
    links = _Links(url, target)
    _read_xml(data, links)
    return Sitemap(links.newest_first(), root[1].lower() == b"sitemapindex", links.malformed)


def _unpacked(body: bytes) -> bytes:
    """Return a gzip file unpacked, b"" for a damaged one; further members are left out."""
    try:
        return zlib.decompressobj(31).decompress(body, MAX_BYTES)
    except zlib.error:
        return b""


class _Links:
    """The links so far; of several to one URL the first counts, declared by any of them."""

    def __init__(self, base: str, target: str | None) -> None:
        self.found: dict[str, bool] = {}
        self.malformed = 0
        self._dates: dict[str, str] = {}
        self._base, self._target = base, target

    def is_target(self, tag: str) -> bool:
        return bool(tag) and self._target is not None and self._target in meant(tag)

    def newest_first(self) -> dict[str, bool]:
        dates = self._dates
        return dict(sorted(self.found.items(), key=lambda link: dates[link[0]], reverse=True))

    def add(self, written: str, date: str, *, is_declared: bool) -> None:
        if len(self.found) >= MAX_LINKS:
            return
        url = normalise(written.strip(), self._base)
        if url is None:
            self.malformed += 1
        else:
            self.found[url] = self.found.get(url, False) or is_declared
            self._dates.setdefault(url, date)


def _read_xml(data: bytes, links: _Links) -> None:
    parser = etree.XMLPullParser(
        ("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
    )
    elements, is_declared = 0, False
    with suppress(etree.LxmlError):
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            if b">" not in piece:
                return  # libxml2 takes the square of the length of a broken tag
            parser.feed(piece)
            for event, element in parser.read_events():
                elements += event == "start"
                parent = element.getparent()
                if event == "start" and parent is None:
                    is_declared = links.is_target(element.get(_LANG, ""))
                elif event == "end" and parent is not None:
                    path = _name(parent), _name(element)
                    if path == ("channel", "language"):
                        is_declared = links.is_target(_text(element))
                    elif path in _ENTRIES:
                        _read_entry(element, links, is_declared=is_declared)
                        element.clear()
            is_broken = len(parser.feed_error_log) > _MAX_FAULTS
            if is_broken or elements > MAX_ELEMENTS or len(links.found) >= MAX_LINKS:
                return


def _read_entry(entry: etree._Element, links: _Links, *, is_declared: bool) -> None:
    """Add the links of an element; those of a whole feed may be declared."""
    spoken = entry.get(_LANG)
    is_declared = links.is_target(spoken) if spoken else is_declared
    date = entry.findtext("{*}lastmod", "").strip()[:_MAX_DATE]
    for child in entry:
        name, href, tag = _name(child), child.get("href"), child.get("hreflang", "")
        if name == "loc" or (name == "link" and _name(entry) == "item"):
            if text := _text(child):
                links.add(text, date, is_declared=is_declared)
        elif name != "link" or not href or tag.lower() == "x-default":
            continue
        elif child.get("rel", "alternate").lower() == "alternate":
            links.add(href, date, is_declared=is_declared or links.is_target(tag))


def _name(element: etree._Element) -> str:
    """Return the name without its namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()


def _text(element: etree._Element) -> str:
    return (element.text or "").strip()[:_MAX_TEXT]


@dataclass(frozen=True, slots=True)
class Sitemaps:
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
        found = read_sitemap(download.body, download.url, self.target)
        return found if found and self.files.choose([lease.url], now) else None

    def may_lead(self, lease: Lease, url: str, now: float) -> bool:
        """Return True if a redirect may be followed: a file leads to one that may be fetched."""
        return not self.files.has(lease.url) or bool(self.files.choose([url], now))

    def of_page(self, lease: Lease, feeds: Sequence[str], now: float) -> list[Link]:
        """Return the sitemaps and feeds of the host of a relevant page, the best first."""
        named = [url for url in map(normalise, feeds) if url]
        ranked = [*self._ranked(self.robots.sitemaps(lease.url)), *self._ranked(named)]
        return self._chosen(ranked, lease.depth, now)

    def of_file(
        self, lease: Lease, found: Sitemap, now: float
    ) -> tuple[list[Link], dict[str, int]]:
        """Return the links of a sitemap, the best first, and the numbers of those left out."""
        urls = list(found.links)
        if found.is_index:
            files = self._ranked(urls) if lease.redirects < MAX_STEPS else []
            left_out = {"ignored_url": found.malformed}
            return self._chosen(files, lease.depth - 1, now), left_out
        wanted, left_out = sift(urls, self.is_blocked)
        left_out["ignored_url"] += found.malformed
        declared = {url for url in wanted if found.links[url]}
        return self._best(wanted, lease.depth - 1, declared)[:MAX_ADMITTED], left_out

    def _ranked(self, urls: Sequence[str]) -> list[str]:
        """Return the files that may be fetched, those first whose URLs fit the language best."""
        wanted = [url for url in urls if not (has_bad_port(url) or self.is_blocked(url))]
        return [link.url for link in self._best(wanted, 0, ())]

    def _chosen(self, urls: Sequence[str], depth: int, now: float) -> list[Link]:
        chosen = self.files.choose(urls, now)
        return self._links(chosen, depth, set(chosen))

    def _best(self, urls: Sequence[str], depth: int, declared: Collection[str]) -> list[Link]:
        return sorted(self._links(urls, depth, declared), key=lambda link: -link.score)

    def _links(self, urls: Sequence[str], depth: int, declared: Collection[str]) -> list[Link]:
        source = LinkSource(is_relevant=True, depth=depth, declared=declared)
        return scored(self.ordering, urls, source)
