"""The table that all reports use: rows of figures, which it shows as texts.

`Printer.table` prints it, `markdown` writes it as Markdown, `templates/page.html` as HTML.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.report.formatting import Cell, share_of, shown


@dataclass(frozen=True, slots=True)
class Table:
    """A table; one without rows is not shown.

    A cell is a text, a count, a fraction (shown as a percentage) or None. The first `text_columns`
    columns are text, the others are figures. `paper` has rows of a paper's figures, which follow
    the other rows and are fainter. `notes` are sentences below the table. On a page the columns
    “share” and “coverage” have bars.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    paper: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str] = ()
    text_columns: int = 1

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

    def bar(self, row: Sequence[Cell], place: int) -> float | None:
        """The length of the bar in a cell, 0 to 1 of the longest; None where no bar is."""
        cell = row[place]
        if self.head[place] not in ("share", "coverage") or not isinstance(cell, float):
            return None
        cells = [each[place] for each in (*self.rows, *self.paper) if len(each) > place]
        return cell / (max(each for each in cells if isinstance(each, float)) or 1.0)

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


def counts_table(title: str, head: Sequence[str], counts: Mapping[str, int], most: int) -> Table:
    """The `most` largest counts with their share of all; the others together in one row.

    `head` has the names of the first two columns.
    """
    total = sum(counts.values())
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    if len(pairs) > most:
        pairs[most:] = [(f"{len(pairs) - most} others", sum(n for _, n in pairs[most:]))]
    return Table(title, [*head, "share"], [(name, n, share_of(n, total)) for name, n in pairs])


def markdown(table: Table) -> list[str]:
    """The lines of a table and its notes in Markdown, without its title."""
    ruler = [":--" if place < table.text_columns else "--:" for place in range(len(table.head))]
    rows = [list(table.head), ruler, *table.texts, *table.paper_texts]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
    return [*lines, *(line for note in table.notes for line in ("", _escaped(note)))]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<=", "≤")
