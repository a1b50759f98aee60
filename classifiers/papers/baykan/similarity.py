"""Classifiers that compare a URL with language models (Baykan 2013, 2.2).

Each has two models: one of the language's URLs, one of the other URLs. Features that no training
URL has are ignored, since they do not separate the two models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from classifiers.papers.baykan.binary import BinaryClassifier, Flags, Floats, Matrix, totals


class LogRatio(BinaryClassifier):
    """A classifier whose score is linear in the counts; a subclass has `_weights`.

    `weights_` (n_features,) is the logarithm of how much more probable each feature is in a URL of
    the language than in another. `intercept_` is the score of a URL without features.
    """

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        self.intercept_ = 0.0
        yes, no = (self._log_probabilities(totals(X, rows)) for rows in (is_yes, ~is_yes))
        self.weights_ = yes - no

    def _log_probabilities(self, totals: Floats) -> Floats:
        """Logarithms of a class's probabilities from the counts of its rows, (n_features,)."""
        raise NotImplementedError

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(X @ self.weights_ + self.intercept_)


def smoothed(totals: Floats, smoothing: float) -> Floats:
    """Logarithms of relative frequencies after `smoothing` was added to every count."""
    raised = totals + smoothing
    return np.asarray(np.log(raised) - np.log(raised.sum()))


class NaiveBayes(LogRatio):
    """Naive Bayes over raw counts of words or n-grams.

    The probability of a feature given a class is its share of all features of the class's rows. The
    prior of a class is its share of the rows.

    Parameters
    ----------
    smoothing : float
        Added to every count (Laplace). Unlike the paper's relative frequencies, a feature that
        one class has never shown does not rule that class out.
    """

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        super()._fit(X, is_yes)
        self.intercept_ = float(np.log(is_yes.sum()) - np.log((~is_yes).sum()))

    def _log_probabilities(self, totals: Floats) -> Floats:
        return smoothed(totals, self.smoothing)


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
    smoothing : float
        Added to the count of every n-gram, times the number of different last letters to that
        of the letters before it. After letters that a class has never shown, all letters are
        equally probable.

    `names` has the n-gram of each column; it is set before `fit`.
    """

    names: Sequence[str] | npt.NDArray[np.object_] = ()

    def __init__(self, size: int = 1, smoothing: float = 1.0) -> None:
        self.size = size
        self.smoothing = smoothing

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        names = [str(name) for name in self.names]
        if len(names) != X.shape[1] or {len(name) for name in names} != {self.size}:
            raise ValueError(f"each of {X.shape[1]} columns needs the name of its {self.size}-gram")
        prefixes = {name[:-1] for name in names}
        number = {prefix: at for at, prefix in enumerate(sorted(prefixes))}
        self.prefixes_ = np.array([number[name[:-1]] for name in names], np.int64)
        self.n_letters_ = len({name[-1:] for name in names})
        super()._fit(X, is_yes)

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
