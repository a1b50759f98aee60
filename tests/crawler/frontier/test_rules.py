"""Rules that no frontier can keep are refused when they are made."""

from dataclasses import fields
from typing import Any

import pytest

from crawler.frontier.rules import FrontierRules
from crawler.shared.membership import Membership, binding, in_force
from crawler.strategies.orderings import Draw

NOT_IN_REDIS = {
    *("filter", "draw", "random_state", "keeps_links", "robots_bytes", "is_expected_only", "prior"),
}
"""Rules that the scripts are told in another form or with a call, or that a worker keeps."""


@pytest.mark.parametrize(
    "wrong",
    [
        {"host_cap": -1},
        {"host_queue": -1},
        {"delay_s": -0.5},
        {"patience_s": -1.0},
        {"budget_pages": -1},
    ],
)
def test_a_rule_below_zero_is_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} must be 0 or more"):
        FrontierRules(**wrong)


def test_a_host_queue_shorter_than_the_cap_is_refused() -> None:
    with pytest.raises(ValueError, match="host_queue=9 is less than host_cap=10"):
        FrontierRules(host_queue=9)
    assert FrontierRules(host_cap=0, host_queue=9).host_queue == 9


def test_scores_are_not_lifted_where_urls_are_drawn() -> None:
    with pytest.raises(ValueError, match="not lifted"):
        FrontierRules(lifts=True, draw=Draw.UNIFORM)


def test_without_a_threshold_no_score_is_doubtful() -> None:
    assert not FrontierRules().is_doubtful(-9.0)
    rules = FrontierRules(doubts_up_to=0.0)
    assert [rules.is_doubtful(score) for score in (-1.0, 0.0, 0.5)] == [True, True, False]


def test_the_scripts_of_a_shared_crawl_are_told_every_rule() -> None:
    rules = FrontierRules(budget_pages=5, budget_relevant=5, doubts_up_to=0.0)
    names = {field.name for field in fields(FrontierRules)} - NOT_IN_REDIS
    assert names <= {*in_force(rules, Membership())}


def test_a_rule_that_binds_a_shared_crawl_is_not_replaced_by_its_identity() -> None:
    assert binding(FrontierRules(host_cap=3), {"host_cap": 9, "lang": "de"})["host_cap"] == 3
