"""The measures of a URL model on labelled URLs of domains that it has not seen.

Decisions of its binary classifiers (Baykan 2013, 3.3) stand beside those of the top-level domain
alone. Naming one language has two measures: how often the first answer is right, and whether its
confidence means what it says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, domain_reader
from classifiers.papers import evaluation
from classifiers.training.examples import FIVE
from classifiers.training.urls import capped
from classifiers.urls import cctld
from classifiers.urls.model import UrlModel
from classifiers.urls.posteriors import Prior

Decide = Callable[[Sequence[str], Sequence[str]], evaluation.Decisions]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

MAX_PER_SITE: Final = 3
"""URLs of a registered domain and language that are asked for their language."""
LEAST_SITES: Final = 10
"""Registered domains from which a language counts in the means."""
_MAX_PER_DOMAIN: Final = 20
_BINS: Final = 10


def assess(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Tables of the model's measures on unseen rows, as JSON-ready numbers in percent.

    Keys: `five` (en, de, fr, es, it against each other, as in the paper), `all` (every language of
    the model), `cctld` and `all_cctld` (the baseline), `naming`. A registered domain adds at most
    20 URLs of a language.
    """
    named = [row for row in rows if row.language in model.named_languages]
    rows = [row for row in rows if row.language in model.languages]
    even = capped(rows, _MAX_PER_DOMAIN)
    five = [code for code in FIVE if code in model.languages]

    def decide(urls: Sequence[str], languages: Sequence[str]) -> evaluation.Decisions:
        columns = [model.languages.index(code) for code in languages]
        return model.scores(urls)[:, columns] > 0

    return {
        "rows": len(rows),
        "rows_capped": len(even),
        "five": table(decide, even, five),
        "all": table(decide, even, model.languages),
        "cctld": table(_cctld, even, five),
        "all_cctld": table(_cctld, even, model.languages),
        "naming": naming(model, named),
    }


def _cctld(urls: Sequence[str], languages: Sequence[str]) -> evaluation.Decisions:
    return np.column_stack([cctld.score(urls, code) > 0 for code in languages])


def table(decide: Decide, rows: Sequence[LabelledUrl], languages: Sequence[str]) -> dict[str, Any]:
    """Measures of each language against the others, and their mean F1."""
    index = {code: at for at, code in enumerate(languages)}
    rows = [row for row in rows if row.language in index]
    if not rows:
        return {"urls": 0, "mean_f1": None, "languages": {}}
    columns = np.array([index[row.language] for row in rows], np.int64)
    decisions = decide([row.url for row in rows], languages)
    found = [evaluation.of_languages(decisions[:, at], columns, at) for at in range(len(index))]
    f1 = np.array([each.f1 for each in found])
    counts = np.bincount(columns, minlength=len(languages))
    return {
        "urls": len(rows),
        "mean_f1": _percent(f1[~np.isnan(f1)].mean()),
        "languages": {
            code: {
                "urls": int(counts[at]),
                "P": _percent(found[at].precision),
                "R": _percent(found[at].recall),
                "p(-|-)": _percent(found[at].negative_success),
                "F1": _percent(found[at].f1),
            }
            for code, at in index.items()
        },
    }


def naming(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """How one language is named, in percent, for each prior; `default` is that of a plain call.

    At most three URLs of a site, chosen in order. `macro` is the mean over the languages beside the
    five of the paper that have ten sites or more, `small` over those with fewer.
    """
    domain, counts = domain_reader(), Counter[tuple[str, str]]()
    asked = []
    for row in sorted(rows):
        site = domain(row.url), row.language
        counts[site] += 1
        if counts[site] <= MAX_PER_SITE:
            asked.append(row)
    sites = Counter(language for _, language in counts)
    priors = {"uniform": Prior.uniform(), "default": Prior.evened(), "web": Prior.web()}
    return {
        "urls": len(asked),
        "sites": sites.total(),
        **{name: _named(model, asked, sites, prior) for name, prior in priors.items()},
    }


def _named(
    model: UrlModel, rows: Sequence[LabelledUrl], sites: Counter[str], prior: Prior
) -> dict[str, Any]:
    codes, confidences = model.name([row.url for row in rows], prior)
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    named = [model.named_languages[at] if at >= 0 else "-" for at in codes.tolist()]
    for row, answer in zip(rows, named, strict=True):
        answers[row.language][answer] += 1
    shares = {code: _percent(told[code] / told.total()) for code, told in answers.items()}
    others = shares.keys() - set(FIVE)

    def mean(chosen: Iterable[str]) -> float | None:
        found = [shares[code] or 0.0 for code in sorted(chosen) if code in shares]
        return round(float(np.mean(found)), 2) if found else None

    languages = [row.language for row in rows]
    is_right = np.array([a == b for a, b in zip(named, languages, strict=True)])
    # By these weights the languages are as frequent as in the prior, that of the confidences.
    frequent = dict(zip(answers, np.exp(prior.log_of(list(answers))).tolist(), strict=True))
    weights = np.array([frequent[code] / answers[code].total() for code in languages])
    return {
        "right": _percent(is_right.mean()),
        "macro": mean(code for code in others if sites[code] >= LEAST_SITES),
        "small": mean(code for code in others if sites[code] < LEAST_SITES),
        "five": mean(FIVE),
        "reliability": reliability(is_right, confidences.astype(np.float64), weights),
        "languages": {
            code: {
                "sites": sites[code],
                "urls": answers[code].total(),
                "right": shares[code],
                "instead": dict((answers[code] - Counter({code: len(rows)})).most_common(4)),
            }
            for code in sorted(answers)
        },
    }


def reliability(is_right: Flags, confidences: Numbers, weights: Numbers) -> dict[str, Any]:
    """The expected calibration error in ten bins of the confidence, and the bins themselves.

    Guo and others 2017, "On Calibration of Modern Neural Networks", equation 3.
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


def _percent(share: float) -> float | None:
    return None if np.isnan(share) else round(100 * float(share), 2)
