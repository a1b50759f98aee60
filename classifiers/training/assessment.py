"""The measures of a URL model on labelled URLs of domains that it has not seen.

Decisions of its binary classifiers (Baykan 2013, 3.3) stand beside those of the top-level domain
alone. Naming one language has two measures: how often the first answer is right, and whether its
confidence means what it says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
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
    the model), `by_kind`, `generic_domains` and `country_domains` (mean F1 of the five), `cctld`
    and `all_cctld` (the baseline), `naming`. A registered domain adds at most 20 URLs of a
    language; `uncapped` has the figures of all URLs.
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
        **_of_five(decide, even, five),
        "uncapped": _of_five(decide, rows, five),
        "all": table(decide, even, model.languages),
        "cctld": table(_cctld, even, five),
        "cctld_by_kind": _by_kind(_cctld, even, five),
        "all_cctld": table(_cctld, even, model.languages),
        "naming": naming(model, named),
    }


def _of_five(decide: Decide, rows: Sequence[LabelledUrl], five: Sequence[str]) -> dict[str, Any]:
    parts: tuple[list[LabelledUrl], list[LabelledUrl]] = [], []
    for row in rows:
        parts[cctld.top_level_domain(row.url) in cctld.GENERIC].append(row)
    return {
        "five": table(decide, rows, five),
        "by_kind": _by_kind(decide, rows, five),
        "generic_domains": table(decide, parts[True], five)["mean_f1"],
        "country_domains": table(decide, parts[False], five)["mean_f1"],
    }


def table(decide: Decide, rows: Sequence[LabelledUrl], languages: Sequence[str]) -> dict[str, Any]:
    """Measures of each language against the others, their mean F1 and the confusion matrix."""
    index = {code: at for at, code in enumerate(languages)}
    rows = [row for row in rows if row.language in index]
    if not rows:
        return {"urls": 0, "mean_f1": None, "languages": {}, "confusion": []}
    columns = np.array([index[row.language] for row in rows], np.int64)
    decisions = decide([row.url for row in rows], languages)
    matrix = evaluation.confusion(decisions, columns)
    found = evaluation.measures(matrix)
    counts = np.bincount(columns, minlength=len(languages))
    return {
        "urls": len(rows),
        "mean_f1": _percent(evaluation.macro_f1(found)),
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
        "confusion": [[_percent(share) for share in row] for row in matrix.tolist()],
    }


def _by_kind(
    decide: Decide, rows: Sequence[LabelledUrl], languages: Sequence[str]
) -> dict[str, Any]:
    of_kinds: dict[str, list[LabelledUrl]] = defaultdict(list)
    for row in rows:
        of_kinds[row.label_kind].append(row)
    return {kind: table(decide, of_kinds[kind], languages)["mean_f1"] for kind in sorted(of_kinds)}


def _cctld(urls: Sequence[str], languages: Sequence[str]) -> evaluation.Decisions:
    return np.column_stack([cctld.score(urls, code) > 0 for code in languages])


def priors() -> Mapping[str, Prior]:
    """The priors that are measured; `default` is that of a call without one."""
    return {"uniform": Prior.uniform(), "default": Prior.evened(), "web": Prior.web()}


def naming(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """How one language is named, in percent, for each prior.

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
    return {
        "urls": len(asked),
        "sites": sites.total(),
        **{name: _named(model, asked, sites, prior) for name, prior in priors().items()},
    }


def _named(
    model: UrlModel, rows: Sequence[LabelledUrl], sites: Counter[str], prior: Prior
) -> dict[str, Any]:
    codes, answered = model.name([row.url for row in rows], prior)
    named = [model.named_languages[at] if at >= 0 else None for at in codes.tolist()]
    languages = np.array([row.language for row in rows])
    is_right = np.array([a == b for a, b in zip(named, languages.tolist(), strict=True)])
    confidences = answered.astype(np.float64)
    by_language = _by_language(languages.tolist(), named, sites)
    others = [code for code in by_language if code not in FIVE]
    large = [code for code in others if sites[code] >= LEAST_SITES]
    small = [code for code in others if sites[code] < LEAST_SITES]

    def mean(chosen: Sequence[str]) -> float | None:
        found = [by_language[code]["right"] for code in chosen if code in by_language]
        return round(float(np.mean(found)), 2) if found else None

    def reliability_of(chosen: Sequence[str]) -> dict[str, Any]:
        rows = np.isin(languages, chosen)
        return reliability(is_right[rows], confidences[rows], _balanced(languages[rows]))

    return {
        "right": _percent(is_right.mean()),
        "macro": mean(large),
        "languages_of_macro": len(large),
        "small": mean(small),
        "languages_of_small": len(small),
        "five": mean(FIVE),
        "reliability_of_prior": reliability(is_right, confidences, _weighted(languages, prior)),
        "reliability": reliability(is_right, confidences, _balanced(languages)),
        "reliability_of_macro": reliability_of(large),
        "reliability_of_small": reliability_of(small),
        "languages": by_language,
    }


def _by_language(
    languages: Sequence[str], named: Sequence[str | None], sites: Counter[str]
) -> dict[str, dict[str, Any]]:
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, answer in zip(languages, named, strict=True):
        answers[language][answer or "-"] += 1
    found = {}
    for code in sorted(answers):
        urls, right = answers[code].total(), answers[code].pop(code, 0)
        found[code] = {
            "sites": sites[code],
            "urls": urls,
            "right": _percent(right / urls),
            "instead": dict(answers[code].most_common(4)),
        }
    return found


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
