"""Naive Bayes and Maximum Entropy (Baykan 2013, 2.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from classifiers.papers.baykan.algorithms.binary import (
    BinaryClassifier,
    Flags,
    Floats,
    LogRatio,
    Matrix,
    smoothed,
)


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


class GaussianBayes(BinaryClassifier):
    """Naive Bayes over custom-made features, each normally distributed within a class.

    Parameters
    ----------
    smoothing : float
        Share of the largest variance that is added to all, so that a feature which is constant
        within a class has one.
    """

    _takes_sparse = False

    def __init__(self, smoothing: float = 1e-3) -> None:
        self.smoothing = smoothing

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        from sklearn.naive_bayes import GaussianNB

        self.model_ = GaussianNB(var_smoothing=self.smoothing).fit(X, is_yes)

    def _scores(self, X: Matrix) -> Floats:
        logarithms = self.model_.predict_joint_log_proba(X)
        return np.asarray(logarithms[:, 1] - logarithms[:, 0])


class MaximumEntropy(BinaryClassifier):
    """The conditional Maximum Entropy model over raw counts: logistic regression.

    Among all distributions of the class that agree with the training rows on the expected count of
    each feature, the one of highest entropy is exp(sum of weight times count) / Z, and the weights
    that make it agree are those of maximum likelihood (Nigam 1999). With two classes only the
    difference of their weights matters: that is logistic regression, whose likelihood has one
    maximum. Unlike Improved Iterative Scaling, Newton's method with conjugate gradients reaches it
    in some dozen steps. Unlike the paper, which names no prior, a Gaussian one bounds the weights
    of features that occur in one class only. Each class also has a constant feature.

    Parameters
    ----------
    variance : float
        Of the prior of each weight; larger trusts the training rows more.
    scaling : bool
        Bring every feature to unit variance first. For custom-made features, whose counts and
        flags differ much in size.
    """

    def __init__(self, variance: float = 1.0, scaling: bool = False) -> None:
        self.variance = variance
        self.scaling = scaling

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        scaler: Any = StandardScaler(with_mean=False) if self.scaling else "passthrough"
        logistic = LogisticRegression(C=self.variance, solver="newton-cg", tol=1e-3, max_iter=1000)
        self.model_ = make_pipeline(scaler, logistic).fit(X, is_yes)

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.decision_function(X))
