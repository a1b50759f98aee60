"""Counts of words or character n-grams of URLs: the feature sets of Baykan 2013, 2.1, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from classifiers.papers.baykan.words import runs, words

if TYPE_CHECKING:
    from classifiers.papers.baykan.servers import Countries

Source = Literal["word", "url"]
Names = npt.NDArray[np.object_]

_SIZES: Final = {f"{size}-grams": (size, size) for size in range(1, 8)} | {
    "3-4-grams": (3, 4),
    "3-4-5-grams": (3, 5),
    "3-4-5-6-grams": (3, 6),
    "allgrams": (3, 7),
}
_SOURCES: Final[tuple[Source, ...]] = ("word", "url")
_GRAMS: Final = {f"{name}-from-{source}": (name, source) for source in _SOURCES for name in _SIZES}
CUSTOM: Final = {"custom": 60, "custom-2008": 74}
"""Custom-made feature sets, and their number of features."""
_EDGE: Final = "_"

NAMES: Final = ("words", *_GRAMS, *CUSTOM)
"""The feature sets of the study."""


def vectorizer(name: str, countries: Countries | None = None) -> Any:
    """The unfitted vectorizer of a feature set; `countries` is for the custom-made ones only.

    A name that is not in NAMES raises ValueError.
    """
    if name == "words":
        return Counts(words)
    if name in _GRAMS:
        sizes, source = _GRAMS[name]
        smallest, largest = _SIZES[sizes]
        of_url = partial(grams, smallest=smallest, largest=largest, source=source)
        return Counts(of_url, is_sorted=False)
    if name in CUSTOM:
        from classifiers.papers.baykan.custom import CustomFeatures

        return CustomFeatures(CUSTOM[name], countries=countries)
    raise ValueError(f"no feature set is called {name!r}; there are {', '.join(NAMES)}")


class Counts:
    """Counts of the pieces of texts, float64, CSR (n_texts, n_pieces).

    Pieces that no text of `fit_transform` has are left out.

    Parameters
    ----------
    pieces : callable
        Text -> its words or n-grams, with repetitions.
    is_sorted : bool
        Whether the columns are in the order of the pieces' letters, else in that in which the
        pieces were met. Some algorithms decide ties by it.
    """

    def __init__(self, pieces: Callable[[str], list[str]], *, is_sorted: bool = True) -> None:
        self.pieces = pieces
        self.is_sorted = is_sorted

    def fit_transform(self, texts: Sequence[str], y: object = None) -> csr_matrix:
        """Learn the pieces, and count them; ValueError if no text has any."""
        met = dict.fromkeys(piece for text in texts for piece in self.pieces(text))
        names = sorted(met) if self.is_sorted else met
        self.vocabulary_ = {name: column for column, name in enumerate(names)}
        return self.transform(texts)

    def transform(self, texts: Sequence[str]) -> csr_matrix:
        """Count the pieces that were learned."""
        counter = CountVectorizer(
            analyzer=self.pieces, dtype=np.float64, vocabulary=self.vocabulary_
        )
        return csr_matrix(counter.transform(texts))

    def get_feature_names_out(self) -> Names:
        """Return the pieces, (n_pieces,)."""
        return np.array(list(self.vocabulary_), object)


def grams(url: str, smallest: int, largest: int, source: Source) -> list[str]:
    """The character n-grams of a URL that have `smallest` to `largest` letters.

    They are those of each word between marks (`_we`, `wea`, …, `er_`; a mark counts as a letter),
    or those of the URL. The paper leaves three things open. For 1-grams from words the mark is not
    a letter, because every word has two marks. A word that is too short for the smallest n-gram
    gets more marks at its end (`_de__`), so that no word is without n-grams. N-grams from the URL
    are those of all its letters, `http` and `www` included, without the characters between them,
    since `yde` is one of `http://www.hi-fly.de`.
    """
    texts = ["".join(runs(url))]
    if source == "word":
        texts = [f"{_EDGE}{word}{_EDGE}".ljust(smallest, _EDGE) for word in words(url)]
    found = [
        text[start:end]
        for text in texts
        for start in range(len(text) - smallest + 1)
        for end in range(start + smallest, min(start + largest, len(text)) + 1)
    ]
    return found if smallest > 1 else [gram for gram in found if gram != _EDGE]
