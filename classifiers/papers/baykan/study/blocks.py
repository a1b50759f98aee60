"""Parts of tables that several experiments share: four measures, confusion, averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import name as language_name
from classifiers.papers import evaluation
from classifiers.papers.baykan.features import dictionaries
from classifiers.papers.baykan.study import paper
from classifiers.papers.baykan.study.names import label, parse
from classifiers.papers.baykan.study.validation import STANDARD, Setting, Study
from classifiers.papers.significance import best
from classifiers.papers.table import MEASURES, Cell, MeasureTable, Row

F1: Final = 3
MEAN: Final = "mean"

STAR: Final = "* significantly better than each other one, one-tailed paired t-test, p < 0.025"

WITHOUT_SERVERS: Final = (
    "no countries of servers were given: IP and the classifiers with IP are left out"
)

WITHOUT_DICTIONARIES: Final = (
    "custom-made features are left out: pip install 'langfocus[dictionaries]' adds them"
)

Flags = npt.NDArray[np.bool_]


def possible(study: Study, names: Sequence[str]) -> list[str]:
    """The names without those that need missing countries of servers or dictionaries."""
    with_custom = dictionaries.are_installed()
    known = (name for name in names if study.knows(name))
    return [name for name in known if with_custom or not parse(name).needs_dictionaries]


def notes(study: Study) -> tuple[str, ...]:
    """The notes of a table about the classifiers that are left out."""
    return (
        *(() if study.servers is not None else (WITHOUT_SERVERS,)),
        *(() if dictionaries.are_installed() else (WITHOUT_DICTIONARIES,)),
    )


@dataclass(frozen=True)
class Heading:
    """The name of a table, and the paper's figures that it shows beside ours."""

    name: str = ""
    title: str = ""
    source: str = ""
    """The paper's table; '' if no paper has one."""
    published: paper.Rows = field(default_factory=dict)
    """The paper's four measures: language -> classifier."""
    best_in_paper: Mapping[str, str] = field(default_factory=dict)
    """Language -> the classifier that the paper marks as significantly better."""
    notes: tuple[str, ...] = ()


def cells(
    study: Study,
    name: str,
    language: str,
    published: Sequence[float | None] | None = None,
    *,
    setting: Setting = STANDARD,
    among: Flags | None = None,
) -> tuple[Cell, ...]:
    """P, R, p(-|-) and F1 of a classifier, with the deviation over the folds and the paper's."""
    of_folds = study.scores(name, language, setting, among)
    means, spreads = evaluation.mean_and_spread(100 * of_folds)
    beside = published or (None,) * len(MEASURES)
    return tuple(
        Cell(float(mean), float(spread), figure)
        for mean, spread, figure in zip(means, spreads, beside, strict=True)
    )


def best_of(
    study: Study,
    names: Sequence[str],
    language: str,
    setting: Setting = STANDARD,
    among: Flags | None = None,
) -> str | None:
    """The classifier whose F1 is significantly higher than that of each other one, if any."""
    return best({name: study.scores(name, language, setting, among)[:, F1] for name in names})


def four_measures(study: Study, names: Sequence[str], heading: Heading) -> MeasureTable:
    """P, R, p(-|-) and F1 of each classifier, language by language, and the macro averages."""
    study.run(names)
    rows = [row for code in study.languages for row in _rows_of(study, names, code, heading)]
    rows += [
        Row(
            (MEAN, label(classifier)),
            macro([row.cells for row in rows if row.key["classifier"] == classifier]),
            key={"language": MEAN, "classifier": classifier},
        )
        for classifier in names
    ]
    return MeasureTable(
        heading.name,
        heading.title,
        heading.source,
        ("language", "classifier"),
        MEASURES,
        tuple(rows),
        F1,
        (STAR, *heading.notes),
    )


def _rows_of(study: Study, names: Sequence[str], language: str, heading: Heading) -> Iterator[Row]:
    """Yield a row of four measures for each classifier of a language."""
    first = best_of(study, names, language)
    published = heading.published.get(language, {})
    for classifier in names:
        yield Row(
            (language_name(language), label(classifier)),
            cells(study, classifier, language, published.get(classifier)),
            is_best=classifier == first,
            is_best_in_paper=heading.best_in_paper.get(language) == classifier,
            key={"language": language, "classifier": classifier},
        )


def macro(of_languages: Sequence[Sequence[Cell]]) -> tuple[Cell, ...]:
    """The macro averages of columns of cells; the paper's only if it has all figures."""
    return tuple(average(column) for column in zip(*of_languages, strict=True))


def average(column: Sequence[Cell]) -> Cell:
    """The mean of the cells that are defined; the paper's mean only if every cell has one."""
    ours = [cell.ours for cell in column if not np.isnan(cell.ours)]
    theirs = [cell.paper for cell in column if cell.paper is not None]
    return Cell(
        float(np.mean(ours)) if ours else float("nan"),
        paper=round(float(np.mean(theirs)), 1) if len(theirs) == len(column) else None,
    )


def confusion(study: Study, classifier: str, *, name: str, title: str, source: str) -> MeasureTable:
    """Share of each language's test URLs (rows) for which each classifier (columns) said Yes."""
    study.run([classifier])
    languages = study.languages
    published = paper.CONFUSION.get(classifier)
    ours = np.column_stack([_column(study, classifier, language) for language in languages])
    rows = tuple(
        Row(
            (language_name(language),),
            tuple(
                Cell(100 * float(ours[at, column]), paper=_published(published, language, other))
                for column, other in enumerate(languages)
            ),
            key={"language": language},
        )
        for at, language in enumerate(languages)
    )
    note = "each URL was judged by classifiers that were not trained on it"
    return MeasureTable(name, title, source, ("URLs in",), languages, rows, None, (note,), digits=0)


def _column(study: Study, classifier: str, language: str) -> npt.NDArray[np.float64]:
    """Share of Yes of one classifier for the URLs of each language, mean of the folds."""
    sample, said_yes = study.sample(language), study.decisions(classifier, language)
    columns = study.corpus.columns[sample.places]
    shares = np.full((study.n_folds, len(study.languages)), np.nan)
    for fold in range(study.n_folds):
        for column in range(len(study.languages)):
            chosen = (sample.folds == fold) & (columns == column)
            if chosen.any():
                shares[fold, column] = said_yes[chosen].mean()
    return evaluation.mean_and_spread(shares)[0]


def _published(
    matrix: tuple[tuple[float, ...], ...] | None, language: str, other: str
) -> float | None:
    if matrix is None or not {language, other} <= set(paper.LANGUAGES):
        return None
    return matrix[paper.LANGUAGES.index(language)][paper.LANGUAGES.index(other)]
