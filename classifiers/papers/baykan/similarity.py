"""Classifiers that compare a URL with language models (Baykan 2013, 2.2).

Each has two models: one of the language's URLs, one of the other URLs. Features that no training
URL has are ignored, since they do not separate the two models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Matrix = Any
"""A feature matrix: dense, or sparse as scipy's CSR, (n_urls, n_features)."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_ADDED: float = 1.0
"""Added to every count (Laplace). Unlike with the paper's relative frequencies, a feature that one
class has never shown does not rule that class out."""


class Similarity:
    """A classifier that says Yes to rows with a positive score."""

    def fit(self, X: Matrix, is_yes: Flags) -> Self:
        """Learn both models from rows and their answers (n_urls,)."""
        no, yes = (np.asarray(X[rows].sum(axis=0)).ravel() for rows in (~is_yes, is_yes))
        self._learn(no, yes, is_yes)
        return self

    def predict(self, X: Matrix) -> Flags:
        """Return the answer of each row, (n_urls,)."""
        return self.scores(X) > 0

    def scores(self, X: Matrix) -> Floats:
        """Return how much nearer the language is than the other URLs, (n_urls,)."""
        raise NotImplementedError

    def _learn(self, no: Floats, yes: Floats, is_yes: Flags) -> None:
        """Learn from how often each feature occurs in the rows of No and of Yes."""
        raise NotImplementedError


class LogRatio(Similarity):
    """A classifier whose score is linear in the counts.

    `weights_` (n_features,) is the logarithm of how much more probable each feature is in a URL of
    the language than in another. `intercept_` is the score of a URL without features.
    """

    intercept_ = 0.0

    def scores(self, X: Matrix) -> Floats:
        """Return the sums of the weights, (n_urls,)."""
        return np.asarray(X @ self.weights_ + self.intercept_)

    def _learn(self, no: Floats, yes: Floats, is_yes: Flags) -> None:
        self.weights_ = self.log_probabilities(yes) - self.log_probabilities(no)

    def log_probabilities(self, totals: Floats) -> Floats:
        """Logarithms of a class's probabilities from the counts of its rows, (n_features,)."""
        raised = totals + _ADDED
        return np.asarray(np.log(raised) - np.log(raised.sum()))


class NaiveBayes(LogRatio):
    """Naive Bayes over raw counts of words or n-grams.

    The probability of a feature given a class is its share of all features of the class's rows. The
    prior of a class is its share of the rows.
    """

    def _learn(self, no: Floats, yes: Floats, is_yes: Flags) -> None:
        super()._learn(no, yes, is_yes)
        self.intercept_ = float(np.log(is_yes.sum()) - np.log((~is_yes).sum()))


class RelativeEntropy(LogRatio):
    """The smaller Kullback-Leibler divergence from the URL's distribution (Sibun 1996).

    A row scores D(URL || others) - D(URL || language), in nats. The entropy of the URL is in both
    terms and cancels. The result is the mean log ratio of its features. A row without features has
    no distribution and scores 0.
    """

    def scores(self, X: Matrix) -> Floats:
        """Return the differences of the divergences, (n_urls,)."""
        n_features = np.asarray(X.sum(axis=1)).ravel()
        result: Floats = super().scores(X) / np.where(n_features > 0, n_features, 1.0)
        return result


class Markov(LogRatio):
    """The likelier of two Markov chains of letters (Dunning 1994).

    A row scores the sum of count times ln P(last letter | letters before it) over its n-grams, less
    the same sum for the other URLs. Unlike the paper, which adds probabilities, it adds their
    logarithms as Dunning does: the sum is the likelihood of the whole string. After letters that a
    class has never shown, all letters are equally probable.

    `names` has the n-gram of each column, all of one size; it is set before `fit`.
    """

    names: Sequence[str] | npt.NDArray[np.object_] = ()

    def _learn(self, no: Floats, yes: Floats, is_yes: Flags) -> None:
        if len(self.names) != len(yes) or len({len(name) for name in self.names}) != 1:
            raise ValueError(f"each of {len(yes)} columns needs its n-gram, all of one size")
        prefixes = [str(name)[:-1] for name in self.names]
        self.prefixes_ = np.unique(prefixes, return_inverse=True)[1]
        self.n_letters_ = len({str(name)[-1] for name in self.names})
        super()._learn(no, yes, is_yes)

    def log_probabilities(self, totals: Floats) -> Floats:
        """Logarithms of the last letter's probabilities after those before it, (n_features,)."""
        before = np.bincount(self.prefixes_, totals)[self.prefixes_]
        raised = before + _ADDED * self.n_letters_
        return np.asarray(np.log(totals + _ADDED) - np.log(raised))


class RankOrder(Similarity):
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

    def __init__(self, size: int = 400) -> None:
        self.size = size

    def scores(self, X: Matrix) -> Floats:
        """Return the differences of the distances, (n_urls,)."""
        rows, ranks = row_ranks(X)
        no, yes = (self._out_of_place(ranks, each[X.indices]) for each in self.ranks_)
        return np.asarray(np.bincount(rows, no - yes, minlength=X.shape[0]), np.float64)

    def _learn(self, no: Floats, yes: Floats, is_yes: Flags) -> None:
        self.ranks_ = np.vstack([self._profile(no), self._profile(yes)])

    def _profile(self, counts: Floats) -> Floats:
        """Ranks from 0, (n_features,); nan for features outside the profile."""
        order = np.argsort(-counts, kind="stable")[: self.size]
        order = order[counts[order] > 0]
        ranks = np.full(len(counts), np.nan)
        ranks[order] = np.arange(len(order))
        return ranks

    def _out_of_place(self, ranks: Floats, expected: Floats) -> Floats:
        distances = np.abs(ranks - expected)
        return np.where(np.isnan(distances), self.size, np.minimum(distances, self.size))


def row_ranks(X: Matrix) -> tuple[npt.NDArray[np.int64], Floats]:
    """The row and the rank of each stored count, (n_counts,) both; rank 0 is the row's largest.

    Equal counts share the mean of their ranks. `X` has no stored zeros.
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
