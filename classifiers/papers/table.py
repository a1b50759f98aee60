"""Results of experiments as plain data: tables with the paper's figures beside ours.

All figures are percentages. A cell has our figure, its standard deviation if it is a mean over the
folds, and the paper's figure if there is one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

MEASURES: Final = ("P", "R", "p(-|-)", "F1")


@dataclass(frozen=True)
class Cell:
    """One figure; nan if it is undefined."""

    ours: float
    spread: float | None = None
    """Standard deviation over the folds."""
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        """Return our figure less the paper's; None if one of them is missing."""
        if self.paper is None or math.isnan(self.ours):
            return None
        return self.ours - self.paper

    def as_json(self) -> dict[str, float | None]:
        """Return the figures for a JSON file; None for undefined ones."""
        return {
            "ours": _rounded(self.ours),
            "sd": _rounded(self.spread),
            "paper": self.paper,
            "difference": _rounded(self.difference),
        }


@dataclass(frozen=True)
class Row:
    """One line of a table: its headings and its figures."""

    heads: tuple[str, ...]
    cells: tuple[Cell, ...]
    is_best: bool = False
    """Whether it is significantly better than all others of its group."""
    is_best_in_paper: bool = False
    key: Mapping[str, str] = field(default_factory=dict)
    """Codes and names for programs: language, classifier."""


@dataclass(frozen=True)
class MeasureTable:
    """A table and the paper's table that it corresponds to."""

    name: str
    title: str
    source: str
    """The source of the paper's figures; '' if the table is not in the paper."""
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    headline: int | None = None
    """The column that is compared with the paper; None compares all."""
    notes: tuple[str, ...] = ()
    digits: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return the table as objects of objects."""
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
    """The tables of one experiment."""

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
