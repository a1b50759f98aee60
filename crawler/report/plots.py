"""Plots as SVG that stands inside a page: its text is text, its colours are the page's.

The colours of the page are CSS variables, which matplotlib cannot write; it draws with stand-ins
that are replaced afterwards, so that one drawing serves a light page and a dark one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

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
"""Styles of lines, another whenever the colours begin anew."""
_MOST_INSIDE = 6
"""Lines whose names still fit into the plot."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot; `None` among the `y` leaves a gap."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    is_marked: bool = False
    """Whether each point gets a mark, for lines of few points."""
    marks_end: bool = False
    """Whether the last point gets a mark."""
    band: tuple[Sequence[float], Sequence[float]] | None = None
    """The least and the greatest value at each point, drawn as a shade."""


def line_plot(
    name: str,
    title: str,
    series: Sequence[Series],
    *,
    x_label: str = "pages",
    y_label: str,
    is_share: bool = False,
    is_logarithmic: bool = False,
    top: float | None = None,
    width: float = 7.4,
    height: float = 3.0,
) -> str:
    """An `<svg>` element with the lines of `series`.

    `name` must differ between the plots of one page: the ids inside are made from it. `title` is
    what a reader hears who does not see the plot. `is_share` makes the y axis 0 to 100 %, or to
    `top`; `is_logarithmic` a logarithmic one. The same input gives the same text. `width` and
    `height` are in inches of 72 units.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.0}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        _draw(axes, series)
        if is_logarithmic:
            axes.set_yscale("log")
        _dress(axes, x_label, y_label, is_share=is_share, top=top)
        if len(series) > _MOST_INSIDE:
            figure.legend(
                frameon=False,
                labelcolor=_INK,
                loc="outside right upper",
                fontsize=8,
                handlelength=3.2,
            )
        elif len(series) > 1:
            axes.legend(frameon=False, labelcolor=_INK, loc="best")
        return _as_element(figure, title)


def _draw(axes: "Axes", series: Sequence[Series]) -> None:
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
            axes.fill_between(list(one.x), *one.band, color=colour, alpha=0.18, linewidth=0)


def _dress(axes: "Axes", x_label: str, y_label: str, *, is_share: bool, top: float | None) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel(x_label, color=_INK)
    axes.set_ylabel(y_label, color=_INK)
    axes.set_xlim(left=0)
    is_linear = axes.get_yscale() == "linear"
    if is_linear:
        axes.set_ylim(bottom=0, top=1.02 if is_share and top is None else top)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=_STEPS, integer=True))
    if is_share:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
        if top is None:
            axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        else:
            axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS))
    else:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        if is_linear:
            axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS, integer=True))
    axes.grid(visible=True, axis="y", color=_RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, color=_RULE, length=3)
    axes.patch.set_visible(False)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(_RULE)


def _as_element(figure: "Figure", title: str) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    # What only a file of its own needs, and ids that nothing refers to and other plots have too.
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace("xlink:href", "href")
    box = re.search(r'viewBox="[^"]*"', svg)
    head = f'<svg role="img" aria-label="{escape(title)}" {box[0] if box else ""}>'
    svg = re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)
    return _in_colours(svg, _PAGE_COLOURS)


def _in_colours(svg: str, colours: Mapping[str, str]) -> str:
    return re.sub("#[0-9a-f]{6}", lambda match: colours.get(match[0], match[0]), svg)
