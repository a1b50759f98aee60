"""N-grams, Fisher's discriminant and the cosine: the method NFC of Hayati 2004 (section 4).

The most discriminative 3-grams are the axes of a space; a language is a direction in this space,
and a text has the language at the smallest angle.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.arrayfile import MODELS, read_arrays, write_arrays
from langfocus.classifiers.datasets.texts import LabelledText, texts_by_language
from langfocus.classifiers.errors import ModelError
from langfocus.classifiers.pages.method import Ranking, RankingMethod, softmax
from langfocus.classifiers.papers.hayati import letters

SHIPPED: Final = MODELS / "nfc.npz"
FEATURES: Final = 10_000
"""Number of selected 3-grams (4.2): per shipped language about the paper's number, which is 1,000
for eleven languages. For 110 languages the method was correct on 64 % of held-out texts with 1,000
3-grams, and on 88 % with 10,000.
"""

# Nats of evidence for a cosine of 1, times the square root of the number of a text's feature
# 3-grams: calibrates the confidence on texts outside training.
_SHARPNESS: Final = 10.0

Floats = NDArray[np.float64]


class Nfc(RankingMethod):
    """Languages as directions in the space of the best 3-grams.

    `features` are the 3-grams, `counts` (features, languages) their counts in each language's
    texts.
    """

    name = "nfc"

    def __init__(
        self, languages: Iterable[str], features: letters.Grams, counts: NDArray[np.uint32]
    ) -> None:
        super().__init__(languages)
        self._features, self._counts = features, counts
        keys = letters.packed(features)
        order = np.argsort(keys)
        self._keys = keys[order]
        sums = counts[order].astype(np.float64)
        lengths = np.sqrt(np.square(sums).sum(axis=0))
        self._directions = sums / np.where(lengths > 0, lengths, 1.0)

    def rank(self, text: str) -> Ranking:
        """Return the languages by falling cosine, with probabilities; empty without any feature."""
        cosines, features = self.cosines(text)
        if not features:
            return []
        return softmax(self._languages, cosines * (_SHARPNESS * features**0.5))

    def cosines(self, text: str) -> tuple[Floats, int]:
        """Return the cosine with each language (0.8), and the number of feature 3-grams."""
        codes = letters.letters(text[: letters.MAX_CHARACTERS])
        keys, counts = np.unique(letters.trigrams(codes), return_counts=True)
        rows, known = letters.found(self._keys, keys)
        weights = counts[known].astype(np.float64)
        if not len(weights):
            return np.zeros(len(self._languages)), 0
        products = np.einsum("i,ij->j", weights, self._directions[rows[known]])
        return products / np.sqrt(np.square(weights).sum()), int(weights.sum())

    def save(self, path: Path) -> None:
        """Write the 3-grams as text, best first, and their counts."""
        languages = np.array(self._languages, dtype=np.str_)
        write_arrays(path, languages=languages, features=self._features, counts=self._counts)


def train(rows: Iterable[LabelledText], *, features: int = FEATURES) -> Nfc:
    """Train the best features of the texts (0.5) and each language's direction (0.6, 0.7).

    Each row is a document; every occurring 3-gram is compared. The row order within a language
    changes only the last bits of sums.
    """
    counted = by_language(rows)
    languages, found = list(counted), list(counted.values())
    keys, between, discriminant = discriminants(found)
    best = keys[np.lexsort((keys, -between, -discriminant))[:features]]
    counts = np.zeros((len(best), len(languages)), dtype=np.uint32)
    for column, of_language in enumerate(found):
        place, here = letters.found(of_language.keys, best)
        counts[here, column] = of_language.counts[place[here]]
    return Nfc(languages, letters.unpacked(best), counts)


def load(path: Path | None = None) -> Nfc:
    """Return the method of a file, None for the shipped file; ModelError if damaged."""
    arrays = read_arrays(path or SHIPPED, "languages", "features", "counts")
    languages, features, counts = arrays["languages"], arrays["features"], arrays["counts"]
    fits = counts.shape == (len(features), len(languages)) and counts.dtype == np.uint32
    if not fits or features.dtype != np.dtype("<U3"):
        raise ModelError(f"{path or SHIPPED}: not a file of 3-grams and their counts")
    return Nfc(languages.tolist(), features, counts)


class _Grams(NamedTuple):
    """3-grams of a language's documents, each array (3-grams,)."""

    keys: letters.Keys
    counts: NDArray[np.int64]
    mean: Floats
    """Mean normalised frequency over the documents (0.4)."""
    variance: Floats


def by_language(rows: Iterable[LabelledText]) -> dict[str, _Grams]:
    """Return the 3-grams of each language's texts."""
    texts = texts_by_language(rows)
    return {language: _language_grams(own) for language, own in texts.items()}


def _language_grams(texts: Sequence[str]) -> _Grams:
    parts = [
        np.unique(letters.trigrams(letters.letters(text)), return_counts=True) for text in texts
    ]
    keys = np.concatenate([key for key, _ in parts])
    counts = np.concatenate([count for _, count in parts])
    frequencies = np.concatenate(
        [count / np.sqrt(np.square(count.astype(np.float64)).sum()) for _, count in parts]
    )
    found, rows = np.unique(keys, return_inverse=True)
    size = len(found)
    mean = np.bincount(rows, frequencies, minlength=size) / len(texts)
    squares = np.bincount(rows, np.square(frequencies), minlength=size) / len(texts)
    totals = np.bincount(rows, counts, minlength=size).astype(np.int64)
    return _Grams(found, totals, mean, np.maximum(squares - np.square(mean), 0.0))


def discriminants(languages: Sequence[_Grams]) -> tuple[letters.Keys, Floats, Floats]:
    """Return all 3-grams, their between-language spread, and Fisher's discriminant F (0.5).

    F is inf for a 3-gram without variance within a language.
    """
    if not languages:
        return np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0)
    keys, rows = np.unique(np.concatenate([grams.keys for grams in languages]), return_inverse=True)
    mean, square, within = (
        np.bincount(rows, np.concatenate(values), minlength=len(keys))
        for values in (
            [grams.mean for grams in languages],
            [np.square(grams.mean) for grams in languages],
            [grams.variance for grams in languages],
        )
    )
    # The sum over all pairs of languages of the squared differences of their means.
    between = 2.0 * (len(languages) * square - np.square(mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.where(within > 0, between / within, np.inf)
    return keys, between.astype(np.float64), quotient.astype(np.float64)
