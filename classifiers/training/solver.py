"""Linear support vector machines of many classes at once, one-versus-rest.

Dual coordinate descent for the squared hinge loss with an L2 penalty (Hsieh and others 2008, "A
dual coordinate descent method for large-scale linear SVM", Algorithm 1), as in scikit-learn's
LinearSVC for a single machine. Here a row's features are read once for all machines, since reading
dominates the running time. Sums are in feature order, so equal rows give equal bits.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined

EPOCHS: Final = 10
"""Passes over the rows; the F1 of the URL model does not change after six."""
_TOLERANCE: Final = 0.01
"""Stopping tolerance: a pass's movement as a share of the first pass's movement."""

Floats = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


class _Rows(NamedTuple):
    """Rows of a CSR matrix, their classes and squared lengths."""

    pointers: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: Floats
    classes: Classes
    lengths: Floats


def fit(
    features: Any,
    classes: Classes,
    weights: Weights,
    n_classes: int,
    penalty: float,
    seed: int = 0,
    *,
    rest_weights: Weights | None = None,
) -> tuple[Floats, Floats]:
    """Fit and return weights (n_features, n_classes) and intercepts (n_classes,).

    `features` is a scipy CSR matrix (n_rows, n_features) without a repeated column in a row,
    `classes` (n_rows,) the class of each row, `weights` (n_rows,) the row weight within its side;
    in the rest, `rest_weights` replace these weights if passed. In each machine the class and the
    rest have equal total weight, together the number of rows; `penalty` is LinearSVC's C. As in
    LinearSVC, the intercept is a penalised feature of value 1. A class without rows gets a machine
    that always says No.
    """
    n_rows, n_features = features.shape
    rest_weights = weights if rest_weights is None else rest_weights
    lengths = np.asarray(features.multiply(features).sum(axis=1), np.float32).ravel() + 1
    values = features.data.astype(np.float32, copy=False)
    rows = _Rows(features.indptr.astype(np.int64), features.indices, values, classes, lengths)
    sides = np.array([rest_weights, weights], np.float32)
    costs = _costs(classes, weights, rest_weights, n_classes, penalty)
    learned = np.zeros((n_features + 1, n_classes), np.float32)
    duals = np.zeros((n_rows, n_classes), np.float32)
    chance = np.random.default_rng(seed)
    first = 0.0
    for epoch in range(EPOCHS):
        moved = _epoch(rows, sides, costs, chance.permutation(n_rows), learned, duals)
        first = first if epoch else moved
        if moved <= _TOLERANCE * first:
            break
    return learned[:-1], learned[-1]


def _costs(
    classes: Classes, weights: Weights, rest_weights: Weights, n_classes: int, penalty: float
) -> Floats:
    """Return the cost per machine for a row with weight 1, in the rest and in the class."""
    own = np.bincount(classes, weights=weights, minlength=n_classes)
    others = np.bincount(classes, weights=rest_weights, minlength=n_classes)
    sides = np.array([others.sum() - others, own])
    half = penalty * len(classes) / 2
    costs: Weights = np.divide(half, sides, out=np.zeros_like(sides), where=sides > 0)
    return costs.astype(np.float32)


# A function of its own: inside the long loop these sums are not vectorised.
@inlined
def _score(rows: _Rows, row: int, learned: Floats, scores: Floats) -> None:
    """Set `scores` (n_classes,) to a row's decision values."""
    for machine in range(len(scores)):
        scores[machine] = learned[len(learned) - 1, machine]
    for at in range(rows.pointers[row], rows.pointers[row + 1]):
        value, weight = rows.values[at], learned[rows.indices[at]]
        for machine in range(len(scores)):
            scores[machine] += weight[machine] * value


@inlined
def _learn(rows: _Rows, row: int, learned: Floats, steps: Floats) -> None:
    """Add a row to the weights, multiplied by each machine's value in `steps` (n_classes,)."""
    for at in range(rows.pointers[row], rows.pointers[row + 1]):
        value, weight = rows.values[at], learned[rows.indices[at]]
        for machine in range(len(steps)):
            weight[machine] += steps[machine] * value
    bias = learned[len(learned) - 1]
    for machine in range(len(steps)):
        bias[machine] += steps[machine]


@compiled
def _epoch(
    rows: _Rows, sides: Floats, costs: Floats, order: Classes, learned: Floats, duals: Floats
) -> float:
    """Visit every row once; return the total movement of the dual variables.

    `learned` (n_features + 1, n_classes) are the weights, the last row for the intercept. `sides`
    are the row weights and `costs` the costs of weight 1 per machine, in the rest and in the class.
    """
    scores, steps, moved = np.zeros_like(duals[0]), np.zeros_like(duals[0]), 0.0
    for row in order:
        _score(rows, row, learned, scores)
        largest = np.float32(0)
        for machine in range(len(scores)):
            is_own = int(rows.classes[row] == machine)
            sign, cost = np.float32(2 * is_own - 1), sides[is_own, row] * costs[is_own, machine]
            dual = duals[row, machine]
            best = dual
            if cost > 0:
                spread = np.float32(0.5) / cost
                gradient = sign * scores[machine] - np.float32(1) + spread * dual
                best = max(dual - gradient / (rows.lengths[row] + spread), np.float32(0))
            steps[machine] = (best - dual) * sign
            duals[row, machine] = best
            moved += abs(best - dual)
            largest = max(largest, abs(best - dual))
        if largest > 0:
            _learn(rows, row, learned, steps)
    return moved
