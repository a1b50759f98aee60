"""The table that all reports use: rows of figures, which it shows as texts.

`Printer.table` prints it, `markdown` writes it as Markdown, the macro `table` of `templates/` as
HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crawler.report.formatting import Cell, shown


@dataclass(frozen=True, slots=True)
class Table:
    """A table; one without rows is not shown.

    A cell is a text, a count, a fraction (shown as a percentage) or None. The first `text_columns`
    columns are text, the others are figures. `paper` has rows of a paper's figures, which follow
    the other rows and are fainter. `notes` are sentences below the table.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    paper: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str] = ()
    text_columns: int = 1

    @property
    def is_list(self) -> bool:
        """True for one column without a name: its rows are lines, which are never broken."""
        return len(self.head) == 1 and not self.head[0]

    @property
    def is_empty(self) -> bool:
        """True if there is no row to show."""
        return not self.rows and not self.paper

    @property
    def texts(self) -> list[list[str]]:
        """The rows as texts."""
        return [[shown(cell) for cell in row] for row in self.rows]

    @property
    def paper_texts(self) -> list[list[str]]:
        """The rows of the paper as texts."""
        return [[shown(cell) for cell in row] for row in self.paper]

    def as_json(self, name: str) -> dict[str, Any]:
        """Return the table for a JSON file from which a document takes it by `name`."""
        return {
            "name": name,
            "title": self.title,
            "head": list(self.head),
            "text_columns": self.text_columns,
            "rows": self.texts,
            "paper": self.paper_texts,
            "notes": list(self.notes),
        }


def markdown(table: Table) -> list[str]:
    """The lines of a table and its notes in Markdown, without its title."""
    ruler = [":--" if place < table.text_columns else "--:" for place in range(len(table.head))]
    rows = [list(table.head), ruler, *table.texts, *table.paper_texts]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
    return [*lines, *(line for note in table.notes for line in ("", _escaped(note)))]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<=", "≤")
