"""The tables of a study of pages or texts: accuracy by language, length, kind and encoding.

A case without an answer counts as wrong, except in coverage (the share of cases with an answer)
and precision (the share of right ones among these).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from classifiers.errors import LanguageError
from classifiers.languages import name as language_name
from classifiers.papers.cai.tables import cai_tables, evidence_in_paper
from classifiers.papers.page_cases import MAIN_KINDS, UNKNOWN, Cases, MethodRun, grouped
from classifiers.papers.pages.claims import papers
from classifiers.papers.table import Cell, MeasureTable, Result, Row
from classifiers.papers.tamura.tables import verifications

BUCKETS: Final = (
    ("< 25", 0, 24),
    ("25-50", 25, 49),
    ("50-150", 50, 150),
    ("> 150", 151, None),
)
"""Lengths of visible text: name, least and greatest number of characters."""

_BINS: Final = 10
_CONFUSIONS: Final = 10
_EVERY: Final = "all"

Group = tuple[tuple[str, ...], list[int]]
"""The heads of a row without the number of its cases, and the places of these cases."""


def results(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """All tables about the answers of some methods (at least one) that have rows."""
    tables = [
        *_accuracy(cases, runs),
        *_by_groups(cases, runs),
        _evidence(cases, runs),
        *cai_tables(cases, runs),
        _confusions(cases, runs),
        _calibration(runs),
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
    """Tables with a row for each group of cases and a column for each method."""
    main = cases.main_places
    which = "" if len(main) == len(cases.cases) else f" of {' and '.join(MAIN_KINDS)}"
    length, charset = "Accuracy by length", "Accuracy by encoding, as the parser decoded the page"
    languages = _by_size(cases, "language")
    lengths = list(_by_length(cases, main))
    kinds = [
        ((kind, *heads), group)
        for (kind,), places in _by_size(cases, "kind")
        for heads, group in _by_length(cases, places)
    ]
    encodings = _by_size(cases, "encoding") if cases.sort == "pages" else []
    of_known = f"{length}{which}, in the languages that each method knows"
    for name, title, heads, groups in (
        ("languages", "Accuracy by language", ("language",), languages),
        ("lengths", f"{length}{which}", ("characters",), lengths),
        ("lengths-known", of_known, ("characters",), lengths),
        ("kinds", "Accuracy by kind and length", ("kind", "characters"), kinds),
        ("encodings", charset, ("encoding",), encodings),
    ):
        rows = []
        for named, places in groups:
            of_runs = (run.known(places) if name in _OF_KNOWN else places for run in runs)
            figures = [run.right(group) for run, group in zip(runs, of_runs, strict=True)]
            key = {"language": named[0]} if name == "languages" else {}
            shown = (language_name(named[0]),) if name == "languages" else named
            rows.append(_row((*shown, str(len(places))), figures, **key))
        columns, notes = tuple(run.name for run in runs), _NOTES.get(name, ())
        all_heads = (*heads, cases.sort)
        yield MeasureTable(name, title, "", all_heads, columns, tuple(rows), None, notes)


_OF_KNOWN: Final = frozenset({"languages", "lengths-known"})
"""Tables about the languages that a method knows."""
_NOTES: Final = {"languages": ("- means that the method does not know the language.",)}


def _by_size(cases: Cases, by: str) -> list[Group]:
    """The cases by language, kind or encoding, the largest group first."""
    property_of = {
        "language": lambda case: case.language,
        "kind": lambda case: case.kind,
        "encoding": lambda case: case.page.charset,
    }[by]
    groups = grouped(cases.cases, range(len(cases.cases)), property_of)
    return [
        ((name,), places)
        for name, places in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def _by_length(cases: Cases, places: Sequence[int]) -> Iterator[Group]:
    """Yield each bucket that is not empty, and all if there are several."""
    groups = grouped(cases.cases, places, lambda case: bucket(case.characters))
    yield from (((name,), groups[name]) for name, _, _ in BUCKETS if name in groups)
    if len(groups) > 1:
        yield (_EVERY,), list(places)


def bucket(characters: int) -> str:
    """The name of the bucket that has a length."""
    return next(name for name, _, last in BUCKETS if last is None or characters <= last)


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


def _confusions(cases: Cases, runs: Sequence[MethodRun]) -> MeasureTable:
    """The most frequent wrong answers of each method."""
    rows = []
    for run in runs:
        counts = run.confusion()
        pairs = sorted(
            (-count, code, answer)
            for code, answers in counts.items()
            for answer, count in answers.items()
            if answer not in {code, UNKNOWN}
        )
        for less, code, answer in pairs[:_CONFUSIONS]:
            share = -100 * less / sum(counts[code].values())
            heads = (run.name, language_name(code), _named(answer), str(-less))
            rows.append(_row(heads, (share,), method=run.name, language=code, answer=answer))
    heads = ("method", "language", "answered", cases.sort)
    title = f"The {_CONFUSIONS} most frequent confusions of each method"
    return MeasureTable("confusions", title, "", heads, ("% of the language",), tuple(rows))


def _calibration(runs: Sequence[MethodRun]) -> MeasureTable:
    """Mean confidence beside accuracy, for the answers in each tenth of confidence."""
    rows = [row for run in runs for row in _tenths(run)]
    notes = ("The error of all is the mean of those of the tenths, weighted by their answers.",)
    heads = ("method", "confidence", "answers")
    columns = ("mean confidence", "right", "error")
    title = "Confidence and accuracy"
    return MeasureTable("calibration", title, "", heads, columns, tuple(rows), None, notes)


def _tenths(run: MethodRun) -> Iterator[Row]:
    answered, weighted = run.answered(range(len(run.answers))), 0.0
    for number in range(_BINS):
        group = [at for at in answered if _tenth(run.confidences[at]) == number]
        if group:
            mean, right = _mean_confidence(run, group), run.right(group)
            weighted += len(group) * abs(mean - right)
            tenth = f"{number / _BINS:.1f}-{(number + 1) / _BINS:.1f}"
            heads = (run.name, tenth, str(len(group)))
            yield _row(heads, (mean, right, abs(mean - right)), method=run.name)
    if answered:
        figures = (_mean_confidence(run, answered), run.right(answered), weighted / len(answered))
        yield _row((run.name, _EVERY, str(len(answered))), figures, method=run.name)


def _tenth(confidence: float) -> int:
    return min(_BINS - 1, max(0, int(confidence * _BINS)))


def _mean_confidence(run: MethodRun, places: Sequence[int]) -> float:
    return 100 * sum(run.confidences[at] for at in places) / len(places)


def _row(heads: tuple[str, ...], figures: Iterable[float], **key: str) -> Row:
    """A row of figures that no paper has."""
    return Row(heads, tuple(map(Cell, figures)), key=key)


def _named(code: str) -> str:
    """The English name of a language; its code if it has no name here."""
    try:
        return language_name(code)
    except LanguageError:
        return code
