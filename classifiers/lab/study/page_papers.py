"""Figures of the papers about pages, beside the same figures computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from classifiers.lab.study.page_measures import percent
from classifiers.lab.study.page_runs import Cases, MethodRun
from classifiers.languages import name as language_name
from classifiers.papers.table import Cell, MeasureTable, Result, Row

HAYATI: Final = frozenset("da de en es fi fr it nl no pt sv".split())
"""The languages of Hayati 2004."""

CAI: Final[Mapping[str, tuple[float, float]]] = {
    "en": (100.0, 0.37),
    "zh": (99.5, 92.55),
    "ja": (100.0, 52.29),
    "de": (99.5, 0.0),
    "tr": (99.5, 99.06),
    "fr": (99.0, 0.0),
    "ko": (100.0, 95.91),
}
"""Language of Cai 2009 -> % right of 200 pages identified as it (Table 5-1), and the % of all such
pages that the encoding decided (Table 5-2)."""

_CAI_EVIDENCE: Final[Mapping[str, tuple[float, float]]] = {
    "declaration": (10.01, 99.8),
    "encoding": (12.56, 100.0),
    "text": (75.97, 98.6),
}
"""Coverage and correct rate on 30,000 pages (Cai 2009, Table 4-4)."""

_CAI_METHODS: Final = ("cai", "cai-parallel")
_COMPOSITE: Final = "composite"
_NAN: Final = float("nan")


@dataclass(frozen=True)
class Claim:
    """A figure of a paper, and the cases on which its counterpart is computed."""

    source: str
    what: str
    method: str
    """The method of ours that is its counterpart."""
    figure: float
    languages: frozenset[str]
    characters: tuple[int, int | None] = (0, None)
    """The least and the greatest length of the visible text."""
    evidence: str = ""
    """Precision of the answers that this evidence decided."""
    is_precision: bool = False
    """The mean precision of answers in `languages`, pages of other languages included."""
    needs_address: bool = False
    """Only pages whose address is known count, as all of the paper's."""


_CAI_LANGUAGES: Final = frozenset(CAI)
CLAIMS: Final = (
    Claim("Hayati 2004, 3.3", "BASE", "cavnar-trenkle", 86.8, HAYATI),
    Claim("Hayati 2004, 4.6", "NFC", "nfc", 93.9, HAYATI),
    Claim(
        "Hayati 2004, 5.1", "top-level domain", "top-level-domain", 69.2, HAYATI, needs_address=True
    ),
    Claim("Hayati 2004, Table 5.1", "NFC, < 25 characters", "nfc", 33.8, HAYATI, (0, 24)),
    Claim("Hayati 2004, Table 5.1", "inlinks, < 25 characters", "inlinks", 71.0, HAYATI, (0, 24)),
    Claim("Hayati 2004, Table 5.1", "NFC, 25-50 characters", "nfc", 43.3, HAYATI, (25, 49)),
    Claim("Hayati 2004, Table 5.1", "inlinks, 25-50 characters", "inlinks", 70.9, HAYATI, (25, 49)),
    Claim("Hayati 2004, Table 5.1", "NFC, < 50 characters", "nfc", 38.0, HAYATI, (0, 49)),
    Claim("Hayati 2004, Table 5.1", "inlinks, < 50 characters", "inlinks", 70.0, HAYATI, (0, 49)),
    Claim("Cai 2009, Table 5-1", "all three", "cai", 99.64, _CAI_LANGUAGES, is_precision=True),
    Claim(
        "Cai 2009, Table 4-4", "declaration", "cai", 99.8, _CAI_LANGUAGES, evidence="declaration"
    ),
    Claim("Cai 2009, Table 4-4", "encoding", "cai", 100.0, _CAI_LANGUAGES, evidence="encoding"),
    Claim("Cai 2009, Table 4-4", "text", "cai", 98.6, _CAI_LANGUAGES, evidence="text"),
)


def papers(cases: Cases, runs: Sequence[MethodRun], places: Sequence[int]) -> Result:
    """The papers' figures beside ours, on the cases at `places` in the languages of each paper."""
    by_name = {run.name: run for run in runs}
    rows = []
    for claim in CLAIMS:
        group = [place for place in places if _matches(cases, place, claim)]
        cells = (
            Cell(_ours(cases, by_name.get(claim.method), claim, group), paper=claim.figure),
            Cell(_ours(cases, by_name.get(_COMPOSITE), claim, group)),
        )
        heads = (claim.source, claim.what, str(len(group)))
        rows.append(Row(heads, cells, key={"method": claim.method}))
    notes = (
        "In brackets the paper's figure, on its own pages. Ours is on the cases here in the same"
        " languages; - where the method was not evaluated or has no evidence.",
        "all three: the mean precision of answers in Cai's seven languages, as there. Evidence:"
        " the precision of the answers that it decided.",
    )
    table = MeasureTable(
        "papers",
        "The papers' results and ours",
        "",
        ("paper", "what", cases.sort),
        ("same method", _COMPOSITE),
        tuple(rows),
        notes=notes,
    )
    return Result("papers", (table,))


def evidence_of_cai(method: str, evidence: str) -> tuple[float | None, float | None]:
    """Coverage and precision of a kind of evidence in the paper, for its own methods."""
    if method not in _CAI_METHODS:
        return None, None
    return _CAI_EVIDENCE.get(evidence, (None, None))


def cai_tables(cases: Cases, runs: Sequence[MethodRun]) -> tuple[MeasureTable, ...]:
    """Counterparts of Tables 5-1 and 5-2; the second for the methods that use encodings."""
    by_encoding = [run for run in runs if "encoding" in run.decided]
    title = "Right among the answers in each language"
    rows = _by_answer(runs, 0, lambda run, code, place: cases.cases[place].language == code)
    tables = [_cai_table("precision", title, "Cai 2009, Table 5-1", runs, rows)]
    if by_encoding:
        title = "Answers in each language that the encoding decided"
        source = "Cai 2009, Table 5-2, Figure 5-2"
        rows = _by_answer(by_encoding, 1, lambda run, code, place: run.decided[place] == "encoding")
        tables.append(_cai_table("encoding-coverage", title, source, by_encoding, rows))
    return tuple(tables)


def _by_answer(
    runs: Sequence[MethodRun], column: int, counts: Callable[[MethodRun, str, int], bool]
) -> Iterator[Row]:
    """Yield for each language of CAI the share of answers that count, beside the paper's column."""
    counterpart = _counterpart(runs)
    for code, printed in CAI.items():
        answered = [
            [place for place, answer in enumerate(run.answers) if answer == code] for run in runs
        ]
        if any(answered):
            figures = [
                percent(counts(run, code, place) for place in group)
                for run, group in zip(runs, answered, strict=True)
            ]
            yield _row(code, runs, figures, printed[column], counterpart)


def _cai_table(
    name: str, title: str, source: str, runs: Sequence[MethodRun], rows: Iterable[Row]
) -> MeasureTable:
    methods = tuple(run.name for run in runs)
    return MeasureTable(name, title, source, ("language",), methods, tuple(rows))


def _counterpart(runs: Sequence[MethodRun]) -> str:
    """The method that is compared with the paper's."""
    names = [run.name for run in runs]
    return next((name for name in (*_CAI_METHODS, _COMPOSITE) if name in names), "")


def _row(
    code: str, runs: Sequence[MethodRun], figures: Sequence[float], paper: float, counterpart: str
) -> Row:
    cells = tuple(
        Cell(figure, paper=paper if run.name == counterpart else None)
        for run, figure in zip(runs, figures, strict=True)
    )
    return Row((language_name(code),), cells, key={"language": code})


def _matches(cases: Cases, place: int, claim: Claim) -> bool:
    case = cases.cases[place]
    first, last = claim.characters
    fits = first <= case.characters and (last is None or case.characters <= last)
    has_address = bool(case.surroundings.url) or not claim.needs_address
    return fits and has_address and case.language in claim.languages


def _ours(cases: Cases, run: MethodRun | None, claim: Claim, places: Sequence[int]) -> float:
    if run is None:
        return _NAN
    if claim.is_precision:
        return _mean_precision(cases, run, claim.languages)
    if claim.evidence:
        places = [place for place in places if run.decided[place] == claim.evidence]
    return percent(run.answers[place] == cases.cases[place].language for place in places)


def _mean_precision(cases: Cases, run: MethodRun, languages: frozenset[str]) -> float:
    found = []
    # A language without cases can only be a wrong answer, so it is left out.
    for code in sorted(languages & {case.language for case in cases.cases}):
        places = [place for place, answer in enumerate(run.answers) if answer == code]
        if places:
            found.append(_precision(cases, places, code))
    return sum(found) / len(found) if found else _NAN


def _precision(cases: Cases, places: Sequence[int], code: str) -> float:
    return percent(cases.cases[place].language == code for place in places)
