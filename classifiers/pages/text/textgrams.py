"""The n-grams of a text, hashed, and the sums of their weights: where a text becomes numbers.

Training asks for the buckets, scoring for sums of weights. Both call `_features`, so the learned
features are the scored ones. Features are the 1- to 5-grams of each word with a mark at both ends,
and the word itself; of scripts without spaces between words they are the 1- to 3-grams. A text is
summed in pieces of some hundred letters.
"""

import math
import re
import unicodedata
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.pages.text.scripts import SCRIPTS, foreign, script_table
from langfocus.classifiers.tables.letters import letter_flags
from langfocus.classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows

MAX_WORD: Final = 32
"""Letters of a word that are read; longer strings are not words."""
PIECE: Final = 240
"""Letters after which a piece ends with the next word."""
LINE: Final = 120
"""Letters after which a piece ends with its line."""
MAX_PIECES: Final = 20
"""Pieces of a text that are read."""
AROUND: Final = 0.2
"""The weight of a text around a main text in another language."""
BEST: Final = 1 / 3
"""The share of a text that tells whether it is in the language that it resembles."""

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
_EDGE_HASH: Final = np.uint64(0x5F * 0x9E3779B97F4A7C15 & (1 << 64) - 1)

_LETTER, _INNER, _DENSE, _SKIPPED = 1, 2, 3, 4
_NEWLINE: Final = 0x0A
_POINTS = ((0x591, 0x5C8), (0x610, 0x61B), (0x640, 0x641), (0x64B, 0x660), (0x670, 0x671))
_SMALL_CAPITALS = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz")
_FOLDS = str.maketrans(
    {
        # Yiddish is written with and without these.
        "\u05f0": "\u05d5\u05d5",
        "\u05f1": "\u05d5\u05d9",
        "\u05f2": "\u05d9\u05d9",
        **dict.fromkeys("\u02bb\u02bc\u2018", "'"),
        # Small capitals, with which posts are set off.
        **dict(zip(*_SMALL_CAPITALS, strict=True)),
    }
)
_ODD = re.compile(f"[{''.join(map(chr, _FOLDS))}\u00ad\u200b\u200c\u2060\ufeff]")
# Scripts from Hebrew on use the sign that keeps letters apart, others do not.
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]+|(?<=[^\u0590-\uffff])\u200c+")
# Letters with another usual form: of Arabic, full or half width, mathematical, raised, circled.
_FORMS = re.compile(
    "[\u1d2c-\u1d6a\u2070-\u209c\u2100-\u2149\u24b6-\u24e9\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f149]+"
)
_DENSE_SCRIPTS = frozenset({"Hani", "Kana", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
_APOSTROPHES = (0x27, 0x2019)
# Room for a piece: it ends after at most PIECE + MAX_WORD letters, each of which and each word's
# end adds six buckets at most; eight more fill up the last row of sums.
_MAX_GRAMS = 6 * 2 * (PIECE + MAX_WORD + 2) + 8

Kinds = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.float32]
Units = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Values = npt.NDArray[np.float64]
Hashes = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]
"""Of the last one to five letters of a word, and of all its letters."""


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
    table[letter_flags(0x10000)] = _LETTER
    scripts = script_table()
    for name in _DENSE_SCRIPTS:
        table[(scripts == SCRIPTS.index(name)) & (table == _LETTER)] = _DENSE
    table[list(_APOSTROPHES)] = _INNER
    for first, end in _POINTS:
        table[first:end] = _SKIPPED
    return table


def units(text: str) -> Units:
    """The UTF-16 code units of a text in lower case, its letters composed and folded."""
    if not text.isascii():
        text = _folded(text)
    return np.frombuffer(text.lower().encode("utf-16-le", "surrogatepass"), "<u2")


def without_unseen(text: str) -> str:
    """A text without soft hyphens and spaces of no width; U+200C stays where its script uses it."""
    return _UNSEEN.sub("", text)


def _folded(text: str) -> str:
    """A text without signs that nobody sees, each letter in its usual form."""
    if _ODD.search(text):  # a table is slow, and few texts need it
        text = without_unseen(text).translate(_FOLDS)
    text = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return unicodedata.normalize("NFC", text)


def buckets(text: str, script: str, bits: int) -> Buckets:
    """The buckets of a text's features in a script, (n_features,); one may stand there twice."""
    return all_buckets(units(text), kinds(script), bits)


@inlined
def _word_start() -> Hashes:
    """The hashes before the first letter of a word: only its mark is read."""
    zero = np.uint64(0)
    return _EDGE_HASH, zero, zero, zero, zero, _EDGE_HASH


@inlined
def _after(hashes: Hashes, unit: np.uint64) -> Hashes:
    """The hashes with one letter more."""
    return (
        unit * _STEP,
        (hashes[0] + unit) * _STEP,
        (hashes[1] + unit) * _STEP,
        (hashes[2] + unit) * _STEP,
        (hashes[3] + unit) * _STEP,
        (hashes[5] + unit) * _STEP,
    )


@inlined
def _add_grams(grams: Buckets, n: int, hashes: Hashes, shift: np.uint64) -> None:
    """Write the 1- to 5-grams that end with a letter; the next ones overwrite those too long."""
    for size in range(5):
        grams[n + size] = np.uint32((hashes[size] * _FACTORS[size]) >> shift)


@inlined
def _add_end(grams: Buckets, n: int, hashes: Hashes, shift: np.uint64) -> None:
    """Write the 2- to 5-grams that end with the mark after a word, and the word."""
    ended = _after(hashes, _EDGE)
    for size in range(1, 5):
        grams[n + size - 1] = np.uint32((ended[size] * _FACTORS[size]) >> shift)
    grams[n + 4] = np.uint32((hashes[5] * _FACTORS[5]) >> shift)


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
        is_over |= letters >= LINE and unit == _NEWLINE
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


class Table(NamedTuple):
    """The model of a script as the compiled code reads it."""

    kinds: Kinds
    bits: int
    codes: Codes
    """A table of `classifiers.weights.table_of`."""
    scale: float
    floors: Floats
    prior: Values
    languages: Ints
    """The number of the language of each column, (n_tags,)."""


class Sums(NamedTuple):
    """The evidence of a text in nats."""

    order: Ints
    """The best column of each candidate language, the best first, (n_candidates,)."""
    nats: Values
    """Evidence and prior of these columns, (n_candidates,)."""
    whole: Values
    """Nats of the whole text in these columns, (n_candidates,)."""
    n_features: int
    best: float
    """Nats of an n-gram for the first column in the share BEST of the text that is most like it."""
    n_main: int
    """Pieces of the main text; they come first."""
    parts: Ints
    """The number of the language that each piece names, (n_pieces,)."""
    shares: Values
    """The share of each piece, (n_pieces,)."""


@compiled
def read(main: Units, rest: Units, table: Table, is_candidate: Flags, is_read: Flags) -> Sums:
    """All that the language of a text needs; the columns (n_tags,) that may be its language.

    The text around a main text counts for a part if it is in another language. Pieces in a language
    that is not read, (n_languages,), do not count. The n-grams of a text overlap, so their nats are
    divided by the square root of their number.
    """
    n_tags, shift = len(table.floors), np.uint64(64 - table.bits)
    nats = np.zeros((2 * MAX_PIECES, n_tags), np.float32)
    sizes = np.zeros(2 * MAX_PIECES, np.float64)
    n_main = _weigh(main, table, shift, nats, sizes, 0)
    count = _weigh(rest, table, shift, nats, sizes, n_main)
    parts = np.empty(count, np.int32)
    for piece in range(count):
        first = _first(nats[piece], sizes[piece], table, is_candidate)
        parts[piece] = table.languages[first]
    weights = np.ones(count, np.float32)
    if 0 < n_main < count:
        first = _first(*_sum(nats, sizes, weights, 0, n_main), table, is_candidate)
        other = _first(*_sum(nats, sizes, weights, n_main, count), table, is_candidate)
        if table.languages[first] != table.languages[other]:
            weights[n_main:] = AROUND
    for piece in range(count):
        weights[piece] *= is_read[parts[piece]]
    whole, size = _sum(nats, sizes, weights, 0, count)
    each = whole / math.sqrt(max(size, 1.0)) + table.prior
    order = _ranked(each, is_candidate, table.languages)
    shares = weights * sizes[:count] / max(size, 1.0)
    ranked = whole[order].astype(np.float64)
    best = _best(nats[:count, order[0]] / sizes[:count], shares) if len(order) else 0.0
    return Sums(order, each[order], ranked, round(size), best, n_main, parts, shares)


@inlined
def _best(each: Values, shares: Values) -> float:
    """The mean of the largest values, which have BEST of all shares."""
    total, left = 0.0, BEST
    for piece in np.argsort(-each):
        part = min(shares[piece], left)
        total += part * each[piece]
        left -= part
    return total / max(BEST - left, 1e-9)


@inlined
def _weigh(
    text: Units, table: Table, shift: np.uint64, nats: Rows, sizes: Values, piece: int
) -> int:
    """Write the evidence of the pieces of a text; returns the number of the piece after them."""
    zeros, most = len(table.codes) - 1, piece + MAX_PIECES
    grams, sums = np.empty(_MAX_GRAMS, np.uint32), np.empty(table.codes.shape[1], np.int32)
    at = 0
    while at < len(text) and piece < most:
        n, _, at = _features(text, at, table.kinds, shift, grams)
        if n:
            sum_rows(table.codes, grams, filled(grams, n, zeros), sums)
            for tag in range(nats.shape[1]):
                # Pieces have 32 bits, so that the sums are those that the odds were learned with.
                found = sums[tag] * table.scale + n * np.float64(table.floors[tag])
                nats[piece, tag] = np.float32(found)
            sizes[piece] = n
            piece += 1
    return piece


@inlined
def _sum(nats: Rows, sizes: Values, weights: Floats, start: int, end: int) -> tuple[Floats, float]:
    """The evidence and the size of some pieces."""
    whole, size = np.zeros(nats.shape[1], np.float32), 0.0
    for piece in range(start, end):
        for tag in range(len(whole)):
            whole[tag] += weights[piece] * nats[piece, tag]
        size += weights[piece] * sizes[piece]
    return whole, size


@inlined
def _first(nats: Floats, size: float, table: Table, is_candidate: Flags) -> int:
    """The best column."""
    best, most, scale = 0, -np.inf, 1 / math.sqrt(max(size, 1.0))
    for tag in range(len(nats)):
        value = nats[tag] * scale + table.prior[tag]
        if is_candidate[tag] and value > most:
            best, most = tag, value
    return best


@inlined
def _ranked(nats: Values, is_candidate: Flags, languages: Ints) -> Ints:
    """The best column of each candidate language, the best first; of equal ones the first."""
    order, is_ranked = np.empty(len(nats), np.int32), np.zeros(len(nats), np.bool_)
    count = 0
    for tag in range(len(nats)):
        if is_candidate[tag]:
            place = count
            while place and nats[order[place - 1]] < nats[tag]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = tag
            count += 1
    kept = 0
    for place in range(count):
        tag = order[place]
        if not is_ranked[languages[tag]]:
            is_ranked[languages[tag]] = True
            order[kept] = tag
            kept += 1
    return order[:kept]
