"""The queues of a compiled crawl: a set of numbers that gives its least, and a heap of keys."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import step

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

HEAP = 9
"""Where the counts of a crawl hold the size of the heap."""
EMPTY = -1
"""The number that an empty queue gives."""
_ONE, _SIX, _LOW_SIX = np.uint64(1), np.uint64(6), np.uint64(63)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


class HighNumbers(NamedTuple):
    """The numbers queued `HIGH` as bits, the words with such bits as bits, and those again."""

    bits: Words
    words: Words
    blocks: Words


@step
def _lowest_bit(word: np.uint64) -> np.uint64:
    """The position of the lowest bit of a word that is not 0."""
    at = np.uint64(0)
    for shift in (32, 16, 8, 4, 2, 1):
        if word & ((_ONE << np.uint64(shift)) - _ONE) == 0:
            word >>= np.uint64(shift)
            at += np.uint64(shift)
    return at


@step
def add_high(high: HighNumbers, number: int) -> None:
    bits, words, blocks = high
    at = np.uint64(number)
    bits[at >> _SIX] |= _ONE << (at & _LOW_SIX)
    at >>= _SIX
    words[at >> _SIX] |= _ONE << (at & _LOW_SIX)
    at >>= _SIX
    blocks[at >> _SIX] |= _ONE << (at & _LOW_SIX)


@step
def take_high(high: HighNumbers) -> int:
    """The least number queued HIGH, which is taken out, or -1."""
    bits, words, blocks = high
    for top in range(len(blocks)):
        if blocks[top]:
            block = np.uint64(top) << _SIX | _lowest_bit(blocks[top])
            word = block << _SIX | _lowest_bit(words[block])
            number = word << _SIX | _lowest_bit(bits[word])
            bits[word] &= bits[word] - _ONE
            if not bits[word]:
                words[block] &= words[block] - _ONE
                if not words[block]:
                    blocks[top] &= blocks[top] - _ONE
            return int(np.int64(number))
    return EMPTY


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
