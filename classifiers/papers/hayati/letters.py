"""Text letters, cleaned as in Hayati 2004 (section 2), and n-grams as numbers."""

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.tables.letters import letter_flags

MAX_CHARACTERS: Final = 4_000
"""Maximum characters of an identified text: sorting loose accents takes quadratic time."""

Codes = NDArray[np.int64]
Keys = NDArray[np.uint64]
Grams = NDArray[np.str_]

_SPACE: Final = 0x20
# Nearly all letters are below this; above are only a few rare Han signs.
_LIMIT: Final = 0x30000
# Kana, Bopomofo, Han and Hangul.
_SIGNS: Final = (
    (0x3041, 0x31FF),
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),
    (0x20000, _LIMIT - 1),
)
# 2 ** 64 divided by the golden ratio: odd, and its bits are well mixed.
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_BITS: Final = 21


def letters(text: str) -> Codes:
    """Return a text's code points in lower case: letters only, a single space between words.

    Unlike the paper, whose pages are all Windows-1252, letters of any script count, with their
    marks (such as the vowels of Devanagari), and case is dropped. Each sign of Chinese, Japanese or
    Korean is a word, because triples seldom recur.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    encoded = text.lower().encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, dtype="<u4")
    codes = _table()[np.minimum(points, _LIMIT)]
    spaces = codes == _SPACE
    keep = ~spaces
    keep[1:] |= keep[:-1]
    codes = codes[keep]
    return _apart(codes[:-1] if len(codes) and codes[-1] == _SPACE else codes)


def joined(texts: Iterable[str]) -> Codes:
    """Return the letters of several texts as a single text, with spaces between texts."""
    parts = [np.append(codes, _SPACE) for codes in map(letters, texts) if len(codes)]
    return np.concatenate(parts)[:-1] if parts else np.zeros(0, dtype=np.int64)


def keys(codes: Codes, n: int) -> Keys:
    """Return the n-grams of a circular text in text order, each as a 64-bit hash."""
    key = codes.astype(np.uint64)
    for shift in range(1, n):
        key = key * _MULTIPLIER + np.roll(codes, -shift).astype(np.uint64)
    return key


def keys_of(grams: Grams) -> Keys:
    """Return the hashes of n-grams passed as text; 0 for an empty n-gram."""
    grams = np.ascontiguousarray(grams)
    width = max(1, grams.dtype.itemsize // 4)
    points = grams.view(np.uint32).reshape(*grams.shape, width).astype(np.uint64)
    key = points[..., 0]
    for place in range(1, width):
        point = points[..., place]
        key = np.where(point > 0, key * _MULTIPLIER + point, key)
    return key


def found(keys: Keys, wanted: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the place of each wanted key among sorted keys, and a mask of present keys."""
    if not len(keys):
        return np.zeros(len(wanted), np.intp), np.zeros(len(wanted), np.bool_)
    rows = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return rows, keys[rows] == wanted


def spelled(codes: Codes, places: NDArray[np.int64], n: int) -> Grams:
    """Return the n-grams at these places of a circular text, shape (places,)."""
    window = codes[(places[:, None] + np.arange(n)) % max(1, len(codes))]
    return np.ascontiguousarray(window.astype("<u4")).view(f"<U{n}").reshape(-1)


def trigrams(codes: Codes) -> Keys:
    """Return the 3-grams of a circular text in text order, packed without loss."""
    second, third = np.roll(codes, -1), np.roll(codes, -2)
    return ((codes << (2 * _BITS)) | (second << _BITS) | third).astype(np.uint64)


def packed(grams: Grams) -> Keys:
    """Return 3-gram keys equal to the keys from `trigrams`."""
    wide = np.ascontiguousarray(grams.astype("<U3"))
    points = wide.view(np.uint32).reshape(-1, 3).astype(np.int64)
    key = (points[:, 0] << (2 * _BITS)) | (points[:, 1] << _BITS) | points[:, 2]
    return key.astype(np.uint64)


def unpacked(key: Keys) -> Grams:
    """Return the 3-grams of packed keys, shape (keys,)."""
    mask = np.uint64((1 << _BITS) - 1)
    points = [(key >> np.uint64(shift)) & mask for shift in (2 * _BITS, _BITS, 0)]
    columns = np.ascontiguousarray(np.stack(points, axis=-1).astype("<u4"))
    return columns.view("<U3").reshape(-1)


def _apart(codes: Codes) -> Codes:
    """Return the code points with a space on both sides of each East Asian sign."""
    signs = _is_sign()[codes]
    if not signs.any():
        return codes
    inside = (codes[1:] != _SPACE) & (codes[:-1] != _SPACE)
    return np.insert(codes, np.flatnonzero((signs[1:] | signs[:-1]) & inside) + 1, _SPACE)


@cache
def _is_sign() -> NDArray[np.bool_]:
    table = np.zeros(_LIMIT + 1, dtype=bool)
    for first, last in _SIGNS:
        table[first : last + 1] = True
    return table


@cache
def _table() -> Codes:
    """Code point -> itself if it is a letter or a mark, else a space."""
    codes = np.arange(_LIMIT + 1, dtype=np.int64)
    return np.where(letter_flags(_LIMIT + 1), codes, _SPACE)
