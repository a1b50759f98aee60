"""Tables 2 and 3 of Tamura 2007: the procedure's two steps, verified by precision and recall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from classifiers.lab.study.page_measures import percent
from classifiers.lab.study.page_runs import Cases, MethodRun
from classifiers.languages import name as language_name
from classifiers.papers.table import Cell, MeasureTable, Result, Row

METHOD: Final = "tamura"
_META: Final = "encoding"
"""The evidence that decides a page by the encoding of its META element."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Pages by guessed and actual language, for one language (the layout of Tables 2 and 3).

    `wrong` pages are guessed and not in the language, `missed` ones in it and not guessed.
    """

    right: int
    wrong: int
    missed: int
    others: int = 0

    @property
    def precision(self) -> float:
        """The percentage of right ones among the pages guessed; nan if there are none."""
        return percent([True] * self.right + [False] * self.wrong)

    @property
    def recall(self) -> float:
        """The percentage of guessed ones among the pages in the language; nan if there are none."""
        return percent([True] * self.right + [False] * self.missed)


TABLE_2: Final = Verification(right=285, wrong=59, missed=5, others=57)
"""Thai by META (Tamura 2007, Table 2)."""

TABLE_3: Final = Verification(right=458, wrong=0, missed=14, others=363)
"""Thai by n-grams (Tamura 2007, Table 3)."""


def verified(cases: Cases, run: MethodRun, places: Iterable[int], code: str) -> Verification:
    """Return how a method did on some cases, for one language; no answer is a wrong guess of it."""
    counts = {(guess, actual): 0 for guess in (True, False) for actual in (True, False)}
    for place in places:
        counts[run.answers[place] == code, cases.cases[place].language == code] += 1
    return Verification(
        counts[True, True], counts[True, False], counts[False, True], counts[False, False]
    )


def verifications(cases: Cases, runs: Sequence[MethodRun]) -> Result:
    """Tables 2 and 3 for every language, if Tamura's procedure is among the methods.

    A page belongs to the table of the step that decided it; a page without an answer to the second.
    Unlike in the paper, which has samples of pages that either step identified, all pages count.
    """
    found = [run for run in runs if run.name == METHOD]
    if not found or cases.sort != "pages":
        return Result("tamura", ())
    decided = found[0].decided
    return Result(
        "tamura",
        (
            _table(
                ("tamura-table-2", "Pages decided by META", "Tamura 2007, Table 2"),
                cases,
                found[0],
                [place for place, kind in enumerate(decided) if kind == _META],
                TABLE_2,
            ),
            _table(
                ("tamura-table-3", "Pages decided by n-grams", "Tamura 2007, Table 3"),
                cases,
                found[0],
                [place for place, kind in enumerate(decided) if kind != _META],
                TABLE_3,
            ),
        ),
    )


def _table(
    names: tuple[str, str, str],
    cases: Cases,
    run: MethodRun,
    places: Sequence[int],
    paper: Verification,
) -> MeasureTable:
    answers = {run.answers[place] for place in places}
    sizes = Counter(cases.cases[place].language for place in places)
    rows = []
    for code in sorted(filter(None, answers), key=lambda code: (-sizes[code], code)):
        found = verified(cases, run, places, code)
        is_thai = code == "th"
        cells = (
            Cell(found.precision, paper=paper.precision if is_thai else None),
            Cell(found.recall, paper=paper.recall if is_thai else None),
        )
        counts = (found.right, found.wrong, found.missed)
        heads = (language_name(code), *map(str, counts))
        rows.append(Row(heads, cells, key={"language": code}))
    name, title, source = names
    return MeasureTable(
        name,
        f"{title}: {len(places)} pages",
        source,
        ("language", "right", "wrong", "missed"),
        ("precision", "recall"),
        tuple(rows),
        notes=(
            "wrong: guessed and not in the language; missed: in it and not guessed. In the paper "
            f"{paper.right} right, {paper.wrong} wrong and {paper.missed} missed, for Thai.",
        ),
    )
