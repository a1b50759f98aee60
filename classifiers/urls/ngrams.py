"""The features of a URL, hashed: the one place where a URL becomes numbers.

Training asks for a sparse matrix (`count_features`, `fill_features`), scoring for sums of weights
(`classifiers.urls.scoring`). Both call `features`, so the learned features are the scored ones.
The words and their n-grams are those of Baykan 2013, 2.1. Unlike there, the top-level domain and
short words between their delimiters (`/de/`, `lang=de`) are features of their own, and
percent-encoded letters of every script count as letters. `classifiers.urls.explain` does the same
slowly in plain Python, and names the features; a test compares the two.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.urls.authority import after_www, host_bounds, label_start, line_end
from classifiers.urls.buckets import (
    DOMAIN,
    EDGE,
    MAX_GRAM,
    WORD,
    WORD_FACTOR,
    add_grams,
    add_letter,
    bucket_of,
    is_stop_word,
    short_word,
)
from classifiers.urls.codepoints import (
    LETTERS,
    LINE_END,
    SLOW,
    SYMBOL_BITS,
    Bytes,
    is_letter,
    lower,
    point,
    symbol,
)
from classifiers.weights import Buckets, Floats, Ints

MAX_BYTES: Final = 2048
"""Bytes of a URL that are read; the rest says little and may be garbage."""
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
_MAX_GRAMS = MAX_BYTES * 12 + 8
_SHIFT = np.uint64(SYMBOL_BITS)

Offsets = npt.NDArray[np.int64]
Counts = tuple[int, int]
"""Of n-grams and of marks."""


class Part(NamedTuple):
    """A part of the buffer: from `start` to before `stop`, in the `place` HOST or PATH."""

    start: int
    stop: int
    place: int


def room() -> tuple[Buckets, Buckets]:
    """Room for the n-grams of a URL and for its marks, the features of other kinds."""
    return np.empty(_MAX_GRAMS, np.uint32), np.empty(MAX_MARKS + 8, np.uint32)


scratch = inlined(room)
"""`room` for compiled functions."""


@inlined
def _add_label(
    buffer: Bytes, start: int, end: int, limit: int, key: np.uint64
) -> tuple[np.uint64, int]:
    """The key with the first characters of a label, in lower case, and how many these are."""
    length = 0
    while start < end and length < limit:
        letter = int(LETTERS[buffer[start]])
        if letter > SLOW:
            start += 1
        else:
            letter, start = point(buffer, start, end)
            letter = lower(letter)
        key = (key ^ np.uint64(letter)) * WORD_FACTOR
        length += 1
    return key, length


@inlined
def _add_domain(buffer: Bytes, part: Part, shift: np.uint64, marks: Buckets) -> tuple[int, int]:
    """Add the top-level domain, and with it the label before where that is short (`co.uk`).

    Returns how many these are and where the rest of the host ends. A host of one label has none.
    """
    host, end = part.start, part.stop
    top = label_start(buffer, host, end)
    if top == host:
        return 0, end
    key, _ = _add_label(buffer, top, end, MAX_BYTES, np.uint64(0))
    marks[0] = bucket_of(DOMAIN, key, shift)
    second = label_start(buffer, host, top - 1)
    if second > host:
        key, length = _add_label(buffer, second, top - 1, MAX_SHORT + 1, key)
        if 1 <= length <= MAX_SHORT:
            marks[1] = bucket_of(DOMAIN, key, shift)
            return 2, top - 1
    return 1, top - 1


@inlined
def _wide_letter(buffer: Bytes, at: int, stop: int) -> tuple[np.uint64, int, int]:
    """The symbol of a letter of several bytes or 0, the code point, and the position after it."""
    found, after = point(buffer, at, stop)
    found = lower(found)
    return symbol(found) if is_letter(found) else np.uint64(0), found, after


@inlined
def _words(
    buffer: Bytes, part: Part, shift: np.uint64, grams: Buckets, marks: Buckets, counts: Counts
) -> tuple[int, int, int]:
    """Add the features of the words of a part, which ends with the line at the latest.

    Returns how many n-grams and marks there are now, and where the words end.
    """
    # One long loop: a call for each letter, or a tuple of arrays, takes a third more time.
    n_grams, n_marks, at = counts[0], counts[1], part.start
    before, length, kept = 0x2F, 0, n_grams
    window = whole = np.uint64(EDGE)
    while True:
        letter, found, after = np.uint64(0), 0x2F, at
        if at < part.stop and buffer[at] != LINE_END:
            letter, found, after = np.uint64(LETTERS[buffer[at]]), int(buffer[at]), at + 1
            if letter == SLOW:
                letter, found, after = _wide_letter(buffer, at, part.stop)
                if letter and found >= 0x80 and length < MAX_WORD:
                    n_grams = add_letter(found, shift, grams, n_grams)
        if letter:
            at = after
            if length < MAX_WORD:
                length += 1
                window = window << _SHIFT | letter
                whole = (whole ^ letter) * WORD_FACTOR
                n_grams = add_grams(window, length + 1, shift, grams, n_grams)
            continue
        window = window << _SHIFT | np.uint64(EDGE)
        if length < 2 or is_stop_word(window, length):
            n_grams = kept
        else:
            n_grams = add_grams(window, length + 2, shift, grams, n_grams)
            grams[n_grams] = bucket_of(WORD, whole, shift)
            n_grams += int(length + 2 > MAX_GRAM)
            marks[n_marks] = short_word(window, part.place, (before, found), shift)
            n_marks += int(length <= MAX_SHORT and n_marks < MAX_MARKS)
        if after == at:
            return n_grams, n_marks, at
        at, before, length, kept = after, found, 0, n_grams
        window = whole = np.uint64(EDGE)


@inlined
def features(
    buffer: Bytes, start: int, bits: int, grams: Buckets, marks: Buckets
) -> tuple[int, int, int]:
    """Write the buckets of a URL's n-grams and of its marks.

    Returns how many of each there are, and where the next URL begins.
    """
    shift = np.uint64(64 - bits)
    end = min(len(buffer), start + MAX_BYTES)
    host, stop, path = host_bounds(buffer, start, end)
    host = after_www(buffer, host, stop)
    n_marks, stop = _add_domain(buffer, Part(host, stop, HOST), shift, marks)
    n_grams, n_marks, _ = _words(buffer, Part(host, stop, HOST), shift, grams, marks, (0, n_marks))
    counts = n_grams, n_marks
    n_grams, n_marks, at = _words(buffer, Part(path, end, PATH), shift, grams, marks, counts)
    return n_grams, n_marks, line_end(buffer, at) + 1


@compiled
def count_features(buffer: Bytes, n_urls: int, bits: int) -> Offsets:
    """How many features each URL has, as the row pointers of a CSR matrix, (n_urls + 1,)."""
    grams, marks = scratch()
    pointers = np.empty(n_urls + 1, np.int64)
    pointers[0] = 0
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = features(buffer, start, bits, grams, marks)
        pointers[row + 1] = pointers[row] + n_grams + n_marks
    return pointers


@compiled
def fill_features(
    buffer: Bytes, bits: int, pointers: Offsets, indices: Ints, values: Floats
) -> None:
    """Write the buckets and values of every URL's features; a bucket may stand twice in a row."""
    grams, marks = scratch()
    start = 0
    for row in range(len(pointers) - 1):
        n_grams, n_marks, start = features(buffer, start, bits, grams, marks)
        at = pointers[row]
        for gram in range(n_grams):
            indices[at + gram] = grams[gram]
            values[at + gram] = 1.0 / math.sqrt(n_grams)
        at += n_grams
        for mark in range(n_marks):
            indices[at + mark] = marks[mark]
            values[at + mark] = MARK_VALUE
