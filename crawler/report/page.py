"""A report as JSON figures, terminal tables, and an HTML page.

The page is one HTML file without network requests; only a running crawl's page has a script. Every
text is escaped, because titles, URLs and host names come from the Web. Line charts are SVG with
HTML labels: only the lines stretch with the page width, so labels keep their size on a narrow
screen.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from langfocus.crawler.report.formatting import Cell, printable, shown
from langfocus.crawler.report.table import WIDE, Printer, Table

if TYPE_CHECKING:
    from jinja2 import Environment


RELOAD_S: Final = 10
_RELOAD: Final = f"setTimeout(() => location.reload(), {1000 * RELOAD_S})"
RELOADS: Final = f"script-src 'sha256-{b64encode(sha256(_RELOAD.encode()).digest()).decode()}'"
"""The content security policy of a page that reloads itself."""

WORDS: Final = {
    "harvest rate": "Of the pages whose language was identified, the share in the target language.",
    "harvest rate, last 200 pages": "The same for the end of the crawl: is it still worth it?",
    "pages": "URLs that were downloaded with a final status.",
    "pages with a label": "Pages whose language was identified.",
    "pages without a label": "Their language could not be told; no rate counts them.",
    "hosts": "Hosts with a page.",
    "most URLs of one host": "The host cap bounds it, so that no host fills the crawl.",
    "Brier score of the probabilities": "Mean squared error of the probabilities before the fetch: "
    "0 is perfect, 0.25 is a coin.",
    "calibration error": "How far probabilities are from what came true: at 0 %, 70 of 100 pages "
    "with 70 % are in the language.",
    "pages in the scope": "The rules of -a scope take them, whatever their language.",
    "pages that need a browser": "Scripts would write their text and links: LANGFOCUS_RENDER.",
    "copies": "Their text stands on many domains; they count as not relevant.",
    "URLs beyond the cap of their domain": "A cap bounds the URLs of a registered domain, however "
    "many hosts it has.",
    "harvest": "harvest: relevant pages per page.",
    "relevant": "relevant: in the target language, and no copy.",
    "embedded files": "Files that pages embed, such as images, in the archive; they are no pages.",
    "downloaded": "Bodies as received.",
    "finish reason": "Why the crawl ended: the goal that it reached, or what stopped it.",
    "with a language": "The others have too little text, or none.",
    "servers": "Hosts that answered.",
    "largest queue": "queue: the URLs that wait for their fetch.",
}
"""Terms of the field, explained on a card, in a table of figures, or below a table with the column.

The name of a figure is without its part in parentheses.
"""

_STEPS: Final = (1, 2, 2.5, 5, 10)
_FIRST_HUE: Final = 250
_LINE_HEIGHT: Final = 6.0
"""Line height of a label beside its line, in percent of the chart height."""

_LETTERS_OF_A_LINE: Final = 30

Points = Sequence[tuple[float, float | None]]
"""Pairs of x and y; None leaves a gap."""


class Tick(NamedTuple):
    """An axis tick, in percent of the axis length."""

    at: float
    text: str


class Line(NamedTuple):
    """A drawn line; coordinates are percent from the left and from the top."""

    label: str
    label_at: float
    path: str
    end: str
    hue: int
    is_dashed: bool
    band: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Lines by label, from 0 on both axes, with the figures as a table.

    `bands` has the interval ends around a line, by label: x, low, high.
    """

    title: str
    lines: Mapping[str, Points]
    x_label: str = "pages"
    y_label: str
    bands: Mapping[str, Sequence[tuple[float, float | None, float | None]]] = field(
        default_factory=dict
    )
    is_share: bool = False
    caption: str = ""
    table: Table | None = None

    @property
    def x_ticks(self) -> list[Tick]:
        """Ticks of the x axis, which ends at the last x."""
        most = self._most_x
        return [Tick(100 * x / most, f"{x:,.0f}") for x in _round_numbers(most, 1) if x <= most]

    @property
    def y_ticks(self) -> list[Tick]:
        """Ticks of the y axis, which ends at the last tick."""
        factor, shown = (100, "{:.3g} %") if self.is_share else (1, "{:,.0f}")
        return [Tick(100 * y / self._most_y, shown.format(factor * y)) for y in self._y_values]

    @cached_property
    def drawn(self) -> list[Line]:
        """Lines ordered by their end, the top one first; equal lines are merged."""
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
                label = " = ".join([*names[:2], *more])
                band = self._band(names[0])
                found.append(Line(label, known[-1][1], path, end, hue, place % 2 == 1, band))
        found.sort(key=lambda line: line.label_at)
        return _with_labels_apart(found)

    @property
    def letters(self) -> int:
        """Length of the longest label in one line."""
        return min(_LETTERS_OF_A_LINE, max(len(line.label) for line in self.drawn))

    @cached_property
    def _most_x(self) -> float:
        return max((x for points in self.lines.values() for x, _ in points), default=0) or 1

    @cached_property
    def _y_values(self) -> list[float]:
        values = [y for points in self.lines.values() for _, y in points if y is not None]
        values += [y for ends in self.bands.values() for *_, y in ends if y is not None]
        least = 0.001 if self.is_share else 1
        return _round_numbers(max([least, *values]), least)

    @property
    def _most_y(self) -> float:
        return self._y_values[-1]

    def _band(self, label: str) -> str:
        """Return the outline of a line's interval: the upper ends, then the lower ends reversed."""
        ends = [each for each in self.bands.get(label, ()) if each[1] is not None]
        around = [(x, high) for x, _, high in ends] + [(x, low) for x, low, _ in reversed(ends)]
        return _path([self._spot(x, y) for x, y in around])

    def _spot(self, x: float, y: float | None) -> tuple[float, float] | None:
        if y is None:
            return None
        return 100 * x / self._most_x, 100 - 100 * y / self._most_y


def _round_numbers(most: float, least_step: float) -> list[float]:
    """Return round numbers from 0 up to the first one not below `most`."""
    rough = max(least_step, most / 5)
    power = 10.0 ** floor(log10(rough))
    step = next(each * power for each in _STEPS if each * power >= 0.999 * rough)
    if least_step == 1:
        step = ceil(step)
    return [step * number for number in range(ceil(most / step - 1e-9) + 1)]


def _path(spots: Sequence[tuple[float, float] | None]) -> str:
    """Return the SVG path of a line; a point between two gaps is a dot."""
    parts = []
    for before, spot in pairwise([None, *spots]):
        if spot is not None:
            parts.append(f"{'M' if before is None else 'L'}{spot[0]:.2f} {spot[1]:.2f}")
            parts += ["h0"] if before is None else []
    return "".join(parts)


def _with_labels_apart(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with labels moved apart, each near the end of its line."""
    heights = [_LINE_HEIGHT * max(1, ceil(len(line.label) / _LETTERS_OF_A_LINE)) for line in lines]
    shrunk = min(1.0, 100 / max(1.0, sum(heights)))
    apart = [shrunk * sum(pair) / 2 for pair in pairwise([*heights[:1], *heights])]
    places: list[float] = []
    for line, distance in zip(lines, apart, strict=True):
        places.append(max(line.label_at, places[-1] + distance if places else 0.0))
    lowest = 100.0
    for place, distance in reversed(list(enumerate(apart))):
        places[place] = lowest = min(places[place], lowest)
        lowest -= distance
    return [line._replace(label_at=at) for line, at in zip(lines, places, strict=True)]


class Command(NamedTuple):
    """A shell command to copy; "" is hidden."""

    title: str
    line: str


Part = Chart | Table | Command | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A title, a lead sentence, the main figures, and the parts in order."""

    title: str
    lead: str
    cards: Sequence[tuple[str, Cell]] = ()
    parts: Sequence[Part]
    figures: Mapping[str, Any] = field(default_factory=dict)
    """All figures as JSON types."""
    period: tuple[str | None, str | None] = (None, None)
    """Start and end in UTC, ISO 8601."""
    interval: str = ""
    """The 95 % interval of the first card."""
    is_reloaded: bool = False
    """Reload the page every `RELOAD_S` seconds, with or without scripts."""
    link: str = ""
    """A more detailed page in the same folder."""

    def html(self) -> str:
        """Return the text of the HTML file."""
        template = _environment().get_template("page.html")
        parts = list(filter(_has_figure, map(_without_single_points, self.parts)))
        reload = {"policy": RELOADS, "script": _RELOAD, "seconds": RELOAD_S}
        return template.render(report=self, parts=parts, reload=reload, words=WORDS)

    def tables(self) -> list[Table]:
        """Return all tables, including the charts' tables."""
        found = [part.table if isinstance(part, Chart) else part for part in self.parts]
        return [part for part in found if isinstance(part, Table) and not part.is_empty]

    def print(self, printer: Printer | None = None) -> None:
        """Print all tables."""
        printer = printer or Printer(width=WIDE)
        for table in self.tables():
            printer.table(table)


def period_of(periods: Iterable[tuple[str | None, str | None]]) -> tuple[str | None, str | None]:
    """Return the earliest start and the latest end."""
    starts, ends = zip((None, None), *periods, strict=True)
    return min(filter(None, starts), default=None), max(filter(None, ends), default=None)


def _without_single_points(part: Part) -> Part:
    """Return the table instead of a chart with single points only."""
    if not isinstance(part, Chart) or part.table is None:
        return part
    longest = max(map(len, part.lines.values()), default=0)
    return part.table if longest == 1 else part


def _has_figure(part: Part) -> bool:
    """Return True for a part with content below its title."""
    if isinstance(part, Chart):
        return bool(part.drawn)
    if isinstance(part, Table):
        return not part.is_empty
    return bool(part.line if isinstance(part, Command) else part)


@cache
def _environment() -> "Environment":
    # A crawl imports this module at its start and needs Jinja2 at its end only.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("langfocus.crawler.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalised,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalised(value: Any) -> Any:
    """Return a value as text without invisible letters, which could hide a part of a URL."""
    is_markup = hasattr(value, "__html__")
    return value if is_markup else printable(shown(value))
