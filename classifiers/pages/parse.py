"""Page parser: text, links and declared languages in a single pass.

page = parse_page(body, content_type="text/html; charset=utf-8", url="http://example.org/")
page.text, page.links, page.declarations
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.classifiers.pages.html.links import Resolver, kept_links
from langfocus.classifiers.pages.html.refresh import Refresh, read_refresh
from langfocus.classifiers.pages.html.tree import Element, RawPage, read

MAX_CHARACTERS = 2_000
"""Visible text characters kept. Longer text is sampled: pieces across the main text, and the start
of the surrounding text. A byte limit is no substitute: the first 64 kB often hold only head and
scripts."""

MAX_BYTES = 2_000_000
"""Bytes parsed per page; the rest is ignored."""

_TARGETS = {"a": "href", "area": "href", "frame": "src", "iframe": "src", "link": "href"}
_LINK_RELATIONS = frozenset({"alternate", "next", "prev", "previous"})
_DECLARING_META = {
    "content-language": "content-language",
    "language": "meta language",
    "dc.language": "dc.language",
    "dcterms.language": "dc.language",
    "og:locale": "og:locale",
}
_META_STATEMENTS = frozenset({"robots", "langfocus", "tdm-reservation", "tdm-policy"})
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_LICENSES = frozenset({"application/rsl+xml"})
_JSON_LANGUAGE = re.compile(rb"\"inLanguage\"\s*:\s*\"([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)\"")

_Attributes = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared language: the place of the declaration and the tag as written."""

    source: str
    tag: str


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """Page parts for identification and the crawl."""

    text: str
    """Visible text in reading order with single spaces, menus included.

    Without scripts, code, form fields and elements hidden by an attribute. The text of a long page
    is the menus, then pieces of the main text.
    """
    links: list[str]
    """Distinct absolute http(s) URLs without fragments, in document order."""
    dropped_links: int
    """Number of links that were too long, broken or too many."""
    charset: str
    charset_source: str
    """Evidence for `charset`: `bom`, `utf-8`, `http`, `meta`, `detected`, `ascii`."""
    declarations: tuple[Declaration, ...]
    """Declared languages, from the most to the least reliable."""
    parser: str
    """`lexbor`; `lexbor-cut` if the rest would take too long; `beautifulsoup` if lexbor fails."""
    canonical: str | None = None
    """The canonical URL that the page declares; None if absent."""
    charset_declared: str | None = None
    """WHATWG name of the encoding in META, whether believed or not; None if absent."""
    statements: tuple[tuple[str, str], ...] = ()
    """Lower-case names and contents of META elements about page use.

    Also `license`, with an RSL license URL (Really Simple Licensing).
    """
    nofollowed: frozenset[str] = frozenset()
    """The `links` with `rel=nofollow` on every element."""
    alternates: tuple[tuple[str, str], ...] = ()
    """URLs and language tags of the translations that the page links."""
    feeds: tuple[str, ...] = ()
    """URLs of RSS and Atom feeds, not among `links`."""
    refresh: Refresh | None = None
    """The first META refresh, with an absolute URL that is not among `links`."""
    prose: str = ""
    """Lines of the main text."""
    needs_browser: bool = False
    """True for a page with little text, which scripts would write in a browser."""
    document: str = ""
    """Of a document that is no HTML: `read`, or why there is no text (`documents.Document`)."""
    is_cut: bool = False
    """True for a document that is damaged, or has more than is read."""
    tagged: tuple[tuple[str, str], ...] = ()
    """URLs and language tags of other `a` elements with `hreflang`."""


def parse_page(
    body: bytes,
    *,
    content_type: str | None,
    url: str,
    content_language: str | None = None,
) -> ParsedPage:
    """Parse a page into text, links and declarations.

    `content_type` and `content_language` are HTTP header values, None if absent. Accepts any bytes
    and never raises. About 0.8 ms per 100 kB.
    """
    decoded = decode(body[:MAX_BYTES], content_type)
    raw = read(decoded.utf8, MAX_CHARACTERS)
    resolver = Resolver(_base(raw.elements, url), decoded.charset)
    kept, dropped = kept_links(filter(None, map(_target, raw.elements)), resolver)
    heads, metas = (
        [attributes for name, attributes in raw.elements if name == wanted]
        for wanted in ("link", "meta")
    )
    canonical = _canonical(heads, resolver)
    own = {url.partition("#")[0], canonical} - {None}
    alternates, tagged = _with_hreflang(raw.elements, kept)
    places = _declaring_places(raw, decoded.utf8, content_language, heads, metas, resolver, own)
    written = ((source, (tag or "").strip()) for source, tag in places)
    return ParsedPage(
        text=raw.text,
        links=list(dict.fromkeys(kept.values())),
        dropped_links=dropped + raw.unread,
        charset=decoded.charset,
        charset_source=decoded.source,
        declarations=tuple(Declaration(source, tag) for source, tag in written if tag),
        parser=raw.parser,
        canonical=canonical,
        charset_declared=decoded.declared,
        statements=(
            *_statements(metas),
            *(("license", url) for url in _linked(heads, resolver, "license", _LICENSES)),
        ),
        nofollowed=_nofollowed(raw.elements, kept),
        alternates=alternates,
        feeds=tuple(_linked(heads, resolver, "alternate", _FEEDS)),
        refresh=_refresh(metas, resolver),
        prose=raw.prose,
        needs_browser=raw.needs_browser,
        tagged=tagged,
    )


def _base(elements: list[Element], url: str) -> str:
    """Return the base URL for links: the first `base` if usable, else the page URL."""
    for name, attributes in elements:
        if name == "base":
            return Resolver(url).resolve(attributes.get("href") or "") or url
    return url


def _target(element: Element) -> str | None:
    """Return an element's link as written; None if the element links to no page."""
    name, attributes = element
    if name == "link":  # to a translation or a neighbour page, not to a feed
        kind = (attributes.get("type") or "text/html").lower()
        if _LINK_RELATIONS.isdisjoint(_relations(attributes)) or "html" not in kind:
            return None
    return attributes.get(_TARGETS.get(name, ""))


def _relations(attributes: _Attributes) -> list[str]:
    return (attributes.get("rel") or "").lower().split()


def _canonical(heads: list[_Attributes], resolver: Resolver) -> str | None:
    for attributes in heads:
        if "canonical" in _relations(attributes):
            return resolver.resolve(attributes.get("href") or "")
    return None


def _declaring_places(
    raw: RawPage,
    html: bytes,
    content_language: str | None,
    heads: list[_Attributes],
    metas: list[_Attributes],
    resolver: Resolver,
    own: set[str | None],
) -> Iterator[tuple[str, str | None]]:
    """Yield places that may declare the page's language, the most reliable first."""
    yield "html lang", raw.root.get("lang")
    yield "html xml:lang", raw.root.get("xml:lang")
    yield "body lang", raw.body.get("lang")
    yield "HTTP Content-Language", content_language
    for attributes in metas:
        for key in ("http-equiv", "name", "property"):
            source = _DECLARING_META.get((attributes.get(key) or "").strip().lower())
            if source:
                yield source, attributes.get("content")
    for attributes in heads:  # the page itself in its list of translations
        tag = _translation(attributes)
        if tag and resolver.resolve(attributes.get("href") or "") in own:
            yield "hreflang self", tag
    # The first structured data object (schema.org, JSON-LD) with a language.
    place = html.find(b'"inLanguage"')
    inside = _JSON_LANGUAGE.match(html, place) if place >= 0 else None
    yield "JSON-LD inLanguage", inside and inside[1].decode()


def _translation(attributes: _Attributes) -> str:
    """Return the language of the translation linked by an element; '' for `x-default`."""
    return _tag(attributes) if "alternate" in _relations(attributes) else ""


def _tag(attributes: _Attributes) -> str:
    tag = (attributes.get("hreflang") or "").strip()
    return "" if tag.lower() == "x-default" else tag


def _statements(metas: list[_Attributes]) -> Iterator[tuple[str, str]]:
    for attributes in metas:
        name = (attributes.get("name") or "").strip().lower()
        if name in _META_STATEMENTS:
            yield name, attributes.get("content") or ""


def _refresh(metas: list[_Attributes], resolver: Resolver) -> Refresh | None:
    for attributes in metas:
        if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            refresh = read_refresh(attributes.get("content"))
            url = refresh and resolver.resolve(refresh.url)
            if refresh and url:
                return Refresh(refresh.delay_s, url)
    return None


def _nofollowed(elements: list[Element], kept: Mapping[str, str]) -> frozenset[str]:
    """Return the kept links on which every element has `nofollow`."""
    relations = [attributes.get("rel") for _, attributes in elements]
    marks = ["nofollow" in relation.lower() if relation else False for relation in relations]
    if True not in marks:
        return frozenset()
    urls = [kept.get(_target(element) or "") for element in elements]
    followed = {url for url, is_marked in zip(urls, marks, strict=True) if not is_marked}
    return frozenset(url for url in urls if url is not None and url not in followed)


def _with_hreflang(
    elements: list[Element], kept: Mapping[str, str]
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the translations among the kept links, and the other `a` elements with a language."""
    alternates, tagged = [], []
    for name, attributes in elements:
        tag = "hreflang" in attributes and _tag(attributes)
        if tag and (url := kept.get(attributes.get("href") or "")):
            if "alternate" in _relations(attributes):
                alternates.append((url, tag))
            elif name == "a":
                tagged.append((url, tag))
    return tuple(alternates), tuple(tagged)


def _linked(
    heads: list[_Attributes], resolver: Resolver, relation: str, kinds: frozenset[str]
) -> Iterator[str]:
    for attributes in heads:
        kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
        if kind in kinds and relation in _relations(attributes):
            url = resolver.resolve(attributes.get("href") or "")
            if url is not None:
                yield url
