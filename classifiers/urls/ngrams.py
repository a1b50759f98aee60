"""Hashed URL features: the single place that turns a URL into numbers.

Training needs a sparse matrix (`csr`), scoring needs weight sums (`classifiers.urls.scoring`). Both
call `features`, so learned and scored features agree. Words and n-grams follow Baykan 2013, 2.1.
Unlike the paper, the top-level domain and short words between delimiters (`/de/`, `lang=de`) are
separate features, and percent-encoded letters of every script count as letters.

A letter is a symbol of 9 bits, so that the last seven letters fit into an integer, the window. An
n-gram is the low bits of the window, so no n-gram hash depends on another.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.urls.batch import MAX_CHARACTERS
from langfocus.classifiers.urls.letters import (
    LINE_END,
    SYMBOL_BITS,
    Points,
    after_www,
    decoded,
    host_bounds,
    is_letter,
    label_start,
    symbol,
)
from langfocus.classifiers.weights import Buckets, Floats, Ints

MIN_GRAM: Final = 3
MAX_GRAM: Final = 7
STOP_WORDS: Final = ("www", "index", "html", "htm", "http", "https")
"""Words without features; the letters and edges of a stop word fit into a window."""

DOMAIN, SHORT, LETTER, BLOCK, WORD = range(1, 6)
"""Feature kinds beside n-grams: an equal key hashes to another bucket per kind."""
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

MAX_WORD: Final = 48
"""Letters read per word."""
MAX_MARKS: Final = 24
"""Features beside n-grams per URL: domain and short words."""
MAX_SHORT: Final = 3
"""Letters in a short word, or in a label that belongs to the top-level domain."""
MARK_VALUE: Final = 0.5
"""Value of a feature other than an n-gram; a URL's n-grams form a unit vector (without repeated
n-grams)."""
HOST, PATH = 0, 1

# Upper bound: a word of n letters, n >= 2, takes n + 1 bytes with the delimiter, and has at
# most 5 (n + 2) n-grams, 2 n letters and blocks, and itself. Eight more may be written beyond.
_MAX_GRAMS = MAX_CHARACTERS * 12 + 8
_SHIFT = np.uint64(SYMBOL_BITS)

_KIND_FACTOR = np.uint64(KIND_FACTOR)
_HALF = np.uint64(32)
WORD_FACTOR = np.uint64(FACTOR)


def _window(text: str) -> np.uint64:
    """Return the window after the letters."""
    window = 0
    for letter in text:
        window = window << SYMBOL_BITS | ord(letter)
    return np.uint64(window)


# Trailing 0 bits in a factor drop older symbols from the window.
_GRAM_FACTORS = tuple(
    np.uint64((factor << 64 - SYMBOL_BITS * size) & (1 << 64) - 1)
    for size, factor in enumerate(GRAM_FACTORS, MIN_GRAM)
)
_STOP_WINDOWS = tuple(_window(f"_{word}_") for word in STOP_WORDS)

Offsets = npt.NDArray[np.int64]
Counts = tuple[int, int]
"""Numbers: n-grams, marks."""
Room = tuple[Buckets, Buckets]
"""Buffers for the n-grams and the marks of a URL."""


@inlined
def mixed(kind: int, key: np.uint64) -> np.uint64:
    """Return 64 hash bits for a key, different for each kind."""
    key = (key + np.uint64(kind)) * _KIND_FACTOR
    return (key ^ (key >> _HALF)) * WORD_FACTOR


@inlined
def bucket_of(kind: int, key: np.uint64, shift: np.uint64) -> np.uint32:
    """Return the bucket of a feature other than an n-gram; any 64 bits can be the key."""
    return np.uint32(mixed(kind, key) >> shift)


@inlined
def add_grams(window: np.uint64, length: int, shift: np.uint64, grams: Buckets, count: int) -> int:
    """Add the n-grams that end with a window; `length` symbols of the word are over.

    Every size is written without branches; the next window overwrites n-grams longer than the word.
    """
    grams[count] = np.uint32(window * _GRAM_FACTORS[0] >> shift)
    grams[count + 1] = np.uint32(window * _GRAM_FACTORS[1] >> shift)
    grams[count + 2] = np.uint32(window * _GRAM_FACTORS[2] >> shift)
    grams[count + 3] = np.uint32(window * _GRAM_FACTORS[3] >> shift)
    grams[count + 4] = np.uint32(window * _GRAM_FACTORS[4] >> shift)
    return count + max(min(length, MAX_GRAM) - (MIN_GRAM - 1), 0)


@inlined
def add_letter(point: int, shift: np.uint64, grams: Buckets, count: int) -> int:
    """Add a letter beyond ASCII and the block: a block identifies a script by unseen letters."""
    grams[count] = bucket_of(LETTER, np.uint64(point) << _HALF, shift)
    grams[count + 1] = bucket_of(BLOCK, np.uint64(point >> 7) << _HALF, shift)
    return count + 2


@inlined
def short_word(
    window: np.uint64, place: int, delimiters: tuple[int, int], shift: np.uint64
) -> np.uint32:
    """Return the bucket of a short word between delimiters: `/de/` differs from `-de-`."""
    key = np.uint64(place) << np.uint64(45) | window
    key |= symbol(delimiters[0]) << np.uint64(46) | symbol(delimiters[1]) << np.uint64(55)
    return bucket_of(SHORT, key, shift)


@inlined
def make_room() -> Room:
    """Return buffers for a URL's n-grams and for the marks, the features of other kinds."""
    return np.empty(_MAX_GRAMS, np.uint32), np.empty(MAX_MARKS + 8, np.uint32)


@inlined
def label_key(
    points: Points, start: int, end: int, limit: int, key: np.uint64
) -> tuple[np.uint64, int]:
    """Return the key extended by a label's first characters, and the number of characters."""
    stop = min(end, start + limit)
    for at in range(start, stop):
        key = (key ^ np.uint64(decoded(points[at]))) * WORD_FACTOR
    return key, stop - start


@inlined
def _add_domain(
    points: Points, host: int, end: int, shift: np.uint64, marks: Buckets
) -> tuple[int, int]:
    """Add the top-level domain, and the domain with a short label before (`co.uk`).

    Returns the number of features and the end of the remaining host. A single-label host has none.
    """
    top = label_start(points, host, end)
    if top == host:
        return 0, end
    key, _ = label_key(points, top, end, MAX_CHARACTERS, np.uint64(0))
    marks[0] = bucket_of(DOMAIN, key, shift)
    second = label_start(points, host, top - 1)
    if second > host:
        key, length = label_key(points, second, top - 1, MAX_SHORT + 1, key)
        if 1 <= length <= MAX_SHORT:
            marks[1] = bucket_of(DOMAIN, key, shift)
            return 2, top - 1
    return 1, top - 1


@inlined
def _words(
    points: Points, at: int, stop: int, place: int, shift: np.uint64, room: Room, counts: Counts
) -> tuple[int, int, int]:
    """Add the word features from `at` to before `stop` or the line end.

    `place` is HOST or PATH. Returns the new n-gram and mark counts, and the end position.
    """
    # One long loop: a call for each letter, or a tuple of arrays, takes a third more time.
    (grams, marks), (n_grams, n_marks) = room, counts
    before, length, kept = 0x2F, 0, n_grams
    window = whole = np.uint64(EDGE)
    while True:
        is_end = at >= stop or points[at] == LINE_END
        found = 0x2F if is_end else int(points[at])
        if is_letter(found):
            at += 1
            if length < MAX_WORD:
                if found >= 0x80:
                    n_grams = add_letter(found, shift, grams, n_grams)
                length += 1
                window = window << _SHIFT | symbol(found)
                whole = (whole ^ symbol(found)) * WORD_FACTOR
                n_grams = add_grams(window, length + 1, shift, grams, n_grams)
            continue
        found, window = decoded(found), window << _SHIFT | np.uint64(EDGE)
        if length < 2 or window in _STOP_WINDOWS:
            n_grams = kept
        else:
            n_grams = add_grams(window, length + 2, shift, grams, n_grams)
            grams[n_grams] = bucket_of(WORD, whole, shift)
            n_grams += int(length + 2 > MAX_GRAM)
            marks[n_marks] = short_word(window, place, (before, found), shift)
            n_marks += int(length <= MAX_SHORT and n_marks < MAX_MARKS)
        if is_end:
            return n_grams, n_marks, at
        at, before, length, kept = at + 1, found, 0, n_grams
        window = whole = np.uint64(EDGE)


@inlined
def features(points: Points, start: int, bits: int, room: Room) -> tuple[int, int, int]:
    """Write the n-gram and mark buckets of a URL.

    Returns both counts and the start of the next URL.
    """
    shift = np.uint64(64 - bits)
    end = min(len(points), start + MAX_CHARACTERS)
    host, stop, path = host_bounds(points, start, end)
    host = after_www(points, host, stop)
    n_marks, stop = _add_domain(points, host, stop, shift, room[1])
    n_grams, n_marks, _ = _words(points, host, stop, HOST, shift, room, (0, n_marks))
    n_grams, n_marks, at = _words(points, path, end, PATH, shift, room, (n_grams, n_marks))
    return n_grams, n_marks, at + 1


@compiled
def csr(points: Points, n_urls: int, bits: int) -> tuple[Offsets, Ints, Floats]:
    """Return row pointers (n_urls + 1,), columns and values of the features as a CSR matrix.

    A column is a bucket; a row may repeat a column.
    """
    grams, marks = room = make_room()
    pointers = np.zeros(n_urls + 1, np.int64)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = features(points, start, bits, room)
        pointers[row + 1] = pointers[row] + n_grams + n_marks
    indices, values = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], np.float32)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = features(points, start, bits, room)
        first, last = pointers[row], pointers[row + 1]
        marks_at = first + n_grams
        indices[first:marks_at] = grams[:n_grams]
        values[first:marks_at] = 1.0 / math.sqrt(max(n_grams, 1))
        indices[marks_at:last] = marks[:n_marks]
        values[marks_at:last] = MARK_VALUE
    return pointers, indices, values
