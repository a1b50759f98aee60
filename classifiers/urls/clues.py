"""Language clues in a URL: top-level domain, codes, names, scripts, and the host itself.

A clue is a kind and a token, hashed to 64 bits: `de` as a whole path segment is a different clue
from `de` as a parameter value. This module only extracts clues; :mod:`classifiers.urls.posteriors`
weighs the evidence learned for each clue. URL words are the features of
:mod:`classifiers.urls.ngrams`.
"""

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.urls.batch import ENCODED, MAX_CHARACTERS
from langfocus.classifiers.urls.letters import (
    LINE_END,
    Points,
    after_www,
    host_bounds,
    is_letter,
    label_start,
)
from langfocus.classifiers.urls.ngrams import FACTOR, KIND_FACTOR, WORD_FACTOR, label_key, mixed

TOP: Final = 0
"""Top-level domain."""
HOST: Final = 1
"""A host label before the last two, or the label's part before a hyphen: `de.wikipedia.org`."""
SEGMENT: Final = 2
"""A path segment, also with a file extension: `/de/`, `/de.html`."""
LOCALE: Final = 3
"""First part of a two-part segment: `de` in `/de-AT/`."""
REGION: Final = 4
"""Second part of a two-part segment: `at` in `/de-AT/`."""
KEYED: Final = 5
"""Value of a language parameter, or the value's first part: `lang=de`, `hl=de-AT`."""
PARAMETER: Final = 6
"""Value of another parameter."""
SUFFIX: Final = 7
"""Last part of a longer segment: `page_de.html`, `/contact-de/`."""
BLOCK: Final = 8
"""Range of 128 Unicode characters around a letter beyond ASCII."""
SEGMENT_PAIR: Final = 9
"""Two consecutive two-letter segments: `/my/en/`."""
LOCALE_PAIR: Final = 10
"""LOCALE and REGION together: `/ch-de/`."""
WORD: Final = 11
"""A two-letter segment below another directory that is a word: `/how/to/`."""

NAME_START: Final = 12
"""First letters of a host label, among the names of languages: `uyghurtimes.com`."""
NAME_END: Final = 13
"""Last letters of a host label, from the last to the first: `voashona.com`."""

MIN_NAME: Final = 5
NAME_BITS: Final = 14
"""Base-2 logarithm of the size of a name filter."""
MAX_CLUES: Final = 24
"""Clues kept per URL, and words."""
MAX_HOSTS: Final = 6
"""Keys kept of a URL's host: of its last two labels, three and so on, and of a directory."""
MIN_WORD: Final = 3
MIN_TOKEN: Final = 2
MAX_TOKEN: Final = 12
_CODE_LETTERS: Final = 3
_REGION_LETTERS: Final = 4
LANGUAGE_KEYS: Final = (
    "lang language hl locale lng langue idioma lingua sprache kieli ln l setlang uselang langid"
    " langpref lc culture jazyk locales langcode languagecode"
).split()
"""Parameter names whose value is a language."""

WORD_CODES: Final = "am an as be by do go in me my of on or so to us".split()
"""Language and country codes that are English words: no code below another directory."""

Keys = npt.NDArray[np.uint64]
Filter = npt.NDArray[np.bool_]
"""True at the upper bits of the keys of the names that are clues within host labels."""
Rows = npt.NDArray[np.int32]
Counts = tuple[int, int, int]
"""Counts of clues, words and hosts."""

_LABEL: Final = 1
_DIRECTORY: Final = 2
_BITS_64: Final = (1 << 64) - 1
_KEPT_TOKENS: Final = 4096


def key_of(kind: int, token: str) -> int:
    """Return a clue's key; the token is in lower case. For BLOCK the token is a letter."""
    key = _chain(chr(ord(token) >> 7) if kind == BLOCK else token)
    key = (key + kind + 1) * KIND_FACTOR & _BITS_64
    return (key ^ key >> 32) * FACTOR & _BITS_64


def filter_of(keys: Keys) -> Filter:
    """Return the name filter of clue keys."""
    names = np.zeros(1 << NAME_BITS, np.bool_)
    names[keys >> np.uint64(64 - NAME_BITS)] = True
    return names


def pair_key_of(kind: int, first: str, second: str) -> int:
    """Return the key of a clue with two two-letter tokens."""
    return key_of(kind, f"{first} {second}")


@lru_cache(_KEPT_TOKENS)
def _chain(token: str) -> int:
    key = 0
    for point in map(ord, token):
        key = (key ^ point) * FACTOR & _BITS_64
    return key


_LANGUAGE_KEYS = tuple(np.uint64(_chain(key)) for key in LANGUAGE_KEYS)

_WORD_CODES = tuple(np.uint64(_chain(code)) for code in WORD_CODES)

_FINAL, _JOIN, _DOT, _SLASH, _EQUALS, _BRACKET = 1, 2, 4, 8, 16, 32
_OPEN, _CLOSE = ENCODED + ord("["), ENCODED + ord("]")
_NAME_SHIFT = np.uint64(64 - NAME_BITS)
_PAIR_LETTERS: Final = 2
_PAIR_SPAN: Final = 2 * _PAIR_LETTERS + 1


def _signs() -> npt.NDArray[np.uint8]:
    """Return the delimiter meanings of each ASCII character around a token."""
    table = np.zeros(128, np.uint8)
    for sign in b"/?#&;":
        table[sign] = _FINAL
    table[ord("/")] |= _SLASH
    table[ord("-")] = table[ord("_")] = _JOIN
    table[ord(".")] = _DOT
    table[ord("=")] = _EQUALS
    table[ord("[")] = table[ord("]")] = _BRACKET
    return table


_SIGNS = _signs()


@inlined
def clue_room() -> Keys:
    """Return an array for the clues, words and hosts of a URL."""
    return np.empty(2 * MAX_CLUES + MAX_HOSTS, np.uint64)


@inlined
def _add(found: Keys, count: int, kind: int, key: np.uint64) -> int:
    """Add a clue, unless present or full."""
    clue = mixed(kind + 1, key)
    for at in range(count):
        if found[at] == clue:
            return count
    if count < MAX_CLUES:
        found[count] = clue
        count += 1
    return count


@inlined
def _add_word(found: Keys, n_words: int, key: np.uint64, length: int) -> int:
    """Add the key of a word after the clues, unless short or full."""
    if length < MIN_WORD or n_words == MAX_CLUES:
        return n_words
    found[MAX_CLUES + n_words] = key
    return n_words + 1


@inlined
def _label(points: Points, at: int, end: int) -> tuple[np.uint64, int]:
    """Return a label's hash up to a hyphen and the number of letters; 0 letters with a digit."""
    key, length = np.uint64(0), 0
    while at < end and points[at] != 0x2D:
        if not is_letter(points[at]):
            return key, 0
        key = (key ^ np.uint64(points[at])) * WORD_FACTOR
        length += 1
        at += 1
    return key, length


@inlined
def _add_host(points: Points, host: int, stop: int, found: Keys) -> tuple[int, int]:
    """Add the top-level domain, the labels before the last two, and words; return both counts."""
    top, n_words = label_start(points, host, stop), 0
    if top == host:
        return 0, 0
    key, _ = label_key(points, top, stop, MAX_CHARACTERS, np.uint64(0))
    count = _add(found, 0, TOP, key)
    start = top
    while start > host:
        end = start - 1
        start = label_start(points, host, end)
        key, length = _label(points, start, end)
        if MIN_TOKEN <= length <= MAX_TOKEN and end < top - 1:
            count = _add(found, count, HOST, key)
        n_words = _add_word(found, n_words, key, length)
    return count, n_words


@inlined
def _add_names(points: Points, host: int, stop: int, names: Filter, found: Keys, count: int) -> int:
    """Add the names with which labels before the top-level domain begin or end.

    A whole label counts only next to the top-level domain: it is a HOST clue elsewhere.
    """
    top = label_start(points, host, stop) - 1
    end = top
    while end > host:
        start = label_start(points, host, end)
        for kind, first, step in ((NAME_START, start, 1), (NAME_END, end - 1, -1)):
            key, length, at = np.uint64(0), 0, first
            is_whole = kind == NAME_START and end == top
            while start <= at < end and length < MAX_TOKEN and is_letter(points[at]):
                key = (key ^ np.uint64(points[at])) * WORD_FACTOR
                length, at = length + 1, at + step
                is_name = length >= MIN_NAME and (is_whole or start <= at < end)
                if is_name and names[mixed(kind + 1, key) >> _NAME_SHIFT]:
                    count = _add(found, count, kind, key)
        end = start - 1
    return count


@inlined
def _add_hosts(points: Points, bounds: tuple[int, int, int], end: int, found: Keys) -> int:
    """Add the keys of the last two labels of a host, of the last three and so on.

    The last key is of the host and the first directory of the path. Returns the count.
    """
    host, stop, path = bounds
    host, at = after_www(points, host, stop), stop
    key, count, n_labels = np.uint64(0), 0, 0
    while at > host and n_labels < MAX_HOSTS:
        start = label_start(points, host, at)
        key, _ = label_key(points, start, at, MAX_CHARACTERS, mixed(_LABEL, key))
        if n_labels:
            found[2 * MAX_CLUES + count] = key
            count += 1
        at, n_labels = start - 1, n_labels + 1
    after = path + 1
    while after < end and points[after] not in (0x2F, 0x3F, 0x23, LINE_END):
        after += 1
    if count and at < host and path < end and points[path] == 0x2F and after > path + 1:
        key, _ = label_key(points, path + 1, after, MAX_CHARACTERS, mixed(_DIRECTORY, key))
        found[2 * MAX_CLUES + count] = key
        count += 1
    return count


@inlined
def _kind(before: int, after: int, length: int, is_keyed: bool) -> int:
    """Return the kind of a token between two signs, or -1."""
    if before & _EQUALS:
        if after & (_FINAL | _JOIN):
            return KEYED if is_keyed else PARAMETER
    elif before & _SLASH:
        if after & (_FINAL | _DOT):
            return SEGMENT
        if after & _JOIN and length <= _CODE_LETTERS:
            return LOCALE
    elif before & (_JOIN | _DOT) and after & (_FINAL | _DOT):
        return SUFFIX
    return -1


@inlined
def _add_pair(points: Points, at: int, kind: int, found: Keys, count: int) -> int:
    """Add the pair of two-letter tokens that ends before `at`, with a sign between."""
    if at < _PAIR_SPAN:
        return count
    key = np.uint64(0)
    for place in range(at - _PAIR_SPAN, at):
        is_sign = place == at - _PAIR_LETTERS - 1
        if is_sign == is_letter(points[place]):
            return count
        key = (key ^ np.uint64(0x20 if is_sign else points[place])) * WORD_FACTOR
    return _add(found, count, kind, key)


@inlined
def _add_short(
    points: Points, at: int, state: tuple[int, bool], key: np.uint64, found: Keys, count: int
) -> int:
    """Add a two-letter segment that ends before `at`, and the pair with the segment before.

    `state`: start of the first segment, and whether the segment before has two letters.
    """
    first, is_pair = state
    if is_pair:
        count = _add_pair(points, at, SEGMENT_PAIR, found, count)
    elif at - _PAIR_LETTERS > first and key in _WORD_CODES:
        return _add(found, count, WORD, key)
    return _add(found, count, SEGMENT, key)


@inlined
def _sign(letter: int) -> int:
    """Return the meaning of a sign; brackets may be percent-encoded."""
    if letter in (_OPEN, _CLOSE):
        letter -= ENCODED
    return int(_SIGNS[letter]) if letter < len(_SIGNS) else 0


@inlined
def _add_block(point: int, found: Keys, count: int) -> int:
    """Add the block of a letter beyond ASCII."""
    if point >= 0x80 and is_letter(point):
        return _add(found, count, BLOCK, np.uint64(point >> 7) * WORD_FACTOR)
    return count


@inlined
def _add_path(
    points: Points, at: int, end: int, found: Keys, counts: tuple[int, int]
) -> tuple[int, int, int]:
    """Add the path tokens and words; return both counts and the path end.

    A word beside a digit is a piece of an identifier: `fd3fad62`.
    """
    (count, n_words), is_cut = counts, False
    key, length, before = np.uint64(0), 0, _SLASH
    open_kind, open_key, is_keyed = -1, np.uint64(0), False
    first, is_pair = at + 1, False
    while True:
        is_end = at >= end or points[at] == LINE_END
        letter = 0 if is_end else int(points[at])
        if is_letter(letter):
            count = _add_block(letter, found, count)
            key = (key ^ np.uint64(letter)) * WORD_FACTOR
            length += 1
            at += 1
            continue
        sign = _FINAL if is_end else _sign(letter)
        is_digit = 0x30 <= letter <= 0x39
        n_words = _add_word(found, n_words, key, 0 if is_cut or is_digit else length)
        is_second = open_kind >= 0 and before & _JOIN and sign & (_FINAL | _DOT)
        if is_second and MIN_TOKEN <= length <= _REGION_LETTERS:
            count = _add(found, count, open_kind, open_key)
            count = _add(found, count, REGION, key)
            if open_kind == LOCALE and length == _PAIR_LETTERS:
                count = _add_pair(points, at, LOCALE_PAIR, found, count)
            open_kind = -1
        elif length:
            kind = _kind(before, sign, length, is_keyed) if MIN_TOKEN <= length <= MAX_TOKEN else -1
            if kind >= 0 and sign & _JOIN:
                open_kind, open_key = kind, key
            else:
                open_kind = -1
                is_short = kind == SEGMENT and length == _PAIR_LETTERS
                if is_short:
                    count = _add_short(points, at, (first, is_pair), key, found, count)
                elif kind >= 0:
                    count = _add(found, count, kind, key)
                is_pair = is_short
        if is_end:
            return count, n_words, at
        if sign & (_EQUALS | _JOIN):
            is_named = (length > 0 or before & _BRACKET != 0) and key in _LANGUAGE_KEYS
            is_keyed = is_named or (is_keyed and sign & _EQUALS != 0 and before & _JOIN != 0)
        if not sign & _BRACKET:
            key = np.uint64(0)
        at, before, length, is_cut = at + 1, sign, 0, is_digit


@inlined
def clues(points: Points, start: int, names: Filter, found: Keys) -> tuple[Counts, int]:
    """Write the clues of a URL into a `clue_room`; within host labels those of the filter.

    Keys of words follow from MAX_CLUES on, keys of hosts from twice MAX_CLUES on. Returns the
    counts of clues, words and hosts, and the start of the next URL.
    """
    end = min(len(points), start + MAX_CHARACTERS)
    host, stop, path = host_bounds(points, start, end)
    n_hosts = _add_hosts(points, (host, stop, path), end, found)
    count, n_words = _add_host(points, host, stop, found)
    count = _add_names(points, host, stop, names, found, count)
    for at in range(host, stop):
        count = _add_block(points[at], found, count)
    count, n_words, at = _add_path(points, path, end, found, (count, n_words))
    return (count, n_words, n_hosts), at + 1


@inlined
def place_of(keys: Keys, clue: np.uint64) -> int:
    """Return a clue's index in sorted keys, or -1."""
    low, high = 0, len(keys)
    while low < high:  # numpy.searchsorted takes seconds to compile
        middle = (low + high) // 2
        if keys[middle] < clue:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == clue else -1


@compiled
def find_clues(points: Points, n_urls: int, keys: Keys) -> Rows:
    """Return the rows of each URL's known clues, (n_urls, MAX_CLUES); padded with -1.

    `points` come from `batch.encode`. `keys` are sorted; a row is an index into `keys`. Without
    names within host labels.
    """
    found, names = clue_room(), np.zeros(1 << NAME_BITS, np.bool_)
    rows = np.full((n_urls, MAX_CLUES), -1, np.int32)
    start = 0
    for url in range(n_urls):
        counts, start = clues(points, start, names, found)
        known = 0
        for at in range(counts[0]):
            row = place_of(keys, found[at])
            if row >= 0:
                rows[url, known] = row
                known += 1
    return rows
