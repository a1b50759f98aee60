"""Near-duplicates: texts with nearly the same runs of three words.

Two texts are near-duplicates if the Jaccard index of their sets of three words in a row is at least
`THRESHOLD` (Broder 1997). MinHash signatures are divided into bands; texts that share a band are
candidates (Leskovec, Rajaraman and Ullman 2014, 3.4), and the exact index of the best ones decides.
With 16 bands of 6 values a pair at the threshold shares a band in 99.2 of 100 cases.
"""

from collections.abc import Sequence
from typing import Final
from zlib import crc32

import numpy as np
import numpy.typing as npt
from rensa import RMinHash

THRESHOLD: Final = 0.8
BANDS: Final = 16
_ROWS: Final = 6
_RUN: Final = 3
_MOST_UNITS: Final = 50_000

# Odd factors; a run is one number of 64 bits.
_FACTORS: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
_BAND_FACTORS: Final = np.arange(1, _ROWS + 1, dtype=np.uint64) * _FACTORS[0] | np.uint64(1)
# A number of a band has 53 bits, as all whole numbers of a run have.
_BAND_BITS: Final = np.uint64(53)

Runs = npt.NDArray[np.uint64]


def runs_of(units: Sequence[str]) -> Runs:
    """Return the set of runs of three words as sorted numbers; a shorter text is one run."""
    if not units:
        return np.zeros(0, np.uint64)
    codes = [crc32(unit.encode("utf-8", "replace")) for unit in units[:_MOST_UNITS]]
    codes += [0] * (_RUN - len(codes))
    words = np.array(codes, np.uint64)
    number = len(words) - _RUN + 1
    mixed = np.zeros(number, np.uint64)
    for place in range(_RUN):
        mixed += words[place : place + number] * _FACTORS[place]
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


def jaccard(a: Runs, b: Runs) -> float:
    """Return the Jaccard index of two sets; 0 if one is empty."""
    if not len(a) or not len(b):
        return 0.0
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both)


def bands_of(runs: Runs) -> tuple[int, ...]:
    """Return the numbers of the bands of a text's signature, () for an empty text."""
    if not len(runs):
        return ()
    data = runs.astype("<u8").tobytes()
    signature = RMinHash(BANDS * _ROWS, 1)
    signature.update([data[at : at + 8] for at in range(0, len(data), 8)])
    rows = np.array(signature.digest(), np.uint64).reshape(BANDS, _ROWS)
    mixed = (rows * _BAND_FACTORS).sum(axis=1, dtype=np.uint64)
    mixed += np.arange(BANDS, dtype=np.uint64) * _FACTORS[1]
    mixed ^= mixed >> np.uint64(31)
    mixed *= _FACTORS[2]
    return tuple((mixed >> (np.uint64(64) - _BAND_BITS)).tolist())
