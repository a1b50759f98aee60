"""The features of a URL, hashed, and their sums: the one place where a URL becomes numbers.

Training asks for a sparse matrix, scoring for sums of weights; both call `_features`, so what
was learned is what is scored. The words and their n-grams are those of Baykan 2013, 2.1; unlike
there, the top-level domain and short words between their delimiters (`/de/`, `lang=de`) are
features of their own, and percent-encoded letters of every script count as letters.
`classifiers.urls.explain` says the same in plain Python, slowly, and names the features; a test
holds the two together.

A letter is a symbol of 9 bits, so that the last seven fit into one integer, the window, and an
n-gram is the low bits of it: no n-gram waits for the hash of another.

All compiled code stands in this one module: numba's cache looks at the file of a function, not
at the files of what it calls, so a cache would outlive a change elsewhere. Only what is called
from Python is cached; the rest is compiled into it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows

MAX_BYTES: Final = 2048
"""Bytes of a URL that are looked at; what follows says little and may be garbage."""
MAX_WORD: Final = 48
"""Letters of a word that are looked at."""
MAX_MARKS: Final = 24
"""Features beside n-grams that a URL may have: its domain, and short words."""
MIN_GRAM: Final = 3
MAX_GRAM: Final = 7
MAX_SHORT: Final = 3
"""Letters of a short word, or of a label that belongs to the top-level domain."""
MARK_VALUE: Final = 0.5
"""Value of a feature that is not an n-gram; the n-grams of a URL form a vector of length 1
(where none occurs twice)."""
STOP_WORDS: Final = ("www", "index", "html", "htm", "http", "https")
"""Words without features; their letters and edges fit into a window."""

DOMAIN, SHORT, LETTER, BLOCK, WORD = range(1, 6)
"""Kinds of features beside the n-grams: the same key makes another bucket in each."""
HOST, PATH = 0, 1
EDGE: Final = 0x5F
SYMBOL_BITS: Final = 9
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

_LINE_END = 0x0A
_SLOW = 1
_ENDS, _USER, _PORT = 1, 2, 3
# No URL has more: a word of n letters, n >= 2, takes n + 1 bytes with what ends it, and has at
# most 5 (n + 2) n-grams, 2 n letters and blocks, and itself. Five more are written and forgotten.
_MAX_GRAMS = MAX_BYTES * 12 + 5
_FACTOR, _KIND_FACTOR = np.uint64(FACTOR), np.uint64(KIND_FACTOR)
_HALF = np.uint64(32)
_SHIFT = np.uint64(SYMBOL_BITS)

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]


def _letters() -> Bytes:
    """For each byte the lower-case letter, _SLOW where more bytes say what it is, or 0."""
    table = np.zeros(256, np.uint8)
    small = np.arange(97, 123)
    table[small] = table[small - 32] = small
    table[0x80:] = table[ord("%")] = _SLOW
    return table


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
    """For each size of n-grams, what moves them to the top of a product and mixes them there.

    A factor that ends with as many 0 bits as older symbols leave in a window leaves them out.
    """
    return tuple(
        np.uint64((factor << 64 - SYMBOL_BITS * size) & (1 << 64) - 1)
        for size, factor in enumerate(GRAM_FACTORS, MIN_GRAM)
    )


def _signs() -> Bytes:
    """For each byte what it says in an authority, or 0."""
    table = np.zeros(256, np.uint8)
    for sign in b"/\\?#\n":
        table[sign] = _ENDS
    table[ord("@")], table[ord(":")] = _USER, _PORT
    return table


_SIGNS = _signs()
_GRAM_FACTORS = _gram_factors()
_LETTERS = _letters()
_STOP_WINDOWS = _stop_windows()
_STOP_LENGTHS = min(map(len, STOP_WORDS)), max(map(len, STOP_WORDS))


# --- Bytes to letters


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
def _point(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
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


@inlined
def _is_letter(point: int) -> bool:
    if point < 0xC0:
        return 97 <= point <= 122
    if 0x2000 <= point <= 0x206F:
        return point in (0x200C, 0x200D)  # joiners stand inside Persian and Indic words
    return not (0x3000 <= point <= 0x303F)


@inlined
def _symbol(point: int) -> np.uint64:
    """A code point in 9 bits; those of one block of 256 stay apart."""
    if point < 0x80:
        return np.uint64(point)
    return np.uint64(256 | ((point ^ (point >> 8) * 0x9D) & 255))


# --- Keys to buckets


@inlined
def _bucket_of(kind: int, key: np.uint64, shift: np.uint64) -> np.uint32:
    """The bucket of a feature that is not an n-gram; any 64 bits can be its key."""
    key = (key + np.uint64(kind)) * _KIND_FACTOR
    return np.uint32(((key ^ (key >> _HALF)) * _FACTOR) >> shift)


@inlined
def _add_grams(window: np.uint64, length: int, shift: np.uint64, grams: Buckets, count: int) -> int:
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
def _add_letter(point: int, shift: np.uint64, grams: Buckets, count: int) -> int:
    """Add a letter beyond ASCII and its block: a script is told by letters never seen."""
    grams[count] = _bucket_of(LETTER, np.uint64(point) << _HALF, shift)
    grams[count + 1] = _bucket_of(BLOCK, np.uint64(point >> 7) << _HALF, shift)
    return count + 2


@inlined
def _short_word(
    window: np.uint64, place: int, before: int, after: int, shift: np.uint64
) -> np.uint32:
    """The bucket of a short word between its delimiters: `/de/` is not `-de-`."""
    key = np.uint64(place) << np.uint64(45) | window
    key |= _symbol(before) << np.uint64(46) | _symbol(after) << np.uint64(55)
    return _bucket_of(SHORT, key, shift)


@inlined
def _is_stop_word(window: np.uint64, length: int) -> bool:
    if length < _STOP_LENGTHS[0] or length > _STOP_LENGTHS[1]:
        return False
    return bool(window in _STOP_WINDOWS)


# --- The parts of a URL


@inlined
def _is_slash(byte: int) -> bool:
    return byte in (0x2F, 0x5C)


@inlined
def _host_start(buffer: Bytes, start: int, end: int) -> int:
    """Where the authority begins, after the scheme or after the two slashes without one."""
    while start < end and buffer[start] <= 0x20 and buffer[start] != _LINE_END:
        start += 1
    if end - start >= 2 and _is_slash(buffer[start]) and _is_slash(buffer[start + 1]):
        return start + 2
    for at in range(start, min(end - 2, start + 12)):
        if buffer[at] == _LINE_END:
            break
        if buffer[at] == 0x3A and _is_slash(buffer[at + 1]) and _is_slash(buffer[at + 2]):
            return at + 3
    return start


@inlined
def _host_bounds(buffer: Bytes, start: int, end: int) -> tuple[int, int, int]:
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
def _label_start(buffer: Bytes, host: int, end: int) -> int:
    """Where the label that ends at `end` begins."""
    while end > host and buffer[end - 1] != 0x2E:
        end -= 1
    return end


@inlined
def _after_www(buffer: Bytes, host: int, end: int) -> int:
    """Where the host goes on after `www.`, if two labels or more are left."""
    for at in range(host, host + 3):
        if at >= end or buffer[at] | 32 != 0x77:
            return host
    rest = host + 4
    if rest <= end and buffer[rest - 1] == 0x2E and _label_start(buffer, rest, end) > rest:
        return rest
    return host


@inlined
def _add_label(
    buffer: Bytes, start: int, end: int, limit: int, key: np.uint64
) -> tuple[np.uint64, int]:
    """The key with the first characters of a label, in lower case, and how many these are."""
    length = 0
    while start < end and length < limit:
        point = int(_LETTERS[buffer[start]])
        if point > _SLOW:
            start += 1
        else:
            point, start = _point(buffer, start, end)
            point = _lower(point)
        key = (key ^ np.uint64(point)) * _FACTOR
        length += 1
    return key, length


@inlined
def _add_domain(
    buffer: Bytes, host: int, end: int, shift: np.uint64, marks: Buckets
) -> tuple[int, int]:
    """Add the top-level domain, and with it the label before where that is short (`co.uk`).

    Gives back how many that are and where the rest of the host ends. A host of one label has none.
    """
    top = _label_start(buffer, host, end)
    if top == host:
        return 0, end
    key, _ = _add_label(buffer, top, end, MAX_BYTES, np.uint64(0))
    marks[0] = _bucket_of(DOMAIN, key, shift)
    second = _label_start(buffer, host, top - 1)
    if second > host:
        key, length = _add_label(buffer, second, top - 1, MAX_SHORT + 1, key)
        if 1 <= length <= MAX_SHORT:
            marks[1] = _bucket_of(DOMAIN, key, shift)
            return 2, top - 1
    return 1, top - 1


# --- The features


@inlined
def _words(
    buffer: Bytes,
    at: int,
    stop: int,
    place: int,
    shift: np.uint64,
    grams: Buckets,
    n_grams: int,
    marks: Buckets,
    n_marks: int,
) -> tuple[int, int, int]:
    """Add the features of the words up to `stop` or the end of the line.

    Gives back how many n-grams and marks there are now, and where the words end.
    """
    before, length, kept = 0x2F, 0, n_grams
    window = whole = np.uint64(EDGE)
    while True:
        letter, point, then = np.uint64(0), 0x2F, at
        if at < stop and buffer[at] != _LINE_END:
            letter, point, then = np.uint64(_LETTERS[buffer[at]]), int(buffer[at]), at + 1
            if letter == _SLOW:
                letter = np.uint64(0)
                point, then = _point(buffer, at, stop)
                point = _lower(point)
                if _is_letter(point):
                    letter = _symbol(point)
                    if point >= 0x80 and length < MAX_WORD:
                        n_grams = _add_letter(point, shift, grams, n_grams)
        if letter:
            at = then
            if length < MAX_WORD:
                length += 1
                window = window << _SHIFT | letter
                whole = (whole ^ letter) * _FACTOR
                n_grams = _add_grams(window, length + 1, shift, grams, n_grams)
            continue
        window = window << _SHIFT | np.uint64(EDGE)
        if length < 2 or _is_stop_word(window, length):
            n_grams = kept
        else:
            n_grams = _add_grams(window, length + 2, shift, grams, n_grams)
            grams[n_grams] = _bucket_of(WORD, whole, shift)
            n_grams += int(length + 2 > MAX_GRAM)
            marks[n_marks] = _short_word(window, place, before, point, shift)
            n_marks += int(length <= MAX_SHORT and n_marks < MAX_MARKS)
        if then == at:
            return n_grams, n_marks, at
        at, before, length, kept = then, point, 0, n_grams
        window = whole = np.uint64(EDGE)


@inlined
def _features(
    buffer: Bytes, start: int, bits: int, grams: Buckets, marks: Buckets
) -> tuple[int, int, int]:
    """Write the buckets of a URL's n-grams and of its marks.

    Gives back how many of each there are, and where the next URL begins.
    """
    shift = np.uint64(64 - bits)
    end = min(len(buffer), start + MAX_BYTES)
    host, stop, path = _host_bounds(buffer, start, end)
    host = _after_www(buffer, host, stop)
    n_marks, stop = _add_domain(buffer, host, stop, shift, marks)
    n_grams, n_marks, _ = _words(buffer, host, stop, HOST, shift, grams, 0, marks, n_marks)
    n_grams, n_marks, at = _words(buffer, path, end, PATH, shift, grams, n_grams, marks, n_marks)
    return n_grams, n_marks, _line_end(buffer, at) + 1


@inlined
def _line_end(buffer: Bytes, at: int) -> int:
    """Where the line ends that goes on at a position."""
    while at < len(buffer) and buffer[at] != _LINE_END:
        at += 1
    return at


@inlined
def _scratch() -> tuple[Buckets, Buckets]:
    """Room for the n-grams of a URL and for its marks."""
    return np.empty(_MAX_GRAMS, np.uint32), np.empty(MAX_MARKS + 4, np.uint32)


@compiled
def count_features(buffer: Bytes, n_urls: int, bits: int) -> Offsets:
    """How many features each URL has, as the row pointers of a CSR matrix, (n_urls + 1,)."""
    grams, marks = _scratch()
    pointers = np.empty(n_urls + 1, np.int64)
    pointers[0] = 0
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = _features(buffer, start, bits, grams, marks)
        pointers[row + 1] = pointers[row] + n_grams + n_marks
    return pointers


@compiled
def fill_features(
    buffer: Bytes, bits: int, pointers: Offsets, indices: Ints, values: Floats
) -> None:
    """Write the buckets and values of every URL's features; a bucket may stand twice in a row."""
    grams, marks = _scratch()
    start = 0
    for row in range(len(pointers) - 1):
        n_grams, n_marks, start = _features(buffer, start, bits, grams, marks)
        at = pointers[row]
        for gram in range(n_grams):
            indices[at + gram] = grams[gram]
            values[at + gram] = 1.0 / math.sqrt(n_grams)
        at += n_grams
        for mark in range(n_marks):
            indices[at + mark] = marks[mark]
            values[at + mark] = MARK_VALUE


# --- The sums


@inlined
def _sum(codes: Codes, buckets: Buckets, count: int) -> int:
    """The sum of the weights of some buckets for one language, in units of its scale."""
    total = 0
    for at in range(count):
        code = int(codes[buckets[at]])
        total += code * abs(code)
    return total


@compiled
def score_one(
    buffer: Bytes, n_urls: int, bits: int, codes: Codes, scale: float, intercept: float
) -> Floats:
    """Decision values of one classifier, (n_urls,); codes are its row, (n_buckets,).

    A weight is code * |code| * scale: fine steps where most weights are, near zero.
    """
    grams, marks = _scratch()
    scores = np.empty(n_urls, np.float32)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = _features(buffer, start, bits, grams, marks)
        total = _sum(codes, marks, n_marks) * MARK_VALUE
        total += _sum(codes, grams, n_grams) / math.sqrt(max(n_grams, 1))
        scores[row] = total * scale + intercept
    return scores


@compiled
def score_many(
    buffer: Bytes,
    n_urls: int,
    bits: int,
    table: Codes,
    scales: Floats,
    intercepts: Floats,
) -> Floats:
    """Decision values of some classifiers, (n_urls, n_languages).

    `table` is that of `table_of`; weights are coded as for `score_one`.
    """
    grams, marks = _scratch()
    n_languages, zeros = len(scales), len(table) - 1
    scores = np.empty((n_urls, n_languages), np.float32)
    gram_sums = np.empty(table.shape[1], np.int32)
    mark_sums = np.empty(table.shape[1], np.int32)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = _features(buffer, start, bits, grams, marks)
        length = math.sqrt(max(n_grams, 1))
        n_grams = filled(grams, n_grams, zeros)
        n_marks = filled(marks, n_marks, zeros)
        sum_rows(table, grams, n_grams, gram_sums)
        sum_rows(table, marks, n_marks, mark_sums)
        for language in range(n_languages):
            total = mark_sums[language] * MARK_VALUE + gram_sums[language] / length
            scores[row, language] = total * scales[language] + intercepts[language]
    return scores
