"""The tables of a study: measured figures beside those of a paper."""

from __future__ import annotations

import math

from classifiers.papers.table import Cell, MeasureTable, Row
from crawler.report.formatting import NOTHING
from crawler.report.table import Table


def study_table(measured: MeasureTable, *, with_all: bool = False) -> Table:
    """The figures as texts; a paper's figures are in brackets or in a separate column.

    `with_all` shows them in brackets too, if another figure has such a column.
    """
    heads = [*measured.heads, *measured.columns]
    if measured.headline is not None:
        heads += ["sd", "paper", "diff."]
    source = f" ({measured.source})" if measured.source else ""
    return Table(
        title=f"{measured.title}{source}",
        head=heads,
        rows=[_cells(measured, row, with_all=with_all) for row in measured.rows],
        notes=measured.notes,
        text_columns=len(measured.heads),
    )


def _cells(measured: MeasureTable, row: Row, *, with_all: bool) -> list[str]:
    shown = list(row.heads)
    for place, cell in enumerate(row.cells):
        is_headline = place == measured.headline
        text = _figure(cell.ours, measured) + ("*" if row.is_best and is_headline else "")
        is_beside = measured.headline is None or (with_all and not is_headline)
        if is_beside and cell.paper is not None:
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
