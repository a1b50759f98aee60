"""The measures of a URL model on labelled URLs, beside those of the top-level domain alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from classifiers.datasets import LabelledUrl
from classifiers.papers import evaluation
from classifiers.training import naming_measures
from classifiers.training.examples import FIVE
from classifiers.training.urltraining import capped
from classifiers.urls import cctld
from classifiers.urls.model import UrlModel

_MAX_PER_DOMAIN = 20


def assess(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Tables of the model's measures on unseen rows, as JSON-ready numbers in percent.

    Keys: `five` (en, de, fr, es, it against each other, as in the paper), `all` (every language of
    the model), `by_kind`, `generic_domains` and `country_domains` (mean F1 of the five), `cctld`
    and `all_cctld` (the baseline), `naming` (:mod:`classifiers.training.naming_measures`). A
    registered domain adds at most 20 URLs of a language;
    `uncapped` has the figures of all URLs.
    """
    named = [row for row in rows if row.language in model.named_languages]
    rows = [row for row in rows if row.language in model.languages]
    even = capped(rows, _MAX_PER_DOMAIN)
    five = [code for code in FIVE if code in model.languages]

    def decide(urls: Sequence[str], languages: Sequence[str]) -> evaluation.Decisions:
        columns = [model.languages.index(code) for code in languages]
        return model.scores(urls)[:, columns] > 0

    return {
        "rows": len(rows),
        "rows_capped": len(even),
        **_of_five(decide, even, five),
        "uncapped": _of_five(decide, rows, five),
        "all": table(decide, even, model.languages),
        "cctld": table(_cctld, even, five),
        "cctld_by_kind": _by_kind(_cctld, even, five),
        "all_cctld": table(_cctld, even, model.languages),
        "naming": naming_measures.measure(model, named),
    }


def _of_five(decide: Decide, rows: Sequence[LabelledUrl], five: Sequence[str]) -> dict[str, Any]:
    generic = [cctld.top_level_domain(row.url) in cctld.GENERIC for row in rows]
    return {
        "five": table(decide, rows, five),
        "by_kind": _by_kind(decide, rows, five),
        **{
            name: table(
                decide,
                [
                    row
                    for row, is_generic in zip(rows, generic, strict=True)
                    if is_generic is wanted
                ],
                five,
            )["mean_f1"]
            for name, wanted in (("generic_domains", True), ("country_domains", False))
        },
    }


Decide = Callable[[Sequence[str], Sequence[str]], evaluation.Decisions]


def table(decide: Decide, rows: Sequence[LabelledUrl], languages: Sequence[str]) -> dict[str, Any]:
    """Measures of each language against the others, their mean F1 and the confusion matrix."""
    index = {code: at for at, code in enumerate(languages)}
    rows = [row for row in rows if row.language in index]
    if not rows:
        return {"urls": 0, "mean_f1": None, "languages": {}, "confusion": []}
    columns = np.array([index[row.language] for row in rows], np.int64)
    decisions = decide([row.url for row in rows], languages)
    matrix = evaluation.confusion(decisions, columns)
    found = evaluation.measures(matrix)
    counts = np.bincount(columns, minlength=len(languages))
    return {
        "urls": len(rows),
        "mean_f1": _percent(evaluation.macro_f1(found)),
        "languages": {
            code: {
                "urls": int(counts[at]),
                "P": _percent(found[at].precision),
                "R": _percent(found[at].recall),
                "p(-|-)": _percent(found[at].negative_success),
                "F1": _percent(found[at].f1),
            }
            for code, at in index.items()
        },
        "confusion": [[_percent(share) for share in row] for row in matrix.tolist()],
    }


def _by_kind(
    decide: Decide, rows: Sequence[LabelledUrl], languages: Sequence[str]
) -> dict[str, Any]:
    kinds = sorted({row.label_kind for row in rows})
    return {
        kind: table(decide, [row for row in rows if row.label_kind == kind], languages)["mean_f1"]
        for kind in kinds
    }


def _cctld(urls: Sequence[str], languages: Sequence[str]) -> evaluation.Decisions:
    return np.column_stack([cctld.score(urls, code) > 0 for code in languages])


def _percent(share: float) -> float | None:
    return None if np.isnan(share) else round(100 * share, 2)
