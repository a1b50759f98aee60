"""Classifiers that compare a URL with language models (Baykan 2013, 2.2).

Each classifier has two models: a model of the language's URLs, and a model of all other URLs.
Features outside the training URLs are ignored, since they do not separate the two models.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Matrix = Any
"""A feature matrix: dense, or sparse as scipy's CSR, (n_urls, n_features)."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

PROFILE: Final = 400
"""Number of features in a language profile."""
_ADDED: Final = 1.0
"""Added to every count (Laplace). Unlike with the paper's relative frequencies, a feature unseen in
a class does not rule the class out.
"""


class RelativeEntropy:
    """The smaller Kullback-Leibler divergence from the URL's distribution (Sibun 1996).

    The difference of the divergences, D(URL || others) - D(URL || language), is the mean log ratio
    of the URL's features: the URL's entropy is in both and cancels. A row's score is the sum, which
    has the same sign; without features the score is 0.

    `weights_` (n_features,) is the log ratio of each feature's probability in the language's URLs
    to its probability in other URLs.
    """

    def fit(self, X: Matrix, is_yes: Flags) -> Self:
        """Fit both models to rows and their labels (n_urls,)."""
        no, yes = map(self.log_probabilities, _counts(X, is_yes))
        self.weights_ = yes - no
        self.intercept_ = self.prior(is_yes)
        return self

    def predict(self, X: Matrix) -> Flags:
        """Return a mask of rows with a positive score, (n_urls,)."""
        return self.scores(X) > 0

    def scores(self, X: Matrix) -> Floats:
        """Return the log ratio in favour of the language, (n_urls,)."""
        return np.asarray(X @ self.weights_ + self.intercept_)

    def log_probabilities(self, totals: Floats) -> Floats:
        """Return a class's log probabilities from the counts of its rows, (n_features,)."""
        raised = totals + _ADDED
        return np.asarray(np.log(raised) - np.log(raised.sum()))

    def prior(self, is_yes: Flags) -> float:
        """Return the score of a URL without features."""
        return 0.0


class NaiveBayes(RelativeEntropy):
    """Naive Bayes over raw counts of words or n-grams.

    A feature's probability given a class is its share of all feature occurrences in the class's
    rows. A class's prior is its share of the rows.
    """

    def prior(self, is_yes: Flags) -> float:
        """Return the log prior ratio of the language."""
        return float(np.log(is_yes.sum()) - np.log((~is_yes).sum()))


class Markov(RelativeEntropy):
    """The likelier of two Markov chains of letters (Dunning 1994).

    A row's score is the sum of count times ln P(last letter | letters before it) over its n-grams,
    less the same sum for the other URLs. Unlike the paper, which adds probabilities, it adds their
    logarithms as Dunning does: the sum is the likelihood of the whole string. After letters unseen
    in a class, all letters are equally probable.

    `names` is the n-gram of each column, all of a single size; set before `fit`.
    """

    names: Sequence[str] | npt.NDArray[np.object_] = ()

    def log_probabilities(self, totals: Floats) -> Floats:
        """Return the last letter's log probabilities after the preceding letters, (n_features,)."""
        if len(self.names) != len(totals) or len({len(name) for name in self.names}) != 1:
            raise ValueError(f"each of {len(totals)} columns needs its n-gram, all of one size")
        _, prefixes = np.unique([str(name)[:-1] for name in self.names], return_inverse=True)
        n_letters = len({str(name)[-1] for name in self.names})
        before = np.bincount(prefixes, totals)[prefixes]
        return np.asarray(np.log(totals + _ADDED) - np.log(before + _ADDED * n_letters))


class RankOrder:
    """The smaller out-of-place distance between profiles (Cavnar and Trenkle 1994).

    A profile ranks features by frequency. A URL's distance from a language is the summed rank
    difference over the URL's features; a feature outside the language's profile costs the profile
    length. A row's score is its distance from the others less its distance from the language.

    Features with equal frequency in a URL share their mean rank: nearly all occur once, and any
    order among them would be arbitrary. Ties within a language rank the earlier column first.
    Unlike the paper's, a URL's profile is not cut: the few URLs with more features than a profile
    would lose an arbitrary part.
    """

    def __init__(self, size: int = PROFILE) -> None:
        self.size = size

    def fit(self, X: Matrix, is_yes: Flags) -> Self:
        """Fit both profiles to rows and their labels (n_urls,)."""
        self.ranks_ = [self._profile(counts) for counts in _counts(X, is_yes)]
        return self

    def predict(self, X: Matrix) -> Flags:
        """Return a mask of rows nearer to the language, (n_urls,)."""
        return self.scores(X) > 0

    def scores(self, X: Matrix) -> Floats:
        """Return the differences of the distances, (n_urls,); `X` is CSR without stored zeros."""
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        parts = [rankdata(-X.data[start:end]) - 1 for start, end in pairwise(X.indptr)]
        ranks = np.concatenate([np.zeros(0), *parts])
        no, yes = (self._out_of_place(ranks, each[X.indices]) for each in self.ranks_)
        return np.asarray(np.bincount(rows, no - yes, minlength=X.shape[0]), np.float64)

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


def _counts(X: Matrix, is_yes: Flags) -> tuple[Floats, Floats]:
    """Return feature frequencies in the rows of No and in the rows of Yes, (n_features,) both."""
    no, yes = (np.asarray(X[rows].sum(axis=0)).ravel() for rows in (~is_yes, is_yes))
    return no, yes
