"""The number of pages that several crawls could find, from the pages that they share.

Two crawls: Chapman's estimator (Chapman 1951, Some properties of the hypergeometric distribution
with applications to zoological sample censuses) with the variance of Seber 1970 (The effects of
trap response on tag recapture estimates). Three or more: the lower bound of Chao 1987 (Estimating
the population size for capture-recapture data with unequal catchability), from the pages that one
and that two crawls found. The interval is log-normal (Chao 1987): it never begins below the number
of pages found.

All of it assumes that the pages were the same for every crawl, that a page is found by one crawl
independently of the others, and (two crawls) that all pages are found with the same chance. Crawls
violate the last two: a page with many links is found early by every crawl, and a page that no link
reaches by none. Both make the estimate too low, so a coverage from it is too high.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

Members = npt.NDArray[np.int64]

_Z: Final = 1.959964
"""The standard normal quantile of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Recapture:
    """An estimate of a population from several samples of it.

    `found` is the size of each sample, `together` that of their union, and `shared` the number of
    members that at least two have. `population` is the estimate, `low` and `high` are the ends of
    its 95 % interval. Where no member is shared, all three are None.
    """

    found: tuple[int, ...]
    together: int
    shared: int
    population: float | None
    low: float | None
    high: float | None

    def coverage(self, number: int) -> tuple[float, float, float] | None:
        """Return the share of the population that a number is, and its interval."""
        if self.population is None or self.low is None or self.high is None:
            return None
        return number / self.population, number / self.high, number / self.low


def recapture(samples: Sequence[Members]) -> Recapture:
    """Return the estimate from two samples or more, which are numbers of their members.

    A member counts once in a sample. Memory: some 24 bytes for each member of each sample.
    """
    members = [np.unique(sample) for sample in samples]
    _, times = np.unique(np.concatenate(members), return_counts=True)
    by_times = [int(number) for number in np.bincount(times, minlength=3)]
    found = tuple(len(sample) for sample in members)
    together = len(times)
    shared = together - by_times[1]
    if not shared:
        return Recapture(found, together, 0, None, None, None)
    if len(samples) == 2:
        missing, variance = _chapman(found[0], found[1], shared)
    else:
        missing, variance = _chao(len(samples), by_times[1], by_times[2])
    return Recapture(found, together, shared, *_log_normal(together, missing, variance))


def _chapman(first: int, second: int, both: int) -> tuple[float, float]:
    """The members that neither of two samples has, and the variance of the estimate."""
    population = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (
        (first + 1)
        * (second + 1)
        * (first - both)
        * (second - both)
        / ((both + 1) ** 2 * (both + 2))
    )
    return population - (first + second - both), variance


def _chao(samples: int, once: int, twice: int) -> tuple[float, float]:
    """The members that no sample has, at least; and the variance (Chao 1987, (9) and (10)).

    The correction for few members that two samples have is that of Chao 1989 (Estimating population
    size for sparse data in capture-recapture experiments).
    """
    share = (samples - 1) / samples
    missing = share * once * (once - 1) / (2 * (twice + 1))
    ratio = once / max(twice, 1)
    variance = max(twice, 1) * (
        share * ratio**2 / 2 + share**2 * ratio**3 + share**2 * ratio**4 / 4
    )
    return missing, variance


def _log_normal(together: int, missing: float, variance: float) -> tuple[float, float, float]:
    """The population and its interval; the logarithm of the missing members is taken as normal."""
    missing = max(missing, 0.0)
    if missing == 0.0 or variance == 0.0:
        return together + missing, float(together), together + missing
    factor = exp(_Z * sqrt(log(1 + variance / missing**2)))
    return together + missing, together + missing / factor, together + missing * factor
