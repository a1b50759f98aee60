"""A generated Web has the measures that it was asked for, at a fiftieth of the paper's scale.

Tolerances, of which the larger count for what chance decides more at this scale: counts are exact,
links within 1 %; shares of Tables 1, 4 and 5 within 1 point; the share of relevant pages by
distance (Fig. 1) within 2 points.
"""

import numpy as np
import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.simulate.engine import Course, simulate
from langfocus.crawler.simulate.figures import (
    GraphFigures,
    Yardstick,
    course_figures,
    graph_figures,
)
from langfocus.crawler.simulate.generator import generate
from langfocus.crawler.simulate.measures import (
    HIDDEN_BY_DISTANCE,
    RELEVANT_BY_DISTANCE,
    WebMeasures,
    link_plan,
)
from langfocus.crawler.simulate.plan import Simulation
from langfocus.crawler.simulate.webgraph import PAGE, WebGraph
from langfocus.crawler.strategies.filters import make_filter

MEASURES = WebMeasures(0.02)


@pytest.fixture(scope="module")
def web() -> WebGraph:
    graph = generate(MEASURES)
    graph.check()
    return graph


@pytest.fixture(scope="module")
def figures(web: WebGraph) -> GraphFigures:
    return graph_figures(web)


def test_counts_are_exact_and_links_nearly(web: WebGraph, figures: GraphFigures) -> None:
    asked = ("pages", "vertices", "relevant_pages", "servers", "relevant_servers")
    for name in asked:
        assert getattr(figures, name) == getattr(MEASURES, name), name
    assert web.n_links == pytest.approx(MEASURES.links, rel=0.01)
    assert len(web.seeds) == MEASURES.seeds
    assert web.relevant()[web.seeds].all()


def test_links_are_those_of_pages_each_once_and_none_to_itself() -> None:
    web = generate(WebMeasures(0.002))
    assert len(np.union1d(web.link_target, web.seeds)) == web.n_vertices
    sources = np.repeat(np.arange(web.n_vertices), np.diff(web.link_start))
    assert (web.page_status[sources] == PAGE).all()
    assert (web.link_target != sources).all()
    assert len(np.unique(sources * web.n_vertices + web.link_target)) == web.n_links


def test_table_1_domains_and_languages(figures: GraphFigures) -> None:
    def share(language: str, domain: str, of: int = figures.pages) -> float:
        """The share of pages in a language under a domain; "" for any."""
        rows = [row for lang, row in figures.pages_by.items() if language in ("", lang)]
        return sum(n for row in rows for top, n in row.items() if domain in ("", top)) / of

    assert share("th", "") == pytest.approx(0.094, abs=0.001)
    assert share("th", "th", figures.relevant_pages) == pytest.approx(0.343, abs=0.01)
    assert share("en", "") == pytest.approx(0.440, abs=0.02)
    assert share("", "th") == pytest.approx(0.047, abs=0.002)
    for domain, expected in (("com", 0.563), ("de", 0.079), ("net", 0.069)):
        assert share("", domain) == pytest.approx(expected, abs=0.02)


def test_tables_4_and_5_languages_of_linked_pages_and_servers(figures: GraphFigures) -> None:
    expected = ((71.8, 37.4), (21.5, 35.3), (0.2, 0.3), (87.4, 53.4), (0.5, 1.1))
    for row, (within, between) in zip(
        (*figures.by_page, *figures.by_server), expected, strict=True
    ):
        assert 100 * row.all[0] / sum(row.all) == pytest.approx(within, abs=1)
        assert 100 * row.outside[0] / sum(row.outside) == pytest.approx(between, abs=1)


def test_fig_1_pages_and_relevant_ones_by_distance(figures: GraphFigures) -> None:
    found = np.cumsum(figures.by_distance, axis=0)
    assert found[-1].tolist() == [figures.pages, figures.relevant_pages]
    expected = zip(MEASURES.pages_by_distance, RELEVANT_BY_DISTANCE, strict=True)
    for (within, relevant), (pages, share) in zip(found, expected, strict=False):
        if pages > 100:
            assert within == pytest.approx(pages, rel=0.06)
            assert relevant / within == pytest.approx(share, abs=0.02)


def test_fig_2_relevant_pages_are_mostly_linked_from_others_and_few_are_far(
    figures: GraphFigures,
) -> None:
    number = np.array([*figures.nearest[1:], 0, 0, 0, 0, 0])[:5]
    assert number[0] / figures.relevant_pages > 0.9
    assert (number[1:] < np.maximum(0.5 * number[:-1], 1)).all()


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
        name: simulate(web, Simulation(make_filter(rule, tolerance=tolerance), "soft"))
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
    missed = course_figures(courses["hard"], Yardstick(web)).miss_ratio
    for steps in (2, 4, 6, 8):
        assert missed[steps] == pytest.approx(HIDDEN_BY_DISTANCE[steps], abs=0.025)


def test_the_same_measures_and_state_give_the_same_web_which_is_whole() -> None:
    for factor in (0.0002, 0.0005, 0.002):
        small = WebMeasures(factor)
        one, two, other = (generate(small, random_state=state) for state in (3, 3, 4))
        for name in ("link_target", "page_language", "page_directory"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
        assert not np.array_equal(one.link_target, other.link_target)
        other.check()
        course = simulate(other, Simulation(make_filter("none"), "bfs"))
        assert len(course.order) == other.n_pages


def test_the_plan_of_links_sums_up_to_the_tables() -> None:
    measures, plan = WebMeasures(), link_plan(WebMeasures())
    assert plan.sum() == pytest.approx(measures.links, abs=30)
    for row, (relevant, _, between, _) in enumerate(measures.page_links):
        assert plan[row, 0] + plan[row, 3] == pytest.approx(relevant, abs=2)
        assert plan[row, 3] == pytest.approx(between, abs=1)
    assert plan.min() >= 0


def test_a_scale_without_enough_servers_is_refused() -> None:
    with pytest.raises(SettingError, match="less than 3 servers"):
        WebMeasures(0.00001)
