"""The tables of a study of pages or texts: accuracy by language, length, kind and encoding.

A case without an answer counts as wrong, except in coverage (the share of cases with an answer)
and precision (the share of right ones among these).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from classifiers.lab.study import page_answers, page_papers, page_tamura
from classifiers.lab.study.page_measures import (
    MAIN_KINDS,
    grouped,
    macro_right,
    main_places,
    row,
    share_right,
)
from classifiers.lab.study.page_runs import Case, Cases, MethodRun
from classifiers.languages import name as language_name
from classifiers.papers.table import MeasureTable, Result, Row

BUCKETS: Final = (
    ("< 25", 0, 24),
    ("25-50", 25, 49),
    ("50-150", 50, 150),
    ("> 150", 151, None),
)
"""Lengths of visible text: name, least and greatest number of characters."""

_NAN: Final = float("nan")
_EVERY: Final = "all"


def results(cases: Cases, runs: Sequence[MethodRun]) -> tuple[Result, ...]:
    """All tables about the answers of some methods (at least one)."""
    found = [
        accuracy(cases, runs),
        languages(cases, runs),
        lengths(cases, runs),
        kinds(cases, runs),
        page_answers.evidence(cases, runs),
        page_answers.confusions(cases, runs),
        page_answers.calibration(cases, runs),
        page_papers.papers(cases, runs, main_places(cases)),
        page_tamura.verifications(cases, runs),
    ]
    if cases.sort == "pages":
        found.insert(4, encodings(cases, runs))
    return tuple(result for result in found if any(table.rows for table in result.tables))


def accuracy(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Accuracy over all languages and over those that each method knows, and CPU time."""
    every = range(len(cases.cases))
    rows, costs = [], []
    for run in runs:
        known = [place for place in every if run.can_answer(cases.cases[place].language)]
        answered = [place for place in every if run.answers[place] is not None]
        cells = (
            share_right(cases, run, every),
            macro_right(cases, run, every),
            share_right(cases, run, known),
            macro_right(cases, run, known),
            100 * len(answered) / len(every) if every else _NAN,
            share_right(cases, run, answered),
        )
        knows = str(len(run.knows)) if run.knows else "any"
        rows.append(row((run.name, knows), cells, method=run.name))
        costs.append(row((run.name,), (run.ms_per_page,), method=run.name))
    if not math.isnan(cases.parse_ms):
        costs.append(row(("(parsing)",), (cases.parse_ms,)))
    columns = ("right", "macro", "known", "known, macro", "coverage", "precision")
    title = f"Accuracy on {len(cases.cases)} {cases.sort}"
    notes = (
        "known: in the languages that a method can answer. macro: the mean over languages. No"
        " answer is wrong; precision leaves it out.",
    )
    right = MeasureTable(
        "accuracy", title, "", ("method", "languages"), columns, tuple(rows), None, notes, 2
    )
    title = f"CPU time in ms for one of the {cases.sort}"
    cost = MeasureTable("cost", title, "", ("method",), ("ms",), tuple(costs), digits=3)
    return Result("accuracy", (right, cost))


def languages(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Accuracy for each language, the one with the most cases first."""
    groups = _by_size(cases, lambda case: case.language)
    rows = []
    for code, places in groups:
        shares = [share_right(cases, run, places) if run.can_answer(code) else _NAN for run in runs]
        rows.append(row((language_name(code), str(len(places))), shares, language=code))
    notes = ("- means that the method does not know the language.",)
    return _result("languages", "Accuracy by language", ("language", cases.sort), runs, rows, notes)


def lengths(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Accuracy by characters of visible text, in all languages and in known ones."""
    main = main_places(cases)
    heads = ("characters", cases.sort)
    which = "" if len(main) == len(cases.cases) else f" of {' and '.join(MAIN_KINDS)}"
    all_rows = list(_length_rows(cases, runs, main))
    known_rows = list(_length_rows(cases, runs, main, only_known=True))
    known = "in the languages that each method knows"
    tables = (
        _table("lengths", f"Accuracy by length{which}", heads, runs, all_rows),
        _table("lengths-known", f"Accuracy by length{which}, {known}", heads, runs, known_rows),
    )
    return Result("lengths", tables)


def kinds(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Accuracy for each kind of text or page, and by length within it."""
    rows: list[Row] = []
    for kind, places in _by_size(cases, lambda case: case.kind):
        for one in _length_rows(cases, runs, places):
            rows.append(Row((kind, *one.heads), one.cells, key={**one.key, "kind": kind}))
    heads = ("kind", "characters", cases.sort)
    return _result("kinds", "Accuracy by kind and length", heads, runs, rows)


def encodings(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Accuracy by the encoding of the page."""
    groups = _by_size(cases, lambda case: case.page.charset)
    rows = _group_rows(cases, runs, groups, "encoding")
    title = "Accuracy by encoding, as the parser decoded the page"
    return _result("encodings", title, ("encoding", cases.sort), runs, rows)


def _length_rows(
    cases: Cases, runs: Sequence[MethodRun], places: Sequence[int], *, only_known: bool = False
) -> Iterator[Row]:
    """Yield a row for each bucket that is not empty, and one for all if there are several."""
    groups = [(name, in_bucket(cases, places, name)) for name, _, _ in BUCKETS]
    groups = [(name, group) for name, group in groups if group]
    if len(groups) > 1:
        groups.append((_EVERY, list(places)))
    yield from _group_rows(cases, runs, groups, "characters", only_known=only_known)


def in_bucket(cases: Cases, places: Iterable[int], name: str) -> list[int]:
    """The places whose cases have a length in the bucket; `name` is one of BUCKETS."""
    first, last = next((first, last) for known, first, last in BUCKETS if known == name)
    return [
        place
        for place in places
        if first <= cases.cases[place].characters
        and (last is None or cases.cases[place].characters <= last)
    ]


def _group_rows(
    cases: Cases,
    runs: Sequence[MethodRun],
    groups: Iterable[tuple[str, list[int]]],
    what: str,
    *,
    only_known: bool = False,
) -> list[Row]:
    rows = []
    for name, places in groups:
        shares = [
            share_right(cases, run, _known(cases, run, places) if only_known else places)
            for run in runs
        ]
        rows.append(row((name, str(len(places))), shares, **{what: name}))
    return rows


def _known(cases: Cases, run: MethodRun, places: Iterable[int]) -> list[int]:
    return [place for place in places if run.can_answer(cases.cases[place].language)]


def _by_size(cases: Cases, by: Callable[[Case], str]) -> list[tuple[str, list[int]]]:
    groups = grouped(cases, range(len(cases.cases)), by)
    return sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def _table(
    name: str,
    title: str,
    heads: tuple[str, ...],
    runs: Sequence[MethodRun],
    rows: Iterable[Row],
    notes: tuple[str, ...] = (),
) -> MeasureTable:
    columns = tuple(run.name for run in runs)
    return MeasureTable(name, title, "", heads, columns, tuple(rows), None, notes)


def _result(
    name: str,
    title: str,
    heads: tuple[str, ...],
    runs: Sequence[MethodRun],
    rows: Iterable[Row],
    notes: tuple[str, ...] = (),
) -> Result:
    return Result(name, (_table(name, title, heads, runs, rows, notes),))
