"""Tables on their way into a terminal or a page, and files that both come from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from crawler.errors import SettingError
from crawler.report import markup
from crawler.report.study import WidePrinter
from crawler.report.tables import Printer

__all__ = [
    "Sheet",
    "WidePrinter",
    "check_places",
    "json_text",
    "print_sheets",
    "share_of",
    "sheet_html",
]


_NOTE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table; the first column is text, `paper` are rows of a paper's figures behind the others.

    `is_text` is True where the other columns are text too.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    paper: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    is_text: bool = False


def print_sheets(sheets: Iterable[Sheet], printer: Printer) -> None:
    """Print tables that have rows, each with its notes."""
    for sheet in sheets:
        if sheet.rows:
            printer.table(sheet.title, sheet.head, sheet.rows, faint=sheet.paper)
            for line in (line for note in sheet.notes for line in wrap(note, _NOTE_WIDTH)):
                printer.line(f"  {line}")
            if sheet.notes:
                printer.line()


def sheet_html(sheet: Sheet, *, caption: str = "") -> str:
    """A table of a page with its notes; nothing without rows."""
    table = markup.table(caption, sheet.head, sheet.rows, faint=sheet.paper, is_text=sheet.is_text)
    return "\n".join([table, *map(markup.note, sheet.notes)]) if table else ""


def share_of(part: int, whole: int) -> float | None:
    """The fraction, None of nothing."""
    return part / whole if whole else None


def json_text(content: Mapping[str, Any]) -> str:
    """The text of a JSON file, a line for each list of numbers."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def check_places(*paths: Path | None) -> None:
    """Raise `SettingError` for a file that is to be written where there is no folder."""
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise SettingError(f"{path}: there is no such folder to write it to")
