"""Tables of a page or text study, beside the tables of Hayati 2004, Cai 2009 and Tamura 2007.

A case without an answer counts as wrong, except in coverage (share of cases with an answer) and
precision (share of correct answers among all answers).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from langfocus.classifiers.languages import name as language_name
from langfocus.classifiers.papers.page_cases import MAIN_KINDS, Cases, MethodRun, grouped, percent
from langfocus.classifiers.papers.table import Cell, MeasureTable, Result, Row

BUCKETS: Final = {"< 25": 24, "25-50": 49, "50-150": 150, "> 150": math.inf}
"""Visible text lengths: name and greatest number of characters."""

HAYATI: Final = frozenset("da de en es fi fr it nl no pt sv".split())
"""The languages of Hayati 2004."""
CAI: Final = {
    "en": (100.0, 0.37),
    "zh": (99.5, 92.55),
    "ja": (100.0, 52.29),
    "de": (99.5, 0.0),
    "tr": (99.5, 99.06),
    "fr": (99.0, 0.0),
    "ko": (100.0, 95.91),
}
"""Language -> % correct of 200 pages identified as this language (Cai 2009, Table 5-1), and % of
all pages in this language decided by the encoding (Table 5-2).
"""
EVIDENCE: Final = {"declaration": (10.01, 99.8), "encoding": (12.56, 100.0), "text": (75.97, 98.6)}
"""Coverage and correct rate of Cai's evidence on 30,000 pages (Table 4-4)."""
TAMURA: Final = {"2": (285, 59, 5), "3": (458, 0, 14)}
"""Table of Tamura 2007 -> Thai pages by META or n-grams: right, wrong and missed."""
_COMPOSITE: Final = "composite"


@dataclass(frozen=True)
class Claim:
    """A paper's figure, and the cases of its counterpart."""

    source: str
    what: str
    method: str
    """Our counterpart method."""
    figure: float
    languages: frozenset[str] = HAYATI
    characters: tuple[int, float] = (0, math.inf)
    """Least and greatest length of the visible text in characters."""
    evidence: str = ""
    """Precision of the answers decided by this evidence."""
    is_precision: bool = False
    """Mean answer precision in `languages`, pages in other languages included."""
    needs_address: bool = False
    """Count only pages with a known URL, like all of the paper's pages."""


CLAIMS: Final = (
    Claim("Hayati 2004, 3.3", "BASE", "cavnar-trenkle", 86.8),
    Claim("Hayati 2004, 4.6", "NFC", "nfc", 93.9),
    Claim("Hayati 2004, 5.1", "top-level domain", "top-level-domain", 69.2, needs_address=True),
    *(
        Claim("Hayati 2004, Table 5.1", f"{what} characters", method, figure, characters=length)
        for what, method, figure, length in (
            ("NFC, < 25", "nfc", 33.8, (0, 24)),
            ("inlinks, < 25", "inlinks", 71.0, (0, 24)),
            ("NFC, 25-50", "nfc", 43.3, (25, 49)),
            ("inlinks, 25-50", "inlinks", 70.9, (25, 49)),
            ("NFC, < 50", "nfc", 38.0, (0, 49)),
            ("inlinks, < 50", "inlinks", 70.0, (0, 49)),
        )
    ),
    Claim("Cai 2009, Table 5-1", "all three", "cai", 99.64, frozenset(CAI), is_precision=True),
    *(
        Claim("Cai 2009, Table 4-4", kind, "cai", right, frozenset(CAI), evidence=kind)
        for kind, (_, right) in EVIDENCE.items()
    ),
)


def results(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Return all non-empty tables about the answers of methods (at least one)."""
    tables = [
        *_accuracy(cases, runs),
        *_by_groups(cases, runs),
        _evidence(cases, runs),
        *_of_cai(runs),
        papers(cases, runs),
        *_of_tamura(cases, runs),
    ]
    return Result("pages", tuple(table for table in tables if table.rows))


def _accuracy(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Yield accuracy over all languages and over each method's languages, and CPU time."""
    every = range(len(cases.cases))
    rows, costs = [], []
    for run in runs:
        known, answered = run.known(every), run.answered(every)
        figures = (
            run.right(every),
            run.macro_right(every),
            run.right(known),
            run.macro_right(known),
            percent(answer is not None for answer in run.answers),
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
    yield MeasureTable("accuracy", title, "", heads, columns, tuple(rows), notes=notes, digits=2)
    title = f"CPU time in ms for one of the {cases.sort}"
    yield MeasureTable("cost", title, "", ("method",), ("ms",), tuple(costs), digits=3)


def _by_groups(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Yield the tables by language and by length, with a column per method."""
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
    of_lengths = grouped(cases.cases, main, lambda case: bucket(case.characters))
    lengths = [(name, of_lengths[name]) for name in BUCKETS if name in of_lengths]
    if len(lengths) > 1:
        lengths.append(("all", main))
    rows = [
        _row((name, str(len(places))), [run.right(places) for run in runs])
        for name, places in lengths
    ]
    which = "" if len(main) == len(cases.cases) else f" of {' and '.join(MAIN_KINDS)}"
    heads, title = ("characters", cases.sort), f"Accuracy by length{which}"
    yield MeasureTable("lengths", title, "", heads, names, tuple(rows))


def bucket(characters: int) -> str:
    """Return the bucket name of a length."""
    return next(name for name, last in BUCKETS.items() if characters <= last)


def _evidence(cases: Cases, runs: Sequence[MethodRun]) -> MeasureTable:
    """Return each evidence's answer share, and its correct share among these answers."""
    rows = []
    for run in runs:
        printed = EVIDENCE if run.name == "cai" else {}
        for kind, number in sorted(Counter(run.decided).items(), key=lambda x: (-x[1], x[0])):
            places = run.decided_by(kind)
            coverage, precision = printed.get(kind, (None, None))
            figures = (
                Cell(100 * number / len(run.decided), paper=coverage),
                Cell(run.right(run.answered(places)), paper=precision),
            )
            key = {"method": run.name, "evidence": kind}
            rows.append(Row((run.name, kind, str(number)), figures, key=key))
    title = "Deciding evidence: its share of all answers, and the share of right ones among them"
    heads, columns = ("method", "decided by", cases.sort), ("coverage", "precision")
    source = "Cai 2009, Table 4-4"
    return MeasureTable("evidence", title, source, heads, columns, tuple(rows), digits=2)


def _of_cai(runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Yield counterparts of Tables 5-1 and 5-2; the latter for methods that use encodings."""
    names = [run.name for run in runs]
    # The first method run is listed beside the paper's.
    compared = next((name for name in ("cai", _COMPOSITE) if name in names), "")
    titles = (
        ("precision", "Right among the answers in each language", "Cai 2009, Table 5-1"),
        (
            "encoding-coverage",
            "Answers in each language that the encoding decided",
            "Cai 2009, Table 5-2, Figure 5-2",
        ),
    )
    for column, title in enumerate(titles):
        chosen = [run for run in runs if not column or "encoding" in run.decided]
        rows = []
        for code, printed in CAI.items():
            figures = []
            for run in chosen:
                places = run.answers_in(code)
                ours = percent(run.decided[at] == "encoding" for at in places)
                paper = printed[column] if run.name == compared else None
                figures.append(Cell(ours if column else run.right(places), paper=paper))
            if any(run.answers_in(code) for run in chosen):
                rows.append(Row((language_name(code),), tuple(figures), key={"language": code}))
        columns = tuple(run.name for run in chosen)
        yield MeasureTable(*title, ("language",), columns, tuple(rows))


def papers(cases: Cases, runs: Sequence[MethodRun]) -> MeasureTable:
    """Return the papers' figures beside ours, on the main cases in each paper's languages."""
    by_name = {run.name: run for run in runs}
    rows = []
    for claim in CLAIMS:
        least, most = claim.characters
        places = [
            at
            for at in cases.main_places
            if cases.cases[at].language in claim.languages
            and least <= cases.cases[at].characters <= most
            and (cases.cases[at].surroundings.url or not claim.needs_address)
        ]
        figures = (
            Cell(_ours(by_name.get(claim.method), claim, places), paper=claim.figure),
            Cell(_ours(by_name.get(_COMPOSITE), claim, places)),
        )
        heads = (claim.source, claim.what, str(len(places)))
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


def _ours(run: MethodRun | None, claim: Claim, places: Sequence[int]) -> float:
    if run is None:
        return math.nan
    if claim.is_precision:
        # A language without cases can only be a wrong answer, so it is skipped.
        codes = sorted(claim.languages & {case.language for case in run.cases})
        rates = [run.right(of) for code in codes if (of := run.answers_in(code))]
        return sum(rates) / len(rates) if rates else math.nan
    if claim.evidence:
        places = [place for place in places if run.decided[place] == claim.evidence]
    return run.right(places)


def _of_tamura(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Yield Tables 2 and 3 of Tamura 2007 for every language, if the procedure was run.

    A page belongs to the table of its deciding step; a page without an answer to the second. Unlike
    in the paper, whose samples are pages identified by either step, all pages count.
    """
    for run in runs:
        if run.name == "tamura" and cases.sort == "pages":
            by_meta = run.decided_by("encoding")
            others = sorted(set(range(len(run.decided))) - set(by_meta))
            yield _verified("2", "Pages decided by META", run, by_meta)
            yield _verified("3", "Pages decided by n-grams", run, others)


def _verified(number: str, title: str, run: MethodRun, places: Sequence[int]) -> MeasureTable:
    """Return pages by guessed and actual language, with precision and recall per language."""
    pairs = Counter((run.answers[at], run.cases[at].language) for at in places)
    sizes = Counter(run.cases[at].language for at in places)
    guessed = Counter(run.answers[at] for at in places)
    rows = []
    for code in sorted(filter(None, guessed), key=lambda code: (-sizes[code], code)):
        right = pairs[code, code]
        verified = (right, guessed[code] - right, sizes[code] - right)
        printed = _verification(*TAMURA[number]) if code == "th" else (None, None)
        pairs_of = zip(_verification(*verified), printed, strict=True)
        figures = tuple(Cell(ours, paper=paper) for ours, paper in pairs_of)
        rows.append(
            Row((language_name(code), *map(str, verified)), figures, key={"language": code})
        )
    right, wrong, missed = TAMURA[number]
    return MeasureTable(
        f"tamura-table-{number}",
        f"{title}: {len(places)} pages",
        f"Tamura 2007, Table {number}",
        ("language", "right", "wrong", "missed"),
        ("precision", "recall"),
        tuple(rows),
        notes=(
            "wrong: guessed and not in the language; missed: in it and not guessed. In the paper "
            f"{right} right, {wrong} wrong and {missed} missed, for Thai.",
        ),
    )


def _verification(right: int, wrong: int, missed: int) -> tuple[float, float]:
    """Precision and recall in percent; nan if no page is guessed, or none in the language."""
    precision, recall = (
        100 * right / (right + others) if right + others else math.nan for others in (wrong, missed)
    )
    return precision, recall


def _row(heads: tuple[str, ...], figures: Iterable[float], **key: str) -> Row:
    """Return a row of figures without counterparts in a paper."""
    return Row(heads, tuple(map(Cell, figures)), key=key)
