"""The evidence of URLs, by small word lists, and the figures that follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.url_ceiling import KINDS, ceiling, is_half, kinds_of, named, with_constant
from benchmarks.url_words import WordLists, names_of
from classifiers.lab.datasets import LabelledUrl
from classifiers.lab.training.examples import FIVE
from classifiers.urls.model import UrlModel

LISTS = WordLists(
    {
        "de": {"wetter": 1e-4, "nachrichten": 1e-4, "haus": 1e-4, "news": 1e-5},
        "en": {"weather": 1e-4, "house": 1e-4, "news": 1e-4, "the": 1e-2},
        "fr": {"maison": 1e-4, "news": 1e-4},
    }
)


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("http://www.Wetter-Haus.co.uk:80/a/news%20der", ["wetter", "haus", "co"], ["news", "der"]),
        ("https://user@b.de?q=haus#top", [], ["haus", "top"]),
        ("b.com/index.html", [], []),
    ],
)
def test_the_words_of_a_url(url: str, host: list[str], path: list[str]) -> None:
    assert names_of(url) == (host, path)


def test_words_that_are_run_together_are_read_and_shared_ones_name_no_language() -> None:
    assert LISTS.language_of(["wetternachrichten"]) == "de"
    assert LISTS.language_of(["xkhousezq"]) == "en"
    assert LISTS.language_of(["news"]) is None  # English and French alike
    assert LISTS.language_of(["xkzq"]) is None
    assert LISTS.language_of([]) is None


@pytest.mark.parametrize(
    ("url", "language", "kind"),
    [
        ("http://weather.de/house", "de", "mark"),
        ("http://weather.com/de/", "de", "mark"),
        ("http://weather.com/wetter", "de", "path"),
        ("http://wetterhaus.com/house", "de", "host"),
        ("http://xkzq.com/house", "de", "other"),
        ("http://xkzq.fr/", "de", "other"),
        ("http://xkzq.com/news", "de", "none"),
    ],
)
def test_a_url_has_the_first_kind_of_evidence(url: str, language: str, kind: str) -> None:
    row = LabelledUrl(url, language, "document", "made")
    assert kinds_of([row], LISTS).tolist() == [kind]


def test_urls_without_evidence_get_the_better_constant_for_each_language() -> None:
    truth = np.eye(3, dtype=bool)[[0, 0, 0, 1, 1, 2]]
    is_evident = np.array([True, False, False, True, True, True])
    answers = with_constant(truth, is_evident)
    assert answers[1].tolist() == answers[2].tolist() == [True, False, False]
    assert answers[is_evident].tolist() == truth[is_evident].tolist()


def test_each_kind_tells_the_f1_that_its_mistakes_cost() -> None:
    truth = np.eye(2, dtype=bool)[[0, 0, 1, 1]]
    said = truth.copy()
    said[0], said[2] = [False, True], [True, True]
    found = ceiling(truth, said, np.array(["path", "none", "none", "mark"]))
    assert [found[name] for name in ("urls", "model", "oracle", "read")] == [4, 65.0, 80.0, 90.0]
    assert found["kinds"]["path"]["if_right"] == found["read"]
    shares = {kind: row["of_wrong"] for kind, row in found["kinds"].items()}
    assert shares == dict.fromkeys(KINDS, 0.0) | {"path": 50.0, "none": 50.0}
    assert found["kinds"]["none"]["wrong"] == 50.0
    assert found["kinds"]["host"]["wrong"] is None


def test_a_url_is_named_among_the_five_languages() -> None:
    urls = [f"http://www.example.{domain}/" for domain in ("co.uk", "de", "fr", "es", "it")]
    answers = named(UrlModel.load(), urls)
    assert answers.tolist() == np.eye(len(FIVE), dtype=bool).tolist()


def test_evidence_above_the_mean_of_the_others_says_yes() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.48, 0.48, 0.04]])
    assert is_half(np.log(shares)).tolist() == [[True, False, False], [True, True, False]]
