"""A simulated crawl is the live one, page by page, for every strategy."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.servers.loopback import loopback
from langfocus.crawler.errors import GraphError, SettingError
from langfocus.crawler.options.config import Config
from langfocus.crawler.shared.keyspace import shard_of
from langfocus.crawler.simulate.build import build
from langfocus.crawler.simulate.engine import FATES, GraphEvidence, evidence_in, simulate
from langfocus.crawler.simulate.plan import Simulation, prepared
from langfocus.crawler.simulate.queues import draw_below
from langfocus.crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph
from langfocus.crawler.strategies.filters import DEFAULT_FILTER, FILTERS, make_filter
from langfocus.crawler.url import host_of
from tests.support.crawls import crawl, rows
from tests.support.simulatedwebs import crawl_live, random_graph
from tests.support.smallweb import SmallWeb

LIVE_ORDERINGS = ("bfs", "soft", "svm", "focus")
MIXED = (PAGE, PAGE, PAGE, FAILED, REDIRECT)


@pytest.mark.parametrize(
    ("filter_name", "ordering"),
    # A filter does not see the ordering: each filter with one ordering, and some with all.
    [*product(FILTERS, ["soft"]), *product(["none", DEFAULT_FILTER], ["bfs", "svm", "focus"])],
)
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
        course = simulate(graph, Simulation(rule, ordering, **caps))
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
    course = simulate(row, Simulation(rule, "soft", half_life=half_life))
    limits = {n: tolerance // 2 ** (n // half_life if half_life else 0) for n in range(1, 40)}
    assert len(course.order) == min(n for n, limit in limits.items() if n > limit)


@pytest.mark.parametrize("ordering", ["bfs", "soft", "random", "focus"])
def test_the_default_tolerance_closes_a_server_before_the_default_cap(ordering: str) -> None:
    """A page links to twenty of its server, each in a directory of its own; none is relevant."""
    star = replace(
        random_graph(1, vertices=22, servers=22, seeds=1),
        page_server=np.array([0] * 21 + [1], np.int32),
        n_directories=20,
        page_directory=np.array([*range(-1, 20), -1], np.int32),
        page_language=np.array([1] * 21 + [0], np.int16),
        seeds=np.array([0], np.int32),
        link_start=np.array([0, *[20] * 22], np.int64),
        link_target=np.arange(1, 21, dtype=np.int32),
        url_start=None,
    )
    rules = Config("th")
    rule = make_filter(rules.filter, tolerance=rules.tolerance)
    crawl = Simulation(rule, ordering, host_cap=rules.host_cap, host_queue=rules.queue_slots)
    course = simulate(star, crawl)
    assert len(course.order) == 6
    assert course.links["dropped_irrelevant"] == 15


@pytest.mark.parametrize(("room", "fate"), [(0, (9, 0)), (2, (2, 7)), (3, (3, 6)), (4, (4, 5))])
def test_so_many_urls_of_a_host_wait_or_were_fetched(room: int, fate: tuple[int, int]) -> None:
    """A page links to eight of its server."""
    star = replace(
        random_graph(1, vertices=9, servers=9, seeds=1),
        page_server=np.zeros(9, np.int32),
        page_language=np.zeros(9, np.int16),
        seeds=np.array([0], np.int32),
        link_start=np.array([0, *[8] * 9], np.int64),
        link_target=np.arange(1, 9, dtype=np.int32),
        url_start=None,
    )
    course = simulate(star, Simulation(make_filter("none"), "bfs", host_cap=2, host_queue=room))
    assert (course.links["stored"], course.links["host_full"]) == fate
    assert len(course.order) == 2


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
        tuple(simulate(star, Simulation(rule, ordering, random_state=n)).order[1:])
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
        found = Simulation(rule, ordering, host_cap=9, random_state=state)
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
    everything = simulate(graph, Simulation(make_filter("none"), "bfs"))
    perfect = simulate(graph, Simulation(make_filter("none"), "perfect"))
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
    course = simulate(graph, Simulation(make_filter("none"), "bfs"))
    assert (graph.page_status[course.order] == PAGE).all()
    linked = np.unique(np.concatenate([graph.links(page) for page in course.order.tolist()]))
    known = np.union1d(linked, graph.seeds)
    assert course.queue[-1] == (graph.page_status[known] == UNKNOWN).sum() > 0
    assert course.is_complete


def test_a_limit_ends_a_crawl_where_the_whole_one_would_have_been() -> None:
    graph, rule = random_graph(2), make_filter("server", tolerance=2)
    for ordering in (*LIVE_ORDERINGS, "perfect"):
        whole = simulate(graph, Simulation(rule, ordering))
        part = simulate(graph, Simulation(rule, ordering, limit=7))
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
    course = simulate(graph, Simulation(make_filter("none"), "svm"))
    assert course.order.tolist() == [7, 6, 5, 4, 2, 3, 1, 0]


def test_what_a_graph_does_not_have_is_refused() -> None:
    graph, rule = random_graph(1), make_filter("none")
    with pytest.raises(SettingError, match="has no ordering 'astar'"):
        simulate(graph, Simulation(rule, "astar"))
    with pytest.raises(GraphError, match="no page in 'ja'; it knows th, en"):
        simulate(graph, Simulation(rule, "bfs", target="ja"))
    with pytest.raises(SettingError, match="no cctld"):
        simulate(replace(graph, server_domain=None), Simulation(rule, "cctld"))


def modelled(graph: WebGraph, simulation: Simulation) -> list[int]:
    """A breadth-first crawl with shards and rests; every question looks at all queued URLs."""
    chance = np.random.default_rng(simulation.random_state).integers(0, 1 << 63, 1, dtype=np.uint64)
    n, rest = simulation.shards, simulation.rest
    shard = [shard_of(host_of(graph.url(v)), n) if n > 1 else 0 for v in range(graph.n_vertices)]
    depth, order, clock = {int(v): 0 for v in graph.seeds}, list[int](), 0
    ready: Counter[int] = Counter()
    found, queued = list(depth), set(depth)

    def best(place: int) -> tuple[int, int] | None:
        open_ = [v for v in queued if shard[v] == place and ready[graph.page_server[v]] <= clock]
        return min(((depth[v], found.index(v)) for v in open_), default=None)

    while queued:
        one = draw_below(chance, n) if n > 1 else 0
        other = (one + 1 + draw_below(chance, n - 1)) % n if n > 1 < simulation.choices else one
        known = [best(place) for place in (one, other)]
        known += [best((one + step) % n) for step in range(1, n)] if known == [None, None] else []
        offers = [offer for offer in known if offer]
        if not offers:
            clock = min(time for time in ready.values() if time > clock)
            continue
        page = found[min(offers)[1] if known[:2] != [None, None] else offers[0][1]]
        queued.remove(page)
        order.append(page)
        clock += 1
        ready[graph.page_server[page]] = clock + rest
        for target in graph.links(page).tolist():
            if target not in depth:
                depth[target] = depth[page] + 1
                found.append(target)
                queued.add(target)
    return order


@pytest.mark.parametrize("rest", [0, 3, 40])
@pytest.mark.parametrize(("shards", "choices"), [(1, 2), (4, 2), (4, 1), (64, 2)])
def test_shards_and_rests_choose_as_a_plain_model_does(
    shards: int, choices: int, rest: int
) -> None:
    graph = random_graph(7, vertices=240, servers=20)
    simulation = Simulation(
        make_filter("none"), "bfs", shards=shards, choices=choices, rest=rest, random_state=2
    )
    course = simulate(graph, simulation)
    with np.errstate(over="ignore"):  # the random numbers overflow
        assert course.order.tolist() == modelled(graph, simulation)
    assert len(course.order) > 100


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
            graph.relevant()[simulate(graph, Simulation(rule, name, limit=limit)).order].sum()
        )
        for name in ("focus", "bfs", "random", "soft")
    }
    assert max(harvest, key=lambda name: harvest[name]) == "focus"
    course = simulate(replace(graph, server_domain=None), Simulation(rule, "focus"))
    assert course.is_complete


WEB = SmallWeb(pages=100, per_host=5)

CRAWLS: list[tuple[str, Mapping[str, int | str]]] = [
    ("svm", {"filter": "server", "tolerance": 1, "host_cap": 4}),
    ("soft", {"filter": "server-conservative", "tolerance": 2}),
]


def recorded(folder: Path, strategy: str, rule: Mapping[str, int | str]) -> list[str]:
    """Crawl page by page without a delay; return the pages in their order.

    Scrapy fetches the next page while it parses one, unless nothing may wait to be parsed.
    """
    with loopback(WEB) as proxy:
        done = crawl(
            "lang=de",
            f"strategy={strategy}",
            *(f"{name}={value}" for name, value in rule.items()),
            f"seeds={WEB.url(0)},{WEB.url(20)}",
            proxy=proxy.url,
            JOBDIR=folder,
            LANGFOCUS_LINKS=True,
            CONCURRENT_REQUESTS=1,
            DOWNLOAD_DELAY=0,
            SCRAPER_SLOT_MAX_ACTIVE_SIZE=0,
        )
    assert done.returncode == 0, done.stderr
    query = "SELECT url FROM pages WHERE outcome = 'page' AND status = 200 ORDER BY id"
    return [url for (url,) in rows(folder, query)]


@pytest.mark.parametrize(("strategy", "rule"), CRAWLS)
def test_a_simulation_on_what_a_crawl_recorded_repeats_the_crawl(
    tmp_path: Path, strategy: str, rule: Mapping[str, int | str]
) -> None:
    fetched = recorded(tmp_path / "run", strategy, rule)
    assert len(fetched) > 20
    graph = build([tmp_path / "run"], tmp_path / "graph", "de")
    simulation = Simulation(
        make_filter(str(rule["filter"]), tolerance=int(rule["tolerance"])),
        ordering=strategy,
        host_cap=int(rule.get("host_cap", 0)),
    )
    graph = prepared(graph, [simulation])
    course = simulate(graph, simulation)
    assert [graph.url(vertex) for vertex in course.order.tolist()] == fetched
    assert (graph.page_status[course.order] == PAGE).all()
    counts = dict(rows(tmp_path / "run", "SELECT name, value FROM counts"))
    for name in ("stored", "rejected", "dropped_irrelevant"):
        assert course.links[name] == counts.get(name, 0)
