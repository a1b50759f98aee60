"""The n-grams of a text, hashed, and the sums of their weights: where a text becomes numbers.

Training asks for the buckets, scoring for sums of weights. Both call `_features`, so the learned
features are the scored ones. Features are the 1- to 5-grams of each word with a mark at both ends,
and the word itself; of scripts without spaces between words they are the 1- to 3-grams. A text is
summed in pieces of some hundred letters, so that a page in two languages can be told.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.pages.text.scripts import SCRIPTS, foreign, script_table
from classifiers.weights import Buckets, Codes, Ints, filled, sum_rows

MAX_WORD: Final = 32
"""Letters of a word that are read; longer strings are not words."""
PIECE: Final = 240
"""Letters after which a piece ends with the next word."""

_EDGE: Final = np.uint64(0x5F)
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = tuple(
    np.uint64(factor)
    for factor in (
        0x9E3779B97F4A7C15,
        0xBF58476D1CE4E5B9,
        0x94D049BB133111EB,
        0xD1342543DE82EF95,
        0xAF251AF3B0F025B5,
        0xC2B2AE3D27D4EB4F,
    )
)
"""Odd numbers that spread 1- to 5-grams and words over the buckets."""

_LETTER, _INNER, _DENSE, _SKIPPED = 1, 2, 3, 4
_POINTS = ((0x591, 0x5C8), (0x610, 0x61B), (0x640, 0x641), (0x64B, 0x660), (0x670, 0x671))
# Yiddish is written with and without these.
_LIGATURES = {"\u05f0": "\u05d5\u05d5", "\u05f1": "\u05d5\u05d9", "\u05f2": "\u05d9\u05d9"}
_DENSE_SCRIPTS = frozenset({"Hani", "Kana", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
_APOSTROPHES = (0x27, 0x2019)
# Room for a piece: it ends after at most PIECE + MAX_WORD letters, each of which and each word's
# end adds six buckets at most; eight more fill up the last row of sums.
_MAX_GRAMS = 6 * 2 * (PIECE + MAX_WORD + 2) + 8

Kinds = npt.NDArray[np.uint8]
Units = npt.NDArray[np.uint16]


@cache
def kinds(script: str) -> Kinds:
    """The kind of each code unit in a text of one script, (65536,).

    A kind is a letter, an apostrophe, a dense sign, a skipped sign, or 0 for none of these. Letters
    of other scripts are none: names in Latin letters say nothing about a Russian text. Points and
    vowel signs that Hebrew and Arabic texts may have or not are skipped.
    """
    table = _all_kinds().copy()
    table[foreign(script)] = 0
    return table


@cache
def _all_kinds() -> Kinds:
    table = np.zeros(0x10000, np.uint8)
    letters = [at for at in range(0x10000) if unicodedata.category(chr(at))[0] in "LM"]
    table[letters] = _LETTER
    scripts = script_table()
    for name in _DENSE_SCRIPTS:
        table[(scripts == SCRIPTS.index(name)) & (table == _LETTER)] = _DENSE
    table[list(_APOSTROPHES)] = _INNER
    for first, end in _POINTS:
        table[first:end] = _SKIPPED
    return table


def units(text: str) -> Units:
    """The UTF-16 code units of a text in lower case, its letters composed."""
    text = text.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for ligature, letters in _LIGATURES.items():
            if ligature in text:
                text = text.replace(ligature, letters)
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")


def buckets(text: str, script: str, bits: int) -> Buckets:
    """The buckets of a text's features in a script, (n_features,); one may stand there twice."""
    return all_buckets(units(text), kinds(script), bits)


class _Hashes(NamedTuple):
    """The hashes of the last one to five letters of a word, and of all its letters."""

    first: np.uint64
    second: np.uint64
    third: np.uint64
    fourth: np.uint64
    fifth: np.uint64
    word: np.uint64


@inlined
def _word_start() -> _Hashes:
    """The hashes before the first letter of a word: only its mark is read."""
    zero = np.uint64(0)
    return _Hashes(_EDGE * _STEP, zero, zero, zero, zero, _EDGE * _STEP)


@inlined
def _after(hashes: _Hashes, unit: np.uint64) -> _Hashes:
    """The hashes with one letter more."""
    return _Hashes(
        unit * _STEP,
        (hashes.first + unit) * _STEP,
        (hashes.second + unit) * _STEP,
        (hashes.third + unit) * _STEP,
        (hashes.fourth + unit) * _STEP,
        (hashes.word + unit) * _STEP,
    )


@inlined
def _bucket(key: np.uint64, factor: np.uint64, shift: np.uint64) -> np.uint32:
    return np.uint32((key * factor) >> shift)


@inlined
def _add_grams(grams: Buckets, n: int, hashes: _Hashes, shift: np.uint64) -> None:
    """Write the 1- to 5-grams that end with a letter; the next ones overwrite those too long."""
    grams[n] = _bucket(hashes.first, _FACTORS[0], shift)
    grams[n + 1] = _bucket(hashes.second, _FACTORS[1], shift)
    grams[n + 2] = _bucket(hashes.third, _FACTORS[2], shift)
    grams[n + 3] = _bucket(hashes.fourth, _FACTORS[3], shift)
    grams[n + 4] = _bucket(hashes.fifth, _FACTORS[4], shift)


@inlined
def _add_end(grams: Buckets, n: int, hashes: _Hashes, shift: np.uint64) -> None:
    """Write the 2- to 5-grams that end with the mark after a word, and the word."""
    ended = _after(hashes, _EDGE)
    grams[n] = _bucket(ended.second, _FACTORS[1], shift)
    grams[n + 1] = _bucket(ended.third, _FACTORS[2], shift)
    grams[n + 2] = _bucket(ended.fourth, _FACTORS[3], shift)
    grams[n + 3] = _bucket(ended.fifth, _FACTORS[4], shift)
    grams[n + 4] = _bucket(hashes.word, _FACTORS[5], shift)


@inlined
def _sign(text: Units, at: int, table: Kinds, length: int) -> tuple[np.uint64, int]:
    """The code unit at a position after `length` letters of a word, and its kind.

    All apostrophes are one; before a word they are no letter. The text ends with a space.
    """
    if at == len(text):
        return np.uint64(0x20), 0
    kind = int(table[text[at]])
    if kind == _INNER:
        return np.uint64(0x27), kind if length else 0
    return np.uint64(text[at]), kind


@inlined
def _features(
    text: Units, at: int, table: Kinds, shift: np.uint64, grams: Buckets
) -> tuple[int, int, int]:
    """Write the buckets of the next piece of a text.

    Returns how many they are, how many letters the piece has and where the next one begins.
    """
    n, letters, length, is_over = 0, 0, 0, False
    hashes = _word_start()
    while at <= len(text) and not is_over:
        unit, kind = _sign(text, at, table, length)
        at += 1
        if kind == _SKIPPED:
            continue
        if kind and length < MAX_WORD:
            hashes = _after(hashes, unit + np.uint64(1))
            length += 1
            letters += 1
            _add_grams(grams, n, hashes, shift)
            n += min(length + 1, 3 if kind == _DENSE else 5)
            is_over = kind == _DENSE and letters >= PIECE
        elif length and not kind:
            _add_end(grams, n, hashes, shift)
            n += min(length + 1, 4) + int(length > 3)
            hashes, length = _word_start(), 0
            is_over = letters >= PIECE
    return n, letters, at


@compiled
def all_buckets(text: Units, table: Kinds, bits: int) -> Buckets:
    """The buckets of all pieces, (n_features,)."""
    shift = np.uint64(64 - bits)
    grams = np.empty(_MAX_GRAMS, np.uint32)
    found = np.empty(12 * (len(text) + 1), np.uint32)
    n_found, at = 0, 0
    while at < len(text):
        n, _, at = _features(text, at, table, shift, grams)
        found[n_found : n_found + n] = grams[:n]
        n_found += n
    return found[:n_found]


@compiled
def sums(text: Units, table: Kinds, bits: int, codes: Codes, n_pieces: int) -> tuple[Ints, Ints]:
    """Sums of weights of each piece, (pieces, width), and (pieces, 2) its features and letters.

    No more than `n_pieces` are read. `codes` is a table of `classifiers.weights.table_of`.
    """
    shift = np.uint64(64 - bits)
    zeros = len(codes) - 1
    grams = np.empty(_MAX_GRAMS, np.uint32)
    totals = np.empty((n_pieces, codes.shape[1]), np.int32)
    counts = np.empty((n_pieces, 2), np.int32)
    piece, at = 0, 0
    while at < len(text) and piece < n_pieces:
        n, letters, at = _features(text, at, table, shift, grams)
        sum_rows(codes, grams, filled(grams, n, zeros), totals[piece])
        counts[piece, 0], counts[piece, 1] = n, letters
        piece += 1
    return totals[:piece], counts[:piece]
