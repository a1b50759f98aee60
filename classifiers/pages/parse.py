"""Parses a page once: its text, its links and the languages that it declares.

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
"""Characters of visible text that are kept: of a longer one, pieces of the main text from all of it
and the beginning of the text around it. Bytes of the page are not a measure: its first 64 kB often
hold only head and scripts."""

MAX_BYTES = 2_000_000
"""Bytes of a page that are parsed; the rest is ignored."""

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
    """A language that a page declares: the place of the declaration and the tag as written."""

    source: str
    tag: str


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """The parts of a page that identification and the crawl use.

    `text` is the visible text in reading order with single spaces, menus included, without
    scripts, code, fields of forms and elements that an attribute hides; of a long page the menus
    come first, then pieces of the main text. `prose` are the lines of the main text.
    `links` are absolute http(s) URLs without fragments, each
    once, in document order; `dropped_links` counts those that were too long, broken or too many.
    `declarations` go from the most to the least reliable. `charset_source` is the
    evidence for `charset` (`bom`, `utf-8`, `http`, `meta`, `detected`, `ascii`). `statements` are
    the names and contents of META elements about the use of the page, names in lower case,
    and `license` with the URL of a license of RSL (Really Simple Licensing).
    `nofollowed` are those of `links` to which every element says `rel=nofollow`. `alternates` are
    the translations that the page names, and the language tag of each. `feeds` are the URLs of its
    RSS and Atom feeds, which are not among the links. `refresh` is its first META refresh, with an
    absolute URL, which is not among the links either.
    `charset_declared` is the WHATWG name of the encoding in META, whether it was believed or not;
    None if there is none. `canonical` is the URL that the
    page gives as its own; None if there is none. `parser` is `lexbor`; `lexbor-cut` if the
    rest would take too long; `beautifulsoup` if lexbor cannot read the page.
    """

    text: str
    links: list[str]
    dropped_links: int
    charset: str
    charset_source: str
    declarations: tuple[Declaration, ...]
    parser: str
    canonical: str | None = None
    charset_declared: str | None = None
    statements: tuple[tuple[str, str], ...] = ()
    nofollowed: frozenset[str] = frozenset()
    alternates: tuple[tuple[str, str], ...] = ()
    feeds: tuple[str, ...] = ()
    refresh: Refresh | None = None
    prose: str = ""


def parse_page(
    body: bytes,
    *,
    content_type: str | None,
    url: str,
    content_language: str | None = None,
) -> ParsedPage:
    """The text, links and declarations of a page.

    `content_type` and `content_language` are the values of the HTTP headers, None if there is
    none. Any bytes give a page; nothing raises. About 0.8 ms per 100 kB.
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
        alternates=tuple(_alternates(raw.elements, kept)),
        feeds=tuple(_linked(heads, resolver, "alternate", _FEEDS)),
        refresh=_refresh(metas, resolver),
        prose=raw.prose,
    )


def _base(elements: list[Element], url: str) -> str:
    """The base URL of the links: the first `base` if it is a usable URL, else the page."""
    for name, attributes in elements:
        if name == "base":
            return Resolver(url).resolve(attributes.get("href") or "") or url
    return url


def _target(element: Element) -> str | None:
    """The link of an element as it is written; None if it is no link to a page."""
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
    """Yield the places that may declare the language of a page, the most reliable first."""
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
    # The first object of structured data (schema.org, JSON-LD) that has a language.
    place = html.find(b'"inLanguage"')
    found = _JSON_LANGUAGE.match(html, place) if place >= 0 else None
    yield "JSON-LD inLanguage", found and found[1].decode()


def _translation(attributes: _Attributes) -> str:
    """The language of the translation to which an element leads; `x-default` names none."""
    tag = (attributes.get("hreflang") or "").strip()
    is_one = tag and tag.lower() != "x-default" and "alternate" in _relations(attributes)
    return tag if is_one else ""


def _statements(metas: list[_Attributes]) -> Iterator[tuple[str, str]]:
    for attributes in metas:
        name = (attributes.get("name") or "").strip().lower()
        if name in _META_STATEMENTS:
            yield name, attributes.get("content") or ""


def _refresh(metas: list[_Attributes], resolver: Resolver) -> Refresh | None:
    for attributes in metas:
        if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = read_refresh(attributes.get("content"))
            url = found and resolver.resolve(found.url)
            if found and url:
                return Refresh(found.delay_s, url)
    return None


def _nofollowed(elements: list[Element], kept: Mapping[str, str]) -> frozenset[str]:
    """The kept links that no element gives without `nofollow`."""
    relations = [attributes.get("rel") for _, attributes in elements]
    marks = ["nofollow" in each.lower() if each else False for each in relations]
    if True not in marks:
        return frozenset()
    urls = [kept.get(_target(element) or "") for element in elements]
    followed = {url for url, is_marked in zip(urls, marks, strict=True) if not is_marked}
    return frozenset(url for url in urls if url is not None and url not in followed)


def _alternates(elements: list[Element], kept: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The translations among the kept links."""
    for _, attributes in elements:
        tag = attributes.get("hreflang") and _translation(attributes)
        if tag and (url := kept.get(attributes.get("href") or "")):
            yield url, tag


def _linked(
    heads: list[_Attributes], resolver: Resolver, relation: str, kinds: frozenset[str]
) -> Iterator[str]:
    for attributes in heads:
        kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
        if kind in kinds and relation in _relations(attributes):
            url = resolver.resolve(attributes.get("href") or "")
            if url is not None:
                yield url
