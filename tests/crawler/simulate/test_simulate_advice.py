"""Advice names the strategy that costs least, and says how often it does."""

from dataclasses import replace

import numpy as np
import pytest

from crawler.errors import SettingError
from crawler.report.advice_text import advice_lines
from crawler.simulate.advice import Advice, Aim, advise
from crawler.simulate.engine import Simulation, simulate
from crawler.simulate.figures import Yardstick, course_figures, wanted_pages
from crawler.simulate.plan import make_plan
from crawler.simulate.webgraph import PAGE, UNKNOWN, WebGraph
from crawler.strategies import make_filter
from tests.support.simulatedwebs import random_graph

STATES = (0, 1, 2)


@pytest.fixture(scope="module")
def graph() -> WebGraph:
    graph = random_graph(4, vertices=600, servers=30, statuses=(PAGE, PAGE, PAGE, UNKNOWN))
    return replace(graph, page_bytes=np.full(graph.n_vertices, 1000, np.int32))


def advice_on(graph: WebGraph, least: str = "pages", coverage: float = 0.6, **given: str) -> Advice:
    plan = make_plan(given, graph, random_states=STATES, drawn_seeds=3)
    return advise(graph, plan, Aim(coverage, least, resamples=40), jobs=2)


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
        course = simulate(graph, Simulation(filter=rule, ordering=choice.case.strategy))
        # Coverage is of what the seeds lead to, the figures' own is of what there is.
        share = wanted_pages(0.6, yardstick.n_reached) / yardstick.n_relevant
        reached = course_figures(course, yardstick, (share,)).milestones.get(share)
        assert choice.cost == (None if reached is None else reached[0])


def test_each_resample_has_a_best_strategy_or_none(graph: WebGraph) -> None:
    advice = advice_on(graph)
    assert advice.resamples == 3 * 40
    assert advice.seed_sets == 3
    reached = max(choice.reached for choice in advice.choices)
    assert reached - 1e-9 <= sum(choice.best for choice in advice.choices)
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
    relevant, reached = int(graph.relevant().sum()), Yardstick(graph).n_reached
    assert advice.unfetched_urls == unfetched > 0
    assert (advice.reachable_pages, advice.relevant_pages) == (reached, relevant)
    assert advice.least_coverage == pytest.approx(0.6 * reached / (relevant + unfetched))


def test_pages_to_which_no_seed_leads_are_not_asked_for(graph: WebGraph) -> None:
    start = graph.link_start.copy()
    start[300:] = start[300]  # the second half of the pages links nowhere
    cut = replace(
        graph,
        link_start=start,
        link_target=(graph.link_target[: start[-1]] % 300).astype(np.int32),
        seeds=np.array([v for v in range(300) if graph.relevant()[v]][:3], np.int32),
    )
    advice = advice_on(cut, coverage=1.0, strategies="bfs")
    assert advice.best is not None
    assert advice.best.reached == 1
    assert advice.reachable_pages < advice.relevant_pages


def test_strategies_that_cost_the_same_are_the_best_together(graph: WebGraph) -> None:
    advice = advice_on(graph, strategies="bfs", filters="server", tolerances="500,501")
    assert [choice.best for choice in advice.choices] == [1.0, 1.0]
    assert len(advice.as_cheap) == 1


def test_the_same_question_gets_the_same_answer(graph: WebGraph) -> None:
    assert advice_on(graph) == advice_on(graph)


def test_questions_without_an_answer_are_refused(graph: WebGraph) -> None:
    with pytest.raises(SettingError, match="coverage of 0"):
        advice_on(graph, coverage=0)
    with pytest.raises(SettingError, match="there are pages, bytes, servers"):
        advice_on(graph, "hours")
    with pytest.raises(SettingError, match="does not know the sizes"):
        advice_on(replace(graph, page_bytes=None), "bytes")


def test_few_relevant_servers_are_said_to_tell_little(graph: WebGraph) -> None:
    on_one = graph.page_server == graph.page_server[graph.relevant()][0]
    language = np.where(on_one | ~graph.relevant(), graph.page_language, 1).astype(np.int16)
    seeds = np.flatnonzero(on_one & graph.relevant())[:1].astype(np.int32)
    rare = replace(graph, page_language=language, seeds=seeds)
    plan = make_plan({"strategies": "bfs,soft"}, rare, random_states=STATES)
    advice = advise(rare, plan, Aim(0.9, resamples=40))
    assert advice.relevant_servers == 1
    assert advice.choices[0].reached == 1
    assert "few relevant servers (1)" in " ".join(advice_lines(advice))
    assert "too few" not in " ".join(advice_lines(replace(advice, relevant_servers=10)))
