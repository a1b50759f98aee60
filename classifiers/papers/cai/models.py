"""Byte n-grams: ranked lists by language and encoding (Cai 2009, 3.2.3.2).

A token is a byte, so the method needs neither words nor the encoding. A language has a model for
UTF-8 and for each legacy encoding; a text's distance to a language is its distance to the nearest
of these models, by Cavnar and Trenkle's out-of-place measure. Encodings are named as in
`classifiers.pages.charset.charsets`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.arrayfile import MODELS, read_arrays, write_arrays
from langfocus.classifiers.datasets.texts import LabelledText, texts_by_language
from langfocus.classifiers.errors import DatasetError, ModelError
from langfocus.classifiers.pages.charset import charsets
from langfocus.classifiers.tables import rows
from langfocus.classifiers.tables.letters import is_letter

_ONLY_IN: Final = rows("single-encodings.txt")
"""Language -> encodings whose letters are used by this language alone.

Names, aliases and registered languages: the IANA registry of character sets, and the labels of the
WHATWG Encoding Standard; Microsoft's code page table for ibm, x-mac and windows encodings; RFC 1489
(koi8-r: Russian) and RFC 2319 (koi8-u: Ukrainian). Cai's library of 72 codes was compiled from
W3C's and Microsoft's lists (Cai 2009, 4.3.2, 5.1.1) and includes the Turkish encodings, as his
Table 5-2 shows: iso-8859-9 is windows-1254 here. Excluded are encodings shared by languages of a
script, among them windows-1251, windows-1256, iso-8859-2 and ibm866.
"""
SINGLE_LANGUAGE: Final = {name: code for code, names in _ONLY_IN.items() for name in names.split()}
"""Encoding -> its only language."""

WRITTEN_IN: Final = rows("legacy-encodings.txt")
"""Legacy encodings by page language, the usual encoding first.

Languages without non-ASCII letters are not listed: their bytes are the same in every legacy
encoding and in UTF-8.
"""

SHIPPED: Final = MODELS / "byte-ngrams.npz"

TOP: Final = 400
"""Number of most frequent n-grams in a model and in a text (Cai 2009, 5.1.1)."""

LONGEST: Final = 4
"""Maximum n-gram length in bytes. With 5, as in TextCat, fewer pages were correct (96.2 % instead
of 96.8 %).
"""

LEAST: Final = 1
"""Minimum occurrences of an n-gram; a setting without a published value in Cai 2009, 3.2.3.2. With
1, every n-gram counts.
"""

WORDS: Final = frozenset({"word-pair", "single-word"})
"""Kinds of labelled texts excluded from training."""

FEWEST_ROWS: Final = 50
"""Minimum texts of a language with a model."""

# Minimum encodable rows for the model of a legacy encoding.
_FEWEST_ENCODED = 20

_FORMAT = 1
_MISSING = 10_000
# Code pages have older cedilla letters instead of these comma letters.
_CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")

COMMON_WORDS: Final = tuple(
    Path(__file__).with_name("common-words.txt").read_text(encoding="utf-8").splitlines()
)
"""Words and lines on pages in any language (the kinds of Cai 2009, 2.3 and 3.2.2), lower case."""
_COMMON = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, COMMON_WORDS))})(?![^\W\d_])")

Grams = NDArray[np.uint32]


def language_of_encoding(label: str) -> str | None:
    """Return the only language of an encoding label; None if several languages use the encoding."""
    name = label.strip().lower()
    return SINGLE_LANGUAGE.get(charsets.canonical_label(name) or name)


def filtered(text: str) -> str:
    """Return a text in lower case without common words, symbols, digits and punctuation.

    A space replaces each of them (Cai 2009, 3.2.2 and 4.3.1).
    """
    kept = (letter if is_letter(letter) else " " for letter in _COMMON.sub(" ", text.lower()))
    return " ".join("".join(kept).split())


@cache
def encodings_of(language: str) -> tuple[str, ...]:
    """Return a language's legacy encodings, the most usual first; may be empty."""
    return tuple(name for name, users in WRITTEN_IN.items() if language in users.split())


def encoded(text: str, encoding: str) -> bytes | None:
    """Return a text in an encoding; None if the encoding lacks a character."""
    try:
        if encoding == "utf-8":
            return text.encode("utf-8", "replace")
        return text.translate(_CEDILLAS).encode(charsets.codec(encoding))
    except (UnicodeEncodeError, LookupError):
        return None


class Distance(NamedTuple):
    """The distance of a text from a language: 0 for the model's ranks, 1 for no common n-gram."""

    language: str
    encoding: str
    """Encoding of the nearest model."""
    value: float


@dataclass(frozen=True, eq=False)
class ByteModels:
    """Ranked byte n-grams by language and encoding.

    `least` is the minimum number of occurrences of an n-gram, in models and texts. `of` are pairs
    of language and encoding, (n_models,); `grams` their n-grams by falling frequency, (n_models,
    TOP), packed big-endian into integers, padded with 0.
    """

    of: tuple[tuple[str, str], ...]
    grams: Grams
    least: int = LEAST

    @cached_property
    def languages(self) -> frozenset[str]:
        """Languages with a model."""
        return frozenset(language for language, _ in self.of)

    @cached_property
    def encodings(self) -> frozenset[str]:
        """Encodings with a model."""
        return frozenset(encoding for _, encoding in self.of)

    def distances(self, content: bytes) -> list[Distance]:
        """Return the languages by distance, nearest first; empty without n-grams."""
        grams = ranked_grams(content, self.least)
        if not len(grams):
            return []
        values = self._out_of_place(grams) / (TOP * len(grams))
        nearest: dict[str, Distance] = {}
        for column in np.argsort(values, kind="stable"):
            language, encoding = self.of[column]
            if language not in nearest:
                nearest[language] = Distance(language, encoding, float(values[column]))
        return list(nearest.values())

    def _out_of_place(self, grams: Grams) -> NDArray[np.int64]:
        """Return the summed rank differences of a text's n-grams in each model, (n_models,)."""
        vocabulary, ranks = self._table
        rows = np.minimum(np.searchsorted(vocabulary, grams), len(vocabulary) - 1)
        known = vocabulary[rows] == grams
        places = np.arange(len(grams), dtype=np.int16)[known, None]
        out = np.minimum(np.abs(ranks[rows[known]] - places), TOP)
        total = out.sum(axis=0, dtype=np.int64) + TOP * int((~known).sum())
        return np.asarray(total)

    @cached_property
    def _table(self) -> tuple[Grams, NDArray[np.int16]]:
        """Sorted n-grams of all models, and each n-gram's rank in each model."""
        vocabulary = np.unique(self.grams[self.grams > 0])
        ranks = np.full((len(vocabulary), len(self.of)), _MISSING, dtype=np.int16)
        for column, grams in enumerate(self.grams):
            present = grams[grams > 0]
            ranks[np.searchsorted(vocabulary, present), column] = np.arange(len(present))
        return vocabulary, ranks

    def save(self, path: Path) -> None:
        """Write the models; equal models give equal bytes."""
        names = np.array([f"{language} {encoding}" for language, encoding in self.of])
        least = np.int64(self.least)
        write_arrays(path, format=np.int64(_FORMAT), models=names, grams=self.grams, least=least)


def ranked_grams(content: bytes, least: int = LEAST) -> Grams:
    """Return the TOP most frequent n-grams of 1 to LONGEST bytes, ties in byte order.

    N-grams with fewer than `least` occurrences are dropped (Cai 2009, 3.2.3.2).
    """
    octets = np.frombuffer(content, dtype=np.uint8).astype(np.uint32)
    grams = octets
    parts = [grams]
    for n in range(1, min(LONGEST, len(octets))):
        grams = (grams[:-1] << np.uint32(8)) | octets[n:]
        parts.append(grams)
    values, counts = np.unique(np.concatenate(parts), return_counts=True)
    values, counts = values[counts >= least], counts[counts >= least]
    order = np.argsort(-counts, kind="stable")
    # Big-endian packing keeps n-grams apart by length unless they begin with NUL.
    ranked: Grams = values[order][:TOP]
    return ranked[ranked > 0]


def train(labelled: Iterable[LabelledText], *, least: int = LEAST) -> ByteModels:
    """Train models of languages with FEWEST_ROWS texts or more; about 4 s for 50,000 texts.

    Texts of the kinds WORDS are skipped. N-grams with fewer than `least` occurrences in a language,
    and later in a text, are dropped.

    DatasetError without such a language.
    """
    texts = texts_by_language(row for row in labelled if row.kind not in WORDS)
    learned = {
        (language, encoding): grams
        for language, own in texts.items()
        if len(own) >= FEWEST_ROWS
        for clean in [[*map(filtered, own)]]
        for encoding in ("utf-8", *encodings_of(language))
        if (grams := _learned(clean, encoding, least)) is not None
    }
    if not learned:
        raise DatasetError(f"no language has {FEWEST_ROWS} texts; give more")
    table = np.zeros((len(learned), TOP), dtype=np.uint32)
    for row_of_table, grams in zip(table, learned.values(), strict=True):
        row_of_table[: len(grams)] = grams
    return ByteModels(tuple(learned), table, least)


def _learned(texts: list[str], encoding: str, least: int) -> Grams | None:
    contents = [content for text in texts if (content := encoded(text, encoding))]
    if encoding != "utf-8" and len(contents) < _FEWEST_ENCODED:
        return None
    return ranked_grams(b" ".join(contents), least)


def read(path: Path = SHIPPED) -> ByteModels:
    """Return the models from a file; ModelError if missing, damaged or in another version."""
    arrays = read_arrays(path, "format", "models", "grams", optional=["least"])
    of = tuple(tuple(str(name).split(" ", 1)) for name in arrays["models"].ravel())
    grams = arrays["grams"]
    if int(arrays["format"]) != _FORMAT:
        raise ModelError(f"{path}: models of version {arrays['format']}; train them anew")
    if grams.shape != (len(of), TOP) or grams.dtype != np.uint32 or any(len(x) != 2 for x in of):
        raise ModelError(f"{path}: the arrays of the models do not fit each other")
    pairs = tuple((language, encoding) for language, encoding in of)
    return ByteModels(pairs, grams, int(arrays.get("least", LEAST)))
