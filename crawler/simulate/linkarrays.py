"""The links and kinds of a graph as arrays, and the vertices where links end."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import step
from crawler.simulate.webgraph import PAGE, REDIRECT

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

RELEVANT: Final = 4
STATUS: Final = 3
_MOST_REDIRECTS = 20


class LinkArrays(NamedTuple):
    """Links as in `WebGraph`, and the `kind` (V,) of each vertex.

    A kind is the `page_status`, with `RELEVANT` added for pages in the target language.
    """

    start: Longs
    target: Ints
    kind: Bytes


@step
def landing(start: Longs, target: Ints, kind: Bytes, vertex: int) -> int:
    """The vertex that a link ends at, or -1 where redirects lead nowhere."""
    for _ in range(_MOST_REDIRECTS):
        if kind[vertex] != REDIRECT:
            return vertex
        if start[vertex] == start[vertex + 1]:
            break
        vertex = int(target[start[vertex]])
    return -1


@step
def is_page(kind: Bytes, vertex: int) -> bool:
    return vertex >= 0 and kind[vertex] & STATUS == PAGE
