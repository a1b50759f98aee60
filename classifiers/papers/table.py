"""Experiment results as plain data: tables with the paper's figures beside ours.

All figures are percentages. A cell is our figure, its standard deviation for a mean over folds, and
the paper's figure if published.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

MEASURES: Final = ("P", "R", "p(-|-)", "F1")


@dataclass(frozen=True)
class Cell:
    """A figure; nan if undefined."""

    ours: float
    spread: float | None = None
    """Standard deviation over the folds."""
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """Our figure less the paper's; None if either is missing."""
        if self.paper is None or math.isnan(self.ours):
            return None
        return self.ours - self.paper

    def as_json(self) -> dict[str, float | None]:
        """Return the figures for a JSON file; None for undefined figures."""
        return {
            "ours": _rounded(self.ours),
            "sd": _rounded(self.spread),
            "paper": self.paper,
            "difference": _rounded(self.difference),
        }


@dataclass(frozen=True)
class Row:
    """A table line: headings and figures."""

    heads: tuple[str, ...]
    cells: tuple[Cell, ...]
    is_best: bool = False
    """True if significantly better than every other row of its group."""
    is_best_in_paper: bool = False
    key: Mapping[str, str] = field(default_factory=dict)
    """Codes and names for programs: language, classifier."""


@dataclass(frozen=True)
class MeasureTable:
    """A table and the corresponding table of the paper."""

    name: str
    title: str
    source: str
    """The source of the paper's figures; '' if the table is not in the paper."""
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    headline: int | None = None
    """Column compared with the paper; None compares all columns."""
    notes: tuple[str, ...] = ()
    digits: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return the table as nested objects."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {
            "rows": [
                {
                    **dict(zip(self.heads, row.heads, strict=True)),
                    **row.key,
                    "shown": row.heads,
                    "best": row.is_best,
                    "best_in_paper": row.is_best_in_paper,
                    "figures": {
                        column: cell.as_json()
                        for column, cell in zip(self.columns, row.cells, strict=True)
                    },
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True)
class Result:
    """The tables of an experiment."""

    experiment: str
    tables: tuple[MeasureTable, ...]
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the whole result for a JSON file."""
        return {
            "experiment": self.experiment,
            "seconds": round(self.seconds, 1),
            "tables": [table.as_json() for table in self.tables],
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)
