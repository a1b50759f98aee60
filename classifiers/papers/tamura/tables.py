"""Tables 2 and 3 of Tamura 2007: the procedure's two steps, verified by precision and recall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from classifiers.languages import name as language_name
from classifiers.papers.page_cases import Cases, MethodRun, percent
from classifiers.papers.table import Cell, MeasureTable, Row

METHOD: Final = "tamura"
_META: Final = "encoding"
"""The evidence that decides a page by the encoding of its META element."""


class Verification(NamedTuple):
    """Pages by guessed and actual language, for one language (the layout of Tables 2 and 3)."""

    right: int
    wrong: int
    """Pages that are guessed and not in the language."""
    missed: int
    """Pages that are in the language and not guessed."""

    @property
    def measures(self) -> tuple[float, float]:
        """Precision and recall in percent; nan if no page is guessed, or none in the language."""
        said = (True,) * self.right
        return percent(said + (False,) * self.wrong), percent(said + (False,) * self.missed)


TABLE_2: Final = Verification(right=285, wrong=59, missed=5)
"""Thai by META (Tamura 2007, Table 2)."""
TABLE_3: Final = Verification(right=458, wrong=0, missed=14)
"""Thai by n-grams (Tamura 2007, Table 3)."""


def verifications(cases: Cases, runs: Sequence[MethodRun]) -> Iterator[MeasureTable]:
    """Tables 2 and 3 for every language, if Tamura's procedure is among the methods.

    A page belongs to the table of the step that decided it; a page without an answer to the second.
    Unlike in the paper, which has samples of pages that either step identified, all pages count.
    """
    for run in runs:
        if run.name == METHOD and cases.sort == "pages":
            steps: tuple[list[int], list[int]] = [], []
            for place, kind in enumerate(run.decided):
                steps[kind != _META].append(place)
            yield _table("2", "Pages decided by META", run, steps[0], TABLE_2)
            yield _table("3", "Pages decided by n-grams", run, steps[1], TABLE_3)


def _table(
    number: str, title: str, run: MethodRun, places: Sequence[int], paper: Verification
) -> MeasureTable:
    pairs = Counter((run.answers[place], run.cases[place].language) for place in places)
    sizes = Counter(run.cases[place].language for place in places)
    answers = {answer for answer, _ in pairs if answer}
    rows = []
    for code in sorted(answers, key=lambda code: (-sizes[code], code)):
        right = pairs[code, code]
        guessed = sum(count for (answer, _), count in pairs.items() if answer == code)
        found = Verification(right, guessed - right, sizes[code] - right)
        printed = paper.measures if code == "th" else (None, None)
        figures = tuple(Cell(x, paper=y) for x, y in zip(found.measures, printed, strict=True))
        rows.append(Row((language_name(code), *map(str, found)), figures, key={"language": code}))
    return MeasureTable(
        f"tamura-table-{number}",
        f"{title}: {len(places)} pages",
        f"Tamura 2007, Table {number}",
        ("language", *Verification._fields),
        ("precision", "recall"),
        tuple(rows),
        notes=(
            "wrong: guessed and not in the language; missed: in it and not guessed. In the paper "
            f"{paper.right} right, {paper.wrong} wrong and {paper.missed} missed, for Thai.",
        ),
    )
