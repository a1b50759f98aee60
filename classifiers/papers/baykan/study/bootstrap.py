"""Intervals by a bootstrap over registered domains.

URLs of one domain are alike, so URLs drawn singly would give intervals that are too narrow. Here
whole domains are drawn with replacement, as many as there are, and the measures are computed anew.
The same draws serve all classifiers, so differences are paired.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Figures = npt.NDArray[np.float64]

DRAWS: Final = 1000
LEVEL: Final = 0.95

_DRAWS_AT_ONCE: Final = 50


def f1_draws(
    said_yes: Flags,
    columns: Numbers,
    own: int,
    domains: Numbers,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Figures:
    """F1 in each draw, (draws, n_classifiers).

    `said_yes` has the decisions of several classifiers of language `own`, (n_urls, n_classifiers);
    `columns` the language and `domains` the number of the domain of each URL, (n_urls,). The other
    languages have equal weight as negatives. F1 is nan in a draw without URLs of `own` or without
    others.
    """
    _, domains = np.unique(domains, return_inverse=True)
    languages = np.unique(columns)
    n_domains, n_classifiers = int(domains.max()) + 1, said_yes.shape[1]
    totals = np.zeros((len(languages), n_domains, 1 + n_classifiers))
    for place, language in enumerate(languages):
        chosen = columns == language
        np.add.at(totals[place, :, 0], domains[chosen], 1.0)
        for at in range(n_classifiers):
            np.add.at(totals[place, :, 1 + at], domains[chosen & said_yes[:, at]], 1.0)
    rng = np.random.default_rng(seed)
    found = [
        _f1(totals, languages == own, rng, min(_DRAWS_AT_ONCE, draws - first))
        for first in range(0, draws, _DRAWS_AT_ONCE)
    ]
    return np.concatenate(found)


def _f1(totals: Figures, is_own: Flags, rng: np.random.Generator, draws: int) -> Figures:
    """F1 in some draws from the counts of each language and domain."""
    n_domains = totals.shape[1]
    weights = rng.multinomial(n_domains, np.full(n_domains, 1 / n_domains), size=draws)
    summed = np.einsum("bd,ldk->lbk", weights.astype(np.float64), totals, optimize=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = summed[:, :, 1:] / summed[:, :, :1]
        recall = shares[is_own][0]
        others = shares[~is_own]
        is_there = ~np.isnan(others)
        wrong = np.where(is_there, others, 0.0).sum(axis=0) / is_there.sum(axis=0)
        precision = np.where(recall + wrong > 0, recall / (recall + wrong), 0.0)
        f1 = 2 * precision * recall / (precision + recall)
    undefined = np.isnan(recall) | np.isnan(wrong)
    return np.where(undefined, np.nan, np.where(precision + recall > 0, f1, 0.0))


def interval(values: Figures, level: float = LEVEL) -> tuple[float, float]:
    """The percentile interval of the draws that are defined, (nan, nan) if there are none."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
