"""The base of all classifiers of feature matrices."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

Matrix = Any
"""A feature matrix: dense, or sparse as scipy's CSR, (n_urls, n_features)."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class BinaryClassifier:
    """A classifier that says Yes or No; a subclass has `_fit` and `_scores`."""

    def fit(self, X: Matrix, y: npt.ArrayLike) -> Self:
        """Learn from rows (n_urls, n_features) and their answers (n_urls,); returns itself."""
        is_yes = np.asarray(y, bool)
        if is_yes.all() or not is_yes.any():
            raise ValueError("rows of both classes, Yes and No, are needed")
        self._fit(X, is_yes)
        return self

    def decision_function(self, X: Matrix) -> Floats:
        """Score each row, (n_urls,): positive is Yes, and 0 is No."""
        return np.asarray(self._scores(X), np.float64)

    def predict(self, X: Matrix) -> Flags:
        """Return the answer of each row, (n_urls,)."""
        return self.decision_function(X) > 0

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        raise NotImplementedError

    def _scores(self, X: Matrix) -> Floats:
        raise NotImplementedError


def totals(X: Matrix, rows: Flags) -> Floats:
    """How often each feature occurs in the chosen rows, (n_features,)."""
    return np.asarray(X[rows].sum(axis=0), np.float64).ravel()
