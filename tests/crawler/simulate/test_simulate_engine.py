"""A simulated crawl is the live one, page by page, for every strategy."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from crawler.errors import GraphError, SettingError
from crawler.simulate import kernel
from crawler.simulate.engine import Course, Simulation, simulate
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.strategies.filters import FILTERS, Filter, make_filter
from crawler.strategies.relevance import Tally
from tests.support.crawls import crawl, rows
from tests.support.simulatedwebs import crawl_live, random_graph, write_archive

LIVE_ORDERINGS = ("bfs", "soft", "random", "cctld", "svm")


def assert_same(course: Course, folder: Path, **live: object) -> None:
    other = crawl_live(folder=folder, **live)  # type: ignore[arg-type]  # as the caller says
    assert course.order.tolist() == other.order
    assert course.queue.tolist() == other.queue
    counts = {name: other.counts.get(name, 0) for name in ("stored", "seen", "rejected")}
    assert {name: getattr(course, name) for name in counts} == counts
    assert course.host_full == other.counts.get("host_full", 0)
    assert course.dropped_irrelevant == other.counts.get("dropped_irrelevant", 0)


@pytest.mark.parametrize("ordering", LIVE_ORDERINGS)
@pytest.mark.parametrize("filter_name", FILTERS)
def test_a_simulation_fetches_the_pages_of_a_crawl_in_their_order(
    filter_name: str, ordering: str, tmp_path: Path
) -> None:
    cases = [(0, 0, 0), (1, 0, 12), (3, 9, 0), (3, 6, 9)]
    for number, (tolerance, host_cap, host_queue) in enumerate(cases):
        rule = make_filter(filter_name, tolerance=tolerance)
        graph = random_graph(number)
        caps: dict[str, Any] = {"host_cap": host_cap, "host_queue": host_queue}
        course = simulate(graph, Simulation(filter=rule, ordering=ordering, random_state=9, **caps))
        assert len(course.order) >= 10
        assert_same(
            course,
            tmp_path / str(number),
            graph=graph,
            filter=rule,
            ordering=ordering,
            **caps,
            random_state=9,
        )


@pytest.mark.parametrize("ordering", LIVE_ORDERINGS)
@pytest.mark.parametrize("filter_name", ["none", "server", "both-conservative"])
def test_redirects_and_failures_are_followed_as_in_a_crawl(
    filter_name: str, ordering: str, tmp_path: Path
) -> None:
    rule = make_filter(filter_name, tolerance=1)
    graph = random_graph(31, statuses=[PAGE, PAGE, PAGE, FAILED, REDIRECT])
    course = simulate(graph, Simulation(filter=rule, ordering=ordering, host_cap=7, random_state=4))
    assert_same(
        course,
        tmp_path,
        graph=graph,
        filter=rule,
        ordering=ordering,
        host_cap=7,
        random_state=4,
    )
    assert (graph.page_status[course.order] == PAGE).all()


@pytest.mark.parametrize(("ordering", "filter_name"), [("soft", "server"), ("random", "none")])
def test_a_crawl_by_scrapy_with_one_connection_goes_the_same_way(
    ordering: str, filter_name: str, tmp_path: Path
) -> None:
    graph = random_graph(1, vertices=120)
    write_archive(graph, tmp_path / "web.warc")
    seeds = ",".join(graph.url(vertex) for vertex in graph.seeds.tolist())
    done = crawl(
        "lang=th",
        "web=archive",
        f"archive={tmp_path / 'web.warc'}",
        f"seeds={seeds}",
        f"strategy={ordering}",
        f"filter={filter_name}",
        "tolerance=1",
        "host_cap=0",
        CONCURRENT_REQUESTS=1,
        # No page is asked for while another is being parsed.
        SCRAPER_SLOT_MAX_ACTIVE_SIZE=1,
        DOWNLOAD_DELAY=0,
        JOBDIR=tmp_path / "run",
    )
    assert done.returncode == 0, done.stderr
    fetched = rows(tmp_path / "run", "SELECT url FROM pages ORDER BY id")
    course = simulate(
        graph, Simulation(filter=make_filter(filter_name, tolerance=1), ordering=ordering)
    )
    assert [url for (url,) in fetched] == [graph.url(page) for page in course.order.tolist()]
    assert len(fetched) > 30


@njit
def accepts(page: bool, source: int, pages: int, relevant: int, rules: Any, limit: int) -> Any:
    return kernel.accepts(page, source, pages, relevant, rules, limit)


@njit
def drops(pages: int, relevant: int, rules: Any, tolerance: int) -> Any:
    return kernel.drops(pages, relevant, rules, tolerance)


@njit
def tolerance_after(rules: Any, downloads: int) -> Any:
    return kernel.tolerance_after(rules, downloads)


def test_the_compiled_rules_are_those_of_the_filters() -> None:
    tallies = [(0, 0), (1, 0), (2, 0), (3, 0), (1, 1), (3, 2)]
    flags = (False, True)
    for follows, uses, conservative, tolerance in product(flags, flags, flags, (0, 1, 2)):
        rule = Filter(
            "any",
            follows_irrelevant_pages=follows,
            uses_relevance=uses,
            is_conservative=conservative,
            tolerance=tolerance,
        )
        compiled = kernel.Rules(
            follows, uses, conservative, False, False, tolerance, 0, 0, kernel.DEPTH, 0
        )
        for is_relevant, source, target in product(flags, tallies, tallies):
            expected = rule.accepts(
                page_is_relevant=is_relevant, source=Tally(*source), target=Tally(*target)
            )
            assert accepts(is_relevant, source[1], *target, compiled, tolerance) == expected
            assert drops(*target, compiled, tolerance) == rule.drops(Tally(*target))


@pytest.mark.parametrize(
    ("half_life", "expected"),
    [(0, [20] * 6), (1, [20, 0, 0, 0, 0, 0]), (100, [20, 20, 10, 5, 1, 0])],
)
def test_a_declining_tolerance_is_halved_after_each_half_life(
    half_life: int, expected: list[int]
) -> None:
    rules = kernel.Rules(True, True, True, False, False, 20, 0, 0, kernel.DEPTH, half_life)
    assert [tolerance_after(rules, n) for n in (0, 99, 100, 250, 450, 10**9)] == expected


def test_a_tolerance_that_declines_leaves_out_servers_of_a_constant_one() -> None:
    graph, rule = random_graph(12), make_filter("server-conservative", tolerance=3)
    constant, declining, strict = (
        simulate(graph, Simulation(filter=rule, ordering="soft", half_life=half_life))
        for half_life in (0, 20, 1)
    )
    assert len(constant.order) > len(declining.order) > len(strict.order) > 1


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
    for ordering in (*LIVE_ORDERINGS, "perfect"):
        whole = simulate(graph, Simulation(filter=rule, ordering=ordering))
        part = simulate(graph, Simulation(filter=rule, ordering=ordering, limit=7))
        assert part.order.tolist() == whole.order[:7].tolist()
        assert not part.is_complete
        assert whole.is_complete


def test_chance_and_seeds_are_arguments() -> None:
    graph, rule = random_graph(2), make_filter("none")
    orders = [
        simulate(
            graph, Simulation(filter=rule, ordering="random", random_state=state)
        ).order.tolist()
        for state in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert simulate(graph, Simulation(filter=rule, ordering="bfs", seeds=[7, 5])).order[0] == 7


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


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ordering": "astar"}, "has no ordering 'astar'"),
        ({"host_cap": -1}, "host cap"),
        ({"filter": make_filter("server", tolerance=-1)}, "tolerance"),
        ({"seeds": []}, "one seed or more"),
        ({"seeds": [160]}, "from 0 to 159"),
    ],
)
def test_what_cannot_be_simulated_is_refused(asked: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"filter": make_filter("none"), "ordering": "bfs"} | asked
    with pytest.raises(SettingError, match=message):
        simulate(random_graph(1), Simulation(**arguments))  # type: ignore[arg-type]  # on purpose


def test_a_language_without_pages_and_unknown_domains_are_refused() -> None:
    graph, rule = random_graph(1), make_filter("none")
    with pytest.raises(GraphError, match="no page in 'ja'; it knows th, en"):
        simulate(graph, Simulation(filter=rule, ordering="bfs", target="ja"))
    with pytest.raises(SettingError, match="no cctld"):
        simulate(replace(graph, server_domain=None), Simulation(filter=rule, ordering="cctld"))


def test_a_crawl_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.simulate.engine._PAGES_A_CALL", 10)
    told: list[int] = []
    graph = random_graph(3)
    course = simulate(
        graph, Simulation(filter=make_filter("none"), ordering="random"), on_progress=told.append
    )
    assert told == list(range(10, len(course.order), 10))
    monkeypatch.undo()
    assert (
        course.order.tolist()
        == simulate(graph, Simulation(filter=make_filter("none"), ordering="random")).order.tolist()
    )
