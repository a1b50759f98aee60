"""The tables and figures of a graph and of a crawl are what counting by hand gives."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from langfocus.crawler.simulate.engine import simulate
from langfocus.crawler.simulate.figures import Yardstick, course_figures, graph_figures
from langfocus.crawler.simulate.plan import Simulation
from langfocus.crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN, WebGraph
from langfocus.crawler.strategies.filters import make_filter
from tests.support.simulatedwebs import random_graph

MIXED = (PAGE, PAGE, PAGE, PAGE, UNKNOWN, UNKNOWN, FAILED, REDIRECT)


def mixed(number: int) -> WebGraph:
    return random_graph(number, vertices=240, statuses=MIXED)


def chain(languages: str, *, seeds: tuple[int, ...] = (0,)) -> WebGraph:
    """Pages in a row, each linking to the next; `t` is a relevant page, `e` another."""
    number = len(languages)
    return WebGraph(
        languages=("th", "en"),
        target="th",
        n_servers=number,
        n_directories=0,
        page_server=np.arange(number, dtype=np.int32),
        page_directory=np.full(number, -1, np.int32),
        page_language=np.array(["te".index(letter) for letter in languages], np.int16),
        page_status=np.full(number, PAGE, np.int8),
        link_start=np.array([*range(number), number - 1], np.int64),
        link_target=np.arange(1, number, dtype=np.int32),
        seeds=np.array(seeds, np.int32),
    )


def landing(graph: WebGraph, vertex: int) -> int | None:
    for _ in range(20):
        if graph.page_status[vertex] != REDIRECT:
            return vertex
        vertex = int(graph.links(vertex)[0])
    return None


def targets(graph: WebGraph, vertex: int) -> list[int]:
    found = [landing(graph, link) for link in graph.links(vertex).tolist()]
    return [one for one in found if one is not None]


def distances(graph: WebGraph, seeds: list[int]) -> dict[int, int]:
    level = {v for seed in seeds if (v := landing(graph, seed)) is not None}
    level = {v for v in level if graph.page_status[v] == PAGE}
    found = dict.fromkeys(level, 0)
    for distance in itertools.count(1):
        near = {t for v in level for t in targets(graph, v) if graph.page_status[t] == PAGE}
        level = near - found.keys()
        found |= dict.fromkeys(level, distance)
        if not level:
            return found
    raise AssertionError


@pytest.mark.parametrize("number", [1, 2, 3])
def test_pages_are_counted_by_distance_from_the_seeds(number: int) -> None:
    graph = mixed(number)
    is_relevant = graph.relevant()
    found = distances(graph, graph.seeds.tolist())
    pages = Counter(found.values())
    relevant = Counter(distance for page, distance in found.items() if is_relevant[page])
    expected = [(pages[d], relevant[d]) for d in range(max(pages) + 1)]
    assert graph_figures(graph).by_distance == expected


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_relevant_page_is_as_far_as_the_nearest_other_one(number: int) -> None:
    graph = mixed(number)
    relevant = np.flatnonzero(graph.relevant()).tolist()
    nearest: dict[int, int] = {}
    for source in relevant:
        for page, distance in distances(graph, [source]).items():
            if page != source and page in relevant:
                nearest[page] = min(distance, nearest.get(page, distance))
    counts = Counter(nearest.values())
    counts[0] = len(relevant) - len(nearest)
    assert graph_figures(graph).nearest == [counts[d] for d in range(max(counts) + 1)]


def test_the_way_back_to_a_page_itself_is_not_the_way_to_another() -> None:
    graph = chain("teet")
    assert graph_figures(graph).nearest == [1, 0, 0, 1]
    round_trip = chain("te")
    links = replace(
        round_trip,
        link_start=np.array([0, 1, 2], np.int64),
        link_target=np.array([1, 0], np.int32),
    )
    assert graph_figures(links).nearest == [1]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_links_are_counted_by_the_languages_of_their_ends(number: int) -> None:
    graph = mixed(number)
    is_relevant = graph.relevant().tolist()
    servers = graph.page_server.tolist()
    is_page = (graph.page_status == PAGE).tolist()
    with_pages = {servers[v] for v in range(graph.n_vertices) if is_page[v]}
    relevant_servers = {servers[v] for v in range(graph.n_vertices) if is_relevant[v]}
    pages: dict[tuple[int, bool, bool], int] = defaultdict(int)
    by_server: dict[tuple[bool, bool, bool], int] = defaultdict(int)
    unfetched = []
    for vertex in range(graph.n_vertices):
        if not is_page[vertex]:
            continue
        of_relevant = servers[vertex] in relevant_servers
        source = 0 if is_relevant[vertex] else 1 if of_relevant else 2
        for end in targets(graph, vertex):
            leaves = servers[end] != servers[vertex]
            if is_page[end]:
                pages[source, leaves, is_relevant[end]] += 1
            elif graph.page_status[end] == UNKNOWN:
                unfetched.append(end)
            if servers[end] in with_pages:
                by_server[of_relevant, leaves, servers[end] in relevant_servers] += 1
    figures = graph_figures(graph)
    for source, row in enumerate(figures.by_page):
        inside = (pages[source, False, True], pages[source, False, False])
        assert row.outside == (pages[source, True, True], pages[source, True, False])
        assert row.all == tuple(map(sum, zip(inside, row.outside, strict=True)))
    for of_relevant, server_row in zip((True, False), figures.by_server, strict=True):
        within, outside = (
            [by_server[of_relevant, leaves, relevant] for relevant in (True, False)]
            for leaves in (False, True)
        )
        assert list(server_row.outside) == outside
        assert list(server_row.all) == [sum(both) for both in zip(within, outside, strict=True)]
    assert figures.unfetched_urls == len(set(unfetched))
    assert figures.unfetched_links >= len(unfetched)


def test_pages_are_counted_by_language_and_domain() -> None:
    graph = mixed(5)
    assert graph.server_domain is not None
    expected: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for v in np.flatnonzero(graph.page_status == PAGE).tolist():
        domain = graph.domains[graph.server_domain[graph.page_server[v]]]
        expected[graph.languages[graph.page_language[v]]][domain] += 1
    assert graph_figures(graph).pages_by == expected


def test_a_graph_without_domains_has_pages_of_none() -> None:
    figures = graph_figures(chain("tet"))
    assert figures.pages_by == {"th": {"": 2}, "en": {"": 1}}


@pytest.mark.parametrize("name", ["none", "hard", "server-conservative"])
def test_a_course_is_measured_as_by_hand(name: str) -> None:
    graph = mixed(8)
    course = simulate(graph, Simulation(make_filter(name, tolerance=2), "soft"))
    yardstick = Yardstick(graph)
    figures = course_figures(course, yardstick)
    order, is_relevant = course.order.tolist(), graph.relevant().tolist()
    total = sum(is_relevant)
    assert figures.pages == len(order) >= 5
    for at, pages in enumerate(figures.points):
        first = order[:pages]
        assert figures.relevant[at] == sum(is_relevant[v] for v in first)
        assert figures.servers[at] == len({graph.page_server[v] for v in first})
        assert figures.queue[at] == course.queue[pages - 1]
        assert figures.harvest[at] == figures.relevant[at] / pages
        assert figures.coverage[at] == figures.relevant[at] / total
    found = distances(graph, graph.seeds.tolist())
    for distance, (missed, there_are) in enumerate(figures.missed):
        near = {v for v, far in found.items() if far <= distance and is_relevant[v]}
        assert (missed, there_are) == (len(near - set(order)), len(near))
    spent, pages = figures.effort, graph.n_pages
    assert spent.reachable == len(near)
    gained = list(itertools.accumulate(is_relevant[v] for v in order))
    for share, each in spent.downloads_for_each.items():
        number = max(1, math.ceil(len(near) * int(share) / 100))
        assert each == (gained.index(number) + 1) / number if number <= gained[-1] else each is None
    gained += gained[-1:] * (pages - len(order))
    assert spent.area == pytest.approx(sum(gained) / pages / len(near))
    servers = Counter(int(graph.page_server[v]) for v in near)
    assert yardstick.reachable(2) == sum(min(2, number) for number in servers.values())


def test_a_curve_has_some_hundred_points_however_many_pages_there_are() -> None:
    graph = chain("te" * 3000)
    course = simulate(graph, Simulation(make_filter("none"), "bfs"))
    figures = course_figures(course, Yardstick(graph))
    assert len(figures.points) < 260
    assert figures.points[0] == 1
    assert figures.points[-1] == 6000
    assert figures.points == sorted(set(figures.points))
    assert len(figures.missed) <= 1000
    assert figures.missed[-1] == (0, 3000)


def test_courses_of_a_graph_are_looked_at_after_the_same_numbers_of_pages() -> None:
    graph = random_graph(3, vertices=2000)
    yardstick = Yardstick(graph)
    some, all_pages = (
        course_figures(simulate(graph, Simulation(make_filter(name), "bfs")), yardstick)
        for name in ("hard", "none")
    )
    assert some.pages < all_pages.pages
    assert some.points[:-1] == all_pages.points[: len(some.points) - 1]
