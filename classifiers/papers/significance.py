"""Whether one classifier is better than another: the test of Baykan 2013, 3.3."""

from __future__ import annotations

from collections.abc import Mapping
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
