"""The features of a URL, hashed, and their sums: the one place where a URL becomes numbers.

Training asks for a sparse matrix, scoring for sums of weights; both call `_features`, so what
was learned is what is scored. The words and their n-grams are those of Baykan 2013, 2.1; unlike
there, the top-level domain and short words between their delimiters (`/de/`, `lang=de`) are
features of their own, and percent-encoded letters of every script count as letters.

All compiled code stands in this one module: numba's cache looks at the file of a function, not
at the files of what it calls, so a cache would outlive a change elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

MAX_BYTES = 2048
"""Bytes of a URL that are looked at; what follows says little and may be garbage."""
MAX_WORD = 48
"""Letters of a word that are looked at."""
MAX_MARKS = 24
"""Features beside n-grams that a URL may have: its domain, and short words."""
MIN_GRAM = 3
MAX_GRAM = 7
MARK_VALUE = 0.5
"""Value of a feature that is not an n-gram; the n-grams of a URL form a vector of length 1
(where none occurs twice)."""

_STOP_WORDS = tuple(
    int.from_bytes(word, "big") for word in (b"www", b"index", b"html", b"htm", b"http", b"https")
)
# No URL has more: a word of n letters, n >= 2, takes n + 1 bytes with what ends it, and has at
# most 5 (n + 2) n-grams, 2 n letters and blocks, and itself.
_MAX_GRAMS = MAX_BYTES * 12
_GRAM, _DOMAIN, _SHORT, _LETTER, _BLOCK, _WORD = range(1, 7)
_HOST, _PATH = 0, 1
_EDGE = 0x5F
_BASIS = np.uint64(0xCBF29CE484222325)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_WIDTH = np.uint64(64)

Function = TypeVar("Function", bound=Callable[..., Any])
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int8]


def _compiled(function: Function) -> Function:
    """The function compiled, from numba's cache where one can be written, else anew."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder for the cache can be written
        return cast(Function, numba.njit(nogil=True)(function))


@_compiled
def _mix(state: np.uint64, symbol: int) -> np.uint64:
    state = (state ^ np.uint64(symbol)) * _FACTOR
    return state ^ (state >> _FOLD)


@_compiled
def _hex(byte: int) -> int:
    if 48 <= byte <= 57:
        return byte - 48
    byte |= 32
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@_compiled
def _byte(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """The byte at a position, percent-decoded, and the position after it."""
    byte = int(buffer[at])
    if byte == 37 and at + 2 < end:
        high, low = _hex(int(buffer[at + 1])), _hex(int(buffer[at + 2]))
        if high >= 0 and low >= 0:
            return high * 16 + low, at + 3
    return byte, at + 1


@_compiled
def _symbol(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """The code point at a position and the position after it; a stray byte is 0xDC00 + byte."""
    first, after = _byte(buffer, at, end)
    if first < 0x80:
        return first, after
    if 0xC2 <= first < 0xE0:
        more, point = 1, first & 0x1F
    elif 0xE0 <= first < 0xF0:
        more, point = 2, first & 0x0F
    elif 0xF0 <= first < 0xF5:
        more, point = 3, first & 0x07
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
    if is_surrogate or point > 0x10FFFF or point < (0x80, 0x800, 0x10000)[more - 1]:
        return 0xDC00 + first, after
    return point, then


@_compiled
def _lower(point: int) -> int:
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


@_compiled
def _is_letter(point: int) -> bool:
    if point < 0xC0:
        return 97 <= point <= 122
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)  # joiners stand inside Persian and Indic words
    return not (0x3000 <= point <= 0x303F)


@_compiled
def _state(kind: int) -> np.uint64:
    return _mix(_BASIS, kind)


@_compiled
def _bucket(state: np.uint64, bits: int) -> int:
    return int(state >> (_WIDTH - np.uint64(bits)))


@_compiled
def _add_grams(word: Ints, length: int, bits: int, grams: Ints, count: int) -> int:
    """Add the n-grams of word[0:length], which begins and ends with a mark, and the word."""
    whole = _state(_WORD)
    for start in range(length):
        whole = _mix(whole, word[start])
        state = _state(_GRAM)
        for size in range(1, min(MAX_GRAM, length - start) + 1):
            state = _mix(state, word[start + size - 1])
            if size >= MIN_GRAM:
                grams[count] = _bucket(state, bits)
                count += 1
    if length > MAX_GRAM:
        grams[count] = _bucket(whole, bits)
        count += 1
    return count


@_compiled
def _add_letters(word: Ints, length: int, bits: int, grams: Ints, count: int) -> int:
    """Add letters beyond ASCII and their blocks: a script is told by letters never seen."""
    for at in range(1, length - 1):
        if word[at] >= 0x80:
            grams[count] = _bucket(_mix(_state(_LETTER), word[at]), bits)
            grams[count + 1] = _bucket(_mix(_state(_BLOCK), word[at] >> 7), bits)
            count += 2
    return count


@_compiled
def _short_word(word: Ints, length: int, place: int, before: int, after: int, bits: int) -> int:
    """The bucket of a short word between its delimiters: `/de/` is not `-de-`."""
    state = _mix(_mix(_mix(_state(_SHORT), place), before), after)
    for at in range(1, length + 1):
        state = _mix(state, word[at])
    return _bucket(state, bits)


@_compiled
def _host_bounds(buffer: Bytes, start: int, end: int) -> tuple[int, int]:
    """Where the host begins, after scheme and user, and where it ends."""
    host = start
    for at in range(start, min(end - 2, start + 12)):
        if buffer[at] == 0x3A and buffer[at + 1] == 0x2F and buffer[at + 2] == 0x2F:
            host = at + 3
            break
    path = host
    while path < end and buffer[path] not in (0x2F, 0x3F, 0x23):
        path += 1
        if buffer[path - 1] == 0x40:
            host = path
    return host, path


@_compiled
def _label_start(buffer: Bytes, host: int, end: int) -> int:
    """Where the label that ends at `end` begins."""
    at = end
    while at > host and buffer[at - 1] != 0x2E:
        at -= 1
    return at


@_compiled
def _add_domain(
    buffer: Bytes, host: int, end: int, bits: int, marks: Ints, count: int
) -> tuple[int, int]:
    """Add the top-level domain, and with it the label before where that is short (`co.uk`).

    Gives back the count and where the rest of the host ends. A host of one label has none.
    """
    for at in range(host, end):
        if buffer[at] == 0x3A:  # a port
            end = at
            break
    while end > host and buffer[end - 1] == 0x2E:
        end -= 1
    top = _label_start(buffer, host, end)
    if top == host:
        return count, end
    state = _state(_DOMAIN)
    for at in range(top, end):
        state = _mix(state, _lower(int(buffer[at])))
    marks[count] = _bucket(state, bits)
    count += 1
    second = _label_start(buffer, host, top - 1)
    if second > host and top - 1 - second <= 3:
        for at in range(second, top - 1):
            state = _mix(state, _lower(int(buffer[at])))
        marks[count] = _bucket(state, bits)
        count += 1
    return count, top - 1


@_compiled
def _features(
    buffer: Bytes, start: int, end: int, bits: int, word: Ints, grams: Ints, marks: Ints
) -> tuple[int, int]:
    """Write the buckets of a URL's n-grams and of its marks; give back how many of each."""
    end = min(end, start + MAX_BYTES)
    host, path = _host_bounds(buffer, start, end)
    n_marks, stop = _add_domain(buffer, host, path, bits, marks, 0)
    n_grams, place, at, before, length, packed = 0, _HOST, host, 0x2F, 0, 0
    while True:
        point, after = 0x2F, at
        if at < stop:
            point, after = _symbol(buffer, at, stop)
            point = _lower(point)
            if _is_letter(point):
                if length < MAX_WORD:
                    length += 1
                    word[length] = point
                    packed = packed << 8 | point if length <= 5 and point < 0x80 else -1
                at = after
                continue
        if length >= 2 and packed not in _STOP_WORDS:
            word[0] = word[length + 1] = _EDGE
            n_grams = _add_grams(word, length + 2, bits, grams, n_grams)
            n_grams = _add_letters(word, length + 2, bits, grams, n_grams)
            if length <= 3 and n_marks < MAX_MARKS:
                marks[n_marks] = _short_word(word, length, place, before, point, bits)
                n_marks += 1
        length, packed, before = 0, 0, point
        if at < stop:
            at = after
        elif place == _HOST:
            place, at, stop, before = _PATH, path, end, 0x2F
        else:
            return n_grams, n_marks


@_compiled
def _scratch() -> tuple[Ints, Ints, Ints]:
    """Room for one word, for the n-grams of a URL and for its marks."""
    return (
        np.empty(MAX_WORD + 2, np.int32),
        np.empty(_MAX_GRAMS, np.int32),
        np.empty(MAX_MARKS, np.int32),
    )


@_compiled
def count_features(buffer: Bytes, offsets: Offsets, bits: int) -> Offsets:
    """How many features each URL has, as the row pointers of a CSR matrix, (n_urls + 1,)."""
    word, grams, marks = _scratch()
    pointers = np.zeros(len(offsets), np.int64)
    for row in range(len(offsets) - 1):
        n_grams, n_marks = _features(
            buffer, offsets[row], offsets[row + 1], bits, word, grams, marks
        )
        pointers[row + 1] = pointers[row] + n_grams + n_marks
    return pointers


@_compiled
def fill_features(
    buffer: Bytes, offsets: Offsets, bits: int, pointers: Offsets, indices: Ints, values: Floats
) -> None:
    """Write the buckets and values of every URL's features; a bucket may stand twice in a row."""
    word, grams, marks = _scratch()
    for row in range(len(offsets) - 1):
        n_grams, n_marks = _features(
            buffer, offsets[row], offsets[row + 1], bits, word, grams, marks
        )
        at = pointers[row]
        for gram in range(n_grams):
            indices[at + gram] = grams[gram]
            values[at + gram] = 1.0 / math.sqrt(n_grams)
        at += n_grams
        for mark in range(n_marks):
            indices[at + mark] = marks[mark]
            values[at + mark] = MARK_VALUE


@_compiled
def score_one(
    buffer: Bytes, offsets: Offsets, bits: int, weights: Weights, scale: float, intercept: float
) -> Floats:
    """Decision values of one classifier, (n_urls,); weights are its row, (n_buckets,).

    A weight is code * |code| * scale: fine steps where most weights are, near zero.
    """
    word, grams, marks = _scratch()
    scores = np.empty(len(offsets) - 1, np.float32)
    for row in range(len(scores)):
        n_grams, n_marks = _features(
            buffer, offsets[row], offsets[row + 1], bits, word, grams, marks
        )
        gram_sum, mark_sum = 0, 0
        for gram in range(n_grams):
            code = int(weights[grams[gram]])
            gram_sum += code * abs(code)
        for mark in range(n_marks):
            code = int(weights[marks[mark]])
            mark_sum += code * abs(code)
        total = mark_sum * MARK_VALUE + gram_sum / math.sqrt(max(n_grams, 1))
        scores[row] = total * scale + intercept
    return scores


@_compiled
def score_all(
    buffer: Bytes,
    offsets: Offsets,
    bits: int,
    table: Weights,
    scales: Floats,
    intercepts: Floats,
) -> Floats:
    """Decision values of all classifiers, (n_urls, n_languages); table is (n_buckets, same).

    Weights are coded as for `score_one`.
    """
    word, grams, marks = _scratch()
    n_languages = table.shape[1]
    scores = np.empty((len(offsets) - 1, n_languages), np.float32)
    gram_sums = np.empty(n_languages, np.int32)
    mark_sums = np.empty(n_languages, np.int32)
    for row in range(len(scores)):
        n_grams, n_marks = _features(
            buffer, offsets[row], offsets[row + 1], bits, word, grams, marks
        )
        gram_sums[:] = 0
        mark_sums[:] = 0
        for gram in range(n_grams):
            weights = table[grams[gram]]
            for language in range(n_languages):
                code = np.int32(weights[language])
                gram_sums[language] += code * abs(code)
        for mark in range(n_marks):
            weights = table[marks[mark]]
            for language in range(n_languages):
                code = np.int32(weights[language])
                mark_sums[language] += code * abs(code)
        length = math.sqrt(max(n_grams, 1))
        for language in range(n_languages):
            total = mark_sums[language] * MARK_VALUE + gram_sums[language] / length
            scores[row, language] = total * scales[language] + intercepts[language]
    return scores
