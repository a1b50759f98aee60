"""URL code points: letters, and host, port and path bounds.

A letter becomes a 9-bit symbol.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import inlined
from langfocus.classifiers.urls.batch import ENCODED

SYMBOL_BITS: Final = 9
LINE_END: Final = 0x0A

Points = npt.NDArray[np.uint32]


@inlined
def is_letter(point: int) -> bool:
    if point < 0xC0:
        return 97 <= point <= 122
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)  # joiners occur inside Persian and Indic words
    return not (0x3000 <= point <= 0x303F or point >= ENCODED)


@inlined
def symbol(point: int) -> np.uint64:
    """Return a code point in 9 bits; code points within a block of 256 stay distinct."""
    if point < 0x80:
        return np.uint64(point)
    return np.uint64(256 | ((point ^ (point >> 8) * 0x9D) & 255))


@inlined
def decoded(point: int) -> int:
    """Return the code point, percent-decoded."""
    return point - ENCODED if point >= ENCODED else point


@inlined
def _is_slash(point: int) -> bool:
    return point in (0x2F, 0x5C)


@inlined
def _host_start(points: Points, start: int, end: int) -> int:
    """Return the start of the authority, after the scheme or after two slashes without a scheme."""
    while start < end and points[start] <= 0x20 and points[start] != LINE_END:
        start += 1
    if end - start >= 2 and _is_slash(points[start]) and _is_slash(points[start + 1]):
        return start + 2
    for at in range(start, min(end - 2, start + 12)):
        if points[at] == LINE_END:
            break
        if points[at] == 0x3A and _is_slash(points[at + 1]) and _is_slash(points[at + 2]):
            return at + 3
    return start


@inlined
def host_bounds(points: Points, start: int, end: int) -> tuple[int, int, int]:
    """Return host start, after scheme and user, host end, and path start."""
    host = path = _host_start(points, start, end)
    stop = -1
    while path < end:
        point = points[path]
        if _is_slash(point) or point in (0x23, 0x3F, LINE_END):
            break
        if point == 0x40:
            host, stop = path + 1, -1
        elif point == 0x3A and stop < 0:
            stop = path
        path += 1
    if stop < 0:
        stop = path
    while stop > host and points[stop - 1] == 0x2E:
        stop -= 1
    return host, stop, path


@inlined
def label_start(points: Points, host: int, end: int) -> int:
    """Return the start of the label that ends at `end`."""
    while end > host and points[end - 1] != 0x2E:
        end -= 1
    return end


@inlined
def after_www(points: Points, host: int, end: int) -> int:
    """Return the host start after `www.`, if at least two labels remain."""
    rest = host + 4
    if rest > end or points[rest - 1] != 0x2E or label_start(points, rest, end) == rest:
        return host
    for at in range(host, host + 3):
        if points[at] != 0x77:
            return host
    return rest
