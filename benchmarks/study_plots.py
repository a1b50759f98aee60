"""The figures of a study of URLs as pictures, from the JSON of `langfocus evaluate`.

    python -m benchmarks.study_plots docs/research/url-study/sizes.json docs/research/url-study

Each figure becomes the file NAME.svg; the same figures give the same file.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_COLOURS: Final = ("#1668b8", "#d1580f", "#2a8440", "#8b46b0", "#b3243f", "#6d6a1f")
_MARKERS: Final = "os^Dv*"
_YES, _NO, _TEST = "#d8eedd", "#f7ddd8", "#eef1f4"
_FRAME: Final = "#8a9299"
_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.linewidth": 0.6,
    "grid.alpha": 0.5,
}


def draw(figures: list[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write the file of each figure; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_draw(figure, folder / f"{figure['name']}.svg") for figure in figures]


def _draw(figure: Mapping[str, Any], path: Path) -> Path:
    kind = figure["kind"]
    with rc_context({**_STYLE, "svg.hashsalt": figure["name"]}):
        canvas = Figure(figsize=(12, 6) if kind == "tree" else (7.4, 4), layout="tight")
        FigureCanvasSVG(canvas)
        axes = canvas.add_subplot()
        axes.set_title(_plain(figure["title"]))
        _KINDS[kind](axes, figure)
        if "y_label" in figure:
            axes.set_ylabel(f"{figure['y_label']}, %")
            # Beside the plot it hides nothing.
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        canvas.savefig(path, format="svg", metadata={"Date": None})
    return path


def _points(axes: Axes, data: Mapping[str, Any]) -> None:
    """Means with bars of one standard deviation above and below, by language and classifier."""
    groups, series = data["groups"], data["series"]
    step = 0.6 / max(1, len(series))
    for number, one in enumerate(series):
        axes.errorbar(
            [at + step * (number - (len(series) - 1) / 2) for at in range(len(groups))],
            one["y"],
            yerr=one["spread"],
            fmt=_MARKERS[number % len(_MARKERS)],
            capsize=3,
            **_style(number, one),
        )
    axes.set_xticks(range(len(groups)), groups)


def _bars(axes: Axes, data: Mapping[str, Any]) -> None:
    """A bar for each classifier, and a line at the paper's mean."""
    places = range(len(data["labels"]))
    axes.bar_label(axes.bar(places, data["y"], 0.6, color=_COLOURS[0], label="ours"), fmt="%.1f")
    known = [(at, value) for at, value in enumerate(data["paper"]) if value is not None]
    if known:
        marks = zip(*known, strict=True)
        axes.plot(*marks, "_", color=_COLOURS[1], ms=28, mew=2, label="Baykan 2013")
    axes.set_xticks(places, [_plain(label) for label in data["labels"]], rotation=20, ha="right")
    axes.set_ylim(0, 105)


def _curves(axes: Axes, data: Mapping[str, Any]) -> None:
    """A line for each classifier over the training URLs, on a logarithmic axis."""
    for number, line in enumerate(data["lines"]):
        marker = _MARKERS[number % len(_MARKERS)]
        axes.plot(line["x"], line["y"], marker=marker, **_style(number, line))
    axes.set_xscale("log")
    axes.set_xlabel(data["x_label"])


def _style(number: int, one: Mapping[str, Any]) -> dict[str, Any]:
    colour = _COLOURS[number % len(_COLOURS)]
    return {"label": _plain(one["label"]), "color": colour, "markersize": 4}


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
            below = (start + end) / 2
            axes.plot([centre, below], [-level, -level - 1], color=_FRAME, lw=1)
            axes.text((centre + below) / 2, -level - 0.5, answer, ha="center", va="center")
            _branch(axes, child, start, end, level + 1)
        text, colour = _plain(node["test"]).replace(" <= ", "\n≤ "), _TEST
    else:
        says = node["says"]
        text = f"{says}\nf(+) = {node['positive']:.1f} %\nf(-) = {node['negative']:.1f} %"
        colour = _YES if says == "Yes" else _NO
    box = {"boxstyle": "round", "facecolor": colour, "edgecolor": _FRAME}
    axes.text(centre, -level, text, ha="center", va="center", bbox=box, fontsize=8)


def _width(node: Mapping[str, Any]) -> int:
    return _width(node["left"]) + _width(node["right"]) if "test" in node else 1


def _depth(node: Mapping[str, Any]) -> int:
    return 1 + max(_depth(node["left"]), _depth(node["right"])) if "test" in node else 0


def _plain(text: str) -> str:
    """The text with its dollar signs escaped, since matplotlib reads them as a formula."""
    return text.replace("$", r"\$")


_KINDS: Final[Mapping[str, Callable[[Axes, Mapping[str, Any]], None]]] = {
    "points": _points,
    "bars": _bars,
    "curves": _curves,
    "tree": _tree,
}


def main() -> None:
    """Draw the figures of a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("figures", type=Path, help="JSON file of langfocus evaluate")
    parser.add_argument("folder", type=Path, help="folder of the pictures")
    options = parser.parse_args()
    content = json.loads(options.figures.read_text(encoding="utf-8"))
    found = [figure for one in content["experiments"] for figure in one["figures"]]
    for path in draw(found, options.folder):
        print(path)


if __name__ == "__main__":
    main()
