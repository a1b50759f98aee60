"""How good the probabilities of an ordering that learns were, against what the pages turned out."""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from crawler.strategies.focus.odds import probability_of

BINS: Final = 10
"""Bins of equal width, from probability 0 to 1."""


class Calibration(NamedTuple):
    """The errors of the probabilities that pages had just before their fetch.

    `brier` is the mean of (probability - label)**2 (Brier 1950, "Verification of forecasts
    expressed in terms of probability"). `error` is the expected calibration error: the difference
    between mean probability and share of relevant pages in each of `BINS` bins, weighted by its
    pages (Naeini, Cooper and Hauskrecht 2015, "Obtaining well calibrated probabilities using
    Bayesian binning"). Both are None without such pages.
    """

    brier: float | None = None
    error: float | None = None


def calibration_of(connection: sqlite3.Connection, lang: str) -> Calibration:
    """The errors over the pages of a run that have a label, without its seeds.

    Pages of an ordering that does not learn have no probability. Cost: one scan of the pages.
    """
    rows = connection.execute(
        """SELECT score, language = ? AND NOT is_copy FROM pages
           WHERE outcome = 'page' AND language IS NOT NULL AND reasons IS NOT NULL AND depth > 0""",
        (lang,),
    )
    return calibration_from(rows)


def calibration_from(scores: Iterable[tuple[float, bool]]) -> Calibration:
    """Return the errors of log-odds, each with True for a page in the language."""
    pages, squares = 0, 0.0
    excess = [0.0] * BINS
    for score, is_relevant in scores:
        share = probability_of(score)
        pages += 1
        squares += (share - is_relevant) ** 2
        excess[min(BINS - 1, int(BINS * share))] += share - is_relevant
    if not pages:
        return Calibration()
    return Calibration(squares / pages, sum(map(abs, excess)) / pages)
