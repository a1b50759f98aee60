"""Figures of Hayati 2004 and Cai 2009 about pages, beside the same figures computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from classifiers.papers.cai.tables import EVIDENCE, LANGUAGES
from classifiers.papers.page_cases import Case, Cases, MethodRun
from classifiers.papers.table import Cell, MeasureTable, Row

HAYATI: Final = frozenset("da de en es fi fr it nl no pt sv".split())
"""The languages of Hayati 2004."""
_CAI: Final = frozenset(LANGUAGES)
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
    characters: tuple[int, float] = (0, float("inf"))
    """The least and the greatest length of the visible text."""
    evidence: str = ""
    """Precision of the answers that this evidence decided."""
    is_precision: bool = False
    """The mean precision of answers in `languages`, pages of other languages included."""
    needs_address: bool = False
    """Only pages whose address is known count, as all of the paper's."""


_TABLE_5_1: Final = (
    ("< 25", (0, 24), {"nfc": 33.8, "inlinks": 71.0}),
    ("25-50", (25, 49), {"nfc": 43.3, "inlinks": 70.9}),
    ("< 50", (0, 49), {"nfc": 38.0, "inlinks": 70.0}),
)
"""Characters of pages, and what was right of them (Hayati 2004)."""

CLAIMS: Final = (
    Claim("Hayati 2004, 3.3", "BASE", "cavnar-trenkle", 86.8, HAYATI),
    Claim("Hayati 2004, 4.6", "NFC", "nfc", 93.9, HAYATI),
    Claim(
        "Hayati 2004, 5.1", "top-level domain", "top-level-domain", 69.2, HAYATI, needs_address=True
    ),
    *(
        Claim("Hayati 2004, Table 5.1", f"{label}, {length} characters", method, figure, HAYATI, of)
        for length, of, figures in _TABLE_5_1
        for (method, figure), label in zip(figures.items(), ("NFC", "inlinks"), strict=True)
    ),
    Claim("Cai 2009, Table 5-1", "all three", "cai", 99.64, _CAI, is_precision=True),
    *(
        Claim("Cai 2009, Table 4-4", kind, "cai", precision, _CAI, evidence=kind)
        for kind, (_, precision) in EVIDENCE.items()
    ),
)


def papers(cases: Cases, runs: Sequence[MethodRun], places: Sequence[int]) -> MeasureTable:
    """The papers' figures beside ours, on the cases at `places` in the languages of each paper."""
    by_name = {run.name: run for run in runs}
    rows = []
    for claim in CLAIMS:
        group = [place for place in places if _is_asked(claim, cases.cases[place])]
        figures = (
            Cell(_ours(by_name.get(claim.method), claim, group), paper=claim.figure),
            Cell(_ours(by_name.get(_COMPOSITE), claim, group)),
        )
        heads = (claim.source, claim.what, str(len(group)))
        rows.append(Row(heads, figures, key={"method": claim.method}))
    notes = (
        "In brackets the paper's figure, on its own pages. Ours is on the cases here in the same"
        " languages; - where the method was not evaluated or has no evidence.",
        "all three: the mean precision of answers in Cai's seven languages, as there. Evidence:"
        " the precision of the answers that it decided.",
    )
    heads, columns = ("paper", "what", cases.sort), ("same method", _COMPOSITE)
    title = "The papers' results and ours"
    return MeasureTable("papers", title, "", heads, columns, tuple(rows), notes=notes)


def _is_asked(claim: Claim, case: Case) -> bool:
    least, most = claim.characters
    has_address = bool(case.surroundings.url) or not claim.needs_address
    return least <= case.characters <= most and has_address and case.language in claim.languages


def _ours(run: MethodRun | None, claim: Claim, places: Sequence[int]) -> float:
    if run is None:
        return _NAN
    if claim.is_precision:
        return _mean_precision(run, claim.languages)
    if claim.evidence:
        places = [place for place in places if run.decided[place] == claim.evidence]
    return run.right(places)


def _mean_precision(run: MethodRun, languages: frozenset[str]) -> float:
    found = []
    # A language without cases can only be a wrong answer, so it is left out.
    for code in sorted(languages & {case.language for case in run.cases}):
        places = [place for place, answer in enumerate(run.answers) if answer == code]
        if places:
            found.append(run.right(places))
    return sum(found) / len(found) if found else _NAN
