"""The custom-made features of URLs, with dictionaries of a few words."""

import re
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.papers.baykan.algorithms import vectorizer
from classifiers.papers.baykan.custom import FEATURES, CustomFeatures

TRAINING = [
    "http://www.voyageurs.fr/recherche",
    "http://recherche.voyageurs.com/",
    "http://cheap.com/flights",
    "http://www.cheap.co.uk/",
] * 2
FRENCH = [True, True, False, False] * 2
WORDS = {"en": {"house", "net", "die"}, "de": {"haus", "die"}, "fr": {"maison"}}
CITIES = {"de": {"berlin"}, "it": {"roma"}}
COUNTRIES = {"fr.search.yahoo.com": "US", "www.paris.com": "FR", "a.ch": "CH", "b.pl": "PL"}


def dictionary(language: str) -> Collection[str]:
    return WORDS.get(language, set())


def cities(language: str) -> Collection[str]:
    return CITIES.get(language, set())


def fitted(n_features: int = 60) -> CustomFeatures:
    return learned(CustomFeatures(n_features, COUNTRIES, dictionary, cities))


def learned(estimator: CustomFeatures) -> CustomFeatures:
    estimator.fit_transform(TRAINING, np.array(FRENCH))
    return estimator


def present(url: str, n_features: int = 60) -> dict[str, float]:
    estimator = fitted(n_features)
    row = estimator.transform([url])[0]
    names = estimator.get_feature_names_out()
    return {str(name): float(value) for name, value in zip(names, row, strict=True) if value}


def test_the_table_of_the_docstring_adds_up() -> None:
    table = str(CustomFeatures.__doc__).split("====\n")[2].split("====")[0]
    rows = re.findall(r"(\d+|-)\s+(\d+|-)$", table, re.MULTILINE)
    columns = zip(*rows, strict=True)
    assert [sum(int(each) for each in column if each != "-") for column in columns] == [60, 74]
    assert [len(set(names)) for names in FEATURES.values()] == [60, 74]


def test_a_country_code_elsewhere_is_a_feature_of_its_place() -> None:
    assert present("http://fr.search.yahoo.com/") == {
        "tld com": 1,
        "code fr before": 1,
        "ip en": 1,
    }
    assert present("http://x.com/de/at/index.html") == {"tld com": 1, "code de after": 1}


def test_the_top_level_domain_is_no_word_of_the_host() -> None:
    assert present("http://x.fr/") == {"tld fr": 1}
    assert present("http://x.net/net") == {
        "tld net": 1,
        "dictionary en after": 1,
        "dictionary en whole": 1,
    }


@pytest.mark.parametrize(
    ("url", "feature"),
    [
        ("http://x.DE:8080/", "tld de"),
        ("x.ch", "tld de"),
        ("http://x.edu./", "tld en"),
        ("http://user@x.ve?y", "tld es"),
        ("http://x.va#y", "tld it"),
        ("http://x.org/", "tld org"),
    ],
)
def test_a_top_level_domain_speaks_for_its_language(url: str, feature: str) -> None:
    assert present(url) == {feature: 1}


def test_words_and_cities_are_counted_by_place() -> None:
    found = present("http://haus-haus.berlin.pl/haus/house/roma")
    assert found == {
        "dictionary de before": 2,
        "dictionary de after": 1,
        "dictionary de whole": 3,
        "dictionary en after": 1,
        "dictionary en whole": 1,
        "city de before": 1,
        "city de whole": 1,
        "city it after": 1,
        "city it whole": 1,
        "hyphens before": 1,
        "hyphens whole": 1,
    }


def test_words_of_several_dictionaries_are_told_apart_in_2008() -> None:
    found = present("http://die-haus.pl/", 74)
    named = "dictionary de before", "only dictionary de before", "words before"
    assert [found[name] for name in named] == [2, 1, 2]
    assert "only dictionary en before" not in found


def test_words_learned_of_yes_and_no_are_counted() -> None:
    found = present("http://cheap.pl/recherche/voyageurs")
    assert found == {"trained no before": 1, "trained yes after": 2}


def test_a_training_url_is_not_looked_up_in_the_words_it_taught_itself() -> None:
    urls = [f"http://{at}.pl/voyageurs" for at in range(3)] + ["http://a.pl/"] * 3
    answers = np.arange(6) < 3
    estimator = CustomFeatures(60, None, dictionary, cities)
    column = FEATURES[60].index("trained yes after")
    # Two URLs are left to teach a word that three are asked for.
    assert estimator.fit_transform(urls, answers)[:, column].tolist() == [0] * 6
    assert estimator.transform(urls)[:, column].tolist() == [1] * 3 + [0] * 3


def test_the_country_of_a_server_speaks_its_language() -> None:
    assert present("http://www.paris.com/")["ip fr"] == 1
    assert present("http://A.ch:80/")["ip de"] == 1
    assert present("http://b.pl/") == {}, "no country of Table I"
    assert present("http://www.paris.com/", 74) == {"tld com": 1, "words before": 1}


@given(st.lists(st.text(max_size=60), max_size=5), st.sampled_from([60, 74]))
def test_every_text_has_features(urls: list[str], n_features: int) -> None:
    estimator = fitted(n_features)
    together = estimator.transform(urls)
    assert together.shape == (len(urls), n_features)
    assert together.dtype == np.float64
    assert (together >= 0).all()
    for row, url in enumerate(urls):
        assert (estimator.transform([url])[0] == together[row]).all()
        found = dict(zip(FEATURES[n_features], together[row], strict=True))
        for kind in ("hyphens", "dictionary de", "city it"):
            assert found[f"{kind} whole"] == found[f"{kind} before"] + found[f"{kind} after"]


def test_the_names_stand_for_features_with_the_real_dictionaries() -> None:
    assert vars(vectorizer("custom")) == vars(CustomFeatures(60))
    assert len(vectorizer("custom-2008").get_feature_names_out()) == 74
    assert "roma" in CustomFeatures().cities("it")
