"""The clues of a URL that name a language: its top-level domain, codes, names and scripts.

A clue is a kind and a token, hashed to 64 bits: `de` as a whole segment of the path is another clue
than `de` as the value of a parameter. What a clue says about a language is learned, see
:mod:`classifiers.urls.posteriors`; here it is only found. The words of a URL are the features of
:mod:`classifiers.urls.ngrams`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.urls.letters import (
    LETTERS,
    LINE_END,
    SLOW,
    Bytes,
    host_bounds,
    is_letter,
    label_start,
    line_end,
    lower,
    point,
)
from classifiers.urls.ngrams import (
    FACTOR,
    KIND_FACTOR,
    MAX_BYTES,
    WORD_FACTOR,
    label_key,
    mixed,
)
from classifiers.weights import Ints

TOP: Final = 0
"""The top-level domain."""
HOST: Final = 1
"""A label of the host before the last two, or its part before a hyphen: `de.wikipedia.org`."""
SEGMENT: Final = 2
"""A segment of the path, also with a file's ending: `/de/`, `/de.html`."""
LOCALE: Final = 3
"""The first part of a segment of two short words: `de` of `/de-AT/`."""
REGION: Final = 4
"""The second part of such a segment: `at` of `/de-AT/`."""
KEYED: Final = 5
"""The value of a parameter of a language, or its first part: `lang=de`, `hl=de-AT`."""
PARAMETER: Final = 6
"""The value of another parameter."""
SUFFIX: Final = 7
"""The last part of a longer segment: `page_de.html`, `/contact-de/`."""
BLOCK: Final = 8
"""128 characters of Unicode, of which a letter beyond ASCII is one."""

MAX_CLUES: Final = 24
"""Clues of a URL that are kept."""
MIN_TOKEN: Final = 2
MAX_TOKEN: Final = 12
_CODE_LETTERS: Final = 3
_REGION_LETTERS: Final = 4
LANGUAGE_KEYS: Final = (
    "lang language hl locale lng langue idioma lingua sprache kieli ln l setlang uselang langid"
    " langpref lc culture"
).split()
"""Names of parameters whose value is a language."""

Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int32]

_BITS_64: Final = (1 << 64) - 1
_TOP_BITS: Final = 12
_TOP_SHIFT = np.uint64(64 - _TOP_BITS)


def key_of(kind: int, token: str) -> int:
    """The key of a clue; the token in lower case. For BLOCK the token is one letter."""
    key = _chain([ord(token) >> 7] if kind == BLOCK else map(ord, token))
    key = (key + kind + 1) * KIND_FACTOR & _BITS_64
    return (key ^ key >> 32) * FACTOR & _BITS_64


def _chain(points: Iterable[int]) -> int:
    key = 0
    for each in points:
        key = (key ^ each) * FACTOR & _BITS_64
    return key


_LANGUAGE_KEYS = tuple(np.uint64(_chain(map(ord, key))) for key in LANGUAGE_KEYS)

_FINAL, _JOIN, _DOT, _SLASH, _EQUALS = 1, 2, 4, 8, 16


def _signs() -> Bytes:
    """The meanings of each byte around a token."""
    table = np.zeros(256, np.uint8)
    for sign in b"/?#&;\n":
        table[sign] = _FINAL
    table[ord("/")] |= _SLASH
    table[ord("-")] = table[ord("_")] = _JOIN
    table[ord(".")] = _DOT
    table[ord("=")] = _EQUALS
    return table


_SIGNS = _signs()


@inlined
def _add(found: Keys, count: int, kind: int, key: np.uint64) -> int:
    """Add a clue, unless it is there or there is no room."""
    clue = mixed(kind + 1, key)
    for at in range(count):
        if found[at] == clue:
            return count
    if count < MAX_CLUES:
        found[count] = clue
        count += 1
    return count


@inlined
def _letter(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """The letter at a position in lower case, or 0, and the position after it."""
    letter = int(LETTERS[buffer[at]])
    if letter == SLOW:
        letter, at = point(buffer, at, end)
        letter = lower(letter)
        return (letter if is_letter(letter) else 0), at
    return letter, at + 1


@inlined
def _label(buffer: Bytes, at: int, end: int) -> tuple[np.uint64, int]:
    """The hash of a label up to a hyphen, and how many letters it has; 0 if there is a digit."""
    key, length = np.uint64(0), 0
    while at < end and buffer[at] != 0x2D:
        letter, at = _letter(buffer, at, end)
        if not letter:
            return key, 0
        key = (key ^ np.uint64(letter)) * WORD_FACTOR
        length += 1
    return key, length


@inlined
def _add_host(buffer: Bytes, host: int, stop: int, found: Keys) -> int:
    """Add the top-level domain and the labels before the last two."""
    top = label_start(buffer, host, stop)
    if top == host:
        return 0
    key, _ = label_key(buffer, top, stop, MAX_BYTES, np.uint64(0))
    count = _add(found, 0, TOP, key)
    start = label_start(buffer, host, top - 1)
    while start > host:
        end = start - 1
        start = label_start(buffer, host, end)
        key, length = _label(buffer, start, end)
        if MIN_TOKEN <= length <= MAX_TOKEN:
            count = _add(found, count, HOST, key)
    return count


@inlined
def _kind(before: int, after: int, length: int, is_keyed: bool) -> int:
    """The kind of a token between two signs, or -1."""
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
def _plain_letters(buffer: Bytes, at: int, end: int, key: np.uint64) -> tuple[np.uint64, int]:
    """The hash with the ASCII letters from a position on, and the position after them.

    Most bytes are such letters: `_letter` alone for each of them takes twice as long.
    """
    while at < end and LETTERS[buffer[at]] > SLOW:
        key = (key ^ np.uint64(LETTERS[buffer[at]])) * WORD_FACTOR
        at += 1
    return key, at


@inlined
def _add_path(buffer: Bytes, at: int, end: int, found: Keys, count: int) -> tuple[int, int]:
    """Add the tokens of the path; returns how many clues there are, and where the path ends."""
    key, length, before = np.uint64(0), 0, _SLASH
    open_kind, open_key, is_keyed = -1, np.uint64(0), False
    while True:
        key, after = _plain_letters(buffer, at, end, key)
        length += after - at
        letter, sign, at = 0, _FINAL, after
        is_end = at >= end or buffer[at] == LINE_END
        if not is_end:
            sign = int(_SIGNS[buffer[at]])
            letter, after = _letter(buffer, at, end)
        if letter:
            at = after
            if letter >= 0x80:
                count = _add(found, count, BLOCK, np.uint64(letter >> 7) * WORD_FACTOR)
            key = (key ^ np.uint64(letter)) * WORD_FACTOR
            length += 1
            continue
        is_second = open_kind >= 0 and before & _JOIN and sign & (_FINAL | _DOT)
        if is_second and MIN_TOKEN <= length <= _REGION_LETTERS:
            count = _add(found, count, open_kind, open_key)
            count = _add(found, count, REGION, key)
            open_kind = -1
        elif length:
            kind = _kind(before, sign, length, is_keyed) if MIN_TOKEN <= length <= MAX_TOKEN else -1
            if kind >= 0 and sign & _JOIN:
                open_kind, open_key = kind, key
            else:
                open_kind = -1
                if kind >= 0:
                    count = _add(found, count, kind, key)
        if is_end:
            return count, at
        if sign & _EQUALS:
            is_keyed = length > 0 and key in _LANGUAGE_KEYS
        at, before, key, length = after, sign, np.uint64(0), 0


@inlined
def clues(buffer: Bytes, start: int, found: Keys) -> tuple[int, int]:
    """Write the clues of a URL, at most MAX_CLUES.

    Returns how many there are, and where the next URL begins.
    """
    end = min(len(buffer), start + MAX_BYTES)
    host, stop, path = host_bounds(buffer, start, end)
    count = _add_host(buffer, host, stop, found)
    at = host
    while at < stop:
        if buffer[at] >= 0x80 or buffer[at] == 0x25:
            letter, at = _letter(buffer, at, stop)
            if letter >= 0x80:
                count = _add(found, count, BLOCK, np.uint64(letter >> 7) * WORD_FACTOR)
        else:
            at += 1
    count, at = _add_path(buffer, path, end, found, count)
    return count, line_end(buffer, at) + 1


def starts_of(keys: Keys) -> Ints:
    """The place of the first of sorted keys that begins with each number of 12 bits."""
    firsts = np.arange(1 << _TOP_BITS, dtype=np.uint64) << _TOP_SHIFT
    return np.searchsorted(keys, firsts).astype(np.int32)


@inlined
def place_of(keys: Keys, starts: Ints, clue: np.uint64) -> int:
    """The place of a clue in sorted keys, or -1. Keys are hashes, so few begin alike."""
    at = int(starts[clue >> _TOP_SHIFT])
    while at < len(keys) and keys[at] < clue:
        at += 1
    return at if at < len(keys) and keys[at] == clue else -1


def find_clues(buffer: Bytes, n_urls: int, keys: Keys) -> Rows:
    """The rows of the known clues of each URL, (n_urls, MAX_CLUES); -1 where there are fewer.

    `keys` are sorted; a row is a place in them.
    """
    return _find_clues(buffer, n_urls, keys, starts_of(keys))


@compiled
def _find_clues(buffer: Bytes, n_urls: int, keys: Keys, starts: Ints) -> Rows:
    found = np.empty(MAX_CLUES, np.uint64)
    rows = np.full((n_urls, MAX_CLUES), -1, np.int32)
    start = 0
    for url in range(n_urls):
        count, start = clues(buffer, start, found)
        known = 0
        for at in range(count):
            row = place_of(keys, starts, found[at])
            if row >= 0:
                rows[url, known] = row
                known += 1
    return rows
