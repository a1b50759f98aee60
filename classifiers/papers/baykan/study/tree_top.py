"""The top of a decision tree, with the shares of test URLs in its leaves (Figure 2)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import name as language_name
from classifiers.papers.baykan.algorithms import algorithm
from classifiers.papers.baykan.features.vectors import vectorizer
from classifiers.papers.baykan.study.validation import Study
from classifiers.papers.table import Cell, Figure, MeasureTable, Result, Row

Flags = npt.NDArray[np.bool_]

DEPTH: Final = 3
"""Tests on the way from the root to a leaf of the pruned tree."""


def tree(study: Study) -> Result:
    """Figure 2: the top of the tree over custom-made features for the first language.

    It is trained on all folds but the first and tested on the first. At a leaf, f(+) and f(-) are
    the shares of positive and of negative test URLs that reach it.
    """
    language = study.languages[0]
    top = top_of_tree(study, language)
    rows = tuple(
        Row(
            (" and ".join(path) or "any URL", node["says"]),
            (Cell(node["positive"]), Cell(node["negative"])),
        )
        for path, node in _leaves(top)
    )
    title = f"The top of the decision tree for {language_name(language)}"
    note = "f(+), f(-): share of the positive and negative test URLs that end up at the leaf, %"
    table = MeasureTable(
        "tree",
        title,
        "Baykan 2013, Figure 2",
        ("leaf", "says"),
        ("f(+)", "f(-)"),
        rows,
        None,
        (note,),
    )
    return Result("tree", (table,), (Figure("figure-2", title, "tree", {"root": top}),))


def top_of_tree(study: Study, language: str, depth: int = DEPTH) -> dict[str, Any]:
    """The nodes down to a depth: test, answer, f(+) and f(-) in percent, and both children."""
    train, test = study.splits(language).part(0)
    urls, y = study.urls(language), study.sample(language).y
    extractor = vectorizer("custom", study.servers)
    training = extractor.fit_transform([urls[at] for at in train], y[train])
    testing = np.asarray(extractor.transform([urls[at] for at in test]), np.float32)
    fitted = algorithm("dt", "custom", study.seed).fit(training, y[train])
    names = [str(name) for name in extractor.get_feature_names_out()]
    return _node(fitted.model_.tree_, names, testing, y[test], depth)


def _node(grown: Any, names: list[str], rows: Any, y: Flags, depth: int) -> dict[str, Any]:
    totals = (max(1, int(y.sum())), max(1, int((~y).sum())))

    def describe(at: int, here: Flags, left_depth: int) -> dict[str, Any]:
        node = {
            "says": "Yes" if grown.value[at][0][1] > grown.value[at][0][0] else "No",
            "positive": round(100 * float((here & y).sum()) / totals[0], 1),
            "negative": round(100 * float((here & ~y).sum()) / totals[1], 1),
        }
        feature, threshold = int(grown.feature[at]), float(grown.threshold[at])
        if feature < 0 or not left_depth:
            return node
        is_left = rows[:, feature] <= threshold
        below = left_depth - 1
        return node | {
            "test": f"{names[feature]} <= {threshold:g}",
            "otherwise": f"{names[feature]} > {threshold:g}",
            "left": describe(int(grown.children_left[at]), here & is_left, below),
            "right": describe(int(grown.children_right[at]), here & ~is_left, below),
        }

    return describe(0, np.ones(len(y), bool), depth)


def _leaves(
    node: dict[str, Any], path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    if "test" not in node:
        return [(path, node)]
    left = _leaves(node["left"], (*path, node["test"]))
    return left + _leaves(node["right"], (*path, node["otherwise"]))
