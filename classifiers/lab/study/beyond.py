"""Experiments beyond Baykan 2013, 4: other folds, groups of URLs, combinations, and the model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.lab import evaluation
from classifiers.lab.study import blocks, paper, subsets
from classifiers.lab.study.blocks import F1, MEAN
from classifiers.lab.study.names import label
from classifiers.lab.study.result import MEASURES, Cell, Experiment, MeasureTable, Result, Row
from classifiers.lab.study.validation import STANDARD, Setting, Study
from classifiers.lab.training.assessment import assess
from classifiers.languages import name as language_name
from classifiers.urls.model import UrlModel

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


def by_kind(study: Study) -> Result:
    """F1 by the kind of label: from documents, editors, lists."""
    groups = {
        kind: {language: subsets.of_kind(study, language, kind) for language in study.languages}
        for kind in subsets.kinds(study)
    }
    return Result("by-kind", (_by_group(study, groups, "by-kind", "F1 by kind of label", "kind"),))


def by_tld(study: Study) -> Result:
    """F1 under generic top-level domains such as `com`, and under others."""
    generic = {language: subsets.generic(study, language) for language in study.languages}
    groups = {
        "generic": generic,
        "other": {language: ~flags for language, flags in generic.items()},
    }
    title = "F1 under generic top-level domains and under others"
    return Result("by-tld", (_by_group(study, groups, "by-tld", title, "domains"),))


def _by_group(
    study: Study, groups: Mapping[str, Mapping[str, Flags]], name: str, title: str, head: str
) -> MeasureTable:
    """F1 of classifiers on groups of test URLs, over all folds together."""
    names = blocks.possible(study, COMPARED)
    study.run(names)
    rows = []
    for group, classifier in itertools.product(groups, names):
        cells = [
            _pooled(study, classifier, language, groups[group][language])
            for language in study.languages
        ]
        n_urls = Cell(float(_n_urls(study, groups[group])))
        rows.append(
            Row(
                (group, label(classifier)),
                (*cells, blocks.average(cells), n_urls),
                key={head: group, "classifier": classifier},
            )
        )
    note = "positives and negatives of one group; F1 of all folds together, as groups may be small"
    heads, columns = (head, "classifier"), (*study.languages, MEAN, "URLs")
    return MeasureTable(name, title, "", heads, columns, tuple(rows), None, (note,))


def _pooled(study: Study, name: str, language: str, among: Flags) -> Cell:
    y = study.sample(language).y[among]
    said_yes = study.decisions(name, language)[among]
    if not y.any() or y.all():
        return Cell(float("nan"))
    return Cell(100 * evaluation.of_binary(said_yes, y).f1)


def _n_urls(study: Study, of_languages: Mapping[str, Flags]) -> int:
    """Positives of a group in all samples: each URL of the corpus is positive in one."""
    return sum(
        int((study.sample(language).y & flags).sum()) for language, flags in of_languages.items()
    )


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


def model_figures(model: UrlModel, rows: Sequence[Any], title: str) -> Result:
    """The measures of a model on labelled URLs; on its training data they are too high."""
    found = assess(model, rows)
    tables = [
        _assessed(found["five"], "model-five", f"{title}: the five languages"),
        _assessed(found["cctld"], "model-cctld", "The same by top-level domain alone"),
        _assessed(found["all"], "model-all", f"{title}: all its languages"),
    ]
    summary = {
        "mean F1 of the five, generic domains": found["generic_domains"],
        **{f"mean F1 of the five, {kind}": value for kind, value in found["by_kind"].items()},
        "first answers that are right": found["naming"]["default"]["right"],
        "the same, mean of the languages beside the five": found["naming"]["default"]["macro"],
    }
    rows_of_summary = tuple(
        Row((name,), (Cell(float("nan") if value is None else value),))
        for name, value in summary.items()
    )
    parts = f"{title}: in parts"
    tables.append(MeasureTable("model-summary", parts, "", ("",), ("%",), rows_of_summary))
    return Result("model", tuple(tables))


def _assessed(found: Mapping[str, Any], name: str, title: str) -> MeasureTable:
    rows = [
        Row(
            (language_name(code),),
            tuple(Cell(_number(figures[measure])) for measure in MEASURES),
            key={"language": code},
        )
        for code, figures in found["languages"].items()
    ]
    mean = tuple([Cell(float("nan"))] * 3 + [Cell(_number(found["mean_f1"]))])
    rows.append(Row((MEAN,), mean, key={"language": MEAN}))
    notes = (
        f"{found['urls']} URLs, at most 20 of a registered domain and language",
        "too high if the model was trained on these URLs",
    )
    return MeasureTable(name, title, "", ("language",), MEASURES, tuple(rows), None, notes)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


BEYOND: Final[Mapping[str, Experiment]] = {
    "domain-disjoint": domain_disjoint,
    "by-kind": by_kind,
    "by-tld": by_tld,
    "best-combination": best_combination,
}
