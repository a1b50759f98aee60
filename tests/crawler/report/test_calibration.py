"""The errors of a run's probabilities against a computation by hand."""

import sqlite3
from contextlib import closing
from math import log

import pytest

from crawler.report.calibration import Calibration, calibration_of
from crawler.report.crawl_tables import headline
from crawler.report.harvest import summarise
from crawler.strategies.focus.odds import probability_of
from tests.support.report_run import Row, make_run


def learnt_run() -> sqlite3.Connection:
    """A run with three pages that count, and others that do not: a seed, robots, no label."""
    rows = [Row(language="en"), Row(), Row(), Row(language="en")]
    rows += [Row(outcome="robots", language=None), Row(language=None)]
    run = make_run(None, rows, ordering="focus")
    run.execute("UPDATE pages SET reasons = '1', depth = 1, score = 99")
    shares = {1: (0, 0.99), 2: (1, 0.92), 3: (2, 0.96), 4: (1, 0.3)}
    for page, (depth, share) in shares.items():
        score = log(share / (1 - share))
        run.execute("UPDATE pages SET depth = ?, score = ? WHERE id = ?", (depth, score, page))
    run.commit()
    return run


def test_the_errors_are_those_of_labelled_pages_without_seeds() -> None:
    with closing(learnt_run()) as run:
        found = calibration_of(run, "de")
    assert found.brier == pytest.approx((0.08**2 + 0.04**2 + 0.3**2) / 3)
    assert found.error == pytest.approx((0.08 + 0.04 + 0.3) / 3)


def test_errors_within_a_bin_cancel_each_other_out() -> None:
    with closing(learnt_run()) as run:
        run.execute("UPDATE pages SET score = 0 WHERE id IN (2, 4)")
        run.execute("UPDATE pages SET score = 1000 WHERE id = 3")
        assert calibration_of(run, "de") == Calibration((0.25 + 0.25) / 3, 0.0)


def test_extreme_scores_are_probabilities() -> None:
    assert [probability_of(score) for score in (-1e5, 0.0, 1e5)] == [0.0, 0.5, 1.0]


def test_the_figures_are_in_summary_and_table_of_a_run_that_learns_only() -> None:
    with closing(learnt_run()) as run:
        summary = summarise(run)
        run.execute("UPDATE pages SET reasons = NULL")
        other = summarise(run)
    assert summary.as_json()["brier"] == pytest.approx(0.0327, abs=1e-4)
    rows = dict(headline(summary))
    assert rows["Brier score of the probabilities"] == "0.0327"
    assert rows["calibration error"] == "14.0 %"
    assert (other.brier, other.calibration_error) == (None, None)
    assert "calibration error" not in dict(headline(other))
