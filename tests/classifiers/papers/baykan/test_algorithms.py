import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import entropy
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.papers.baykan.algorithms import (
    NAMES,
    DecisionTree,
    PaperWeighting,
    algorithm,
    ask,
    feature_sets,
    label,
    parse,
)
from langfocus.classifiers.papers.baykan.grams import NAMES as FEATURE_SETS
from langfocus.classifiers.papers.baykan.similarity import (
    Markov,
    NaiveBayes,
    RankOrder,
    RelativeEntropy,
)
from langfocus.classifiers.tables.country_domains import TABLE_I

COUNTS = np.random.default_rng(0).poisson(0.7, (60, 12)).astype(np.float64)
IS_YES = (COUNTS[:, 0] + COUNTS[:, 1] > COUNTS[:, 2] + 0.5).astype(bool)


# The weighting


def test_weights_follow_the_formula_of_the_paper() -> None:
    counts = np.array([[2.0, 1, 0], [0, 3, 0], [0, 1, 0], [1, 1, 1]])
    weighted = PaperWeighting().fit_transform(csr_matrix(counts))
    factors = [math.log(4 / 3), math.log(4 / 5), math.log(4 / 2)]
    np.testing.assert_allclose(weighted.toarray(), counts * factors)
    fitted = PaperWeighting().fit(np.array([[1.0, 0], [1, 0], [5, 2], [0, 0]]))
    again = fitted.transform(np.array([[0.0, 3]]))
    np.testing.assert_allclose(again.toarray(), [[0, 3 * math.log(4 / 2)]])
    # A stored zero is not a URL with the feature.
    stored = csr_matrix((np.array([0.0, 1.0]), np.array([0, 0]), np.array([0, 1, 2])), (2, 1))
    np.testing.assert_allclose(PaperWeighting().fit(stored).factors_, [math.log(2 / 2)])


# The algorithms against other computations of the same


def test_the_papers_svm_has_hinge_loss_on_weights_that_are_not_scaled() -> None:
    weighting, svm = algorithm("svm-perf", "words").fit(COUNTS, IS_YES)
    assert (svm.loss, svm.C) == ("hinge", pytest.approx(1 / len(IS_YES)))
    # The solution minimises w.w / 2 + mean hinge loss, the bias being a weight too.
    rows = weighting.transform(COUNTS).toarray()
    signs = np.where(IS_YES, 1.0, -1.0)

    def objective(weights: np.ndarray, bias: float) -> float:
        slack = np.maximum(0, 1 - signs * (rows @ weights + bias))
        return float((weights @ weights + bias**2) / 2 + slack.mean())

    weights, bias = svm.coef_[0], float(svm.intercept_[0])
    least = objective(weights, bias)
    rng = np.random.default_rng(0)
    for _ in range(50):
        step = rng.normal(scale=0.05, size=len(weights) + 1)
        assert objective(weights + step[1:], bias + step[0]) > least - 1e-4


def test_classes_weigh_the_same_in_the_svm_however_many_rows_they_have() -> None:
    # A feature that 6 of 10 rows of Yes have and 12 of 30 of No: alone, No would always be safer.
    has_feature = np.array([1.0] * 6 + [0] * 4 + [1] * 12 + [0] * 18)
    features = np.column_stack([has_feature, 1 - has_feature])
    fitted = algorithm("svm", "custom").fit(features, [True] * 10 + [False] * 30)
    assert fitted.predict(features).tolist() == (has_feature == 1).tolist()


def test_naive_bayes_is_the_multinomial_one_on_counts() -> None:
    multinomial = MultinomialNB(alpha=1.0).fit(COUNTS, IS_YES).predict_joint_log_proba(COUNTS)
    scores = NaiveBayes().fit(csr_matrix(COUNTS), IS_YES).scores(csr_matrix(COUNTS))
    np.testing.assert_allclose(scores, multinomial[:, 1] - multinomial[:, 0])


def test_relative_entropy_is_the_difference_of_two_divergences() -> None:
    rows = COUNTS[COUNTS.sum(axis=1) > 0]
    yes, no = (COUNTS[chosen].sum(axis=0) + 1.0 for chosen in (IS_YES, ~IS_YES))
    expected = [entropy(row, no) - entropy(row, yes) for row in rows]
    fitted = RelativeEntropy().fit(COUNTS, IS_YES)
    np.testing.assert_allclose(fitted.scores(rows) / rows.sum(axis=1), expected, atol=1e-12)
    assert fitted.predict(csr_matrix((1, 12))).tolist() == [False], "a URL without features"


@pytest.mark.parametrize(("n_rows", "least"), [(26, 1), (260, 5), (2000, 20)])
def test_the_smallest_leaf_follows_the_number_of_training_rows(n_rows: int, least: int) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, 3))
    is_yes = features[:, 0] + rng.normal(size=n_rows) > 0
    fitted = DecisionTree().fit(features, is_yes)
    _, sizes = np.unique(fitted.apply(features), return_counts=True)
    assert fitted.criterion == "entropy"
    assert least <= sizes.min() < 2 * least + 2
    assert (fitted.predict(features) == is_yes).mean() > 0.6


# Markov chains


def markov(names: list[str]) -> Markov:
    chain = Markov()
    chain.names = names
    return chain


def test_a_markov_chain_scores_the_last_letter_given_those_before_it() -> None:
    names = ["aa", "ab", "ba", "bb"]
    counts = np.array([[3.0, 1, 0, 0], [0, 0, 2, 6]])
    fitted = markov(names).fit(counts, np.array([True, False]))
    yes = [4 / 6, 2 / 6, 1 / 2, 1 / 2]
    no = [1 / 2, 1 / 2, 3 / 10, 7 / 10]
    expected = np.log(yes) - np.log(no)
    np.testing.assert_allclose(fitted.weights_, expected)
    score = fitted.scores(np.array([[1.0, 0, 2, 0]]))
    np.testing.assert_allclose(score, [expected[0] + 2 * expected[2]])


def test_a_markov_chain_without_the_names_of_its_columns_is_refused() -> None:
    for names in ([], ["ab", "ba"], ["ab"] * 11 + ["abc"]):
        with pytest.raises(ValueError, match="12 columns needs its n-gram"):
            markov(names).fit(COUNTS, IS_YES)


# Ranks


def test_a_feature_out_of_the_profile_is_as_far_as_the_profile_is_long() -> None:
    counts = np.array([[5.0, 9, 1, 0], [0, 0, 3, 2]])
    fitted = RankOrder(size=2).fit(counts, np.array([True, False]))
    no, yes = fitted.ranks_
    np.testing.assert_array_equal(yes, [1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(no, [np.nan, np.nan, 0, 1])
    # Ranks of the URL: 0 for the second feature, 1 for the first, 2 for the fourth.
    scores = fitted.scores(csr_matrix(np.array([[2.0, 3, 0, 1], [0, 0, 0, 0], [1, 1, 0, 2]])))
    # Two features that are as frequent share the ranks 1 and 2 of the last URL.
    shared = (2 + 2 + 1) - (0.5 + 1.5 + 2)
    assert scores.tolist() == [(2 + 2 + 1) - (0 + 0 + 2), 0.0, shared]
    assert RankOrder().size == 400, "as in the paper"


# Names


def test_feature_sets_are_those_of_the_paper() -> None:
    custom = {"custom", "custom-2008"}
    assert set(feature_sets("dt")) == custom
    assert custom & set(feature_sets("ros")) == set()
    assert set(feature_sets("svm")) == set(FEATURE_SETS)
    assert "5-grams-from-url" in feature_sets("markov")
    for several in ("words", "custom", "allgrams-from-url", "3-4-grams-from-word"):
        assert several not in feature_sets("markov")
        with pytest.raises(StudyError, match="'markov' does not take the features"):
            algorithm("markov", several)


@pytest.mark.parametrize(
    ("name", "of_words", "of_custom"),
    [
        ("svm", "PaperWeighting Normalizer LinearSVC", "StandardScaler LinearSVC"),
        ("svm-perf", "PaperWeighting _MeanLossSVC", "_MeanLossSVC"),
        ("me", "LogisticRegression", "StandardScaler LogisticRegression"),
    ],
)
def test_counts_are_weighted_and_custom_made_features_scaled(
    name: str, of_words: str, of_custom: str
) -> None:
    for features, steps in (("words", of_words), ("custom", of_custom)):
        made = algorithm(name, features, seed=7)
        assert [type(each).__name__ for _, each in made.steps] == steps.split()
        assert made.steps[-1][1].random_state == (None if name == "me" else 7)
    assert type(algorithm("nb", "custom-2008")) is GaussianNB


@pytest.mark.parametrize(
    "name",
    ["svm", "svm:", "xyz:words", "svm:xyz", "dt:words", "markov:allgrams-from-word", "ip+ip", ""],
)
def test_names_of_no_classifier_are_refused(name: str) -> None:
    with pytest.raises(StudyError, match="classifier"):
        parse(name)
    assert label("cctld+") == "ccTLD+"
    assert label("ip+svm:allgrams-from-word") == "SVM allgrams + IP"


@pytest.mark.parametrize("name", NAMES)
def test_an_algorithm_judges_each_row_by_itself(name: str) -> None:
    features = feature_sets(name)[0]
    model = algorithm(name, features)
    if isinstance(model, Markov):
        model.names = [chr(97 + at) for at in range(12)]
    counts = COUNTS if features.startswith("custom") else csr_matrix(COUNTS)
    answers = model.fit(counts, IS_YES).predict(counts)
    assert answers.dtype == bool
    assert (answers == IS_YES).mean() > 0.6
    alone = [model.predict(counts[at : at + 1])[0] for at in range(len(IS_YES))]
    assert alone == answers.tolist()


# The baselines


def answers(name: str, urls: list[str], countries: dict[str, str] | None = None) -> dict[str, str]:
    """Language -> a digit for each URL: 1 is Yes."""
    found = {code: ask(name, code, urls, countries or {}) for code in TABLE_I}
    return {code: "".join(map(str, flags.astype(int))) for code, flags in found.items()}


def test_a_country_code_of_the_paper_is_the_language_it_lists_first() -> None:
    urls = ["http://a.ch/", "https://b.ca/de", "c.gov", "http://user@d.AT:80/x.fr", "http://e.va/"]
    expected = {"en": "01100", "de": "10010", "fr": "00000", "es": "00000", "it": "00001"}
    assert answers("cctld", urls) == expected


def test_com_and_org_are_english_with_plus_only_and_net_never_is() -> None:
    urls = ["http://a.com/", "http://a.org/", "http://a.net/", "http://a.uk/"]
    assert answers("cctld", urls)["en"] == "0001"
    assert answers("cctld+", urls) == answers("cctld", urls) | {"en": "1101"}


def test_the_country_of_the_server_decides_not_the_domain() -> None:
    urls = ["http://tagesschau.de/fr/", "http://www.lemonde.fr/", "http://example.com:8080/", ""]
    found = answers("ip", urls, {"tagesschau.de": "DE", "example.com": "fr"})
    assert (found["de"], found["fr"]) == ("1000", "0010")
    with pytest.raises(StudyError, match="countries"):
        ask("ip", "de", urls, None)
