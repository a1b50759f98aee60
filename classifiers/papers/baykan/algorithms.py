"""The algorithms of the study, by name (Baykan 2013, 2.2, 4.1, 4.2 and 4.7.1).

An algorithm learns from a feature matrix, (n_urls, n_features), dense or CSR, and says Yes to the
rows with a positive score. Names of classifiers are `cctld`, `cctld+`, `ip`, `svm:words`
(an algorithm with a feature set) and `ip+svm:words`, which says Yes if one of both does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from scipy.sparse import csr_matrix, diags_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from classifiers.errors import StudyError
from classifiers.languages import tlds_of
from classifiers.papers.baykan.binary import BinaryClassifier, Flags, Floats, Matrix
from classifiers.papers.baykan.grams import NAMES as FEATURE_SETS
from classifiers.papers.baykan.servers import CountryOfHost
from classifiers.papers.baykan.similarity import Markov, NaiveBayes, RankOrder, RelativeEntropy
from classifiers.papers.baykan.words import parts
from classifiers.tables.country_domains import TABLE_I
from classifiers.urls.cctld import top_level_domain

BASELINES: Final = ("cctld", "cctld+", "ip")
"""The classifiers that need no training."""
GENERIC_ENGLISH: Final = frozenset({"com", "org"})
"""Domains that ccTLD+ adds to English."""

_PERF_C: Final = 0.01
"""C of SVM-perf by default."""
_PERF_SCALE: Final = 100
"""SVM-perf counts errors in percent."""
_LEAF: Final = 20
_ROWS_FOR_ONE: Final = 50


class GaussianBayes(BinaryClassifier):
    """Naive Bayes over custom-made features, each normally distributed within a class."""

    smoothing = 1e-3
    """Share of the largest variance that is added to all: a feature may be constant in a class."""

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        from sklearn.naive_bayes import GaussianNB

        self.model_ = GaussianNB(var_smoothing=self.smoothing).fit(X, is_yes)

    def _scores(self, X: Matrix) -> Floats:
        logarithms = self.model_.predict_joint_log_proba(X)
        return np.asarray(logarithms[:, 1] - logarithms[:, 0])


class Linear(BinaryClassifier):
    """A linear model of scikit-learn."""

    model_: Any
    """The fitted pipeline."""

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.decision_function(X))


class MaximumEntropy(Linear):
    """The conditional Maximum Entropy model over raw counts: logistic regression.

    Among all distributions of the class that agree with the training rows on the expected count of
    each feature, the one of highest entropy is exp(sum of weight times count) / Z, and the weights
    that make it agree are those of maximum likelihood (Nigam 1999). With two classes only the
    difference of their weights matters: that is logistic regression, whose likelihood has one
    maximum. Unlike Improved Iterative Scaling, Newton's method with conjugate gradients reaches it
    in some dozen steps. Unlike the paper, which names no prior, a Gaussian one bounds the weights
    of features that occur in one class only. Each class also has a constant feature.

    Parameters
    ----------
    variance : float
        Of the prior of each weight; larger trusts the training rows more.
    scaling : bool
        Bring every feature to unit variance first. For custom-made features, whose counts and
        flags differ much in size.
    """

    def __init__(self, variance: float = 1.0, scaling: bool = False) -> None:
        self.variance = variance
        self.scaling = scaling

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        from sklearn.linear_model import LogisticRegression

        steps = [StandardScaler(with_mean=False)] if self.scaling else []
        logistic = LogisticRegression(C=self.variance, solver="newton-cg", tol=1e-3, max_iter=1000)
        self.model_ = make_pipeline(*steps, logistic).fit(X, is_yes)


class PaperWeighting(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Weights f ln(n / (n_i + 1)) of counts, CSR (Baykan 2013, 2.2, footnote 6).

    f is from the URL; n, the number of URLs, and n_i, that of those with feature i, are from the
    URLs of `fit`, in any language. By the formula a feature of all URLs has a weight below 0, and a
    feature of all but one URL has 0. The weight is not clipped: a linear classifier learns the
    sign.
    """

    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Count the rows that have each feature; `y` is ignored."""
        n_with = np.bincount(X.nonzero()[1], minlength=X.shape[1])
        self.factors_ = np.log(X.shape[0] / (n_with + 1))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Return the weighted rows."""
        return csr_matrix(X @ diags_array(self.factors_))


class SupportVectors(Linear):
    """A linear SVM with squared hinge loss over weighted counts or scaled features.

    Both classes have the same total weight, for any number of rows. This changes nothing if the
    classes are equal in number, as in the paper. Unlike the paper, weighted URLs are scaled to
    length 1, so that one penalty fits every number of URLs: 1 was within 0.2 points of F1 of the
    best of six, with words and with allgrams, on 5,000 and on 24,000 URLs. Without the scaling the
    best penalty depended on their number, and F1 was up to 0.8 points lower.

    Parameters
    ----------
    preparation : {"weighting", "scaling"}
        What happens to the features first: the paper's weighting and length 1 (words and
        n-grams), or unit variance (custom-made features).
    seed : int
        Order in which the solver visits the rows.
    """

    def __init__(
        self, preparation: Literal["weighting", "scaling"] = "weighting", seed: int = 0
    ) -> None:
        self.preparation = preparation
        self.seed = seed

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        is_weighted = self.preparation == "weighting"
        scaler = StandardScaler(with_mean=False)
        steps = [PaperWeighting(), Normalizer()] if is_weighted else [scaler]
        balanced = {"C": 1.0, "class_weight": "balanced", "dual": "auto"}
        self.model_ = make_pipeline(*steps, _svm(self.seed, **balanced)).fit(X, is_yes)


class PaperSupportVectors(Linear):
    """The linear SVM of the paper: hinge loss over weights that are not scaled.

    SVM-perf with its default settings minimises `w.w / 2 + 0.01 x`, where x is the slack of 100
    times the mean hinge loss. So C of a usual SVM is 1 / n for n training rows. The bias is the
    weight of one more feature, which is always 1. Words and n-grams get the paper's weighting
    first (`is_weighted`), custom-made features do not.
    """

    def __init__(self, is_weighted: bool = True, seed: int = 0) -> None:
        self.is_weighted = is_weighted
        self.seed = seed

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        steps = [PaperWeighting()] if self.is_weighted else []
        hinge = {"C": _PERF_C * _PERF_SCALE / len(is_yes), "loss": "hinge", "dual": True}
        self.model_ = make_pipeline(*steps, _svm(self.seed, **hinge)).fit(X, is_yes)


def _svm(seed: int, **options: Any) -> LinearSVC:
    return LinearSVC(tol=1e-3, max_iter=10_000, random_state=seed, **options)


class DecisionTree(BinaryClassifier):
    """A tree of tests of one feature each; the test that lowers the entropy most comes first.

    A row scores the share of Yes among the training rows of its leaf, less one half. `model_` is
    scikit-learn's tree.

    Parameters
    ----------
    smallest_leaf : int or None
        Least number of training rows in a leaf. None is 20, or a fiftieth of the rows if that is
        fewer, or 1. Unlike a fully grown tree, one with leaves of several rows does not memorise
        single URLs. With 20 mean F1 was 1 to 2 points higher than with 1 or 5, on 24,000 URLs
        without countries of servers. Of 260 URLs leaves of 5 gave a mean F1 of 85 and leaves of 20
        one of 82, and leaves of 20 cannot split 26 URLs at all.
    seed : int
        Decides between features that lower the entropy equally.
    """

    def __init__(self, smallest_leaf: int | None = None, seed: int = 0) -> None:
        self.smallest_leaf = smallest_leaf
        self.seed = seed

    def _fit(self, X: Matrix, is_yes: Flags) -> None:
        from sklearn.tree import DecisionTreeClassifier

        leaf = self.smallest_leaf or max(1, min(_LEAF, len(is_yes) // _ROWS_FOR_ONE))
        tree = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=leaf, random_state=self.seed
        )
        self.model_ = tree.fit(X, is_yes)

    def _scores(self, X: Matrix) -> Floats:
        return np.asarray(self.model_.predict_proba(X)[:, 1] - 0.5)


_Builders = dict[str, Callable[[int], BinaryClassifier]]
_BUILDERS: Final[_Builders] = {
    "svm": lambda seed: SupportVectors("weighting", seed),
    "svm-perf": lambda seed: PaperSupportVectors(True, seed),
    "nb": lambda _: NaiveBayes(),
    "me": lambda _: MaximumEntropy(),
    "re": lambda _: RelativeEntropy(),
    "ros": lambda _: RankOrder(),
}
_CUSTOM_BUILDERS: Final[_Builders] = {
    "svm": lambda seed: SupportVectors("scaling", seed),
    "svm-perf": lambda seed: PaperSupportVectors(False, seed),
    "nb": lambda _: GaussianBayes(),
    "me": lambda _: MaximumEntropy(scaling=True),
    "dt": lambda seed: DecisionTree(seed=seed),
    "re": lambda _: RelativeEntropy(),
}
NAMES: Final = ("svm", "svm-perf", "nb", "me", "dt", "re", "ros", "markov")
"""The algorithms over feature matrices."""

_ONE_SIZE: Final = re.compile(r"[1-7]-grams-from-(?:word|url)")
_LABELS: Final = {
    "cctld": "ccTLD",
    "cctld+": "ccTLD+",
    "ip": "IP",
    "markov": "Markov",
    "svm-perf": "SVM-perf",
}


def algorithm(name: str, features: str, seed: int = 0) -> BinaryClassifier:
    """Return the algorithm with the parameters of the study for a feature set.

    A `Markov` needs the n-gram of each column before it is fitted: its `names`.
    StudyError for an unknown name, or for features that the algorithm does not take.
    """
    allowed = feature_sets(name)
    if features not in allowed:
        raise StudyError(
            f"{name!r} does not take the features {features!r}; it is for {', '.join(allowed)}"
        )
    if name == "markov":
        return Markov(int(features[0]))
    return _builders(features)[name](seed)


def feature_sets(name: str) -> tuple[str, ...]:
    """Return the names of the feature sets that an algorithm takes.

    Decision trees take custom-made features only, Markov chains n-grams of one size, and rank
    order all features but custom-made ones.
    """
    if name not in NAMES:
        raise StudyError(f"no algorithm is called {name!r}; there are {', '.join(NAMES)}")
    if name == "markov":
        return tuple(each for each in FEATURE_SETS if _ONE_SIZE.fullmatch(each))
    return tuple(each for each in FEATURE_SETS if name in _builders(each))


def _builders(features: str) -> _Builders:
    return _CUSTOM_BUILDERS if features.startswith("custom") else _BUILDERS


def ask(name: str, language: str, urls: Sequence[str], countries: CountryOfHost | None) -> Flags:
    """Return whether a baseline says Yes to each URL, (n_urls,); `ip` needs `countries`.

    Table I of the paper has the domains of five languages, which also stand for countries. Unlike
    in the paper, another language has all its top-level domains.
    """
    domains = frozenset(TABLE_I[language].split()) if language in TABLE_I else tlds_of(language)
    if name == "ip":
        if countries is None:
            raise StudyError("the IP baseline needs the countries of servers")
        return np.array([(countries(parts(u)[0]) or "").lower() in domains for u in urls], bool)
    if name == "cctld+" and language == "en":
        domains |= GENERIC_ENGLISH
    return np.array([top_level_domain(url) in domains for url in urls], bool)


@dataclass(frozen=True)
class Name:
    """The parts of a classifier's name."""

    text: str
    algorithm: str | None
    """None for a baseline."""
    features: str | None
    with_ip: bool
    """True if it also says Yes when the IP baseline does."""

    @property
    def trained(self) -> str:
        """Return the name of the part that is trained."""
        return f"{self.algorithm}:{self.features}"

    @property
    def needs_addresses(self) -> bool:
        """Return whether it needs the countries of servers."""
        return self.with_ip or self.text == "ip"

    @property
    def is_custom(self) -> bool:
        """True if its features are custom-made: they need the packages of `dictionaries`."""
        return (self.features or "").startswith("custom")


def parse(text: str) -> Name:
    """Return the parts of a name; StudyError if an algorithm or a feature set is not known."""
    if text in BASELINES:
        return Name(text, None, None, False)
    kind, colon, features = text.removeprefix("ip+").partition(":")
    if not colon:
        raise StudyError(
            f"classifier {text!r} is none of {', '.join(BASELINES)}, ALGORITHM:FEATURES, "
            "ip+ALGORITHM:FEATURES"
        )
    try:
        algorithm(kind, features)
    except StudyError as error:
        raise StudyError(f"classifier {text!r}: {error}") from error
    return Name(text, kind, features, text.startswith("ip+"))


def label(text: str) -> str:
    """Return the paper's name of a classifier: `SVM allgrams + IP`, `NB 6-grams-from-url`."""
    if text in BASELINES:
        return _LABELS[text]
    kind, _, features = text.removeprefix("ip+").partition(":")
    short = features.replace("allgrams-from-word", "allgrams")
    with_ip = " + IP" if text.startswith("ip+") else ""
    return f"{_LABELS.get(kind, kind.upper())} {short}{with_ip}"
