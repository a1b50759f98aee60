"""The experiments of Baykan 2013 and 2008: each is a row of classifiers, data and a measure."""

from collections.abc import Callable, Sequence
from typing import Final

from classifiers.papers.baykan import special
from classifiers.papers.baykan.algorithms import feature_sets
from classifiers.papers.baykan.measures import (
    Experiment,
    Tables,
    baselines,
    best_of_each_algorithm,
    compared,
    f1_by_language,
    f1_curve,
    four,
    with_empty,
)
from classifiers.papers.baykan.study import DISJOINT, STANDARD, Setting, Study

SINGLE: Final = [f"{n}-grams" for n in "3456"]
MULTIPLE: Final = ["3-4-grams", "3-4-5-grams", "3-4-5-6-grams", "allgrams"]
SHARES: Final = tuple(Setting(share=share) for share in (1.0, 0.1, 0.01, 0.001))
"""Shares of the training URLs, as in 4.7.2."""

_BASES: Final = ("cctld", "ip")
_ALL: Final = "allgrams-from-word"
_FOUR: Final = (f"svm:{_ALL}", "dt:custom", f"re:{_ALL}", f"ip+svm:{_ALL}")
_COMPARED: Final = (*_BASES, *_FOUR)
"""The classifiers of Table XIV."""
_WITH_WORDS: Final = (*_BASES, "svm:words", *_FOUR)
_BEYOND: Final = (*_BASES, "svm:words", f"svm:{_ALL}", f"re:{_ALL}", "dt:custom", f"ip+svm:{_ALL}")


def of_both(sizes: Sequence[str]) -> list[str]:
    """The n-grams of some sizes, from URLs and then from words."""
    return [f"{size}-from-{source}" for source in ("url", "word") for size in sizes]


def each(algorithms: str, features: Sequence[str]) -> tuple[str, ...]:
    """The names of all pairs of algorithms and feature sets that go together."""
    return tuple(
        f"{algorithm}:{name}"
        for algorithm in algorithms.split()
        for name in features
        if name in feature_sets(algorithm)
    )


def of_classifiers(names: Sequence[str]) -> Experiment:
    """The experiment that compares the named classifiers."""
    return Experiment(
        "classifiers",
        "The classifiers chosen",
        "Baykan 2013, Tables V, VII, IX, XII, XIV",
        tuple(names),
        four,
        printed=("V", "XIV", "IX", "XII", ""),
    )


def _of(
    table: str,
    name: str,
    title: str,
    classifiers: tuple[str, ...],
    measure: Callable[[Experiment, Study, Sequence[str]], Tables],
) -> Experiment:
    """An experiment beside one table of Baykan 2013."""
    source = f"Baykan 2013, Table {table}"
    return Experiment(name, title, source, classifiers, measure, printed=(table,))


_NGRAMS: Final = each("nb me svm re ros markov", of_both(SINGLE) + of_both(MULTIPLE))
_SVMS: Final = each("svm", ["words", *of_both(SINGLE + MULTIPLE)])
_THREE: Final = each("svm", ["words", _ALL, "custom"])

_ROWS: Final = (
    Experiment(
        "baselines",
        "Top-level domain and IP address",
        "Baykan 2013, Tables V and VII",
        ("cctld", "cctld+", "ip"),
        baselines,
        printed=("V",),
    ),
    _of("IX", "words", "Words as features", each("nb me re ros svm", ["words"]), four),
    _of("X", "ngrams", "The best n-grams of each algorithm", _NGRAMS, best_of_each_algorithm),
    _of("XI", "svm-features", "F1 of SVM with words and n-grams", _SVMS, f1_by_language),
    _of("XII", "custom", "Custom-made features", each("nb me re svm dt", ["custom"]), four),
    _of("XIII", "feature-comparison", "SVM with three feature sets, all URLs", _THREE, with_empty),
    _of("XIV", "comparison", "Comparison of approaches", _COMPARED, compared),
    Experiment(
        "training-sizes",
        "Macro-averaged F1 by the share of the training URLs",
        "Baykan 2013, Figure 5 and 4.7.2",
        _COMPARED,
        f1_curve,
        SHARES,
        ("Figure 5",),
    ),
    Experiment(
        "domains",
        "Test URLs whose domain is in the training set, %",
        "Baykan 2013, 4.3.1",
        (),
        special.domains,
        printed=("4.3.1",),
    ),
    Experiment(
        "tree",
        "The top of the decision tree",
        "Baykan 2013, Figure 2",
        (),
        special.tree,
        notes=(
            "f(+), f(-): share of the positive and negative test URLs that end up at the leaf, %",
        ),
    ),
    Experiment(
        "few-features",
        "F1 of a decision tree with all features",
        "Baykan 2008",
        (),
        special.few_features,
        notes=("chosen on the training URLs of the first fold, measured on its test URLs",),
    ),
    Experiment(
        "svm-perf",
        "F1 of the paper's SVM (hinge loss, weights not scaled) and of ours",
        "in brackets: Baykan 2013, Table XI",
        tuple(
            f"{svm}:{features}"
            for features in ("words", "3-grams-from-word", _ALL, "custom")
            for svm in ("svm-perf", "svm")
        ),
        f1_by_language,
        (DISJOINT, STANDARD),
        ("XI",),
    ),
    Experiment(
        "domain-disjoint",
        "F1 on test URLs of any domain, and of domains not trained on",
        "",
        _BEYOND,
        f1_by_language,
        (STANDARD, DISJOINT),
    ),
    Experiment(
        "best-combination",
        "The best combination for each language",
        "Baykan 2008, Table 9",
        _BEYOND,
        special.best_combination,
        printed=("2008, 9",),
        notes=(
            "the combination is the one chosen in most folds",
            "the figures of 2008 are means over three other test sets",
        ),
    ),
    Experiment(
        "content",
        "F1 of classifiers trained on URLs and on the content of pages, tested on URLs",
        "Baykan 2008, Table 10",
        ("nb:words", "me:words"),
        special.content,
        printed=("2008, 10",),
    ),
)
EXPERIMENTS: Final = {row.name: row for row in _ROWS}
"""The experiments, in the order in which they are carried out."""

_ROWS_OF_TEST_SET: Final = (
    Experiment(
        "test-set",
        "Classifiers on the test set",
        "in brackets: Baykan 2013, Table XVI, on Flash pages",
        _WITH_WORDS,
        special.test_set,
        printed=("XVI",),
        notes=("all test URLs count; the other languages have equal weight as negatives",),
    ),
    Experiment(
        "test-sizes",
        "Macro-averaged F1 on the test set by the share of the training URLs",
        "Baykan 2013, Figure 6 and 5.1",
        _COMPARED,
        f1_curve,
        SHARES,
        ("Figure 6",),
    ),
)
OF_TEST_SET: Final = {row.name: row for row in _ROWS_OF_TEST_SET}
"""The experiments with a test set of its own."""
