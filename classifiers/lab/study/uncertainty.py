"""How sure the differences between classifiers are: intervals and stricter tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from classifiers.lab.study import blocks, bootstrap, significance
from classifiers.lab.study.beyond import COMPARED, DISJOINT
from classifiers.lab.study.blocks import F1
from classifiers.lab.study.names import label
from classifiers.lab.study.result import Cell, Experiment, MeasureTable, Result, Row
from classifiers.lab.study.validation import STANDARD, Setting, Study
from classifiers.languages import name as language_name

DOMAINS: Final = {DISJOINT: "unseen", STANDARD: "any"}
_WORDED: Final = {DISJOINT: "unseen domains", STANDARD: "any domain"}
FEW: Final = 0.0001
INTERVAL: Final = "from, to: 95 % interval of a bootstrap over registered domains, 1,000 draws"


def uncertainty(study: Study) -> Result:
    """F1 with intervals, and each pair of classifiers by the paper's test and two stricter ones."""
    names = blocks.possible(study, COMPARED)
    study.run(names, tuple(DOMAINS))
    draws = {
        (setting, language): _draws(study, names, language, setting)
        for setting in DOMAINS
        for language in study.languages
    }
    tables = [_intervals(study, names, draws)]
    tables += [_pairs(study, names, setting, draws) for setting in DOMAINS]
    return Result("uncertainty", tuple(tables))


Draws = Mapping[tuple[Setting, str], bootstrap.Figures]
Pair = tuple[str, str, str, bootstrap.Figures, bootstrap.Figures]


def _draws(
    study: Study, names: Sequence[str], language: str, setting: Setting
) -> bootstrap.Figures:
    sample = study.sample(language, setting)
    said_yes = np.column_stack([study.decisions(name, language, setting) for name in names])
    return bootstrap.f1_draws(
        said_yes,
        study.corpus.columns[sample.places],
        study.languages.index(language),
        study.corpus.domains[sample.places],
        seed=study.seed,
    )


def _intervals(study: Study, names: Sequence[str], draws: Draws) -> MeasureTable:
    rows = [
        Row(
            (text, language_name(language), label(name)),
            (
                blocks.cells(study, name, language, setting=setting)[F1],
                *_cells(draws[setting, language][:, place]),
            ),
            key={"language": language, "classifier": name},
        )
        for setting, text in DOMAINS.items()
        for language in study.languages
        for place, name in enumerate(names)
    ]
    return MeasureTable(
        "intervals",
        "F1 with intervals, on URLs of domains that were not trained on and of any domain",
        "",
        ("domains", "language", "classifier"),
        ("F1", "from", "to"),
        tuple(rows),
        notes=(INTERVAL, *blocks.notes(study)),
    )


def _cells(values: bootstrap.Figures) -> tuple[Cell, Cell]:
    low, high = bootstrap.interval(100 * values)
    return Cell(low), Cell(high)


def _pairs(study: Study, names: Sequence[str], setting: Setting, draws: Draws) -> MeasureTable:
    """Each pair of classifiers of each language, with the p of three tests."""
    pairs = list(_each_pair(study, names, setting))
    ours = [significance.corrected_p_value(first, second) for *_, first, second in pairs]
    theirs = [significance.p_value(first, second) for *_, first, second in pairs]
    adjusted = significance.holm(ours)
    of_paper, of_ours, of_holm = (
        sum(value < significance.LEVEL for value in values) for values in (theirs, ours, adjusted)
    )
    rows = []
    for pair, *p_values in zip(pairs, theirs, ours, adjusted, strict=True):
        language, better, other, first, second = pair
        of_draws = draws[setting, language]
        difference = of_draws[:, names.index(better)] - of_draws[:, names.index(other)]
        texts = (language_name(language), label(better), label(other), *map(_shown, p_values))
        cells = (Cell(100 * float((first - second).mean())), *_cells(difference))
        rows.append(Row(texts, cells, key={"classifier": better, "other": other}))
    text = DOMAINS[setting]
    return MeasureTable(
        f"pairs-{text}",
        f"Differences of F1 between classifiers on URLs of {_WORDED[setting]}",
        "",
        ("language", "better", "than", "p, paper's test", "p, corrected", "p, Holm"),
        ("difference", "from", "to"),
        tuple(rows),
        notes=(
            "p of one-tailed paired t-tests across folds: the paper's, the corrected one of Nadeau"
            f" and Bengio, and the latter adjusted by Holm for all {len(rows)} pairs",
            f"below {significance.LEVEL}: {of_paper} of {len(rows)} pairs by the paper's test,"
            f" {of_ours} by the corrected one, {of_holm} after Holm",
            INTERVAL,
        ),
    )


def _each_pair(study: Study, names: Sequence[str], setting: Setting) -> Iterator[Pair]:
    """Yield a language, the better classifier, the other, and F1 of both in each fold."""
    for language in study.languages:
        of = {name: study.scores(name, language, setting)[:, F1] for name in names}
        for both in itertools.combinations(names, 2):
            better, other = sorted(both, key=lambda name: -float(of[name].mean()))
            yield language, better, other, of[better], of[other]


def _shown(p_value: float) -> str:
    return f"<{FEW:.4f}" if p_value < FEW else f"{p_value:.4f}"


UNCERTAINTY: Final[Mapping[str, Experiment]] = {"uncertainty": uncertainty}
