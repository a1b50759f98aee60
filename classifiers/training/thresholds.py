"""Calibration of the URL model's decision thresholds.

All thresholds are fitted on registered domains unseen by the classifiers, because decision values
on training data are too high.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.languages import tlds_of
from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.urls.cctld import top_level_domain

RAISED, ALONE = "raised", "alone"
"""Use of the top-level domain: add 1 to the decision value, or decide alone."""

_SHIFTS: Final = np.arange(-1.0, 1.001, 0.02)
_ENOUGH: Final = (100, 700)
"""Least and most URLs at which a language's own threshold outweighs the common threshold; between
them, a tenth of the largest language. The best threshold of few URLs beside many says Yes to too
many other languages: with 100, a crawl for Ukrainian lost a tenth.
"""
_FEW: Final = 10
"""Minimum URLs for comparing the top-level domain with the classifier."""

Floats = npt.NDArray[np.float64]
Columns = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Thresholds:
    """Threshold parameters that turn decision values into decisions."""

    shifts: Floats
    """Addend of each intercept that sets the decision threshold to 0, (n_languages,)."""
    domains: dict[str, str]
    """RAISED or ALONE for each language with a better top-level domain."""

    def applied(self, scores: Floats, urls: Sequence[str], languages: Sequence[str]) -> Floats:
        """Return decision values (n_urls, n_languages) after threshold calibration."""
        scores = scores + self.shifts
        tops = list(map(top_level_domain, urls))
        for at, language in enumerate(languages):
            rule = self.domains.get(language)
            if rule:
                scores[:, at] = _by_rule(scores[:, at], _is_domain(tops, language), rule)
        return scores


def calibrate(
    scores: Floats,
    columns: Columns,
    urls: Sequence[str],
    languages: Sequence[str],
    masses: Floats,
) -> Thresholds:
    """Return thresholds for decision values (n_urls, n_languages) of held-out URLs.

    `columns` (n_urls,) are the URLs' languages. `masses` (n_languages,) are the language weights
    among another language's negatives.
    """
    counts = np.bincount(columns, minlength=len(languages))
    weights = (masses / np.maximum(counts, 1))[columns]
    tops = list(map(top_level_domain, urls))
    scores = scores.copy()
    shifts = np.zeros(len(languages))
    domains = {}
    for at, language in enumerate(languages):
        is_positive = columns == at
        is_domain = _is_domain(tops, language)
        rule = _rule(scores[:, at], is_positive, is_domain, weights)
        if rule:
            domains[language] = rule
            scores[:, at] = _by_rule(scores[:, at], is_domain, rule)
        shifts[at] = _best_shift(scores[:, at], is_positive, weights)[0]
    shifts = _shrunk(shifts, counts)
    shifts[[domains.get(language) == ALONE for language in languages]] = 0.0
    return Thresholds(shifts, domains)


def _is_domain(tops: Sequence[str], language: str) -> Flags:
    """Return a mask of URLs under the language's top-level domains, (n_urls,)."""
    return np.isin(np.array(tops, np.str_), list(tlds_of(language)))


def _by_rule(scores: Floats, is_domain: Flags, rule: str) -> Floats:
    """Decision values, corrected by the top-level domain."""
    if rule == ALONE:
        return np.where(is_domain, 0.5, -0.5)
    return scores + is_domain


def _rule(scores: Floats, is_positive: Flags, is_domain: Flags, weights: Floats) -> str | None:
    """Return RAISED or ALONE if the top-level domain alone has the higher F1, else None."""
    if is_positive.sum() < _FEW or not is_domain.any():
        return None
    alone = _balanced_f1(is_domain, is_positive, weights)
    if alone <= _best_shift(scores, is_positive, weights)[1]:
        return None
    raised = _best_shift(_by_rule(scores, is_domain, RAISED), is_positive, weights)[1]
    return RAISED if raised >= alone else ALONE


def _balanced_f1(says_yes: Flags, is_positive: Flags, weights: Floats) -> float:
    """Return balanced-limit F1 (Baykan 2013, 3.3), 0..1, negatives weighted; each (n_urls,)."""
    recall = float(says_yes[is_positive].mean())
    wrong = float(np.average(says_yes[~is_positive], weights=weights[~is_positive]))
    return evaluation.Measures(recall, 1 - wrong).f1


def _best_shift(scores: Floats, is_positive: Flags, weights: Floats) -> tuple[float, float]:
    """Return the score addend with the highest F1 in the balanced limit, and this F1."""
    if not is_positive.any() or is_positive.all():
        return 0.0, 0.0
    positive = np.sort(scores[is_positive])
    order = np.argsort(scores[~is_positive])
    negative = scores[~is_positive][order]
    mass = np.concatenate([[0.0], np.cumsum(weights[~is_positive][order])])
    recall = 1 - np.searchsorted(positive, -_SHIFTS, side="right") / len(positive)
    wrong = 1 - mass[np.searchsorted(negative, -_SHIFTS, side="right")] / mass[-1]
    # 2PR / (P + R) with P = R / (R + wrong)
    f1 = 2 * recall / (recall + wrong + 1)
    return float(_SHIFTS[f1.argmax()]), float(f1.max())


def _shrunk(shifts: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Return shifts, shrunk towards the median for languages with few URLs."""
    enough = float(np.clip(counts.max(initial=0) / 10, *_ENOUGH))
    reliable = shifts[counts >= enough]
    middle = float(np.median(reliable)) if len(reliable) else 0.0
    result: Floats = (shifts * counts + middle * enough / 2) / (counts + enough / 2)
    return result
