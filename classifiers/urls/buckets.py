"""The buckets of features of URLs: n-grams, words, letters, domains and short words, hashed.

A letter is a symbol of 9 bits, so that the last seven fit into one integer, the window. An n-gram
is the low bits of the window, so no n-gram waits for the hash of another.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from classifiers.compiled import inlined
from classifiers.urls.codepoints import SYMBOL_BITS, symbol
from classifiers.weights import Buckets

MIN_GRAM: Final = 3
MAX_GRAM: Final = 7
STOP_WORDS: Final = ("www", "index", "html", "htm", "http", "https")
"""Words without features; their letters and edges fit into a window."""

DOMAIN, SHORT, LETTER, BLOCK, WORD = range(1, 6)
"""Kinds of features beside the n-grams: the same key makes another bucket in each."""
EDGE: Final = 0x5F
FACTOR: Final = 0x9E3779B97F4A7C15
KIND_FACTOR: Final = 0xD6E8FEB86659FD93
GRAM_FACTORS: Final = (
    0x9E3779B97F4A7C15,
    0xBF58476D1CE4E5B9,
    0x94D049BB133111EB,
    0xD1342543DE82EF95,
    0xAF251AF3B0F025B5,
)
"""Odd numbers that spread the 3- to 7-grams over the buckets (multiplicative hashing)."""

_KIND_FACTOR = np.uint64(KIND_FACTOR)
_HALF = np.uint64(32)
WORD_FACTOR = np.uint64(FACTOR)


def _stop_windows() -> tuple[np.uint64, ...]:
    """The window at the end of each stop word."""
    windows = []
    for word in STOP_WORDS:
        window = 0
        for letter in f"_{word}_":
            window = window << SYMBOL_BITS | ord(letter)
        windows.append(np.uint64(window))
    return tuple(windows)


def _gram_factors() -> tuple[np.uint64, ...]:
    """For each size of n-grams, the factor that mixes them at the top of a product.

    A factor that ends with as many 0 bits as older symbols leave in a window leaves them out.
    """
    return tuple(
        np.uint64((factor << 64 - SYMBOL_BITS * size) & (1 << 64) - 1)
        for size, factor in enumerate(GRAM_FACTORS, MIN_GRAM)
    )


_GRAM_FACTORS = _gram_factors()
_STOP_WINDOWS = _stop_windows()
_STOP_LENGTHS = min(map(len, STOP_WORDS)), max(map(len, STOP_WORDS))


@inlined
def bucket_of(kind: int, key: np.uint64, shift: np.uint64) -> np.uint32:
    """The bucket of a feature that is not an n-gram; any 64 bits can be its key."""
    key = (key + np.uint64(kind)) * _KIND_FACTOR
    return np.uint32(((key ^ (key >> _HALF)) * WORD_FACTOR) >> shift)


@inlined
def add_grams(window: np.uint64, length: int, shift: np.uint64, grams: Buckets, count: int) -> int:
    """Add the n-grams that end with a window; `length` symbols of the word are over.

    All sizes are written, those too long for the word are written over by the next: no branch.
    """
    grams[count] = np.uint32(window * _GRAM_FACTORS[0] >> shift)
    grams[count + 1] = np.uint32(window * _GRAM_FACTORS[1] >> shift)
    grams[count + 2] = np.uint32(window * _GRAM_FACTORS[2] >> shift)
    grams[count + 3] = np.uint32(window * _GRAM_FACTORS[3] >> shift)
    grams[count + 4] = np.uint32(window * _GRAM_FACTORS[4] >> shift)
    return count + max(min(length, MAX_GRAM) - (MIN_GRAM - 1), 0)


@inlined
def add_letter(point: int, shift: np.uint64, grams: Buckets, count: int) -> int:
    """Add a letter beyond ASCII and its block: a script is told by letters never seen."""
    grams[count] = bucket_of(LETTER, np.uint64(point) << _HALF, shift)
    grams[count + 1] = bucket_of(BLOCK, np.uint64(point >> 7) << _HALF, shift)
    return count + 2


@inlined
def short_word(
    window: np.uint64, place: int, delimiters: tuple[int, int], shift: np.uint64
) -> np.uint32:
    """The bucket of a short word between its delimiters: `/de/` is not `-de-`."""
    key = np.uint64(place) << np.uint64(45) | window
    key |= symbol(delimiters[0]) << np.uint64(46) | symbol(delimiters[1]) << np.uint64(55)
    return bucket_of(SHORT, key, shift)


@inlined
def is_stop_word(window: np.uint64, length: int) -> bool:
    if length < _STOP_LENGTHS[0] or length > _STOP_LENGTHS[1]:
        return False
    return bool(window in _STOP_WINDOWS)
