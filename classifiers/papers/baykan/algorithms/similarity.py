"""Classifiers that compare a URL with language models (Baykan 2013, 2.2).

Each has two models: one of the language's URLs, one of the other URLs. Features that no training
URL has are ignored, since they do not separate the two models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from classifiers.papers.baykan.algorithms.binary import (
    BinaryClassifier,
    Flags,
    Floats,
    LogRatio,
    Matrix,
    smoothed,
    totals,
)


class RelativeEntropy(LogRatio):
    """The smaller Kullback-Leibler divergence from the URL's distribution (Sibun 1996).

    A row scores D(URL || others) - D(URL || language), in nats. The entropy of the URL is in both
    terms and cancels. The result is the mean log ratio of its features. A row without features has
    no distribution and scores 0.

    Parameters
    ----------
    smoothing : float
        Added to every count. A divergence from a model that lacks one of the URL's features
        would be infinite.
    """

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def _log_probabilities(self, totals: Floats) -> Floats:
        return smoothed(totals, self.smoothing)

    def _scores(self, X: Matrix) -> Floats:
        n_features = np.asarray(X.sum(axis=1)).ravel()
        result: Floats = super()._scores(X) / np.where(n_features > 0, n_features, 1.0)
        return result


class Markov(LogRatio):
    """The likelier of two Markov chains of letters (Dunning 1994).

    A row scores the sum of count times ln P(last letter | letters before it) over its n-grams, less
    the same sum for the other URLs. Unlike the paper, which adds probabilities, it adds their
    logarithms as Dunning does: the sum is the likelihood of the whole string.

    Parameters
    ----------
    size : int
        Letters of an n-gram, n. With 1 a letter has no context.
    names : sequence of str, or None
        The n-gram of each column (the vectorizer's `get_feature_names_out()`); None only if
        `size` is 1.
    smoothing : float
        Added to the count of every n-gram, times the number of different last letters to that
        of the letters before it. After letters that a class has never shown, all letters are
        equally probable.
    """

    def __init__(
        self, size: int = 1, names: Sequence[str] | None = None, smoothing: float = 1.0
    ) -> None:
        self.size = size
        self.names = names
        self.smoothing = smoothing

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        names = self._checked_names(X.shape[1])
        prefixes = {name[:-1] for name in names}
        number = {prefix: at for at, prefix in enumerate(sorted(prefixes))}
        self.prefixes_ = np.array([number[name[:-1]] for name in names], np.int64)
        self.n_letters_ = (
            len({name[-1:] for name in names}) if self.names is not None else len(names)
        )
        super()._fit(X, is_yes)

    def _checked_names(self, n_columns: int) -> Sequence[str]:
        if self.names is None:
            if self.size > 1:
                raise ValueError(f"names of the {self.size}-grams are needed, one of each column")
            return [""] * n_columns
        if len(self.names) != n_columns:
            raise ValueError(f"{len(self.names)} names were given for {n_columns} columns")
        wrong = next((name for name in self.names if len(name) != self.size), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} is not a {self.size}-gram")
        return self.names

    def _log_probabilities(self, totals: Floats) -> Floats:
        before = np.bincount(self.prefixes_, totals)[self.prefixes_]
        raised = before + self.smoothing * self.n_letters_
        return np.asarray(np.log(totals + self.smoothing) - np.log(raised))


class RankOrder(BinaryClassifier):
    """The smaller out-of-place distance between profiles (Cavnar and Trenkle 1994).

    A profile ranks features by how often they occur. The distance of a URL from a language is the
    sum over the URL's features of how far apart their two ranks are; a feature that is not in the
    language's profile counts as much as there are features in a profile. A row scores its distance
    from the others less that from the language.

    Features that a URL has equally often share their mean rank: nearly all occur once, and any
    order among them would be arbitrary. If a language has two features equally often, the earlier
    column comes first. Unlike the paper's, the profile of a URL is not cut: the few URLs with more
    features than a profile would lose an arbitrary part.

    Parameters
    ----------
    size : int
        Features of a language's profile.
    """

    _takes_negative = False

    def __init__(self, size: int = 400) -> None:
        self.size = size

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        self.ranks_ = np.vstack([self._profile(totals(X, rows)) for rows in (~is_yes, is_yes)])

    def _profile(self, counts: Floats) -> Floats:
        """Ranks from 0, (n_features,); nan for features outside the profile."""
        order = np.argsort(-counts, kind="stable")[: self.size]
        order = order[counts[order] > 0]
        ranks = np.full(len(counts), np.nan)
        ranks[order] = np.arange(len(order))
        return ranks

    def _scores(self, X: Matrix) -> Floats:
        X = csr_matrix(X, copy=True)
        X.eliminate_zeros()
        rows, ranks = row_ranks(X)
        no, yes = (self._out_of_place(ranks, each[X.indices]) for each in self.ranks_)
        return np.asarray(np.bincount(rows, no - yes, minlength=X.shape[0]), np.float64)

    def _out_of_place(self, ranks: Floats, expected: Floats) -> Floats:
        distances = np.abs(ranks - expected)
        return np.where(np.isnan(distances), self.size, np.minimum(distances, self.size))

    def __sklearn_tags__(self) -> object:
        """Return tags that exempt the classifier from scikit-learn's test on two blobs."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def row_ranks(X: Matrix) -> tuple[npt.NDArray[np.int64], Floats]:
    """The row and the rank of each stored count, (n_counts,) both; rank 0 is the row's largest.

    Equal counts share the mean of their ranks. `X` is CSR without stored zeros.
    """
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((-X.data, rows))
    places = np.arange(len(rows)) - X.indptr[rows]
    counts = X.data[order]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]) | (counts[1:] != counts[:-1])
    group = np.cumsum(is_new) - 1
    ranks = np.empty(len(rows))
    ranks[order] = (np.bincount(group, places) / np.bincount(group))[group]
    return rows, ranks
