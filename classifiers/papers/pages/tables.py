"""The tables of a study of pages or texts: accuracy by language and length, and evidence.

A case without an answer counts as wrong, except in coverage (the share of cases with an answer)
and precision (the share of right ones among these).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from classifiers.languages import name as language_name
from classifiers.papers.cai.tables import cai_tables, evidence_in_paper
from classifiers.papers.page_cases import MAIN_KINDS, Cases, MethodRun, grouped
from classifiers.papers.pages.claims import papers
from classifiers.papers.table import Cell, MeasureTable, Result, Row
from classifiers.papers.tamura.tables import verifications

BUCKETS: Final = {"< 25": 24, "25-50": 49, "50-150": 150, "> 150": math.inf}
"""Lengths of visible text: name and greatest number of characters."""


def results(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """All tables about the answers of some methods (at least one) that have rows."""
    tables = [
        *_accuracy(cases, runs),
        *_by_groups(cases, runs),
        _evidence(cases, runs),
        *cai_tables(cases, runs),
        papers(cases, runs, cases.main_places),
        *verifications(cases, runs),
    ]
    return Result("pages", tuple(table for table in tables if table.rows))


def _accuracy(cases: Cases, runs: Sequence[MethodRun]) -> tuple[MeasureTable, MeasureTable]:
    """Accuracy over all languages and over those that each method knows, and CPU time."""
    every = range(len(cases.cases))
    rows, costs = [], []
    for run in runs:
        known, answered = run.known(every), run.answered(every)
        figures = (
            run.right(every),
            run.macro_right(every),
            run.right(known),
            run.macro_right(known),
            100 * len(answered) / len(every) if every else math.nan,
            run.right(answered),
        )
        languages = str(len(run.knows)) if run.knows else "any"
        rows.append(_row((run.name, languages), figures, method=run.name))
        costs.append(_row((run.name,), (run.ms_per_page,), method=run.name))
    if not math.isnan(cases.parse_ms):
        costs.append(_row(("(parsing)",), (cases.parse_ms,)))
    columns = ("right", "macro", "known", "known, macro", "coverage", "precision")
    title = f"Accuracy on {len(cases.cases)} {cases.sort}"
    notes = (
        "known: in the languages that a method can answer. macro: the mean over languages. No"
        " answer is wrong; precision leaves it out.",
    )
    heads = ("method", "languages")
    right = MeasureTable("accuracy", title, "", heads, columns, tuple(rows), None, notes, 2)
    title = f"CPU time in ms for one of the {cases.sort}"
    return right, MeasureTable("cost", title, "", ("method",), ("ms",), tuple(costs), digits=3)


def _by_groups(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """The tables by language and by length, with a column for each method."""
    names = tuple(run.name for run in runs)
    rows = []
    groups = grouped(cases.cases, range(len(cases.cases)))
    for code, places in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        figures = [run.right(run.known(places)) for run in runs]
        rows.append(_row((language_name(code), str(len(places))), figures, language=code))
    heads, title = ("language", cases.sort), "Accuracy by language"
    notes = ("- means that the method does not know the language.",)
    yield MeasureTable("languages", title, "", heads, names, tuple(rows), notes=notes)
    main = cases.main_places
    which = "" if len(main) == len(cases.cases) else f" of {' and '.join(MAIN_KINDS)}"
    rows = [
        _row((length, str(len(places))), [run.right(places) for run in runs])
        for length, places in _by_length(cases, main)
    ]
    heads, title = ("characters", cases.sort), f"Accuracy by length{which}"
    yield MeasureTable("lengths", title, "", heads, names, tuple(rows))


def _by_length(cases: Cases, places: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Yield each bucket that is not empty, and all if there are several."""
    groups = grouped(cases.cases, places, lambda case: bucket(case.characters))
    yield from ((name, groups[name]) for name in BUCKETS if name in groups)
    if len(groups) > 1:
        yield "all", list(places)


def bucket(characters: int) -> str:
    """The name of the bucket that has a length."""
    return next(name for name, last in BUCKETS.items() if characters <= last)


def _evidence(cases: Cases, runs: Sequence[MethodRun]) -> MeasureTable:
    """The share of answers that each kind of evidence decided, and of right ones among them."""
    rows = []
    for run in runs:
        places = range(len(run.decided))
        groups = {
            kind: [at for at in places if run.decided[at] == kind] for kind in set(run.decided)
        }
        for kind, group in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            coverage, precision = evidence_in_paper(run.name, kind)
            figures = (
                Cell(100 * len(group) / len(places), paper=coverage),
                Cell(run.right(run.answered(group)), paper=precision),
            )
            key = {"method": run.name, "evidence": kind}
            rows.append(Row((run.name, kind, str(len(group))), figures, key=key))
    title = "Deciding evidence: its share of all answers, and the share of right ones among them"
    heads, columns = ("method", "decided by", cases.sort), ("coverage", "precision")
    source = "Cai 2009, Table 4-4"
    return MeasureTable("evidence", title, source, heads, columns, tuple(rows), digits=2)


def _row(heads: tuple[str, ...], figures: Iterable[float], **key: str) -> Row:
    """A row of figures that no paper has."""
    return Row(heads, tuple(map(Cell, figures)), key=key)
