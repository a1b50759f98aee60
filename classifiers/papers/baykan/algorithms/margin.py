"""The linear Support Vector Machine (Baykan 2013, 2.2): ours, and the paper's own."""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from classifiers.papers.baykan.algorithms.binary import BinaryClassifier, Flags, Floats, Matrix
from classifiers.papers.baykan.algorithms.weighting import PaperWeighting

Preparation = Literal["weighting", "scaling"]
_PREPARATIONS: Final = ("weighting", "scaling")

_PERF_C: Final = 0.01
"""C of SVM-perf by default."""
_PERF_SCALE: Final = 100
"""SVM-perf counts errors in percent."""


class SupportVectors(BinaryClassifier):
    """A linear SVM with squared hinge loss over weighted counts or scaled features.

    Both classes have the same total weight, for any number of rows. This changes nothing if the
    classes are equal in number, as in the paper. Unlike the paper, weighted URLs are scaled to
    length 1, so that one penalty fits every number of URLs: 1 was within 0.2 points of F1 of the
    best of six, with words and with allgrams, on 5,000 and on 24,000 URLs. Without the scaling the
    best penalty depended on their number, and F1 was up to 0.8 points lower.

    Parameters
    ----------
    preparation : {"weighting", "scaling"}
        What happens to the features first: the paper's weighting and length 1 (words and
        n-grams), or unit variance (custom-made features).
    penalty : float
        C of the SVM; larger trusts the training rows more.
    random_state : int or None
        Order in which the solver visits the rows.
    """

    def __init__(
        self,
        preparation: Preparation = "weighting",
        penalty: float = 1.0,
        random_state: int | None = 0,
    ) -> None:
        self.preparation = preparation
        self.penalty = penalty
        self.random_state = random_state

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        svm = LinearSVC(
            C=self.penalty,
            class_weight="balanced",
            dual="auto",
            tol=1e-3,
            max_iter=10_000,
            random_state=self.random_state,
        )
        self.model_ = make_pipeline(*self._steps(), svm).fit(X, is_yes)

    def _steps(self) -> list[Any]:
        if self.preparation == "weighting":
            return [PaperWeighting(), Normalizer()]
        if self.preparation == "scaling":
            return [StandardScaler(with_mean=False)]
        raise ValueError(f"preparation is one of {_PREPARATIONS}, not {self.preparation!r}")

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.decision_function(X))


class PaperSupportVectors(BinaryClassifier):
    """The linear SVM of the paper: hinge loss over weights that are not scaled.

    SVM-perf with its default settings minimises `w.w / 2 + 0.01 x`, where x is the slack of 100
    times the mean hinge loss. So C of a usual SVM is 1 / n for n training rows. The bias is the
    weight of one more feature, which is always 1.

    Parameters
    ----------
    is_weighted : bool
        Whether the features get the paper's weighting first: words and n-grams do, custom-made
        features do not.
    random_state : int or None
        Order in which the solver visits the rows.
    """

    def __init__(self, is_weighted: bool = True, random_state: int | None = 0) -> None:
        self.is_weighted = is_weighted
        self.random_state = random_state

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        svm = LinearSVC(
            C=_PERF_C * _PERF_SCALE / len(is_yes),
            loss="hinge",
            dual=True,
            tol=1e-3,
            max_iter=10_000,
            random_state=self.random_state,
        )
        steps = [PaperWeighting()] if self.is_weighted else []
        self.model_ = make_pipeline(*steps, svm).fit(X, is_yes)

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.decision_function(X))
