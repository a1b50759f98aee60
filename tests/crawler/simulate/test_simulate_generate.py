"""A generated Web has the measures that it was asked for, at a fiftieth of the paper's scale.

Tolerances, of which the larger count for what chance decides more at this scale: counts are exact,
links within 1 %; shares of Tables 1, 4 and 5 within 1 point; the share of relevant pages by
distance (Fig. 1) within 2 points.
"""

import numpy as np
import numpy.typing as npt
import pytest

from crawler.errors import SettingError
from crawler.simulate.engine import Course, Simulation, simulate
from crawler.simulate.generator import generate
from crawler.simulate.measures import (
    HIDDEN_BY_DISTANCE,
    RELEVANT_BY_DISTANCE,
    WebMeasures,
    link_plan,
)
from crawler.simulate.webgraph import PAGE, WebGraph
from crawler.strategies.filters import make_filter

MEASURES = WebMeasures().scaled(0.02)


@pytest.fixture(scope="module")
def web() -> WebGraph:
    graph = generate(MEASURES)
    graph.check()
    return graph


@pytest.fixture(scope="module")
def sources(web: WebGraph) -> npt.NDArray[np.int32]:
    return np.repeat(np.arange(web.n_vertices, dtype=np.int32), np.diff(web.link_start))


def with_relevant_pages(web: WebGraph) -> npt.NDArray[np.bool_]:
    has = np.zeros(web.n_servers, np.bool_)
    has[web.page_server[web.relevant()]] = True
    return has


def with_pages(web: WebGraph) -> npt.NDArray[np.bool_]:
    has = np.zeros(web.n_servers, np.bool_)
    has[web.page_server[web.page_status == PAGE]] = True
    return has


def test_counts_are_exact_and_links_nearly(web: WebGraph) -> None:
    assert web.n_pages == MEASURES.pages
    assert web.n_vertices == MEASURES.vertices
    assert web.relevant().sum() == MEASURES.relevant_pages
    assert with_pages(web).sum() == MEASURES.servers
    assert with_relevant_pages(web).sum() == MEASURES.relevant_servers
    assert web.n_links == pytest.approx(MEASURES.links, rel=0.01)
    assert len(web.seeds) == MEASURES.seeds
    assert web.relevant()[web.seeds].all()


def test_links_are_those_of_pages_each_once_and_none_to_itself() -> None:
    web = generate(WebMeasures().scaled(0.002))
    sources = np.repeat(np.arange(web.n_vertices), np.diff(web.link_start))
    assert (web.page_status[sources] == PAGE).all()
    assert (web.link_target != sources).all()
    assert len(np.unique(sources * web.n_vertices + web.link_target)) == web.n_links


def test_every_vertex_is_linked(web: WebGraph) -> None:
    is_known = np.zeros(web.n_vertices, np.bool_)
    is_known[web.link_target] = is_known[web.seeds] = True
    assert is_known.all()


def test_table_1_domains_and_languages(web: WebGraph) -> None:
    assert web.server_domain is not None
    is_page, is_relevant = web.page_status == PAGE, web.relevant()
    is_th = (web.server_domain == web.domains.index("th"))[web.page_server]
    assert is_relevant.sum() / is_page.sum() == pytest.approx(0.094, abs=0.001)
    assert (is_relevant & is_th).sum() / is_relevant.sum() == pytest.approx(0.343, abs=0.01)
    assert (is_page & is_th).sum() / is_page.sum() == pytest.approx(0.047, abs=0.002)
    is_english = is_page & (web.page_language == web.languages.index("en"))
    assert is_english.sum() / is_page.sum() == pytest.approx(0.440, abs=0.02)
    for domain, share in (("com", 0.563), ("de", 0.079), ("net", 0.069)):
        has = (web.server_domain == web.domains.index(domain))[web.page_server]
        assert (has & is_page).sum() / is_page.sum() == pytest.approx(share, abs=0.02)


def percent(part: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> float:
    return float(100 * (part & of).sum() / of.sum())


def test_table_4_languages_of_linked_pages(web: WebGraph, sources: npt.NDArray[np.int32]) -> None:
    relevant, target = web.relevant(), web.link_target
    is_near = with_relevant_pages(web)[web.page_server[sources]]
    is_known = web.page_status[target] == PAGE
    leaves = web.page_server[sources] != web.page_server[target]
    rows = (relevant[sources], is_near & ~relevant[sources], ~is_near)
    expected = ((71.8, 37.4), (21.5, 35.3), (0.2, 0.3))
    for of, (within, between) in zip(rows, expected, strict=True):
        assert percent(relevant[target], of & is_known) == pytest.approx(within, abs=1)
        assert percent(relevant[target], of & is_known & leaves) == pytest.approx(between, abs=1)


def test_table_5_languages_of_linked_servers(web: WebGraph, sources: npt.NDArray[np.int32]) -> None:
    target = web.page_server[web.link_target]
    near, is_known = with_relevant_pages(web), with_pages(web)[target]
    is_near = near[web.page_server[sources]]
    leaves = web.page_server[sources] != target
    for of, (within, between) in ((is_near, (87.4, 53.4)), (~is_near, (0.5, 1.1))):
        assert percent(near[target], of & is_known) == pytest.approx(within, abs=1)
        assert percent(near[target], of & is_known & leaves) == pytest.approx(between, abs=1)


def distances(web: WebGraph, sources: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Links on the shortest path from any of these vertices, -1 where there is none."""
    found = np.full(web.n_vertices, -1, np.int32)
    found[sources], layer, steps = 0, sources, 0
    while len(layer):
        steps += 1
        numbers = np.diff(web.link_start)[layer]
        first = np.repeat(web.link_start[layer] - np.cumsum(numbers) + numbers, numbers)
        layer = np.unique(web.link_target[first + np.arange(numbers.sum())])
        layer = layer[found[layer] < 0]
        found[layer] = steps
    return found


def test_fig_1_pages_and_relevant_ones_by_distance(web: WebGraph) -> None:
    found, is_page, relevant = distances(web, web.seeds), web.page_status == PAGE, web.relevant()
    assert (found >= 0).all()
    for steps, (pages, share) in enumerate(
        zip(MEASURES.pages_by_distance, RELEVANT_BY_DISTANCE, strict=True)
    ):
        within = is_page & (found <= steps)
        if pages > 100:
            assert within.sum() == pytest.approx(pages, rel=0.06)
            assert percent(relevant, within) == pytest.approx(100 * share, abs=2)


def test_fig_2_relevant_pages_are_mostly_linked_from_others_and_few_are_far(
    web: WebGraph, sources: npt.NDArray[np.int32]
) -> None:
    relevant = web.relevant()
    behind = distances(web, np.flatnonzero(relevant))
    steps = np.where(relevant[sources], 1, np.where(behind[sources] < 0, 99, behind[sources] + 1))
    nearest = np.full(web.n_vertices, 99)
    np.minimum.at(nearest, web.link_target, steps)
    number = np.bincount(nearest[relevant])[1:6]
    assert number[0] / relevant.sum() > 0.9
    assert (number[1:] < 0.5 * number[:-1]).all()


@pytest.fixture(scope="module")
def courses(web: WebGraph) -> dict[str, Course]:
    asked = {
        "soft": ("none", 0),
        "hard": ("hard", 0),
        "server 5": ("server", 5),
        "server 10": ("server", 10),
        "server 20": ("server", 20),
        "conservative": ("server-conservative", 10),
    }
    return {
        name: simulate(
            web, Simulation(filter=make_filter(rule, tolerance=tolerance), ordering="soft")
        )
        for name, (rule, tolerance) in asked.items()
    }


def test_strategies_stand_to_each_other_as_in_the_paper(
    web: WebGraph, courses: dict[str, Course]
) -> None:
    relevant = web.relevant()
    first = {name: relevant[c.order[:40_000]].mean() for name, c in courses.items()}
    coverage = {name: relevant[c.order].sum() / relevant.sum() for name, c in courses.items()}
    assert first["soft"] == pytest.approx(0.70, abs=0.05)
    assert first["hard"] == pytest.approx(first["soft"], abs=0.02)
    assert 0.01 < first["server 10"] - first["soft"] < 0.09
    assert coverage["soft"] == 1.0
    assert 0.86 < coverage["hard"] < 0.93
    assert 0.93 < coverage["server 5"] <= coverage["server 10"] <= coverage["server 20"] <= 1.0
    assert coverage["server 10"] > 0.97
    largest = {name: course.queue.max() for name, course in courses.items()}
    assert largest["conservative"] < largest["server 10"] < largest["soft"]


def test_hard_focused_misses_the_hidden_share_within_each_distance(
    web: WebGraph, courses: dict[str, Course]
) -> None:
    found, relevant = distances(web, web.seeds), web.relevant()
    is_crawled = np.zeros(web.n_vertices, np.bool_)
    is_crawled[courses["hard"].order] = True
    for steps in (2, 4, 6, 8):
        within = relevant & (found <= steps)
        missed = (within & ~is_crawled).sum() / within.sum()
        assert missed == pytest.approx(HIDDEN_BY_DISTANCE[steps], abs=0.025)


def test_a_crawl_by_domain_takes_what_is_in_the_domain_first(web: WebGraph) -> None:
    course = simulate(web, Simulation(filter=make_filter("none"), ordering="cctld", limit=2_000))
    assert web.server_domain is not None
    is_th = web.server_domain[web.page_server[course.order]] == web.domains.index("th")
    assert is_th.mean() > 0.95


def test_the_same_measures_and_state_give_the_same_web() -> None:
    small = WebMeasures().scaled(0.001)
    one, two, other = (generate(small, random_state=state) for state in (3, 3, 4))
    assert (one.link_target == two.link_target).all()
    assert (one.page_language == two.page_language).all()
    assert (one.page_directory == two.page_directory).all()
    assert not np.array_equal(one.link_target, other.link_target)


def test_any_small_web_is_whole() -> None:
    for factor in (0.0002, 0.0005, 0.002):
        graph = generate(WebMeasures().scaled(factor), random_state=1)
        graph.check()
        course = simulate(graph, Simulation(filter=make_filter("none"), ordering="bfs"))
        assert len(course.order) == graph.n_pages


def test_the_plan_of_links_sums_up_to_the_tables() -> None:
    measures, plan = WebMeasures(), link_plan(WebMeasures())
    assert plan.sum() == pytest.approx(measures.links, abs=30)
    for row, (relevant, _, between, _) in enumerate(measures.page_links):
        assert plan[row, 0] + plan[row, 3] == pytest.approx(relevant, abs=2)
        assert plan[row, 3] == pytest.approx(between, abs=1)
    assert plan.min() >= 0


def test_a_scale_without_enough_servers_is_refused() -> None:
    with pytest.raises(SettingError, match="less than 3 servers"):
        WebMeasures().scaled(0.00001)
