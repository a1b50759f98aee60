"""Explains a decision value of the URL model: the features of a URL by name, with their weights.

Compiled code keeps no names, so this module computes the features a second time from text. A test
checks that both give the same buckets and values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from classifiers.urls import ngrams
from classifiers.urls.batch import encode
from classifiers.urls.letters import SYMBOL_BITS

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

_WORD_MASK: Final = (1 << 64) - 1
_WINDOW_MASK: Final = (1 << SYMBOL_BITS * ngrams.MAX_GRAM) - 1
_SCHEME: Final = re.compile(rb"[\x00-\x09\x0b-\x20]*(?:[/\\]{2}|.{0,11}?:[/\\]{2})?", re.DOTALL)
_HOST_END: Final = re.compile(rb"[/\\?#\n]|$")
_LOWERED: Final = ((0x41, 0x5A), (0xC0, 0xDE), (0x391, 0x3A9), (0x400, 0x42F), (0x100, 0x17E))
_UNUSUAL: Final = {0x130: 0x131, 0x3A2: 0x3C2, 0x138: 0x138, 0x149: 0x149, 0x178: 0x178}
"""Lower case of characters for which the compiled code differs from Unicode."""


@dataclass(frozen=True)
class Feature:
    """One feature of a URL; an n-gram that occurs twice is two."""

    kind: str
    """gram, word, letter, block, domain or short."""
    text: str
    """For people: `_wet`, `.de`, `/de/`, `п`, or `U+0400` for the block of a letter."""
    bucket: int
    value: float


@dataclass(frozen=True)
class Contribution:
    """The part of a language's decision value that one feature adds."""

    text: str
    kind: str
    weight: float


@dataclass(frozen=True)
class _Word:
    """A run of letters between the characters around it."""

    points: list[int]
    place: int
    before: int
    after: int


def features_of(url: str, bits: int) -> list[Feature]:
    """The features of a URL for a model of 2**bits buckets, in no particular order."""
    host, path = _parts(encode([url]).buffer.tobytes()[: ngrams.MAX_BYTES])
    labels, rest = _domain(host)
    words = [*_words(rest, ngrams.HOST), *_words(path, ngrams.PATH)]
    grams = [found for word in words for found in _grams(word)]
    marks = [*labels, *(_short(word) for word in words if len(word.points) <= ngrams.MAX_SHORT)]
    length = math.sqrt(max(len(grams), 1))
    return [
        Feature(kind, text, key >> (64 - bits), value)
        for found, value in ((grams, 1 / length), (marks[: ngrams.MAX_MARKS], ngrams.MARK_VALUE))
        for kind, text, key in found
    ]


def explain(
    model: UrlModel, url: str, language: str | None = None, top: int | None = 10
) -> list[Contribution]:
    """The features that change the decision value of a language most; all if `top` is None.

    Without a language, the one with the highest score. All contributions and the intercept add up
    to the score. An n-gram that occurs several times is listed once. Features that share a bucket
    have the same weight, and each is listed. A language that has no classifier, and is named by its
    domains and codes alone, has no contributions.
    """
    if language is None:
        language = model.languages[int(model.scores([url])[0].argmax())]
    if language in model.named_languages and language not in model.languages:
        return []
    weights = model.weights_of(language)
    sums: dict[tuple[str, str], float] = {}
    for feature in features_of(url, model.parameters.bits):
        name = feature.text, feature.kind
        sums[name] = sums.get(name, 0.0) + float(weights[feature.bucket]) * feature.value
    found = [Contribution(*name, weight) for name, weight in sums.items()]
    found.sort(key=lambda each: (-abs(each.weight), each.text, each.kind))
    return found[:top]


Found = tuple[str, str, int]
"""Kind, text, and the 64 bits whose first ones are the bucket."""


def _parts(data: bytes) -> tuple[bytes, bytes]:
    """The host, without scheme, credentials, port and final dots, and the path."""
    scheme = _SCHEME.match(data)
    rest = data[scheme.end() if scheme else 0 :]
    end = _HOST_END.search(rest)
    stop = end.start() if end else len(rest)
    host = rest[:stop].rpartition(b"@")[2].partition(b":")[0].rstrip(b".")
    head, _, tail = host.partition(b".")
    if head.lower() == b"www" and b"." in tail:
        host = tail
    return host, rest[stop:].partition(b"\n")[0]


def _domain(host: bytes) -> tuple[list[Found], bytes]:
    """The top-level domain, also with a short label before it, and the rest of the host."""
    head, dot, top = host.rpartition(b".")
    if not dot:
        return [], host
    key = _chain(0, _points(top))
    text = "." + _text(_points(top))
    found = [("domain", text, _key_of(ngrams.DOMAIN, key))]
    _, dot, second = head.rpartition(b".")
    label = _points(second)
    if dot and 1 <= len(label) <= ngrams.MAX_SHORT:
        key = _chain(key, label)
        found.append(("domain", f".{_text(label)}{text}", _key_of(ngrams.DOMAIN, key)))
    return found, head


def _words(data: bytes, place: int) -> Iterator[_Word]:
    points: list[int] = []
    before = ord("/")
    for point in [*_points(data), ord("/")]:
        if _is_letter(point):
            points.append(point)
            continue
        if len(points) >= 2 and _text(points) not in ngrams.STOP_WORDS:
            yield _Word(points[: ngrams.MAX_WORD], place, before, point)
        points, before = [], point


def _grams(word: _Word) -> Iterator[Found]:
    """Yield the n-grams of a word, the whole word, and its letters beyond ASCII."""
    marked = [ngrams.EDGE, *word.points, ngrams.EDGE]
    for size, factor in enumerate(ngrams.GRAM_FACTORS, ngrams.MIN_GRAM):
        for start in range(len(marked) - size + 1):
            points = marked[start : start + size]
            window = _window(points) << 64 - SYMBOL_BITS * size
            yield "gram", _text(points), window * factor & _WORD_MASK
    if len(marked) > ngrams.MAX_GRAM:
        symbols = [_symbol(point) for point in word.points]
        yield "word", _text(word.points), _key_of(ngrams.WORD, _chain(ngrams.EDGE, symbols))
    for point in word.points:
        if point >= 0x80:
            yield "letter", _text([point]), _key_of(ngrams.LETTER, point << 32)
            block = f"U+{point >> 7 << 7:04X}"
            yield "block", block, _key_of(ngrams.BLOCK, point >> 7 << 32)


def _short(word: _Word) -> Found:
    """A short word between its delimiters; words in a host and in a path differ."""
    key = _window([ngrams.EDGE, *word.points, ngrams.EDGE]) | word.place << 45
    key |= _symbol(word.before) << 46 | _symbol(word.after) << 55
    text = _text([word.before, *word.points, word.after])
    if word.place == ngrams.HOST:
        text = f"{text} in host"
    return "short", text, _key_of(ngrams.SHORT, key)


def _points(data: bytes) -> list[int]:
    """The characters, in lower case; a stray byte is 0xDC00 + byte."""
    text = unquote_to_bytes(data).decode("utf-8", "surrogateescape")
    return [_lower(ord(letter)) for letter in text]


def _lower(point: int) -> int:
    if point in _UNUSUAL:
        return _UNUSUAL[point]
    if any(first <= point <= last for first, last in _LOWERED):
        return ord(chr(point).lower())
    return point


def _is_letter(point: int) -> bool:
    if point < 0xC0:
        return ord("a") <= point <= ord("z")
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)
    return not 0x3000 <= point <= 0x303F


def _text(points: list[int]) -> str:
    return "".join(map(chr, points))


def _symbol(point: int) -> int:
    return point if point < 0x80 else 256 | ((point ^ (point >> 8) * 0x9D) & 255)


def _window(points: list[int]) -> int:
    window = 0
    for point in points:
        window = window << SYMBOL_BITS | _symbol(point)
    return window & _WINDOW_MASK


def _chain(key: int, points: list[int]) -> int:
    for point in points:
        key = (key ^ point) * ngrams.FACTOR & _WORD_MASK
    return key


def _key_of(kind: int, key: int) -> int:
    key = (key + kind) * ngrams.KIND_FACTOR & _WORD_MASK
    return (key ^ key >> 32) * ngrams.FACTOR & _WORD_MASK
