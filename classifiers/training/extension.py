"""Adds classifiers of further languages to a URL model; all others stay as they are.

A model is trained on a table of half a million URLs, which a user does not have. The pages of a few
crawls are enough for one more binary classifier: the URLs of the language against all others. The
decision values of the model's classifiers as further features did not help: with them, the mean F1
on unseen domains of eight languages changed by -0.9 to 0.4 (three draws of 30 to 250 URLs).

The classifier of a new language takes no part in naming one language
(`classifiers.urls.posteriors`): the model's evidence was fitted to other data. A language that was
named by its top-level domain and codes is still named by these, another one is not named. A
classifier that takes the place of the model's own has its weight in naming, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, domain_reader
from classifiers.errors import DatasetError
from classifiers.training import thresholds
from classifiers.training.examples import folds_of
from classifiers.training.urls import (
    Options,
    capped,
    cross_fitted,
    matrix,
    unseen_values,
    usable,
    use_domains,
)
from classifiers.urls.model import UrlModel
from classifiers.urls.modelfile import Parameters
from classifiers.urls.posteriors import Evidence
from classifiers.weights import quantised

LEAST_DOMAINS: Final = 3
"""Registered domains that a language needs: its threshold is set on domains not learned from."""
_EVENNESS: Final = 0.5
"""Power of the number of URLs of a language that it weighs as a negative: a crawl's second language
has most of the rest, and the next crawl may meet others."""
_NEVER: Final = -60.0
"""Evidence of a language that is not named."""

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Row = tuple[npt.NDArray[np.int8], np.float32, np.float32]
"""The row of a language in the model's arrays: weights, scale and intercept."""


class Added(NamedTuple):
    """What one language learned, for the model card."""

    language: str
    urls: int
    domains: int
    negatives: int
    f1: float
    """F1 in percent on domains not learned from, in the balanced limit."""
    f1_before: float | None
    """The same of the model's own classifier; None if it has none."""
    f1_domains: float
    """The same of the language's top-level domains alone."""
    is_used: bool
    """False if the model's own classifier is better and stays."""
    domain_rule: str | None
    """Use of the top-level domain (`thresholds`)."""


@dataclass(frozen=True)
class _Examples:
    """The URLs of all runs and their features; `columns` (n_urls,) are places in `languages`."""

    urls: list[str]
    languages: list[str]
    columns: npt.NDArray[np.int64]
    folds: npt.NDArray[np.int64]
    features: Any
    masses: npt.NDArray[np.float64]
    """Weight of each language as a negative, (n_languages,)."""

    @classmethod
    def of(cls, rows: Sequence[LabelledUrl], bits: int, options: Options) -> _Examples:
        urls = [row.url for row in rows]
        languages = sorted({row.language for row in rows})
        places = {code: at for at, code in enumerate(languages)}
        columns = np.array([places[row.language] for row in rows], np.int64)
        folds = np.array(folds_of(urls, options.folds, options.seed), np.int64)
        masses = np.bincount(columns).astype(np.float64) ** _EVENNESS
        return cls(urls, languages, columns, folds, matrix(urls, bits), masses)


def extend(
    base: Parameters, rows: Sequence[LabelledUrl], targets: Sequence[str], options: Options
) -> tuple[Parameters, list[Added]]:
    """The model with a classifier of each target, and what each has learned.

    A target that the model knows gets the new classifier only if this is better on the rows, on
    registered domains that it has not learned from. Raises DatasetError if the rows have too few
    URLs or domains of a target, or of all others.
    """
    rows = capped(usable(rows), options.max_per_domain, options.seed)
    for target in targets:
        _check(rows, target, options.min_urls)
    model = UrlModel(base)
    examples = _Examples.of(rows, base.bits, options)
    added = []
    for target in targets:
        row, told = _learned(examples, target, model, options)
        base = _with_row(base, target, row) if told.is_used else base
        added.append(told)
    counts = Counter(row.language for row in rows)
    facts = {**base.facts, "extensions": [*base.facts.get("extensions", [])]}
    facts["extensions"] += [
        {**told._asdict(), "runs": _runs(rows, told.language)} for told in added
    ]
    known = {**facts.get("languages", {})}
    known |= {told.language: counts[told.language] for told in added if told.is_used}
    return replace(base, facts={**facts, "languages": known}), added


def _runs(rows: Sequence[LabelledUrl], language: str) -> dict[str, int]:
    """The number of the language's URLs of each run."""
    return dict(sorted(Counter(row.source for row in rows if row.language == language).items()))


def _check(rows: Sequence[LabelledUrl], target: str, least: int) -> None:
    domain = domain_reader()
    own = [row.url for row in rows if row.language == target]
    domains, others = len({domain(url) for url in own}), len(rows) - len(own)
    if len(own) < least or domains < LEAST_DOMAINS:
        raise DatasetError(
            f"{target}: {len(own)} sure pages on {domains} registered domains; a classifier needs "
            f"{least} on {LEAST_DOMAINS}"
        )
    if others < least:
        raise DatasetError(
            f"{target}: {others} sure pages in other languages; a classifier needs {least}"
        )


def _learned(
    examples: _Examples, target: str, model: UrlModel, options: Options
) -> tuple[Row, Added]:
    """The classifier of the language against all others, and what it has learned."""
    at, counts = examples.languages.index(target), np.bincount(examples.columns)
    own = examples.columns == at
    weights = (examples.masses / counts)[examples.columns]
    fitted = [
        (learned[:, :1].copy(), intercepts[:1].copy())
        for learned, intercepts in cross_fitted(
            examples.features, np.where(own, 0, 1), weights, examples.folds, options, n_classes=2
        )
    ]
    learned, intercept = fitted[-1]
    unseen = unseen_values(fitted, examples.features, examples.folds)
    # The language comes first, then the others in their order.
    order = np.argsort(np.arange(len(counts)) != at, kind="stable")
    columns, masses = np.argsort(order)[examples.columns], examples.masses[order]
    found = thresholds.calibrate(unseen, columns, examples.urls, (target,), masses)
    unseen = found.applied(unseen, examples.urls, (target,))
    use_domains(learned, intercept, (target,), found)
    codes, scales = quantised(learned.T)

    def f1(says_yes: Flags) -> float:
        return round(100 * thresholds.balanced_f1(says_yes, own, weights), 1)

    urls, domain = examples.urls, domain_reader()
    before = f1(model.score(urls, target) > 0) if target in model.languages else None
    after = f1(unseen[:, 0] > 0)
    told = Added(
        target,
        int(own.sum()),
        len({domain(urls[row]) for row in np.flatnonzero(own)}),
        int((~own).sum()),
        after,
        before,
        f1(thresholds.in_domains(urls, target)),
        is_used=before is None or after > before,
        domain_rule=found.domains.get(target),
    )
    return (codes[0], scales[0], np.float32(intercept[0] + found.shifts[0])), told


def _with_row(base: Parameters, target: str, row: Row) -> Parameters:
    """The model with the row of a language, in place of its own or as the last one."""
    weights, scale, intercept = row
    if target in base.languages:
        at = base.languages.index(target)
        rows = np.arange(len(base.languages))[:, None] == at
        return replace(
            base,
            weights=np.where(rows, weights, base.weights),
            scales=np.where(rows[:, 0], scale, base.scales),
            intercepts=np.where(rows[:, 0], intercept, base.intercepts),
        )
    return replace(
        base,
        languages=(*base.languages, target),
        weights=np.vstack([base.weights, weights]),
        scales=np.append(base.scales, scale),
        intercepts=np.append(base.intercepts, intercept),
        evidence=_with_unnamed(base.evidence, len(base.languages), target),
    )


def _with_unnamed(evidence: Evidence, at: int, target: str) -> Evidence:
    """The evidence with one more classifier at that place; its decision values count nothing."""
    named = evidence.languages
    intercepts, nats = evidence.intercepts, evidence.nats
    mixing = evidence.mixing
    if target not in named:
        named = (*named, target)
        intercepts = np.append(intercepts, np.float32(_NEVER))
        nats = np.hstack([nats, np.zeros((len(nats), 1), np.float16)])
        mixing = np.hstack([mixing, np.zeros((len(mixing), 1), np.float32)])
    place = named.index(target)
    order = [*range(at), place, *(each for each in range(at, len(named)) if each != place)]
    mixing = np.vstack([mixing[:, order], np.zeros((1, len(named)), np.float32)])
    return Evidence(
        tuple(named[each] for each in order),
        mixing,
        intercepts[order],
        evidence.keys,
        np.ascontiguousarray(nats[:, order]),
    )
