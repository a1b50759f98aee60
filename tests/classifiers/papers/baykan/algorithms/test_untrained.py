import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.errors import ClassifierError, LanguageError
from classifiers.papers.baykan.algorithms import CcTld, CcTldPlus, Ip
from classifiers.papers.baykan.features.hosting import Resolver, ServerCountry
from classifiers.tables.country_domains import TABLE_I

ADDRESSES = {
    "tagesschau.de": ["192.0.2.1"],
    "www.lemonde.fr": ["192.0.2.9", "192.0.2.2"],
    "example.com": ["192.0.2.2"],
    "unlisted.com": ["192.0.2.9"],
}
COUNTRIES = {"192.0.2.1": "DE", "192.0.2.2": "fr", "192.0.2.3": "CH", "2001:db8::1": "GB"}


def resolver(host: str) -> list[str]:
    if host == "broken.com":
        raise OSError("no such host")
    return ADDRESSES.get(host, [])


def country_of(address: str | None) -> str | None:
    return COUNTRIES.get(address or "")


def ip(language: str, resolve: Resolver = resolver) -> Ip:
    return Ip(language, ServerCountry(country_of, resolve))


def test_a_country_code_of_the_paper_is_the_language_it_lists_first() -> None:
    urls = ["http://a.ch/", "https://b.ca/de", "c.gov", "http://user@d.AT:80/x.fr", "http://e.va/"]
    answers = {code: CcTld(code).predict(urls).tolist() for code in TABLE_I}
    assert answers == {
        "en": [False, True, True, False, False],
        "de": [True, False, False, True, False],
        "fr": [False] * 5,
        "es": [False] * 5,
        "it": [False, False, False, False, True],
    }


def test_domains_that_only_the_wider_table_knows_are_no() -> None:
    urls = ["http://a.wien/", "http://a.py/", "http://a.be/", "http://a.nyc/"]
    assert not any(CcTld(code).predict(urls).any() for code in TABLE_I)


def test_com_and_org_are_english_with_plus_only_and_net_never_is() -> None:
    urls = ["http://a.com/", "http://a.org/", "http://a.net/", "http://a.uk/"]
    assert CcTld("en").predict(urls).tolist() == [False, False, False, True]
    assert CcTldPlus("en").predict(urls).tolist() == [True, True, False, True]


@given(st.lists(st.sampled_from(["a.com", "b.org", "c.de", "d.it", "e.net", ""]), min_size=1))
def test_plus_changes_no_other_language_and_only_adds_to_english(urls: list[str]) -> None:
    for code in ("de", "fr", "es", "it"):
        assert CcTldPlus(code).predict(urls).tolist() == CcTld(code).predict(urls).tolist()
    assert (CcTldPlus("en").predict(urls) >= CcTld("en").predict(urls)).all()


@given(st.text())
def test_at_most_one_language_has_a_top_level_domain(url: str) -> None:
    assert sum(int(CcTld(code).predict([url])[0]) for code in TABLE_I) <= 1


def test_baselines_need_no_training_and_score_one_or_minus_one() -> None:
    urls = ["http://a.de/", "http://a.com/"]
    for each in (CcTld("de"), CcTldPlus("de"), ip("de", lambda host: [])):
        before = each.decision_function(urls)
        assert set(before.tolist()) <= {1.0, -1.0}
        assert each.fit(urls, ["x", "y"]) is each
        np.testing.assert_array_equal(each.decision_function(urls), before)


def test_the_country_of_the_server_decides_not_the_domain() -> None:
    urls = ["http://tagesschau.de/fr/", "http://www.lemonde.fr/", "http://example.com:8080/"]
    assert ip("de").predict(urls).tolist() == [True, False, False]
    assert ip("fr").predict(urls).tolist() == [False, True, True]


def test_a_host_without_a_known_country_is_no() -> None:
    urls = ["http://unlisted.com/", "http://unknown.com/", "http://broken.com/", "", "http:///a"]
    assert not any(ip(code).predict(urls).any() for code in TABLE_I)


def test_a_host_that_is_an_address_is_not_resolved() -> None:
    def refused(host: str) -> list[str]:
        raise AssertionError(host)

    urls = ["http://192.0.2.3/a", "http://[2001:db8::1]:80/"]
    assert ip("de", refused).predict(urls).tolist() == [True, False]
    assert ip("en", refused).predict(urls).tolist() == [False, True]


def test_a_host_is_resolved_once_for_all_its_urls() -> None:
    asked: list[str] = []

    def counting(host: str) -> list[str]:
        asked.append(host)
        return resolver(host)

    urls = ["http://tagesschau.de/a", "http://TAGESSCHAU.de/b", "http://example.com/"]
    ip("de", counting).predict(urls)
    assert asked == ["tagesschau.de", "example.com"]


def test_the_ip_baseline_says_what_it_lacks() -> None:
    with pytest.raises(ClassifierError, match="countries"):
        Ip("de").predict(["http://a.de/"])


def test_a_language_that_table_i_lacks_is_refused() -> None:
    for each in (CcTld("nl"), CcTldPlus("xx"), ip("nl")):
        with pytest.raises(LanguageError, match="Table I has en, de, fr, es, it"):
            each.predict(["http://a.nl/"])
