"""Folds as arrays of numbers, and smaller training sets."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FEWEST: Final = 1


def stratified(strata: Numbers, n_folds: int, rng: np.random.Generator) -> Numbers:
    """The fold of each URL, (n_urls,); sizes differ by at most 1, also within each stratum."""
    shuffled = rng.permutation(len(strata))
    ordered = shuffled[np.argsort(strata[shuffled], kind="stable")]
    numbers = np.empty(len(strata), np.int64)
    numbers[ordered] = np.arange(len(strata)) % n_folds
    return numbers


def disjoint(groups: Numbers, y: Flags, n_folds: int, rng: np.random.Generator) -> Numbers:
    """The fold of each URL, (n_urls,); no group is in two folds, and classes are balanced.

    Groups are placed from the largest to the smallest, each into the least full fold.
    """
    n_groups = int(groups.max()) + 1
    sizes = np.stack([np.bincount(groups[y], minlength=n_groups),
                      np.bincount(groups[~y], minlength=n_groups)], axis=1)  # fmt: skip
    present = rng.permutation(np.flatnonzero(sizes.sum(axis=1)))
    present = present[np.argsort(-sizes[present].sum(axis=1), kind="stable")]
    full = np.zeros((n_folds, 2))
    of_group = np.full(n_groups, -1, np.int64)
    for group in present:
        fold = int(np.argmin(full @ sizes[group]))
        of_group[group] = fold
        full[fold] += sizes[group]
    return of_group[groups]


def thinned(training: Numbers, y: Flags, share: float, rng: np.random.Generator) -> Numbers:
    """A share of the training URLs, equal for positives and negatives, at least one of each.

    With the same generator, a smaller share is a subset of a larger one.
    """
    if share >= 1:
        return training
    kept = []
    for is_positive in (True, False):
        pool = rng.permutation(training[y[training] == is_positive])
        kept.append(pool[: max(_FEWEST, round(share * len(pool)))])
    return np.sort(np.concatenate(kept))
