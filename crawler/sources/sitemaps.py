"""Sitemaps (sitemaps.org, with Google's `hreflang`) and feeds (RSS, Atom), and their links.

XML is read piece by piece. Entities are not expanded, nothing is loaded, and bytes, elements and
links are bounded. Broken XML is read as far as it goes.
"""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from lxml import etree

from langfocus.classifiers.languages import codes_of, declared_languages
from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.body import BrokenEncoding, unpacked
from langfocus.crawler.http.download import Download
from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.politeness.robots import HostFiles, Robots
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.strategies.links import Link, LinkSource
from langfocus.crawler.strategies.orderings import Ordering
from langfocus.crawler.url import normalise

MAX_BYTES: Final = 10 * 1024 * 1024
"""Bytes read per unpacked file."""

MAX_ELEMENTS: Final = 200_000
"""XML elements read per file, 2 us each."""

MAX_LINKS: Final = 20_000
"""Most links read from a file, 5 us each; sitemaps.org allows 50,000."""

MAX_STEPS: Final = 3
"""Steps from a page to its links by sitemaps: redirects, an index, a sitemap."""

MAX_ADMITTED: Final = 10_000
"""Most links offered per file, the best ones; as many as per page."""

_PIECE = 64 * 1024
_MAX_FAULTS = 1_000
_MAX_TEXT = 4_096
_MAX_DATE = 32
_GZIP = b"\x1f\x8b"
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_PROLOG = re.compile(
    r"\ufeff?\s*+(?:<\?[^>]*+>\s*+|<!--.*?-->\s*+|<!DOCTYPE\b[^>\[]*+>\s*+)*+"
    r"(?=<(?:[\w.-]++:)?(urlset|sitemapindex|rss|feed|rdf)\b)",
    re.DOTALL | re.IGNORECASE,
)
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\dA-Fa-f]{1,6});)")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]+")
_HTTP = re.compile("https?://", re.IGNORECASE)
_IANA = "http://www.iana.org/assignments/relation/"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_XML = re.compile(
    r"(?:text|application)/(?:[\w.-]++\+)?xml|application/(?:x-)?gzip|application/octet"
)

_ENTRY_OF: Final = {
    "urlset": "url",
    "sitemapindex": "sitemap",
    "rss": "item",
    "rdf": "item",
    "feed": "entry",
}
"""The root of a file -> its elements with links."""


class Sitemap(NamedTuple):
    """The links of a sitemap or a feed: normalised URLs, and whether they are in the language.

    Links are sorted by `lastmod`, newest first, undated links last. `is_index` is True for links to
    other sitemaps. `malformed` counts invalid URLs, `versions` entries left out for a link in the
    language. `is_cut` is True if the file was not read to its end.
    """

    links: dict[str, bool]
    is_index: bool = False
    malformed: int = 0
    is_cut: bool = False
    versions: int = 0


def may_be_sitemap(content_type: str | None) -> bool:
    """Return True if a Content-Type may belong to a sitemap or a feed, packed or not."""
    return _XML.match((content_type or "").strip().lower()) is not None


def read_sitemap(
    body: bytes, url: str, target: str | None = None, *, has_one_version: bool = False
) -> Sitemap | None:
    """Return the links of a sitemap or a feed fetched from `url`; None for any other body.

    The body decides, not the Content-Type. With a `target`, links with an `hreflang` of its
    languages and links of a feed in one of these are marked as declared. With `has_one_version`
    the other links of an entry with such an `hreflang` are left out.
    """
    data = _unpacked(body) if body.startswith(_GZIP) else body[:MAX_BYTES]
    if not _PROLOG.match(decode(data[:_PIECE]).text):
        return None
    text = decode(data).text
    prolog = _PROLOG.match(text)
    if prolog is None:  # the head alone had another encoding
        return None
    links = _Links(url, target, has_one_version=has_one_version)
    root = prolog[1].lower()
    is_cut = _read_xml(_mended(text[prolog.end() :]), root, links) or len(data) == MAX_BYTES
    is_index = root == "sitemapindex"
    return Sitemap(links.newest_first(), is_index, links.malformed, is_cut, links.versions)


def _unpacked(body: bytes) -> bytes:
    """Return a gzip file unpacked, as far as it is sound."""
    try:
        return unpacked(body, ["gzip"], MAX_BYTES)[:MAX_BYTES]
    except BrokenEncoding:
        return b""


def _mended(text: str) -> str:
    """Return XML with bare ampersands escaped, except in CDATA sections, and no control characters.

    libxml2 skips all that follows a bare ampersand.
    """
    first, *sections = _NOT_XML.sub("", text).split(_CDATA)
    parts = [_BARE_AMPERSAND.sub("&amp;", first)]
    for section in sections:
        inside, end, after = section.partition(_CDATA_END)
        parts += [_CDATA, inside, end, _BARE_AMPERSAND.sub("&amp;", after)]
    return "".join(parts)


class _Links:
    """The links so far: the first link to each URL, declared if any link to it is."""

    def __init__(self, base: str, target: str | None, *, has_one_version: bool) -> None:
        self.found: dict[str, bool] = {}
        self.malformed = self.versions = 0
        self.has_one_version = has_one_version
        self._dates: dict[str, str] = {}
        self._base, self._targets = base, frozenset(codes_of(target or ""))

    def is_target(self, tag: str) -> bool:
        return bool(tag) and not self._targets.isdisjoint(declared_languages(tag))

    def newest_first(self) -> dict[str, bool]:
        dates = self._dates
        return dict(sorted(self.found.items(), key=lambda link: dates[link[0]], reverse=True))

    def add(self, written: str, base: str | None, date: str, *, is_declared: bool) -> None:
        """Add a link by its URL as written; `base` is the element's base, None for the file's."""
        if len(self.found) >= MAX_LINKS:
            return
        url = normalise(written.strip(), base or self._base)
        if url is None:
            self.malformed += 1
        else:
            self.found[url] = self.found.get(url, False) or is_declared
            self._dates.setdefault(url, date)

    def base(self, *elements: etree._Element) -> str | None:
        """Return the base by `xml:base` of nested elements, the outermost first."""
        base = None
        for element in elements:
            written = element.get(_BASE, "")[:_MAX_TEXT]
            base = (normalise(written, base or self._base) if written else None) or base
        return base


class _Entries:
    """Parser events of a file's elements; an unclosed entry counts too.

    Only closed parts of an entry are read, since the text of an unclosed part may be cut.
    """

    def __init__(self, root: str, links: _Links) -> None:
        self._entry_name = _ENTRY_OF[root]
        self._links = links
        self._root: etree._Element | None = None
        self._entry: etree._Element | None = None
        self._parts: list[etree._Element] = []
        self._is_declared = False

    def begin(self, element: etree._Element) -> None:
        if self._root is None:
            self._root = element
            self._is_declared = self._links.is_target(element.get(_LANG, ""))
        elif _name(element) == self._entry_name:
            self.finish()
            self._entry = element

    def end(self, element: etree._Element) -> None:
        parent = element.getparent()
        if element is self._entry:
            self.finish()
        elif parent is not None and parent is self._entry:
            self._parts.append(element)
        elif _name(element) == "language" and parent is not None and _name(parent) == "channel":
            self._is_declared = self._links.is_target(_text(element))

    def finish(self) -> None:
        """Add the links of the open entry."""
        if self._entry is not None and self._root is not None:
            if not self._add(self._root, self._entry):
                self._links.malformed += 1
            self._entry.clear()
        self._entry, self._parts = None, []

    def _add(self, root: etree._Element, entry: etree._Element) -> bool:
        """Add the links of an entry; return False for an entry without links."""
        spoken = entry.get(_LANG)
        is_declared = self._links.is_target(spoken) if spoken else self._is_declared
        dates = [_text(part)[:_MAX_DATE] for part in self._parts if _name(part) == "lastmod"]
        written = list(filter(None, map(_link, self._parts)))
        written = written or list(filter(None, map(_permalink, [*self._parts, entry])))
        links = [
            (part, url, self._links.is_target(tag))
            for part, url, tag in written
            if tag.lower() != "x-default"
        ]
        kept = {url for _, url, in_target in links if in_target and self._links.has_one_version}
        if kept:
            self._links.versions += written[0][1] not in kept
        for part, url, in_target in links:
            if in_target or not kept:
                base = self._links.base(root, entry, part)
                declared = is_declared or in_target
                self._links.add(url, base, "".join(dates[:1]), is_declared=declared)
        return bool(written)


def _link(part: etree._Element) -> tuple[etree._Element, str, str] | None:
    """Return the URL and the `hreflang` of an entry's link element, or None."""
    name, url = _name(part), _text(part)
    if name == "link":
        relation = part.get("rel", "alternate").lower().removeprefix(_IANA)
        url = (part.get("href", "")[:_MAX_TEXT] or url) if relation == "alternate" else ""
    return (part, url, part.get("hreflang", "")) if url and name in ("loc", "link") else None


def _permalink(part: etree._Element) -> tuple[etree._Element, str, str] | None:
    """Return the URL of an entry without a link: a `guid` (RSS 2.0), or the entry's own text."""
    is_read = _name(part) in {"guid", *_ENTRY_OF.values()}
    is_read = is_read and part.get("isPermaLink", "true").lower() != "false"
    return (part, text, "") if is_read and _HTTP.match(text := _text(part)) else None


def _read_xml(text: str, root: str, links: _Links) -> bool:
    """Read the links; return True if there may be more."""
    parser = etree.XMLPullParser(
        ("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
    )
    data = text.encode("utf-8", "replace")
    entries, elements, is_cut = _Entries(root, links), 0, True
    with suppress(etree.LxmlError):
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            if b">" not in piece:
                break  # libxml2 takes the square of the length of a broken tag
            parser.feed(piece)
            for event, element in parser.read_events():
                elements += event == "start"
                (entries.begin if event == "start" else entries.end)(element)
            is_broken = len(parser.feed_error_log) > _MAX_FAULTS
            if is_broken or elements > MAX_ELEMENTS or len(links.found) >= MAX_LINKS:
                break
        else:
            is_cut = False
    entries.finish()
    return is_cut


def _name(element: etree._Element) -> str:
    """Return the name without its namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()


def _text(element: etree._Element) -> str:
    return (element.text or "").strip()[:_MAX_TEXT]


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The sitemaps of a crawl.

    Sitemap files count as expected in the language, since their hosts have a relevant page. So do
    links declared in a language of the `target`; None ignores declarations. With `has_one_version`
    other versions of their pages are left out.
    """

    ordering: Ordering
    robots: Robots
    files: HostFiles
    is_blocked: Callable[[str], bool]
    target: str | None = None
    has_one_version: bool = False

    def is_file(self, lease: Lease) -> bool:
        """Return True if a URL was chosen as a sitemap or a feed."""
        return self.files.has(lease.url)

    def read(self, lease: Lease, download: Download, now: float) -> Sitemap | None:
        """Return a download as a sitemap; None for any other file, or beyond the host budget."""
        one = self.has_one_version
        found = read_sitemap(download.body, download.url, self.target, has_one_version=one)
        return found if found and self.files.choose([lease.url], now) else None

    def may_lead(self, lease: Lease, url: str, now: float) -> bool:
        """Return True if a redirect may be followed: a sitemap file leads to a permitted file."""
        return not self.files.has(lease.url) or bool(self.files.choose([url], now))

    def of_page(self, lease: Lease, feeds: Sequence[str], now: float) -> list[Link]:
        """Return the sitemaps and feeds of a relevant page's host, the best first."""
        named = [url for url in map(normalise, feeds) if url]
        ranked = [*self._ranked(self.robots.sitemaps(lease.url)), *self._ranked(named)]
        return self._chosen(ranked, lease.depth, now)

    def of_file(
        self, lease: Lease, found: Sitemap, now: float
    ) -> tuple[list[Link], dict[str, int]]:
        """Return the links of a sitemap, the best first, and counts of skipped links by reason."""
        urls = list(found.links)
        if found.is_index:
            files = self._ranked(urls) if lease.redirects < MAX_STEPS else []
            left_out = {"ignored_url": found.malformed, "cut_long": found.is_cut}
            return self._chosen(files, lease.depth - 1, now), left_out
        wanted, left_out = sift(urls, self.is_blocked)
        left_out["ignored_url"] += found.malformed + max(0, len(wanted) - MAX_ADMITTED)
        left_out |= {"cut_long": found.is_cut, "ignored_version": found.versions}
        declared = {url for url in wanted if found.links[url]}
        return self._best(wanted, lease.depth - 1, declared)[:MAX_ADMITTED], left_out

    def _ranked(self, urls: Sequence[str]) -> list[str]:
        """Return the permitted files, ordered by the language score of their URLs."""
        wanted = [url for url in urls if not (has_bad_port(url) or self.is_blocked(url))]
        return [link.url for link in self._best(wanted, 0, ())]

    def _chosen(self, urls: Sequence[str], depth: int, now: float) -> list[Link]:
        chosen = self.files.choose(urls, now)
        return self._links(chosen, depth, set(chosen))

    def _best(self, urls: Sequence[str], depth: int, declared: Collection[str]) -> list[Link]:
        return sorted(self._links(urls, depth, declared), key=lambda link: -link.score)

    def _links(self, urls: Sequence[str], depth: int, declared: Collection[str]) -> list[Link]:
        source = LinkSource(is_relevant=True, depth=depth, declared=declared)
        return self.ordering.links(urls, source)
