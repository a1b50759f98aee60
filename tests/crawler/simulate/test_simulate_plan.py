"""Several simulations at once are the ones that were asked for, and each is what it is alone."""

from dataclasses import replace

import numpy as np
import pytest

from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.errors import CrawlError
from langfocus.crawler.simulate.engine import simulate
from langfocus.crawler.simulate.figures import Yardstick, course_figures, simulate_all
from langfocus.crawler.simulate.plan import Simulation, make_plan, prepared
from langfocus.crawler.simulate.webgraph import WebGraph
from langfocus.crawler.strategies.filters import make_filter
from tests.support.simulatedwebs import random_graph


@pytest.fixture(scope="module")
def graph() -> WebGraph:
    return random_graph(4, vertices=400, servers=20)


def without_urls(graph: WebGraph) -> WebGraph:
    return replace(graph, url_start=None, url_bytes=None, scores={}, server_domain=None)


def test_by_default_the_strategies_of_the_paper_and_of_a_crawl_are_simulated(
    graph: WebGraph,
) -> None:
    names = [case.name for case in make_plan({}, graph)]
    assert names[:4] == ["bfs", "soft", "soft hard", "soft server T=5"]
    assert names[-1] == "perfect"
    assert names[-5:-1] == ["random", "cctld", "svm", "focus"]
    assert len(names) == 4 + 9 + 4
    assert len(set(names)) == len(names)


def test_by_default_only_what_the_graph_has_scores_for_is_simulated(graph: WebGraph) -> None:
    def names(graph: WebGraph, lang: str) -> list[str]:
        return [case.name for case in make_plan({"lang": lang}, graph)][-5:]

    assert names(without_urls(graph), "th")[-3:] == ["random", "focus", "perfect"]
    assert "svm" in names(replace(graph, url_start=None, url_bytes=None), "th")
    assert "svm" in names(replace(graph, scores={}), "en")  # by the URL model
    unknown = replace(graph, languages=("xx", "en"), target="xx", scores={})
    assert "svm" not in names(unknown, "xx")


def test_lists_are_combined_and_only_where_they_make_a_difference(graph: WebGraph) -> None:
    given = {"strategies": "bfs,perfect,svm", "filters": "hard,server", "tolerances": "1,2"}
    names = [case.name for case in make_plan(given, graph)]
    assert names == [
        *("bfs hard", "bfs server T=1", "bfs server T=2"),
        "perfect",
        *("svm hard", "svm server T=1", "svm server T=2"),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strategies": "fast"}, "-a strategies=fast: not there; there are bfs, soft, random"),
        ({"strategies": ","}, "-a strategies is empty"),
        ({"filters": "soft"}, "-a filters=soft: not there"),
        ({"tolerances": "5,-1"}, "whole numbers of 0 or more"),
        ({"tolerances": "5,x"}, "-a tolerances=5,x: whole numbers"),
        ({"host_cap": "1,2"}, "-a host_cap: one number"),
        ({"half_life": "0"}, "half_life=0"),
        ({"strategy": "soft"}, "-a strategy: no such argument; there are lang, strategies"),
        ({"lang": "nowhere"}, "no such language"),
        ({"lang": "fr"}, "no page in 'fr'"),
    ],
)
def test_what_cannot_be_simulated_is_said_before_anything_is(
    given: dict[str, str], message: str, graph: WebGraph
) -> None:
    with pytest.raises(CrawlError, match=message):
        make_plan(given, graph)


def test_orderings_need_what_they_order_by(graph: WebGraph) -> None:
    bare = without_urls(graph)
    for name in ("svm", "cctld"):
        with pytest.raises(CrawlError, match=f"-a strategies={name}: not there"):
            make_plan({"strategies": name}, bare)
    unscored = replace(graph, scores={})
    plan = make_plan({"strategies": "svm", "lang": "en"}, unscored)
    scored = prepared(unscored, plan).scores["svm"]
    urls = [graph.url(vertex) for vertex in range(20)]
    assert np.array_equal(scored[:20], UrlModel.load(None).score(urls, "en"))
    assert prepared(graph, make_plan({"strategies": "svm"}, graph)) is graph


@pytest.mark.parametrize("jobs", [1, 3])
def test_simulations_done_together_are_those_done_alone(jobs: int, graph: WebGraph) -> None:
    plan = make_plan({"pages": "250"}, graph)
    results = list(simulate_all(graph, plan, jobs=jobs))
    assert {result.simulation for result in results} == set(plan)
    assert len(results) == len(plan)
    yardstick = Yardstick(graph)
    for result in results:
        rule = make_filter(
            result.simulation.filter.name, tolerance=result.simulation.tolerance or 0
        )
        ordering = result.simulation.ordering
        alone = simulate(graph, Simulation(rule, ordering, limit=250))
        assert result.figures == course_figures(alone, yardstick)


def test_another_random_state_is_another_draw(graph: WebGraph) -> None:
    given = {"strategies": "bfs,random", "pages": "200"}
    one, other = (
        [each.figures for each in simulate_all(graph, make_plan(given | state, graph))]
        for state in ({"random_state": "1"}, {"random_state": "2"})
    )
    assert [a == b for a, b in zip(one, other, strict=True)] == [True, False]


def test_errors_of_a_simulation_reach_the_caller(graph: WebGraph) -> None:
    plan = [Simulation(make_filter("none"), "unheard-of")]
    with pytest.raises(CrawlError, match="no ordering 'unheard-of'"):
        list(simulate_all(graph, plan, jobs=2))
