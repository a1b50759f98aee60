"""Tables as Markdown, and the Markdown files that contain them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from crawler.report.files import write_whole
from crawler.report.table import Table

BEGIN: Final = "<!-- begin: langfocus evaluate -->"
END: Final = "<!-- end: langfocus evaluate -->"
"""The text between these lines of a Markdown file is replaced, the rest is kept."""


def markdown(table: Table) -> list[str]:
    """The lines of a table and its notes, without its title."""
    ruler = [":--" if place < table.text_columns else "--:" for place in range(len(table.head))]
    rows = [*table.rows, *table.paper]
    notes = [line for note in table.notes for line in ("", _escaped(note))]
    return [_line(table.head), _line(ruler), *map(_line, rows), *notes]


def write_markdown(path: Path, text: str) -> Path:
    """Write the text between BEGIN and END of a Markdown file, else as the whole file."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return write_whole(path, text)
    return write_whole(path, f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<=", "≤")
