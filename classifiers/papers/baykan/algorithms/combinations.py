"""Classifiers that combine several others (Baykan 2013, 4.7.1; Baykan 2008, Table 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from classifiers.papers.baykan.algorithms.binary import Flags, Floats
from classifiers.papers.baykan.algorithms.urlclassifier import UrlClassifier
from classifiers.papers.evaluation import Measures


class _Combination(UrlClassifier):
    """Classifiers that are fitted on the same URLs; a subclass joins their scores.

    Parameters
    ----------
    classifiers : sequence of URL classifiers

    Attributes
    ----------
    classifiers_ : list
        Fitted copies.
    """

    def __init__(self, classifiers: Sequence[Any]) -> None:
        self.classifiers = classifiers

    def _fit(self, urls: list[str], is_yes: Flags) -> None:
        self.classifiers_ = [clone(each).fit(urls, is_yes) for each in self.classifiers]

    def _all_scores(self, urls: list[str]) -> Floats:
        return np.vstack([each.decision_function(urls) for each in self.classifiers_])


class Either(_Combination):
    """No only if all say No, which raises recall (Baykan 2013, 4.7.1).

    The score is the largest of all scores. Scores of different classifiers have no common unit, so
    only its sign is comparable.
    """

    def _scores(self, urls: list[str]) -> Floats:
        return np.asarray(self._all_scores(urls).max(axis=0))


class Both(_Combination):
    """Yes only if all say Yes, which raises precision (Baykan 2008); the score is the smallest."""

    def _scores(self, urls: list[str]) -> Floats:
        return np.asarray(self._all_scores(urls).min(axis=0))


def either(*classifiers: Any) -> Either:
    """Return the classifier that says No only if all of these do, e.g. `either(svm, ip)`."""
    return Either(classifiers)


def both(*classifiers: Any) -> Both:
    """Return the classifier that says Yes only if all of these do."""
    return Both(classifiers)


class BestPerLanguage(UrlClassifier):
    """The candidate with the highest F1 for this language (Baykan 2008, Table 9).

    F1 is measured on folds of the training URLs that the candidate has not seen, in the
    balanced limit of Baykan 2013, 3.3; the first of equals wins and is fitted on all URLs.

    Parameters
    ----------
    candidates : sequence of (str, URL classifier)
        Each with its name.
    folds : int
        Parts the training URLs are divided into, stratified.
    random_state : int or None
        Decides which URL is in which part.

    Attributes
    ----------
    chosen_ : str
        Name of the winner.
    f1_ : dict
        Name -> F1, the mean of the folds.
    classifier_
        The winner, fitted.
    """

    def __init__(
        self,
        candidates: Sequence[tuple[str, Any]],
        folds: int = 3,
        random_state: int | None = 0,
    ) -> None:
        self.candidates = candidates
        self.folds = folds
        self.random_state = random_state

    def _fit(self, urls: list[str], is_yes: Flags) -> None:
        candidates = dict(self.candidates)
        if not candidates:
            raise ValueError("there is no candidate to choose from")
        self.f1_ = {name: self._f1(each, urls, is_yes) for name, each in candidates.items()}
        self.chosen_ = max(self.f1_, key=lambda name: self.f1_[name])
        self.classifier_ = clone(candidates[self.chosen_]).fit(urls, is_yes)

    def _f1(self, candidate: Any, urls: list[str], is_yes: Flags) -> float:
        parts = StratifiedKFold(self.folds, shuffle=True, random_state=self.random_state)
        found = []
        for seen, unseen in parts.split(is_yes, is_yes):
            fitted = clone(candidate).fit(_chosen(urls, seen), is_yes[seen])
            decisions = fitted.decision_function(_chosen(urls, unseen)) > 0
            truth = is_yes[unseen]
            found.append(Measures(decisions[truth].mean(), (~decisions[~truth]).mean()).f1)
        return float(np.mean(found))

    def _scores(self, urls: list[str]) -> Floats:
        scores: Floats = self.classifier_.decision_function(urls)
        return scores


def _chosen(urls: list[str], rows: npt.NDArray[np.intp]) -> list[str]:
    return [urls[row] for row in rows.tolist()]
