"""The base of all classifiers of URLs.

`fit(urls, y)` takes one of two classes for each URL; `predict(urls)` gives classes;
`decision_function(urls)` is positive exactly if the answer is Yes. URLs are any non-empty sequence
of strings; one bare string raises TypeError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from classifiers.papers.baykan.algorithms.binary import Floats

Urls = Sequence[str]


def checked(urls: Urls) -> list[str]:
    """The URLs as a list; TypeError unless all are strings, ValueError if there are none."""
    if isinstance(urls, str | bytes):
        raise TypeError("expected a sequence of URLs, not one string")
    result = list(urls)
    if not result:
        raise ValueError("expected at least one URL")
    wrong = next((each for each in result if not isinstance(each, str)), None)
    if wrong is not None:
        raise TypeError(f"expected URLs as strings, not {type(wrong).__name__}")
    return result


class UrlClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """A classifier of URLs; a subclass has `_fit` and `_scores`."""

    classes_: npt.NDArray[Any]

    def fit(self, urls: Urls, y: Any) -> Self:
        """Learn from URLs and their classes, (n_urls,) each; returns itself."""
        listed = checked(urls)
        labels = np.asarray(y)
        if labels.shape != (len(listed),):
            raise ValueError(f"{len(listed)} URLs need as many classes, not {labels.shape}")
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise ValueError(f"expected two classes, Yes and No, not {len(self.classes_)}")
        self._fit(listed, labels == self.classes_[1])
        return self

    def decision_function(self, urls: Urls) -> Floats:
        """Score each URL, (n_urls,): positive is Yes, and 0 is No."""
        check_is_fitted(self)
        return self._scores(checked(urls))

    def predict(self, urls: Urls) -> npt.NDArray[Any]:
        """Return the class of each URL, (n_urls,)."""
        is_yes = self.decision_function(urls) > 0
        return self.classes_[is_yes.astype(np.intp)]

    def _fit(self, urls: list[str], is_yes: npt.NDArray[np.bool_]) -> None:
        raise NotImplementedError

    def _scores(self, urls: list[str]) -> Floats:
        raise NotImplementedError


class FeatureClassifier(UrlClassifier):
    """An algorithm over a feature set: a vectorizer and a classifier of its matrices.

    Parameters
    ----------
    vectorizer : transformer of URLs
        Fitted on the same URLs as the algorithm, and given their classes.
    algorithm : classifier of matrices
        One that has a parameter `names` is given the vectorizer's feature names.

    Attributes
    ----------
    vectorizer_, algorithm_
        Fitted copies.
    """

    def __init__(self, vectorizer: Any, algorithm: Any) -> None:
        self.vectorizer = vectorizer
        self.algorithm = algorithm

    def _fit(self, urls: list[str], is_yes: npt.NDArray[np.bool_]) -> None:
        self.vectorizer_ = clone(self.vectorizer)
        self.algorithm_ = clone(self.algorithm)
        features = self.vectorizer_.fit_transform(urls, is_yes)
        if "names" in self.algorithm_.get_params(deep=False):
            self.algorithm_.set_params(names=self.vectorizer_.get_feature_names_out())
        self.algorithm_.fit(features, is_yes)

    def _scores(self, urls: list[str]) -> Floats:
        scores: Floats = self.algorithm_.decision_function(self.vectorizer_.transform(urls))
        return scores
