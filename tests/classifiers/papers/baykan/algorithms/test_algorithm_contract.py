"""One suite for all classifiers of matrices, scikit-learn's own, and one for those of URLs."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from classifiers.papers.baykan.algorithms import (
    BestPerLanguage,
    CcTld,
    CcTldPlus,
    DecisionTree,
    FeatureClassifier,
    GaussianBayes,
    Ip,
    Markov,
    MaximumEntropy,
    NaiveBayes,
    PaperSupportVectors,
    PaperWeighting,
    RankOrder,
    RelativeEntropy,
    SupportVectors,
    both,
    classifier,
    either,
)
from classifiers.papers.baykan.algorithms.naming import NAMES, feature_sets
from classifiers.papers.baykan.features.custom import CustomFeatures

MATRIX_LEVEL = [
    SupportVectors(),
    SupportVectors("scaling"),
    PaperSupportVectors(),
    NaiveBayes(),
    GaussianBayes(),
    MaximumEntropy(),
    MaximumEntropy(scaling=True),
    DecisionTree(),
    RelativeEntropy(),
    RankOrder(),
    Markov(),
    PaperWeighting(),
]
URLS = [
    f"http://www.{word}{at}.{domain}/{word}-{other}.html"
    for at, (word, other, domain) in enumerate(
        [
            ("wetter", "nachrichten", "de"),
            ("straße", "zeitung", "com"),
            ("gemeinde", "verein", "at"),
            ("schule", "urlaub", "de"),
            ("weather", "news", "com"),
            ("street", "paper", "co.uk"),
            ("school", "holiday", "org"),
            ("town", "club", "com"),
        ]
        * 4
    )
]
IS_GERMAN = [True, True, True, True, False, False, False, False] * 4
GARBAGE = ["", " ", "://", "http://", "%%%", "\x00\ud800", "http://[::1", "a" * 5000, "日本語"]
COUNTRIES = {f"www.{word}{at}.de": "DE" for at in range(32) for word in ("wetter", "schule")}


def country_of(host: str) -> str | None:
    return COUNTRIES.get(host)


def dictionary(language: str) -> set[str]:
    return {"de": {"wetter", "schule", "urlaub"}, "en": {"weather", "school"}}.get(language, set())


def over_custom_features(algorithm: Any) -> Any:
    vectorizer = CustomFeatures(countries=country_of, dictionary=dictionary, cities=dictionary)
    return FeatureClassifier(vectorizer, algorithm)


def named(name: str) -> Any:
    return classifier(name, "de", countries=country_of)


URL_LEVEL: dict[str, Callable[[], Any]] = {
    "cctld": lambda: CcTld("de"),
    "cctld+": lambda: CcTldPlus("de"),
    "ip": lambda: Ip("de", country_of),
    "svm:words": lambda: named("svm:words"),
    "svm:allgrams-from-word": lambda: named("svm:allgrams-from-word"),
    "svm-perf:words": lambda: named("svm-perf:words"),
    "nb:3-grams-from-url": lambda: named("nb:3-grams-from-url"),
    "me:words": lambda: named("me:words"),
    "re:allgrams-from-url": lambda: named("re:allgrams-from-url"),
    "ros:3-grams-from-word": lambda: named("ros:3-grams-from-word"),
    "markov:3-grams-from-url": lambda: named("markov:3-grams-from-url"),
    "markov:1-grams-from-url": lambda: named("markov:1-grams-from-url"),
    "dt:custom": lambda: over_custom_features(DecisionTree(smallest_leaf=2)),
    "svm:custom": lambda: over_custom_features(SupportVectors("scaling")),
    "ip+svm:words": lambda: named("ip+svm:words"),
    "both": lambda: both(CcTld("de"), named("nb:words")),
    "best": lambda: BestPerLanguage([("cctld", CcTld("de")), ("nb", named("nb:words"))]),
}


def scikit_learn_checks() -> list[Any]:
    return [
        pytest.param(estimator, check, id=f"{_label(estimator)}-{_label(check)}")
        for each in MATRIX_LEVEL
        for estimator, check in estimator_checks_generator(each)
    ]


def _label(of: Any) -> str:
    text = getattr(of, "func", of)
    return re.sub(r"\s+", "", getattr(text, "__name__", repr(text)))


@pytest.mark.parametrize(("estimator", "check"), scikit_learn_checks())
def test_matrix_level_estimators_pass_scikit_learns_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SkipTestWarning)
        check(estimator)


@pytest.fixture(params=URL_LEVEL)
def unfitted(request: pytest.FixtureRequest) -> Any:
    return URL_LEVEL[request.param]()


def test_scores_are_positive_exactly_where_the_answer_is_yes(unfitted: Any) -> None:
    fitted = unfitted.fit(URLS, IS_GERMAN)
    scores = fitted.decision_function(URLS + GARBAGE)
    decisions = fitted.predict(URLS + GARBAGE)
    assert scores.shape == (len(URLS + GARBAGE),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert decisions.dtype == np.bool_
    assert decisions.tolist() == (scores > 0).tolist()
    assert fitted.score(URLS, IS_GERMAN) > 0.6


def test_a_fitted_classifier_is_the_same_after_being_saved(unfitted: Any) -> None:
    fitted = unfitted.fit(URLS, IS_GERMAN)
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    again = joblib.load(file)
    np.testing.assert_array_equal(again.decision_function(URLS), fitted.decision_function(URLS))


def test_a_copy_fitted_on_the_same_urls_scores_the_same(unfitted: Any) -> None:
    copy = clone(unfitted).fit(URLS, IS_GERMAN)
    expected = unfitted.fit(URLS, IS_GERMAN).decision_function(URLS)
    np.testing.assert_array_equal(copy.decision_function(URLS), expected)
    np.testing.assert_array_equal(copy.fit(URLS, IS_GERMAN).decision_function(URLS), expected)


def test_fitting_changes_no_parameter(unfitted: Any) -> None:
    before = repr(unfitted.get_params())
    unfitted.fit(URLS, IS_GERMAN)
    assert repr(unfitted.get_params()) == before


def test_one_url_scores_as_it_does_among_others(unfitted: Any) -> None:
    fitted = unfitted.fit(URLS, IS_GERMAN)
    alone = [fitted.decision_function([url])[0] for url in URLS[:8]]
    np.testing.assert_allclose(alone, fitted.decision_function(URLS)[:8], rtol=1e-9)


def test_a_bare_string_is_refused(unfitted: Any) -> None:
    with pytest.raises(TypeError, match="one string"):
        unfitted.fit("http://a.de/", [True])
    fitted = unfitted.fit(URLS, IS_GERMAN)
    with pytest.raises(TypeError, match="one string"):
        fitted.predict("http://a.de/")
    with pytest.raises(TypeError, match="not int"):
        fitted.predict([1])


def test_no_urls_are_refused(unfitted: Any) -> None:
    with pytest.raises(ValueError, match="at least one URL"):
        unfitted.fit([], [])
    fitted = unfitted.fit(URLS, IS_GERMAN)
    with pytest.raises(ValueError, match="at least one URL"):
        fitted.decision_function([])


@pytest.mark.parametrize(
    "name", [each for each in URL_LEVEL if "cctld" not in each and each != "ip"]
)
def test_what_learns_refuses_urls_without_two_classes_and_any_two_will_do(name: str) -> None:
    unfitted = URL_LEVEL[name]()
    with pytest.raises(NotFittedError):
        unfitted.predict(URLS)
    with pytest.raises(ValueError, match="as many classes"):
        unfitted.fit(URLS, IS_GERMAN[:-1])
    for labels in (["de"] * len(URLS), ["de", "en", "fr", "es"] * 8):
        with pytest.raises(ValueError, match="expected two classes"):
            unfitted.fit(URLS, labels)
    labels = ["yes" if each else "no" for each in IS_GERMAN]
    named_classes = unfitted.fit(URLS, labels).predict(URLS)
    flags = unfitted.fit(URLS, IS_GERMAN).predict(URLS)
    assert (named_classes == "yes").tolist() == flags.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_is_for_some_feature_sets(name: str) -> None:
    assert feature_sets(name)


def test_one_classifier_alone_decides_with_either_and_both() -> None:
    nb = named("nb:words")
    expected = clone(nb).fit(URLS, IS_GERMAN).decision_function(URLS)
    for join in (either, both):
        scores = join(nb).fit(URLS, IS_GERMAN).decision_function(URLS)
        np.testing.assert_array_equal(scores, expected)
