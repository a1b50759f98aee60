"""Page parts for identification and the crawl, from a single parse tree.

lexbor parses pages as browsers do, at 250 MB/s. Pages with too many open elements or attributes are
cut. Pages on which lexbor raises are rewritten by BeautifulSoup.
"""

import math
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.pages.charset.twice import repaired
from langfocus.classifiers.pages.html.prose import PIECES, texts_of
from langfocus.classifiers.pages.html.shell import (
    MOST_TEXT,
    is_page_text,
    is_shell,
    without_scripting,
)

MAX_SOUP_BYTES = 50_000
"""Bytes of a page parsed by BeautifulSoup: 0.05 s, or 0.2 s if every closing tag is wrong."""

MAX_ELEMENTS = 12_000
"""Elements with links or metadata kept; further elements are counted as dropped links."""

MOST_TAGS = 80_000
"""Tags parsed per page, four times the most in 1,546 real pages."""

# lexbor may compare a tag with every open element, and reopens each unclosed formatting element in
# every following block: nanoseconds per open element and following tag. 0 for elements without
# content, or closed by the next element of the same kind.
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
HARMLESS_TAGS = 2_000
"""Tags of a page that is parsed without an estimate of its cost."""
# Odd factor of the tag name hash.
_FACTOR = 0x9E3779B97F4A7C15

# lexbor compares every pair of attributes in a tag. A large page is parsed up to a tag with
# `_MOST_ATTRIBUTES`, which takes 15 ms.
_MOST_ATTRIBUTES = 3_000
SMALL_BYTES = 50_000
_LESS, _GREATER, _SLASH, _EQUALS, _QUOTE, _APOSTROPHE = b"<>/=\"'"
_STEP = 500
# Attributes of repeated tags html and body are added to the first; at most 7 repeat in 1,546 real
# pages.
_MOST_ROOTS = 16

Element = tuple[str, dict[str, str | None]]
Octets = NDArray[np.uint8]
Places = NDArray[np.int64]
Names = NDArray[np.uint64]
Costs = NDArray[np.float64]
Slots = NDArray[np.int32]

_WANTED = "a[href],area[href],frame[src],iframe[src],link[href],base[href],meta,main"

_NO_TEXT = "script style noscript noframes noembed iframe textarea template rp".split()
# Elements possibly hidden by an attribute.
_HIDING = "[hidden],[aria-hidden=true],[style*=none i],[style*=hidden i],dialog"
# Consent dialogs and forms, by the usual names on sites in any language.
_FORMS = "[role$=dialog],[id*=ookie],[class*=ookie],[id*=onsent],[class*=onsent]"
_FORM_NAMES = re.compile("[Cc]ookie|[Cc]onsent|dialog ")
_CONTENT = "h1,article,main"
_HIDING_STYLE = re.compile(r"display:none|visibility:hidden")
_MOST_STYLE = 1_000
# A page with fewer visible characters is read with the hidden elements.
_FEWEST = 100

_HIDDEN = (
    "head title script style noscript template code kbd samp option textarea"
    " iframe svg math rp noframes noembed"
)
# Elements inside words; any other element separates the surrounding text.
_INSIDE_WORDS = "b i em strong u s font wbr nobr mark big small sub sup tt"

_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)\b")
# In feeds, and if letters of other scripts follow later, so many times more text is read, and so
# many pieces are kept.
_SAMPLED = 20

# Nodes searched for text at most, 20 ms; later nodes have no useful text.
_MAX_NODES = 50_000


@dataclass(frozen=True, slots=True)
class RawPage:
    """A parsed page with unresolved links."""

    text: str = ""
    prose: str = ""
    title: str = ""
    root: dict[str, str | None] = field(default_factory=dict)
    """Attributes of `html`."""
    body: dict[str, str | None] = field(default_factory=dict)
    """Attributes of `body`."""
    elements: list[Element] = field(default_factory=list)
    """Name and attributes of the elements with links and metadata, in document order."""
    unread: int = 0
    """Number of elements beyond `MAX_ELEMENTS`."""
    parser: str = "lexbor"
    """`lexbor`, `lexbor-cut` or `beautifulsoup`."""
    needs_browser: bool = False
    """True for a page with little text, which scripts would write in a browser."""


def affordable(html: bytes) -> bytes:
    """Cut a page before its tags take more than about half a second to parse.

    An uncut page is the same object.
    """
    octets = np.frombuffer(html, np.uint8)
    places, end = np.flatnonzero(octets == _LESS), len(html)
    if end > SMALL_BYTES:
        end = _before_many(octets, places)
    end = _before_root(octets[:end], places)
    places = places[: np.searchsorted(places, end)]
    if len(places) >= HARMLESS_TAGS:
        end = _before_costly(octets[:end], places, *_costs())
    return html if end == len(html) else html[:end]


@cache
def _costs() -> tuple[Names, Costs]:
    """Return the hashed names and the costs, for tags with a specific cost."""
    return np.array(list(map(_number, _COSTS)), np.uint64), np.array(list(_COSTS.values()), float)


def _number(name: bytes) -> int:
    number = 0
    for octet in name:
        number = (number * _FACTOR + octet) % (1 << 64)
    return number


@compiled
def _before_many(html: Octets, places: Places) -> int:
    """Return the start of a tag with too many attributes, else the page end.

    `places` are the positions of every sign "<". Attributes are split as in HTML, 13.2.5.32 to
    13.2.5.39.
    """
    at, end = 0, len(html)
    for tag in places:
        name = tag + 1 + int(tag + 1 < end and html[tag + 1] == _SLASH)
        if tag < at or name >= end or not _is_letter(html[name]):
            continue
        at, count = _word_end(html, name, _SLASH, _GREATER), 0
        while True:
            while at < end and (html[at] == _SLASH or _is_space(html[at])):
                at += 1
            if at == end or html[at] == _GREATER:
                break
            count += 1
            if count > _MOST_ATTRIBUTES:
                return int(tag)
            at = _attribute_end(html, at)
    return end


@compiled
def _before_root(html: Octets, places: Places) -> int:
    """Return the start of the first tag html or body beyond the limit, else the page end."""
    count = 0
    for tag in places:
        after = tag + 5
        if after > len(html):
            break
        a, b, c, d = html[tag + 1] | 32, html[tag + 2] | 32, html[tag + 3] | 32, html[tag + 4] | 32
        is_html = a == 0x68 and b == 0x74 and c == 0x6D and d == 0x6C
        is_body = a == 0x62 and b == 0x6F and c == 0x64 and d == 0x79
        if (is_html or is_body) and (after == len(html) or not _is_word(html[after])):
            count += 1
            if count > _MOST_ROOTS:
                return int(tag)
    return len(html)


@compiled
def _before_costly(html: Octets, places: Places, names: Names, costs: Costs) -> int:
    """Return the start of the tag step that exceeds the time limit, else the page end."""
    most = len(names) + len(places)
    n_names, n_slots = 0, 1 << int(math.log2(most) + 2)
    slots = np.full(n_slots, -1, np.int32)
    known, opened = np.empty(most, np.uint64), np.zeros(most, np.int64)
    ns = np.full(most, float(_OPEN))
    for name in range(len(names)):
        known[name], ns[name] = names[name], costs[name]
        slots[_slot(names[name], known, slots)] = name
    n_names, n_tags, first, past, cost = len(names), 0, 0, 0, 0.0
    for number in range(len(places) + 1):
        is_last = number == len(places)
        at = len(html) if is_last or places[number] < past else places[number] + 1
        is_end = at < len(html) and html[at] == _SLASH
        at += int(is_end)
        is_tag = at < len(html) and _is_letter(html[at])
        if n_tags and (is_last or (is_tag and n_tags % _STEP == 0)):
            for name in range(n_names):
                opened[name] = max(opened[name], 0)  # an end tag without an element ends none
                cost += _STEP * ns[name] * opened[name]
            if cost > _MOST_NS or n_tags - 1 >= MOST_TAGS + (n_tags - 1) % _STEP:
                return first
        if is_tag:
            if n_tags % _STEP == 0:
                first = int(places[number])
            n_tags += 1
            past, key = _tag_name(html, at)
            slot = _slot(key, known, slots)
            if slots[slot] < 0:
                known[n_names], slots[slot] = key, n_names
                n_names += 1
            opened[slots[slot]] += -1 if is_end else 1
    return len(html)


@inlined
def _tag_name(html: Octets, at: int) -> tuple[int, np.uint64]:
    """Return the end of a tag name, and the lower-case name as a number."""
    key = np.uint64(0)
    while at < len(html) and html[at] not in (_SLASH, _GREATER) and not _is_space(html[at]):
        octet = html[at] | 32 if 65 <= html[at] <= 90 else html[at]
        key = key * np.uint64(_FACTOR) + np.uint64(octet)
        at += 1
    return at, key


@inlined
def _slot(name: np.uint64, known: Names, slots: Slots) -> int:
    """Return the name's slot, or the free slot for an unknown name."""
    slot = int((name * np.uint64(_FACTOR)) >> np.uint64(40)) & (len(slots) - 1)
    while slots[slot] >= 0 and known[slots[slot]] != name:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inlined
def _is_letter(octet: int) -> bool:
    return 97 <= octet | 32 <= 122


@inlined
def _is_word(octet: int) -> bool:
    return _is_letter(octet) or 48 <= octet <= 57 or octet == 0x5F


@inlined
def _attribute_end(html: Octets, at: int) -> int:
    """Return the end of the attribute that starts at a position."""
    at = _word_end(html, at + 1, _SLASH, _EQUALS)
    value = _spaces_end(html, at)
    if value == len(html) or html[value] != _EQUALS:
        return at
    value = _spaces_end(html, value + 1)
    if value < len(html) and html[value] in (_QUOTE, _APOSTROPHE):
        for closing in range(value + 1, len(html)):
            if html[closing] == html[value]:
                return closing + 1
        return value  # an unclosed quote starts a name
    return _word_end(html, value, _GREATER, _GREATER)


@inlined
def _word_end(html: Octets, at: int, one: int, other: int) -> int:
    """Return the next position with a space, a tag end or either given sign."""
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
    """Parse a page in UTF-8; `text` has at most `max_characters`; raises MemoryError."""
    kept = affordable(html)
    try:
        page = _read_lexbor(kept, max_characters, "lexbor" if kept is html else "lexbor-cut")
        return page if len(page.text) >= MOST_TEXT else _read_short(page, kept, max_characters)
    except MemoryError:
        raise
    except Exception:
        return _read_anew(kept, max_characters)


def title_of(html: str) -> str:
    """Return the page title, empty without one; five times faster than `read`."""
    with suppress(Exception):
        return _title(LexborHTMLParser(html))
    return read(html.encode("utf-8", "replace"), 1).title


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    return _tidy(title.text(), 300) if title is not None else ""


def _read_lexbor(html: bytes, max_characters: int, parser: str) -> RawPage:
    tree = LexborHTMLParser(html, scripting=True)
    root = tree.root
    if root is None:
        return RawPage(parser=parser)
    body = tree.body
    nodes = tree.css(_WANTED)
    # META may forbid following links, so no META is skipped.
    kept = nodes[:MAX_ELEMENTS] + [node for node in nodes[MAX_ELEMENTS:] if node.tag == "meta"]
    elements: list[Element] = [(str(node.tag), node.attributes) for node in kept]
    page = RawPage(
        title=_title(tree),
        root=root.attributes,
        body=body.attributes if body is not None else {},
        elements=elements,
        unread=len(nodes) - len(kept),
        parser=parser,
    )
    has_main = any(name == "main" for name, _ in elements)
    texts = partial(_texts, html=html, limit=max_characters, has_main=has_main)
    shown = root if body is None else body
    hides = _remove_hidden(shown)
    text, prose = texts(shown)
    if hides and len(text) < _FEWEST:
        shown = LexborHTMLParser(html, scripting=True).body or shown
        text, prose = texts(shown)
    if repaired(text) is not text:
        # Normalised spaces lose letters: a no-break space may be a letter's second half.
        whole = repaired((shown.html or "").replace("&nbsp;", "\xa0"))
        text, prose = texts(LexborHTMLParser(whole).body or shown)
    return replace(page, text=text, prose=prose)


def _read_short(page: RawPage, html: bytes, max_characters: int) -> RawPage:
    """Return a page with little text as a browser without scripting shows it, if that has more."""
    plain = without_scripting(html)
    if plain is not None:
        unscripted = _read_lexbor(affordable(plain), max_characters, page.parser)
        if is_page_text(unscripted.text):
            return unscripted
    return replace(page, needs_browser=is_shell(html, page.text))


def _remove_hidden(root: LexborNode) -> bool:
    """Remove scripts, forms and hidden elements; True if any hidden element was found."""
    hides = False
    # Inner elements come later in document order.
    for node in reversed(root.css(",".join((*_NO_TEXT, _HIDING, _FORMS)))):
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
    if _HIDING_STYLE.search("".join(style.lower().split())):
        return True
    names = " ".join(str(attributes.get(key)) for key in ("role", "id", "class"))
    return _FORM_NAMES.search(names) is not None and node.css_first(_CONTENT) is None


def _texts(root: LexborNode, *, html: bytes, limit: int, has_main: bool) -> tuple[str, str]:
    """Return the visible text, sampled if longer than `limit`, and the main text.

    A page with much main text is sampled from start to end; so is a feed, which may start with an
    English page before the feed's own language.
    """
    most = limit - limit // 4
    main = root.css_first("main") if has_main else None
    prose, around = texts_of(root, most, main)
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
    """Return the visible text under a node, with a space at each separating edge.

    A loop, not a recursion, since pages may nest deeply. Each node costs 0.2 us.
    """
    hidden, inside_words, text = _kinds()
    parts: list[str] = []
    n_characters = 0
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
            n_characters += len(piece.strip())
            if n_characters > limit:
                break
        elif kind in hidden and node.first_child is not None:
            following = _following(node, root)
            if following is None:
                break
            goes_on_at = following.mem_id
    return _tidy("".join(parts), limit)


def _follows_edge(node: LexborNode, inside_words: frozenset[int]) -> bool:
    """Return True if an element that separates words ends just before a node."""
    before = node.prev
    while before is not None:
        if before.tag_id not in inside_words:
            return True
        before = before.last_child
    return False


def _following(node: LexborNode, root: LexborNode) -> LexborNode | None:
    """Return the next node in document order outside `node`."""
    here: LexborNode | None = node
    while here is not None and here.mem_id != root.mem_id:
        sibling = here.next
        if sibling is not None:
            return sibling
        here = here.parent
    return None


@cache
def _kinds() -> tuple[frozenset[int], frozenset[int], int]:
    """Return lexbor's tag ids: hidden tags, tags that do not separate words, and text."""
    tree = LexborHTMLParser("text<!-- -->")
    nodes = tree.css("body")[0].traverse(include_text=True)
    number = {node.tag: node.tag_id for node in nodes}
    hidden, inline = (
        frozenset(tree.create_node(name).tag_id for name in names.split())
        for names in (_HIDDEN, _INSIDE_WORDS)
    )
    return hidden, inline | {number["-text"], number["-comment"]}, number["-text"]


def _read_anew(html: bytes, max_characters: int) -> RawPage:
    """Parse a page that lexbor rejects, rewritten by BeautifulSoup; empty if both fail."""
    from bs4 import BeautifulSoup

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            written = str(BeautifulSoup(html[:MAX_SOUP_BYTES].decode("utf-8", "replace"), "lxml"))
        return _read_lexbor(written.encode("utf-8", "replace"), max_characters, "beautifulsoup")
    except MemoryError:
        raise
    except Exception:
        return RawPage(parser="beautifulsoup")


def _tidy(text: str, limit: int) -> str:
    """Normalise to single spaces and cut to `limit` characters."""
    return " ".join(text.split())[:limit]
