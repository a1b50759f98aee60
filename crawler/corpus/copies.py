"""Near-duplicates: texts with nearly the same runs of three words.

Two texts are near-duplicates if the Jaccard index of their sets of three words in a row is at least
`THRESHOLD` (Broder 1997), as `VALUES` MinHash values of both estimate it. Texts with a common band
of `_ROWS` values are compared (Leskovec, Rajaraman and Ullman 2014, 3.4): a pair at the threshold
has one in 99.8 of 100 cases.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from rensa import RMinHash

THRESHOLD: Final = 0.8
_BANDS: Final = 21
_ROWS: Final = 6
VALUES: Final = _BANDS * _ROWS
"""Numbers of 32 bits in a signature; the index is estimated with a standard error of 0.036."""

_RUN: Final = 3
_MOST_UNITS: Final = 50_000
_AT_ONCE: Final = 20_000
_FACTORS: Final = np.arange(1, _ROWS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

Signatures = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]


def signature_of(units: Sequence[str]) -> list[int]:
    """Return the signature of a text with these words; a text of less than three is one run."""
    kept = [*units[:_MOST_UNITS]]
    kept += [""] * (_RUN - len(kept))
    runs = {" ".join(kept[at : at + _RUN]) for at in range(len(kept) - _RUN + 1)}
    signature = RMinHash(VALUES, 1)
    signature.update(list(runs))
    return list(signature.digest())


def originals(signatures: Signatures, rank: Numbers) -> Numbers:
    """Return for each text the text of which it is a copy, itself if it is of none.

    `rank` are the places of the texts in time, each once: the earliest of a chain of
    near-duplicates is the original of all. `signatures` may lie in a file; of them only one band at
    a time is in memory.
    """
    original = np.arange(len(signatures), dtype=np.int64)
    for band in range(_BANDS):
        order, is_first = _groups(_keys(signatures, band), rank)
        group = np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))
        later = np.flatnonzero(~is_first)
        # The earliest text with the band, and the one before; other members rarely tell more.
        for earlier in (group[later], later - 1):
            _join(original, signatures, rank, order[later], order[earlier])
    while not np.array_equal(original, original[original]):
        original = original[original]
    return original


def _keys(signatures: Signatures, band: int) -> npt.NDArray[np.uint64]:
    """Return a number for the values of a band of each text."""
    keys = np.empty(len(signatures), np.uint64)
    columns = slice(band * _ROWS, (band + 1) * _ROWS)
    for at in range(0, len(keys), _AT_ONCE):
        rows = signatures[at : at + _AT_ONCE, columns].astype(np.uint64)
        mixed = (rows * _FACTORS).sum(axis=1, dtype=np.uint64)
        mixed ^= mixed >> np.uint64(29)
        keys[at : at + _AT_ONCE] = mixed * _FACTORS[0]
    return keys


def _groups(keys: npt.NDArray[np.uint64], rank: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Return the texts sorted by key and time, and which are the first ones with their key."""
    order = np.lexsort((rank, keys)).astype(np.int64)
    in_order = keys[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    return order, is_first


def _join(
    original: Numbers, signatures: Signatures, rank: Numbers, later: Numbers, earlier: Numbers
) -> None:
    """Make texts copies of earlier ones that are near-duplicates and earlier than those known."""
    wanted = rank[earlier] < rank[original[later]]
    later, earlier = later[wanted], earlier[wanted]
    for at in range(0, len(later), _AT_ONCE):
        a, b = later[at : at + _AT_ONCE], earlier[at : at + _AT_ONCE]
        is_near = (signatures[a] == signatures[b]).mean(axis=1) >= THRESHOLD
        original[a[is_near]] = b[is_near]
