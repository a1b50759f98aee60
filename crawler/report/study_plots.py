"""The figures of the study as pictures: each as PNG and as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from classifiers.papers.table import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = ("png", "svg")

_COLOURS: Final = ("#1668b8", "#d1580f", "#2a8440", "#8b46b0", "#b3243f", "#6d6a1f")
_MARKERS: Final = "os^Dv*"
_YES, _NO, _TEST = "#d8eedd", "#f7ddd8", "#eef1f4"
_PAPER: Final = "#8a9299"


def draw(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """The files of the figures, NAME.png and NAME.svg for each, after writing them."""
    folder.mkdir(parents=True, exist_ok=True)
    return [path for figure in figures for path in _draw(figure, folder)]


def _draw(figure: Figure, folder: Path) -> list[Path]:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    paths = []
    with rc_context({"svg.hashsalt": figure.name, "svg.fonttype": "none", "font.size": 9.0}):
        canvas = Canvas(figsize=(12, 6) if figure.kind == "tree" else (7.4, 4), layout="tight")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        axes.set_title(_plain(figure.title))
        _KINDS[figure.kind](axes, figure.data)
        for format in FORMATS:
            path = folder / f"{figure.name}.{format}"
            metadata = {"Date": None} if format == "svg" else {"Software": None}
            canvas.savefig(path, format=format, dpi=150, metadata=metadata)
            paths.append(path)
    return paths


def _points(axes: Axes, data: Mapping[str, Any]) -> None:
    """Means with bars of one standard deviation above and below, by language and classifier."""
    groups, series = data["groups"], data["series"]
    step = 0.6 / max(1, len(series))
    for number, one in enumerate(series):
        places = [at + step * (number - (len(series) - 1) / 2) for at in range(len(groups))]
        axes.errorbar(
            places,
            one["y"],
            yerr=one["spread"],
            label=_plain(one["label"]),
            fmt=_MARKERS[number % len(_MARKERS)],
            color=_COLOURS[number % len(_COLOURS)],
            capsize=3,
            markersize=4,
        )
    axes.set_xticks(range(len(groups)), groups)
    _dress(axes, data["y_label"])
    _legend(axes)


def _bars(axes: Axes, data: Mapping[str, Any]) -> None:
    """A bar for each classifier, and a line at the paper's mean."""
    places = range(len(data["labels"]))
    axes.bar(places, data["y"], width=0.6, color=_COLOURS[0], label="ours")
    known = [(at, value) for at, value in enumerate(data["paper"]) if value is not None]
    if known:
        axes.plot(
            *zip(*known, strict=True), "_", color=_COLOURS[1], ms=28, mew=2, label="Baykan 2013"
        )
        _legend(axes)
    for at, value in enumerate(data["y"]):
        axes.annotate(f"{value:.1f}", (at, value / 2), ha="center", color="white")
    axes.set_xticks(places, [_plain(label) for label in data["labels"]], rotation=20, ha="right")
    axes.set_ylim(0, 105)
    _dress(axes, data["y_label"])


def _curves(axes: Axes, data: Mapping[str, Any]) -> None:
    """A line for each classifier over the training URLs, on a logarithmic axis."""
    for number, line in enumerate(data["lines"]):
        axes.plot(
            line["x"],
            line["y"],
            label=_plain(line["label"]),
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
        )
    axes.set_xscale("log")
    axes.set_xlabel(data["x_label"])
    _dress(axes, data["y_label"])
    _legend(axes)


def _tree(axes: Axes, data: Mapping[str, Any]) -> None:
    """Boxes from the root down: tests, and at the leaves the answer, f(+) and f(-)."""
    leaves = _width(data["root"])
    _branch(axes, data["root"], 0.0, float(leaves), 0)
    axes.set_xlim(0, leaves)
    axes.set_ylim(-_depth(data["root"]) - 0.4, 0.4)
    axes.set_axis_off()


def _branch(axes: Axes, node: Mapping[str, Any], left: float, right: float, level: int) -> None:
    centre = (left + right) / 2
    if "test" in node:
        split = left + _width(node["left"])
        for child, start, end, answer in (
            (node["left"], left, split, "yes"),
            (node["right"], split, right, "no"),
        ):
            axes.plot([centre, (start + end) / 2], [-level, -level - 1], color=_PAPER, lw=1)
            middle = (centre + (start + end) / 2) / 2
            axes.text(middle, -level - 0.5, answer, ha="center", va="center", fontsize=8)
            _branch(axes, child, start, end, level + 1)
    text, colour = _described(node)
    box = {"boxstyle": "round", "facecolor": colour, "edgecolor": _PAPER}
    axes.text(centre, -level, text, ha="center", va="center", bbox=box, fontsize=8)


def _described(node: Mapping[str, Any]) -> tuple[str, str]:
    if "test" in node:
        return _plain(node["test"]).replace(" <= ", "\n≤ "), _TEST
    says = node["says"]
    text = f"{says}\nf(+) = {node['positive']:.1f} %\nf(-) = {node['negative']:.1f} %"
    return text, _YES if says == "Yes" else _NO


def _width(node: Mapping[str, Any]) -> int:
    return _width(node["left"]) + _width(node["right"]) if "test" in node else 1


def _depth(node: Mapping[str, Any]) -> int:
    return 1 + max(_depth(node["left"]), _depth(node["right"])) if "test" in node else 0


def _legend(axes: Axes) -> None:
    """Add the legend beside the plot, so that it hides nothing."""
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _dress(axes: Axes, y_label: str) -> None:
    axes.set_ylabel(f"{y_label}, %")
    axes.grid(visible=True, axis="y", linewidth=0.6, alpha=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _plain(text: str) -> str:
    """The text with its dollar signs escaped, since matplotlib reads them as a formula."""
    return text.replace("$", r"\$")


_KINDS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], None]]] = {
    "points": _points,
    "bars": _bars,
    "curves": _curves,
    "tree": _tree,
}
