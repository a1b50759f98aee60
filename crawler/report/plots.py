"""Plots as SVG elements of a page, in the colours of the page.

These colours are CSS variables, so that one plot fits a light page and a dark one. matplotlib
cannot write variables: it draws with placeholder colours, which are replaced afterwards.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Literal

from crawler.report.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _RULE = "#010101", "#010102"
_SERIES = ("#010201", "#010202", "#010203", "#010204", "#010205", "#010206")
_PAGE_COLOURS = {
    _INK: "currentColor",
    _RULE: "var(--rule)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES, start=1)},
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
    band: tuple[Sequence[float], Sequence[float]] | None = None
    """The least and the greatest value at each point, drawn as a shaded area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotAxes:
    """The axes of a plot, and its size in inches of 72 units."""

    x_label: str = "pages"
    y_label: str
    is_share: bool = False
    """Whether the y axis goes from 0 to 100 %, or to `top`."""
    is_logarithmic: bool = False
    """Whether the y axis is logarithmic."""
    top: float | None = None
    width: float = 7.4
    height: float = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure of a page, the caption below it, the same figures as a table.

    `draw` returns an `<svg>` element; it is called for a page only, not where tables are printed.
    """

    title: str
    draw: Callable[[], str]
    caption: str = ""
    table: Table | None = None
    shades: Sequence[tuple[float, str]] = ()
    """Opacities of a map, and the counts that they stand for."""


def line_plot(name: str, title: str, series: Sequence[Series], axes: PlotAxes) -> str:
    """An `<svg>` element with the lines of `series`; the same input gives the same text.

    `name` must differ between the plots of one page: the ids inside are made from it. `title` is
    for screen readers.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.0}):
        figure = Figure(figsize=(axes.width, axes.height), layout="constrained")
        FigureCanvasSVG(figure)
        drawn = figure.add_subplot()
        _draw(drawn, series)
        _dress(drawn, axes)
        _add_legend(figure, drawn, len(series))
        return _as_element(figure, title)


def bar_plot(name: str, title: str, bars: Sequence[tuple[str, float]], axes: PlotAxes) -> str:
    """An `<svg>` element with a horizontal bar for each name, the first at the top.

    `axes.y_label` is the label of the values, which go along the horizontal axis; the height
    follows from the number of bars. Otherwise as `line_plot`.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.0}):
        figure = Figure(figsize=(axes.width, 0.7 + 0.21 * len(bars)), layout="constrained")
        FigureCanvasSVG(figure)
        drawn = figure.add_subplot()
        labels = [label.replace("$", r"\$") for label, _ in bars]
        drawn.barh(range(len(bars)), [value for _, value in bars], color=_SERIES[0], height=0.7)
        drawn.set_yticks(range(len(bars)), labels)
        drawn.invert_yaxis()
        _dress_bars(drawn, axes)
        return _as_element(figure, title)


def _dress_bars(drawn: "Axes", axes: PlotAxes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    spelled = "{:.3g} %" if axes.is_share else "{:,.0f}"
    factor = 100 if axes.is_share else 1
    drawn.xaxis.set_major_formatter(FuncFormatter(lambda value, _: spelled.format(factor * value)))
    drawn.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS, integer=not axes.is_share))
    drawn.set_xlabel(axes.y_label, color=_INK)
    _dress_frame(drawn, "x")


def _dress_frame(drawn: "Axes", rules: Literal["x", "y"]) -> None:
    """Draw pale rules across an axis, and a frame at the left and at the bottom."""
    drawn.grid(visible=True, axis=rules, color=_RULE, linewidth=0.8)
    drawn.set_axisbelow(True)
    drawn.tick_params(colors=_INK, color=_RULE, length=3)
    drawn.patch.set_visible(False)
    for side, spine in drawn.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(_RULE)


def _draw(axes: "Axes", series: Sequence[Series]) -> None:
    # Many shaded areas lie over each other: they must not hide the lines.
    alpha = 0.18 if len(series) <= _MOST_INSIDE else 0.07
    for number, one in enumerate(series):
        colour = _SERIES[number % len(_SERIES)]
        axes.plot(
            list(one.x),
            [float("nan") if value is None else value for value in one.y],
            label=one.label.replace("$", r"\$"),
            color=colour,
            linewidth=1.6,
            linestyle=_DASHES[number // len(_SERIES) % len(_DASHES)],
            marker=_MARKERS[number % len(_MARKERS)] if one.is_marked or one.marks_end else None,
            markevery=[-1] if one.marks_end else None,
            markersize=4,
        )
        if one.band is not None:
            axes.fill_between(list(one.x), *one.band, color=colour, alpha=alpha, linewidth=0)


def _dress(drawn: "Axes", axes: PlotAxes) -> None:
    if axes.is_logarithmic:
        drawn.set_yscale("log")
    drawn.set_xlabel(axes.x_label, color=_INK)
    drawn.set_ylabel(axes.y_label, color=_INK)
    drawn.set_xlim(left=0)
    if not axes.is_logarithmic:
        drawn.set_ylim(bottom=0, top=1.02 if axes.is_share and axes.top is None else axes.top)
    _set_ticks(drawn, axes)
    _dress_frame(drawn, "y")


def _set_ticks(drawn: "Axes", axes: PlotAxes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    whole = FuncFormatter(lambda value, _: f"{value:,.0f}")
    drawn.xaxis.set_major_formatter(whole)
    drawn.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=_STEPS, integer=True))
    if not axes.is_share:
        drawn.yaxis.set_major_formatter(whole)
        if not axes.is_logarithmic:
            drawn.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS, integer=True))
        return
    drawn.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
    if axes.top is None:
        drawn.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    else:
        drawn.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS))


def _add_legend(figure: "Figure", drawn: "Axes", lines: int) -> None:
    if lines > _MOST_INSIDE:
        figure.legend(
            frameon=False,
            labelcolor=_INK,
            loc="outside right upper",
            fontsize=8,
            handlelength=3.2,
        )
    elif lines > 1:
        drawn.legend(frameon=False, labelcolor=_INK, loc="best")


def _as_element(figure: "Figure", title: str) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    # Comments, and unused ids that other plots have too.
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    box = re.search(r'viewBox="[^"]*"', svg)
    head = f'<svg role="img" aria-label="{escape(title)}" {box[0] if box else ""}>'
    svg = re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)
    return _in_colours(svg, _PAGE_COLOURS)


def _in_colours(svg: str, colours: Mapping[str, str]) -> str:
    return re.sub("#[0-9a-f]{6}", lambda match: colours.get(match[0], match[0]), svg)
