"""The perfect strategy, compiled: the vertices on the way from the seeds to each relevant page."""

import numpy as np

from classifiers.compiled import borrowing, step
from crawler.simulate.kernel import (
    LOW,
    PLACE,
    RELEVANT,
    SETTLED,
    STATUS,
    UNSEEN,
    WANTED,
    Bytes,
    Ints,
    Longs,
)

_NONE = -1


@step
def _mark_ways(state: Bytes, reached: Ints, parent: Ints) -> None:
    """Mark the relevant vertices and all before them in the tree; put all back to UNSEEN."""
    for at in range(len(reached) - 1, -1, -1):
        vertex = reached[at]
        state[vertex] &= ~np.uint8(PLACE)
        if state[vertex] & RELEVANT:
            state[vertex] |= WANTED
        if state[vertex] & WANTED and parent[vertex] != _NONE:
            state[parent[vertex]] |= WANTED


@borrowing
def mark_wanted(
    link_start: Longs, link_target: Ints, seeds: Ints, state: Bytes, reached: Ints, parent: Ints
) -> None:
    """Set WANTED on the way from the seeds to each relevant vertex, in a breadth-first tree.

    Of pages that are equally near, a relevant one is preferred as parent.
    `reached` (F,) and `parent` (V,) are written over.
    """
    end = 0
    for vertex in seeds:
        if not state[vertex] & PLACE and state[vertex] & STATUS:
            state[vertex] |= SETTLED
            parent[vertex] = _NONE
            reached[end] = vertex
            end += 1
    at, next_depth = 0, end
    while at < end:
        if at == next_depth:
            for later in range(at, end):
                state[reached[later]] |= SETTLED
            next_depth = end
        vertex = reached[at]
        is_relevant = state[vertex] & RELEVANT != 0
        at += 1
        for link in range(link_start[vertex], link_start[vertex + 1]):
            target = link_target[link]
            place = state[target] & PLACE
            if place == UNSEEN and state[target] & STATUS:
                state[target] |= LOW
                parent[target] = vertex
                reached[end] = target
                end += 1
            elif place == LOW and is_relevant and not state[parent[target]] & RELEVANT:
                parent[target] = vertex
    _mark_ways(state, reached[:end], parent)
