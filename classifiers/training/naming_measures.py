"""How often the first answer to a URL is right, and whether its confidence means what it says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, domain_reader
from classifiers.training.examples import FIVE
from classifiers.urls.model import UrlModel
from classifiers.urls.posteriors import Prior

MAX_PER_SITE: Final = 3
"""URLs of a registered domain and language that are asked."""
LEAST_SITES: Final = 10
"""Registered domains from which a language counts in the means."""
_BINS: Final = 10

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


def priors() -> Mapping[str, Prior]:
    """The priors that are measured; `default` is that of a call without one."""
    return {"uniform": Prior.uniform(), "default": Prior.evened(), "web": Prior.web()}


def measure(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Figures in percent on rows of sites that the model has not seen.

    At most three URLs of a site, chosen in order. `macro` is the mean over the languages beside the
    five of the paper that have ten sites or more, `small` over those with fewer.
    """
    asked = _few_of_a_site(rows)
    return {
        "urls": len(asked),
        "sites": sum(_sites(asked).values()),
        **{name: _figures(model, asked, prior) for name, prior in priors().items()},
    }


def _few_of_a_site(rows: Sequence[LabelledUrl]) -> list[LabelledUrl]:
    domain, counts = domain_reader(), Counter[tuple[str, str]]()
    kept = []
    for row in sorted(rows):
        site = domain(row.url), row.language
        counts[site] += 1
        if counts[site] <= MAX_PER_SITE:
            kept.append(row)
    return kept


def _sites(rows: Sequence[LabelledUrl]) -> Counter[str]:
    """The number of sites of each language."""
    domain = domain_reader()
    return Counter(language for _, language in {(domain(row.url), row.language) for row in rows})


def _figures(model: UrlModel, rows: Sequence[LabelledUrl], prior: Prior) -> dict[str, Any]:
    codes, confidences = model.name([row.url for row in rows], prior)
    named = [model.named_languages[at] if at >= 0 else None for at in codes.tolist()]
    languages = np.array([row.language for row in rows])
    is_right = np.array([a == b for a, b in zip(named, languages.tolist(), strict=True)])
    by_language = _by_language(rows, named, is_right)
    large, small = _groups(by_language)
    return {
        "right": _percent(is_right.mean()),
        "macro": _mean(by_language, large),
        "languages_of_macro": len(large),
        "small": _mean(by_language, small),
        "languages_of_small": len(small),
        "five": _mean(by_language, FIVE),
        "reliability_of_prior": _reliability(
            is_right, confidences.astype(np.float64), _weighted(languages, prior)
        ),
        "reliability": _reliability(is_right, confidences.astype(np.float64), _balanced(languages)),
        "reliability_of_macro": _reliability_of(is_right, confidences, languages, large),
        "reliability_of_small": _reliability_of(is_right, confidences, languages, small),
        "languages": by_language,
    }


def _by_language(
    rows: Sequence[LabelledUrl], named: Sequence[str | None], is_right: Flags
) -> dict[str, dict[str, Any]]:
    wrong: defaultdict[str, Counter[str]] = defaultdict(Counter)
    counts, right = Counter[str](), Counter[str]()
    for row, code, fits in zip(rows, named, is_right.tolist(), strict=True):
        counts[row.language] += 1
        right[row.language] += fits
        if not fits:
            wrong[row.language][code or "-"] += 1
    sites = _sites(rows)
    return {
        code: {
            "sites": sites[code],
            "urls": urls,
            "right": _percent(right[code] / urls),
            "instead": dict(wrong[code].most_common(4)),
        }
        for code, urls in sorted(counts.items())
    }


def _groups(by_language: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """The languages beside the five with many sites, and with few."""
    others = [code for code in by_language if code not in FIVE]
    large = [code for code in others if by_language[code]["sites"] >= LEAST_SITES]
    return large, [code for code in others if code not in large]


def _mean(by_language: Mapping[str, Mapping[str, Any]], codes: Sequence[str]) -> float | None:
    found = [by_language[code]["right"] for code in codes if code in by_language]
    return round(float(np.mean(found)), 2) if found else None


def _balanced(languages: npt.NDArray[np.str_]) -> Numbers:
    """Weights by which every language counts the same."""
    counts = Counter(languages.tolist())
    return np.array([1 / counts[code] for code in languages.tolist()])


def _weighted(languages: npt.NDArray[np.str_], prior: Prior) -> Numbers:
    """Weights by which the languages are as frequent as in a prior, that of the confidences."""
    present = sorted(set(languages.tolist()))
    shares = dict(zip(present, np.exp(prior.log_of(present)).tolist(), strict=True))
    frequencies = np.array([shares[code] for code in languages.tolist()])
    return frequencies * _balanced(languages)


def _reliability_of(
    is_right: Flags,
    confidences: npt.NDArray[np.float32],
    languages: npt.NDArray[np.str_],
    codes: Sequence[str],
) -> dict[str, Any]:
    chosen = np.isin(languages, codes)
    weights = _balanced(languages[chosen])
    return _reliability(is_right[chosen], confidences[chosen].astype(np.float64), weights)


def _reliability(is_right: Flags, confidences: Numbers, weights: Numbers) -> dict[str, Any]:
    """The expected calibration error in ten bins of the confidence, and the bins themselves.

    Guo and others 2017, "On Calibration of Modern Neural Networks", equation 3; languages count the
    same.
    """
    if not len(is_right):
        return {"error": None, "bins": []}
    places = np.minimum((confidences * _BINS).astype(int), _BINS - 1)
    total = weights.sum()
    bins, error = [], 0.0
    for at in range(_BINS):
        inside = places == at
        mass = weights[inside].sum()
        if mass:
            said = float(np.average(confidences[inside], weights=weights[inside]))
            was = float(np.average(is_right[inside], weights=weights[inside]))
            error += float(mass / total) * abs(said - was)
            bins.append([_percent(mass / total), _percent(said), _percent(was)])
    return {"error": _percent(error), "bins": bins}


def _percent(share: float) -> float:
    return round(100 * float(share), 2)
