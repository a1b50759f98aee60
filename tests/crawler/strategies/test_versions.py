"""The URLs of one page in several languages."""

import pytest

from langfocus.crawler.strategies.versions import NO_TWINS, Versions, versions_of
from langfocus.crawler.url import fingerprint

PAIRS = [
    ("http://www.a.com/es/x", "http://www.a.com/gl/x"),
    ("http://a.com/docs/2/en-US/x.html", "http://a.com/docs/2/gl-ES/x.html"),
    ("http://a.com/castellano/", "http://a.com/galego/"),
    ("http://es.a.com/x", "http://gl.a.com/x"),
    ("http://a.com/x?a=1&lang=es", "http://a.com/x?lang=gl&a=1"),
    ("http://a.com/index_es.html", "http://a.com/index_gl.html"),
    ("http://a.com/x.html.es", "http://a.com/x.html.gl"),
    ("http://a.com/x/y.html", "http://a.com/x/gl/y.html"),
    ("http://www.a.com/x", "http://gl.a.com/x"),
    ("http://a.com/x", "http://a.com/x?lang=gl"),
    ("http://a.com/eng/x", "http://a.com/glg/x"),
    ("http://a.com/us/x", "http://a.com/gl/x"),
    ("http://a.com/it/x", "http://a.com/galego/x"),
    ("http://a.com/us_en/x", "http://a.com/us_gl/x"),
    ("http://a.com/eu_es/x", "http://a.com/eu_gl/x"),
    ("http://a.com/EN/x-EN.html", "http://a.com/GL/x-GL.html"),
    ("http://a.com/x?a=1&en", "http://a.com/x?a=1&gl"),
    ("http://a.com/x?lang=fil", "http://a.com/x?lang=gl"),
    ("http://a.com/x.html", "http://a.com/x_gl.html"),
    ("http://a.com/", "http://a.com/gl"),
]


@pytest.mark.parametrize(("url", "twin"), PAIRS)
def test_the_url_of_a_page_in_the_language_is_found(url: str, twin: str) -> None:
    versions = Versions("gl")
    assert fingerprint(twin) in versions.twins(url, is_expected=False).queued
    assert versions.twins(twin, is_expected=False) == NO_TWINS


@pytest.mark.parametrize(
    ("url", "twin"),
    [
        ("http://es.a.com/x", "http://www.a.com/x"),
        ("http://a.com/es/1", "http://a.com/1"),
        ("http://a.com/x?lang=es&a=1", "http://a.com/x?a=1"),
        ("http://a.com/x_es.html", "http://a.com/x.html"),
    ],
)
def test_a_site_may_name_all_languages_but_the_first(url: str, twin: str) -> None:
    assert fingerprint(twin) in Versions("gl").twins(url, is_expected=True).expected


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("http://www.a.se/om/", "http://www.a.se/"),  # "about", and the code of Oromo
        ("http://a.se/news/it/", "http://a.se/news/"),
        ("http://it.a.se/", "http://a.se/"),
        ("http://a.se/mac/x", "http://a.se/x"),  # also of Macedonian
        ("http://a.se/spa/", "http://a.se/sv/"),
        ("http://blog.a.se/", "http://sv.a.se/"),
        ("http://a.se/eu_sv/x", "http://a.se/sv_SE/x"),
    ],
)
def test_a_word_like_a_code_makes_no_version(url: str, other: str) -> None:
    twins = Versions("sv").twins(url, is_expected=True)
    assert fingerprint(other) not in frozenset().union(*twins)


def test_a_url_without_a_code_that_is_expected_gives_way_to_relevant_pages_alone() -> None:
    twins = Versions("gl").twins("http://a.com/x", is_expected=True)
    assert fingerprint("http://a.com/gl/x") in twins.relevant
    assert not twins.queued


def test_the_code_of_a_country_of_the_language_is_no_other_language() -> None:
    shop, twin = "http://a.com/ar/x", fingerprint("http://a.com/es/x")
    assert twin not in Versions("es").twins(shop, is_expected=False).queued
    assert fingerprint("http://a.com/gl/x") in Versions("gl").twins(shop, is_expected=False).queued


CODES = "de fr it es pt ru ja zh ko pl nl tr".split()


@pytest.mark.parametrize(
    "form",
    [
        "http://www.a.com/{}/one-two", "http://{}.a.com/one-two", "http://www.a.{}/one-two",
        "http://a-{}.org/one-two", "http://www.a.com/one-two?lang={}", "http://a.com/{}-ch/",
    ],
)  # fmt: skip
def test_versions_are_links_that_differ_in_the_code_of_their_language(form: str) -> None:
    versions = [form.format(code) for code in CODES]
    page, links = versions[0], [*versions[1:], *versions[1:], "http://b.org/one-two"]
    own = [page[: page.rindex("/")] + "/other", page[: page.rindex("/")] + "/third"]
    assert versions_of(page, [*links, "http://b.org/", *own], 5) == len(CODES) - 1
    assert versions_of(page, own, 5) == 5
    assert versions_of(page, [], 0) == 0
