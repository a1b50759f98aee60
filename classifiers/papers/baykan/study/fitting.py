"""Decisions about URLs that a classifier was not trained on, as a worker computes them.

N-grams and words are counted once for all URLs. A classifier gets only the columns that occur in
its training URLs: the result is the same as if the counting had been fitted on these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from classifiers.papers.baykan.algorithms import algorithm
from classifiers.papers.baykan.features.vectors import vectorizer
from classifiers.papers.baykan.study.folds import thinned
from classifiers.papers.baykan.study.servers import Servers

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Names = npt.NDArray[np.object_]

_THINNING: Final = 103


@dataclass(frozen=True)
class Splits:
    """The rows that a classifier is trained on and tested on, fold by fold."""

    y: Flags
    """True for the URLs in the language, (n_urls,)."""
    folds: Numbers
    """The fold in which each URL is tested, (n_urls,)."""
    share: float
    """Share of the training URLs that is used."""
    seed: int

    def parts(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the training rows and the test rows of each fold."""
        for fold in range(int(self.folds.max()) + 1):
            yield self.part(fold)

    def part(self, fold: int) -> tuple[Numbers, Numbers]:
        """Return the training rows and the test rows of one fold."""
        rng = np.random.default_rng([self.seed, fold, _THINNING])
        training = np.flatnonzero(self.folds != fold)
        return thinned(training, self.y, self.share, rng), np.flatnonzero(self.folds == fold)


def on_counts(
    counts: csr_matrix,
    splits: Splits,
    name: str,
    features: str,
    names: Names | None = None,
) -> Flags:
    """Decisions about counts (n_urls, n_features), each by training without the URL's fold.

    `names` of the features are for algorithms that use them.
    """
    said_yes = np.zeros(len(splits.y), bool)
    for train, test in splits.parts():
        is_seen = seen(counts[train])
        if not (is_seen.any() and can_fit(splits, train, test)):
            continue  # without training no decision is Yes
        model = algorithm(name, features, splits.seed)
        if takes_names(model):
            model.set_params(names=None if names is None else names[is_seen])
        model.fit(narrowed(counts[train], is_seen), splits.y[train])
        said_yes[test] = model.predict(narrowed(counts[test], is_seen))
    return said_yes


def can_fit(splits: Splits, train: Numbers, test: Numbers) -> bool:
    """Whether the training rows have both classes and there are test rows.

    Folds of whole domains may lack one of these if there are few domains.
    """
    return len(test) > 0 and len(np.unique(splits.y[train])) == 2


def takes_names(model: Any) -> bool:
    """Whether an algorithm uses the names of features."""
    return "names" in model.get_params(deep=False)


def on_urls(
    urls: Sequence[str],
    splits: Splits,
    fold: int,
    names: Sequence[str],
    features: str,
    servers: Servers | None,
) -> dict[str, tuple[Numbers, Flags]]:
    """Decisions of several algorithms in one fold, with features learned from its training URLs.

    Returns a dict: name of the algorithm -> test rows and the decisions about them.
    """
    train, test = splits.part(fold)
    if not can_fit(splits, train, test):
        return {name: (test, np.zeros(len(test), bool)) for name in names}
    extractor = vectorizer(features, servers)
    training = extractor.fit_transform([urls[at] for at in train], splits.y[train])
    testing = extractor.transform([urls[at] for at in test])
    found = {}
    for name in names:
        fitted = algorithm(name, features, splits.seed).fit(training, splits.y[train])
        found[name] = (test, fitted.predict(testing))
    return found


def seen(counts: csr_matrix) -> Flags:
    """Whether each column occurs, (n_features,)."""
    is_seen = np.zeros(counts.shape[1], bool)
    is_seen[counts.indices] = True
    return is_seen


def narrowed(counts: csr_matrix, columns: Flags) -> csr_matrix:
    """The selected columns in their order, (n_urls, n_selected)."""
    new = np.cumsum(columns, dtype=np.int32) - 1
    kept = columns[counts.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    return csr_matrix(
        (counts.data[kept], new[counts.indices[kept]], before[counts.indptr]),
        (counts.shape[0], int(columns.sum())),
    )
