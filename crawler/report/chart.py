"""Line charts of a page, drawn by its template as SVG with texts in HTML.

Only the lines stretch with the width of the page: texts keep their size on a narrow screen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final, NamedTuple

from crawler.report.table import Table

_STEPS: Final = (1, 2, 2.5, 5, 10)
_FIRST_HUE: Final = 250
_LABEL_HEIGHT: Final = 6.0
"""Least distance of two labels, in percent of the height of a chart."""

Points = Sequence[tuple[float, float | None]]
"""Places on the x axis and their values; None leaves a gap."""


class Tick(NamedTuple):
    """A mark of an axis, in percent of its length."""

    at: float
    text: str


class Line(NamedTuple):
    """A line as it is drawn: all places are percent from the left and from the top."""

    label: str
    label_at: float
    path: str
    end: str
    hue: int
    is_dashed: bool


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Lines by their labels, from 0 on both axes, and their figures as a table."""

    title: str
    lines: Mapping[str, Points]
    x_label: str = "pages"
    y_label: str
    is_share: bool = False
    caption: str = ""
    table: Table | None = None

    @property
    def x_ticks(self) -> list[Tick]:
        """The marks of the x axis, which ends at the last place."""
        most = self._most_x
        return [Tick(100 * x / most, f"{x:,.0f}") for x in _round_numbers(most, 1) if x <= most]

    @property
    def y_ticks(self) -> list[Tick]:
        """The marks of the y axis; the last one is its end."""
        factor, shown = (100, "{:.3g} %") if self.is_share else (1, "{:,.0f}")
        return [Tick(100 * y / self._most_y, shown.format(factor * y)) for y in self._y_values]

    @cached_property
    def drawn(self) -> list[Line]:
        """The lines from the top to the bottom of their ends; equal ones are one line."""
        labels: dict[tuple[tuple[float, float | None], ...], list[str]] = {}
        for label, points in self.lines.items():
            labels.setdefault(tuple(points), []).append(label)
        found = []
        for place, (points, names) in enumerate(labels.items()):
            spots = [self._spot(x, y) for x, y in points]
            known = [spot for spot in spots if spot is not None]
            if known:
                hue = round(_FIRST_HUE + 360 * place / len(labels)) % 360
                path = _path(spots)
                end = f"{known[-1][0]:.2f} {known[-1][1]:.2f}"
                more = [f"{len(names) - 2} more"] if len(names) > 3 else names[2:]
                line = Line(
                    " = ".join([*names[:2], *more]), known[-1][1], path, end, hue, place % 2 == 1
                )
                found.append(line)
        found.sort(key=lambda line: line.label_at)
        return _with_labels_apart(found)

    @cached_property
    def _most_x(self) -> float:
        return max((x for points in self.lines.values() for x, _ in points), default=0) or 1

    @cached_property
    def _y_values(self) -> list[float]:
        values = [y for points in self.lines.values() for _, y in points if y is not None]
        least = 0.001 if self.is_share else 1
        return _round_numbers(max([least, *values]), least)

    @property
    def _most_y(self) -> float:
        return self._y_values[-1]

    def _spot(self, x: float, y: float | None) -> tuple[float, float] | None:
        if y is None:
            return None
        return 100 * x / self._most_x, 100 - 100 * y / self._most_y


def _round_numbers(most: float, least_step: float) -> list[float]:
    """Some round numbers from 0 to `most`, or to the next one after it."""
    rough = max(least_step, most / 5)
    power = 10.0 ** floor(log10(rough))
    step = next(each * power for each in _STEPS if each * power >= 0.999 * rough)
    if least_step == 1:
        step = ceil(step)
    return [step * number for number in range(ceil(most / step - 1e-9) + 1)]


def _path(spots: Sequence[tuple[float, float] | None]) -> str:
    """The path of a line; a point between two gaps is a dot."""
    parts = []
    for before, spot in pairwise([None, *spots]):
        if spot is not None:
            parts.append(f"{'M' if before is None else 'L'}{spot[0]:.2f} {spot[1]:.2f}")
            parts += ["h0"] if before is None else []
    return "".join(parts)


def _with_labels_apart(lines: Sequence[Line]) -> list[Line]:
    """The lines with labels that do not cover each other, each near the end of its line."""
    height = min(_LABEL_HEIGHT, 100 / max(1, len(lines)))
    places: list[float] = []
    for line in lines:
        places.append(max(line.label_at, places[-1] + height if places else 0.0))
    lowest = 100.0
    for place in reversed(range(len(places))):
        places[place] = lowest = min(places[place], lowest)
        lowest -= height
    return [line._replace(label_at=at) for line, at in zip(lines, places, strict=True)]
