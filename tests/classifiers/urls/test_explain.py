"""The named features of a URL, and what they add to a score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.urls.explain import explain, features_of
from classifiers.urls.model import UrlModel
from tests.classifiers.urls.test_model import small_parameters
from tests.classifiers.urls.test_ngrams import urls


def named(url: str, kind: str) -> list[str]:
    return sorted(each.text for each in features_of(url, 17) if each.kind == kind)


def test_features_are_named_as_a_person_reads_them() -> None:
    url = "http://www.Wetter.co.uk:80/de/index.html"
    assert named(url, "gram") == sorted(
        "_we wet ett tte ter er_ _wet wett ette tter ter_ _wett wette etter tter_ "
        "_wette wetter etter_ _wetter wetter_ _co co_ _co_ _de de_ _de_".split()
    )
    assert named(url, "word") == ["wetter"]
    assert named(url, "domain") == [".co.uk", ".uk"]
    assert named(url, "short") == [".co/ in host", "/de/"]


@pytest.mark.parametrize(
    ("url", "domains"),
    [
        ("//www.dw.de/", [".de"]),
        ("http://пример.РФ/", [".рф"]),
        ("http://xn--e1afmkfd.xn--p1ai/", [".рф"]),
        ("http://x.%D0%BF%D1%80.%D0%A0%D0%A4/", [".пр.рф", ".рф"]),
        ("http://a.de@b.fr\\c.it", [".fr"]),
        ("http://localhost/a.de", []),
        ("http://www.de./", [".de"]),
    ],
)
def test_the_top_level_domain_is_read_in_every_spelling(url: str, domains: list[str]) -> None:
    assert named(url, "domain") == domains


def test_letters_beyond_ascii_and_their_blocks_are_named() -> None:
    assert named("http://a.com/%D0%9F%D0%B8", "letter") == ["и", "п"]
    assert named("http://a.com/%D0%9F%D0%B8", "block") == ["U+0400", "U+0400"]


def test_short_words_keep_their_delimiters_and_their_place() -> None:
    assert named("http://de.example.com/?lang=en", "short") == ["/de. in host", "=en/"]


@given(urls, st.sampled_from(["de", "fr"]))
@settings(max_examples=150, deadline=None)
def test_contributions_and_the_intercept_make_up_the_score(url: str, language: str) -> None:
    model = UrlModel(small_parameters())
    found = explain(model, url, language, top=None)
    intercept = model.parameters.intercepts[model.languages.index(language)]
    total = sum(each.weight for each in found) + float(intercept)
    assert np.isclose(total, model.score([url], language)[0], atol=1e-4)


def test_the_strongest_come_first_and_repeated_features_are_one() -> None:
    model = UrlModel(small_parameters())
    every = explain(model, "http://a.de/wetter/wetter", top=None)
    assert [abs(each.weight) for each in every] == sorted(
        (abs(each.weight) for each in every), reverse=True
    )
    assert len({(each.kind, each.text) for each in every}) == len(every)
    assert explain(model, "http://a.de/wetter/wetter", top=3) == every[:3]


def test_without_a_language_that_of_the_highest_score_is_explained() -> None:
    model = UrlModel(small_parameters())
    for url in ("http://zeitung.de/a", "http://journal.fr/b", ""):
        best = model.languages[int(model.scores([url])[0].argmax())]
        assert explain(model, url) == explain(model, url, best)


def test_a_language_without_a_classifier_has_no_contributions() -> None:
    model = UrlModel.load()
    language = next(code for code in model.named_languages if code not in model.languages)
    assert explain(model, "http://nachrichten.de/", language) == []
