"""The goals of a crawl: which is reached when, also after a kill, and which are refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawler.config import Config
from crawler.errors import SettingError
from crawler.frontier.base import PAGE, Counts, Record
from crawler.goals import GoalWatch
from crawler.preparation import check_goals
from tests.support.crawls import crawl, rows, summary
from tests.support.report_run import Row, make_run


def options(**goals: Any) -> Config:
    return Config("de", **goals)


def page(language: str | None = "de") -> Record:
    return Record(PAGE, 0.0, 200, True, language == "de", language)


def with_words(words: int, language: str = "de") -> Record:
    return replace(page(language), words_read=words)


def counts(**numbers: Any) -> Counts:
    return Counts(
        **{
            "queued": 5,
            "leased": 0,
            "hosts": 1,
            "pages": 0,
            "labelled": 0,
            "relevant": 0,
            **numbers,
        }
    )


@pytest.mark.parametrize(
    ("goals", "numbers", "name"),
    [
        ({"pages": 3}, {"pages": 3}, "pages"),
        ({"pages": 3, "relevant": 2}, {"pages": 2, "relevant": 2}, "relevant"),
        ({"relevant": 2}, {"pages": 9, "relevant": 1}, ""),
        ({"expected": "only"}, {"expected": 0}, "expected"),
        ({"expected": "only"}, {"expected": 1}, ""),
        ({"expected": "only"}, {"expected": 0, "queued": 0}, ""),
    ],
)
def test_a_goal_that_the_frontier_counts_has_its_name(
    goals: dict[str, Any], numbers: dict[str, Any], name: str
) -> None:
    assert GoalWatch(options(**goals), now=0.0).reached(counts(**numbers), 0.0) == name


def test_the_page_that_brings_enough_words_is_the_last() -> None:
    goals = GoalWatch(options(words=100), now=0.0, words=60)
    goals.count(with_words(39))
    goals.count(with_words(99, language="en"))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (False, True)
    goals.count(with_words(1))
    assert (goals.is_over(), goals.may_fetch(0.0)) == (True, False)
    assert goals.reached(counts(), 0.0) == "words"


def test_hours_count_over_all_sessions() -> None:
    goals = GoalWatch(options(hours=1.0), now=10_000.0, used_s=3000.0)
    assert goals.deadline == 10_600.0
    assert [goals.may_fetch(now) for now in (10_599.0, 10_600.0)] == [True, False]
    assert goals.reached(counts(), 10_600.0) == "hours"
    assert not goals.is_over()  # what is in progress is settled


@pytest.mark.parametrize(
    ("goals", "facts", "told"),
    [
        ({"expected": "only"}, {"doubts": False}, "-a expected=only: this strategy expects no"),
        ({"words": 9, "frontier": "redis://r/0"}, {}, "-a words: not for a shared crawl"),
        ({"expected": "only", "frontier": "redis://r/0"}, {}, "-a expected: not for a shared"),
    ],
)
def test_a_goal_that_cannot_be_kept_is_refused_in_one_line(
    goals: dict[str, Any], facts: dict[str, bool], told: str
) -> None:
    all_facts = {"doubts": True, **facts}
    with pytest.raises(SettingError, match=told) as refused:
        check_goals(options(**goals), **all_facts)
    assert "\n" not in str(refused.value)


def test_crawls_end_at_their_goals_and_go_on_with_others(tmp_path: Path) -> None:
    """In one run: so many relevant pages, then all that is expected."""
    given = ("lang=de", "web=sample", "host_cap=3")
    settings: dict[str, Any] = {"LANGFOCUS_SAMPLE_HOSTS": 300, "LANGFOCUS_QUIET": True}
    for goal, reason, relevant in (
        ("relevant=12", "relevant", 12),
        ("expected=only", "expected", None),
    ):
        done = crawl(*given, goal, JOBDIR=tmp_path, **settings)
        assert done.returncode == 0, done.stderr
        told = summary(tmp_path)
        assert told["finish_reason"] == reason
        assert told["relevant"] == (relevant or told["relevant"])
    doubted = "SELECT COUNT(*) FROM pages WHERE score <= 0 AND depth > 0"
    assert rows(tmp_path, doubted) == [(0,)]
    assert rows(tmp_path, "SELECT COUNT(*) FROM urls WHERE queued = 1 AND score > 0") == [(0,)]


def test_a_crawl_of_what_is_expected_begins_with_its_seeds(tmp_path: Path) -> None:
    """Their URLs say nothing of German."""
    seeds = tmp_path / "seeds.txt"
    first = ("seiten.sample.example", "www.sample.example")
    seeds.write_text("".join(f"http://{host}/\n" for host in first))
    run = tmp_path / "run"
    done = crawl("lang=de", "web=sample", "expected=only", f"seeds={seeds}", JOBDIR=run)
    assert done.returncode in (0, 1), done.stderr
    assert rows(run, "SELECT COUNT(*) FROM pages WHERE depth = 0") == [(2,)]


def test_a_run_tells_what_it_fetched_for_nothing(tmp_path: Path) -> None:
    from crawler.report.harvest import summarise

    pages = [Row(f"http://a.de/{n}", language="de" if n < 20 else "en") for n in range(400)]
    connection = make_run(None, pages)
    assert summarise(connection).advice == [
        "the last page in German was page 20 of 400 (95.0 % came after it): -a expected=only "
        "ends a crawl earlier",
    ]
