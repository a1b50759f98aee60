"""The base of all classifiers of feature matrices: two classes, Yes if the score is positive.

The first of the two sorted classes means No, the second Yes; with booleans, False and True.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

Matrix = Any
"""A feature matrix: dense, or sparse as scipy's CSR, (n_urls, n_features)."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class BinaryClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """A classifier that says Yes or No; a subclass has `_fit` and `_scores`.

    After `fit`, `classes_` holds the two classes, No first, and `n_features_in_` the number of
    columns.
    """

    _takes_sparse = True
    _takes_negative = True

    def fit(self, X: Matrix, y: Any) -> BinaryClassifier:
        """Learn from rows (n_urls, n_features) and their classes (n_urls,); returns itself."""
        X, y = validate_data(self, X, y, accept_sparse=self._accepted(), dtype=np.float64)
        is_yes = self._is_yes(y)
        self._check_counts(X)
        self._fit(X, is_yes)
        return self

    def decision_function(self, X: Matrix) -> Floats:
        """Score each row, (n_urls,): positive is Yes, and 0 is No."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=self._accepted(), dtype=np.float64, reset=False)
        self._check_counts(X)
        return np.asarray(self._scores(X), np.float64)

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Return the class of each row, (n_urls,)."""
        is_yes = self.decision_function(X) > 0
        classes: npt.NDArray[Any] = self.classes_
        return classes[is_yes.astype(np.intp)]

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        raise NotImplementedError

    def _scores(self, X: Matrix) -> Floats:
        raise NotImplementedError

    def _accepted(self) -> str | bool:
        return "csr" if self._takes_sparse else False

    def _check_counts(self, X: Matrix) -> None:
        if not self._takes_negative:
            check_non_negative(X, type(self).__name__)

    def _is_yes(self, y: npt.NDArray[Any]) -> Flags:
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(f"y has one class, {self.classes_[0]!r}; Yes and No are needed")
        return np.asarray(y == self.classes_[1])

    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.positive_only = not self._takes_negative
        return tags


class LogRatio(BinaryClassifier):
    """A classifier whose score is linear in the counts; a subclass has `_weights`.

    `weights_` (n_features,) is the logarithm of how much more probable each feature is in a URL of
    the language than in another. `intercept_` is the score of a URL without features.
    """

    _takes_negative = False

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        self.intercept_ = 0.0
        yes, no = (self._log_probabilities(totals(X, rows)) for rows in (is_yes, ~is_yes))
        self.weights_ = yes - no

    def _log_probabilities(self, totals: Floats) -> Floats:
        """Logarithms of a class's probabilities from the counts of its rows, (n_features,)."""
        raise NotImplementedError

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(X @ self.weights_ + self.intercept_)


def totals(X: Matrix, rows: Flags) -> Floats:
    """How often each feature occurs in the chosen rows, (n_features,)."""
    return np.asarray(X[rows].sum(axis=0), np.float64).ravel()


def smoothed(totals: Floats, smoothing: float) -> Floats:
    """Logarithms of relative frequencies after `smoothing` was added to every count."""
    raised = totals + smoothing
    return np.asarray(np.log(raised) - np.log(raised.sum()))
