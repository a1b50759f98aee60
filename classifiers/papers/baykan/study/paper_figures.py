"""Counterparts of the paper's figures, made from tables of four measures."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.languages import name as language_name
from classifiers.papers.baykan.study import paper
from classifiers.papers.baykan.study.blocks import F1, MEAN
from classifiers.papers.baykan.study.names import label
from classifiers.papers.table import Figure, MeasureTable


def points(table: MeasureTable, name: str, title: str, classifiers: Sequence[str]) -> Figure:
    """F1 with its deviation by language, for some classifiers of a table."""
    series = []
    for classifier in classifiers:
        of_one = [row for row in table.rows if row.key["classifier"] == classifier]
        of_one = [row for row in of_one if row.key["language"] != MEAN]
        series.append(
            {
                "label": label(classifier),
                "y": [row.cells[F1].ours for row in of_one],
                "spread": [row.cells[F1].spread for row in of_one],
            }
        )
    codes = dict.fromkeys(row.key["language"] for row in table.rows)
    groups = [language_name(code) for code in codes if code != MEAN]
    return Figure(name, title, "points", {"groups": groups, "series": series, "y_label": "F1"})


def bars(table: MeasureTable, name: str, title: str) -> Figure:
    means = [row for row in table.rows if row.key["language"] == MEAN]
    data = {
        "labels": [row.heads[1] for row in means],
        "y": [row.cells[F1].ours for row in means],
        "paper": [paper.MACRO_F1.get(row.key["classifier"]) for row in means],
        "y_label": "mean F1",
    }
    return Figure(name, title, "bars", data)
