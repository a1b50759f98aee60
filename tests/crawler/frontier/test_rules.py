"""Rules that no frontier can keep are refused when they are made."""

from typing import Any

import pytest

from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.membership import Membership, binding
from langfocus.crawler.strategies.links import Draw
from tests.support.learning import PRIOR


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        *(({name: -0.5}, f"{name} must be 0 or more") for name in ("host_cap", "delay_s")),
        ({"host_queue": 9}, "host_queue=9 is less than host_cap=10"),
        ({"lifts": True, "draw": Draw.UNIFORM}, "not lifted"),
        ({"prior": PRIOR, "lifts": True}, "neither lifts scores nor draws"),
        ({"is_expected_only": True}, "expects no URL"),
    ],
)
def test_rules_that_no_frontier_can_keep_are_refused(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FrontierRules(**rules)


def test_a_rule_that_binds_a_shared_crawl_is_not_replaced_by_its_identity() -> None:
    member = Membership(identity={"host_cap": 9, "lang": "de"})
    assert binding(FrontierRules(host_cap=3), member)["host_cap"] == 3
