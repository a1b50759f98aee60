"""The measures of a URL model on labelled URLs of domains that it has not seen.

Decisions of its binary classifiers (Baykan 2013, 3.3) stand beside those of the top-level domain
alone. Naming one language has two measures: how often the first answer is right, and whether its
confidence means what it says.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import LabelledUrl, domain_reader
from langfocus.classifiers.papers import evaluation
from langfocus.classifiers.training.examples import FIVE
from langfocus.classifiers.training.urls import MAX_PER_DOMAIN, capped
from langfocus.classifiers.urls import cctld
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Prior

Decide = Callable[[Sequence[str], Sequence[str]], evaluation.Decisions]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

_MAX_PER_SITE: Final = 3
"""URLs of a registered domain and language that are asked for their language."""
_LEAST_SITES: Final = 10
"""Registered domains from which a language counts in the mean."""
_BINS: Final = 10


def assess(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Tables of the model's measures on unseen rows, as JSON-ready numbers in percent.

    Keys: `five` (en, de, fr, es, it against each other, as in the paper), `all` (every language of
    the model), `cctld` and `all_cctld` (the baseline), `naming`. A registered domain adds at most
    20 URLs of a language.
    """
    named = [row for row in rows if row.language in model.named_languages]
    rows = [row for row in rows if row.language in model.languages]
    even = capped(rows, MAX_PER_DOMAIN)
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
    """How one language is named with the default prior, in percent.

    At most three URLs of a site and language. `macro` is the mean over the languages beside the
    five of the paper that have ten sites or more.
    """
    domain = domain_reader()
    rows = capped(rows, _MAX_PER_SITE)
    languages = [row.language for row in rows]
    sites = Counter(code for _, code in {(domain(row.url), row.language) for row in rows})
    codes, confidences = model.name([row.url for row in rows])
    named = (*model.named_languages, None)
    is_right = np.array(
        [named[at] == code for at, code in zip(codes.tolist(), languages, strict=True)], np.bool_
    )
    counts, right = Counter(languages), Counter(np.array(languages)[is_right].tolist())
    shares = {code: right[code] / counts[code] for code in sorted(counts)}
    of_enough = [
        share for code, share in shares.items() if sites[code] >= _LEAST_SITES and code not in FIVE
    ]
    # By these weights the languages are as frequent as in the prior, that of the confidences.
    frequent = dict(zip(counts, np.exp(Prior.evened().log_of(list(counts))), strict=True))
    weights = np.array([frequent[code] / counts[code] for code in languages])
    return {
        "urls": len(rows),
        "sites": sites.total(),
        "default": {
            "right": _percent(is_right.mean() if len(rows) else np.nan),
            "macro": _percent(float(np.mean(of_enough or [np.nan]))),
            "reliability": reliability(is_right, confidences.astype(np.float64), weights),
            "languages": {
                code: {"sites": sites[code], "urls": counts[code], "right": _percent(share)}
                for code, share in shares.items()
            },
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
