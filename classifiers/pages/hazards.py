"""Pages that would cost a browser's tree builder seconds or gigabytes, found and disarmed.

HTML's rules for building a tree are quadratic in places: a block element looks through all open
elements, unclosed formatting elements are made again inside each block that follows, and each
attribute of a tag is compared with those before it. A page that nests this deeply or has such
tags is malformed or hostile. `is_hazardous` finds it from the bytes, `disarmed` takes away what
makes it one, so that the same parser reads its text and links.
"""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

MAX_HAZARDOUS_BYTES = 500_000
"""Bytes that are read of a hazardous page."""

# A page with fewer tags costs 0.1 s at most, whatever they are.
_HARMLESS_TAGS = 1_500
# Open formatting elements times tags, nodes that may be made: 0.05 s.
_MAX_COPIES = 500_000
# Open elements times tags, steps that may be made up the tree: 0.08 s.
_MAX_STEPS = 30_000_000
# Each attribute times those of its tag, pairs that may be compared: 0.04 s.
_MAX_PAIRS = 20_000_000
# A stretch of so many bytes without ">", or twice as many without "<", may be one tag.
_STRETCH_BYTES = 8_192
# Longer pages are read tag by tag even if no such stretch is seen in them.
_READ_BYTES = 500_000
# Tags whose attributes are joined.
_MAX_JOINED = 100
# Bytes that are kept of a tag with too many attributes.
_KEPT_BYTES = 1_024

_NAME_BYTES = 8
_EACH_BYTE = np.uint64(0x0101_0101_0101_0101)
_FORMATTING = "b big code em font i nobr s small strike strong tt u"
# Elements without content, and those that the next of their kind closes.
_SHALLOW = (
    "a area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th tbody thead tfoot option optgroup"
)
# Tags that a disarmed page keeps: they hold what is wanted, hide text or cannot be nested.
_KEPT = (
    "a area base br frame frameset head hr iframe img li link meta noembed noframes noscript"
    " option p script style textarea title xmp dt dd"
)
# Elements whose attributes are joined to those of the first.
_JOINED = "html body"

# How a tag goes on, from between two attributes to the sign that ends it (HTML, 13.2.5.32-40).
_VALUE = rb"\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'>])[^\s>]++|(?=>))"
_ATTRIBUTE = rb"(?:=[^\s/>=]*+|[^\s/>=]++)(?:\s*+=" + _VALUE + rb")?+"
_REST = rb"(?:[\s/]++|" + _ATTRIBUTE + rb")*+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
# Text, closing tags and tags of few attributes with plain or quoted values, as many as follow.
_HARMLESS_ATTRIBUTES = (
    rb"(?:[^>\"'=]{1,300}+(?<![\s/])=\s*+(?:\"[^\"]*+\"|'[^']*+')){0,30}+[^>\"'=]{0,300}+"
)
_HARMLESS = (
    rb"(?:[^<]++|</[A-Za-z][^>]{0,99}+>|<(?!(?:script|style)\b)[A-Za-z]"
    + _HARMLESS_ATTRIBUTES
    + b">)++"
)
# Every alternative takes what it begins, so that reading a page is linear whatever it holds.
_TAG = re.compile(
    _HARMLESS + rb"|<!--(?:[^-]++|-(?!->))*+"
    rb"|<(?:script|style)\b[^>]{0,999}>(?:[^<]++|<(?!/(?:scr|sty)))*+"
    rb"|<[a-z][^\s/>]*+" + _REST,
    re.IGNORECASE,
)
_SKIPPED = re.compile(_HARMLESS + rb"|<(?:!--|(?:script|style)\b[^>]{0,999}>)", re.IGNORECASE)
_OPENING = re.compile(rb"<[A-Za-z]")
_SEPARATED = rb"(?:[^\s/\"']*+[\s/\"']++)"
_SOME_SEPARATORS = re.compile(_SEPARATED + rb"{250}")
_MANY_SEPARATORS = re.compile(_SEPARATED + rb"{1000}")

_OPEN = ord("<")


def is_hazardous(body: bytes) -> bool:
    """Whether building the tree of a page in UTF-8 may take more than about 0.1 s.

    About 0.1 ms for a page of 120 kB.
    """
    return bool(_endless_tags(body)) or _is_deep(body)


def disarmed(body: bytes) -> bytes:
    """The page without what makes it hazardous: its text, links and metadata; linear.

    Of what is hazardous the first `MAX_HAZARDOUS_BYTES` are kept. Long tags lose the attributes
    beyond their first 1,024 bytes. Tags that may nest become comments, with a space before those
    that separate words.
    """
    body = body[:MAX_HAZARDOUS_BYTES]
    data = np.frombuffer(body, dtype=np.uint8).copy()
    for start, end in _endless_tags(body):
        data[start:end] = ord(" ")
    body = data.tobytes()
    if _is_deep(body):
        _flatten(data, *_tags(body))
    return data.tobytes()


def _flatten(
    data: NDArray[np.uint8],
    places: NDArray[np.int64],
    names: NDArray[np.uint64],
    closing: NDArray[np.bool_],
) -> None:
    """Make comments of all tags but those that are kept, in place."""
    kept = _is_any(names, _KEPT)
    kept[np.flatnonzero(_is_any(names, _JOINED) & ~closing)[:2]] = True
    inline = ~kept & (_is_any(names, _FORMATTING) | _is_short(names) & ~closing)
    data[places[inline]] = ord("?")
    apart = places[~kept & ~inline]
    data[apart - 1] = ord(" ")
    data[apart] = _OPEN
    data[apart + 1] = ord("?")


def _endless_tags(body: bytes) -> list[tuple[int, int]]:
    """Where attributes beyond the first of a tag stand, if there are too many together."""
    if len(body) <= _READ_BYTES and not _may_hold_long_tag(body):
        return []
    found = []
    pairs = 0
    for match in _TAG.finditer(body):
        start, end = match.span()
        if end - start > _KEPT_BYTES and not _SKIPPED.match(body, start):
            attributes = _attributes(body, start, end)
            pairs += attributes * attributes
            if attributes:
                # The last one seen may be cut within its value.
                *_, last = _ATTRIBUTES.finditer(body, start, start + _KEPT_BYTES)
                found.append((last.start(), end))
    return found if pairs > _MAX_PAIRS else []


def _attributes(body: bytes, start: int, end: int) -> int:
    """How many attributes a tag has; fewer than 250 are taken for none."""
    if not _SOME_SEPARATORS.match(body, start, end):
        return 0
    return len(_ATTRIBUTES.findall(body, start, end))


def _may_hold_long_tag(body: bytes) -> bool:
    for sign, length in ((b">", _STRETCH_BYTES), (b"<", 2 * _STRETCH_BYTES)):
        for start, end in _stretches(body, sign, length):
            tag = _OPENING.search(body, max(0, start - 1), end)
            if tag is None or _SKIPPED.match(body, tag.start()):
                continue
            if _MANY_SEPARATORS.match(body, tag.start(), end):
                return True
    return False


def _stretches(body: bytes, sign: bytes, length: int) -> Iterator[tuple[int, int]]:
    """Start and end of all stretches without a sign that are twice as long, and some shorter.

    Looks back from each `length`th byte, so that it reads a hundredth of an ordinary page.
    """
    place = 0
    while place + length < len(body):
        end = body.rfind(sign, place, place + length)
        if end < 0:
            end = body.find(sign, place)
            end = len(body) if end < 0 else end
            yield place, end
        place = end + 1


def _is_deep(body: bytes) -> bool:
    if _count(body, _OPEN) < _HARMLESS_TAGS:
        return False
    _, names, closing = _tags(body)
    n = max(1, len(names))
    if n < _HARMLESS_TAGS:
        return False
    if n > _MAX_COPIES // n:
        formatting = _is_any(names, _FORMATTING)
        if _exceeds(names[formatting], closing[formatting], _MAX_COPIES // n):
            return True
    if n > _MAX_STEPS // n:
        nesting = ~_is_any(names, _SHALLOW)
        if _exceeds(names[nesting], closing[nesting], _MAX_STEPS // n):
            return True
    return int(_is_any(names, _JOINED).sum()) > _MAX_JOINED


def _count(body: bytes, sign: int) -> int:
    """`bytes.count` at a fifth of its cost where the sign is frequent."""
    return int(np.count_nonzero(np.frombuffer(body, dtype=np.uint8) == sign))


def _tags(body: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Per tag where its name or "/" begins, its name, and whether it closes.

    A name is its first 8 bytes in lower case, as a number.
    """
    padded = body + b" " * (_NAME_BYTES + 2)
    data = np.frombuffer(padded, dtype=np.uint8)
    places = np.flatnonzero(data[: len(body)] == _OPEN) + 1
    closing = data[places] == ord("/")
    windows = np.ndarray((len(body) + 2,), np.dtype("<u8"), padded, strides=(1,))
    letters = windows[places + closing]
    first = letters & np.uint64(0xFF) | np.uint64(0x20)
    element = first - np.uint64(ord("a")) < np.uint64(26)
    letters = letters[element]
    names = (letters | _EACH_BYTE * np.uint64(0x20)) & _before_end(letters)
    return places[element], names, closing[element]


def _before_end(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Masks of the bytes before the first white space, ">" or "/" of eight."""
    high = _EACH_BYTE * np.uint64(0x80)
    ends = (letters - _EACH_BYTE * np.uint64(0x21)) & ~letters & high
    for sign in b">/":
        other = letters ^ (_EACH_BYTE * np.uint64(sign))
        ends |= (other - _EACH_BYTE) & ~other & high
    return ((ends & (~ends + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)


def _exceeds(names: NDArray[np.uint64], closing: NDArray[np.bool_], limit: int) -> bool:
    """Whether more than `limit` of these elements may be open at once."""
    return len(names) - int(closing.sum()) > limit and _most_open(names, closing) > limit


def _most_open(names: NDArray[np.uint64], closing: NDArray[np.bool_]) -> int:
    """How many elements may be open at once: the sum over names of each one's most."""
    order = np.argsort(names, kind="stable")
    names = names[order]
    steps: NDArray[np.int64] = np.where(closing[order], -1, 1)
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    # Each name's run begins far below all that precedes it, so that the running minimum starts
    # anew with it.
    apart = np.zeros(len(steps), dtype=np.int64)
    apart[starts] = 2 * len(steps) + 2
    height = np.cumsum(steps - apart)
    floor = np.minimum.accumulate(np.minimum(height, height - steps))
    return int(np.maximum.reduceat(height - floor, starts).clip(0).sum())


def _is_any(names: NDArray[np.uint64], wanted: str) -> NDArray[np.bool_]:
    """Which of the names are among some, by a table without collisions among these."""
    table, factor = _table(wanted)
    found: NDArray[np.bool_] = table[_slots(names, factor)] == names
    return found


def _slots(names: NDArray[np.uint64], factor: np.uint64) -> NDArray[np.uint64]:
    return (names * factor) >> np.uint64(56)


@cache
def _table(wanted: str) -> tuple[NDArray[np.uint64], np.uint64]:
    padded = b"".join(name.encode().ljust(_NAME_BYTES, b"\0") for name in wanted.split())
    keys = np.frombuffer(padded, dtype="<u8").astype(np.uint64)
    random = np.random.default_rng(0)
    while True:
        factor = np.uint64(random.integers(1, 2**63)) * np.uint64(2) + np.uint64(1)
        if len(np.unique(_slots(keys, factor))) == len(keys):
            break
    table = np.zeros(256, dtype=np.uint64)
    table[_slots(keys, factor)] = keys
    return table, factor


def _is_short(names: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which names have one letter: too short for what stands in a longer one's place."""
    return names < np.uint64(0x100)
