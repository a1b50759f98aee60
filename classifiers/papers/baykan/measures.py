"""The measures of the study as tables: each turns a row of `experiments` into a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from classifiers.languages import name as language_name
from classifiers.papers import evaluation
from classifiers.papers.baykan import dictionaries
from classifiers.papers.baykan.algorithms import label, parse
from classifiers.papers.baykan.figures import Figures, marked, printed
from classifiers.papers.baykan.grams import Words
from classifiers.papers.baykan.samples import Flags
from classifiers.papers.baykan.study import STANDARD, Setting, Study
from classifiers.papers.table import MEASURES, Cell, Figure, MeasureTable, Result, Row
from classifiers.tables.country_domains import TABLE_I

F1: Final = 3
MEAN: Final = "mean"
TRIVIAL: Final = frozenset({"com", "net", "www", "index", "html"})
"""Words that leave a URL empty (Baykan 2013, 4.6)."""

STAR: Final = "* significantly better than each other one, one-tailed paired t-test, p < 0.025"
WITHOUT_SERVERS: Final = (
    "no countries of servers were given: IP and the classifiers with IP are left out"
)
WITHOUT_DICTIONARIES: Final = (
    "custom-made features are left out: pip install 'langfocus[dictionaries]' adds them"
)
_TEXTS: Final = {False: "any", True: "unseen"}
"""Whether folds are disjoint -> the domains of test URLs."""


@dataclass(frozen=True)
class Experiment:
    """One experiment: classifiers on URLs, measured, beside the paper's tables."""

    title: str
    source: str
    """The paper's table; '' if no paper has one."""
    classifiers: tuple[str, ...]
    """Empty for an experiment with classifiers of its own."""
    measure: Callable[[Experiment, str, Study, Sequence[str]], Result]
    """Takes the row, its name, a study and the classifiers that are possible in it."""
    data: tuple[Setting, ...] = (STANDARD,)
    printed: tuple[str, ...] = ()
    """The tables of `figures.tsv`; the last one marks the best classifiers."""
    notes: tuple[str, ...] = field(default=())


def carry_out(row: Experiment, name: str, study: Study) -> Result:
    """Compute an experiment, without the classifiers that lack countries or dictionaries."""
    # If nothing is left the experiment says what it needs.
    names = possible(study, row.classifiers) or list(row.classifiers)
    study.run(names, row.data)
    return row.measure(row, name, study, names)


def possible(study: Study, names: Sequence[str]) -> list[str]:
    """The names without those that need missing countries of servers or dictionaries."""
    with_custom = dictionaries.are_installed()
    parsed = ((name, parse(name)) for name in names)
    return [
        name
        for name, parts in parsed
        if (study.servers is not None or not parts.needs_addresses)
        and (with_custom or not parts.is_custom)
    ]


def left_out(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """The notes about classifiers of an experiment that are left out or lack a feature."""
    parsed = [parse(name) for name in names]
    is_custom = any(each.is_custom for each in parsed)
    needs_servers = is_custom or any(each.needs_addresses for each in parsed)
    return (
        *([WITHOUT_SERVERS] if needs_servers and study.servers is None else []),
        *([WITHOUT_DICTIONARIES] if is_custom and not dictionaries.are_installed() else []),
    )


def cells(
    study: Study,
    name: str,
    language: str,
    beside: Figures | None = None,
    *,
    setting: Setting = STANDARD,
    among: Flags | None = None,
) -> tuple[Cell, ...]:
    """P, R, p(-|-) and F1 of a classifier, with the deviation over the folds and the paper's."""
    of_folds = study.scores(name, language, setting, among)
    means, spreads = evaluation.mean_and_spread(100 * of_folds)
    has_folds = study.n_folds > 1
    return tuple(
        Cell(float(mean), float(spread) if has_folds else None, figure)
        for mean, spread, figure in zip(means, spreads, beside or (None,) * 4, strict=True)
    )


def best_of(
    study: Study, names: Sequence[str], language: str, among: Flags | None = None
) -> str | None:
    """The classifier whose F1 is significantly higher than that of each other one, if any."""
    return evaluation.best(
        {name: study.scores(name, language, STANDARD, among)[:, F1] for name in names}
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


def four(row: Experiment, name: str, study: Study, names: Sequence[str]) -> Result:
    """P, R, p(-|-) and F1 of each classifier, language by language, and the macro averages."""
    return Result(name, (four_measures(row, name, study, names),))


def four_measures(row: Experiment, name: str, study: Study, names: Sequence[str]) -> MeasureTable:
    rows = [line for code in study.languages for line in _rows_of(row, study, names, code)]
    for each in names:
        own = [line.cells for line in rows if line.key["classifier"] == each]
        rows.append(Row((MEAN, label(each)), macro(own), key=_key(MEAN, each)))
    star = (STAR,) if study.n_folds > 1 else ()
    notes = (*star, *row.notes, *left_out(study, row.classifiers))
    heads = ("language", "classifier")
    return MeasureTable(name, row.title, row.source, heads, MEASURES, tuple(rows), F1, notes)


def _rows_of(row: Experiment, study: Study, names: Sequence[str], language: str) -> Iterator[Row]:
    """Yield a row of four measures for each classifier of a language."""
    first, theirs = best_of(study, names, language), printed(*row.printed)
    first_there = marked(row.printed[-1]).get(language) if row.printed else None
    for each in names:
        yield Row(
            (language_name(language), label(each)),
            cells(study, each, language, theirs.get((language, each))),
            is_best=each == first,
            is_best_in_paper=each == first_there,
            key=_key(language, each),
        )


def baselines(row: Experiment, name: str, study: Study, names: Sequence[str]) -> Result:
    """Tables V to VIII and Figure 1."""
    measured = four_measures(row, name, study, names)
    # ccTLD and ccTLD+ differ in English only.
    shown = [
        each
        for each in measured.rows
        if each.key["classifier"] != "cctld+" or each.key["language"] == "en"
    ]
    measured = replace(measured, rows=tuple(shown))
    compared = [each for each in names if each != "cctld+"]
    figure = points(measured, "figure-1", "F1 of the baselines", compared)
    return Result(name, (measured, *(confusion(study, each) for each in names)), (figure,))


def confusion(study: Study, classifier: str) -> MeasureTable:
    """Share of each language's test URLs (rows) for which each classifier (columns) said Yes."""
    languages, theirs = study.languages, printed("VI")
    ours = np.column_stack([_said_yes(study, classifier, language) for language in languages])
    rows = []
    for at, language in enumerate(languages):
        of_row = dict(zip(TABLE_I, theirs.get((language, classifier), ()), strict=False))
        figures = [
            Cell(100 * float(ours[at, column]), paper=of_row.get(other))
            for column, other in enumerate(languages)
        ]
        rows.append(Row((language_name(language),), tuple(figures), key={"language": language}))
    of_paper = {"cctld": "VI", "cctld+": "VI, in brackets", "ip": "VIII"}[classifier]
    return MeasureTable(
        f"confusion-{classifier}",
        f"Confusion of {label(classifier)}: share of Yes, %",
        f"Baykan 2013, Table {of_paper}",
        ("URLs in",),
        languages,
        tuple(rows),
        None,
        ("each URL was judged by classifiers that were not trained on it",),
        digits=0,
    )


def _said_yes(study: Study, classifier: str, language: str) -> npt.NDArray[np.float64]:
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


def best_of_each_algorithm(
    row: Experiment, name: str, study: Study, names: Sequence[str]
) -> Result:
    """Table X: the n-grams with the highest F1 of each algorithm."""
    rows = [line for code in study.languages for line in _best_features(row, study, code, names)]
    heads = ("language", "algorithm", "n-grams", "n-grams in the paper")
    notes = (STAR, "chosen by F1 on the test folds, as in the paper")
    table = MeasureTable(name, row.title, row.source, heads, MEASURES, tuple(rows), F1, notes)
    return Result(name, (table,))


def _best_features(
    row: Experiment, study: Study, language: str, names: Sequence[str]
) -> Iterator[Row]:
    def f1(name: str) -> float:
        return float(study.scores(name, language)[:, F1].mean())

    algorithms = dict.fromkeys(name.partition(":")[0] for name in names)
    chosen = {one: max((n for n in names if n.startswith(f"{one}:")), key=f1) for one in algorithms}
    first = best_of(study, list(chosen.values()), language)
    theirs = {
        name.partition(":")[0]: (name.partition(":")[2], figures[0])
        for (code, name), figures in printed(*row.printed).items()
        if code == language
    }
    first_there = marked(row.printed[-1]).get(language, "").partition(":")[0]
    for one, name in chosen.items():
        features, published = theirs.get(one, ("", None))
        *others, last = cells(study, name, language)
        yield Row(
            (language_name(language), one, name.partition(":")[2], features),
            (*others, Cell(last.ours, last.spread, published)),
            is_best=name == first,
            is_best_in_paper=one == first_there,
            key=_key(language, name),
        )


def f1_by_language(row: Experiment, name: str, study: Study, names: Sequence[str]) -> Result:
    """F1 in a column for each language, for each classifier and setting."""
    table = f1_table(row, name, study, names)
    return Result(name, (table,))


def f1_table(row: Experiment, name: str, study: Study, names: Sequence[str]) -> MeasureTable:
    """With one setting the languages in which a classifier leads, else the domains of test URLs."""
    is_one = len(row.data) == 1
    leaders = {code: best_of(study, names, code) for code in study.languages} if is_one else {}
    theirs = printed(*row.printed)
    rows = []
    for each in names:
        leads = [language for language, first in leaders.items() if first == each]
        for setting in row.data:
            figures = []
            for language in study.languages:
                # Table XI is about the paper's own SVM.
                key = (language, each.replace("svm-perf:", "svm:"))
                published = theirs.get(key) if setting == STANDARD else None
                beside = (None, None, None, *published) if published else None
                figures.append(cells(study, each, language, beside, setting=setting)[F1])
            text = _TEXTS[setting.is_disjoint]
            rows.append(
                Row(
                    (label(each), " ".join(leads) if is_one else text),
                    (*figures, average(figures)),
                    is_best=is_one and len(leads) == len(study.languages),
                    key={"classifier": each} | ({} if is_one else {"domains": text}),
                )
            )
    heads = ("classifier", "* in" if is_one else "domains")
    notes = (*((STAR,) if is_one else ()), *left_out(study, row.classifiers))
    columns = (*study.languages, MEAN)
    return MeasureTable(name, row.title, row.source, heads, columns, tuple(rows), None, notes)


def with_empty(row: Experiment, name: str, study: Study, names: Sequence[str]) -> Result:
    """Table XIII: with and without URLs whose words are all trivial or in no training URL."""
    empties = {language: empty(study, language) for language in study.languages}
    definition = "empty: a test URL whose words are all trivial or in no training URL"
    notes = (STAR, definition, *left_out(study, row.classifiers))
    heads = ("language", "classifier")
    tables = []
    for title, suffix, more in (
        (row.title, "", ("empty", "empty, Yes")),
        ("The same without empty URLs", "-not-empty", ()),
    ):
        rows = [
            _with_empty(row, study, names, each, language, is_empty, bool(more))
            for language, is_empty in empties.items()
            for each in names
        ]
        columns = (*MEASURES, *more)
        tables.append(
            MeasureTable(
                f"features{suffix}", title, row.source, heads, columns, tuple(rows), F1, notes
            )
        )
    return Result(name, tuple(tables))


def _with_empty(
    row: Experiment,
    study: Study,
    names: Sequence[str],
    name: str,
    language: str,
    is_empty: Flags,
    has_all: bool,
) -> Row:
    """Four measures, and of all URLs the shares of empty ones and of those that got a Yes."""
    theirs = printed(*row.printed).get((language, name), (None,) * 10)
    among = None if has_all else ~is_empty
    figures = cells(study, name, language, theirs[:4] if has_all else theirs[6:], among=among)
    if has_all:
        got_yes = is_empty & study.decisions(name, language)
        shares = (100 * float(is_empty.mean()), 100 * float(got_yes.mean()))
        figures += tuple(Cell(x, paper=y) for x, y in zip(shares, theirs[4:6], strict=True))
    return Row(
        (language_name(language), label(name)),
        figures,
        is_best=name == best_of(study, names, language, among=among),
        is_best_in_paper=marked(row.printed[-1]).get(language) == name,
        key=_key(language, name),
    )


def empty(study: Study, language: str) -> Flags:
    """Whether each URL has only trivial words and words of no training URL, (n_urls,)."""
    words = Words()
    counts = words.fit_transform(study.urls(language))
    tells = ~np.isin(words.get_feature_names_out().astype(str), sorted(TRIVIAL))
    is_empty = np.ones(counts.shape[0], bool)
    for train, test in study.splits(language).parts():
        is_known = np.zeros(counts.shape[1])
        is_known[counts[train].indices] = 1.0
        is_empty[test] = counts[test] @ (is_known * tells) == 0
    return is_empty


def f1_curve(row: Experiment, name: str, study: Study, names: Sequence[str]) -> Result:
    """Figures 5 and 6: macro-averaged F1 with fewer and fewer training URLs, and the same tests."""
    first = study.languages[0]
    numbers = [len(study.splits(first, setting).part(0)[0]) for setting in row.data]
    # The paper's means are of its own languages.
    theirs = printed(*row.printed) if set(study.languages) == set(TABLE_I) else {}
    rows = []
    for each in names:
        ours = [_macro_f1(study, each, setting) for setting in row.data]
        beside = theirs.get((MEAN, each), (None,) * len(ours))
        figures = tuple(Cell(x, paper=y) for x, y in zip(ours, beside, strict=True))
        rows.append(Row((label(each),), figures, key={"classifier": each}))
    columns = tuple(
        f"{100 * setting.share:g} %: {number} URLs"
        for setting, number in zip(row.data, numbers, strict=True)
    )
    counted = "URLs: the training URLs of one classifier, half of them positive"
    notes = (counted, *left_out(study, row.classifiers))
    heads = ("classifier",)
    table = MeasureTable(name, row.title, row.source, heads, columns, tuple(rows), None, notes)
    lines = [
        {"label": line.heads[0], "x": numbers, "y": [cell.ours for cell in line.cells]}
        for line in rows
    ]
    data = {"lines": lines, "x_label": "training URLs of a classifier", "y_label": "mean F1"}
    figure = row.printed[-1].lower().replace(" ", "-")
    return Result(name, (table,), (Figure(figure, row.title, "curves", data),))


def _macro_f1(study: Study, name: str, setting: Setting) -> float:
    return average(
        [cells(study, name, language, setting=setting)[F1] for language in study.languages]
    ).ours


def points(table: MeasureTable, name: str, title: str, classifiers: Sequence[str]) -> Figure:
    """F1 with its deviation by language, for some classifiers of a table."""
    series = []
    for classifier in classifiers:
        of_one = [row for row in table.rows if row.key["classifier"] == classifier]
        shown = [row.cells[F1] for row in of_one if row.key["language"] != MEAN]
        ys, spreads = [cell.ours for cell in shown], [cell.spread for cell in shown]
        series.append({"label": label(classifier), "y": ys, "spread": spreads})
    codes = dict.fromkeys(row.key["language"] for row in table.rows)
    groups = [language_name(code) for code in codes if code != MEAN]
    return Figure(name, title, "points", {"groups": groups, "series": series, "y_label": "F1"})


def bars(table: MeasureTable, name: str, title: str) -> Figure:
    """Macro-averaged F1 of the classifiers of a table, beside that of the paper (Figure 4)."""
    means = [row for row in table.rows if row.key["language"] == MEAN]
    theirs: Mapping[tuple[str, str], Figures] = printed("Figure 4")
    data = {
        "labels": [row.heads[1] for row in means],
        "y": [row.cells[F1].ours for row in means],
        "paper": [theirs.get((MEAN, row.key["classifier"]), (None,))[0] for row in means],
        "y_label": "mean F1",
    }
    return Figure(name, title, "bars", data)


def _key(language: str, classifier: str) -> Mapping[str, str]:
    return {"language": language, "classifier": classifier}
