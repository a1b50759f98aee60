"""Tables of Markdown documents that are made from the JSON files of measurements.

A document names a file and a table of it, and the lines in between are written by `filled`:

    <!-- table: url-study/words.json words -->
    <!-- end of table -->

The file has `measured` (see `provenance`) and, at any depth, tables with that `name`: those of a
study (`MeasureTable.as_json`) or tables of texts and numbers (`Table.as_json`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from classifiers.papers.table import Cell, MeasureTable, Row
from crawler.errors import SettingError
from crawler.report.formatting import NOTHING
from crawler.report.study import study_table
from crawler.report.table import Table, markdown

_MARK: Final = re.compile(
    r"^(<!-- table: (?P<file>\S+) (?P<name>\S+) -->\n)(?P<body>.*?)^(<!-- end of table -->)$",
    re.MULTILINE | re.DOTALL,
)
_BEGINNING: Final = re.compile(r"^<!-- table: ", re.MULTILINE)
_HASH_DIGITS: Final = 12


def filled(text: str, folder: Path) -> str:
    """The text of a document with every marked table written anew from its JSON file.

    The names of files are relative to `folder`. SettingError if a mark has no end, or if a file or
    its table does not exist or cannot be read.
    """
    marks = list(_MARK.finditer(text))
    if len(marks) != len(_BEGINNING.findall(text)):
        raise SettingError(f"{folder}: a line '<!-- table: FILE NAME -->' has no end")

    def written(mark: re.Match[str]) -> str:
        return f"{mark[1]}{section(folder / mark['file'], mark['name'])}{mark[5]}"

    return _MARK.sub(written, text)


def sources(text: str, folder: Path) -> set[Path]:
    """The JSON files that the marks of a document name."""
    return {folder / mark["file"] for mark in _MARK.finditer(text)}


def section(path: Path, name: str) -> str:
    """The title, the lines and the notes of a table, and how it was measured."""
    content = _read(path)
    found = next((each for each in tables_of(content) if each["name"] == name), None)
    if found is None:
        raise SettingError(f"{path}: has no table {name!r}")
    table = table_of(found)
    lines = [f"**{table.title}**", "", *markdown(table), "", _origin(content, path)]
    return "\n" + "\n".join(lines) + "\n\n"


def table_of(content: Mapping[str, Any]) -> Table:
    """The table of texts that a table of a JSON file stands for."""
    if "head" not in content:
        return study_table(measured_of(content))
    digits = content.get("digits", 1)
    return Table(
        title=content["title"],
        head=content["head"],
        rows=[[_text(cell, digits) for cell in row] for row in content["rows"]],
        paper=[[_text(cell, digits) for cell in row] for row in content.get("paper", ())],
        notes=content.get("notes", ()),
        text_columns=content.get("text_columns", 1),
    )


def measured_of(content: Mapping[str, Any]) -> MeasureTable:
    """The table that `MeasureTable.as_json` wrote, without the keys of its rows."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in content.items()
        if name != "rows"
    }
    rows = [
        Row(
            tuple(row["shown"]),
            tuple(_cell(row["figures"][column]) for column in content["columns"]),
            is_best=row.get("best", False),
            is_best_in_paper=row.get("best_in_paper", False),
        )
        for row in content["rows"]
    ]
    return MeasureTable(**fields, rows=tuple(rows))


def _cell(content: Mapping[str, float | None] | float | None) -> Cell:
    if not isinstance(content, Mapping):
        content = {"ours": content}
    ours = content["ours"]
    return Cell(math.nan if ours is None else ours, content.get("sd"), content.get("paper"))


def _text(cell: str | float | None, digits: int) -> str:
    if cell is None:
        return NOTHING
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{digits}f}"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"{path}: cannot be read ({error})") from error


def tables_of(content: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each object that has a name and rows, at any depth."""
    if isinstance(content, dict):
        if "name" in content and "rows" in content:
            yield content
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from tables_of(each)


def _origin(content: Any, path: Path) -> str:
    measured = content.get("measured") if isinstance(content, dict) else None
    if not measured:
        raise SettingError(f"{path}: has no 'measured' with date, command, data and versions")
    data = ", ".join(
        f"{name} (SHA-256 {digest[:_HASH_DIGITS]})" for name, digest in measured["data"].items()
    )
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    commit = measured.get("commit")
    when = f"{measured['date']} at {commit}" if commit else measured["date"]
    parts = (when, f"`{measured['command']}`", data, versions)
    line = f"Measured {'; '.join(part for part in parts if part)}."
    if as_of := measured.get("as_of"):
        line += f" As of {as_of}: the code may have changed since."
    return line
