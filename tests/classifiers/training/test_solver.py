from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from langfocus.classifiers.training import solver


def problem(n_rows: int = 600, n_features: int = 50, n_classes: int = 3) -> tuple[Any, Any, Any]:
    chance = np.random.default_rng(0)
    features = sparse.random(n_rows, n_features, 0.2, format="csr", random_state=1)
    classes = (features @ chance.normal(size=(n_features, n_classes))).argmax(axis=1)
    return features, classes, chance.uniform(0.5, 2, n_rows)


def balanced(is_own: Any, weights: Any) -> Any:
    result = weights.copy()
    for side in (is_own, ~is_own):
        result[side] *= len(result) / (2 * result[side].sum())
    return result


def test_the_machines_are_those_of_linear_svc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "EPOCHS", 300)
    monkeypatch.setattr(solver, "_TOLERANCE", 1e-7)
    features, classes, weights = problem()
    learned, intercepts = solver.fit(features, classes, weights, 3, penalty=0.3)
    for machine in range(3):
        is_own = classes == machine
        rival = LinearSVC(C=0.3, tol=1e-8, max_iter=100_000)
        rival.fit(features, is_own, sample_weight=balanced(is_own, weights))
        assert np.allclose(learned[:, machine], rival.coef_[0], atol=1e-4)
        assert np.isclose(intercepts[machine], rival.intercept_[0], atol=1e-4)


def test_the_same_rows_give_the_same_bits_and_another_seed_others() -> None:
    first, second, third = (solver.fit(*problem(), 3, penalty=0.3, seed=seed) for seed in (4, 4, 5))
    assert all(map(np.array_equal, first, second))
    assert not np.array_equal(first[0], third[0])


def test_a_class_without_rows_always_hears_no() -> None:
    features, classes, weights = problem()
    learned, intercepts = solver.fit(features, classes, weights, 4, penalty=0.3)
    assert ((features @ learned + intercepts)[:, 3] < 0).all()


def test_rows_can_count_otherwise_among_the_rest() -> None:
    features, classes, weights = problem()
    same = solver.fit(features, classes, weights, 3, 0.3, rest_weights=weights)
    assert np.array_equal(same[0], solver.fit(features, classes, weights, 3, 0.3)[0])
    is_first = classes == 0
    silent = np.where(is_first, 0.0, weights)
    learned, intercepts = solver.fit(features, classes, weights, 3, 0.3, rest_weights=silent)
    says_yes = (features @ learned + intercepts)[is_first] > 0
    usually = (features @ same[0] + same[1])[is_first] > 0
    assert says_yes[:, 0].mean() > 0.5
    assert says_yes[:, 1:].mean() > usually[:, 1:].mean()
