"""Pages that would cost a browser's tree builder minutes or gigabytes.

HTML's rules for building a tree are quadratic in places: a block element looks through all open
elements, and unclosed formatting elements are made again inside each block that follows (4,000
of them take 3 GB). A page that nests this deeply is malformed or hostile. `is_hazardous` finds
it from the tags alone, in array operations, so that it can be given to a parser without those
rules.
"""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

# A page with fewer tags can do little harm.
_HARMLESS_TAGS = 1_000
# Open formatting elements times tags: nodes that may be made.
_MAX_COPIES = 2_000_000
# Open elements times tags: steps that may be made up the tree.
_MAX_STEPS = 400_000_000
_MAX_ATTRIBUTES = 8_000

_NAME_BYTES = 8
_EACH_BYTE = np.uint64(0x0101_0101_0101_0101)
_FORMATTING = "b big code em font i nobr s small strike strong tt u"
# Elements without content, and those that the next of their kind closes.
_SHALLOW = (
    "a area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th tbody thead tfoot option optgroup"
)

# A tag shorter than this cannot have so many attributes.
_LONG_TAG_BYTES = 2 * _MAX_ATTRIBUTES
# Longer pages are read tag by tag even if no stretch without ">" is seen in them.
_READ_BYTES = 500_000
# Every alternative takes what it begins, so that reading a page is linear whatever it holds.
_TAG = re.compile(
    rb"<!--(?:[^-]++|-(?!->))*+"
    rb"|<[sS](?:[cC][rR][iI][pP][tT]|[tT][yY][lL][eE])\b(?:[^<]++|<(?!/[sS](?:[cC][rR]|[tT][yY])))*+"
    rb"|<[A-Za-z](?:[^>\"']++|\"[^\"]*+\"?|'[^']*+'?)*+"
)
_SKIPPED = re.compile(rb"<(?:!--|script\b|style\b)", re.IGNORECASE)
_SEPARATOR = re.compile(rb"[\s/\"']+")


def is_hazardous(body: bytes) -> bool:
    """Whether building the tree of a page in UTF-8 may take seconds or gigabytes.

    About 0.1 ms for a page of 150 kB; nothing for one of fewer than 1,000 tags.
    """
    return _has_endless_tag(body) or _is_deep(body)


def _has_endless_tag(body: bytes) -> bool:
    """Whether one tag has thousands of attributes, which are compared pair by pair."""
    if len(body) <= _READ_BYTES and _longest_stretch(body) < _LONG_TAG_BYTES:
        return False
    return any(_has_many_attributes(match) for match in _TAG.finditer(body))


def _longest_stretch(body: bytes) -> int:
    """The most bytes between two signs ">"."""
    if len(body) < _LONG_TAG_BYTES:
        return len(body)
    ends = np.flatnonzero(np.frombuffer(body, dtype=np.uint8) == ord(">"))
    return int(np.diff(ends, prepend=-1, append=len(body)).max())


def _has_many_attributes(match: re.Match[bytes]) -> bool:
    start, end = match.span()
    if end - start < _LONG_TAG_BYTES or _SKIPPED.match(match[0]):
        return False
    return len(_SEPARATOR.findall(match[0])) > _MAX_ATTRIBUTES


def _is_deep(body: bytes) -> bool:
    if body.count(b"<") < _HARMLESS_TAGS:
        return False
    names, steps = _tags(body)
    n = max(1, len(names))
    opened = int((steps > 0).sum())
    if opened > _MAX_COPIES // n:
        formatting = np.isin(names, _keys(_FORMATTING))
        if _exceeds(names[formatting], steps[formatting], _MAX_COPIES // n):
            return True
    if opened > _MAX_STEPS // n:
        nesting = ~np.isin(names, _keys(_SHALLOW))
        return _exceeds(names[nesting], steps[nesting], _MAX_STEPS // n)
    return False


def _tags(body: bytes) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Per tag its name (8 bytes, lower case, as a number) and +1 for opening, -1 for closing."""
    padded = body + b" " * (_NAME_BYTES + 2)
    data = np.frombuffer(padded, dtype=np.uint8)
    places = np.flatnonzero(data[: len(body)] == ord("<")) + 1
    closing = data[places] == ord("/")
    windows = np.ndarray((len(body) + 2,), np.dtype("<u8"), padded, strides=(1,))
    letters = windows[places + closing]
    names = (letters | _EACH_BYTE * np.uint64(0x20)) & _before_end(letters)
    first = names & np.uint64(0xFF)
    element = (first >= ord("a")) & (first <= ord("z"))
    return names[element], np.where(closing[element], -1, 1)


def _before_end(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Masks of the bytes before the first white space, ">" or "/" of eight."""
    high = _EACH_BYTE * np.uint64(0x80)
    ends = (letters - _EACH_BYTE * np.uint64(0x21)) & ~letters & high
    for sign in b">/":
        other = letters ^ (_EACH_BYTE * np.uint64(sign))
        ends |= (other - _EACH_BYTE) & ~other & high
    return ((ends & (~ends + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)


def _exceeds(names: NDArray[np.uint64], steps: NDArray[np.int64], limit: int) -> bool:
    """Whether more than `limit` of these elements may be open at once."""
    return int((steps > 0).sum()) > limit and _most_open(names, steps) > limit


def _most_open(names: NDArray[np.uint64], steps: NDArray[np.int64]) -> int:
    """How many elements may be open at once: the sum over names of each one's most."""
    order = np.argsort(names, kind="stable")
    names, steps = names[order], steps[order]
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    # Each name's run begins far below all that precedes it, so that the running minimum starts
    # anew with it.
    apart = np.zeros(len(steps), dtype=np.int64)
    apart[starts] = 2 * len(steps) + 2
    height = np.cumsum(steps - apart)
    floor = np.minimum.accumulate(np.minimum(height, height - steps))
    return int(np.maximum.reduceat(height - floor, starts).clip(0).sum())


@cache
def _keys(names: str) -> NDArray[np.uint64]:
    padded = b"".join(name.encode().ljust(_NAME_BYTES, b"\0") for name in names.split())
    return np.frombuffer(padded, dtype="<u8")
