"""Writes the measured tables of the documents from their JSON files.

    python -m benchmarks.docs_tables
    python -m benchmarks.docs_tables --check docs/research/url-study.md

Without arguments it takes docs/research/*.md. A document names a file and a table of it, and the
lines in between are written:

    <!-- table: url-study/words.json words -->
    <!-- end of table -->

The file has `measured` (see `provenance`) and, at any depth, tables with that `name`: those of a
study (`MeasureTable.as_json`) or tables of texts and numbers (`benchmarks.markdown.table_json`).
`--check` writes nothing and fails if a table differs from its file. These figures are history: they
stay as they were measured, at the commit in the line below the table. The README and the guide have
figures of `benchmarks.figures`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.markdown import markdown
from langfocus.classifiers.papers.table import Cell, MeasureTable, Row
from langfocus.crawler.errors import SettingError
from langfocus.crawler.report.formatting import NOTHING
from langfocus.crawler.report.provenance import ROOT
from langfocus.crawler.report.table import Table
from langfocus.crawler.run.whole_file import write_whole
from langfocus.crawler.studies.report import study_table

_MARK: Final = re.compile(
    r"^(<!-- table: (?P<file>\S+) (?P<name>\S+) -->\n)(?P<body>.*?)^(<!-- end of table -->)$",
    re.MULTILINE | re.DOTALL,
)
_BEGINNING: Final = re.compile(r"^<!-- table: ", re.MULTILINE)


def filled(text: str, folder: Path) -> str:
    """Return the text of a document with every marked table written anew from its JSON file.

    The names of files are relative to `folder`. SettingError if a mark has no end, or if a file or
    its table does not exist or cannot be read.
    """
    marks = list(_MARK.finditer(text))
    if len(marks) != len(_BEGINNING.findall(text)):
        raise SettingError(f"{folder}: a line '<!-- table: FILE NAME -->' has no end")

    def written(mark: re.Match[str]) -> str:
        return f"{mark[1]}{section(folder / mark['file'], mark['name'])}{mark[5]}"

    return _MARK.sub(written, text)


def section(path: Path, name: str) -> str:
    """Return the title, the lines and the notes of a table, and how it was measured."""
    content = _read(path)
    found = next((each for each in tables_of(content) if each["name"] == name), None)
    if found is None:
        raise SettingError(f"{path}: has no table {name!r}")
    table = table_of(found)
    lines = [f"**{table.title}**", "", *markdown(table), "", _origin(content, path)]
    return "\n" + "\n".join(lines) + "\n\n"


def table_of(content: Mapping[str, Any]) -> Table:
    """Return the table of texts that a table of a JSON file stands for."""
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
    """Return the table that `MeasureTable.as_json` wrote, without the keys of its rows."""
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
    data = ", ".join(f"{name} (SHA-256 {digest[:12]})" for name, digest in measured["data"].items())
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    commit = measured.get("commit")
    when = f"{measured['date']} at {commit}" if commit else measured["date"]
    parts = (when, f"`{measured['command']}`", data, versions)
    return f"Measured {'; '.join(part for part in parts if part)}."


def documents() -> list[Path]:
    """Return the research notes, which alone have tables of earlier measurements."""
    return sorted((ROOT / "docs" / "research").glob("*.md"))


def stale(paths: Sequence[Path], *, write: bool) -> list[Path]:
    """Return the documents with a table that differs from its file, after writing it if asked."""
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if (new := filled(text, path.parent)) != text:
            found.append(path)
            if write:
                write_whole(path, new)
    return found


def main() -> int:
    """Write or check the tables."""
    parser = argparse.ArgumentParser(description="Write the measured tables of the documents.")
    parser.add_argument("paths", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on differences")
    given = parser.parse_args()
    try:
        found = stale(given.paths or documents(), write=not given.check)
    except (SettingError, OSError) as error:
        print(f"docs_tables: {error}", file=sys.stderr)
        return 1
    for path in found:
        print(f"{path}: {'differs from its JSON file' if given.check else 'written'}")
    return int(bool(found) and given.check)


if __name__ == "__main__":
    sys.exit(main())
