"""Random numbers for compiled code that grows a Web: splitmix64."""

import math

import numpy as np
import numpy.typing as npt

from classifiers.compiled import inlined

Words = npt.NDArray[np.uint64]


@inlined
def _next(chance: Words) -> np.uint64:
    """The next 64 random bits (splitmix64)."""
    chance[0] += np.uint64(0x9E3779B97F4A7C15)
    word = chance[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(word ^ (word >> np.uint64(31)))


@inlined
def draw_unit(chance: Words) -> float:
    """A number drawn from [0, 1)."""
    return float(np.int64(_next(chance) >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@inlined
def draw_below(chance: Words, end: int) -> int:
    return int(draw_unit(chance) * end)


@inlined
def draw_normal(chance: Words) -> float:
    radius = math.sqrt(-2.0 * math.log(1.0 - draw_unit(chance)))
    return radius * math.cos(2.0 * math.pi * draw_unit(chance))
