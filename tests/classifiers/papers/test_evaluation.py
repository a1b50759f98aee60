import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.papers import evaluation
from classifiers.papers.evaluation import Measures

shares = st.floats(0, 1)

# Baykan 2013, Tables V and VII: P, p(+|+), p(-|-), F1 in percent.
PUBLISHED = [
    (96.6, 22.8, 99.2, 36.9),
    (71.6, 91.1, 63.8, 80.2),
    (98.5, 85.4, 98.7, 91.5),
    (99.8, 36.8, 99.9, 53.7),
    (99.8, 61.3, 99.9, 75.9),
    (82.1, 85.9, 81.3, 84.0),
    (92.8, 92.7, 92.8, 92.7),
    (97.5, 64.6, 98.4, 77.7),
    (99.7, 50.0, 99.8, 66.6),
    (99.1, 73.5, 99.3, 84.4),
]


@pytest.mark.parametrize(("precision", "recall", "negative_success", "f1"), PUBLISHED)
def test_balanced_precision_and_f1_are_those_published(
    precision: float, recall: float, negative_success: float, f1: float
) -> None:
    found = Measures(recall / 100, negative_success / 100)
    assert 100 * found.precision == pytest.approx(precision, abs=0.15)
    assert 100 * found.f1 == pytest.approx(f1, abs=0.15)


def test_always_yes_has_an_f1_of_two_thirds() -> None:
    assert Measures(1.0, 0.0).f1 == pytest.approx(2 / 3)


def test_never_yes_has_no_precision_and_no_f1() -> None:
    assert Measures(0.0, 1.0).precision == 0
    assert Measures(0.0, 1.0).f1 == 0


@given(shares, shares)
def test_measures_stay_between_0_and_1(recall: float, negative_success: float) -> None:
    found = Measures(recall, negative_success)
    assert 0 <= found.precision <= 1
    assert 0 <= found.f1 <= 1


def test_a_row_of_the_confusion_matrix_is_what_all_classifiers_say_of_one_language() -> None:
    decisions = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]], bool)
    matrix = evaluation.confusion(decisions, np.array([0, 0, 1, -1]))
    assert matrix[:2].tolist() == [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]
    assert np.isnan(matrix[2]).all()


def test_negatives_weigh_the_same_for_each_language_however_many_there_are() -> None:
    decisions = np.array([[1, 0, 0], *[[1, 1, 0]] * 9, [0, 0, 1]], bool)
    columns = np.array([0, *[1] * 9, 2])
    first = evaluation.measures(evaluation.confusion(decisions, columns))[0]
    assert first == Measures(1.0, 0.5)


def test_a_language_without_urls_is_left_out_of_the_mean() -> None:
    matrix = evaluation.confusion(np.eye(3, dtype=bool)[:2], np.array([0, 1]))
    assert evaluation.macro_f1(evaluation.measures(matrix)) == 1.0


def test_no_urls_at_all_have_no_mean() -> None:
    matrix = evaluation.confusion(np.zeros((0, 2), bool), np.zeros(0, np.int64))
    assert np.isnan(evaluation.macro_f1(evaluation.measures(matrix)))


def test_measures_of_a_binary_classifier_by_hand() -> None:
    said_yes = np.array([1, 1, 0, 1, 0, 0, 0, 0], bool)
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
    found = evaluation.of_binary(said_yes, y)
    assert found.recall == pytest.approx(2 / 3)
    assert found.negative_success == pytest.approx(4 / 5)
    # P = n p(+|+) / (n p(+|+) + n (1 - p(-|-))) = (2/3) / (2/3 + 1/5) = 10/13
    assert found.precision == pytest.approx(10 / 13)
    assert found.f1 == pytest.approx(2 * (10 / 13) * (2 / 3) / (10 / 13 + 2 / 3))


def test_a_class_without_urls_has_no_measure() -> None:
    found = evaluation.of_binary(np.array([True]), np.array([True]))
    assert found.recall == 1
    assert np.isnan(found.negative_success)
    assert np.isnan(found.f1)


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
