"""What a URL says about one language: log-odds, decision value, and its marks."""

import numpy as np
import pytest

from langfocus.classifiers.urls.facts import UrlFacts
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Prior

MODEL = UrlModel.load()
URLS = [
    "http://www.zeitung-bremen.de/nachrichten/heute.html",
    "http://www.lemonde.fr/fr/",
    "http://пример.рф/новости?lang=de",
    "http://a.com/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/x_de.html",
    "",
    "no url",
    "http://example.com/",
]


def marks(urls: list[str], language: str) -> list[tuple[float, ...]]:
    return [tuple(row) for row in UrlFacts(MODEL, language).of(urls)[:, 2:].tolist()]


@pytest.mark.parametrize("language", ["de", "ru", "is", "eo"])
def test_the_facts_are_the_models_answer_its_decision_value_and_the_marks(language: str) -> None:
    facts = UrlFacts(MODEL, language).of(URLS)
    shares = MODEL.shares(URLS, Prior.crawl(language))
    share = shares[:, MODEL.named_languages.index(language)].astype(np.float64)
    odds = np.log(share / (1 - share))
    assert facts[:, 0] == pytest.approx(np.clip(odds, -8, 8), abs=2e-3)
    if language in MODEL.languages:
        assert facts[:, 1].tolist() == np.clip(MODEL.score(URLS, language), -3, 3).tolist()
    alone = [UrlFacts(MODEL, language).of([url])[0].tolist() for url in URLS]
    assert facts.tolist() == alone


def test_a_language_without_a_classifier_has_no_decision_value() -> None:
    facts = UrlFacts(MODEL, "eu")
    assert (facts.is_named, facts.has_classifier) == (True, False)
    assert facts.of(["http://a.eus/"])[0, 1:].tolist() == [0, 1, 0]


def test_a_language_that_is_not_named_has_the_marks_of_codes_alone() -> None:
    facts = UrlFacts(MODEL, "vo")
    assert (facts.is_named, facts.has_classifier) == (False, False)
    found = facts.of(["http://a.de/vo/", "http://a.com/de/", "http://a.com/x/"])
    assert found.tolist() == [[0, 0, 0, 1], [0, 0, 0, -1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://www.example.de/", (1, 0)),
        ("http://www.example.at/", (1, 0)),
        ("http://www.example.fr/", (-1, 0)),
        ("http://www.example.com/", (0, 0)),
        ("http://example.com/de/seite.html", (0, 1)),
        ("http://de.example.com/", (0, 1)),
        ("http://example.com/de-AT/", (0, 1)),
        ("http://example.com/seite?lang=de", (0, 1)),
        ("http://example.com/seite_de.html", (0, 1)),
        ("http://example.com/fr/", (0, -1)),
        ("http://example.com/seite?q=fr", (0, 0)),
        ("http://example.com/de/en/", (0, 1)),
        ("http://example.de/en/", (1, -1)),
        ("http://example.com/deu/", (0, 0)),
    ],
)
def test_marks_of_german_speak_for_it_and_those_of_others_against_it(
    url: str, found: tuple[int, int]
) -> None:
    assert marks([url], "de") == [found]


def test_a_top_level_domain_in_any_spelling_has_the_same_mark() -> None:
    urls = ["http://a.ru/", "http://a.рф/", "http://a.xn--p1ai/"]
    assert marks(urls, "ru") == [(1, 0)] * 3
    assert marks(urls, "uk") == [(-1, 0)] * 3


def test_a_language_unknown_to_the_project_has_its_code_as_a_mark() -> None:
    assert UrlFacts(MODEL, "xyz").of([]).shape == (0, 4)
    assert marks(["http://a.com/xyz/", "http://a.com/de/"], "xyz") == [(0, 1), (0, -1)]
