"""Evaluation of a URL model on labelled URLs from unseen domains.

Decisions of its binary classifiers (Baykan 2013, 3.3) are listed beside the top-level domain
baseline. Naming a language has two measures: accuracy of the first answer, and calibration of its
confidence.
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
"""Maximum identified URLs per registered domain and language."""
_LEAST_SITES: Final = 10
"""Minimum registered domains of a language in the mean."""
_BINS: Final = 10


def assess(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Return the model's measures on unseen rows, as JSON-ready numbers in percent.

    Keys: `five` (en, de, fr, es, it against each other, as in the paper), `all` (every model
    language), `cctld` and `all_cctld` (the baseline), `naming`. A registered domain adds at most 20
    URLs of a language.
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
    """Return each language's measures against the other languages, and their mean F1."""
    index = {code: at for at, code in enumerate(languages)}
    rows = [row for row in rows if row.language in index]
    if not rows:
        return {"urls": 0, "mean_f1": None, "languages": {}}
    columns = np.array([index[row.language] for row in rows], np.int64)
    decisions = decide([row.url for row in rows], languages)
    measures = [evaluation.of_languages(decisions[:, at], columns, at) for at in range(len(index))]
    f1 = np.array([measure.f1 for measure in measures])
    counts = np.bincount(columns, minlength=len(languages))
    return {
        "urls": len(rows),
        "mean_f1": _percent(f1[~np.isnan(f1)].mean()),
        "languages": {
            code: {
                "urls": int(counts[at]),
                "P": _percent(measures[at].precision),
                "R": _percent(measures[at].recall),
                "p(-|-)": _percent(measures[at].negative_success),
                "F1": _percent(measures[at].f1),
            }
            for code, at in index.items()
        },
    }


def naming(model: UrlModel, rows: Sequence[LabelledUrl]) -> dict[str, Any]:
    """Return the accuracy of naming a language with the default prior, in percent.

    At most three URLs of a site and language are scored. `macro` is the mean over the languages
    with ten sites or more, except the five languages of the paper.
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
    # These weights give the languages their frequencies in the prior of the confidences.
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
    """Return the expected calibration error and its ten confidence bins.

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
            confidence = float(np.average(confidences[inside], weights=weights[inside]))
            accuracy = float(np.average(is_right[inside], weights=weights[inside]))
            error += float(mass / total) * abs(confidence - accuracy)
            bins.append([_percent(mass / total), _percent(confidence), _percent(accuracy)])
    return {"error": _percent(error), "bins": bins}


def _percent(share: float) -> float | None:
    return None if np.isnan(share) else round(100 * float(share), 2)
