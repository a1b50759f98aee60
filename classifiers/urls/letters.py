"""The bytes of a URL read: letters in lower case, and where host, port and path begin and end.

A letter becomes a code point, and this a symbol of 9 bits.
"""

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


_ENDS, _USER, _PORT = 1, 2, 3


def _signs_of_authority() -> Bytes:
    """The meaning of each byte in an authority, or 0."""
    table = np.zeros(256, np.uint8)
    for sign in b"/\\?#\n":
        table[sign] = _ENDS
    table[ord("@")], table[ord(":")] = _USER, _PORT
    return table


_SIGNS = _signs_of_authority()


@inlined
def _is_slash(byte: int) -> bool:
    return byte in (0x2F, 0x5C)


@inlined
def _host_start(buffer: Bytes, start: int, end: int) -> int:
    """Where the authority begins, after the scheme or after the two slashes without one."""
    while start < end and buffer[start] <= 0x20 and buffer[start] != LINE_END:
        start += 1
    if end - start >= 2 and _is_slash(buffer[start]) and _is_slash(buffer[start + 1]):
        return start + 2
    for at in range(start, min(end - 2, start + 12)):
        if buffer[at] == LINE_END:
            break
        if buffer[at] == 0x3A and _is_slash(buffer[at + 1]) and _is_slash(buffer[at + 2]):
            return at + 3
    return start


@inlined
def host_bounds(buffer: Bytes, start: int, end: int) -> tuple[int, int, int]:
    """Where the host begins, after scheme and user, where it ends, and where the path begins."""
    host = path = _host_start(buffer, start, end)
    stop = -1
    while path < end:
        sign = _SIGNS[buffer[path]]
        if sign:
            if sign == _ENDS:
                break
            if sign == _USER:
                host, stop = path + 1, -1
            elif stop < 0:
                stop = path
        path += 1
    if stop < 0:
        stop = path
    while stop > host and buffer[stop - 1] == 0x2E:
        stop -= 1
    return host, stop, path


@inlined
def label_start(buffer: Bytes, host: int, end: int) -> int:
    """Where the label that ends at `end` begins."""
    while end > host and buffer[end - 1] != 0x2E:
        end -= 1
    return end


@inlined
def after_www(buffer: Bytes, host: int, end: int) -> int:
    """Where the host goes on after `www.`, if two labels or more are left."""
    for at in range(host, host + 3):
        if at >= end or buffer[at] | 32 != 0x77:
            return host
    rest = host + 4
    if rest <= end and buffer[rest - 1] == 0x2E and label_start(buffer, rest, end) > rest:
        return rest
    return host


@inlined
def line_end(buffer: Bytes, at: int) -> int:
    """Where the line ends that goes on at a position."""
    while at < len(buffer) and buffer[at] != LINE_END:
        at += 1
    return at
