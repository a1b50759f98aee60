"""Folds that share no domain, and the best combination of classifiers (slides of 2008)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import name as language_name
from classifiers.papers import evaluation
from classifiers.papers.baykan.study import blocks, paper
from classifiers.papers.baykan.study.blocks import F1, MEAN
from classifiers.papers.baykan.study.names import label
from classifiers.papers.baykan.study.validation import STANDARD, Experiment, Setting, Study
from classifiers.papers.table import MEASURES, Cell, MeasureTable, Result, Row

Flags = npt.NDArray[np.bool_]

DISJOINT: Final = Setting(is_disjoint=True)
COMPARED: Final = (
    "cctld",
    "ip",
    "svm:words",
    "svm:allgrams-from-word",
    "re:allgrams-from-word",
    "dt:custom",
    "ip+svm:allgrams-from-word",
)


def domain_disjoint(study: Study) -> Result:
    """F1 with folds that share no registered domain, beside F1 with the paper's folds."""
    names = blocks.possible(study, COMPARED)
    study.run(names, (STANDARD, DISJOINT))
    rows = []
    for name in names:
        for setting, text in ((STANDARD, "any"), (DISJOINT, "unseen")):
            cells = [
                blocks.cells(study, name, language, setting=setting)[F1]
                for language in study.languages
            ]
            key = {"classifier": name, "domains": text}
            rows.append(Row((label(name), text), (*cells, blocks.average(cells)), key=key))
    table = MeasureTable(
        "domain-disjoint",
        "F1 on test URLs of any domain, and of domains not trained on",
        "",
        ("classifier", "domains"),
        (*study.languages, MEAN),
        tuple(rows),
    )
    return Result("domain-disjoint", (table,))


def best_combination(study: Study) -> Result:
    """F1 of the best combination of classifiers for each language (slides of 2008, Table 9).

    Candidates are single classifiers and pairs that say Yes if one does (`or`) or if both do
    (`and`). Unlike there, the best candidate for a fold is chosen by the other folds.
    """
    names = blocks.possible(study, COMPARED)
    study.run(names)
    rows = []
    for language in study.languages:
        found, favourite = _chosen_elsewhere(study, language, names)
        means, spreads = evaluation.mean_and_spread(100 * found)
        published = paper.BEST_COMBINATION.get(language)
        *others, f1 = zip(means, spreads, strict=True)
        cells = [Cell(float(mean), float(spread)) for mean, spread in others]
        cells.append(Cell(float(f1[0]), float(f1[1]), published))
        key = {"language": language}
        rows.append(Row((language_name(language), favourite), tuple(cells), key=key))
    rows.append(Row((MEAN, ""), blocks.macro([row.cells for row in rows]), key={"language": MEAN}))
    notes = (
        "the combination is the one chosen in most folds",
        "the figures of 2008 are means over three other test sets",
    )
    table = MeasureTable(
        "best-combination",
        "The best combination for each language",
        "Baykan 2008, Table 9",
        ("language", "combination"),
        MEASURES,
        tuple(rows),
        F1,
        notes,
    )
    return Result("best-combination", (table,))


def _chosen_elsewhere(
    study: Study, language: str, names: Sequence[str]
) -> tuple[evaluation.Matrix, str]:
    """The measures in each fold of the best combination of the others; the most frequent choice."""
    sample = study.sample(language)
    tried = _combinations({label(name): study.decisions(name, language) for name in names})
    scores = {
        name: evaluation.by_fold(said_yes, sample.y, sample.folds)
        for name, said_yes in tried.items()
    }
    choices = []
    for fold in range(study.n_folds):
        elsewhere = np.arange(study.n_folds) != fold
        means = {name: float(of[elsewhere, F1].mean()) for name, of in scores.items()}
        choices.append(max(means, key=lambda name: means[name]))
    found = np.array([scores[choice][fold] for fold, choice in enumerate(choices)])
    return found, max(dict.fromkeys(choices), key=choices.count)


def _combinations(decisions: Mapping[str, Flags]) -> dict[str, Flags]:
    tried = dict(decisions)
    for (one, first), (other, second) in itertools.combinations(decisions.items(), 2):
        tried[f"{one} or {other}"] = first | second
        tried[f"{one} and {other}"] = first & second
    return tried


BEYOND: Final[Mapping[str, Experiment]] = {
    "domain-disjoint": domain_disjoint,
    "best-combination": best_combination,
}
