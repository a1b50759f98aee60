"""Tables of the answers: the evidence that decided, confusions, and calibration of confidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from classifiers.errors import LanguageError
from classifiers.lab.study import page_papers
from classifiers.lab.study.page_measures import UNKNOWN, confusion, row, share_right
from classifiers.lab.study.page_runs import Cases, MethodRun
from classifiers.languages import name as language_name
from classifiers.papers.table import Cell, MeasureTable, Result, Row

_BINS: Final = 10
_CONFUSIONS: Final = 10
_EVERY: Final = "all"


def evidence(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """The share of answers that each kind of evidence decided, and of right ones among them."""
    rows = []
    for run in runs:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, decided in enumerate(run.decided):
            places[decided].append(place)
        for decided, group in sorted(places.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            rows.append(_evidence_row(cases, run, decided, group))
    heads, columns = ("method", "decided by", cases.sort), ("coverage", "precision")
    table = MeasureTable(
        "evidence",
        "Deciding evidence: its share of all answers, and the share of right ones among them",
        "Cai 2009, Table 4-4",
        heads,
        columns,
        tuple(rows),
        digits=2,
    )
    return Result("evidence", (table, *page_papers.cai_tables(cases, runs)))


def confusions(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """The most frequent wrong answers of each method."""
    rows = []
    for run in runs:
        counts = confusion(cases, run)
        pairs = [
            (count, code, answer)
            for code, answers in counts.items()
            for answer, count in answers.items()
            if answer not in {code, UNKNOWN}
        ]
        for count, code, answer in sorted(pairs, key=lambda pair: (-pair[0], *pair[1:]))[
            :_CONFUSIONS
        ]:
            share = 100 * count / sum(counts[code].values())
            heads = (run.name, language_name(code), _named(answer), str(count))
            rows.append(row(heads, (share,), method=run.name, language=code, answer=answer))
    heads = ("method", "language", "answered", cases.sort)
    title = f"The {_CONFUSIONS} most frequent confusions of each method"
    table = MeasureTable("confusions", title, "", heads, ("% of the language",), tuple(rows))
    return Result("confusions", (table,))


def calibration(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Mean confidence beside accuracy, for the answers in each tenth of confidence."""
    rows: list[Row] = []
    for run in runs:
        places: defaultdict[int, list[int]] = defaultdict(list)
        for place, answer in enumerate(run.answers):
            if answer is not None:
                places[_bin(run.confidences[place])].append(place)
        rows += _calibration_rows(cases, run, places)
    notes = ("The error of all is the mean of those of the tenths, weighted by their answers.",)
    heads = ("method", "confidence", "answers")
    columns = ("mean confidence", "right", "error")
    title = "Confidence and accuracy"
    table = MeasureTable("calibration", title, "", heads, columns, tuple(rows), None, notes)
    return Result("calibration", (table,))


def _calibration_rows(cases: Cases, run: MethodRun, places: dict[int, list[int]]) -> Iterator[Row]:
    total, weighted = sum(map(len, places.values())), 0.0
    for number in sorted(places):
        mean, right = _calibrated(cases, run, places[number])
        weighted += len(places[number]) * abs(mean - right)
        tenth = f"{number / _BINS:.1f}-{(number + 1) / _BINS:.1f}"
        heads = (run.name, tenth, str(len(places[number])))
        yield row(heads, (mean, right, abs(mean - right)), method=run.name)
    if total:
        mean, right = _calibrated(cases, run, [at for group in places.values() for at in group])
        heads = (run.name, _EVERY, str(total))
        yield row(heads, (mean, right, weighted / total), method=run.name)


def _calibrated(cases: Cases, run: MethodRun, places: Sequence[int]) -> tuple[float, float]:
    mean = 100 * sum(run.confidences[place] for place in places) / len(places)
    return mean, share_right(cases, run, places)


def _bin(confidence: float) -> int:
    return min(_BINS - 1, max(0, int(confidence * _BINS)))


def _evidence_row(cases: Cases, run: MethodRun, decided: str, places: Sequence[int]) -> Row:
    answered = [place for place in places if run.answers[place] is not None]
    coverage, precision = page_papers.evidence_of_cai(run.name, decided)
    cells = (
        Cell(100 * len(places) / len(run.decided), paper=coverage),
        Cell(share_right(cases, run, answered), paper=precision),
    )
    key = {"method": run.name, "evidence": decided}
    return Row((run.name, decided, str(len(places))), cells, key=key)


def _named(code: str) -> str:
    """The English name of a language; its code if it has no name here."""
    try:
        return language_name(code)
    except LanguageError:
        return code
