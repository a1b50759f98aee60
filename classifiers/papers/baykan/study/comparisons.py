"""Comparisons of approaches (Baykan 2013, 4.6 and 4.7): Tables XIII and XIV, Figures 3 to 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from classifiers.languages import name as language_name
from classifiers.papers.baykan.study import blocks, paper, paper_figures, subsets
from classifiers.papers.baykan.study.blocks import F1
from classifiers.papers.baykan.study.names import label
from classifiers.papers.baykan.study.validation import Experiment, Setting, Study
from classifiers.papers.table import (
    MEASURES,
    Cell,
    Figure,
    MeasureTable,
    Result,
    Row,
)

COMPARED: Final = (
    "cctld",
    "ip",
    "svm:allgrams-from-word",
    "dt:custom",
    "re:allgrams-from-word",
    "ip+svm:allgrams-from-word",
)
"""The classifiers of Table XIV."""
EMPTY: Final = ("empty", "empty, Yes")
SHARES: Final = (1.0, 0.1, 0.01, 0.001)
"""Shares of the training URLs, as in 4.7.2."""


def feature_comparison(study: Study) -> Result:
    """Table XIII: SVM with three feature sets, with and without empty URLs."""
    names = ("svm:words", "svm:allgrams-from-word", "svm:custom")
    study.run(names)
    empties = {language: subsets.empty(study, language) for language in study.languages}
    definition = "empty: a test URL whose words are all trivial or in no training URL"
    tables = [
        MeasureTable(
            name,
            title,
            "Baykan 2013, Table XIII",
            ("language", "classifier"),
            (*MEASURES, *more),
            tuple(row for item in empties.items() for row in rows(study, names, *item)),
            F1,
            (blocks.STAR, definition, *blocks.notes(study)),
        )
        for name, title, more, rows in (
            ("features", "SVM with three feature sets, all URLs", EMPTY, _with_empty),
            ("features-not-empty", "The same without empty URLs", (), _without_empty),
        )
    ]
    return Result("feature-comparison", tuple(tables))


def _with_empty(
    study: Study, names: Sequence[str], language: str, is_empty: blocks.Flags
) -> list[Row]:
    """Four measures, the share of empty test URLs, and the share of empty ones that got a Yes."""
    rows = []
    for name in names:
        published = _published_features(language, name)
        said_yes = study.decisions(name, language)
        figures = (
            *blocks.cells(study, name, language, published[:4]),
            Cell(100 * float(is_empty.mean()), paper=published[4]),
            Cell(100 * float((is_empty & said_yes).mean()), paper=published[5]),
        )
        rows.append(_feature_row(study, names, language, name, figures, None))
    return rows


def _without_empty(
    study: Study, names: Sequence[str], language: str, is_empty: blocks.Flags
) -> list[Row]:
    rows = []
    for name in names:
        published = _published_features(language, name)
        figures = blocks.cells(study, name, language, published[6:], among=~is_empty)
        rows.append(_feature_row(study, names, language, name, figures, ~is_empty))
    return rows


def _published_features(language: str, name: str) -> tuple[float | None, ...]:
    return paper.EMPTY.get(language, {}).get(name) or (None,) * 10


def _feature_row(
    study: Study,
    names: Sequence[str],
    language: str,
    name: str,
    figures: tuple[Cell, ...],
    among: blocks.Flags | None,
) -> Row:
    return Row(
        (language_name(language), label(name)),
        figures,
        is_best=name == blocks.best_of(study, names, language, among=among),
        is_best_in_paper=paper.BEST["empty"].get(language) == name,
        key={"language": language, "classifier": name},
    )


def comparison(study: Study) -> Result:
    """Table XIV, Figures 3 and 4."""
    names = blocks.possible(study, COMPARED)
    table = blocks.four_measures(
        study,
        names,
        blocks.Heading(
            name="comparison",
            title="Comparison of approaches",
            source="Baykan 2013, Table XIV",
            published=paper.COMPARISON,
            best_in_paper=paper.BEST["comparison"],
            notes=blocks.notes(study),
        ),
    )
    three = blocks.possible(study, ("svm:words", "svm:allgrams-from-word", "dt:custom"))
    of_three = blocks.four_measures(study, three, blocks.Heading())
    drawn = (
        paper_figures.points(of_three, "figure-3", "F1 of three classifiers", three),
        paper_figures.bars(table, "figure-4", "Macro-averaged F1"),
    )
    return Result("comparison", (table,), drawn)


@dataclass(frozen=True)
class SizeHeading:
    """The names of the table and the plot of training sizes, and the paper's figures."""

    name: str
    figure: str
    title: str
    source: str
    whole: Mapping[str, float] = field(default_factory=dict)
    """Macro-averaged F1 with all training URLs."""
    smallest: Mapping[str, float] = field(default_factory=dict)
    """The same with the smallest share."""


def training_sizes(study: Study) -> Result:
    """Figure 5: macro-averaged F1 with fewer and fewer training URLs and the same test folds."""
    heading = SizeHeading(
        "training-sizes",
        "figure-5",
        "Macro-averaged F1 by the share of the training URLs",
        "Baykan 2013, Figure 5 and 4.7.2",
        paper.MACRO_F1,
        paper.SMALLEST_TRAINING_F1,
    )
    return sizes(study, heading)


def sizes(study: Study, heading: SizeHeading) -> Result:
    """Macro-averaged F1 of each classifier with each share of the training URLs."""
    names = blocks.possible(study, COMPARED)
    settings = [Setting(share=share) for share in SHARES]
    study.run(names, settings)
    numbers = [_training_urls(study, setting) for setting in settings]
    rows = []
    for name in names:
        cells = [_macro_f1(study, name, setting) for setting in settings]
        published = (heading.whole.get(name), None, None, heading.smallest.get(name))
        beside = published if _is_papers(study) else (None,) * len(SHARES)
        rows.append(
            Row(
                (label(name),),
                tuple(Cell(ours, paper=figure) for ours, figure in zip(cells, beside, strict=True)),
                key={"classifier": name},
            )
        )
    columns = tuple(
        f"{100 * share:g} %: {number} URLs" for share, number in zip(SHARES, numbers, strict=True)
    )
    notes = (
        "URLs: the training URLs of one classifier, half of them positive",
        *blocks.notes(study),
    )
    table = MeasureTable(
        heading.name,
        heading.title,
        heading.source,
        ("classifier",),
        columns,
        tuple(rows),
        None,
        notes,
    )
    lines = [
        {"label": row.heads[0], "x": numbers, "y": [cell.ours for cell in row.cells]}
        for row in rows
    ]
    data = {"lines": lines, "x_label": "training URLs of a classifier", "y_label": "mean F1"}
    return Result(heading.name, (table,), (Figure(heading.figure, heading.title, "curves", data),))


def _training_urls(study: Study, setting: Setting) -> int:
    return len(study.splits(study.languages[0], setting).part(0)[0])


def _macro_f1(study: Study, name: str, setting: Setting) -> float:
    of_languages = [
        blocks.cells(study, name, language, setting=setting)[F1] for language in study.languages
    ]
    return blocks.average(of_languages).ours


def _is_papers(study: Study) -> bool:
    """Whether the study has the languages of the paper, so that means can be compared."""
    return set(study.languages) == set(paper.LANGUAGES)


def chosen(study: Study, names: Sequence[str]) -> Result:
    """One table of the named classifiers."""
    published = {
        language: {
            **paper.COMPARISON.get(language, {}),
            **paper.WORDS.get(language, {}),
            **paper.CUSTOM.get(language, {}),
        }
        for language in study.languages
    }
    table = blocks.four_measures(
        study,
        names,
        blocks.Heading(
            name="classifiers",
            title="The classifiers chosen",
            source="Baykan 2013, Tables V, VII, IX, XII, XIV",
            published=published,
        ),
    )
    drawn = (
        paper_figures.points(table, "classifiers", "F1 of the classifiers chosen", names),
        paper_figures.bars(
            table, "classifiers-mean", "Macro-averaged F1 of the classifiers chosen"
        ),
    )
    return Result("classifiers", (table,), drawn)


COMPARISONS: Final[Mapping[str, Experiment]] = {
    "feature-comparison": feature_comparison,
    "comparison": comparison,
    "training-sizes": training_sizes,
}
