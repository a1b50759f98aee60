"""Ranked lists of n-grams: Cavnar and Trenkle's method as in Hayati 2004 (section 3, BASE).

Each language is the list of its 399 most common 1- to 5-grams; a text has the language whose list
has the smallest out-of-place distance to its own.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.arrayfile import MODELS, read_arrays, write_arrays
from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import Ranking, RankingMethod, softmax
from langfocus.classifiers.papers.hayati import letters

SHIPPED: Final = MODELS / "cavnar-trenkle.npz"
LENGTH: Final = 399
"""C, the length of the lists: about 400 in Cavnar and Trenkle, 399 in Hayati (3.3)."""

_LONGEST: Final = 5
# Difference in ranks for one nat of evidence: with it the confidence was right on texts that were
# not trained on.
_TEMPERATURE: Final = 400.0


class CavnarTrenkle(RankingMethod):
    """Ranked lists of the most common n-grams, compared by the out-of-place distance.

    `lists` has the shape (languages, C) and holds n-grams by falling frequency, with empty ones at
    the end if a language has fewer than C. Below 1 ms for 2,000 characters.
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
        """The languages by rising distance, with probabilities; empty without a listed n-gram."""
        distances = self.distances(text)
        return [] if distances is None else softmax(self._languages, -distances / _TEMPERATURE)

    def distances(self, text: str) -> NDArray[np.int64] | None:
        """The out-of-place distance of a text from each language (0.1), shape (languages,).

        None if no list has one of its n-grams. A text with fewer than C n-grams is summed over
        those that it has.
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
    """The lists of the languages of some texts.

    A language's texts are read as one in their order, so n-grams that span two of them count, too.
    """
    texts: dict[str, list[str]] = {}
    for row in rows:
        texts.setdefault(row.language, []).append(row.text)
    languages = sorted(texts)
    lists = np.full((len(languages), length), "", dtype=f"<U{_LONGEST}")
    for number, language in enumerate(languages):
        codes = letters.joined(texts[language])
        common = _most_common(codes, length)
        lists[number, : len(common)] = _spelled(codes, common)
    return CavnarTrenkle(languages, lists)


def load(path: Path | None = None) -> CavnarTrenkle:
    """The lists of a file, those that ship if it is None; ModelError if it is damaged."""
    arrays = read_arrays(path or SHIPPED, "languages", "lists")
    languages, lists = arrays["languages"], arrays["lists"]
    if lists.ndim != 2 or len(lists) != len(languages) or lists.dtype.kind != "U":
        raise ModelError(f"{path or SHIPPED}: not a file of ranked lists")
    return CavnarTrenkle(languages.tolist(), lists)


def _most_common(codes: letters.Codes, length: int) -> letters.Keys:
    """The hashes of a text's most common n-grams; among equally common ones the shorter first."""
    found = [np.unique(letters.keys(codes, n), return_counts=True) for n in range(1, _LONGEST + 1)]
    counts = np.concatenate([count for _, count in found])
    order = np.argsort(-counts, kind="stable")[:length]
    return np.concatenate([key for key, _ in found])[order]


def _spelled(codes: letters.Codes, wanted: letters.Keys) -> letters.Grams:
    """The n-grams of a text that have these hashes, as text."""
    result = np.full(len(wanted), "", dtype=f"<U{_LONGEST}")
    for n in range(1, _LONGEST + 1):
        met, first = np.unique(letters.keys(codes, n), return_index=True)
        rows, here = letters.found(met, wanted)
        result[here] = letters.spelled(codes, first[rows[here]], n)
    return result
