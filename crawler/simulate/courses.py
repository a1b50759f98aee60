"""The compiled counting along courses: the counts of a simulated crawl after so many pages."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled
from classifiers.instructions import prefetch
from crawler.simulate.linkarrays import RELEVANT, Bytes, Ints, Longs

Shorts = npt.NDArray[np.int16]

RELEVANT_PAGES, SERVERS, BYTES, PAGES = range(4)
"""The columns of counts."""
_AHEAD = 24
"""Pages between asking memory for the facts of a page and using them."""


class CourseArrays(NamedTuple):
    """The `order` (N,) of a course, and of each vertex the `kind`, the `server` and the size (V,).

    `sizes` is (1,) where sizes are not known.
    """

    order: Ints
    kind: Bytes
    server: Ints
    sizes: Ints


@compiled
def sample_course(
    course: CourseArrays,
    points: Longs,
    samples: Longs,
    wanted: Longs,
    crossings: Longs,
    is_known: Bytes,
) -> None:
    """Count along a course: relevant pages, servers and bytes after `points` pages.

    `points` (P,) rise and begin with 1 or more; `samples` is (P, 4). `wanted` (W,) are numbers of
    relevant pages that rise, `crossings` (W, 4) gets the counts where each was reached and is left
    alone where none was. `is_known` (S,) is 0.
    """
    order, kind, server, sizes = course.order, course.kind, course.server, course.sizes
    now = np.zeros(4, np.int64)
    at_point, at_wanted = 0, 0
    has_sizes = len(sizes) == len(kind)
    for place in range(len(order)):
        vertex = order[place]
        if place + _AHEAD < len(order):
            prefetch(kind, order[place + _AHEAD])
            prefetch(server, order[place + _AHEAD])
        now[PAGES] += 1
        now[RELEVANT_PAGES] += kind[vertex] & RELEVANT != 0
        if not is_known[server[vertex]]:
            is_known[server[vertex]] = 1
            now[SERVERS] += 1
        if has_sizes:
            now[BYTES] += sizes[vertex]
        while at_wanted < len(wanted) and now[RELEVANT_PAGES] >= wanted[at_wanted]:
            crossings[at_wanted] = now
            at_wanted += 1
        if at_point < len(points) and place + 1 == points[at_point]:
            samples[at_point] = now
            at_point += 1


@compiled
def count_fetched(order: Ints, kind: Bytes, distance: Shorts, relevant: Longs) -> None:
    """Add the relevant pages of a course at each distance to `relevant` (FARTHEST + 1,)."""
    for place in range(len(order)):
        vertex = order[place]
        if place + _AHEAD < len(order):
            prefetch(kind, order[place + _AHEAD])
        if kind[vertex] & RELEVANT and distance[vertex] >= 0:
            relevant[distance[vertex]] += 1
