"""Compiled random numbers, and the queues of a simulated crawl: a score heap, a bag for draws.

Queues hold URL numbers; `counts[SIZE]` is the queue length.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import inlined

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Doubles = npt.NDArray[np.float64]

EMPTY: Final = -1
"""Returned by an empty queue."""
SIZE, FIRST = 0, 1
"""Places in the counts of a queue: the length, and the start of the first tier."""


@inlined
def _next(chance: Words) -> np.uint64:
    """Return the next 64 random bits (splitmix64)."""
    chance[0] += np.uint64(0x9E3779B97F4A7C15)
    word = chance[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(word ^ (word >> np.uint64(31)))


@inlined
def draw_unit(chance: Words) -> float:
    """Draw a number from [0, 1)."""
    return float(np.int64(_next(chance) >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@inlined
def draw_below(chance: Words, end: int) -> int:
    return int(draw_unit(chance) * end)


@inlined
def draw_normal(chance: Words) -> float:
    radius = math.sqrt(-2.0 * math.log(1.0 - draw_unit(chance)))
    return radius * math.cos(2.0 * math.pi * draw_unit(chance))


# A uniform draw. The bag is filled from both ends; URLs of the first tier are at the upper end.


@inlined
def add_to_bag(bag: Ints, counts: Longs, number: int, is_first: bool) -> None:
    if is_first:
        counts[FIRST] -= 1
        bag[counts[FIRST]] = number
    else:
        bag[counts[SIZE]] = number
        counts[SIZE] += 1


@inlined
def draw(bag: Ints, counts: Longs, chance: Words) -> int:
    first = counts[FIRST]
    if first < len(bag):
        at = first + draw_below(chance, len(bag) - first)
        number = bag[at]
        bag[at] = bag[first]
        counts[FIRST] += 1
        return int(np.int64(number))
    size = counts[SIZE]
    if size == 0:
        return EMPTY
    at = draw_below(chance, size)
    number = bag[at]
    counts[SIZE] = size - 1
    bag[at] = bag[size - 1]
    return int(np.int64(number))


# The highest score first, then the least number. `place` is the heap position of each number, for
# score changes.


@inlined
def is_better(score: Doubles, one: int, other: int) -> bool:
    return bool(score[one] > score[other] or (score[one] == score[other] and one < other))


@inlined
def move(heap: Ints, place: Ints, score: Doubles, counts: Longs, at: int) -> None:
    """Sift an entry with a changed score up or down."""
    number, size = heap[at], counts[SIZE]
    while at > 0 and is_better(score, number, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        place[heap[at]] = at
        at = (at - 1) >> 1
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and is_better(score, heap[below + 1], heap[below]):
            below += 1
        if not is_better(score, heap[below], number):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = number
    place[number] = at


@inlined
def add_scored(heap: Ints, place: Ints, score: Doubles, counts: Longs, number: int) -> None:
    at = counts[SIZE]
    counts[SIZE] += 1
    heap[at] = number
    move(heap, place, score, counts, at)


@inlined
def remove_scored(heap: Ints, place: Ints, score: Doubles, counts: Longs, at: int) -> None:
    counts[SIZE] -= 1
    last = heap[counts[SIZE]]
    place[heap[at]] = EMPTY
    if at < counts[SIZE]:
        heap[at] = last
        move(heap, place, score, counts, at)


@inlined
def second_place(heap: Ints, score: Doubles, counts: Longs) -> int:
    """Return the place of the second best entry, or EMPTY."""
    size = counts[SIZE]
    if size < 2:
        return EMPTY
    return 2 if size > 2 and is_better(score, heap[2], heap[1]) else 1
