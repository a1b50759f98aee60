"""The letters of a URL: bytes to code points, in lower case, and these to symbols of 9 bits."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import inlined

SYMBOL_BITS: Final = 9
LINE_END: Final = 0x0A
SLOW: Final = 1
"""In `LETTERS`: the byte is a part of a letter, or of a sign, that has several bytes."""

Bytes = npt.NDArray[np.uint8]


def _letters() -> Bytes:
    """For each byte the lower-case letter, SLOW where more bytes have to be read, or 0."""
    table = np.zeros(256, np.uint8)
    small = np.arange(97, 123)
    table[small] = table[small - 32] = small
    table[0x80:] = table[ord("%")] = SLOW
    return table


LETTERS = _letters()


@inlined
def _hex(byte: int) -> int:
    if 48 <= byte <= 57:
        return byte - 48
    byte |= 32
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@inlined
def _byte(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """The byte at a position, percent-decoded, and the position after it."""
    byte = int(buffer[at])
    if byte == 37 and at + 2 < end:
        high, low = _hex(int(buffer[at + 1])), _hex(int(buffer[at + 2]))
        if high >= 0 and low >= 0:
            return high * 16 + low, at + 3
    return byte, at + 1


@inlined
def point(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """The code point at a position and the position after it; a stray byte is 0xDC00 + byte."""
    first, after = _byte(buffer, at, end)
    if first < 0x80:
        return first, after
    if 0xC2 <= first < 0xE0:
        more, point, least = 1, first & 0x1F, 0x80
    elif 0xE0 <= first < 0xF0:
        more, point, least = 2, first & 0x0F, 0x800
    elif 0xF0 <= first < 0xF5:
        more, point, least = 3, first & 0x07, 0x10000
    else:
        return 0xDC00 + first, after
    then = after
    for _ in range(more):
        if then >= end:
            return 0xDC00 + first, after
        byte, then = _byte(buffer, then, end)
        if byte & 0xC0 != 0x80:
            return 0xDC00 + first, after
        point = point << 6 | byte & 0x3F
    is_surrogate = 0xD800 <= point < 0xE000
    if is_surrogate or point > 0x10FFFF or point < least:
        return 0xDC00 + first, after
    return point, then


@inlined
def lower(point: int) -> int:
    """The lower case of the letters that the alphabets of many URLs have."""
    if 0x41 <= point <= 0x5A or (0xC0 <= point <= 0xDE and point != 0xD7):
        return point + 32
    if 0x391 <= point <= 0x3A9 or 0x410 <= point <= 0x42F:
        return point + 32
    if 0x400 <= point <= 0x40F:
        return point + 80
    if 0x100 <= point <= 0x137 or 0x14A <= point <= 0x177:
        return point | 1
    if 0x139 <= point <= 0x148 or 0x179 <= point <= 0x17E:
        return point + (point & 1)
    return point


@inlined
def is_letter(point: int) -> bool:
    if point < 0xC0:
        return 97 <= point <= 122
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)  # joiners stand inside Persian and Indic words
    return not (0x3000 <= point <= 0x303F)


@inlined
def symbol(point: int) -> np.uint64:
    """A code point in 9 bits; those of one block of 256 stay apart."""
    if point < 0x80:
        return np.uint64(point)
    return np.uint64(256 | ((point ^ (point >> 8) * 0x9D) & 255))
