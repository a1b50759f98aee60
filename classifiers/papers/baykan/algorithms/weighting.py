"""The weight of a word or n-gram in a URL (Baykan 2013, 2.2, footnote 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from classifiers.papers.baykan.algorithms.binary import Matrix


class PaperWeighting(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Weights f ln(n / (n_i + 1)): f is from the URL, n and n_i are from the URLs of `fit`.

    n is the number of URLs and n_i the number of those with feature i, in any language. By the
    formula a feature of all URLs has a weight below 0, and a feature of all but one URL has 0. The
    weight is not clipped, since a linear classifier learns the sign.

    After `fit`, `factors_` (n_features,) holds ln(n / (n_i + 1)).
    """

    def fit(self, X: Matrix, y: Any = None) -> PaperWeighting:
        """Count the rows that have each feature; `y` is ignored."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        n_with = np.bincount(X.nonzero()[1], minlength=X.shape[1])
        self.factors_ = np.log(X.shape[0] / (n_with + 1))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Return the weighted rows, sparse if the counts are."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if issparse(X):
            return csr_matrix(X @ diags_array(self.factors_))
        return X * self.factors_

    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
