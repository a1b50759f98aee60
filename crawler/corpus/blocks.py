"""Blocks of a page, and the probability of each block to belong to the main text.

A block is the text between two starts or ends of elements that begin a line. Boosted trees read
lengths, links, elements, class names, repeated paths and the agreement of two extractors; no
feature depends on a language. `benchmarks.extractors` trains the trees.

All counts and probabilities are integers, so the same page has the same text on each machine.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.arrayfile import MODELS, Arrays, read_arrays

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Choice = npt.NDArray[np.bool_]

MODEL: Final = MODELS / "blocks-v1.npz"

MAX_BLOCKS: Final = 5_000
_MAX_ELEMENTS: Final = 50_000

_JUDGED: Final = 400
"""Characters of a block and of an element's names that features read."""

_KEY: Final = 40
"""Characters, without spaces and signs of markup, by which an extractor's line equals a block."""

_CERTAIN: Final = 10_000
"""Probability 1."""

_SKIPPED: Final = frozenset(
    "head title script style template iframe svg math rp noframes noembed textarea select option"
    " canvas video audio object".split()
)
_INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb rt"
    " ruby s samp small span strong sub sup time tt u var wbr".split()
)
_TAGS: Final = "p div li td th".split()
_OUTER: Final = (
    "nav header footer aside form main article ul table dl figure blockquote dialog".split()
)
_ROLES: Final = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "search": "form",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
}
_NAMES: Final = [
    re.compile(r"nav|menu|crumb|toc\b|pagina|pager|tabs?\b|dropdown|drawer|skip|toolbar|mega"),
    re.compile(r"foot|copyright|legal|colophon|bottom"),
    re.compile(
        r"side|widget|rail|related|recommend|popular|trending|also|more-|similar|upsell|recently"
    ),
    re.compile(
        r"share|social|follow|newsletter|subscri|sign-?up|login|promo|sponsor|\bads?\b|advert"
        r"|popup|modal|cookie|consent|gdpr|overlay|dialog|alert|notice|cart|search|filter|facet"
        r"|sort|form|button|btn"
    ),
    re.compile(r"comment|reply|respond|review|rating|disqus"),
    re.compile(
        r"content|article|post|entry|body|main|story|text|descri|detail|product|prose|message"
        r"|answer|question"
    ),
    re.compile(
        r"meta|byline|author|date|time|tags?\b|categor|avatar|user|badge|caption|credit|bio|count"
        r"|vote|stat|signature"
    ),
    re.compile(r"card|item|tile|grid|list|product|teaser|result|row|collection"),
]
_HIDING: Final = re.compile(
    r"display:\s?none|visibility:\s?hidden|sr-only|visually|offscreen|d-none|invisible"
)
_N_MARKS: Final = len(_OUTER) + len(_NAMES) + 1
_ATTRIBUTES: Final = ("class", "id", "role", "style", "aria-hidden", "hidden")

_STOP: Final = re.compile(r"[.!?…。！？।؟።။។](?:[\s\"”’»)]|$)")  # noqa: RUF001  # of their scripts
_SIGNS: Final = dict.fromkeys(map(ord, "#*_`|-•"))


class Block(NamedTuple):
    """A text with single spaces, and its place in the page.

    `marks` has a bit for each kind of element around the block, `linked` is the number of
    characters in links, `container` an index of `Page.parents`.
    """

    text: str
    tag: str
    marks: int
    linked: int
    depth: int
    container: int


class Page(NamedTuple):
    """The blocks of a page; the parent container and the path of tags and classes by container."""

    blocks: list[Block]
    parents: list[int]
    paths: list[str]


class _Place(NamedTuple):
    tag: str
    marks: int
    is_link: bool
    container: int


class _Reader:
    """Collects the blocks of a tree in document order."""

    def __init__(self) -> None:
        self.page = Page([], [0], [""])
        self._parts: list[str] = []
        self._linked = 0
        self._places = [_Place("body", 0, False, 0)]

    def add(self, text: str | None) -> None:
        if text:
            self._parts.append(text)
            if self._places[-1].is_link:
                self._linked += len(text.strip())

    def finish(self) -> None:
        """End the current block."""
        if not self._parts:
            return
        text, place = " ".join("".join(self._parts).split()), self._places[-1]
        if any(map(str.isalnum, text)):
            linked, depth = min(self._linked, len(text)), len(self._places)
            self.page.blocks.append(
                Block(text, place.tag, place.marks, linked, depth, place.container)
            )
        self._parts, self._linked = [], 0

    def start(self, element: Any) -> None:
        tag, place = str(element.tag), self._places[-1]
        if tag not in _INLINE:
            self.finish()
            place = self._container(element, tag, place)
        elif tag == "a":
            place = place._replace(is_link=True)
        self._places.append(place)
        self.add(element.text)

    def _container(self, element: Any, tag: str, outer: _Place) -> _Place:
        parents, paths = self.page.parents, self.page.paths
        attributes = tuple(map(element.get, _ATTRIBUTES))
        parents.append(outer.container)
        paths.append(f"{paths[outer.container][-60:]}>{tag}.{(attributes[0] or '')[:30]}")
        marks = outer.marks | _marks(tag, attributes)
        return _Place(tag, marks, outer.is_link, len(parents) - 1)

    def end(self, element: Any) -> None:
        if str(element.tag) not in _INLINE:
            self.finish()
        self._places.pop()


@lru_cache(maxsize=10_000)
def _marks(tag: str, attributes: tuple[str | None, ...]) -> int:
    """Return the bits of an element: its kind or role, its names, and whether it is hidden."""
    classes, name, role, style, aria, hidden = attributes
    names = f"{classes or ''} {name or ''}"[:_JUDGED].lower()
    kind = _ROLES.get(role or "", "ul" if tag == "ol" else tag)
    look = f"{names} {(style or '')[:_JUDGED].lower()}"
    bits = (
        *(kind == each for each in _OUTER),
        *(names != " " and each.search(names) for each in _NAMES),
        aria == "true" or hidden is not None or _HIDING.search(look),
    )
    return sum(1 << at for at, bit in enumerate(bits) if bit)


def page_of(tree: Any) -> Page:
    """Return the blocks of the body of an lxml tree; 8 ms."""
    from lxml.etree import iterwalk

    body, reader = tree.find(".//body"), _Reader()
    walk = iterwalk(tree if body is None else body, events=("start", "end", "comment", "pi"))
    for event, element in islice(walk, 2 * _MAX_ELEMENTS):
        is_read = isinstance(element.tag, str) and element.tag not in _SKIPPED
        if event == "start":
            if is_read:
                reader.start(element)
            else:
                walk.skip_subtree()
            continue
        if is_read:
            reader.end(element)
        reader.add(element.tail)
    return reader.page._replace(blocks=reader.page.blocks[:MAX_BLOCKS])


def sizes_of(blocks: Sequence[Block]) -> Integers:
    """Return the number of characters of each block."""
    return np.array([len(block.text) for block in blocks], np.int64)


def found_in(blocks: Sequence[Block], text: str) -> Choice:
    """Return which blocks begin a line or a cell of an extractor's text."""
    keys = {_key(line) for line in text.split("\n")}
    keys.update(_key(cell) for line in text.split("\n") if "|" in line for cell in line.split("|"))
    return np.array([_key(block.text) in keys for block in blocks], bool)


def _key(text: str) -> str:
    return "".join(text[: 3 * _KEY].translate(_SIGNS).split())[:_KEY]


def features_of(page: Page, found: Sequence[Choice | None], *, is_article: bool) -> Numbers:
    """Return a row of features for each block.

    `found` has the choice of each extractor, or None if it did not read the page.
    """
    own = _Counts.of(page.blocks)
    paths: dict[str, int] = {}
    groups = [paths.setdefault(page.paths[block.container], len(paths)) for block in page.blocks]
    columns = [
        *_own(page.blocks, own),
        *_marked(page.blocks, own),
        *_position(page.blocks, own),
        *_around(own),
        *_of_page(own, is_article=is_article),
        *_grouped(own, np.array(groups)),
    ]
    sizes = [own.sizes * (0 if each is None else each) for each in found]
    sums = _sums(page, np.column_stack([*own, *sizes]))
    for at in _ancestors(page):
        columns.extend(_contained(sums[at], own.sizes.sum()))
    for each, part in zip(found, sizes, strict=True):
        agreement = [*_agreement(own.sizes, part, np.array(groups))]
        columns.extend(agreement if each is not None else [np.full(len(part), -1)] * len(agreement))
    return np.column_stack(columns).astype(float)


class _Counts(NamedTuple):
    """Characters, characters in links, sentence ends and ones, by block."""

    sizes: Integers
    links: Integers
    stops: Integers
    ones: Integers

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> "_Counts":
        stops = [len(_STOP.findall(block.text[:_JUDGED])) for block in blocks]
        links, sizes = [block.linked for block in blocks], sizes_of(blocks)
        return cls(sizes, np.array(links), np.array(stops), np.ones_like(sizes))


Columns = Iterator[npt.NDArray[Any]]


def _own(blocks: Sequence[Block], own: _Counts) -> Columns:
    tags = [block.tag for block in blocks]
    for tag in _TAGS:
        yield np.array([each == tag for each in tags])
    levels = [int(tag[1]) if re.fullmatch("h[1-6]", tag) else 0 for tag in tags]
    yield np.array(levels)
    words = [block.text[:_JUDGED].split() for block in blocks]
    yield np.array([sum(map(str.istitle, each)) / len(each) for each in words])
    yield np.array([block.depth for block in blocks])
    copies = Counter(block.text for block in blocks)
    yield np.array([copies[block.text] for block in blocks])
    yield own.stops
    yield own.stops / np.minimum(own.sizes, _JUDGED)
    ends = np.array([_STOP.search(block.text[-2:]) is not None for block in blocks])
    for values in (own.sizes, own.links / own.sizes, ends.astype(float)):
        for by in (-1, 0, 1):
            yield _shifted(values, by)


def _marked(blocks: Sequence[Block], own: _Counts) -> Columns:
    """Yield each mark, as zeros if nearly all of the page has it."""
    marks = np.array([block.marks for block in blocks])
    for at in range(_N_MARKS):
        mark = (marks >> at) & 1
        yield mark * (10 * (mark @ own.sizes) < 8 * own.sizes.sum())


def _position(blocks: Sequence[Block], own: _Counts) -> Columns:
    order = np.arange(len(blocks))
    heading = next((at for at, block in enumerate(blocks) if block.tag == "h1"), -1)
    yield order / len(blocks)
    yield own.sizes.cumsum() / own.sizes.sum()
    yield order >= heading
    yield abs(order - heading) if heading >= 0 else np.full(len(blocks), 20)


def _around(own: _Counts) -> Columns:
    plain = own.sizes - own.links
    for by in (1, 3, 8, 20):
        yield _window(plain, by) - plain
        yield _window(own.links, by) / _window(own.sizes, by)
        yield _window(own.stops, by)


def _of_page(own: _Counts, *, is_article: bool) -> Columns:
    total = own.sizes.sum()
    counts = (len(own.sizes), total, own.links.sum() / total, own.stops.sum() / total, is_article)
    for value in counts:
        yield np.full(len(own.sizes), float(value))


def _grouped(own: _Counts, groups: Integers) -> Columns:
    """Yield counts of the blocks with the same path, such as the titles of a list of articles."""
    sizes, links, stops, ones = (np.bincount(groups, each) for each in own)
    for values in (ones, sizes / own.sizes.sum(), sizes / ones, links / sizes, stops / sizes):
        yield values[groups]


def _contained(sums: Integers, total: int) -> Columns:
    """Yield counts of the container of each block, and its shares of the extractors' texts."""
    sizes, links, stops, ones, *found = sums.T
    yield from (sizes / total, links / sizes, stops, ones, *(each / sizes for each in found))


def _agreement(sizes: Integers, found: Integers, groups: Integers) -> Columns:
    """Yield the shares of an extractor's text in the block and around the block."""
    yield found > 0
    yield np.full(len(found), found.sum() / sizes.sum())
    for by in (1, 3, 8):
        yield _window(found, by) / _window(sizes, by)
    yield (np.bincount(groups, found) / np.bincount(groups, sizes))[groups]


def _sums(page: Page, values: Integers) -> Integers:
    """Return the sums of the blocks in each container."""
    sums = np.zeros((len(page.parents), values.shape[1]), np.int64)
    np.add.at(sums, [block.container for block in page.blocks], values)
    for at in range(len(sums) - 1, 0, -1):
        sums[page.parents[at]] += sums[at]
    return sums


def _ancestors(page: Page) -> Iterator[Integers]:
    """Yield the containers one, two, three and five levels above each block."""
    parents = np.array(page.parents)
    at = np.array([block.container for block in page.blocks])
    for level in range(1, 6):
        at = parents[at]
        if level != 4:
            yield at


def _shifted(values: npt.NDArray[Any], by: int) -> npt.NDArray[Any]:
    padded = np.pad(values, 1)
    return padded[1 + by :][: len(values)]


def _window(values: Integers, by: int) -> Integers:
    """Return the sum of each value and its neighbours on both sides."""
    sums, at = np.concatenate([[0], values.cumsum()]), np.arange(len(values))
    return np.asarray(sums[np.minimum(at + by + 1, len(values))] - sums[np.maximum(at - by, 0)])


def probabilities(features: Numbers, model: Arrays | None = None) -> Integers:
    """Return the probability of each row, in ten-thousandths.

    A leaf is its own left and right child. Leaf values are integers.
    """
    model = model or _model()
    at = np.tile(model["roots"], (len(features), 1))
    rows = np.arange(len(features))[:, None]
    while True:
        is_left = features[rows, model["feature"][at]] <= model["threshold"][at]
        below = np.where(is_left, model["left"][at], model["right"][at])
        if (below == at).all():
            break
        at = below
    logits = (model["base"] + model["value"][at].sum(axis=1)) / SCALE
    return np.asarray(np.rint(_CERTAIN / (1 + np.exp(-logits))), np.int64)


SCALE: Final = 1 << 16
"""Leaf value of one nat."""


@cache
def _model() -> Arrays:
    return read_arrays(MODEL, "roots", "feature", "threshold", "left", "right", "value", "base")


def best_choice(blocks: Sequence[Block], chances: Integers) -> list[Block]:
    """Return the blocks above the probability with the best expected F1."""
    chosen = _best(chances, sizes_of(blocks))
    return [block for block, is_chosen in zip(blocks, chosen, strict=True) if is_chosen]


def is_better(text: str, found: Choice, blocks: Sequence[Block], chances: Integers) -> bool:
    """Return True if an extractor's text of an article is expected to be the best one.

    Such a text is mostly in no block (linked data), very probable, or nearly as good as expected.
    """
    sizes = sizes_of(blocks)
    if 2 * sizes[found].sum() < len(text):
        return True
    hits = (chances * sizes)[found].sum()
    best = _expected_f1(_best(chances, sizes), chances, sizes)
    is_probable = 10 * hits > 8 * _CERTAIN * sizes[found].sum()
    return bool(is_probable or best - _expected_f1(found, chances, sizes) < _CLEARLY)


_CLEARLY: Final = 0.1


def _expected_f1(chosen: Choice, chances: Integers, sizes: Integers) -> float:
    hits = (chances * sizes)[chosen].sum()
    return float(2 * hits / (_CERTAIN * sizes[chosen].sum() + (chances * sizes).sum() or 1))


def _best(chances: Integers, sizes: Integers) -> Choice:
    order = np.argsort(-chances, kind="stable")
    hits, lengths = (chances * sizes)[order].cumsum(), sizes[order].cumsum()
    f1 = 2 * hits / (_CERTAIN * lengths + hits[-1])
    return np.asarray(chances >= chances[order[f1.argmax()]])
