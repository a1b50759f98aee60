"""One calibrated answer: priors, evidence, and languages without a classifier."""

from collections.abc import Callable

import numpy as np
import pytest

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Evidence, Prior

NATS = {
    clues.key_of(clues.TOP, "cz"): (4, 0, 0),
    clues.key_of(clues.TOP, "ie"): (0, 2, 3),
    clues.key_of(clues.SEGMENT, "ga"): (0, 0, 8),
}


@pytest.fixture(scope="module")
def model() -> UrlModel:
    """Classifiers of Czech and English without any evidence; Irish has no classifier."""
    evidence = Evidence(
        ("cs", "en", "ga"),
        np.eye(2, 3, dtype=np.float32),
        np.zeros(3, np.float32),
        np.array(sorted(NATS), np.uint64),
        np.array([NATS[key] for key in sorted(NATS)], np.float16),
    )
    weights, ones = np.zeros((2, 256), np.int8), np.ones(2, np.float32)
    return UrlModel(("cs", "en"), weights, ones, 0 * ones, evidence)


def test_a_language_without_a_classifier_is_named_by_its_clues(model: UrlModel) -> None:
    answer = model.identify("http://rte.ie/ga/", Prior.uniform())
    assert answer.language == "ga"
    assert answer.confidence > 0.99
    assert set(answer.scores) == {"cs", "en"}


def test_the_prior_decides_what_the_evidence_leaves_open(model: UrlModel) -> None:
    url = "http://rte.ie/"
    assert model.identify(url, Prior.uniform()).language == "ga"
    assert model.identify(url, Prior.web()).language == "en"
    assert model.identify(url).language == "en"
    assert model.identify(url, Prior.crawl("ga")).language == "ga"
    assert model.identify("http://psp.cz/", Prior({"cs": 1, "ga": 1})).language == "cs"


def test_evidence_and_the_logarithm_of_a_prior_make_the_probabilities(model: UrlModel) -> None:
    urls = ["http://psp.cz/", "http://rte.ie/ga", "http://nic.com/"]
    for prior in (Prior.uniform(), Prior.web(), Prior.crawl("cs", 0.3)):
        logits = np.log(model.shares(urls, Prior.uniform())) + prior.log_of(model.named_languages)
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert np.allclose(shares, model.shares(urls, prior), atol=1e-5)
        codes, confidences = model.name(urls, prior)
        assert np.array_equal(codes[:2], shares.argmax(axis=1)[:2])
        assert np.allclose(confidences[:2], shares.max(axis=1)[:2], atol=1e-4)


def test_a_url_that_says_nothing_is_named_nothing_also_in_a_large_batch(model: UrlModel) -> None:
    urls = ["http://psp.cz/", "http://rte.ie/ga", "http://1.2.3.4/", "", "http://x.xx/"]
    codes, confidences = model.name(urls * 3000)
    assert codes.tolist() == [0, 2, -1, -1, -1] * 3000
    assert confidences.tolist() == [*confidences[:2].tolist(), 0, 0, 0] * 3000
    assert np.allclose(model.shares(["http://1.2.3.4/"], Prior.uniform()), 1 / 3, atol=1e-5)


def test_shares_of_a_crawl_are_those_that_were_asked_for() -> None:
    codes = ("cs", "en", "ga")
    assert np.exp(Prior.crawl("ga", 0.25).log_of([*codes, "de", "fr", "ru"]))[2] > 0.25
    assert np.exp(Prior.uniform().log_of(codes)).tolist() == pytest.approx([1 / 3] * 3)
    assert np.isneginf(Prior({"cs": 1}).log_of(codes)).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Prior({"xx": 1.0}), LanguageError, "not a known language"),
        (lambda: Prior({"de": -1.0}), ValueError, "must be a share"),
        (lambda: Prior({"de": float("nan")}), ValueError, "must be a share"),
        (lambda: Prior({}), ValueError, "above 0"),
        (lambda: Prior.crawl("de", 1.0), ValueError, "between 0 and 1"),
        (lambda: Prior({"de": 1.0}).log_of(["cs"]), ValueError, "rules out"),
    ],
)
def test_a_prior_that_is_none_is_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()
