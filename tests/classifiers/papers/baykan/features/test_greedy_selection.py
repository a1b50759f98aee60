"""Forward selection of columns."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from classifiers.papers.baykan.features.greedy_selection import ForwardSelection
from classifiers.papers.evaluation import Measures

TREE = DecisionTreeClassifier(random_state=0)


def data(n_rows: int = 600, n_columns: int = 8) -> tuple[Any, Any]:
    """Column 3 says most of the class and column 5 the rest; all others are noise."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (n_rows, n_columns)).astype(float)
    matrix[:, 5] = rng.integers(0, 4, n_rows)
    return matrix, (matrix[:, 3] > 0) | (matrix[:, 5] == 0)


@parametrize_with_checks([ForwardSelection(DecisionTreeClassifier(random_state=0), n_features=2)])  # type: ignore[untyped-decorator]  # sklearn is untyped
def test_scikit_learn_finds_nothing_amiss(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_columns_that_tell_are_chosen_first() -> None:
    matrix, y = data()
    selection = ForwardSelection(TREE, n_features=3).fit(matrix, y)
    assert selection.order_[:2] == [3, 5]
    assert len(selection.order_) == 3
    assert selection.f1_[0] < selection.f1_[1] == 1.0
    assert list(np.flatnonzero(selection.get_support())) == sorted(selection.order_)
    assert (selection.transform(matrix) == matrix[:, sorted(selection.order_)]).all()


def test_the_search_ends_where_a_step_gains_too_little() -> None:
    matrix, y = data()
    assert len(ForwardSelection(TREE, 8, min_gain=0.001).fit(matrix, y).order_) == 2
    assert len(ForwardSelection(TREE, 8, min_gain=1.0).fit(matrix, y).order_) == 1


def test_no_more_columns_are_chosen_than_there_are() -> None:
    matrix, y = data(n_columns=6)
    selection = ForwardSelection(TREE, n_features=15).fit(matrix, y)
    assert sorted(selection.order_) == list(range(6))
    assert len(selection.f1_) == 6


def test_among_equals_the_first_column_is_chosen() -> None:
    matrix, y = data()
    doubled = np.column_stack([matrix, matrix])
    assert ForwardSelection(TREE, 2).fit(doubled, y).order_ == [3, 5]


def test_precision_is_that_of_balanced_classes() -> None:
    """A column that is 1 for all of Yes and a quarter of No; Yes is one row of eleven."""
    y = np.array([True] * 100 + [False] * 1000)
    column = np.concatenate([np.ones(100), np.tile([1.0, 0.0, 0.0, 0.0], 250)])
    rule = BernoulliNB(fit_prior=False)
    selection = ForwardSelection(rule, 1, held_out=0.5).fit(column[:, None], y)
    assert selection.f1_[0] == pytest.approx(Measures(1.0, 0.75).f1, abs=0.02)


def test_rows_that_judge_are_not_learned_from() -> None:
    rng = np.random.default_rng(0)
    matrix = np.column_stack([np.arange(400.0), rng.integers(0, 2, 400)])
    y = rng.integers(0, 2, 400).astype(bool)
    selection = ForwardSelection(TREE, n_features=1).fit(matrix, y)
    assert TREE.fit(matrix, y).score(matrix, y) == 1.0
    assert selection.f1_[0] < 0.75


def test_sparse_columns_give_the_same_selection() -> None:
    matrix, y = data()
    dense = ForwardSelection(TREE, 3).fit(matrix, y)
    sparse = ForwardSelection(TREE, 3).fit(csr_matrix(matrix), y)
    assert (dense.order_, dense.f1_) == (sparse.order_, sparse.f1_)


def test_the_mean_of_all_classes_judges_where_there_are_more_than_two() -> None:
    matrix, _ = data()
    classes = matrix[:, 1] + 2 * matrix[:, 4]
    selection = ForwardSelection(TREE, 2).fit(matrix, classes)
    assert set(selection.order_) == {1, 4}
    assert selection.f1_[1] == 1.0


@pytest.mark.parametrize(
    ("selection", "y"),
    [(ForwardSelection(TREE, 0), [0, 1] * 5), (ForwardSelection(TREE), [1] * 10)],
)
def test_what_cannot_be_selected_for_is_refused(selection: ForwardSelection, y: list[int]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|one class"):
        selection.fit(np.ones((10, 2)), y)
