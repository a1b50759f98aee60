"""A map of the world whose countries are shaded by a count (Cai 2009, Figure 5-3).

The outlines come with the package pygal_maps_world, so the map needs no network. They are drawn for
posters: here they are made coarse, which takes a tenth of the bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from typing import Final, NamedTuple

from classifiers.errors import MissingPackageError
from crawler.report.formatting import country_name

_CLASSES: Final = 6
"""Shades, as in the figure of the paper."""
_GROUP = re.compile(r'<g class="(\w\w) country[^"]*">(.*?)</g>', re.DOTALL)
_PATH = re.compile(r' d="([^"]*)"')
_BOX = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
_STEP = re.compile(r"([mlhvcs])([^a-z]*)")
_NUMBER = re.compile(r"-?\d*\.?\d+")
_LENGTHS: Final = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4}
_COARSE: Final = 4.0
"""Least distance of two points of an outline; a pixel of the page is about as wide."""
_SMALL: Final = 9.0
"""A country whose outline is narrower gets a dot."""
_DOT: Final = 6.0

Point = tuple[float, float]


class Outline(NamedTuple):
    """The path of a country in SVG, or the centre of its dot."""

    path: str
    dot: Point | None


@dataclass(frozen=True, slots=True)
class WorldMap:
    """An `<svg>` element, the opacities of its shades with their counts, the missing countries."""

    svg: str
    shades: Sequence[tuple[float, str]]
    lacks: Sequence[str]


def world_map(counts: Mapping[str, int], title: str, thing: str) -> WorldMap:
    """A map with a shade for each country by its count; `thing` is one that is counted.

    `counts` are by the codes of ISO 3166-1. Raises `MissingPackageError` without the outlines.
    """
    box, outlines = _outlines()
    bounds = shades(max(counts.values(), default=0))
    shapes = [
        _shape(code, outline, counts.get(code, 0), bounds, thing)
        for code, outline in outlines.items()
    ]
    svg = f'<svg role="img" aria-label="{escape(title)}" {box}>{"".join(shapes)}</svg>'
    lacks = [code for code in counts if code not in outlines and len(code) == 2]
    return WorldMap(svg, _in_words(bounds), lacks)


def _in_words(bounds: Sequence[int]) -> list[tuple[float, str]]:
    """The opacity of each shade and its counts: `1`, `2 to 5`, `6 and more`."""
    words = [
        f"{least:,}" if least == after - 1 else f"{least:,} to {after - 1:,}"
        for least, after in pairwise(bounds)
    ]
    words += [f"{least:,} and more" for least in bounds[-1:]]
    return [(opacity(shade, len(bounds)), said) for shade, said in enumerate(words, start=1)]


def shades(most: int) -> tuple[int, ...]:
    """The least counts of up to six shades: 1, then by equal ratios up to the largest count."""
    if most < 1:
        return ()
    steps = (round(most ** (step / _CLASSES)) for step in range(_CLASSES))
    return tuple(sorted({max(1, step) for step in steps}))


def opacity(shade: int, of: int) -> float:
    """The opacity of a shade, counted from 1: the last is the darkest."""
    return round(0.18 + 0.82 * shade / of, 2)


def _shape(code: str, outline: Outline, count: int, bounds: Sequence[int], thing: str) -> str:
    shade = sum(count >= bound for bound in bounds)
    fill = "var(--card)"
    if shade:
        fill = f"var(--series-1);fill-opacity:{opacity(shade, len(bounds))}"
    plural = "" if count == 1 else "s"
    style = f"fill:{fill};stroke:var(--rule);stroke-width:1.5"
    words = f"<title>{escape(country_name(code))}: {count:,} {escape(thing)}{plural}</title>"
    if outline.dot is None:
        return f'<path style="{style}" d="{outline.path}">{words}</path>'
    x, y = outline.dot
    return f'<circle style="{style}" cx="{x:.0f}" cy="{y:.0f}" r="{_DOT:g}">{words}</circle>'


@cache
def _outlines() -> tuple[str, dict[str, Outline]]:
    """Return the view box and the outline of each country, by its code in upper case."""
    from importlib.resources import files

    try:
        text = (files("pygal_maps_world") / "worldmap.svg").read_text(encoding="utf-8")
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise MissingPackageError("pygal_maps_world", "maps") from error
    found = {
        code.upper(): _outline([ring for path in _PATH.findall(group) for ring in _rings(path)])
        for code, group in _GROUP.findall(text)
    }
    box = _BOX.search(text)
    return box[0] if box else "", dict(sorted(found.items()))


def _outline(rings: Sequence[Sequence[Point]]) -> Outline:
    largest = max(rings, key=_width)
    if _width(largest) < _SMALL:
        return Outline("", _middle(largest))
    wide = [ring for ring in rings if _width(ring) >= _SMALL / 2]
    return Outline("".join(_drawn(ring) for ring in wide), None)


def _drawn(ring: Sequence[Point]) -> str:
    kept: list[Point] = [ring[0]]
    for point in ring[1:]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= _COARSE:
            kept.append(point)
    return "M" + " ".join(f"{x:.0f},{y:.0f}" for x, y in kept) + "z"


def _width(ring: Sequence[Point]) -> float:
    xs, ys = zip(*ring, strict=True)
    return float(max(max(xs) - min(xs), max(ys) - min(ys)))


def _middle(ring: Sequence[Point]) -> Point:
    xs, ys = zip(*ring, strict=True)
    return (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2


def _rings(path: str) -> Iterator[list[Point]]:
    """Yield the closed lines of a path of relative steps; curves become lines to their ends."""
    x = y = 0.0
    ring: list[Point] = []
    for step, text in _STEP.findall(path):
        numbers = [float(number) for number in _NUMBER.findall(text)]
        if step == "m" and ring:
            yield ring
            ring = []
        for start in range(0, len(numbers), _LENGTHS[step]):
            x, y = _moved(x, y, step, numbers[start : start + _LENGTHS[step]])
            ring.append((x, y))
    if ring:
        yield ring


def _moved(x: float, y: float, step: str, numbers: Sequence[float]) -> Point:
    if step == "h":
        return x + numbers[0], y
    if step == "v":
        return x, y + numbers[0]
    return x + numbers[-2], y + numbers[-1]
