"""Whether one classifier is better than another: the paper's test (3.3), and stricter ones.

The folds of a cross-validation share most of their training URLs, so their differences are not
independent, and the paper's test finds too many. Nadeau and Bengio (2003, "Inference for the
generalization error", section 3) correct the variance for that. Holm (1979, "A simple sequentially
rejective multiple test procedure") corrects for the number of comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import stats

LEVEL: Final = 0.025

Figures = npt.NDArray[np.float64]


def p_value(better: Figures, other: Figures) -> float:
    """P of a one-tailed paired t-test that `better` is greater, both (n_folds,).

    If the difference is the same in every fold, p is 0 for a positive difference, else 1. With one
    fold p is 1.
    """
    differences = np.asarray(better, np.float64) - np.asarray(other, np.float64)
    if len(differences) < 2 or np.isnan(differences).any():
        return 1.0
    if np.ptp(differences) <= 1e-12:
        return 0.0 if differences.mean() > 1e-12 else 1.0
    return float(stats.ttest_rel(better, other, alternative="greater").pvalue)


def corrected_p_value(better: Figures, other: Figures) -> float:
    """P of the corrected resampled t-test (Nadeau and Bengio) that `better` is greater.

    Both are figures of the folds of one cross-validation, (n_folds,). The variance of their
    differences is multiplied by 1 / n_folds + n_test / n_train = 1 / n_folds + 1 / (n_folds - 1)
    instead of 1 / n_folds. Edge cases are those of `p_value`.
    """
    differences = np.asarray(better, np.float64) - np.asarray(other, np.float64)
    n_folds = len(differences)
    if n_folds < 2 or np.isnan(differences).any():
        return 1.0
    if np.ptp(differences) <= 1e-12:
        return 0.0 if differences.mean() > 1e-12 else 1.0
    factor = 1 / n_folds + 1 / (n_folds - 1)
    statistic = differences.mean() / np.sqrt(factor * differences.var(ddof=1))
    return float(stats.t.sf(statistic, n_folds - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for their number: below a level if Holm's procedure rejects at it."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    highest = 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return [float(value) for value in adjusted]


def is_better(better: Figures, other: Figures, level: float = LEVEL) -> bool:
    """Whether `better` is significantly greater than `other` across folds."""
    return p_value(better, other) < level


def best(of: Mapping[str, Figures], level: float = LEVEL) -> str | None:
    """The name whose figures are significantly greater than those of all others, if any."""
    if len(of) < 2:
        return None
    first = max(of, key=lambda name: float(np.mean(of[name])))
    others = (figures for name, figures in of.items() if name != first)
    return first if all(is_better(of[first], other, level) for other in others) else None
