"""Hashed n-grams of a text and weight sums: the single place that turns text into numbers.

Training needs the buckets, scoring needs weight sums. Both call `_features`, so learned and scored
features agree. Features are the 1- to 5-grams of each word with a mark at both ends, and the whole
word; in scripts without spaces the 1- to 3-grams. A text is summed in pieces with some hundred
letters.
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
"""Letters read per word; longer strings are not words."""
PIECE: Final = 240
"""Letters after which a piece ends with the next word."""
LINE: Final = 120
"""Letters after which a piece ends with the line."""
MAX_PIECES: Final = 20
"""Pieces read per text."""
AROUND: Final = 0.2
"""Weight of surrounding text in another language than the main text."""
BEST: Final = 1 / 3
"""Share of the text that decides whether the text is in the most similar language."""

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
        # Yiddish is written with and without these ligatures.
        "\u05f0": "\u05d5\u05d5",
        "\u05f1": "\u05d5\u05d9",
        "\u05f2": "\u05d9\u05d9",
        **dict.fromkeys("\u02bb\u02bc\u2018", "'"),
        # Small capitals, used to style posts.
        **dict(zip(*_SMALL_CAPITALS, strict=True)),
    }
)
_ODD = re.compile(f"[{''.join(map(chr, _FOLDS))}\u00ad\u200b\u200c\u2060\ufeff]")
# Scripts from Hebrew on use the zero-width non-joiner, other scripts do not.
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]+|(?<=[^\u0590-\uffff])\u200c+")
# Letters with another usual form: Arabic, full or half width, mathematical, raised, circled.
_FORMS = re.compile(
    "[\u1d2c-\u1d6a\u2070-\u209c\u2100-\u2149\u24b6-\u24e9\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f149]+"
)
_DENSE_SCRIPTS = frozenset({"Hani", "Kana", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
_APOSTROPHES = (0x27, 0x2019)
# Room for a piece: at most PIECE + MAX_WORD letters, where each letter and each word end adds at
# most six buckets; eight more fill up the last row of sums.
_MAX_GRAMS = 6 * 2 * (PIECE + MAX_WORD + 2) + 8

Kinds = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.float32]
Units = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Values = npt.NDArray[np.float64]
Hashes = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]
"""Hashes over a word's last one to five letters, and over every letter."""


@cache
def kinds(script: str) -> Kinds:
    """Return the kind of each code unit in a text of one script, (65536,).

    A kind is a letter, an apostrophe, a dense sign, a skipped sign, or 0. Foreign letters are 0:
    names in Latin letters are no evidence in a Russian text. Optional points and vowel signs in
    Hebrew and Arabic are skipped.
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
    """Return UTF-16 code units in lower case, with composed and folded letters."""
    if not text.isascii():
        text = _folded(text)
    return np.frombuffer(text.lower().encode("utf-16-le", "surrogatepass"), "<u2")


def without_unseen(text: str) -> str:
    """Strip soft hyphens and zero-width spaces; U+200C stays in scripts that use U+200C."""
    return _UNSEEN.sub("", text)


def _folded(text: str) -> str:
    """Strip invisible signs, and fold each letter to the usual form."""
    if _ODD.search(text):  # a table is slow, and few texts need it
        text = without_unseen(text).translate(_FOLDS)
    text = _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return unicodedata.normalize("NFC", text)


def buckets(text: str, script: str, bits: int) -> Buckets:
    """Return the feature buckets of a text in a script, (n_features,), with repetitions."""
    return all_buckets(units(text), kinds(script), bits)


@inlined
def _word_start() -> Hashes:
    """Return the hashes before a word's first letter: the edge mark alone."""
    zero = np.uint64(0)
    return _EDGE_HASH, zero, zero, zero, zero, _EDGE_HASH


@inlined
def _after(hashes: Hashes, unit: np.uint64) -> Hashes:
    """Return the hashes with a further letter."""
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
    """Write the 1- to 5-grams that end with a letter; the next letter overwrites overlong ones."""
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
    """Return the code unit at a position after `length` word letters, and the unit's kind.

    Apostrophes are equal; an apostrophe before a word is no letter. The text ends with a space.
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
    """Write the feature buckets of the next piece.

    Returns the bucket count, the letter count and the start of the next piece.
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
    """Return the buckets of every piece, (n_features,)."""
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
    """A script model in the layout of the compiled code."""

    kinds: Kinds
    bits: int
    codes: Codes
    """Weight table from `classifiers.weights.table_of`."""
    scale: float
    floors: Floats
    prior: Values
    languages: Ints
    """Language number of each column, (n_tags,)."""


class Sums(NamedTuple):
    """Text evidence in nats."""

    order: Ints
    """Best column of each candidate language, the best first, (n_candidates,)."""
    nats: Values
    """Evidence and prior per column, (n_tags,)."""
    whole: Floats
    """Nats of the whole text per column, (n_tags,)."""
    n_features: int
    best: float
    """Nats per n-gram for the first column, in the most similar share BEST of the text."""
    n_main: int
    """Main text pieces; they precede other pieces."""
    parts: Ints
    """Language number per piece, (n_pieces,)."""
    shares: Values
    """Share of each piece, (n_pieces,)."""


@compiled
def read(main: Units, rest: Units, table: Table, is_candidate: Flags, is_read: Flags) -> Sums:
    """Return the evidence of a text for the candidate columns, (n_tags,).

    Surrounding text in another language than the main text counts in part. Pieces in an excluded
    language (`is_read`, (n_languages,)) do not count. The n-grams of a text overlap, so the nats
    are divided by the square root of the number of n-grams.
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
    each, shares = np.empty(n_tags, np.float64), np.empty(count, np.float64)
    for tag in range(n_tags):  # operations on whole arrays take long to compile
        each[tag] = whole[tag] / math.sqrt(max(size, 1.0)) + table.prior[tag]
    for piece in range(count):
        shares[piece] = weights[piece] * sizes[piece] / max(size, 1.0)
    order = _ranked(each, is_candidate, table.languages)
    best = _best(nats, order[0], sizes, shares) if len(order) else 0.0
    return Sums(order, each, whole, round(size), best, n_main, parts, shares)


@inlined
def _best(nats: Rows, tag: int, sizes: Values, shares: Values) -> float:
    """Return a column's mean over the largest nats per n-gram, up to a total share BEST."""
    total, left, is_over = 0.0, BEST, np.zeros(len(shares), np.bool_)
    for _ in range(len(shares)):  # a sort takes long to compile
        first, most = 0, -math.inf
        for piece in range(len(shares)):
            each = nats[piece, tag] / sizes[piece]
            if each > most and not is_over[piece]:
                first, most = piece, each
        is_over[first] = True
        part = min(shares[first], left)
        total += part * most
        left -= part
    return total / max(BEST - left, 1e-9)


@inlined
def _weigh(
    text: Units, table: Table, shift: np.uint64, nats: Rows, sizes: Values, piece: int
) -> int:
    """Write the evidence of a text's pieces; return the next piece number."""
    zeros, most = len(table.codes) - 1, piece + MAX_PIECES
    grams, sums = np.empty(_MAX_GRAMS, np.uint32), np.empty(table.codes.shape[1], np.int32)
    at = 0
    while at < len(text) and piece < most:
        n, _, at = _features(text, at, table.kinds, shift, grams)
        if n:
            sum_rows(table.codes, grams, filled(grams, n, zeros), sums)
            for tag in range(nats.shape[1]):
                # Pieces have 32 bits, as in the sums from which the odds were learned.
                found = sums[tag] * table.scale + n * np.float64(table.floors[tag])
                nats[piece, tag] = np.float32(found)
            sizes[piece] = n
            piece += 1
    return piece


@inlined
def _sum(nats: Rows, sizes: Values, weights: Floats, start: int, end: int) -> tuple[Floats, float]:
    """Return evidence and size summed over pieces."""
    whole, size = np.zeros(nats.shape[1], np.float32), 0.0
    for piece in range(start, end):
        for tag in range(len(whole)):
            whole[tag] += weights[piece] * nats[piece, tag]
        size += weights[piece] * sizes[piece]
    return whole, size


@inlined
def _first(nats: Floats, size: float, table: Table, is_candidate: Flags) -> int:
    """Return the best column."""
    best, most, scale = 0, -np.inf, 1 / math.sqrt(max(size, 1.0))
    for tag in range(len(nats)):
        value = nats[tag] * scale + table.prior[tag]
        if is_candidate[tag] and value > most:
            best, most = tag, value
    return best


@inlined
def _ranked(nats: Values, is_candidate: Flags, languages: Ints) -> Ints:
    """Return the best column of each candidate language, the best first; ties by column."""
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
