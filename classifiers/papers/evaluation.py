"""Measures of binary classifiers, one classifier per language (Baykan 2013, 3.3).

URL languages are integer arrays (n_urls,), the columns of a decision table; -1 is any other
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
"""Significance level of a one-tailed paired t-test over the folds."""


@dataclass(frozen=True)
class Measures:
    """Measures of a binary classifier: shares between 0 and 1, nan if undefined."""

    recall: float
    """p(+|+): share of Yes among the language's URLs."""
    negative_success: float
    """p(-|-): share of No among all other URLs."""

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
    """Return the measures of a language's classifier, both arrays (n_urls,).

    Every other language has equal weight as a negative, whatever its number of URLs: a negative
    sample has equal numbers from each language (Baykan 2013, 3.2).
    """
    shares = {int(at): float(said_yes[columns == at].mean()) for at in np.unique(columns)}
    wrong = [share for at, share in shares.items() if at != own and at >= 0]
    negative_success = 1.0 - float(np.mean(wrong)) if wrong else float("nan")
    return Measures(shares.get(own, float("nan")), negative_success)


def of_binary(said_yes: Flags, y: Flags) -> Measures:
    """Return the measures of decisions, both (n_urls,); nan for a class without URLs."""
    return of_languages(said_yes, np.where(y, 0, 1), 0)


def by_fold(said_yes: Flags, y: Flags, folds: Columns) -> Matrix:
    """Return P, R, p(-|-) and F1 per fold, (n_folds, 4).

    `folds` is the test fold of each URL; -1 for none.
    """
    rows = []
    for fold in range(int(folds.max()) + 1):
        of_fold = of_binary(said_yes[folds == fold], y[folds == fold])
        rows.append([of_fold.precision, of_fold.recall, of_fold.negative_success, of_fold.f1])
    return np.array(rows)


def mean_and_spread(of_folds: Matrix) -> tuple[Matrix, Matrix]:
    """Return mean and standard deviation of each column over the folds with a defined value.

    nan without a defined fold; the deviation is 0 for a single defined fold.
    """
    moments = np.full((2, of_folds.shape[1]), np.nan)
    for column, values in enumerate(of_folds.T):
        defined = values[~np.isnan(values)]
        if len(defined):
            moments[:, column] = defined.mean(), defined.std(ddof=1) if len(defined) > 1 else 0.0
    return moments[0], moments[1]


def is_better(better: Matrix, other: Matrix) -> bool:
    """Return True if `better` is significantly greater than `other`, both (n_folds,).

    With equal differences in every fold, a positive difference is significant. A single fold is
    never significant.
    """
    differences = np.asarray(better, np.float64) - np.asarray(other, np.float64)
    if len(differences) < 2 or np.isnan(differences).any():
        return False
    if np.ptp(differences) <= 1e-12:
        return float(differences.mean()) > 1e-12
    from scipy import stats

    return bool(stats.ttest_rel(better, other, alternative="greater").pvalue < LEVEL)


def best(of: Mapping[str, Matrix]) -> str | None:
    """Return the name whose figures are significantly greater than every other name's, or None."""
    if len(of) < 2:
        return None
    first = max(of, key=lambda name: float(np.mean(of[name])))
    others = (figures for name, figures in of.items() if name != first)
    return first if all(is_better(of[first], other) for other in others) else None
