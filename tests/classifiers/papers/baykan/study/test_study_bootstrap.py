"""Intervals over registered domains, against what can be computed by hand."""

import numpy as np
import pytest

from classifiers.papers import evaluation
from classifiers.papers.baykan.study.bootstrap import f1_draws, interval


def test_a_draw_of_each_domain_once_has_the_measures_of_all_urls() -> None:
    rng = np.random.default_rng(0)
    columns = np.repeat([0, 1, 2], 400)
    said_yes = rng.random((1200, 2)) < np.where(columns == 1, 0.9, 0.1)[:, None]
    found = f1_draws(said_yes, columns, 1, np.arange(1200), draws=400)
    for place in range(2):
        recall = said_yes[columns == 1, place].mean()
        wrong = np.mean([said_yes[columns == at, place].mean() for at in (0, 2)])
        f1 = evaluation.Measures(float(recall), float(1 - wrong)).f1
        low, high = interval(found[:, place])
        assert low < f1 < high
        assert np.median(found[:, place]) == pytest.approx(f1, abs=0.01)


def test_urls_of_few_domains_have_wider_intervals_than_as_many_domains() -> None:
    columns = np.repeat([0, 1], 500)
    # Every URL of a domain is decided alike.
    domains = np.arange(1000) // 50
    said_yes = ((columns == 0) != (domains % 5 == 0))[:, None]
    few = interval(f1_draws(said_yes, columns, 0, domains, draws=300)[:, 0])
    many = interval(f1_draws(said_yes, columns, 0, np.arange(1000), draws=300)[:, 0])
    assert few[1] - few[0] > 3 * (many[1] - many[0])


def test_the_same_draws_serve_all_classifiers() -> None:
    columns = np.repeat([0, 1], 50)
    said_yes = (columns == 0)[:, None]
    found = f1_draws(np.hstack([said_yes, said_yes]), columns, 0, np.arange(100) // 3, draws=20)
    assert (found[:, 0] == found[:, 1]).all()
    assert (found == 1).all()


def test_a_draw_without_a_class_has_no_measure() -> None:
    columns, domains = np.array([0, 1]), np.array([0, 1])
    found = f1_draws(np.array([[True], [False]]), columns, 0, domains, draws=50)
    assert np.isnan(found).any()
    assert interval(found[np.isnan(found)]) == pytest.approx((np.nan, np.nan), nan_ok=True)
