"""Ranked n-gram lists: Cavnar and Trenkle's method as in Hayati 2004 (section 3, BASE).

A language is the list of its 399 most common 1- to 5-grams; a text's language is the language whose
list has the smallest out-of-place distance to the text's list.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.arrayfile import MODELS, read_arrays, write_arrays
from langfocus.classifiers.datasets.texts import LabelledText, texts_by_language
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import Ranking, RankingMethod, softmax
from langfocus.classifiers.papers.hayati import letters

SHIPPED: Final = MODELS / "cavnar-trenkle.npz"
LENGTH: Final = 399
"""C, the length of the lists: about 400 in Cavnar and Trenkle, 399 in Hayati (3.3)."""

_LONGEST: Final = 5
# Rank difference per nat of evidence: calibrates the confidence on texts outside training.
_TEMPERATURE: Final = 400.0


class CavnarTrenkle(RankingMethod):
    """Ranked lists of the most common n-grams, compared by out-of-place distance.

    `lists` (languages, C) are n-grams by falling frequency, padded with empty n-grams if a language
    has fewer than C. Below 1 ms for 2,000 characters.
    """

    name = "cavnar-trenkle"

    def __init__(self, languages: Iterable[str], lists: letters.Grams) -> None:
        super().__init__(languages)
        self._lists = lists
        self._length = lists.shape[1]
        keys = letters.keys_of(lists)
        owner, place = np.nonzero(keys)
        self._keys, rows = np.unique(keys[owner, place], return_inverse=True)
        shape = len(self._keys), len(self._languages)
        self._ranks = np.full(shape, self._length + 1, dtype=np.int32)
        self._ranks[rows, owner] = place + 1

    def rank(self, text: str) -> Ranking:
        """Return the languages by rising distance, with probabilities; empty without n-grams."""
        distances = self.distances(text)
        return [] if distances is None else softmax(self._languages, -distances / _TEMPERATURE)

    def distances(self, text: str) -> NDArray[np.int64] | None:
        """Return a text's out-of-place distance from each language (0.1), shape (languages,).

        None without a listed n-gram. For a text with fewer than C n-grams, the sum is over its own
        n-grams.
        """
        keys = _most_common(letters.letters(text[: letters.MAX_CHARACTERS]), self._length)
        rows, known = letters.found(self._keys, keys)
        if not known.any():
            return None
        places = np.arange(1, len(keys) + 1, dtype=np.int32)
        apart = np.abs(self._ranks[rows[known]] - places[known, None]).sum(axis=0, dtype=np.int64)
        missing = int((self._length + 1 - places[~known]).sum())
        return np.asarray(apart + missing)

    def save(self, path: Path) -> None:
        """Write the lists as text."""
        write_arrays(path, languages=np.array(self._languages, dtype=np.str_), lists=self._lists)


def train(rows: Iterable[LabelledText], *, length: int = LENGTH) -> CavnarTrenkle:
    """Train the n-gram lists of the texts' languages.

    A language's texts are concatenated in order, so n-grams across two texts count too.
    """
    texts = texts_by_language(rows)
    lists = np.full((len(texts), length), "", dtype=f"<U{_LONGEST}")
    for number, codes in enumerate(map(letters.joined, texts.values())):
        common = _most_common(codes, length)
        lists[number, : len(common)] = _spelled(codes, common)
    return CavnarTrenkle(texts, lists)


def load(path: Path | None = None) -> CavnarTrenkle:
    """Return the lists of a file, None for the shipped file; ModelError if damaged."""
    arrays = read_arrays(path or SHIPPED, "languages", "lists")
    languages, lists = arrays["languages"], arrays["lists"]
    if lists.ndim != 2 or len(lists) != len(languages) or lists.dtype.kind != "U":
        raise ModelError(f"{path or SHIPPED}: not a file of ranked lists")
    return CavnarTrenkle(languages.tolist(), lists)


def _most_common(codes: letters.Codes, length: int) -> letters.Keys:
    """Return hashes of a text's most common n-grams; ties rank the shorter n-gram first."""
    found = [np.unique(letters.keys(codes, n), return_counts=True) for n in range(1, _LONGEST + 1)]
    counts = np.concatenate([count for _, count in found])
    order = np.argsort(-counts, kind="stable")[:length]
    return np.concatenate([key for key, _ in found])[order]


def _spelled(codes: letters.Codes, wanted: letters.Keys) -> letters.Grams:
    """Return a text's n-grams with the given hashes, as text."""
    result = np.full(len(wanted), "", dtype=f"<U{_LONGEST}")
    for n in range(1, _LONGEST + 1):
        met, first = np.unique(letters.keys(codes, n), return_index=True)
        rows, here = letters.found(met, wanted)
        result[here] = letters.spelled(codes, first[rows[here]], n)
    return result
