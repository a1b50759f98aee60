"""Advice names the strategy that costs least, and says how often it does."""

from dataclasses import replace

import numpy as np
import pytest

from crawler.errors import SettingError
from crawler.simulate.advice import Advice, advise
from crawler.simulate.engine import simulate
from crawler.simulate.figures import Yardstick, course_figures
from crawler.simulate.graph import PAGE, UNKNOWN, WebGraph
from crawler.simulate.plan import make_plan
from crawler.strategies import make_filter
from tests.simulatedwebs import random_graph

STATES = (0, 1, 2)


@pytest.fixture(scope="module")
def graph() -> WebGraph:
    graph = random_graph(4, vertices=600, servers=30, statuses=(PAGE, PAGE, PAGE, UNKNOWN))
    return replace(graph, page_bytes=np.full(graph.n_vertices, 1000, np.int32))


def advice_on(graph: WebGraph, least: str = "pages", coverage: float = 0.6, **given: str) -> Advice:
    plan = make_plan(given, graph, random_states=STATES, drawn_seeds=3)
    return advise(graph, plan, coverage=coverage, least=least, resamples=40, jobs=2)


def test_the_strategy_that_costs_least_comes_first(graph: WebGraph) -> None:
    advice = advice_on(graph)
    costs = [choice.cost for choice in advice.choices]
    known = [cost for cost in costs if cost is not None]
    assert costs == sorted(known) + [None] * (len(costs) - len(known))
    assert advice.best is advice.choices[0]
    assert "perfect" not in {choice.case.strategy for choice in advice.choices}
    yardstick = Yardstick(graph)
    for choice in advice.choices:
        rule = make_filter(choice.case.filter, tolerance=choice.case.tolerance or 0)
        course = simulate(graph, filter=rule, ordering=choice.case.strategy)
        reached = course_figures(course, yardstick, (0.6,)).milestones.get(0.6)
        assert choice.cost == (None if reached is None else reached[0])


def test_each_resample_has_one_best_strategy_or_none(graph: WebGraph) -> None:
    advice = advice_on(graph)
    assert advice.resamples == 3 * 40
    assert advice.seed_sets == 3
    reached = max(choice.reached for choice in advice.choices)
    assert reached - 1e-9 <= sum(choice.best for choice in advice.choices) <= 1 + 1e-9
    for choice in advice.choices:
        assert choice.best - 1e-9 <= choice.close <= choice.reached + 1e-9
        if choice.low is not None and choice.middle is not None:
            assert choice.low <= choice.middle
            assert choice.high is None or choice.middle <= choice.high


def test_bytes_of_pages_of_equal_size_cost_as_pages_do(graph: WebGraph) -> None:
    by_pages, by_bytes = advice_on(graph), advice_on(graph, "bytes")
    for one, other in zip(by_pages.choices, by_bytes.choices, strict=True):
        assert one.case == other.case
        assert one.cost is None or other.cost == 1000 * one.cost
        assert (one.best, one.close, one.reached) == (other.best, other.close, other.reached)
    servers = advice_on(graph, "servers")
    assert servers.best is not None
    assert servers.best.cost is not None
    assert servers.best.cost <= 30


def test_a_coverage_that_nothing_reaches_has_no_best_strategy(graph: WebGraph) -> None:
    hard = advice_on(graph, coverage=1.0, strategies="soft", filters="hard")
    assert hard.best is None
    assert hard.reached_by < 1
    assert hard.choices[0].cost is None


def test_what_was_never_fetched_bounds_what_is_known(graph: WebGraph) -> None:
    advice = advice_on(graph, strategies="bfs")
    unfetched = int((graph.page_status == UNKNOWN).sum())
    relevant = int(graph.relevant().sum())
    assert advice.unfetched_urls == unfetched > 0
    assert advice.least_coverage == pytest.approx(0.6 * relevant / (relevant + unfetched))


def test_the_same_question_gets_the_same_answer(graph: WebGraph) -> None:
    assert advice_on(graph) == advice_on(graph)


def test_questions_without_an_answer_are_refused(graph: WebGraph) -> None:
    with pytest.raises(SettingError, match="coverage of 0"):
        advice_on(graph, coverage=0)
    with pytest.raises(SettingError, match="there are pages, bytes, servers"):
        advice_on(graph, "hours")
    with pytest.raises(SettingError, match="does not know the sizes"):
        advice_on(replace(graph, page_bytes=None), "bytes")
