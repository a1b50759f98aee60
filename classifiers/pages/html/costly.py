"""Where a page becomes too costly for an HTML parser.

HTML's rules for building a tree are quadratic in places: a tag may be compared with all open
elements, unclosed formatting elements are made again in each block that follows, and each attribute
of a tag is compared with those before it. Few bytes then take minutes or gigabytes. One pass over
the tags adds up an estimate of these costs. Names that are open too long are counted, no tree is
built, so the estimate of an ordinary page is small and that of a hostile one is too large rather
than too small. What it does not find is left to the limits of the process that reads pages.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined

MOST_TAGS: Final = 80_000
"""Number of "<" that are read; four times as many as in any of 1,546 real pages."""

# In nanoseconds; a node that is made again also takes memory, of which all may take 150 MB.
_MOST_COST: Final = 500_000_000
_OPEN_ELEMENT, _COPY, _ATTRIBUTE = 10, 1_500, 2
_MOST_NAMES: Final = 2_000
_SLOTS: Final = 4_096

_FORMATTING, _SHALLOW, _JOINED, _RAW, _FOREIGN = 1, 2, 3, 4, 5
_KINDS_OF: Final = {
    _FORMATTING: "b big code em font i nobr s small strike strong tt u",
    # Elements without content, and those that the next of their kind closes.
    _SHALLOW: "a area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th tbody thead tfoot option optgroup",
    # All attributes of these are joined to those of the first.
    _JOINED: "html body",
    _RAW: "iframe noembed noframes noscript script style textarea title xmp",
    _FOREIGN: "svg math",
}

Bytes = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


def _key(name: str) -> int:
    return int.from_bytes(name.encode()[:8], "big")


def _tables() -> tuple[Keys, Bytes]:
    """The names of the kinds in their slots, and their kinds."""
    keys, kinds = np.zeros(_SLOTS, np.uint64), np.zeros(_SLOTS, np.uint8)
    for kind, names in _KINDS_OF.items():
        for name in names.split():
            slot = int(_key(name) * _FACTOR % 2**64 >> 52)
            while keys[slot]:
                slot = (slot + 1) % _SLOTS
            keys[slot], kinds[slot] = _key(name), kind
    return keys, kinds


_FACTOR: Final = 0x9E3779B97F4A7C15
_KEYS, _KINDS = _tables()
_SPREAD = np.uint64(_FACTOR)


def end_of(html: bytes) -> int:
    """Where the page ends or becomes too costly; 1 ns a byte."""
    return int(_end(np.frombuffer(html, np.uint8), _KEYS.copy()))


@inlined
def _is_letter(byte: int) -> bool:
    return 97 <= byte | 32 <= 122


@inlined
def _name(html: Bytes, at: int) -> tuple[np.uint64, int]:
    """The first eight letters of a name as a number, and where the name ends."""
    key = np.uint64(0)
    for place in range(at, at + 8):
        if place >= len(html) or html[place] <= 0x20 or html[place] in (0x2F, 0x3E):
            break
        byte = html[place]
        key = key << np.uint64(8) | np.uint64(byte | 32 if _is_letter(byte) else byte)
    while at < len(html) and html[at] > 0x20 and html[at] not in (0x2F, 0x3E):
        at += 1
    return key, at


@inlined
def _slot(keys: Keys, key: np.uint64) -> int:
    """The place of a name, or where it can be put."""
    slot = np.int64(key * _SPREAD >> np.uint64(52))
    while keys[slot] and keys[slot] != key:
        slot = np.int64((slot + 1) % _SLOTS)
    return int(slot)


@inlined
def _value_end(html: Bytes, at: int) -> int:
    """Where the value of an attribute ends, from after its "="."""
    while at < len(html) and html[at] <= 0x20:
        at += 1
    quote = html[at] if at < len(html) else 0x3E
    if quote in (0x22, 0x27):
        at += 1
        while at < len(html) and html[at] != quote:
            at += 1
        return at + 1
    while at < len(html) and html[at] > 0x20 and html[at] != 0x3E:
        at += 1
    return at


@inlined
def _tag_end(html: Bytes, at: int, seen: Counts, number: int, cost: int) -> tuple[int, int, int]:
    """Where a tag ends whose name ended, the number of its attributes, and the cost with theirs.

    `number` attributes came before. `seen` marks hashes of the names of attributes; the last item
    is their number. It ends early where the cost is too high.
    """
    while at < len(html) and html[at] != 0x3E and cost < _MOST_COST:
        if html[at] <= 0x20 or html[at] == 0x2F:
            at += 1
            continue
        key = np.uint64(html[at]) * _SPREAD
        at += 1
        while at < len(html) and html[at] > 0x20 and html[at] not in (0x2F, 0x3D, 0x3E):
            key = (key ^ np.uint64(html[at])) * _SPREAD
            at += 1
        number += 1
        slot = np.int64(key >> np.uint64(48))
        if not seen[slot]:
            seen[slot] = 1
            seen[-1] += 1
            cost += seen[-1]
        cost += _ATTRIBUTE * number
        while at < len(html) and html[at] <= 0x20:
            at += 1
        if at < len(html) and html[at] == 0x3D:
            at = _value_end(html, at + 1)
    return at, number, cost


@compiled
def _end(html: Bytes, keys: Keys) -> int:
    """Where reading ends: where the page ends or becomes too costly."""
    opened, seen = np.zeros(_SLOTS, np.int64), np.zeros(2**16 + 1, np.int64)
    names = tags = at = cost = depth = formatting = joined = foreign = 0
    while at < len(html) and cost < _MOST_COST:
        if html[at] != 0x3C:
            at += 1
            continue
        start = at
        tags += 1
        at += 1
        if at + 2 < len(html) and html[at] == 0x21 and html[at + 1] == 0x2D == html[at + 2]:
            at = _after_comment(html, at + 3)
            continue
        is_end = at < len(html) and html[at] == 0x2F
        at += is_end
        if at == len(html) or not _is_letter(html[at]):
            continue
        key, at = _name(html, at)
        slot = _slot(keys, key)
        if not keys[slot]:
            keys[slot] = key
            names += 1
        if tags > MOST_TAGS or names > _MOST_NAMES:
            return start
        kind = _KINDS[slot]
        before = joined if kind == _JOINED else 0
        at, number, cost = _tag_end(html, at, seen, before, cost)
        if kind == _JOINED:
            joined = number
        cost += _OPEN_ELEMENT * depth
        if kind != _FORMATTING:
            cost += _COPY * formatting
        if kind != _SHALLOW:
            step = (-1 if opened[slot] else 0) if is_end else 1
            opened[slot] += step
            depth += step
            formatting += step if kind == _FORMATTING else 0
            foreign += step if kind == _FOREIGN else 0
        if kind == _RAW and not (is_end or foreign):
            at = _before_end_tag(html, at, key)
    return at


@inlined
def _after_comment(html: Bytes, at: int) -> int:
    while at < len(html):
        last = at - 1 - int(html[at - 1] == 0x21)
        if html[at] == 0x3E and html[last] == 0x2D == html[last - 1]:  # "-->" or "--!>"
            return at
        at += 1
    return at


@inlined
def _before_end_tag(html: Bytes, at: int, key: np.uint64) -> int:
    """Where the next end tag of a name begins."""
    while at + 1 < len(html):
        if html[at] == 0x3C and html[at + 1] == 0x2F and _name(html, at + 2)[0] == key:
            return at
        at += 1
    return len(html)
