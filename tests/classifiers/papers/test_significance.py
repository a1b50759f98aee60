import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.papers.evaluation import best, is_better, p_value

scores = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=4, max_size=4)


def test_p_is_that_of_a_t_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, sd 1, t = 2 / (1 / sqrt 3) = 3.464 with 2 degrees of freedom,
    # whose upper tail is 1/2 - t / (2 sqrt(t^2 + 2)) = 1/2 - 3.464 / (2 * 3.742) = 0.03709.
    assert p_value(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(
        0.03709, abs=1e-5
    )


def test_what_differs_alike_in_all_folds_has_no_variance_and_no_warning() -> None:
    ones = np.full(5, 0.75)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert p_value(ones + 0.125, ones) == 0
        assert p_value(ones, ones) == 1
        assert p_value(ones, ones + 0.125) == 1
        assert p_value(ones[:1] + 1, ones[:1]) == 1


@given(scores, scores)
def test_of_two_at_most_one_is_better(one: list[float], other: list[float]) -> None:
    first, second = np.array(one), np.array(other)
    assert not (is_better(first, second) and is_better(second, first))
    assert not is_better(first, first)


@given(st.lists(scores, min_size=2, max_size=4))
def test_the_best_is_better_than_each_other_one(of: list[list[float]]) -> None:
    figures = {str(at): np.array(row) for at, row in enumerate(of)}
    found = best(figures)
    winners = [
        name
        for name in figures
        if all(is_better(figures[name], figures[other]) for other in figures if other != name)
    ]
    assert winners == ([found] if found else [])


def test_a_classifier_alone_is_not_the_best() -> None:
    assert best({"a": np.array([1.0, 0.9])}) is None
