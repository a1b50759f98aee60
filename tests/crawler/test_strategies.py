"""Orderings and filters by the letter of the papers."""

from pathlib import Path

import pytest

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.urls.model import UrlModel
from langfocus.crawler.strategies import ORDERINGS, make_ordering
from langfocus.crawler.strategies.filters import NOTHING, Filter, Tally, make_filter
from langfocus.crawler.strategies.focus.prior import RARE, SHIPPED, Prior
from langfocus.crawler.strategies.links import Draw, LinkSource

RELEVANT, UNDECIDED, IRRELEVANT = Tally(30, 1), Tally(10, 0), Tally(11, 0)


def accepted(rule: Filter, page_is_relevant: bool, source: Tally) -> list[bool]:
    """Links to a relevant, an undecided, an irrelevant and an unvisited unit."""
    return [
        rule.accepts(page_is_relevant=page_is_relevant, source=source, target=target)
        for target in (RELEVANT, UNDECIDED, IRRELEVANT, NOTHING)
    ]


@pytest.mark.parametrize(
    ("name", "page_is_relevant", "source", "expected"),
    [
        ("none", False, IRRELEVANT, [True, True, True, True]),
        ("hard", True, RELEVANT, [True, True, True, True]),
        ("hard", False, RELEVANT, [False, False, False, False]),
        ("server", False, UNDECIDED, [True, True, False, True]),
        ("server-conservative", True, RELEVANT, [True, True, False, True]),
        ("server-conservative", False, RELEVANT, [True, True, False, True]),
        ("server-conservative", False, UNDECIDED, [True, True, False, False]),
        ("directory-conservative", False, UNDECIDED, [True, True, False, False]),
    ],
)
def test_filters_follow_tamura_4(
    name: str, page_is_relevant: bool, source: Tally, expected: list[bool]
) -> None:
    assert accepted(make_filter(name, tolerance=10), page_is_relevant, source) == expected


def test_units_are_servers_or_directories() -> None:
    url = "http://www.a.de/x/y/z.html"
    assert make_filter("server").unit_of(url) == "a.de"
    assert make_filter("directory-conservative").unit_of(url) == "a.de/x/"
    assert make_filter("directory-conservative", directory_depth=2).unit_of(url) == "a.de/x/y/"
    assert make_filter("directory-conservative").units_of(url) == ("a.de/x/",)
    assert make_filter("both-conservative").units_of(url) == ("a.de/x/", "a.de")


def test_a_url_is_closed_with_its_directory_or_its_server() -> None:
    rule = make_filter("both-conservative", tolerance=3)
    new, fresh, foreign = Tally(0, 0), Tally(2, 0), Tally(4, 0)
    assert rule.worst([new, fresh]) == new
    assert rule.worst([fresh, foreign]) == foreign
    assert rule.worst([foreign, Tally(9, 1)]) == foreign


URLS = ["http://a.de/seite", "http://a.com/page", "http://b.at/"]


DECLARED = LinkSource(declared={URLS[1]})


@pytest.mark.parametrize(
    ("name", "source", "scores"),
    [
        ("random", LinkSource(), [0, 0, 0]),
        ("random", DECLARED, [0, 0, 0]),
        ("cctld", LinkSource(), [1, 0, 1]),
        ("cctld", DECLARED, [1, 0, 1]),
        ("soft", LinkSource(is_relevant=False), [0, 0, 0]),
        ("soft", DECLARED, [1, 1, 1]),
        ("bfs", DECLARED, [-1, -1, -1]),
        ("bfs", LinkSource(depth=1), [-2, -2, -2]),
    ],
)
def test_orderings_look_at_the_url_the_page_or_the_distance(
    name: str, source: LinkSource, scores: list[float]
) -> None:
    ordering = make_ordering(name, "de")
    assert list(ordering.scores(URLS, source)) == scores
    assert (ordering.draw is Draw.UNIFORM) == (name in ("random", "cctld"))


@pytest.mark.parametrize("name", ["svm", "cctld"])
def test_an_ordering_by_urls_ignores_declarations_and_the_page(name: str) -> None:
    ordering = make_ordering(name, "de")
    page = LinkSource(is_relevant=False, depth=3, declared=URLS[1:], declared_other=URLS[:1])
    assert list(ordering.scores(URLS, page)) == list(ordering.scores(URLS, LinkSource()))


def test_the_score_of_svm_is_the_decision_value_of_the_url_model() -> None:
    expected = UrlModel.load(None).score(URLS, "de").tolist()
    assert list(make_ordering("svm", "de").scores(URLS, DECLARED)) == expected


def test_svm_ranks_by_the_language_that_it_is_asked_for() -> None:
    urls = [
        "http://garten-und-haus.com/die-schoensten-blumen",
        "http://jardin-et-maison.com/les-plus-belles-fleurs",
    ]
    german, french = (
        make_ordering("svm", language).scores(urls, LinkSource()) for language in ("de", "fr")
    )
    assert german[0] > 0 > german[1]
    assert french[1] > 0 > french[0]


@pytest.mark.parametrize("name", ORDERINGS)
def test_every_ordering_gives_one_score_a_url(name: str) -> None:
    ordering = make_ordering(name, "de")
    assert ordering.name == name
    for urls in ([], URLS[:1], URLS):
        assert len(ordering.scores(urls, LinkSource())) == len(urls)


@pytest.mark.parametrize(
    ("target", "file"),
    [("ca", SHIPPED), ("gl", RARE), ("vo", RARE), ("gl,pt", SHIPPED), ("gl,eu", RARE)],
)
def test_the_most_frequent_language_decides_the_prior_of_focus(target: str, file: Path) -> None:
    assert make_ordering("focus", target).prior == Prior.shipped(file)


def test_svm_orders_a_language_without_a_classifier_by_codes_names_and_domains() -> None:
    urls = ["http://a.ie/ga/x", "http://gaeilge.org/", "http://a.com/", "http://a.de/fr/"]
    ordering = make_ordering("svm", "ga")
    irish, named, none, french = ordering.scores(urls, LinkSource())
    assert irish > 0 > none > french
    assert named > none
    assert not ordering.knows_urls
    with pytest.raises(LanguageError, match="does not know 'vo'"):
        make_ordering("svm", "vo")


def test_cctld_knows_whether_a_language_has_a_domain() -> None:
    assert [make_ordering("cctld", code).knows_urls for code in ("de", "ga", "de,ga")] == [
        True,
        False,
        False,
    ]
