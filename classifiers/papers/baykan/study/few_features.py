"""A few custom-made features instead of all, chosen greedily (Baykan 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import name as language_name
from classifiers.papers import evaluation
from classifiers.papers.baykan.algorithms import algorithm
from classifiers.papers.baykan.features.greedy_selection import ForwardSelection
from classifiers.papers.baykan.features.vectors import vectorizer
from classifiers.papers.baykan.study import blocks
from classifiers.papers.baykan.study.validation import Study
from classifiers.papers.table import Cell, MeasureTable, Result, Row

FEATURES: Final = "custom-2008"
N_CHOSEN: Final = 15
"""Features that the study of 2008 kept of 74."""
LOSS_OF_2008: Final = -3.0
"""Points of F1 that its 15 features gained against all 74."""


@dataclass(frozen=True)
class _Chosen:
    """The features that were chosen for one language, with their gains."""

    language: str
    names: list[str]
    """The best first."""
    f1: list[float]
    """F1 on held-out training URLs after each step, in percent."""
    all_f1: float
    """F1 of all features on the test URLs, in percent."""
    few_f1: float
    """F1 of the chosen features on the test URLs, in percent."""


def few_features(study: Study) -> Result:
    """F1 of a decision tree with 15 of the 74 features of 2008, beside that with all.

    The features are chosen on the training URLs of the first fold; its test URLs are measured.
    """
    found = [_chosen(study, language) for language in study.languages]
    return Result("few-features", (_losses(found), _steps(found)))


def _chosen(study: Study, language: str) -> _Chosen:
    train, test = study.splits(language).part(0)
    urls, y = study.urls(language), study.sample(language).y
    extractor = vectorizer(FEATURES)
    training = extractor.fit_transform([urls[at] for at in train], y[train])
    testing = extractor.transform([urls[at] for at in test])
    tree = algorithm("dt", FEATURES, study.seed)
    selection = ForwardSelection(tree, N_CHOSEN, random_state=study.seed).fit(training, y[train])
    names = extractor.get_feature_names_out()
    few = selection.order_

    def f1(columns: Any) -> float:
        fitted = algorithm("dt", FEATURES, study.seed).fit(training[:, columns], y[train])
        return _f1(fitted.predict(testing[:, columns]), y[test])

    return _Chosen(
        language,
        [str(names[at]) for at in few],
        [100 * value for value in selection.f1_],
        f1(slice(None)),
        f1(few),
    )


def _f1(said_yes: npt.NDArray[np.bool_], y: npt.NDArray[np.bool_]) -> float:
    return 100 * evaluation.of_binary(said_yes, y).f1


def _losses(found: list[_Chosen]) -> MeasureTable:
    rows = [
        Row(
            (language_name(one.language),),
            (
                Cell(one.all_f1),
                Cell(one.few_f1),
                Cell(one.few_f1 - one.all_f1, paper=LOSS_OF_2008),
            ),
            key={"language": one.language},
        )
        for one in found
    ]
    mean = blocks.macro([row.cells for row in rows])
    rows.append(Row((blocks.MEAN,), mean, key={"language": blocks.MEAN}))
    return MeasureTable(
        "few-features",
        f"F1 of a decision tree with all features and with {N_CHOSEN}",
        "Baykan 2008",
        ("language",),
        ("all 74", f"best {N_CHOSEN}", "difference"),
        tuple(rows),
        headline=2,
        notes=("chosen on the training URLs of the first fold, measured on its test URLs",),
    )


def _steps(found: list[_Chosen]) -> MeasureTable:
    """The chosen features in their order, with the F1 after each step."""
    rows = tuple(
        Row(
            (language_name(one.language), str(step), name),
            (Cell(f1),),
            key={"language": one.language, "feature": name},
        )
        for one in found
        for step, (name, f1) in enumerate(zip(one.names, one.f1, strict=True), start=1)
    )
    note = "F1 on training URLs that the tree of the step was not fitted on"
    heads = ("language", "step", "feature")
    return MeasureTable(
        "few-features-steps", "The chosen features", "", heads, ("F1",), rows, notes=(note,)
    )
