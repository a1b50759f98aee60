"""The results of a study as tables and as JSON: measured figures beside those of a paper."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from langfocus.classifiers.papers.table import Cell, MeasureTable, Result, Row
from langfocus.crawler.commands import base
from langfocus.crawler.report.formatting import NOTHING
from langfocus.crawler.report.table import Printer, Table

Facts = Mapping[str, Any]


def print_facts(facts: Facts, printer: Printer) -> None:
    """Print the facts about an evaluation, one per line."""
    for name, value in facts.items():
        shown = value
        if isinstance(value, Mapping):
            shown = "; ".join(f"{key}: {each}" for key, each in value.items())
        elif isinstance(value, list | tuple):
            shown = ", ".join(map(str, value))
        printer.line(f"{name}: {shown}")
    printer.line()


def print_result(result: Result, printer: Printer) -> None:
    """Print the tables of an experiment."""
    for measured in result.tables:
        printer.table(study_table(measured))


def write_study(
    file: Path | None, facts: Facts, results: Iterable[Result], data: Iterable[Path | None]
) -> None:
    """Write the file of --json, if requested; `data` are files or folders."""
    if file is not None:
        experiments = [result.as_json() for result in results]
        about = {"measured": base.measured(filter(None, data)), **facts}
        base.write_json(file, {**about, "experiments": experiments})


def study_table(measured: MeasureTable) -> Table:
    """Return the figures as texts; a paper's figures are in brackets or in a separate column."""
    heads = [*measured.heads, *measured.columns]
    if measured.headline is not None:
        heads += ["sd", "paper", "diff."]
    source = f" ({measured.source})" if measured.source else ""
    return Table(
        title=f"{measured.title}{source}",
        head=heads,
        rows=[_cells(measured, row) for row in measured.rows],
        notes=measured.notes,
        text_columns=len(measured.heads),
    )


def _cells(measured: MeasureTable, row: Row) -> list[str]:
    shown = list(row.heads)
    for place, cell in enumerate(row.cells):
        text = _figure(cell.ours, measured)
        if place == measured.headline:
            text += "*" if row.is_best else ""
        elif cell.paper is not None:
            text += f" ({_figure(cell.paper, measured)})"
        shown.append(text)
    if measured.headline is not None:
        shown += _compared(row.cells[measured.headline], row, measured)
    return shown


def _compared(cell: Cell, row: Row, measured: MeasureTable) -> list[str]:
    star = "*" if row.is_best_in_paper else ""
    paper = NOTHING if cell.paper is None else _figure(cell.paper, measured) + star
    difference = NOTHING if cell.difference is None else f"{cell.difference:+.{measured.digits}f}"
    return [_figure(cell.spread, measured), paper, difference]


def _figure(value: float | None, measured: MeasureTable) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    # Counts are among percentages; small shares would be rounded to 0.
    if value >= 1000 or (value == int(value) and value > 100):
        return f"{value:,.0f}"
    digits = 2 if 0 < value < 0.1 and measured.digits else measured.digits
    return f"{value:.{digits}f}"
