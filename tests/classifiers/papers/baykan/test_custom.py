"""The custom-made features of URLs, with dictionaries of a few words."""

import re
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.papers.baykan.algorithms import vectorizer
from langfocus.classifiers.papers.baykan.custom import FEATURES, CustomFeatures

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


@pytest.mark.parametrize(
    ("url", "found"),
    [
        # A country code is a feature of its place; a top-level domain is no word of the host.
        ("http://fr.search.yahoo.com/", "tld com, code fr before, ip en"),
        ("http://x.com/de/at/index.html", "tld com, code de after"),
        ("http://x.net/net", "tld net, dictionary en after, dictionary en whole"),
        ("http://x.fr/", "tld fr"),
        ("http://x.DE:8080/", "tld de"),
        ("x.ch", "tld de"),
        ("http://x.edu./", "tld en"),
        ("http://user@x.ve?y", "tld es"),
        ("http://x.va#y", "tld it"),
        ("http://x.org/", "tld org"),
        # The country of a server speaks its language, if Table I has it.
        ("http://www.paris.com/", "tld com, ip fr"),
        ("http://A.ch:80/", "tld de, ip de"),
        ("http://b.pl/", ""),
        ("http://cheap.pl/recherche", "trained no before, trained yes after"),
    ],
)
def test_a_url_has_the_features_of_its_parts(url: str, found: str) -> None:
    assert present(url) == dict.fromkeys(filter(None, found.split(", ")), 1)


def test_words_and_cities_are_counted_by_place() -> None:
    found = present("http://haus-haus.berlin.pl/haus/house/roma")
    ones = "dictionary de after, dictionary en after, dictionary en whole, city de before, "
    ones += "city de whole, city it after, city it whole, hyphens before, hyphens whole"
    more = {"dictionary de before": 2, "dictionary de whole": 3}
    assert found == more | dict.fromkeys(ones.split(", "), 1)


def test_words_of_several_dictionaries_are_told_apart_in_2008() -> None:
    found = present("http://die-haus.pl/", 74)
    named = "dictionary de before", "only dictionary de before", "words before"
    assert [found[name] for name in named] == [2, 1, 2]
    assert "only dictionary en before" not in found
    assert present("http://www.paris.com/", 74) == {"tld com": 1, "words before": 1}


def test_a_training_url_is_not_looked_up_in_the_words_it_taught_itself() -> None:
    urls = [f"http://{at}.pl/voyageurs" for at in range(3)] + ["http://a.pl/"] * 3
    answers = np.arange(6) < 3
    estimator = CustomFeatures(60, None, dictionary, cities)
    column = FEATURES[60].index("trained yes after")
    # Two URLs are left to teach a word that three are asked for.
    assert estimator.fit_transform(urls, answers)[:, column].tolist() == [0] * 6
    assert estimator.transform(urls)[:, column].tolist() == [1] * 3 + [0] * 3


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
