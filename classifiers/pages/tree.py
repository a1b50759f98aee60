"""The parts of a page that identification and the crawl need, from one pass of a parser.

lexbor reads a page as browsers do, at 250 MB/s. BeautifulSoup stands in where lexbor gives up or
the page would cost it too much (`hazards`).
"""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from classifiers.pages.hazards import is_hazardous

MAX_SOUP_BYTES = 300_000
"""Bytes that BeautifulSoup reads of a page: 0.3 s, and 1 s if each closing tag is a wrong one."""

# The parser of the standard library is quadratic in unclosed tags.
_MAX_SLOW_BYTES = 20_000

Element = tuple[str, dict[str, str | None]]

_WANTED = "a[href],area[href],frame[src],iframe[src],link[href],base[href],meta"
_WANTED_TAGS = ("a", "area", "frame", "iframe", "link", "base", "meta")

_HIDDEN_TAGS = (
    "head title script style noscript template pre code kbd samp tt option button textarea"
    " iframe svg math -comment !doctype"
)
_HIDDEN = frozenset(_HIDDEN_TAGS.split())
# Elements that stand inside words; every other one separates the text around it.
_INLINE_TAGS = "b i em strong u s font wbr nobr mark big small sub sup"
_INSIDE_WORDS = frozenset(_INLINE_TAGS.split())
_NOT_SEPARATING = _INSIDE_WORDS | {"-text", "-comment"}

# Nodes that are looked at for the text; a page has no text worth reading after so many.
_MAX_NODES = 200_000


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page before its links are resolved.

    `elements` are the elements with links and metadata in document order, each a name and its
    attributes; `root` are the attributes of `html`; `parser` is `lexbor` or `beautifulsoup`.
    """

    text: str
    title: str
    root: dict[str, str | None]
    elements: list[Element]
    parser: str


def read(html: bytes, max_characters: int) -> RawPage:
    """The parts of a page given in UTF-8; `text` is at most `max_characters` long."""
    if is_hazardous(html):
        return _read_soup(html, max_characters)
    try:
        return _read_lexbor(html, max_characters)
    except Exception:
        return _read_soup(html, max_characters)


def _read_lexbor(html: bytes, max_characters: int) -> RawPage:
    tree = LexborHTMLParser(html, scripting=True)
    root = tree.root
    if root is None:
        return RawPage("", "", {}, [], "lexbor")
    title = tree.css_first("title")
    return RawPage(
        text=_visible(root, max_characters),
        title=_tidy(title.text(), 300) if title is not None else "",
        root=root.attributes,
        elements=[(str(node.tag), node.attributes) for node in tree.css(_WANTED)],
        parser="lexbor",
    )


def _visible(root: LexborNode, limit: int) -> str:
    parts: list[str] = []
    found = 0
    for piece in _pieces(root, limit):
        parts.append(piece)
        found += len(piece.strip())
        if found > limit:
            break
    return _tidy("".join(parts), limit)


def _pieces(root: LexborNode, limit: int) -> Iterator[str]:
    """Text of the nodes under `root` in order, a space at each edge that separates words.

    A loop, not a recursion: pages nest as deeply as they like.
    """
    node: LexborNode | None = root
    for _ in range(_MAX_NODES):
        if node is None:
            return
        tag = node.tag
        child = None
        if tag == "-text":
            yield (node.text_content or "")[: 4 * limit]
        else:
            if tag not in _NOT_SEPARATING:
                yield " "
            if tag not in _HIDDEN:
                child = node.first_child
        if child is None:
            node, is_apart = _following(node, root)
            if is_apart:
                yield " "
        else:
            node = child


def _following(node: LexborNode, root: LexborNode) -> tuple[LexborNode | None, bool]:
    """The next node in document order that is not inside `node`.

    The second value says whether an element that separates words ends before it.
    """
    is_apart = False
    here: LexborNode | None = node
    while here is not None and here.mem_id != root.mem_id:
        is_apart = is_apart or here.tag not in _NOT_SEPARATING
        sibling = here.next
        if sibling is not None:
            return sibling, is_apart
        here = here.parent
    return None, is_apart


def _read_soup(html: bytes, max_characters: int) -> RawPage:
    soup = _soup(html)
    if soup is None:
        return RawPage("", "", {}, [], "beautifulsoup")
    root = soup.find("html")
    title = soup.find("title")
    return RawPage(
        text=_soup_text(soup, max_characters),
        title=_tidy(title.get_text(), 300) if title is not None else "",
        root=_attributes(root) if root is not None else {},
        elements=[(tag.name, _attributes(tag)) for tag in soup.find_all(_WANTED_TAGS)],
        parser="beautifulsoup",
    )


def _soup(html: bytes) -> Any:
    """The page as BeautifulSoup reads it; None if no parser can read it."""
    from bs4 import BeautifulSoup

    for builder, limit in (("lxml", MAX_SOUP_BYTES), ("html.parser", _MAX_SLOW_BYTES)):
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")
            return BeautifulSoup(html[:limit].decode("utf-8", "replace"), builder)
    return None


def _soup_text(soup: Any, limit: int) -> str:
    from bs4.element import NavigableString, PreformattedString, Tag

    parts: list[str] = []
    found = 0
    node = soup.contents[0] if soup.contents else None
    while node is not None and found <= limit:
        following = node.next_element
        if isinstance(node, Tag):
            if node.name in _HIDDEN:
                last = node._last_descendant()
                following = last.next_element if last is not None else following
            parts.append("" if node.name in _INSIDE_WORDS else " ")
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            before = getattr(node.previous_sibling, "name", None)
            is_apart = before is not None and before not in _INSIDE_WORDS
            parts.append(" " * is_apart + str(node)[: 4 * limit])
            found += len(parts[-1].strip())
        node = following
    return _tidy("".join(parts), limit)


def _attributes(tag: Any) -> dict[str, str | None]:
    return {k: v if isinstance(v, str) else " ".join(v) for k, v in tag.attrs.items()}


def _tidy(text: str, limit: int) -> str:
    """A text with single spaces, cut to `limit` characters."""
    return " ".join(text.split())[:limit]
