"""The simulated ordering `focus` is the live one, page by page, and knows what a graph has."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crawler.simulate.engine import FATES, Course, GraphEvidence, evidence_in, simulate
from crawler.simulate.plan import Simulation
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, WebGraph
from crawler.strategies.filters import make_filter
from tests.support.simulatedwebs import crawl_live, random_graph

CASES = [
    ("none", 0, 0, (PAGE,)),
    ("none", 0, 9, (PAGE, PAGE, PAGE, FAILED, REDIRECT)),
    ("directory-conservative", 3, 6, (PAGE, PAGE, PAGE, REDIRECT)),
    ("server-conservative", 5, 7, (PAGE, PAGE, FAILED, REDIRECT)),
    ("directory-conservative", 1, 0, (PAGE, PAGE, PAGE, REDIRECT)),
    ("both-conservative", 3, 9, (PAGE, PAGE, PAGE, REDIRECT)),
    ("both-conservative", 4, 0, (PAGE, PAGE, FAILED, REDIRECT)),
]


def focused(
    graph: WebGraph,
    filter_name: str = "none",
    tolerance: int = 0,
    cap: int = 0,
) -> Course:
    rule = make_filter(filter_name, tolerance=tolerance)
    simulation = Simulation(filter=rule, ordering="focus", host_cap=cap, host_queue=2 * cap)
    return simulate(graph, simulation)


@pytest.mark.parametrize(("filter_name", "tolerance", "host_cap", "statuses"), CASES)
def test_a_simulation_fetches_the_pages_of_a_crawl_in_their_order(
    filter_name: str, tolerance: int, host_cap: int, statuses: tuple[int, ...], tmp_path: Path
) -> None:
    graph = random_graph(31 + tolerance, statuses=statuses)
    course = focused(graph, filter_name, tolerance, host_cap)
    live = crawl_live(
        graph,
        tmp_path,
        filter=make_filter(filter_name, tolerance=tolerance),
        ordering="focus",
        host_cap=host_cap,
        host_queue=2 * host_cap,
        random_state=0,
    )
    assert len(course.order) > 10
    assert course.order.tolist() == live.order
    assert course.queue.tolist() == live.queue
    assert course.links == {name: live.counts.get(name, 0) for name in FATES}


def without_urls(graph: WebGraph) -> WebGraph:
    return replace(graph, url_start=None, url_bytes=None)


def test_a_graph_without_urls_has_servers_and_directories_as_units() -> None:
    graph = random_graph(3)
    bare = evidence_in(without_urls(graph), "th")
    whole = evidence_in(graph, "th")

    def chain(evidence: GraphEvidence, vertex: int) -> list[int]:
        units = [int(evidence.deepest[vertex])]
        while evidence.parent[units[-1]] >= 0:
            units.append(int(evidence.parent[units[-1]]))
        return units

    same: dict[int, int] = {}
    for vertex in range(graph.n_vertices):
        for one, other in zip(chain(bare, vertex), chain(whole, vertex), strict=True):
            assert same.setdefault(one, other) == other
    assert len(set(same.values())) == len(same)
    top_level = whole.facts[:, 2]
    assert set(top_level.tolist()) == {0.0, 1.0}
    assert (bare.facts[graph.page_server, 2] == top_level).all()
    assert not np.delete(bare.facts, 2, axis=1).any()


def test_a_graph_without_urls_is_crawled_by_domains_and_records() -> None:
    graph = without_urls(random_graph(6, vertices=600, servers=40))
    limit = int(graph.relevant().sum())
    rule = make_filter("none")
    harvest = {
        name: int(
            graph.relevant()[
                simulate(graph, Simulation(filter=rule, ordering=name, limit=limit)).order
            ].sum()
        )
        for name in ("focus", "bfs", "random", "soft")
    }
    assert max(harvest, key=lambda name: harvest[name]) == "focus"
    assert focused(replace(graph, server_domain=None)).is_complete
