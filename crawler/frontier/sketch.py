"""About how many different links a host has beyond its cap, in the room of one short text.

Such links are not stored, and most pages of a site repeat them. Linear counting (Whang,
Vander-Zanden and Taylor 1990) needs a bit for each of `BITS` remainders of fingerprints: the share
of bits that are still 0 tells how many different fingerprints there were. The error is about 5 % up
to 2,000.
"""

import math
from collections.abc import Iterable
from typing import Final

BITS: Final = 1024
_DIGITS: Final = BITS // 4

MOST: Final = 3000
"""The highest number that is told; it stands for this many or more."""


def written(fingerprints: Iterable[int], before: str | None = None) -> str:
    """Return the sketch `before` with more fingerprints; its length never changes."""
    bits = _bits_of(before)
    for key in fingerprints:
        bits |= 1 << (key % BITS)
    return f"{bits:0{_DIGITS}x}"


def _bits_of(text: str | None) -> int:
    try:
        return int(text, 16) if text else 0
    except ValueError:  # a damaged row
        return 0


def number(text: str) -> int:
    """Return about the number of different fingerprints; raises ValueError for another text."""
    empty = BITS - int(text, 16).bit_count()
    return min(MOST, round(BITS * math.log(BITS / empty))) if empty > 0 else MOST
