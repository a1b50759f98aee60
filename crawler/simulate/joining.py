"""The compiled part of building a graph: numbers for keys, and links sorted by their page.

A source names a URL as often as something links to it, so this is done a hundred times a page.
"""

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

FREE = -1
"""The number in a slot of a table that holds no key."""


@inlined
def _slot(key: int, keys: Longs, numbers: Ints) -> int:
    """Return where a key stands or would stand; keys are hashes already."""
    mask = len(keys) - 1
    slot = key & mask
    while numbers[slot] != FREE and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def number(wanted: Longs, keys: Longs, numbers: Ints, known: int, told: Ints, is_new: Flags) -> int:
    """Tell the number of each key, new ones from `known` on; return how many there are then.

    `keys` and `numbers` are a table of open addressing with a power of two of slots, some of which
    stay free. `told` and `is_new` are as long as `wanted`.
    """
    for row in range(len(wanted)):
        slot = _slot(wanted[row], keys, numbers)
        is_new[row] = numbers[slot] == FREE
        if is_new[row]:
            keys[slot] = wanted[row]
            numbers[slot] = known
            known += 1
        told[row] = numbers[slot]
    return known


@compiled
def move(keys: Longs, numbers: Ints, larger_keys: Longs, larger_numbers: Ints) -> None:
    """Move a table into a larger one."""
    for old in range(len(keys)):
        if numbers[old] != FREE:
            slot = _slot(keys[old], larger_keys, larger_numbers)
            larger_keys[slot] = keys[old]
            larger_numbers[slot] = numbers[old]


@compiled
def count(pairs: Ints, valid_from: Longs, start: Longs) -> None:
    """Set `start` (V+1,) to where the links of each vertex begin.

    `pairs` (2 L,) are source and target of each link; of a vertex those before `valid_from`, in
    links, are void.
    """
    start[:] = 0
    for link in range(len(pairs) // 2):
        source = pairs[2 * link]
        if link >= valid_from[source]:
            start[source + 1] += 1
    for vertex in range(len(start) - 1):
        start[vertex + 1] += start[vertex]


@compiled
def sort(pairs: Ints, valid_from: Longs, start: Longs, target: Ints) -> None:
    """Write the targets of each vertex into `target`, in the order of `pairs`.

    Afterwards `start[v]` is where the links of v end.
    """
    for link in range(len(pairs) // 2):
        source = pairs[2 * link]
        if link >= valid_from[source]:
            target[start[source]] = pairs[2 * link + 1]
            start[source] += 1


@compiled
def without_repeats(start: Longs, target: Ints, last: Ints) -> None:
    """Close up `target` over links that a page repeats, from `start` as `sort` leaves it.

    Afterwards `start` (V+1,) says where links begin. `last` (V,) is scratch.
    """
    last[:] = -1
    kept = first = 0
    for vertex in range(len(start) - 1):
        end = start[vertex]
        start[vertex] = kept
        for link in range(first, end):
            to = target[link]
            if last[to] != vertex:
                last[to] = vertex
                target[kept] = to
                kept += 1
        first = end
    start[len(start) - 1] = kept
