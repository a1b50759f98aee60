"""Measures of binary classifiers, one for each language (Baykan 2013, 3.3).

Languages of URLs are integer arrays (n_urls,), the columns of a table of decisions; -1 is any other
language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Decisions = npt.NDArray[np.bool_]
Columns = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LEVEL: Final = 0.025
"""Of significance: a one-tailed paired t-test over the folds."""


@dataclass(frozen=True)
class Measures:
    """The measures of one binary classifier: shares between 0 and 1, nan if undefined."""

    recall: float
    """p(+|+): Yes among the URLs of the language."""
    negative_success: float
    """p(-|-): No among the others."""

    @property
    def precision(self) -> float:
        """Return P in the limit of as many negative as positive URLs; 0 without any Yes."""
        said_yes = self.recall + (1.0 - self.negative_success)
        return self.recall / said_yes if said_yes != 0 else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall; 0 if both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total != 0 else 0.0


def of_languages(said_yes: Flags, columns: Columns, own: int) -> Measures:
    """The measures of the classifier of one language, both arrays (n_urls,).

    The other languages have equal weight as negatives, whatever their numbers: a negative sample
    holds as many URLs of each (Baykan 2013, 3.2).
    """
    shares = {int(at): float(said_yes[columns == at].mean()) for at in np.unique(columns)}
    wrong = [share for at, share in shares.items() if at != own and at >= 0]
    negative_success = 1.0 - float(np.mean(wrong)) if wrong else float("nan")
    return Measures(shares.get(own, float("nan")), negative_success)


def of_binary(said_yes: Flags, y: Flags) -> Measures:
    """The measures of one classifier's decisions, both (n_urls,); nan for a class without URLs."""
    return of_languages(said_yes, np.where(y, 0, 1), 0)


def by_fold(said_yes: Flags, y: Flags, folds: Columns) -> Matrix:
    """P, R, p(-|-) and F1 in each fold, (n_folds, 4).

    `folds` has the fold in which each URL was tested; -1 for none.
    """
    found = []
    for fold in range(int(folds.max()) + 1):
        one = of_binary(said_yes[folds == fold], y[folds == fold])
        found.append([one.precision, one.recall, one.negative_success, one.f1])
    return np.array(found)


def mean_and_spread(of_folds: Matrix) -> tuple[Matrix, Matrix]:
    """Mean and standard deviation of each column over the folds where it is defined.

    nan if it is defined in no fold; the deviation is 0 if it is defined in one fold only.
    """
    found = np.full((2, of_folds.shape[1]), np.nan)
    for column, values in enumerate(of_folds.T):
        defined = values[~np.isnan(values)]
        if len(defined):
            found[:, column] = defined.mean(), defined.std(ddof=1) if len(defined) > 1 else 0.0
    return found[0], found[1]


def is_better(better: Matrix, other: Matrix) -> bool:
    """Whether `better` is significantly greater than `other`, both (n_folds,).

    If the difference is the same in every fold, it is if the difference is positive. One fold shows
    nothing.
    """
    differences = np.asarray(better, np.float64) - np.asarray(other, np.float64)
    if len(differences) < 2 or np.isnan(differences).any():
        return False
    if np.ptp(differences) <= 1e-12:
        return float(differences.mean()) > 1e-12
    from scipy import stats

    return bool(stats.ttest_rel(better, other, alternative="greater").pvalue < LEVEL)


def best(of: Mapping[str, Matrix]) -> str | None:
    """The name whose figures are significantly greater than those of all others, if any."""
    if len(of) < 2:
        return None
    first = max(of, key=lambda name: float(np.mean(of[name])))
    others = (figures for name, figures in of.items() if name != first)
    return first if all(is_better(of[first], other) for other in others) else None
