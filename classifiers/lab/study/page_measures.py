"""Accuracy and confusions of the answers about some cases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from classifiers.lab.study.page_runs import Case, Cases, MethodRun
from classifiers.papers.table import Cell, Row

MAIN_KINDS: Final = ("sentence", "udhr-paragraph")
"""Texts of these kinds are measured together: they are sentences as on pages."""

_NAN: Final = float("nan")

UNKNOWN: Final = "unknown"
"""The key for no answer in counts of answers."""


def main_places(cases: Cases) -> list[int]:
    """The places of the cases of the main kinds; of all cases if there are none."""
    found = [place for place, case in enumerate(cases.cases) if case.kind in MAIN_KINDS]
    return found or list(range(len(cases.cases)))


def percent(flags: Iterable[bool]) -> float:
    """The percentage of flags that are true; nan without flags."""
    every = list(flags)
    return 100 * sum(every) / len(every) if every else _NAN


def share_right(cases: Cases, run: MethodRun, places: Iterable[int]) -> float:
    """The percentage of right answers of a method; nan without cases."""
    return percent(run.answers[place] == cases.cases[place].language for place in places)


def macro_right(cases: Cases, run: MethodRun, places: Iterable[int]) -> float:
    """The mean of `share_right` over the languages of the cases."""
    by_language = grouped(cases, places, lambda case: case.language)
    shares = [share_right(cases, run, group) for group in by_language.values()]
    return sum(shares) / len(shares) if shares else _NAN


def confusion(cases: Cases, run: MethodRun) -> dict[str, dict[str, int]]:
    """Language -> answer or UNKNOWN -> cases."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case, answer in zip(cases.cases, run.answers, strict=True):
        counts[case.language][answer or UNKNOWN] += 1
    return {code: dict(counts[code].most_common()) for code in sorted(counts)}


def grouped(cases: Cases, places: Iterable[int], by: Callable[[Case], str]) -> dict[str, list[int]]:
    """The places of the cases, grouped by a property."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        groups[by(cases.cases[place])].append(place)
    return groups


def row(heads: tuple[str, ...], figures: Iterable[float], **key: str) -> Row:
    """A row of figures that no paper has."""
    return Row(heads, tuple(map(Cell, figures)), key=key)
