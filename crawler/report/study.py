"""The tables of the study as text, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from classifiers.lab.study.result import Cell, MeasureTable, Result, Row
from crawler.report.files import write_whole
from crawler.report.formatting import NOTHING, duration
from crawler.report.tables import Printer

BEGIN: Final = "<!-- begin: scrapy evaluate -->"
END: Final = "<!-- end: scrapy evaluate -->"
"""What stands between these lines of a Markdown file is replaced, the rest is kept."""

_WIDTH: Final = 120
_LEAD: Final = (
    "Figures are percentages: ours and, in brackets or in the column *paper*, those of the paper;"
    " *sd* is the standard deviation over the folds."
)


class WidePrinter(Printer):
    """A printer whose tables may be wider in a file than those of a crawl."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        if not self.is_terminal:
            self._console.width = _WIDTH


def print_result(result: Result, printer: Printer) -> None:
    """Print the tables of an experiment, each with its source and notes."""
    for table in result.tables:
        printer.table(_heading(table), head(table), (cells(table, row) for row in table.rows))
        for note in table.notes:
            printer.line(f"  {note}")
        printer.line()


def head(table: MeasureTable) -> list[str]:
    """The heads of a table's columns as they are shown."""
    columns = [*table.heads, *table.columns]
    if table.headline is not None:
        columns += ["sd", "paper", "diff."]
    return columns


def cells(table: MeasureTable, row: Row, *, with_all: bool = False) -> list[str]:
    """A row as it is shown; the paper's figures stand in brackets, or in a column of their own.

    `with_all` shows those in brackets too where there is such a column for one of the figures.
    """
    shown = list(row.heads)
    for place, cell in enumerate(row.cells):
        star = "*" if row.is_best and place == table.headline else ""
        is_beside = table.headline is None or (with_all and place != table.headline)
        beside = f" ({_figure(cell.paper, table)})" if is_beside and cell.paper is not None else ""
        shown.append(_figure(cell.ours, table) + star + beside)
    if table.headline is not None:
        shown += _compared(row.cells[table.headline], row, table)
    return shown


def _compared(cell: Cell, row: Row, table: MeasureTable) -> list[str]:
    star = "*" if row.is_best_in_paper else ""
    paper = NOTHING if cell.paper is None else _figure(cell.paper, table) + star
    difference = NOTHING if cell.difference is None else f"{cell.difference:+.{table.digits}f}"
    return [_figure(cell.spread, table), paper, difference]


def _figure(value: float | None, table: MeasureTable) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    # Counts stand among percentages; small shares would be rounded away.
    if value >= 1000 or (value == int(value) and value > 100):
        return f"{value:,.0f}"
    digits = 2 if 0 < value < 0.1 and table.digits else table.digits
    return f"{value:.{digits}f}"


def _heading(table: MeasureTable) -> str:
    return f"{table.title} ({table.source})" if table.source else table.title


def as_json(facts: Mapping[str, Any], results: Iterable[Result]) -> str:
    """Facts of the evaluation and what its experiments found, as the text of a JSON file."""
    content = _defined({**facts, "experiments": [result.as_json() for result in results]})
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _defined(value: Any) -> Any:
    """The same with None for what is undefined, since JSON has no nan."""
    if isinstance(value, Mapping):
        return {key: _defined(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def as_markdown(facts: Mapping[str, Any], results: Sequence[Result], pictures: str = "") -> str:
    """The tables as Markdown; `pictures` is the folder of the plots as the file names it."""
    lines = [_LEAD, ""]
    lines += [f"- {name}: {_fact(value)}" for name, value in facts.items()]
    for result in results:
        lines += ["", f"## {result.experiment}", "", f"Computed in {duration(result.seconds)}."]
        for table in result.tables:
            lines += ["", f"### {_heading(table)}", "", *_markdown_table(table)]
            lines += [line for note in table.notes for line in ("", _escaped(note))]
        if pictures:
            for figure in result.figures:
                lines += ["", f"![{figure.title}]({pictures}/{figure.name}.svg)"]
    return "\n".join(lines) + "\n"


def write_markdown(path: Path, text: str) -> Path:
    """A Markdown file with the tables, between the marks BEGIN and END if it has them."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return write_whole(path, text)
    return write_whole(path, f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def _markdown_table(table: MeasureTable) -> list[str]:
    columns = head(table)
    ruler = [":--" if place < len(table.heads) else "--:" for place in range(len(columns))]
    rows = [cells(table, row, with_all=True) for row in table.rows]
    return [_line(columns), _line(ruler), *(_line(row) for row in rows)]


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(text) for text in texts)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<=", "≤")


def _fact(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
