"""Figures of Cai 2009 beside ours: Table 4-4, and the counterparts of Tables 5-1 and 5-2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from classifiers.languages import name as language_name
from classifiers.papers.page_cases import Cases, MethodRun, percent
from classifiers.papers.table import Cell, MeasureTable, Row

LANGUAGES: Final[Mapping[str, tuple[float, float]]] = {
    "en": (100.0, 0.37),
    "zh": (99.5, 92.55),
    "ja": (100.0, 52.29),
    "de": (99.5, 0.0),
    "tr": (99.5, 99.06),
    "fr": (99.0, 0.0),
    "ko": (100.0, 95.91),
}
"""Language -> % right of 200 pages identified as it (Table 5-1), and the % of all such pages that
the encoding decided (Table 5-2)."""

EVIDENCE: Final[Mapping[str, tuple[float, float]]] = {
    "declaration": (10.01, 99.8),
    "encoding": (12.56, 100.0),
    "text": (75.97, 98.6),
}
"""Coverage and correct rate on 30,000 pages (Table 4-4)."""

_METHOD: Final = "cai"
_COMPARED: Final = (_METHOD, "composite")
"""Methods of which the first that was run is compared with the paper's."""


def evidence_in_paper(method: str, evidence: str) -> tuple[float | None, float | None]:
    """Coverage and precision of a kind of evidence in the paper, for its own method."""
    return EVIDENCE.get(evidence, (None, None)) if method == _METHOD else (None, None)


def cai_tables(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Counterparts of Tables 5-1 and 5-2; the second for the methods that use encodings."""

    def is_right(run: MethodRun, place: int) -> bool:
        return run.answers[place] == cases.cases[place].language

    def is_of_encoding(run: MethodRun, place: int) -> bool:
        return run.decided[place] == "encoding"

    yield _table(
        ("precision", "Right among the answers in each language", "Cai 2009, Table 5-1"),
        runs,
        is_right,
    )
    yield _table(
        (
            "encoding-coverage",
            "Answers in each language that the encoding decided",
            "Cai 2009, Table 5-2, Figure 5-2",
        ),
        [run for run in runs if "encoding" in run.decided],
        is_of_encoding,
    )


def _table(
    named: tuple[str, str, str],
    runs: Sequence[MethodRun],
    counts: Callable[[MethodRun, int], bool],
) -> MeasureTable:
    """For each language the share of the answers that count; no row where there are none."""
    names = [run.name for run in runs]
    compared = next((name for name in _COMPARED if name in names), "")
    rows = []
    for code, printed in LANGUAGES.items():
        answered = [[at for at, each in enumerate(run.answers) if each == code] for run in runs]
        if any(answered):
            figures = tuple(
                Cell(
                    percent(counts(run, place) for place in places),
                    paper=printed[named[0] != "precision"] if run.name == compared else None,
                )
                for run, places in zip(runs, answered, strict=True)
            )
            rows.append(Row((language_name(code),), figures, key={"language": code}))
    return MeasureTable(*named, ("language",), tuple(names), tuple(rows))
