"""Byte n-grams: ranked lists of them for each language and encoding (Cai 2009, 3.2.3.2).

A token is one byte, so the method needs neither words nor the encoding. A language has a model for
UTF-8 and one for each of its legacy encodings; the distance of a text to a language is that to the
nearest of them, by the out-of-place measure of Cavnar and Trenkle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifiers.arrayfile import MODELS, read_arrays, write_arrays
from classifiers.datasets.texts import LabelledText
from classifiers.errors import DatasetError, ModelError
from classifiers.papers.cai.encodings import encoded, encodings_of, filtered

SHIPPED: Final = MODELS / "byte-ngrams.npz"

TOP: Final = 400
"""N-grams of a model and of a text, the most frequent ones (Cai 2009, 5.1.1)."""

LONGEST: Final = 4
"""Bytes of the longest n-grams. With 5, as in TextCat, fewer pages were right (96.2 % instead of
96.8 %).
"""

LEAST: Final = 1
"""Least appearances of an n-gram that counts; Cai 2009, 3.2.3.2, has it as a setting without a
value. With 1, all count."""

WORDS: Final = frozenset({"word-pair", "single-word"})
"""Kinds of labelled texts that are not learned from."""

FEWEST_ROWS: Final = 50
"""Least number of texts of a language with a model."""

# Least number of rows that can be written in a legacy encoding for a model of that encoding.
_FEWEST_ENCODED = 20

_FORMAT = 1
_MISSING = 10_000

Grams = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of a text from a language: 0 for the model's ranks, 1 for no common n-gram."""

    language: str
    encoding: str
    """The encoding of the nearest model."""
    value: float


@dataclass(frozen=True, eq=False)
class ByteModels:
    """Ranked byte n-grams of languages in their encodings.

    `least` is the least number of appearances of an n-gram that counts, in models and texts.
    `of` are pairs of language and encoding, (n_models,); `grams` their n-grams by falling
    frequency, (n_models, TOP), packed big-endian into integers, 0 if a model has fewer.
    """

    of: tuple[tuple[str, str], ...]
    grams: Grams
    least: int = LEAST

    @cached_property
    def languages(self) -> frozenset[str]:
        """All languages that have a model."""
        return frozenset(language for language, _ in self.of)

    @cached_property
    def encodings(self) -> frozenset[str]:
        """All encodings that have a model."""
        return frozenset(encoding for _, encoding in self.of)

    def distances(self, content: bytes) -> list[Distance]:
        """The languages by their distance to some bytes, nearest first; empty without n-grams."""
        found = ranked_grams(content, self.least)
        if not len(found):
            return []
        values = self._out_of_place(found) / (TOP * len(found))
        nearest: dict[str, Distance] = {}
        for column in np.argsort(values, kind="stable"):
            language, encoding = self.of[column]
            if language not in nearest:
                nearest[language] = Distance(language, encoding, float(values[column]))
        return list(nearest.values())

    def _out_of_place(self, found: Grams) -> NDArray[np.int64]:
        """The sum of the rank differences of a text's n-grams in each model, (n_models,)."""
        vocabulary, ranks = self._table
        rows = np.minimum(np.searchsorted(vocabulary, found), len(vocabulary) - 1)
        known = vocabulary[rows] == found
        places = np.arange(len(found), dtype=np.int16)[known, None]
        out = np.minimum(np.abs(ranks[rows[known]] - places), TOP)
        total = out.sum(axis=0, dtype=np.int64) + TOP * int((~known).sum())
        return np.asarray(total)

    @cached_property
    def _table(self) -> tuple[Grams, NDArray[np.int16]]:
        """All n-grams of all models, sorted, and the rank of each in each model."""
        vocabulary = np.unique(self.grams[self.grams > 0])
        ranks = np.full((len(vocabulary), len(self.of)), _MISSING, dtype=np.int16)
        for column, grams in enumerate(self.grams):
            present = grams[grams > 0]
            ranks[np.searchsorted(vocabulary, present), column] = np.arange(len(present))
        return vocabulary, ranks

    def save(self, path: Path) -> None:
        """Write the models; the same ones give the same bytes."""
        names = np.array([f"{language} {encoding}" for language, encoding in self.of])
        least = np.int64(self.least)
        write_arrays(path, format=np.int64(_FORMAT), models=names, grams=self.grams, least=least)


def ranked_grams(content: bytes, least: int = LEAST) -> Grams:
    """The TOP most frequent n-grams of 1 to LONGEST bytes, ties by their bytes.

    Those that appear fewer than `least` times are left out (Cai 2009, 3.2.3.2).
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


def learn(
    rows: Iterable[LabelledText], *, fewest: int = FEWEST_ROWS, least: int = LEAST
) -> ByteModels:
    """Models of the languages with at least `fewest` texts; about 4 s for 50,000 texts.

    Texts of the kinds WORDS do not count, nor do n-grams that appear fewer than `least` times in a
    language, and later in a text.

    DatasetError if there is no such language.
    """
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.kind not in WORDS:
            texts[row.language].append(filtered(row.text))
    learned = {
        (language, encoding): grams
        for language in sorted(texts)
        if len(texts[language]) >= fewest
        for encoding in ("utf-8", *encodings_of(language))
        if (grams := _learned(texts[language], encoding, least)) is not None
    }
    if not learned:
        raise DatasetError(f"no language has {fewest} texts; give more")
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
    """The models of a file; ModelError if it is missing, damaged or of another version."""
    arrays = read_arrays(path, "format", "models", "grams", optional=["least"])
    of = tuple(tuple(str(name).split(" ", 1)) for name in arrays["models"].ravel())
    grams = arrays["grams"]
    if int(arrays["format"]) != _FORMAT:
        raise ModelError(f"{path}: models of version {arrays['format']}; train them anew")
    if grams.shape != (len(of), TOP) or grams.dtype != np.uint32 or any(len(x) != 2 for x in of):
        raise ModelError(f"{path}: the arrays of the models do not fit each other")
    pairs = tuple((language, encoding) for language, encoding in of)
    return ByteModels(pairs, grams, int(arrays.get("least", LEAST)))
