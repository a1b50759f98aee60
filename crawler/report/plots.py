"""Plots as SVG elements of a page, in the colours of the page.

These colours are CSS variables, so that one plot fits a light page and a dark one. matplotlib
cannot write variables: it draws with placeholder colours, which are replaced afterwards.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from crawler.report.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_INK, _RULE = "#010101", "#010102"
_COLOURS = ("#010201", "#010202", "#010203", "#010204", "#010205", "#010206")
_PAGE_COLOURS = {
    _INK: "currentColor",
    _RULE: "var(--rule)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_COLOURS, start=1)},
}
_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.facecolor": "none",
    "axes.edgecolor": _RULE,
    "axes.linewidth": 0.8,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _RULE,
    "grid.linewidth": 0.8,
    "xtick.color": _RULE,
    "xtick.labelcolor": _INK,
    "xtick.major.size": 3,
    "ytick.color": _RULE,
    "ytick.labelcolor": _INK,
    "ytick.major.size": 3,
    "legend.frameon": False,
    "legend.labelcolor": _INK,
}
_STEPS = [1, 2, 2.5, 5, 10]
_MARKERS = "os^Dv*"
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
"""Styles of lines: each colour is used with the first style, then each with the second."""
_MOST_INSIDE = 6
"""A plot with more lines has its legend beside it."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot; `None` among the `y` leaves a gap."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    is_marked: bool = False
    """Whether each point gets a mark, for lines with few points."""
    marks_end: bool = False
    """Whether the last point gets a mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure of a page: lines, horizontal bars or a map, the caption, the figures as a table.

    `name` differs between the plots of one page: the ids inside are made from it. The figure is
    drawn for a page only, not where tables are printed.
    """

    name: str
    title: str
    series: Sequence[Series] = ()
    bars: Sequence[tuple[str, float]] = ()
    """A bar for each name, the first at the top; `y_label` is the label of the values."""
    map: str = ""
    """The `<svg>` element of a map."""
    shades: Sequence[tuple[float, str]] = ()
    """Opacities of a map, and the counts that they stand for."""
    x_label: str = "pages"
    y_label: str = ""
    is_share: bool = False
    """Whether the values are shares; the y axis of lines goes from 0 to 100 %, or to `top`."""
    is_logarithmic: bool = False
    """Whether the y axis is logarithmic."""
    top: float | None = None
    width: float = 7.4
    """In inches of 72 units. The height of bars follows from their number."""
    height: float = 3.0
    caption: str = ""
    table: Table | None = None

    def svg(self) -> str:
        """An `<svg>` element; the same figures give the same text."""
        if self.map:
            return self.map
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        height = 0.7 + 0.21 * len(self.bars) if self.bars else self.height
        with rc_context({**_STYLE, "svg.hashsalt": self.name}):
            figure = Figure(figsize=(self.width, height), layout="constrained")
            FigureCanvasSVG(figure)
            axes = figure.add_subplot()
            if self.bars:
                self._draw_bars(axes)
            else:
                self._draw_lines(axes)
            if len(self.series) > _MOST_INSIDE:
                figure.legend(loc="outside right upper", fontsize=8, handlelength=3.2)
            elif len(self.series) > 1:
                axes.legend(loc="best")
            text = StringIO()
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return _as_element(text.getvalue(), self.title)

    def _draw_bars(self, axes: "Axes") -> None:
        values = [value for _, value in self.bars]
        axes.barh(range(len(values)), values, color=_COLOURS[0], height=0.7)
        axes.set_yticks(range(len(values)), [_plain(label) for label, _ in self.bars])
        axes.invert_yaxis()
        axes.set_xlabel(self.y_label)
        axes.grid(visible=False, axis="y")
        _set_ticks(axes.xaxis, is_share=self.is_share)

    def _draw_lines(self, axes: "Axes") -> None:
        for number, one in enumerate(self.series):
            _draw_line(axes, one, number)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        axes.set_xlim(left=0)
        _set_ticks(axes.xaxis, is_share=False, most=8)
        if self.is_logarithmic:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(_formatter(is_share=False))
            return
        _set_ticks(axes.yaxis, is_share=self.is_share)
        if self.is_share and self.top is None:
            axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
            axes.set_ylim(0, 1.02)
        else:
            axes.set_ylim(bottom=0, top=self.top)


def _draw_line(axes: "Axes", one: Series, number: int) -> None:
    colour = _COLOURS[number % len(_COLOURS)]
    axes.plot(
        list(one.x),
        [float("nan") if value is None else value for value in one.y],
        label=_plain(one.label),
        color=colour,
        linewidth=1.6,
        linestyle=_DASHES[number // len(_COLOURS) % len(_DASHES)],
        marker=_MARKERS[number % len(_MARKERS)] if one.is_marked or one.marks_end else None,
        markevery=[-1] if one.marks_end else None,
        markersize=4,
    )


def _set_ticks(axis: "Axis", *, is_share: bool, most: int = 6) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_formatter(_formatter(is_share=is_share))
    axis.set_major_locator(MaxNLocator(nbins=most, steps=_STEPS, integer=not is_share))


def _formatter(*, is_share: bool) -> Callable[[float, object], str]:
    if is_share:
        return lambda value, _: f"{100 * value:.3g} %"
    return lambda value, _: f"{value:,.0f}"


def _plain(text: str) -> str:
    """The text with its dollar signs escaped, since matplotlib reads them as a formula."""
    return text.replace("$", r"\$")


def _as_element(svg: str, title: str) -> str:
    """The element of a file, with a title for screen readers and the colours of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    # Comments, and unused ids that other plots have too.
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    box = re.search(r'viewBox="[^"]*"', svg)
    head = f'<svg role="img" aria-label="{escape(title)}" {box[0] if box else ""}>'
    svg = re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)
    return re.sub("#[0-9a-f]{6}", lambda match: _PAGE_COLOURS.get(match[0], match[0]), svg)
