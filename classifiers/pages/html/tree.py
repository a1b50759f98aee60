"""The parts of a page that identification and the crawl need, from one tree.

lexbor reads a page in the same way as browsers, at 250 MB/s. Of a page with too many open elements
or attributes it reads the beginning. A page for which lexbor raises is written anew by
BeautifulSoup.
"""

import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.pages.charset.twice import repaired
from langfocus.classifiers.pages.html.prose import PIECES, texts_of

MAX_SOUP_BYTES = 50_000
"""Bytes of a page that BeautifulSoup reads: 0.05 s, or 0.2 s if every closing tag is wrong."""

MAX_ELEMENTS = 12_000
"""Elements with links or metadata that are read; further ones are counted as dropped links."""

MOST_TAGS = 80_000
"""Tags that are read of a page, four times as many as in any of 1,546 real pages."""

# A tag may be compared with all open elements, and each unclosed formatting element is made again
# in each block that follows: nanoseconds for each of them and each tag after it. 0 for elements
# that have no content or end with the next of their kind.
_OPEN, _OPEN_FORMATTING, _MOST_NS = 10, 1_500, 500_000_000
_COSTS = {
    **dict.fromkeys(
        b"html body a area base br col embed hr img input link meta param source track wbr p li"
        b" dt dd tr td th tbody thead tfoot option optgroup".split(),
        0,
    ),
    **dict.fromkeys(
        b"b big code em font i nobr s small strike strong tt u".split(), _OPEN_FORMATTING
    ),
}
_TAG = re.compile(rb"<(/?[a-zA-Z][^\s/>]*)")
_HARMLESS_TAGS = 2_000

# lexbor compares each attribute with all others of its tag. A page that is not small is read up to
# a tag of `_MOST_ATTRIBUTES`, which takes 15 ms.
_MOST_ATTRIBUTES = 3_000
SMALL_BYTES = 50_000
_LESS, _GREATER, _SLASH, _EQUALS, _QUOTE, _APOSTROPHE = b"<>/=\"'"
_STEP = 500
# The attributes of further tags are added to the first; 7 are the most in 1,546 real pages.
_ROOTS, _MOST_ROOTS = re.compile(rb"<(?:html|body)\b", re.IGNORECASE), 16

Element = tuple[str, dict[str, str | None]]
Octets = NDArray[np.uint8]

_WANTED = "a[href],area[href],frame[src],iframe[src],link[href],base[href],meta"

_NO_TEXT = "script style noscript noframes noembed iframe textarea template rp".split()
# Elements that the page may hide by an attribute.
_HIDING = "[hidden],[aria-hidden=true],[style*=none i],[style*=hidden i],dialog"
_HIDING_STYLE = re.compile(r"display:none|visibility:hidden")
_MOST_STYLE = 1_000
# A page with fewer characters beside them is read with what it hides.
_FEWEST = 100

_HIDDEN = (
    "head title script style noscript template code kbd samp option textarea"
    " iframe svg math rp noframes noembed"
)
# Elements that occur inside words; every other one separates the text around it.
_INSIDE_WORDS = "b i em strong u s font wbr nobr mark big small sub sup tt"

_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)\b")
# In feeds, and if letters of other scripts follow later, this many times more text is read, and
# this many pieces of it are kept.
_SAMPLED = 20

# Most nodes that are searched for text, 20 ms; a page has no useful text after these.
_MAX_NODES = 50_000


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page before its links are resolved.

    `elements` are the elements with links and metadata in document order, each a name and its
    attributes (of `a` only `href`, and `rel` and `hreflang` if the page has the words nofollow or
    hreflang); `unread` counts those beyond `MAX_ELEMENTS`. `root` and `body` are the attributes of
    `html` and `body`; `parser` is `lexbor`, `lexbor-cut` or `beautifulsoup`.
    """

    text: str = ""
    prose: str = ""
    title: str = ""
    root: dict[str, str | None] = field(default_factory=dict)
    body: dict[str, str | None] = field(default_factory=dict)
    elements: list[Element] = field(default_factory=list)
    unread: int = 0
    parser: str = "lexbor"


def affordable(html: bytes) -> bytes:
    """The page, or its beginning whose tags take about half a second to parse.

    A page that is not cut is the same object.
    """
    if len(html) > SMALL_BYTES:
        before = _before_many(np.frombuffer(html, np.uint8))
        html = html if before == len(html) else html[:before]
    if root := next(islice(_ROOTS.finditer(html), _MOST_ROOTS, None), None):
        html = html[: root.start()]
    if np.count_nonzero(np.frombuffer(html, np.uint8) == ord("<")) < _HARMLESS_TAGS:
        return html
    tags, opened, cost = _TAG.findall(html), Counter[bytes](), 0
    for first in range(0, len(tags), _STEP):
        for tag, number in Counter(tags[first : first + _STEP]).items():
            opened[tag.lstrip(b"/").lower()] += -number if tag.startswith(b"/") else number
        opened = +opened  # an end tag without an element ends none
        cost += _STEP * sum(_COSTS.get(name, _OPEN) * number for name, number in opened.items())
        if cost > _MOST_NS or first >= MOST_TAGS:
            return html[: next(islice(_TAG.finditer(html), first, None)).start()]
    return html


@compiled
def _before_many(html: Octets) -> int:
    """Where a tag begins that has too many attributes; the end of the page if none has.

    Attributes are told apart as in HTML, 13.2.5.32 to 13.2.5.39.
    """
    at, end = 0, len(html)
    while at < end:
        tag, count = at, 0
        at += 1
        if html[tag] != _LESS:
            continue
        name = at + int(at < end and html[at] == _SLASH)
        if name < end and 97 <= html[name] | 32 <= 122:
            at = _word_end(html, name, _SLASH, _GREATER)
            while True:
                while at < end and (html[at] == _SLASH or _is_space(html[at])):
                    at += 1
                if at == end or html[at] == _GREATER:
                    break
                count += 1
                if count > _MOST_ATTRIBUTES:
                    return tag
                at = _attribute_end(html, at)
    return end


@inlined
def _attribute_end(html: Octets, at: int) -> int:
    """Where an attribute ends that begins with the octet at a place."""
    at = _word_end(html, at + 1, _SLASH, _EQUALS)
    value = _spaces_end(html, at)
    if value == len(html) or html[value] != _EQUALS:
        return at
    value = _spaces_end(html, value + 1)
    if value < len(html) and html[value] in (_QUOTE, _APOSTROPHE):
        for closing in range(value + 1, len(html)):
            if html[closing] == html[value]:
                return closing + 1
        return value  # a quote that nothing closes begins a name
    return _word_end(html, value, _GREATER, _GREATER)


@inlined
def _word_end(html: Octets, at: int, one: int, other: int) -> int:
    """Where a space, the end of a tag or one of two other signs follows."""
    while at < len(html) and not _is_space(html[at]):
        if html[at] in (_GREATER, one, other):
            break
        at += 1
    return at


@inlined
def _spaces_end(html: Octets, at: int) -> int:
    while at < len(html) and _is_space(html[at]):
        at += 1
    return at


@inlined
def _is_space(octet: int) -> bool:
    return octet == 0x20 or 9 <= octet <= 13


def read(html: bytes, max_characters: int) -> RawPage:
    """The parts of a page given in UTF-8; `text` is at most `max_characters` long."""
    kept = affordable(html)
    with suppress(Exception):
        return _read_lexbor(kept, max_characters, "lexbor" if kept is html else "lexbor-cut")
    return _read_anew(kept, max_characters)


def _read_lexbor(html: bytes, max_characters: int, parser: str) -> RawPage:
    tree = LexborHTMLParser(html, scripting=True)
    root = tree.root
    if root is None:
        return RawPage(parser=parser)
    body = tree.body
    title = tree.css_first("title")
    nodes = tree.css(_WANTED)
    # META may forbid to follow links: each of them is read.
    kept = nodes[:MAX_ELEMENTS] + [node for node in nodes[MAX_ELEMENTS:] if node.tag == "meta"]
    lower = html.lower()
    is_qualified = b"nofollow" in lower or b"hreflang" in lower
    of_links = ("href", "rel", "hreflang") if is_qualified else ("href",)
    page = RawPage(
        title=_tidy(title.text(), 300) if title is not None else "",
        root=root.attributes,
        body=body.attributes if body is not None else {},
        elements=[_element(node, of_links) for node in kept],
        unread=len(nodes) - len(kept),
        parser=parser,
    )
    shown = root if body is None else body
    hides = _remove_hidden(shown)
    text, prose = _texts(shown, html, max_characters)
    if hides and len(text) < _FEWEST:
        shown = LexborHTMLParser(html, scripting=True).body or shown
        text, prose = _texts(shown, html, max_characters)
    if repaired(text) is not text:
        # Single spaces have cost letters: a no-break space may be the second half of one.
        whole = repaired((shown.html or "").replace("&nbsp;", "\xa0"))
        text, prose = _texts(LexborHTMLParser(whole).body or shown, html, max_characters)
    return replace(page, text=text, prose=prose)


def _remove_hidden(root: LexborNode) -> bool:
    """Remove scripts, forms and the elements that an attribute hides; whether there are such."""
    hides = False
    for node in reversed(root.css(",".join((*_NO_TEXT, _HIDING)))):  # inner elements are later ones
        is_text = node.tag not in _NO_TEXT
        if node.mem_id != root.mem_id and (not is_text or _is_hidden(node)):
            hides |= is_text
            node.decompose()
    return hides


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attrs
    if node.tag == "dialog":
        return "open" not in attributes
    if "hidden" in attributes:
        return attributes["hidden"] != "until-found"
    if attributes.get("aria-hidden") == "true":
        return True
    style = (attributes.get("style") or "")[:_MOST_STYLE]
    return _HIDING_STYLE.search("".join(style.lower().split())) is not None


def _element(node: LexborNode, of_links: tuple[str, ...]) -> Element:
    """An element; an `a` has only the attributes `of_links`."""
    if node.tag == "a":
        attributes = node.attrs
        return "a", {key: attributes.get(key) for key in of_links}
    return str(node.tag), node.attributes


def _texts(root: LexborNode, html: bytes, limit: int) -> tuple[str, str]:
    """The visible text, or parts of a longer one, and the main text in it.

    A page with much main text is read from its beginning to its end; so is a feed, which may begin
    with a page of English before its own language.
    """
    most = limit - limit // 4
    prose, around = texts_of(root, most)
    if prose and len(prose) + len(around) >= limit:
        lines = prose.replace("\n", " ")
        return f"{_tidy(around, limit - len(lines) - 1)} {lines}".strip(), prose
    text = _visible(root, limit)
    added = " ".join(line for line in prose.split("\n") if line not in text)
    if added:
        text = _tidy(f"{text[: limit - len(added) - 1]} {added}", limit)
    elif len(text) == limit and _FEED.search(html, 0, 1_000):
        whole = _visible(root, _SAMPLED * limit)
        size, step = limit // PIECES, max(len(whole), limit) // PIECES
        text = _tidy(" ".join(whole[at * step : at * step + size] for at in range(PIECES)), limit)
    return text, prose


def _visible(root: LexborNode, limit: int) -> str:
    """Visible text under a node, with a space at each edge that separates words.

    A loop, not a recursion, since pages may nest deeply. Each node costs 0.2 us.
    """
    hidden, inside_words, text = _kinds()
    parts: list[str] = []
    found = 0
    is_apart = True
    goes_on_at = 0
    for node in islice(root.traverse(include_text=True), _MAX_NODES):
        if goes_on_at:
            if node.mem_id != goes_on_at:
                continue
            goes_on_at = 0
        kind = node.tag_id
        if not is_apart and (kind not in inside_words or _follows_edge(node, inside_words)):
            parts.append(" ")
            is_apart = True
        if kind == text:
            piece = node.text_content or ""
            parts.append(piece if len(piece) <= 4 * limit else " " + piece.lstrip()[: 4 * limit])
            is_apart = False
            found += len(piece.strip())
            if found > limit:
                break
        elif kind in hidden and node.first_child is not None:
            following = _following(node, root)
            if following is None:
                break
            goes_on_at = following.mem_id
    return _tidy("".join(parts), limit)


def _follows_edge(node: LexborNode, inside_words: frozenset[int]) -> bool:
    """Whether an element that separates words ends just before a node."""
    before = node.prev
    while before is not None:
        if before.tag_id not in inside_words:
            return True
        before = before.last_child
    return False


def _following(node: LexborNode, root: LexborNode) -> LexborNode | None:
    """The next node in document order that is not inside `node`."""
    here: LexborNode | None = node
    while here is not None and here.mem_id != root.mem_id:
        sibling = here.next
        if sibling is not None:
            return sibling
        here = here.parent
    return None


@cache
def _kinds() -> tuple[frozenset[int], frozenset[int], int]:
    """Lexbor's numbers of hidden tags, of tags that do not separate words, and of text."""
    tree = LexborHTMLParser("text<!-- -->")
    nodes = tree.css("body")[0].traverse(include_text=True)
    number = {node.tag: node.tag_id for node in nodes}
    hidden, inline = (
        frozenset(tree.create_node(name).tag_id for name in names.split())
        for names in (_HIDDEN, _INSIDE_WORDS)
    )
    return hidden, inline | {number["-text"], number["-comment"]}, number["-text"]


def _read_anew(html: bytes, max_characters: int) -> RawPage:
    """A page that lexbor refuses, as BeautifulSoup writes its beginning; empty if both refuse."""
    from bs4 import BeautifulSoup

    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        written = str(BeautifulSoup(html[:MAX_SOUP_BYTES].decode("utf-8", "replace"), "lxml"))
        return _read_lexbor(written.encode("utf-8", "replace"), max_characters, "beautifulsoup")
    return RawPage(parser="beautifulsoup")


def _tidy(text: str, limit: int) -> str:
    """A text with single spaces, cut to `limit` characters."""
    return " ".join(text.split())[:limit]
