"""The arithmetic of the ordering `focus`, compiled: features, probabilities, and learning.

The live crawl, the workers of a shared one and the simulator call the same functions, so they get
the same numbers.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.crawler.strategies.focus.evidence import N_FACTS, N_FEATURES, N_LINKS

Floats = npt.NDArray[np.float64]

_GRAIN: Final = 1048576.0
"""Scores are multiples of 1 / 2**20, so that rounding in the last bit changes no order."""


@inlined
def _log_odds(share: float) -> float:
    return math.log(share / (1.0 - share))


@inlined
def fill(
    facts: Floats, links: Floats, tallies: Floats, rate: float, strength: float, row: Floats
) -> None:
    """Write the features of one URL into `row`; see `features_of`."""
    above = _log_odds(rate)
    before, share = above, rate
    for level in range(2):
        labelled, relevant = tallies[2 * level], tallies[2 * level + 1]
        share = (relevant + strength * share) / (labelled + strength)
        here = _log_odds(share)
        row[13 + level] = here - before
        before = here
    for level in range(2, 6):
        labelled, relevant = tallies[2 * level], tallies[2 * level + 1]
        share = (relevant + strength * share) / (labelled + strength)
    row[15] = _log_odds(share) - before
    new = 1.0 / (1.0 + tallies[2])
    row[0], row[1] = 1.0, new
    row[2], row[3] = facts[0] * new, facts[0] * (1.0 - new)
    row[4], row[5] = facts[1] * new, facts[1] * (1.0 - new)
    row[6], row[7], row[12] = facts[2], facts[3], facts[4]
    for place in range(4):
        row[8 + place] = math.log(1.0 + links[place])


@inlined
def _fill_known(known: Floats, rate: float, strength: float, row: Floats) -> None:
    links = known[N_FACTS : N_FACTS + N_LINKS]
    fill(known[:N_FACTS], links, known[N_FACTS + N_LINKS :], rate, strength, row)


@compiled
def features_of(known: Floats, rate: float, strength: float) -> Floats:
    """Return the features of n URLs, (n, N_FEATURES).

    A row of `known` (n, N_KNOWN) has the 5 facts of `Evidence`, the 4 inlink counts, and 12 unit
    counts: labelled and relevant pages of registered domain, host and four directories, 0 for a
    missing unit. `rate` is the share of relevant pages in the crawl. A unit without pages is as
    good as its enclosing unit, which counts as `strength` pages.
    """
    rows = np.empty((len(known), N_FEATURES))
    for at in range(len(known)):
        _fill_known(known[at], rate, strength, rows[at])
    return rows


@inlined
def spread_of(row: Floats, covariance: Floats) -> float:
    """Return the variance of the log-odds of one URL."""
    total = 0.0
    for i in range(len(row)):
        part = 0.0
        for j in range(len(row)):
            part += covariance[i, j] * row[j]
        total += row[i] * part
    return total


@inlined
def score_of(row: Floats, mean: Floats, covariance: Floats) -> float:
    """Return the log-odds of one URL; see `scores_of`."""
    total = 0.0
    for i in range(len(row)):
        total += mean[i] * row[i]
    total /= math.sqrt(1.0 + math.pi * spread_of(row, covariance) / 8.0)
    return math.floor(total * _GRAIN + 0.5) / _GRAIN


@compiled
def scores_of(
    known: Floats, rate: float, strength: float, mean: Floats, covariance: Floats
) -> Floats:
    """Return the log-odds of n URLs, (n,); see `features_of`.

    They are those of the mean probability under a normal distribution of the weights, by MacKay's
    approximation (1992, "The evidence framework applied to classification networks").
    """
    scores, row = np.empty(len(known)), np.empty(N_FEATURES)
    for at in range(len(known)):
        _fill_known(known[at], rate, strength, row)
        scores[at] = score_of(row, mean, covariance)
    return scores


@compiled
def weighed_of(
    known: Floats, rate: float, strength: float, mean: Floats, covariance: Floats
) -> Floats:
    """Return each feature's part of the first URL's log-odds, then the log-odds; see `scores_of`.

    The result is (N_FEATURES + 1,).
    """
    row, weighed = np.empty(N_FEATURES), np.empty(N_FEATURES + 1)
    _fill_known(known[0], rate, strength, row)
    for at in range(N_FEATURES):
        weighed[at] = row[at] * mean[at]
    weighed[N_FEATURES] = score_of(row, mean, covariance)
    return weighed


@inlined
def learn_from(
    row: Floats, is_relevant: bool, mean: Floats, covariance: Floats, gain: Floats
) -> None:
    """Move `mean` and `covariance` by one page; `gain` (k,) is written over. See `learn`."""
    n = len(row)
    spread, total = 0.0, 0.0
    for i in range(n):
        gain[i] = 0.0
        for j in range(n):
            gain[i] += covariance[i, j] * row[j]
        spread += gain[i] * row[i]
        total += mean[i] * row[i]
    share = 1.0 / (1.0 + math.exp(-total))
    weight = share * (1.0 - share)
    move = ((1.0 if is_relevant else 0.0) - share) / (1.0 + weight * spread)
    shrinking = weight / (1.0 + weight * spread)
    for i in range(n):
        mean[i] += gain[i] * move
        for j in range(n):
            covariance[i, j] -= shrinking * gain[i] * gain[j]


@compiled
def learn(
    known: Floats,
    rate: float,
    strength: float,
    is_relevant: bool,
    mean: Floats,
    covariance: Floats,
) -> None:
    """Update `mean` (k,) and `covariance` (k, k) by one page; see `features_of` for the others.

    One step of Newton's method on the posterior of a logistic regression, at the mean
    (Spiegelhalter and Lauritzen 1990, "Sequential updating of conditional probabilities").
    """
    row = np.empty(N_FEATURES)
    _fill_known(known[0], rate, strength, row)
    learn_from(row, is_relevant, mean, covariance, np.empty(N_FEATURES))
