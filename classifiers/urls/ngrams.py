"""The features of a URL, hashed: the one place where a URL becomes numbers.

Training asks for a sparse matrix (`csr`), scoring for sums of weights (`classifiers.urls.scoring`).
Both call `features`, so the learned features are the scored ones. The words and their n-grams are
those of Baykan 2013, 2.1. Unlike there, the top-level domain and short words between their
delimiters (`/de/`, `lang=de`) are features of their own, and percent-encoded letters of every
script count as letters.

A letter is a symbol of 9 bits, so that the last seven fit into one integer, the window. An n-gram
is the low bits of the window, so no n-gram waits for the hash of another.
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

MAX_WORD: Final = 48
"""Letters of a word that are read."""
MAX_MARKS: Final = 24
"""Features beside n-grams that a URL may have: its domain, and short words."""
MAX_SHORT: Final = 3
"""Letters of a short word, or of a label that belongs to the top-level domain."""
MARK_VALUE: Final = 0.5
"""Value of a feature that is not an n-gram; the n-grams of a URL form a vector of length 1
(where none occurs twice)."""
HOST, PATH = 0, 1

# No URL has more: a word of n letters, n >= 2, takes n + 1 bytes with its delimiter, and has at
# most 5 (n + 2) n-grams, 2 n letters and blocks, and itself. Eight more may be written beyond.
_MAX_GRAMS = MAX_CHARACTERS * 12 + 8
_SHIFT = np.uint64(SYMBOL_BITS)

_KIND_FACTOR = np.uint64(KIND_FACTOR)
_HALF = np.uint64(32)
WORD_FACTOR = np.uint64(FACTOR)


def _window(text: str) -> np.uint64:
    """The window after some letters."""
    window = 0
    for letter in text:
        window = window << SYMBOL_BITS | ord(letter)
    return np.uint64(window)


# A factor that ends with as many 0 bits as older symbols leave in a window leaves them out.
_GRAM_FACTORS = tuple(
    np.uint64((factor << 64 - SYMBOL_BITS * size) & (1 << 64) - 1)
    for size, factor in enumerate(GRAM_FACTORS, MIN_GRAM)
)
_STOP_WINDOWS = tuple(_window(f"_{word}_") for word in STOP_WORDS)

Offsets = npt.NDArray[np.int64]
Counts = tuple[int, int]
"""Of n-grams and of marks."""
Room = tuple[Buckets, Buckets]
"""For the n-grams of a URL, and for its marks."""


@inlined
def mixed(kind: int, key: np.uint64) -> np.uint64:
    """A key of a kind as 64 bits that differ from those of the same key in another kind."""
    key = (key + np.uint64(kind)) * _KIND_FACTOR
    return (key ^ (key >> _HALF)) * WORD_FACTOR


@inlined
def bucket_of(kind: int, key: np.uint64, shift: np.uint64) -> np.uint32:
    """The bucket of a feature that is not an n-gram; any 64 bits can be its key."""
    return np.uint32(mixed(kind, key) >> shift)


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
def make_room() -> Room:
    """Room for the n-grams of a URL and for its marks, the features of other kinds."""
    return np.empty(_MAX_GRAMS, np.uint32), np.empty(MAX_MARKS + 8, np.uint32)


@inlined
def label_key(
    points: Points, start: int, end: int, limit: int, key: np.uint64
) -> tuple[np.uint64, int]:
    """The key with the first characters of a label, and how many these are."""
    stop = min(end, start + limit)
    for at in range(start, stop):
        key = (key ^ np.uint64(decoded(points[at]))) * WORD_FACTOR
    return key, stop - start


@inlined
def _add_domain(
    points: Points, host: int, end: int, shift: np.uint64, marks: Buckets
) -> tuple[int, int]:
    """Add the top-level domain, and with it the label before where that is short (`co.uk`).

    Returns how many these are and where the rest of the host ends. A host of one label has none.
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
    """Add the features of the words from `at` to before `stop` or the end of the line.

    `place` is HOST or PATH. Returns how many n-grams and marks there are now, and where the words
    end.
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
    """Write the buckets of a URL's n-grams and of its marks.

    Returns how many of each there are, and where the next URL begins.
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
    """The row pointers (n_urls + 1,), columns and values of the features as a CSR matrix.

    A column is a bucket; one may stand twice in a row.
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
