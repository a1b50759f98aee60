"""URLs drawn uniformly from those that are queued, in compiled code.

Servers have the places that `crawler.frontier.selection.Weights` gives them, so that the same
random numbers draw the same URLs.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import step
from crawler.simulate.queues import EMPTY

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint32]

_SERVERS, _PLACES, _FREE, _URLS = range(4)
"""The counts in the columns of `Drawing.tiers`."""


class Drawing(NamedTuple):
    """The queued URLs of servers, which are numbered from `first` (S+1,) on, and random words.

    `admitted` (S,) of these numbers are given. `inner` (F,) sums the queued URLs within each
    server, `outer` (2 S,) within the servers of each tier, by their `place` (S,), as Fenwick
    trees; `at_place` (2, S) are the servers, `free` (2, S) places given up, `weight` (S,) the
    queued URLs of each server. `tiers` (2, 4) are servers that have a place, places, free places
    and URLs; `words` are random numbers of 32 bits, of which `word` (1,) are used up.
    """

    first: Ints
    admitted: Ints
    inner: Ints
    outer: Ints
    place: Ints
    at_place: Ints
    free: Ints
    weight: Ints
    tiers: Longs
    words: Keys
    word: Longs


@step
def _add(sums: Ints, first: int, size: int, at: int, by: int) -> None:
    """Add to a row of the Fenwick tree that is in `size` rows of an array from `first` on."""
    at += 1
    while at <= size:
        sums[first + at - 1] += by
        at += at & -at


@step
def _find(sums: Ints, first: int, size: int, position: int) -> tuple[int, int]:
    """The row of a Fenwick tree at a position, and the position within the weight of that row."""
    at, stride = 0, 1
    while 2 * stride <= size:
        stride *= 2
    while stride:
        after = at + stride
        if after <= size and sums[first + after - 1] <= position:
            position -= sums[first + after - 1]
            at = after
        stride >>= 1
    return at, position


@step
def _give_place(drawing: Drawing, server: int, tier: int) -> None:
    """Give a server that has queued URLs a place among those of its tier."""
    place, tiers = drawing.place, drawing.tiers
    tiers[tier, _SERVERS] += 1
    if tiers[tier, _FREE]:
        tiers[tier, _FREE] -= 1
        place[server] = drawing.free[tier, tiers[tier, _FREE]]
    else:
        place[server] = tiers[tier, _PLACES]
        tiers[tier, _PLACES] += 1
    drawing.at_place[tier, place[server]] = server


@step
def _take_place(drawing: Drawing, server: int, tier: int) -> None:
    """Take the place of a server that has no queued URLs any more."""
    tiers = drawing.tiers
    tiers[tier, _SERVERS] -= 1
    drawing.free[tier, tiers[tier, _FREE]] = drawing.place[server]
    tiers[tier, _FREE] += 1
    if tiers[tier, _SERVERS] == 0:
        tiers[tier, _FREE] = tiers[tier, _PLACES] = 0


@step
def change(drawing: Drawing, server: int, at: int, tier: int, by: int) -> None:
    """Add to the queued URLs of a server: its URL `at` in the order of discovery."""
    first, end = int(drawing.first[server]), int(drawing.first[server + 1])
    weight = drawing.weight
    _add(drawing.inner, first, end - first, at, by)
    if weight[server] == 0:
        _give_place(drawing, server, tier)
    weight[server] += by
    drawing.tiers[tier, _URLS] += by
    _add(drawing.outer, tier * len(weight), len(weight), int(drawing.place[server]), by)
    if weight[server] == 0:
        _take_place(drawing, server, tier)


@step
def _draw_below(words: Keys, used: Longs, total: int) -> int:
    """A whole number in [0, total), as `random.Random.randrange` draws it."""
    bits = 0
    while total >> bits:
        bits += 1
    while True:
        word = np.int64(words[used[0]]) >> (32 - bits)
        used[0] += 1
        if word < total:
            return int(word)


@step
def take_drawn(drawing: Drawing) -> int:
    """A number drawn from the first tier that has any, or -1."""
    tier = 1 if drawing.tiers[1, _URLS] else 0
    total = int(drawing.tiers[tier, _URLS])
    if total == 0:
        return EMPTY
    n_servers = len(drawing.weight)
    drawn = _draw_below(drawing.words, drawing.word, total)
    place, position = _find(drawing.outer, tier * n_servers, n_servers, drawn)
    server = int(drawing.at_place[tier, place])
    first, end = int(drawing.first[server]), int(drawing.first[server + 1])
    at, _ = _find(drawing.inner, first, end - first, position)
    change(drawing, server, at, tier, -1)
    return first + at


@step
def draw_in(drawing: Drawing, server: int, tier: int) -> int:
    """Add a URL of a server to those that can be drawn; return its number."""
    at = int(drawing.admitted[server])
    drawing.admitted[server] += 1
    change(drawing, server, at, tier, 1)
    return int(drawing.first[server] + at)
