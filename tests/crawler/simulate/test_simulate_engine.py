"""A simulated crawl is the live one, page by page, for every strategy."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.errors import GraphError, SettingError
from crawler.simulate.engine import FATES, simulate
from crawler.simulate.plan import Simulation
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.strategies.filters import FILTERS, make_filter
from tests.support.simulatedwebs import crawl_live, random_graph

LIVE_ORDERINGS = ("bfs", "soft", "svm")
MIXED = (PAGE, PAGE, PAGE, FAILED, REDIRECT)


@pytest.mark.parametrize("ordering", LIVE_ORDERINGS)
@pytest.mark.parametrize("filter_name", FILTERS)
def test_a_simulation_fetches_the_pages_of_a_crawl_in_their_order(
    filter_name: str, ordering: str, tmp_path: Path
) -> None:
    # The last of these Webs has redirects and failures.
    cases = [(0, 0, 0), (1, 0, 12), (3, 9, 0), (3, 6, 9), (1, 7, 0)]
    for number, (tolerance, host_cap, host_queue) in enumerate(cases):
        rule = make_filter(filter_name, tolerance=tolerance)
        is_last = number == len(cases) - 1
        graph = random_graph(31 if is_last else number, statuses=MIXED if is_last else (PAGE,))
        caps: dict[str, Any] = {"host_cap": host_cap, "host_queue": host_queue, "random_state": 9}
        course = simulate(graph, Simulation(filter=rule, ordering=ordering, **caps))
        assert len(course.order) >= 10
        assert (graph.page_status[course.order] == PAGE).all()
        live = crawl_live(graph, tmp_path / str(number), filter=rule, ordering=ordering, **caps)
        assert course.order.tolist() == live.order
        assert course.queue.tolist() == live.queue
        assert course.links == {name: live.counts.get(name, 0) for name in FATES}


@pytest.mark.parametrize(("tolerance", "half_life"), [(8, 0), (8, 4), (8, 1), (20, 3), (20, 100)])
def test_a_tolerance_with_a_half_life_is_halved_as_the_crawl_proceeds(
    tolerance: int, half_life: int
) -> None:
    # One server of irrelevant pages in a row: the first page above the tolerance is the last.
    row = replace(
        random_graph(1, vertices=40, servers=1, seeds=1),
        page_language=np.array([1] * 39 + [0], np.int16),
        seeds=np.array([0], np.int32),
        link_start=np.array([*range(40), 39], np.int64),
        link_target=np.arange(1, 40, dtype=np.int32),
    )
    rule = make_filter("server-conservative", tolerance=tolerance)
    course = simulate(row, Simulation(filter=rule, ordering="soft", half_life=half_life))
    limits = {n: tolerance // 2 ** (n // half_life if half_life else 0) for n in range(1, 40)}
    assert len(course.order) == min(n for n, limit in limits.items() if n > limit)


@pytest.mark.parametrize(("ordering", "number"), [("random", 24), ("cctld", 4)])
def test_queued_urls_are_drawn_equally_often(ordering: str, number: int) -> None:
    """Four URLs wait, two of them in the domain of the language, which `cctld` draws first."""
    star = replace(
        random_graph(1, vertices=5, servers=5, seeds=1),
        page_server=np.arange(5, dtype=np.int32),
        server_domain=np.array([0, 0, 1, 2, 0], np.int16),
        seeds=np.array([4], np.int32),
        link_start=np.array([0, 0, 0, 0, 0, 4], np.int64),
        link_target=np.arange(4, dtype=np.int32),
    )
    rule, tries = make_filter("none"), 50 * number
    orders = Counter(
        tuple(simulate(star, Simulation(filter=rule, ordering=ordering, random_state=n)).order[1:])
        for n in range(tries)
    )
    assert len(orders) == number
    assert all(20 <= times <= 90 for times in orders.values())
    if ordering == "cctld":
        assert {frozenset(order[:2]) for order in orders} == {frozenset((0, 1))}


@pytest.mark.parametrize("ordering", ["random", "cctld"])
def test_a_crawl_that_draws_finds_as_many_relevant_pages_as_a_simulation(
    ordering: str, tmp_path: Path
) -> None:
    graph = random_graph(31, statuses=MIXED, vertices=200)
    rule, is_relevant = make_filter("both-conservative", tolerance=1), graph.relevant()
    simulated, live = [], []
    for state in range(300):
        found = Simulation(filter=rule, ordering=ordering, host_cap=9, random_state=state)
        simulated.append(int(is_relevant[simulate(graph, found).order].sum()))
    for state in range(25):
        caps: dict[str, Any] = {"host_cap": 9, "random_state": state}
        course = crawl_live(graph, tmp_path / str(state), filter=rule, ordering=ordering, **caps)
        live.append(int(is_relevant[course.order].sum()))
    assert np.std(simulated) > 0
    error = np.hypot(np.std(simulated) / 300**0.5, np.std(live) / 25**0.5)
    assert abs(np.mean(simulated) - np.mean(live)) < 3 * error


def test_the_perfect_strategy_reaches_all_that_can_be_reached_with_the_fewest_pages() -> None:
    graph = random_graph(5, vertices=400)
    everything = simulate(graph, Simulation(filter=make_filter("none"), ordering="bfs"))
    perfect = simulate(graph, Simulation(filter=make_filter("none"), ordering="perfect"))
    is_relevant = graph.relevant()
    reached = set(everything.order[is_relevant[everything.order]].tolist())
    assert {page for page in perfect.order.tolist() if is_relevant[page]} == reached
    assert len(perfect.order) < len(everything.order)
    links = {page: set(graph.links(page).tolist()) for page in perfect.order.tolist()}
    for page in perfect.order.tolist():
        wanted = is_relevant[page] or links[page] & set(perfect.order.tolist())
        assert wanted or page in graph.seeds


def test_urls_that_were_never_fetched_stay_queued() -> None:
    graph = random_graph(8, statuses=[PAGE, UNKNOWN], vertices=300)
    course = simulate(graph, Simulation(filter=make_filter("none"), ordering="bfs"))
    assert (graph.page_status[course.order] == PAGE).all()
    linked = np.unique(np.concatenate([graph.links(page) for page in course.order.tolist()]))
    known = np.union1d(linked, graph.seeds)
    assert course.queue[-1] == (graph.page_status[known] == UNKNOWN).sum() > 0
    assert course.is_complete


def test_a_limit_ends_a_crawl_where_the_whole_one_would_have_been() -> None:
    graph, rule = random_graph(2), make_filter("server", tolerance=2)
    for ordering in (*LIVE_ORDERINGS, "perfect", "focus"):
        whole = simulate(graph, Simulation(filter=rule, ordering=ordering))
        part = simulate(graph, Simulation(filter=rule, ordering=ordering, limit=7))
        assert part.order.tolist() == whole.order[:7].tolist()
        assert not part.is_complete
        assert whole.is_complete


def test_scores_are_ordered_whatever_their_sign() -> None:
    scores = np.array([-1e9, -1.5, -0.0, 0.0, 1e-30, 2.0, np.inf], np.float32)
    graph = random_graph(1, vertices=len(scores) + 1, servers=1, seeds=1)
    graph = replace(
        graph,
        seeds=np.array([7], np.int32),
        link_start=np.array([0] * 8 + [7], np.int64),
        link_target=np.array([4, 2, 6, 0, 3, 5, 1], np.int32),
        scores={"svm": np.append(scores, np.float32(0))},
    )
    course = simulate(graph, Simulation(filter=make_filter("none"), ordering="svm"))
    assert course.order.tolist() == [7, 6, 5, 4, 2, 3, 1, 0]


def test_what_a_graph_does_not_have_is_refused() -> None:
    graph, rule = random_graph(1), make_filter("none")
    with pytest.raises(SettingError, match="has no ordering 'astar'"):
        simulate(graph, Simulation(filter=rule, ordering="astar"))
    with pytest.raises(GraphError, match="no page in 'ja'; it knows th, en"):
        simulate(graph, Simulation(filter=rule, ordering="bfs", target="ja"))
    with pytest.raises(SettingError, match="no cctld"):
        simulate(replace(graph, server_domain=None), Simulation(filter=rule, ordering="cctld"))
