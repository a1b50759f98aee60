"""Experiments of Baykan 2013 and 2008, each a combination of measure, classifiers and data.

`experiments.tsv` lists each experiment's title, the paper's table, the tables of `figures.tsv` (the
last table marks the best classifiers) and notes; `|` separates several values.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from langfocus.classifiers.papers.baykan import special
from langfocus.classifiers.papers.baykan.algorithms import feature_sets
from langfocus.classifiers.papers.baykan.measures import (
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
from langfocus.classifiers.papers.baykan.study import DISJOINT, STANDARD, Setting, Study

SINGLE: Final = [f"{n}-grams" for n in "3456"]
MULTIPLE: Final = ["3-4-grams", "3-4-5-grams", "3-4-5-6-grams", "allgrams"]
SHARES: Final = tuple(Setting(share=share) for share in (1.0, 0.1, 0.01, 0.001))
"""Shares of the training URLs, as in 4.7.2."""
_ONE: Final = (STANDARD,)

_BASES: Final = ("cctld", "ip")
_ALL: Final = "allgrams-from-word"
_FOUR: Final = (f"svm:{_ALL}", "dt:custom", f"re:{_ALL}", f"ip+svm:{_ALL}")
_COMPARED: Final = (*_BASES, *_FOUR)
"""Classifiers of Table XIV."""
_WITH_WORDS: Final = (*_BASES, "svm:words", *_FOUR)
_BEYOND: Final = (*_BASES, "svm:words", f"svm:{_ALL}", f"re:{_ALL}", "dt:custom", f"ip+svm:{_ALL}")


def of_both(sizes: Sequence[str]) -> list[str]:
    """Return n-gram feature sets of some sizes, from URLs and then from words."""
    return [f"{size}-from-{source}" for source in ("url", "word") for size in sizes]


def combinations(algorithms: str, features: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all valid algorithm and feature set pairs."""
    return tuple(
        f"{algorithm}:{name}"
        for algorithm in algorithms.split()
        for name in features
        if name in feature_sets(algorithm)
    )


_NGRAMS: Final = combinations("nb me svm re ros markov", of_both(SINGLE) + of_both(MULTIPLE))
_SVMS: Final = combinations("svm", ["words", *of_both(SINGLE + MULTIPLE)])
_BOTH_SVMS: Final = [
    f"{svm}:{features}"
    for features in ("words", "3-grams-from-word", _ALL, "custom")
    for svm in ("svm-perf", "svm")
]

Row = tuple[Callable[[Experiment, Study, Sequence[str]], Tables], Sequence[str], Sequence[Setting]]
_ROWS: Final[dict[str, Row]] = {
    "baselines": (baselines, ("cctld", "cctld+", "ip"), _ONE),
    "words": (four, combinations("nb me re ros svm", ["words"]), _ONE),
    "ngrams": (best_of_each_algorithm, _NGRAMS, _ONE),
    "svm-features": (f1_by_language, _SVMS, _ONE),
    "custom": (four, combinations("nb me re svm dt", ["custom"]), _ONE),
    "feature-comparison": (with_empty, combinations("svm", ["words", _ALL, "custom"]), _ONE),
    "comparison": (compared, _COMPARED, _ONE),
    "training-sizes": (f1_curve, _COMPARED, SHARES),
    "domains": (special.domains, (), _ONE),
    "tree": (special.tree, (), _ONE),
    "few-features": (special.few_features, (), _ONE),
    "svm-perf": (f1_by_language, _BOTH_SVMS, (DISJOINT, STANDARD)),
    "domain-disjoint": (f1_by_language, _BEYOND, (STANDARD, DISJOINT)),
    "best-combination": (special.best_combination, _BEYOND, _ONE),
    "content": (special.content, ("nb:words", "me:words"), _ONE),
}
_ROWS_OF_TEST_SET: Final[dict[str, Row]] = {
    "test-set": (special.test_set, _WITH_WORDS, _ONE),
    "test-sizes": (f1_curve, _COMPARED, SHARES),
}


@cache
def _described() -> dict[str, list[str]]:
    """Name -> title, source, tables and notes."""
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    return {name: cells for name, *cells in (line.split("\t") for line in lines)}


def _experiment(name: str, row: Row) -> Experiment:
    measure, classifiers, data = row
    title, source, tables, notes = _described()[name]
    return Experiment(
        name,
        title,
        source,
        tuple(classifiers),
        measure,
        tuple(data),
        printed=tuple(tables.split("|")),
        notes=tuple(filter(None, notes.split("|"))),
    )


def of_classifiers(names: Sequence[str]) -> Experiment:
    """Return an experiment that compares the named classifiers."""
    return _experiment("classifiers", (four, names, _ONE))


EXPERIMENTS: Final = {name: _experiment(name, row) for name, row in _ROWS.items()}
"""Experiments in execution order."""
OF_TEST_SET: Final = {name: _experiment(name, row) for name, row in _ROWS_OF_TEST_SET.items()}
"""Experiments with a separate test set."""
