"""Algorithms and feature sets of the study, by name (Baykan 2013, 2.2, 4.1, 4.2, 4.7.1).

An algorithm learns from a feature matrix, (n_urls, n_features), dense or CSR, and predicts Yes or
No for each row. Classifier names are `cctld`, `cctld+`, `ip`, `svm:words` (an algorithm with a
feature set) and `ip+svm:words`, which says Yes if either part does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
from scipy.sparse import csr_matrix, diags_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.languages import tlds_of
from langfocus.classifiers.papers.baykan.grams import CUSTOM, Countries, counter, parts, spelled
from langfocus.classifiers.papers.baykan.grams import NAMES as FEATURE_SETS
from langfocus.classifiers.papers.baykan.similarity import (
    Flags,
    Markov,
    Matrix,
    NaiveBayes,
    RankOrder,
    RelativeEntropy,
)
from langfocus.classifiers.tables.country_domains import TABLE_I
from langfocus.classifiers.urls.cctld import top_level_domain

BASELINES: Final = ("cctld", "cctld+", "ip")
"""Classifiers without training."""
GENERIC_ENGLISH: Final = frozenset({"com", "org"})
"""Domains added to English by ccTLD+."""

_PERF_C: Final = 0.01
"""Default C of SVM-perf."""
_PERF_SCALE: Final = 100
"""SVM-perf counts errors in percent."""
_SOLVER: Final[dict[str, Any]] = {"tol": 1e-3, "max_iter": 10_000}
_SMOOTHING: Final = 1e-3
"""Share of the largest variance added to every variance: a feature may be constant in a class."""
_LEAF: Final = 20
_ROWS_FOR_ONE: Final = 50


class PaperWeighting(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Weights f ln(n / (n_i + 1)) of counts, CSR (Baykan 2013, 2.2, footnote 6).

    f is the count in the URL; n, the number of URLs, and n_i, the number of URLs with feature i,
    are from the URLs of `fit`, in any language. By the formula, a feature of all URLs has a weight
    below 0, and a feature of all but one URL has 0. Weights are not clipped: a linear classifier
    learns the sign.
    """

    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Count the rows with each feature; `y` is ignored."""
        n_with = np.bincount(X.nonzero()[1], minlength=X.shape[1])
        self.factors_ = np.log(X.shape[0] / (n_with + 1))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Return the weighted rows."""
        return csr_matrix(X @ diags_array(self.factors_))


def maximum_entropy(seed: int, *, is_custom: bool) -> Any:
    """Return the conditional Maximum Entropy model over raw counts: logistic regression.

    Among all class distributions that match each feature's expected count in the training rows, the
    highest entropy distribution has maximum likelihood weights (Nigam 1999). With two classes only
    their weight difference matters, and Newton's method finds it. Unlike the paper, without a named
    prior, a Gaussian prior of variance 1 bounds the weights of features in a single class.
    Custom-made features are first scaled to unit variance.
    """
    from sklearn.linear_model import LogisticRegression

    logistic = LogisticRegression(C=1.0, solver="newton-cg", tol=1e-3, max_iter=1000)
    return make_pipeline(*([StandardScaler(with_mean=False)] if is_custom else []), logistic)


def support_vectors(seed: int, *, is_custom: bool) -> Any:
    """Return a squared hinge loss linear SVM over weighted counts or scaled custom-made features.

    Both classes have equal total weight, for any number of rows. Unlike in the paper, weighted URLs
    are scaled to length 1, so that a single penalty fits every number of URLs.
    """
    steps = [StandardScaler(with_mean=False)] if is_custom else [PaperWeighting(), Normalizer()]
    balanced = {"C": 1.0, "class_weight": "balanced", "dual": "auto"}
    return make_pipeline(*steps, LinearSVC(**balanced, **_SOLVER, random_state=seed))


def paper_support_vectors(seed: int, *, is_custom: bool) -> Any:
    """Return the paper's linear SVM: hinge loss over unscaled weights.

    SVM-perf with default settings minimises `w.w / 2 + 0.01 x`, where x is the slack of 100 times
    the mean hinge loss. C of a usual SVM is therefore 1 / n for n training rows. The bias is the
    weight of an additional feature with constant value 1. Words and n-grams are first weighted as
    in the paper, custom-made features are not.
    """
    machine = _MeanLossSVC(loss="hinge", dual=True, **_SOLVER, random_state=seed)
    return make_pipeline(*([] if is_custom else [PaperWeighting()]), machine)


class _MeanLossSVC(LinearSVC):  # type: ignore[misc]  # an untyped base
    """A linear SVM with SVM-perf's penalty on the mean loss of the training rows."""

    def fit(self, X: Matrix, y: Any) -> Self:
        self.C = _PERF_C * _PERF_SCALE / len(y)
        return cast(Self, super().fit(X, y))


class DecisionTree(DecisionTreeClassifier):  # type: ignore[misc]  # an untyped base
    """A tree of single-feature tests, the test with the largest entropy decrease first.

    A leaf has at least 20 training rows, or a fiftieth of the rows if fewer, or 1: leaves of 20
    cannot split 26 URLs, and a fully grown tree memorises single URLs. `random_state` breaks ties
    between features with equal entropy decrease.
    """

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(criterion="entropy", random_state=random_state)

    def fit(self, X: Matrix, y: Any) -> Self:
        """Fit to rows and their labels (n_urls,)."""
        self.min_samples_leaf = max(1, min(_LEAF, len(y) // _ROWS_FOR_ONE))
        return cast(Self, super().fit(X, y))


_Makers = tuple[Callable[[int], Any] | None, Callable[[int], Any] | None]
"""Factories of an algorithm from a seed, for counts and for custom-made features."""


def _both(make: Callable[..., Any]) -> _Makers:
    return partial(make, is_custom=False), partial(make, is_custom=True)


_MAKERS: Final[Mapping[str, _Makers]] = {
    "svm": _both(support_vectors),
    "svm-perf": _both(paper_support_vectors),
    "nb": (lambda _: NaiveBayes(), lambda _: GaussianNB(var_smoothing=_SMOOTHING)),
    "me": _both(maximum_entropy),
    "dt": (None, DecisionTree),
    "re": (lambda _: RelativeEntropy(), lambda _: RelativeEntropy()),
    "ros": (lambda _: RankOrder(), None),
    "markov": (lambda _: Markov(), None),
}
NAMES: Final = tuple(_MAKERS)
"""The algorithms over feature matrices."""

_ONE_SIZE: Final = re.compile(r"[1-7]-grams-from-(?:word|url)")
_LABELS: Final = {
    "cctld": "ccTLD",
    "cctld+": "ccTLD+",
    "ip": "IP",
    "markov": "Markov",
    "svm-perf": "SVM-perf",
}


def vectorizer(features: str, countries: Countries | None = None) -> Any:
    """Return the unfitted vectorizer of a feature set; `countries` is for custom-made features."""
    if features in CUSTOM:
        from langfocus.classifiers.papers.baykan import custom

        return custom.CustomFeatures(CUSTOM[features], countries=countries)
    return counter(features)


def algorithm(name: str, features: str, seed: int = 0) -> Any:
    """Return the algorithm with the study's parameters for a feature set.

    The algorithm has `fit` and `predict`. A `Markov` needs `names`, the n-gram of each column,
    before `fit`. StudyError for an unknown name, or for features unsupported by the algorithm.
    """
    allowed = feature_sets(name)
    if features not in allowed:
        raise StudyError(
            f"{name!r} does not take the features {features!r}; it is for {', '.join(allowed)}"
        )
    make = _MAKERS[name][features in CUSTOM]
    return make(seed) if make else None


def feature_sets(name: str) -> tuple[str, ...]:
    """Return the names of an algorithm's supported feature sets.

    Decision trees support only custom-made features, Markov chains n-grams of a single size, and
    rank order all features except custom-made features.
    """
    if name not in NAMES:
        raise StudyError(f"no algorithm is called {name!r}; there are {', '.join(NAMES)}")
    if name == "markov":
        return tuple(features for features in FEATURE_SETS if _ONE_SIZE.fullmatch(features))
    return tuple(features for features in FEATURE_SETS if _MAKERS[name][features in CUSTOM])


def ask(name: str, language: str, urls: Sequence[str], countries: Countries | None) -> Flags:
    """Return a baseline's decisions about URLs, (n_urls,); `ip` needs `countries`.

    The paper's Table I lists the domains of five languages, which also represent countries. Unlike
    in the paper, any other language has all its top-level domains.
    """
    domains = frozenset(TABLE_I[language].split()) if language in TABLE_I else tlds_of(language)
    if name == "ip":
        if countries is None:
            raise StudyError("the IP baseline needs the countries of servers")
        hosts = (spelled(parts(url)[0]) for url in urls)
        return np.array([countries.get(host, "").lower() in domains for host in hosts], bool)
    if name == "cctld+" and language == "en":
        domains |= GENERIC_ENGLISH
    return np.array([top_level_domain(url) in domains for url in urls], bool)


class Name(NamedTuple):
    """Parts of a classifier name."""

    algorithm: str | None
    """Algorithm name; None for a baseline."""
    features: str
    needs_addresses: bool
    """True if server countries are needed: for IP, or a combination with IP."""

    @property
    def is_custom(self) -> bool:
        """True for custom-made features, which need the packages of `dictionaries`."""
        return self.features in CUSTOM


def parse(text: str) -> Name:
    """Return the parts of a name; StudyError for an unknown algorithm or feature set."""
    if text in BASELINES:
        return Name(None, "", text == "ip")
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
    return Name(kind, features, text.startswith("ip+"))


def label(text: str) -> str:
    """Return the paper's name of a classifier: `SVM allgrams + IP`, `NB 6-grams-from-url`."""
    if text in BASELINES:
        return _LABELS[text]
    kind, _, features = text.removeprefix("ip+").partition(":")
    short = features.replace("allgrams-from-word", "allgrams")
    with_ip = " + IP" if text.startswith("ip+") else ""
    return f"{_LABELS.get(kind, kind.upper())} {short}{with_ip}"
