"""Algorithms and classifiers by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from classifiers.errors import AlgorithmError, LanguageError
from classifiers.languages import known
from classifiers.papers.baykan.algorithms.binary import BinaryClassifier
from classifiers.papers.baykan.algorithms.combinations import BestPerLanguage, either
from classifiers.papers.baykan.algorithms.margin import PaperSupportVectors, SupportVectors
from classifiers.papers.baykan.algorithms.probabilistic import (
    GaussianBayes,
    MaximumEntropy,
    NaiveBayes,
)
from classifiers.papers.baykan.algorithms.similarity import Markov, RankOrder, RelativeEntropy
from classifiers.papers.baykan.algorithms.trees import DecisionTree
from classifiers.papers.baykan.algorithms.untrained import CcTld, CcTldPlus, Ip
from classifiers.papers.baykan.algorithms.urlclassifier import FeatureClassifier, UrlClassifier
from classifiers.papers.baykan.features.hosting import CountryOfHost
from classifiers.papers.baykan.features.vectors import NAMES as FEATURE_SETS
from classifiers.papers.baykan.features.vectors import vectorizer

NAMES: Final = ("svm", "svm-perf", "nb", "me", "dt", "re", "ros", "markov")
"""The algorithms over feature matrices."""
BASELINES: Final = ("cctld", "cctld+", "ip")
"""The classifiers that need no training."""

_BUILDERS: Final[dict[str, Callable[[int], BinaryClassifier]]] = {
    "svm": lambda seed: SupportVectors("weighting", random_state=seed),
    "svm-perf": lambda seed: PaperSupportVectors(random_state=seed),
    "nb": lambda seed: NaiveBayes(),
    "me": lambda seed: MaximumEntropy(),
    "re": lambda seed: RelativeEntropy(),
    "ros": lambda seed: RankOrder(),
}
_CUSTOM_BUILDERS: Final[dict[str, Callable[[int], BinaryClassifier]]] = {
    "svm": lambda seed: SupportVectors("scaling", random_state=seed),
    "svm-perf": lambda seed: PaperSupportVectors(is_weighted=False, random_state=seed),
    "nb": lambda seed: GaussianBayes(),
    "me": lambda seed: MaximumEntropy(scaling=True),
    "dt": lambda seed: DecisionTree(random_state=seed),
    "re": lambda seed: RelativeEntropy(),
}
_ONE_SIZE: Final = re.compile(r"([1-7])-grams-from-(?:word|url)")


def algorithm(name: str, features: str, random_state: int = 0) -> BinaryClassifier:
    """Return the unfitted algorithm with the parameters of the study for a feature set.

    `markov` needs the n-gram of each column before it is fitted:
    `set_params(names=vectorizer.get_feature_names_out())`. AlgorithmError for an unknown name, or
    for features that the algorithm does not take.
    """
    allowed = feature_sets(name)
    if features not in allowed:
        raise AlgorithmError(
            f"{name!r} does not take the features {features!r}; it is for {', '.join(allowed)}"
        )
    if name == "markov":
        return Markov(int(features[0]))
    builders = _CUSTOM_BUILDERS if _is_custom(features) else _BUILDERS
    return builders[name](random_state)


def feature_sets(name: str) -> tuple[str, ...]:
    """Return the names of the feature sets that an algorithm takes.

    Decision trees take custom-made features only, Markov chains n-grams of one size, and rank
    order all features but custom-made ones.
    """
    if name not in NAMES:
        raise AlgorithmError(f"no algorithm is called {name!r}; there are {', '.join(NAMES)}")
    if name == "markov":
        return tuple(each for each in FEATURE_SETS if _ONE_SIZE.fullmatch(each))
    return tuple(
        each
        for each in FEATURE_SETS
        if name in (_CUSTOM_BUILDERS if _is_custom(each) else _BUILDERS)
    )


def classifier(
    name: str, language: str, *, countries: CountryOfHost | None = None, random_state: int = 0
) -> UrlClassifier:
    """Return the unfitted classifier of URLs in a language.

    Names are `cctld`, `cctld+`, `ip`, `ALGORITHM:FEATURES` and `ip+ALGORITHM:FEATURES`; the
    last says No only if both parts say No. `countries` gives the country of a host's server:
    `ip` needs it, and the custom-made features use it. AlgorithmError for any other name.
    """
    if language not in known():
        raise LanguageError(f"no language has the code {language!r}")
    if name == "cctld":
        return CcTld(language)
    if name == "cctld+":
        return CcTldPlus(language)
    if name == "ip":
        return Ip(language, countries)
    learned = _learned(name.removeprefix("ip+"), name, countries, random_state)
    if name.startswith("ip+"):
        return either(learned, Ip(language, countries))
    return learned


def best_per_language(
    names: Sequence[str], language: str, *, folds: int = 3, random_state: int = 0, **options: Any
) -> BestPerLanguage:
    """Return the classifier that selects the best of several for a language when it is fitted.

    `names` and the other options are those of `classifier`.
    """
    candidates = [
        (name, classifier(name, language, random_state=random_state, **options)) for name in names
    ]
    return BestPerLanguage(candidates, folds, random_state)


def _learned(
    name: str, whole: str, countries: CountryOfHost | None, random_state: int
) -> FeatureClassifier:
    kind, colon, features = name.partition(":")
    if not colon or kind not in NAMES:
        raise AlgorithmError(
            f"no classifier is called {whole!r}; there are {', '.join(BASELINES)},"
            f" ALGORITHM:FEATURES and ip+ALGORITHM:FEATURES with one of {', '.join(NAMES)}"
        )
    chosen = algorithm(kind, features, random_state)
    return FeatureClassifier(vectorizer(features, countries), chosen)


def _is_custom(features: str) -> bool:
    return features.startswith("custom")
