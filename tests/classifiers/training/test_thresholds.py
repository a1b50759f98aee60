import numpy as np
import pytest

from langfocus.classifiers.training import thresholds

LANGUAGES = ("cs", "de")
MASSES = np.ones(2)


def made(n_each: int = 200, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Decision values in which each language's own score is higher by 1, all too low by 0.8."""
    chance = np.random.default_rng(0)
    columns = np.repeat([0, 1], n_each)
    scores = chance.normal(-1.3, spread, (2 * n_each, 2))
    scores[np.arange(2 * n_each), columns] += 1
    return scores, columns, ["http://x.com/"] * (2 * n_each)


def test_the_point_of_yes_is_moved_to_where_f1_is_highest() -> None:
    scores, columns, urls = made()
    points = thresholds.calibrate(scores, columns, urls, LANGUAGES, MASSES)
    right = (scores + points.shifts > 0) == (columns[:, None] == np.arange(2))
    assert right.mean() > 0.93
    assert points.domains == {}


def test_a_language_with_few_urls_follows_the_others() -> None:
    scores, columns, urls = made()
    kept = np.r_[0:3, 200:400]
    found = scores[kept], columns[kept], urls[: len(kept)]
    points = thresholds.calibrate(*found, LANGUAGES, MASSES)
    assert points.shifts[0] == pytest.approx(points.shifts[1], abs=0.1)


@pytest.mark.parametrize(
    ("spread", "share", "rule"),
    [(3.0, 1.0, thresholds.ALONE), (0.5, 0.85, thresholds.RAISED), (0.3, 0.0, None)],
)
def test_top_level_domains_are_used_where_they_tell_better(
    spread: float, share: float, rule: str | None
) -> None:
    scores, columns, _ = made(spread=spread)
    chance = np.random.default_rng(1)
    urls = [
        "http://x.cz/" if column == 0 and chance.random() < share else "http://x.com/"
        for column in columns
    ]
    points = thresholds.calibrate(scores, columns, urls, LANGUAGES, MASSES)
    assert points.domains.get("cs") == rule
    assert (points.shifts[0] == 0) == (rule == thresholds.ALONE)


def test_thresholds_and_domains_are_applied_to_other_urls() -> None:
    points = thresholds.Thresholds(np.array([0.2, -0.1]), {"cs": thresholds.RAISED})
    found = points.applied(np.zeros((2, 2)), ["http://x.cz/", "http://x.com/"], LANGUAGES)
    assert np.allclose(found, [[1.2, -0.1], [0.2, -0.1]])


def test_nothing_held_out_leaves_all_as_it_is() -> None:
    points = thresholds.calibrate(np.empty((0, 2)), np.empty(0, np.int64), [], LANGUAGES, MASSES)
    assert points.shifts.tolist() == [0, 0]
