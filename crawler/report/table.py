"""The table type of all reports: rows of figures, shown as texts.

`Printer.table` prints tables to a terminal, a pipe or a file; `templates/page.html` is the HTML
form.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from langfocus.crawler.report.formatting import (
    Cell,
    falling,
    in_ascii,
    printable,
    share_of,
    shown,
)
from langfocus.crawler.report.terminal import unguarded

if TYPE_CHECKING:
    from rich.table import Table as RichTable

WIDTH = 80
"""Columns of a table in a file or a pipe."""

WIDE = 120
"""Columns of wide tables, for studies and simulations."""

_MOST_LETTERS_OF_FIGURES = 36
"""Total width of the figure columns in a table for half a page."""

_MOST_LETTERS_ON_A_PHONE = 28
_LETTERS_OF_A_TEXT = 10
"""Width of the columns after the first on a phone; a text column breaks its lines."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; a table without rows is not shown.

    A cell is a text, a count, a fraction (shown as a percentage) or None. The first `text_columns`
    columns are text, the others are figures. `paper` has rows with a paper's figures, fainter and
    below the other rows. `notes` are sentences below the table. On a page, the columns “share” and
    “coverage” have bars, and a row whose first cell is `marked` is the target's.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    paper: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str] = ()
    text_columns: int = 1
    marked: str = ""

    @property
    def is_empty(self) -> bool:
        """True if there is no row to show."""
        return not self.rows and not self.paper

    @property
    def is_narrow(self) -> bool:
        """True for a table that fits half a page without line breaks in figures."""
        if self.text_columns > 1:
            return not self.head[0]
        columns = list(zip(self.head, *self.texts, *self.paper_texts, strict=False))[1:]
        return sum(max(map(len, column)) for column in columns) <= _MOST_LETTERS_OF_FIGURES

    @property
    def shape(self) -> str:
        """The form on a phone: as it is (""), `explained`, or `stacked`.

        `explained` has the second of three columns below the others, `stacked` each figure below
        its name.
        """
        if self.text_columns == 2 and len(self.head) == 3:
            return "explained"
        columns = list(zip(self.head, *self.texts, *self.paper_texts, strict=False))[1:]
        letters = [
            _LETTERS_OF_A_TEXT if place < self.text_columns else max(map(len, words))
            for place, (head, *cells) in enumerate(columns, 1)
            for words in [(*head.split(), *cells)]
        ]
        return "stacked" if sum(letters) > _MOST_LETTERS_ON_A_PHONE else ""

    @property
    def texts(self) -> list[list[str]]:
        """The rows as texts."""
        return [[shown(cell) for cell in row] for row in self.rows]

    @property
    def paper_texts(self) -> list[list[str]]:
        """The rows of the paper as texts."""
        return [[shown(cell) for cell in row] for row in self.paper]

    def bar(self, row: Sequence[Cell], place: int) -> float | None:
        """Return a cell's bar length relative to the longest bar, 0 to 1; None without a bar."""
        cell = row[place]
        if self.head[place] not in ("share", "coverage") or not isinstance(cell, float):
            return None
        cells = [each[place] for each in (*self.rows, *self.paper) if len(each) > place]
        return cell / (max(each for each in cells if isinstance(each, float)) or 1.0)


def counts_table(
    title: str, head: Sequence[str], counts: Mapping[str, int], most: int, marked: str = ""
) -> Table:
    """Return the `most` largest counts with shares; one row sums the rest.

    `head` has the names of the first two columns. The marked name always has a separate row.
    """
    total = sum(counts.values())
    pairs = [*falling(counts).items()]
    rest = [pair for pair in pairs[most:] if pair[0] != marked]
    if rest:
        pairs = [pair for pair in pairs if pair not in rest]
        pairs.append((f"{len(rest)} others", sum(n for _, n in rest)))
    rows = [(name, n, share_of(n, total)) for name, n in pairs]
    return Table(title, [*head, "share"], rows, marked=marked)


class Printer:
    """Prints tables to a stream: with rules and colours to a terminal, as plain ASCII elsewhere."""

    def __init__(self, stream: TextIO | None = None, *, width: int = WIDTH) -> None:
        """Print to standard output by default; a terminal decides its width itself."""
        from rich.console import Console

        stream = unguarded(sys.stdout if stream is None else stream)
        # An ASCII terminal gets the same text as a file.
        self.is_terminal = stream.isatty() and "utf" in (stream.encoding or "").lower()
        self._console = Console(
            file=stream,
            width=None if self.is_terminal else width,
            color_system="auto" if self.is_terminal else None,
            markup=False,
            highlight=False,
            emoji=False,
        )

    def line(self, text: str = "") -> None:
        """Print one unbroken line."""
        self._console.print(self._clean(text), soft_wrap=True)

    def table(self, table: Table) -> None:
        """Print a table with rows, and its notes."""
        from rich.text import Text

        if table.is_empty:
            return
        self._console.print(Text(self._clean(table.title), style="bold"), soft_wrap=True)
        self._console.print(self._as_rich(table))
        if not self.is_terminal:
            self.line()
        for note in table.notes:
            self._lines(note, "  ")
        if table.notes:
            self.line()

    def paragraph(self, text: str) -> None:
        """Print a text in lines that fit, and an empty line."""
        self._lines(text)
        self.line()

    def _lines(self, text: str, indent: str = "") -> None:
        for line in wrap(text, min(WIDE, self._console.width) - len(indent)):
            self.line(f"{indent}{line}")

    def _as_rich(self, table: Table) -> "RichTable":
        from rich import box
        from rich.table import Table as RichTable

        shown = RichTable(header_style="", box=box.SIMPLE_HEAD if self.is_terminal else box.ASCII)
        for place, column in enumerate(table.head):
            # Rich marks a cut text with a letter that is not ASCII; a folded text has no mark.
            shown.add_column(
                self._clean(column),
                justify="left" if place < table.text_columns else "right",
                overflow="fold",
            )
        for row in table.texts:
            shown.add_row(*map(self._clean, row))
        for row in table.paper_texts:
            shown.add_row(*map(self._clean, row), style="dim")
        return shown

    def _clean(self, text: str) -> str:
        return printable(text) if self.is_terminal else in_ascii(printable(text))
