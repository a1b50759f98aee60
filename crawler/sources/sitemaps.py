"""Sitemaps (sitemaps.org, with Google's `hreflang`) and feeds (RSS, Atom), and their links.

XML is read piece by piece and never as a whole tree. Entities are not expanded, nothing is loaded,
and bytes, elements and links are bounded. Broken XML is read as far as it goes.
"""

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from lxml import etree

from classifiers.pages.declared import meant
from crawler.frontier.base import Lease, Link
from crawler.politeness.host_files import HostFiles
from crawler.politeness.ports import has_bad_port
from crawler.politeness.robots import Robots
from crawler.reading import Download, scored, sift
from crawler.strategies.orderings import LinkSource, Ordering
from crawler.url import normalise

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
_MAX_TEXT = 4_096
_TRIED_LINES = 10
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE\b[^>\[]*+>\s*+)*+"
    rb"<(?:[\w.-]+:)?(urlset|sitemapindex|rss|feed|rdf)\b",
    re.DOTALL | re.IGNORECASE,
)
_URL_LINE = re.compile(rb"\s*https?://\S+\s*$")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_XML = re.compile(
    r"(?:text|application)/(?:[\w.-]++\+)?xml|application/(?:x-)?gzip|application/octet"
)

_LOCATIONS: Final = {
    ("urlset", "url", "loc"),
    ("sitemapindex", "sitemap", "loc"),
    ("rss", "channel", "item", "link"),
    ("rdf", "item", "link"),
}
_ALTERNATES: Final = {("urlset", "url", "link"), ("feed", "entry", "link")}
_DATES: Final = {("urlset", "url", "lastmod"), ("sitemapindex", "sitemap", "lastmod")}
_ENTRIES: Final = {path[:-1] for path in (*_LOCATIONS, *_ALTERNATES)}
_LANGUAGES: Final = {("rss", "channel", "language"), ("rdf", "channel", "language")}
_DEEPEST: Final = 4


class Entry(NamedTuple):
    """A link: its date as it is written, "" without one, and whether it is in the language."""

    date: str = ""
    is_declared: bool = False


class Sitemap(NamedTuple):
    """The links of a sitemap or a feed, by normalised URL in their order.

    `is_index` is True if they lead to other sitemaps. `malformed` counts links that are no URLs.
    `is_cut` is True if the file has more links or bytes than are read.
    """

    entries: dict[str, Entry]
    is_index: bool = False
    malformed: int = 0
    is_cut: bool = False


def may_be_sitemap(content_type: str | None) -> bool:
    """Return True if a Content-Type may belong to a sitemap or a feed, packed or not."""
    return _XML.match((content_type or "").strip().lower()) is not None


def read_sitemap(
    body: bytes, url: str, content_type: str | None, target: str | None = None
) -> Sitemap | None:
    """Return the links of a sitemap or a feed that was fetched from `url`; None for another body.

    The body decides, not its Content-Type, except for a list of URLs in text/plain. With a `target`
    language its links to pages in that language are declared ones: those with its `hreflang`, and
    those of a feed in it.
    """
    pieces = _unpacked(body) if body.startswith(_GZIP) else _pieces(body)
    first = next(pieces, b"")
    if _ROOT.match(first):
        return _read_xml(first, pieces, _Links(url, target))
    is_text = (content_type or "").strip().lower().startswith("text/plain") or body[:2] == _GZIP
    return _read_lines(first, pieces, _Links(url, None)) if is_text and _lists(first) else None


def _pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield a gzip file unpacked, as far as it is whole; further members are left out."""
    unpacker = zlib.decompressobj(31)
    with suppress(zlib.error):
        data = unpacker.decompress(body, _PIECE)
        while data:
            yield data
            data = unpacker.decompress(unpacker.unconsumed_tail, _PIECE)


def _read_xml(first: bytes, pieces: Iterator[bytes], links: "_Links") -> Sitemap:
    target = _Elements(links)
    parser = etree.XMLParser(
        target=target, recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    left = MAX_BYTES
    piece: bytes | None = first
    is_cut = False
    with suppress(etree.LxmlError):
        while piece and not is_cut:
            parser.feed(piece)
            left -= len(piece)
            piece = next(pieces, None)
            is_cut = links.is_full or target.elements > MAX_ELEMENTS or (left <= 0 and bool(piece))
        parser.close()
    return Sitemap(links.entries, target.root == "sitemapindex", links.malformed, is_cut)


def _lists(first: bytes) -> bool:
    lines = [line for line in first.splitlines()[: _TRIED_LINES + 1] if line.strip()]
    return bool(lines) and all(map(_URL_LINE.match, lines[:-1] or lines))


def _read_lines(first: bytes, pieces: Iterator[bytes], links: "_Links") -> Sitemap:
    rest = first
    left = MAX_BYTES
    for piece in (*pieces, b""):
        *lines, rest = (rest + piece).split(b"\n") if piece else [*rest.split(b"\n"), b""]
        left -= len(piece)
        for line in lines:
            if _URL_LINE.match(line):
                links.add(line[:_MAX_TEXT].decode("utf-8", "replace"))
            elif line.strip():
                links.malformed += 1
        if links.is_full or left <= 0:
            return Sitemap(links.entries, malformed=links.malformed, is_cut=True)
        rest = rest[-_MAX_TEXT:]
    return Sitemap(links.entries, malformed=links.malformed)


class _Links:
    """The links so far; of several to one URL the first counts, declared by any of them."""

    def __init__(self, base: str, target: str | None) -> None:
        self.entries: dict[str, Entry] = {}
        self.malformed = 0
        self.is_full = False
        self._base, self._target = base, target

    def is_target(self, tag: str) -> bool:
        return bool(tag) and self._target is not None and self._target in meant(tag)

    def add(self, written: str, date: str = "", *, is_declared: bool = False) -> None:
        if len(self.entries) >= MAX_LINKS:
            self.is_full = True
            return
        url = normalise(written.strip(), self._base)
        if url is None:
            self.malformed += 1
            return
        known = self.entries.get(url)
        if known is None:
            self.entries[url] = Entry(date, is_declared)
        elif is_declared and not known.is_declared:
            self.entries[url] = known._replace(is_declared=True)


class _Elements:
    """A target of lxml's parser: it is told of each element and keeps none.

    `root` is the name of the first element in lower case.
    """

    def __init__(self, links: _Links) -> None:
        self.root = ""
        self.elements = 0
        self._links = links
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._is_declared = [False]
        self._found: list[tuple[str, bool]] = []
        self._date = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        name = tag.rpartition("}")[2].lower()
        self.root = self.root or name
        self._path.append(name)
        self._text = []
        if len(self._path) > _DEEPEST:
            return
        path = tuple(self._path)
        spoken = attributes.get(_LANG, "")
        if path in _ENTRIES or len(path) == 1:
            inherited = self._is_declared[0]
            is_declared = self._links.is_target(spoken) if spoken else inherited
            self._is_declared[len(path) > 1 :] = [is_declared]
        if path in _ALTERNATES and attributes.get("rel", "alternate").lower() == "alternate":
            tag_of_link = attributes.get("hreflang", "")
            if tag_of_link.lower() != "x-default":
                told = self._links.is_target(tag_of_link)
                self._found.append((attributes.get("href", ""), told))

    def data(self, text: str) -> None:
        if self._text is not None and len(self._text) < _MAX_TEXT:
            self._text.append(text[:_MAX_TEXT])

    def end(self, tag: str) -> None:
        path = tuple(self._path)
        if self._path:
            self._path.pop()
        text, self._text = "".join(self._text or ()).strip()[:_MAX_TEXT], None
        if path in _LOCATIONS:
            self._found.append((text, False))
        elif path in _DATES:
            self._date = text[:32]
        elif path in _LANGUAGES:
            self._is_declared[0] = self._links.is_target(text)
        elif path in _ENTRIES:
            self._end_entry()

    def _end_entry(self) -> None:
        is_declared = self._is_declared[-1]
        for url, is_told in self._found:
            if url:
                self._links.add(url, self._date, is_declared=is_told or is_declared)
        self._found, self._date = [], ""

    def close(self) -> None:
        """End the file; lxml asks for it."""


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

    def of_file(
        self, lease: Lease, found: Sitemap, now: float
    ) -> tuple[list[Link], dict[str, int]]:
        """Return the links of a sitemap, the best first, and the numbers of those left out."""
        urls = [] if found.is_index else list(found.entries)
        wanted, left_out = sift(urls, self.is_blocked)
        left_out["ignored_url"] += found.malformed
        if found.is_index:
            files = self._ranked(list(found.entries), found) if lease.redirects < MAX_STEPS else []
            return self._chosen(files, lease.depth - 1, now), left_out
        declared = {url for url in wanted if found.entries[url].is_declared}
        links = self._links(wanted, lease.depth - 1, declared)
        return self._newest_first(links, found)[:MAX_ADMITTED], left_out

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
