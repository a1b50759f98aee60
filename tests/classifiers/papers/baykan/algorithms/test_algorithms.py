import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_matrix
from scipy.stats import entropy, rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from classifiers.errors import AlgorithmError, ClassifierError, LanguageError
from classifiers.papers.baykan.algorithms import (
    BASELINES,
    NAMES,
    BestPerLanguage,
    CcTld,
    DecisionTree,
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
    algorithm,
    best_per_language,
    both,
    classifier,
    either,
    feature_sets,
)
from classifiers.papers.baykan.algorithms.similarity import row_ranks
from classifiers.papers.baykan.features.vectors import NAMES as FEATURE_SETS

COUNTS = np.random.default_rng(0).poisson(0.7, (60, 12)).astype(np.float64)
IS_YES = (COUNTS[:, 0] + COUNTS[:, 1] > COUNTS[:, 2] + 0.5).astype(bool)
MATRICES = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 4)
)


class Fixed(CcTld):
    """Yes for the URLs that have a word in them, with a score of its own."""

    def __init__(self, word: str, score: float = 1.0) -> None:
        self.word = word
        self.score_of_yes = score

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"word": self.word, "score": self.score_of_yes}

    def _scores(self, urls: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([self.score_of_yes if self.word in url else -0.5 for url in urls])


# The weighting


def test_weights_follow_the_formula_of_the_paper() -> None:
    counts = np.array([[2.0, 1, 0], [0, 3, 0], [0, 1, 0], [1, 1, 1]])
    weighted = PaperWeighting().fit_transform(csr_matrix(counts))
    factors = [math.log(4 / 3), math.log(4 / 5), math.log(4 / 2)]
    np.testing.assert_allclose(weighted.toarray(), counts * factors)


def test_the_numbers_of_urls_are_those_it_was_fitted_on() -> None:
    fitted = PaperWeighting().fit(np.array([[1.0, 0], [1, 0], [5, 2], [0, 0]]))
    again = fitted.transform(np.array([[0.0, 3]]))
    np.testing.assert_allclose(again, [[0, 3 * math.log(4 / 2)]])


def test_a_stored_zero_is_not_a_url_with_the_feature() -> None:
    stored = csr_matrix((np.array([0.0, 1.0]), np.array([0, 0]), np.array([0, 1, 2])), (2, 1))
    np.testing.assert_allclose(PaperWeighting().fit(stored).factors_, [math.log(2 / 2)])


# The algorithms against other computations of the same


def test_the_svm_weights_and_brings_to_length_one_only_where_it_is_told() -> None:
    steps = [type(each).__name__ for each in SupportVectors().fit(COUNTS, IS_YES).model_]
    assert steps == ["PaperWeighting", "Normalizer", "LinearSVC"]
    steps = [type(each).__name__ for each in SupportVectors("scaling").fit(COUNTS, IS_YES).model_]
    assert steps == ["StandardScaler", "LinearSVC"]
    with pytest.raises(ValueError, match="preparation"):
        SupportVectors("squaring").fit(COUNTS, IS_YES)  # type: ignore[arg-type]  # that is the test


def test_the_papers_svm_has_hinge_loss_on_weights_that_are_not_scaled() -> None:
    fitted = PaperSupportVectors().fit(COUNTS, IS_YES)
    weighting, svm = fitted.model_
    assert type(weighting).__name__ == "PaperWeighting"
    assert (svm.loss, svm.C) == ("hinge", pytest.approx(1 / len(IS_YES)))
    # The solution minimises w.w / 2 + mean hinge loss, the bias being a weight too.
    rows = np.asarray(weighting.transform(COUNTS))
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
    fitted = SupportVectors("scaling").fit(features, [True] * 10 + [False] * 30)
    assert fitted.predict(features).tolist() == (has_feature == 1).tolist()


def test_naive_bayes_is_the_multinomial_one_on_counts_and_the_normal_one_on_features() -> None:
    multinomial = MultinomialNB(alpha=1.0).fit(COUNTS, IS_YES).predict_joint_log_proba(COUNTS)
    scores = NaiveBayes().fit(csr_matrix(COUNTS), IS_YES).decision_function(csr_matrix(COUNTS))
    np.testing.assert_allclose(scores, multinomial[:, 1] - multinomial[:, 0])
    normal = GaussianNB(var_smoothing=1e-3).fit(COUNTS, IS_YES).predict_joint_log_proba(COUNTS)
    scores = GaussianBayes().fit(COUNTS, IS_YES).decision_function(COUNTS)
    np.testing.assert_allclose(scores, normal[:, 1] - normal[:, 0])


def test_maximum_entropy_meets_its_constraints() -> None:
    fitted = MaximumEntropy(variance=1e6).fit(COUNTS, IS_YES)
    expected = COUNTS.T @ (1 / (1 + np.exp(-fitted.decision_function(COUNTS))))
    seen = COUNTS.T @ IS_YES
    np.testing.assert_allclose(expected, seen, atol=0.2)
    by_another_way = LogisticRegression(C=1.0, tol=1e-6).fit(COUNTS, IS_YES)
    np.testing.assert_allclose(
        MaximumEntropy().fit(COUNTS, IS_YES).decision_function(COUNTS),
        by_another_way.decision_function(COUNTS),
        atol=0.05,
    )


@given(
    hnp.arrays(np.int64, (12, 5), elements=st.integers(0, 4)),
    st.sampled_from([0.001, 0.5, 1.0]),
)
def test_relative_entropy_and_naive_bayes_decide_alike_if_classes_are_equal(
    counts: Any, smoothing: float
) -> None:
    is_yes = np.arange(12) % 2 == 0
    bayes = NaiveBayes(smoothing).fit(counts, is_yes).decision_function(counts)
    entropies = RelativeEntropy(smoothing).fit(counts, is_yes).decision_function(counts)
    # The score of naive Bayes is that of relative entropy times the number of features.
    assert np.allclose(bayes, entropies * counts.sum(axis=1), rtol=1e-12, atol=0)
    assert ((bayes > 0) == (entropies > 0)).all()


def test_relative_entropy_is_the_difference_of_two_divergences() -> None:
    rows = COUNTS[COUNTS.sum(axis=1) > 0]
    yes, no = (COUNTS[chosen].sum(axis=0) + 1.0 for chosen in (IS_YES, ~IS_YES))
    expected = [entropy(row, no) - entropy(row, yes) for row in rows]
    scores = RelativeEntropy().fit(COUNTS, IS_YES).decision_function(rows)
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_a_url_without_features_is_no_for_relative_entropy() -> None:
    fitted = RelativeEntropy().fit(csr_matrix(COUNTS), IS_YES)
    assert fitted.decision_function(csr_matrix((1, 12))).tolist() == [0.0]
    assert fitted.predict(csr_matrix((1, 12))).tolist() == [False]


@given(st.integers(1, 9))
def test_relative_entropy_does_not_depend_on_the_length_of_a_url(times: int) -> None:
    fitted = RelativeEntropy().fit(COUNTS, IS_YES)
    np.testing.assert_allclose(
        fitted.decision_function(COUNTS * times), fitted.decision_function(COUNTS)
    )


def test_the_tree_lowers_the_entropy_and_scores_the_share_of_its_leaf() -> None:
    fitted = DecisionTree(smallest_leaf=10).fit(COUNTS, IS_YES)
    tree = fitted.model_
    assert tree.criterion == "entropy"
    leaves = tree.apply(COUNTS)
    for leaf in set(leaves.tolist()):
        here = leaves == leaf
        assert here.sum() >= 10
        expected = IS_YES[here].mean() - 0.5
        np.testing.assert_allclose(fitted.decision_function(COUNTS[here]), expected)


def test_pruning_and_a_largest_depth_make_the_tree_smaller() -> None:
    whole = DecisionTree(smallest_leaf=1).fit(COUNTS, IS_YES).model_
    pruned = DecisionTree(smallest_leaf=1, pruning=0.2).fit(COUNTS, IS_YES).model_
    shallow = DecisionTree(smallest_leaf=1, largest_depth=2).fit(COUNTS, IS_YES).model_
    assert pruned.tree_.node_count < whole.tree_.node_count
    assert shallow.get_depth() == 2


@pytest.mark.parametrize(("n_rows", "least"), [(26, 1), (260, 5), (2000, 20)])
def test_the_smallest_leaf_follows_the_number_of_training_rows(n_rows: int, least: int) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, 3))
    is_yes = features[:, 0] + rng.normal(size=n_rows) > 0
    fitted = DecisionTree().fit(features, is_yes)
    _, sizes = np.unique(fitted.model_.apply(features), return_counts=True)
    assert least <= sizes.min() < 2 * least + 2
    assert (fitted.predict(features) == is_yes).mean() > 0.6


# Markov chains


def test_a_markov_chain_scores_the_last_letter_given_those_before_it() -> None:
    names = ["aa", "ab", "ba", "bb"]
    counts = np.array([[3.0, 1, 0, 0], [0, 0, 2, 6]])
    fitted = Markov(2, names).fit(counts, [True, False])
    yes = [4 / 6, 2 / 6, 1 / 2, 1 / 2]
    no = [1 / 2, 1 / 2, 3 / 10, 7 / 10]
    expected = np.log(yes) - np.log(no)
    np.testing.assert_allclose(fitted.weights_, expected)
    score = fitted.decision_function(np.array([[1.0, 0, 2, 0]]))
    np.testing.assert_allclose(score, [expected[0] + 2 * expected[2]])


@given(st.lists(st.text("abc", min_size=3, max_size=3), min_size=1, unique=True), st.integers(0, 9))
def test_probabilities_after_the_same_letters_sum_to_one_at_most(
    names: list[str], seed: int
) -> None:
    counts = np.random.default_rng(seed).poisson(1.0, (2, len(names))).astype(float)
    chain = Markov(3, names, smoothing=0.5).fit(counts, [False, True])
    letters = len({name[-1] for name in names})
    after: dict[str, float] = {}
    for name, value in zip(names, chain._log_probabilities(counts[1]), strict=True):
        after[name[:2]] = after.get(name[:2], 0.0) + math.exp(value)
    for prefix, total in after.items():
        complete = sum(name.startswith(prefix) for name in names) == letters
        assert total <= 1 + 1e-9
        if complete:
            assert total == pytest.approx(1.0)


def test_a_markov_chain_says_which_names_it_lacks() -> None:
    with pytest.raises(ValueError, match="names of the 5-grams are needed"):
        algorithm("markov", "5-grams-from-url").fit(COUNTS, IS_YES)
    with pytest.raises(ValueError, match="2 names were given for 12 columns"):
        Markov(2, ["ab", "ba"]).fit(COUNTS, IS_YES)
    with pytest.raises(ValueError, match="'abc' is not a 2-gram"):
        Markov(2, ["ab"] * 11 + ["abc"]).fit(COUNTS, IS_YES)


# Ranks


@given(MATRICES)
def test_equal_counts_share_the_middle_of_their_ranks(counts: np.ndarray[Any, Any]) -> None:
    rows, ranks = row_ranks(csr_matrix(counts.astype(float)))
    for row, line in enumerate(counts):
        expected = rankdata(-line[line > 0]) - 1
        np.testing.assert_allclose(ranks[rows == row], expected)


def test_the_profile_keeps_the_most_frequent_features_in_their_order() -> None:
    counts = np.array([[5.0, 9, 1, 0], [0, 0, 3, 2]])
    no, yes = RankOrder(size=2).fit(counts, [True, False]).ranks_
    np.testing.assert_array_equal(yes, [1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(no, [np.nan, np.nan, 0, 1])


def test_a_feature_out_of_the_profile_is_as_far_as_the_profile_is_long() -> None:
    counts = np.array([[5.0, 9, 1, 0], [0, 0, 3, 2]])
    fitted = RankOrder(size=2).fit(counts, [True, False])
    # Ranks of the URL: 0 for the second feature, 1 for the first, 2 for the fourth.
    scores = fitted.decision_function(np.array([[2.0, 3, 0, 1], [0, 0, 0, 0]]))
    assert scores.tolist() == [(2 + 2 + 1) - (0 + 0 + 2), 0.0]


def test_ranks_compare_four_hundred_features_as_in_the_paper() -> None:
    assert RankOrder().size == 400


# Combinations


def test_either_is_no_only_if_all_say_no_and_both_is_yes_only_if_all_say_yes() -> None:
    urls = ["-", "a", "b", "ab"]
    first, second = Fixed("a", 0.3), Fixed("b", 2.0)
    joined = either(first, second).fit(urls, [False, True, True, True])
    assert joined.predict(urls).tolist() == [False, True, True, True]
    assert joined.decision_function(urls).tolist() == [-0.5, 0.3, 2.0, 2.0]
    joined_strictly = both(first, second).fit(urls, [False, False, False, True])
    assert joined_strictly.predict(urls).tolist() == [False, False, False, True]
    assert joined_strictly.decision_function(urls).tolist() == [-0.5, -0.5, -0.5, 0.3]


def test_the_ip_baseline_raises_the_recall_of_what_it_is_joined_with() -> None:
    urls = ["http://notizie.it/", "http://a.com/", "http://news.com/", "http://b.org/x"]
    is_italian = [True, True, False, False]
    joined = classifier("ip+nb:words", "it", countries={"a.com": "IT"}.get)
    assert joined.fit(urls, is_italian).predict(["http://a.com/news"]).tolist() == [True]
    learned, by_address = joined.get_params()["classifiers"]
    assert learned.algorithm.smoothing == 1.0
    assert isinstance(by_address, Ip)


def test_the_best_candidate_is_chosen_on_urls_it_has_not_seen_and_fitted_on_all() -> None:
    class ByHeart(Fixed):
        def fit(self, urls: Any, y: Any = None) -> Any:
            self.seen_ = {url for url, yes in zip(urls, y, strict=True) if yes}
            return self

        def _scores(self, urls: list[str]) -> Any:
            return np.array([1.0 if url in self.seen_ else -1.0 for url in urls])

    urls = [f"http://{at}{'a' if at % 2 else 'b'}" for at in range(30)]
    is_yes = [at % 2 == 1 for at in range(30)]
    best = BestPerLanguage([("by heart", ByHeart("")), ("rule", Fixed("a"))]).fit(urls, is_yes)
    assert best.chosen_ == "rule"
    assert best.f1_ == {"by heart": 0.0, "rule": 1.0}
    assert best.predict(["xa", "xb"]).tolist() == [True, False]
    best = BestPerLanguage([("by heart", ByHeart(""))]).fit(urls, is_yes)
    assert best.classifier_.seen_ == set(urls[1::2])


def test_the_first_of_equal_candidates_is_chosen_and_one_is_needed() -> None:
    urls, is_yes = ["a", "b"] * 6, [True, False] * 6
    best = BestPerLanguage([("first", Fixed("a")), ("second", Fixed("a"))]).fit(urls, is_yes)
    assert best.chosen_ == "first"
    with pytest.raises(ValueError, match="no candidate"):
        BestPerLanguage([]).fit(urls, is_yes)


def test_candidates_are_named_like_classifiers() -> None:
    urls = [f"http://{word}{at}.com/" for at in range(8) for word in ("wetter-", "weather-")]
    best = best_per_language(["cctld", "nb:words"], "de").fit(urls, [True, False] * 8)
    assert best.chosen_ == "nb:words"
    assert best.f1_["cctld"] == 0.0


# Names


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("features", FEATURE_SETS)
def test_an_algorithm_is_built_for_its_feature_sets_and_refused_for_others(
    name: str, features: str
) -> None:
    if features in feature_sets(name):
        made = algorithm(name, features, random_state=7)
        assert made.get_params().get("random_state", 7) == 7
    else:
        with pytest.raises(AlgorithmError, match=f"'{name}' does not take the features"):
            algorithm(name, features)


def test_feature_sets_are_those_of_the_paper() -> None:
    custom = {"custom", "custom-2008"}
    assert set(feature_sets("dt")) == custom
    assert custom & set(feature_sets("ros")) == set()
    assert set(feature_sets("svm")) == set(FEATURE_SETS)
    assert "5-grams-from-url" in feature_sets("markov")
    for several in ("words", "custom", "allgrams-from-url", "3-4-grams-from-word"):
        assert several not in feature_sets("markov")


def test_custom_made_features_are_scaled_and_not_weighted() -> None:
    assert algorithm("svm", "custom").get_params()["preparation"] == "scaling"
    assert algorithm("svm", "words").get_params()["preparation"] == "weighting"
    assert algorithm("me", "custom").get_params()["scaling"] is True
    assert type(algorithm("nb", "custom-2008")) is GaussianBayes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("svn:words", "no classifier is called 'svn:words'"),
        ("svm", "no classifier is called 'svm'"),
        ("ip+cctld", "no classifier is called 'ip+cctld'"),
        ("ip+ip+svm:words", "no classifier is called 'ip+ip+svm:words'"),
        ("", "no classifier is called ''"),
        ("svm:word", "'svm' does not take the features 'word'"),
        ("dt:words", "'dt' does not take the features 'words'; it is for custom, custom-2008"),
    ],
)
def test_names_that_mean_nothing_are_refused_with_what_there_is(name: str, expected: str) -> None:
    with pytest.raises(ValueError, match=re.escape(expected)) as caught:
        classifier(name, "de")
    assert isinstance(caught.value, ClassifierError)


def test_an_unknown_algorithm_and_an_unknown_language_are_refused() -> None:
    with pytest.raises(
        AlgorithmError, match="no algorithm is called 'svn'; there are svm, svm-perf, nb"
    ):
        algorithm("svn", "words")
    with pytest.raises(LanguageError, match="'german'"):
        classifier("svm:words", "german")


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_built_by_name(name: str) -> None:
    assert classifier(name, "fr").get_params()["language"] == "fr"


def test_custom_made_features_are_told_where_servers_stand() -> None:
    located = classifier("dt:custom", "it", countries={"a.com": "IT"}.get)
    assert located.get_params()["vectorizer"].countries("a.com") == "IT"
    assert classifier("dt:custom", "it").get_params()["vectorizer"].countries is None
