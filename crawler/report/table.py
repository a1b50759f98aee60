"""The table of texts that all reports use.

`Printer.table` prints it, `markdown` writes it as Markdown, the macro `table` of `templates/` as
HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; one without rows is not shown.

    The first `text_columns` columns are text, the others are figures. `paper` has rows of a paper's
    figures, which follow the other rows and are fainter. `notes` are sentences below the table.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    paper: Sequence[Sequence[str]] = ()
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

    def as_json(self, name: str) -> dict[str, Any]:
        """Return the table for a JSON file from which a document takes it by `name`."""
        return {
            "name": name,
            "title": self.title,
            "head": list(self.head),
            "text_columns": self.text_columns,
            "rows": [list(row) for row in self.rows],
            "paper": [list(row) for row in self.paper],
            "notes": list(self.notes),
        }
