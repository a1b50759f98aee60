"""The layout of a generated Web: servers, the segments of their pages, and kinds of links.

Pages are numbered server by server, and within a server by segment: relevant pages that relevant
pages link to (`LINKED`), relevant pages that only others link to (`SHY`), other pages that
relevant pages link to (`FRONT`), and the rest (`BACK`). A segment is sorted by depth, the
distance from the seeds.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import inlined

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


LINKED, SHY, FRONT, BACK = range(4)
"""Segments of a server."""

OPEN, ISLAND, REMOTE, OTHER = range(4)
"""Kinds of servers: with relevant pages that relevant pages link to; with relevant pages behind
others only, whose first page is linked from a relevant page, or from a server without any; with no
relevant page."""

INTRA_RELEVANT, INTRA_OTHER, INTRA_UNKNOWN = 0, 1, 2
INTER_RELEVANT, INTER_NEAR, INTER_FAR = 3, 4, 5
UNKNOWN_NEAR, UNKNOWN_FAR, NOWHERE = 6, 7, 8
N_CELLS: Final = 9
"""Kinds of links by their targets: on the same server a relevant page, another page, a URL that was
never fetched; on another server a relevant page, another page of a server with relevant pages
(near) or without (far); such URLs; URLs of servers without any page."""

MAX_DEPTH: Final = 31
NONE: Final = -1
"""No page."""


class GrownServers(NamedTuple):
    """S servers: `start` (S, 5) are the first pages of its segments and the page after the last.

    `kind` (S,), `warmth` (S,) normal: the lower, the nearer to the seeds; `chain` (S,) pages in
    a row lead to the first relevant page of an island, `thickness` (S,) others stand beside the
    last of them.
    """

    start: Ints
    kind: Bytes
    warmth: Floats
    chain: Ints
    thickness: Ints


class Pools(NamedTuple):
    """Pages that links from other servers point to, by depth: those of depth d begin at [d].

    `linked` relevant pages, `front` and `near` other pages of servers with relevant ones,
    `far_front` and `far` those of servers without.
    """

    linked: Ints
    linked_start: Longs
    front: Ints
    front_start: Longs
    near: Ints
    near_start: Longs
    far_front: Ints
    far_front_start: Longs
    far: Ints
    far_start: Longs


@inlined
def first_at(depth: Bytes, start: int, end: int, value: int) -> int:
    """The first page of a segment with that depth or more."""
    while start < end:
        middle = (start + end) >> 1
        if depth[middle] < value:
            start = middle + 1
        else:
            end = middle
    return start


@inlined
def eligible(depth: Bytes, start: int, end: int, value: int) -> int:
    return first_at(depth, start, end, value + 1) - start
