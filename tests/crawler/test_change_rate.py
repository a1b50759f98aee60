"""The rate of change is estimated without the bias of changes that no visit could see."""

from math import exp
from random import Random

import pytest

from crawler.change_rate import chance_of_change, changes_per_second


def test_a_page_that_was_visited_once_has_no_rate() -> None:
    assert changes_per_second(0, 0, 0.0) is None
    assert changes_per_second(2, 1, 0.0) is None


def test_the_rate_is_zero_without_a_change_and_finite_if_every_visit_found_one() -> None:
    assert changes_per_second(9, 0, 9.0) == 0.0
    assert changes_per_second(9, 9, 9.0) == pytest.approx(2.944, abs=0.001)  # ln(9.5 / 0.5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 1.5])
def test_the_mean_of_many_estimates_is_near_the_true_rate_of_a_poisson_process(rate: float) -> None:
    random, looks, crawls = Random(7), 30, 2000
    found = []
    for _ in range(crawls):
        changes = sum(random.random() < 1 - exp(-rate) for _ in range(looks))
        found.append(changes_per_second(looks, changes, float(looks)))
    assert sum(value or 0.0 for value in found) / crawls == pytest.approx(rate, rel=0.03)


def test_the_chance_of_a_change_grows_with_time_and_is_none_at_once() -> None:
    assert chance_of_change(0.1, 0.0) == chance_of_change(0.1, -5.0) == 0.0
    assert chance_of_change(0.1, 10.0) == pytest.approx(1 - exp(-1))


@pytest.mark.parametrize(("looks", "changes"), [(1, 2), (1, -1), (-1, 0)])
def test_impossible_numbers_are_refused(looks: int, changes: int) -> None:
    with pytest.raises(ValueError, match="cannot have found"):
        changes_per_second(looks, changes, 1.0)
