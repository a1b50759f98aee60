"""Means, bands and intervals of repeated simulations of one strategy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.simulate.figures import CourseFigures


@dataclass(frozen=True, slots=True)
class Band:
    """A curve of several courses: at each `x` their mean, the least and the greatest."""

    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % confidence interval (Student's t); None where one value tells none."""

    mean: float
    low: float | None
    high: float | None


def band(
    courses: Sequence[CourseFigures],
    values: Callable[[CourseFigures], Sequence[float]],
    *,
    by_pages: bool = True,
) -> Band:
    """Return a curve of courses over pages, or over distances where `by_pages` is False.

    A crawl that has ended stays where it ended.
    """
    xs = [list(c.points) if by_pages else list(range(len(values(c)))) for c in courses]
    grid = np.array(sorted({x for each in xs for x in each}), float)
    rows = [
        np.interp(grid, x, np.asarray(values(course), float))
        for course, x in zip(courses, xs, strict=True)
        if x
    ]
    if not rows:
        return Band([], [], [], [])
    table = np.array(rows)
    return Band(
        grid.tolist(),
        table.mean(axis=0).tolist(),
        table.min(axis=0).tolist(),
        table.max(axis=0).tolist(),
    )


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of some values, at least one, and how sure it is."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, None, None)
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return Estimate(mean, mean - half, mean + half)
