"""The webs of rare languages have their properties, and the judge reads them rightly."""

from collections import Counter

import numpy as np
import pytest

from benchmarks import proxyweb, rare_webs
from benchmarks.focus_prior import SPREAD, joined
from benchmarks.rare import Judged
from benchmarks.rare_webs import STATES, RareWeb
from langfocus.crawler.strategies.focus.evidence import N_FEATURES
from langfocus.crawler.strategies.focus.prior import Prior

pytestmark = pytest.mark.skipif(
    not (rare_webs.GRAPH.exists() and rare_webs.TEXTS.exists() and proxyweb.URLS.exists()),
    reason="the data of the webs are not here",
)


@pytest.fixture(scope="module", params=["graph-1", "sites-1"])
def web(request: pytest.FixtureRequest) -> RareWeb:
    return RareWeb(request.param, pages=16_000, share=0.02)


def test_a_small_language_has_its_share_in_every_kind_of_host(web: RareWeb) -> None:
    urls = [url for url in web._page if web.language(url) == "mt"]
    assert 0.004 < len(urls) / 16_000 < 0.021
    kinds = Counter(web.kind_of(url) for url in urls)
    assert set(kinds) == {"own", "directory", "sub-domain", "parameter", "nothing"}
    assert kinds["own"] < 0.7 * len(urls)


def test_an_order_without_misses_has_the_ratio_one_and_one_that_finds_half_has_half(
    web: RareWeb,
) -> None:
    judged = Judged(web, "mt", (20, 40))
    wanted = [url for url in web._page if web.language(url) == "mt"]
    others = [url for url in web._page if web.language(url) == "es"]
    assert judged.oracle()["ratio"] == {"20": 1.0, "40": 1.0}
    assert judged.line("all", wanted[:40])["ratio"] == {"20": 1.0, "40": 1.0}
    half = [url for pair in zip(wanted[:20], others[:20], strict=True) for url in pair]
    line = judged.line("half", half)
    assert line["ratio"] == {"20": 0.5, "40": 0.5}
    assert line["area"] == pytest.approx(0.5, abs=0.02)


def test_an_answer_has_the_links_that_the_oracle_reads(web: RareWeb) -> None:
    for seed in web.seeds("mt"):
        body = web.respond(seed).body.decode().replace("&amp;", "&")
        assert all(f'href="{link}"' in body for link in web.links(seed))


def test_a_switch_leaves_its_property_out() -> None:
    plain = RareWeb("sites-2", pages=6000, share=0.02, without=",".join(rare_webs.SWITCHES))
    assert not any(plain.kind_of(url) in {"farm", "lies", "nothing"} for url in plain._page)
    assert all(plain.page_at(url) == url for url in plain._page)
    assert set(STATES) <= {plain.language(url) for url in plain._page}


def test_the_prior_learns_on_webs_without_the_languages_that_are_judged() -> None:
    lesson = RareWeb("lesson-graph-1", pages=16_000, share=0.02)
    found = {lesson.language(url) for url in lesson._page}
    assert set(rare_webs.LESSONS) <= found
    assert not found & set(STATES)


def test_two_joined_populations_have_the_mean_between_them_and_vary_by_their_distance() -> None:
    prior = Prior.shipped()
    within = np.array(prior.covariance) - np.eye(N_FEATURES) * SPREAD
    mean, covariance = joined(np.array(prior.mean) + 2.0, within, prior)
    assert mean == pytest.approx(np.array(prior.mean) + 1.0)
    assert covariance == pytest.approx(within + 1.0)
