import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.papers.evaluation import Measures, best, is_better

shares = st.floats(0, 1)
scores = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=4, max_size=4)


@given(shares, shares)
def test_measures_stay_between_0_and_1(recall: float, negative_success: float) -> None:
    found = Measures(recall, negative_success)
    assert 0 <= found.precision <= 1
    assert 0 <= found.f1 <= 1
    assert Measures(1.0, 0.0).f1 == pytest.approx(2 / 3), "always Yes"
    assert (Measures(0.0, 1.0).precision, Measures(0.0, 1.0).f1) == (0, 0), "never Yes"


def test_other_languages_weigh_the_same_however_many_urls_there_are() -> None:
    said_yes = np.array([1, *[1] * 9, 0, 1], bool)
    columns = np.array([0, *[1] * 9, 2, -1])
    assert evaluation.of_languages(said_yes, columns, 0) == Measures(1.0, 0.5)


def test_a_class_without_urls_has_no_measure() -> None:
    said_yes, columns = np.array([True, False]), np.array([0, 0])
    assert np.isnan(evaluation.of_languages(said_yes, columns, 1).recall)
    assert evaluation.of_languages(said_yes, columns, 0).recall == 0.5
    assert np.isnan(evaluation.of_languages(said_yes, columns, 0).negative_success)
    found = evaluation.of_binary(said_yes, np.array([True, True]))
    assert (found.recall, np.isnan(found.f1)) == (0.5, True)


def test_measures_of_a_binary_classifier_by_hand() -> None:
    said_yes = np.array([1, 1, 0, 1, 0, 0, 0, 0], bool)
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
    found = evaluation.of_binary(said_yes, y)
    assert found.recall == pytest.approx(2 / 3)
    assert found.negative_success == pytest.approx(4 / 5)
    # P = n p(+|+) / (n p(+|+) + n (1 - p(-|-))) = (2/3) / (2/3 + 1/5) = 10/13
    assert found.precision == pytest.approx(10 / 13)
    assert found.f1 == pytest.approx(2 * (10 / 13) * (2 / 3) / (10 / 13 + 2 / 3))


def test_each_fold_is_measured_by_its_own_urls() -> None:
    said_yes = np.array([1, 0, 0, 1, 1, 0, 1], bool)
    y = np.array([1, 0, 1, 0, 1, 0, 1], bool)
    folds = np.array([0, 0, 1, 1, 2, 2, -1])
    found = evaluation.by_fold(said_yes, y, folds)
    assert found.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]


def test_mean_and_deviation_leave_out_what_is_undefined() -> None:
    of_folds = np.array([[1.0, np.nan, np.nan], [3.0, 2.0, np.nan]])
    means, spreads = evaluation.mean_and_spread(of_folds)
    assert means[:2].tolist() == [2.0, 2.0]
    assert spreads[:2].tolist() == [pytest.approx(2**0.5), 0.0]
    assert np.isnan([means[2], spreads[2]]).all()


def test_a_t_test_by_hand_decides() -> None:
    # Differences 1, 2, 3: mean 2, sd 1, t = 2 / (1 / sqrt 3) = 3.464 with 2 degrees of freedom,
    # whose upper tail is 1/2 - t / (2 sqrt(t^2 + 2)) = 0.0371; of 1, 2, 2 t is 5 and p 0.0189.
    assert not is_better(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert is_better(np.array([2.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))


def test_what_differs_alike_in_all_folds_has_no_variance_and_no_warning() -> None:
    ones = np.full(5, 0.75)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_better(ones + 0.125, ones)
        assert not is_better(ones, ones)
        assert not is_better(ones, ones + 0.125)
        assert not is_better(ones[:1] + 1, ones[:1])


@given(st.lists(scores, min_size=2, max_size=4))
def test_the_best_is_better_than_each_other_one(of: list[list[float]]) -> None:
    figures = {str(at): np.array(row) for at, row in enumerate(of)}
    found = best(figures)
    winners = [
        name
        for name in figures
        if all(is_better(figures[name], figures[other]) for other in figures if other != name)
    ]
    assert winners == ([found] if found else []), "at most one is better than all"
    assert best({"alone": np.array([1.0, 0.9])}) is None
