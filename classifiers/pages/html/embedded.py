"""The files that a page or a style sheet embeds: style sheets, scripts, images, media, frames.

A browser needs them to show the page. Scripts are not run: files that a script alone names are
not found, except those of the usual attributes of lazy loading.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.classifiers.pages.html.links import MAX_URL_LENGTH, Resolver
from langfocus.classifiers.pages.html.tree import affordable

MAX_BYTES: Final = 2_000_000
"""Bytes read of a page or a style sheet."""

MOST: Final = 2_000
"""Files of a page or a style sheet that are returned."""

_RELATIONS: Final = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed mask-icon manifest preload"
    " modulepreload".split()
)
_FIRST: Final = "link[href],link[imagesrcset],style,[style]"
_OTHERS: Final = (
    "script[src],img,source,input[src],audio[src],video,track[src],embed[src],object[data],"
    "[background],image,use,iframe,frame[src]"
)
_FRAMES: Final = ("iframe", "frame")
_SETS: Final = ("srcset", "imagesrcset", "data-srcset")
_URLS: Final = ("src", "data-src", "data", "poster", "background", "href", "xlink:href")

# A comment, a namespace or a text, which embed nothing, or `url(...)`, or the text of an `@import`.
_CSS: Final = re.compile(
    r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|@namespace[^;{}]*+"
    r"|(?:\burl\(\s*+|@import\s*+)"
    r"(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'|(?<=[(\s])([^()\"'\s;]++)\s*+\))"
    r"|\"(?:[^\"\\\n]|\\.?)*+\"?|'(?:[^'\\\n]|\\.?)*+'?",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
# A candidate of srcset is a URL, then descriptors up to a comma; a URL may have commas inside.
_CANDIDATE: Final = re.compile(r"[\s,]*+(\S++)([^,]*+)")


def embedded_in_page(body: bytes, content_type: str | None, url: str) -> dict[str, bool]:
    """Return the absolute URLs that a page embeds, those of style sheets first.

    The value is True for a frame, whose document may embed further files.
    """
    decoded = decode(body[:MAX_BYTES], content_type)
    tree = LexborHTMLParser(affordable(decoded.utf8))
    base = tree.css_first("base[href]")
    found = base and Resolver(url).resolve(base.attributes.get("href") or "")
    links = (
        (link, node.tag in _FRAMES)
        for group in (_FIRST, _OTHERS)
        for node in tree.css(group)
        for link in _of(node)
    )
    return _distinct(links, Resolver(found or url, decoded.charset), url)


def embedded_in_css(text: str, url: str) -> dict[str, bool]:
    """Return the absolute URLs that a style sheet embeds or imports; none is a frame."""
    return _distinct(((link, False) for link in _in_css(text)), Resolver(url), url)


def _distinct(links: Iterable[tuple[str, bool]], resolver: Resolver, own: str) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for link, is_frame in links:
        url = resolver.resolve(link) if 0 < len(link) <= MAX_URL_LENGTH else None
        if url and link.lstrip()[:1] != "#" and url != own:
            found.setdefault(url, is_frame)
        if len(found) >= MOST:
            break
    return found


def _of(node: LexborNode) -> Iterator[str]:
    """Yield the URLs that an element embeds, as written."""
    attributes, name = node.attributes, node.tag
    if name == "style":
        yield from _in_css(node.text())
    if style := attributes.get("style"):
        yield from _in_css(style)
    is_link = name == "link"
    if is_link and _RELATIONS.isdisjoint((attributes.get("rel") or "").lower().split()):
        return
    for key in _SETS:
        if candidates := attributes.get(key):
            yield from _in_srcset(candidates)
    for key in _URLS:
        has_key = key not in ("href", "xlink:href") or is_link or name in ("image", "use")
        if has_key and (link := attributes.get(key)):
            yield link


def _in_srcset(text: str) -> Iterator[str]:
    place = 0
    while match := _CANDIDATE.match(text, place):
        link = match[1]
        ends_here = link.endswith(",")  # a URL without descriptors
        place = match.end(1) if ends_here else match.end()
        yield link.rstrip(",")


def _in_css(text: str) -> Iterator[str]:
    for match in _CSS.finditer(text[:MAX_BYTES]):
        if link := match[1] or match[2] or match[3]:
            yield _ESCAPE.sub(_letter, link)


def _letter(escape: re.Match[str]) -> str:
    number = int(escape[1], 16) if escape[1] else 0
    if escape[2]:
        return "" if escape[2] == "\n" else escape[2]
    is_letter = 0 < number < 0x110000 and not 0xD800 <= number < 0xE000
    return chr(number) if is_letter else "\ufffd"
