"""The words of a URL, and what they do to a score."""

import numpy as np
import pytest

from classifiers.urls.model import UrlModel
from tests.classifiers.urls.test_model import small_model


@pytest.fixture(scope="module")
def model() -> UrlModel:
    return UrlModel.load()


def test_a_contribution_is_the_score_less_that_without_the_word(model: UrlModel) -> None:
    url = "http://x.com/zeitung/%C3%BCber-zeitung"
    found = {each.text: each.weight for each in model.explain(url, "de")}
    for word, without in {
        "zeitung": "http://x.com/0/%C3%BCber-0",
        "über": "http://x.com/zeitung/0-zeitung",
        "com": "http://x.0/zeitung/%C3%BCber-zeitung",
    }.items():
        score, less = model.score([url, without], "de")
        assert np.isclose(found[word], score - less)
    assert found["zeitung"] > 0


def test_the_strongest_words_come_first() -> None:
    model = small_model()
    every = model.explain("http://a.de/das/wetter/in/den/alpen", top=99)
    weights = [abs(each.weight) for each in every]
    assert len(weights) > 3
    assert weights == sorted(weights, reverse=True)
    assert model.explain("http://a.de/das/wetter/in/den/alpen", top=3) == every[:3]


def test_without_a_language_that_of_the_highest_score_is_explained() -> None:
    model = small_model()
    for url in ("http://zeitung.de/a", "http://journal.fr/b", ""):
        best = model.languages[int(model.scores([url])[0].argmax())]
        assert model.explain(url) == model.explain(url, best)


def test_a_language_without_a_classifier_has_no_contributions(model: UrlModel) -> None:
    language = next(code for code in model.named_languages if code not in model.languages)
    assert model.explain("http://nachrichten.de/", language) == []
