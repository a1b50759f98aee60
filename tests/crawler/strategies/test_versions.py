"""The URLs of one page in several languages."""

import pytest

from langfocus.crawler.strategies.versions import NO_TWINS, Versions
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
        ("http://a.com/es", "http://a.com/"),
        ("http://a.com/x?lang=es&a=1", "http://a.com/x?a=1"),
        ("http://a.com/x_es.html", "http://a.com/x.html"),
    ],
)
def test_a_site_may_name_all_languages_but_the_first(url: str, twin: str) -> None:
    assert fingerprint(twin) in Versions("gl").twins(url, is_expected=True).expected


def test_a_url_without_a_code_that_is_expected_gives_way_to_relevant_pages_alone() -> None:
    twins = Versions("gl").twins("http://a.com/x", is_expected=True)
    assert fingerprint("http://a.com/gl/x") in twins.relevant
    assert not twins.queued


def test_the_code_of_a_country_of_the_language_is_no_other_language() -> None:
    shop, twin = "http://a.com/ar/x", fingerprint("http://a.com/es/x")
    assert twin not in Versions("es").twins(shop, is_expected=False).queued
    assert fingerprint("http://a.com/gl/x") in Versions("gl").twins(shop, is_expected=False).queued
