"""The queue of a compiled crawl: a heap of keys."""

import numpy as np
import numpy.typing as npt

from classifiers.compiled import step

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

HEAP = 8
"""Where the counts of a crawl hold the size of the heap."""
EMPTY = -1
"""The number that an empty queue gives."""
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@step
def add_key(heap: Words, counts: Longs, key: int, number: int) -> None:
    at = counts[HEAP]
    counts[HEAP] += 1
    entry = np.uint64(key) << _HALF | np.uint64(number)
    while at > 0:
        above = (at - 1) >> 2
        if heap[above] <= entry:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = entry


@step
def take_key(heap: Words, counts: Longs) -> int:
    """The number with the least key, of equal ones the least number, or -1."""
    size = counts[HEAP] - 1
    if size < 0:
        return EMPTY
    counts[HEAP] = size
    best, entry, at = heap[0], heap[size], 0
    while 4 * at + 1 < size:
        below = 4 * at + 1
        for other in range(below + 1, min(below + 4, size)):
            if heap[other] < heap[below]:
                below = other
        if heap[below] >= entry:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = entry
    return int(np.int64(best & _LOW_HALF))
