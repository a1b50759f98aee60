"""Trains the URL model on labelled URLs.

One linear SVM for each language against all others, with balanced classes (Baykan 2013, 2.2 and
3.2). Unlike there,

- a classifier's negatives are weighted by language: the paper's five languages count the same,
  and all other languages together about as much as one of them;
- the names of hosts are also learned from word lists: classifiers of made-up names
  (:mod:`classifiers.lab.training.wordlists`) score every URL, and their scores are features beside
  the n-grams. Since they are linear, they are added into the weights afterwards;
- a path of words is also a separate example, without its host;
- the decision threshold of a classifier is calibrated on domains that it has not seen. On its
  training data its decision values are too high, so that its recall elsewhere would be too low.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import DatasetError
from classifiers.lab.datasets import LabelledUrl, distinct, domain_reader, stable_share
from classifiers.lab.training import calibration, solver, wordlists
from classifiers.lab.training.examples import FIVE, Examples, collect
from classifiers.languages import tlds_of
from classifiers.urls.batch import encode
from classifiers.urls.modelfile import Parameters
from classifiers.urls.ngrams import MARK_VALUE
from classifiers.weights import quantised

EXCLUDED_SOURCES: Final = frozenset({"citizenlab_country"})
"""Sources whose licence does not allow a model for general use."""

_NAME_SCALE: Final = 0.2
"""Factor of the scores of made-up names, which are features; a smaller one trusts them less."""
_OTHER_NAMES: Final = 0.3
"""Weight of a language other than the paper's five in learning names."""
_TOWNS: Final = 0.3
"""Weight of the names of towns relative to the made-up names of a language."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Options:
    """How to train; the same options and rows give the same model, bit by bit."""

    buckets: int = 1 << 18
    """Buckets of the features, a power of two. Size of the file and of the tables in memory."""
    seed: int = 0
    min_urls: int = 30
    """A language with fewer URLs gets no classifier."""
    languages: tuple[str, ...] | None = None
    """Only these; None is every language with `min_urls`."""
    max_per_domain: int = 20
    """URLs of one language that one registered domain adds at most; more add little information."""
    penalty: float = 0.2
    """C of the SVM."""
    calibration_share: float = 0.15
    """Share of the domains that are held out for the calibration of the decision thresholds."""
    word_lists: bool = True
    """Whether to learn from word lists and towns also; needs the extra `training`."""
    names: int = 160_000
    """Number of made-up names of each of the paper's five languages; others have a quarter of it.
    """
    jobs: int = 1
    """Threads; the result does not depend on it."""


def usable(rows: Iterable[LabelledUrl]) -> list[LabelledUrl]:
    """Each URL once, without excluded sources and URLs listed under two languages."""
    return distinct(row for row in rows if row.source not in EXCLUDED_SOURCES)


def capped(rows: Iterable[LabelledUrl], limit: int, seed: int = 0) -> list[LabelledUrl]:
    """At most `limit` URLs of each registered domain and language, chosen by their hash."""
    domain = domain_reader()
    groups: dict[tuple[str, str], list[LabelledUrl]] = defaultdict(list)
    for row in rows:
        groups[domain(row.url), row.language].append(row)
    kept: list[LabelledUrl] = []
    for group in groups.values():
        if len(group) > limit:
            group.sort(key=lambda row: stable_share(row.url, seed, "cap"))
        kept += group[:limit]
    return sorted(kept)


def fit(rows: Sequence[LabelledUrl], options: Options) -> Parameters:
    """A model of the languages that have enough rows; DatasetError if fewer than two have."""
    chosen = capped(usable(rows), options.max_per_domain, options.seed)
    languages = _languages(chosen, options)
    chosen = [row for row in chosen if row.language in set(languages)]
    bits = _bits(options.buckets)
    examples = collect(
        chosen,
        languages,
        held_out=options.calibration_share,
        seed=options.seed,
        made_up=options.word_lists,
    )
    names = _name_machines(languages, bits, options) if options.word_lists else None
    features = _with_scores(matrix(examples.urls, bits), names)
    held_out, weights, intercepts = _fit_twice(features, examples, options)
    thresholds = _calibrated(held_out, examples, languages)
    weights = _folded(weights, names, 1 << bits)
    _use_domains(weights, intercepts, languages, thresholds)
    codes, scales = quantised(weights.T)
    facts = _facts(rows, chosen, languages, options)
    return Parameters(
        languages=languages,
        weights=codes,
        scales=scales,
        intercepts=(intercepts + thresholds.shifts).astype(np.float32),
        offsets=thresholds.offsets.astype(np.float32),
        temperature=thresholds.temperature,
        facts={
            **facts,
            "examples": len(examples.urls),
            "top_level_domains": thresholds.domains,
        },
    )


def _calibrated(
    held_out: npt.NDArray[np.float64], examples: Examples, languages: Sequence[str]
) -> calibration.Thresholds:
    """The thresholds for the decision values of the held-out URLs."""
    unseen = np.flatnonzero(examples.is_held_out)
    urls = [examples.urls[at] for at in unseen.tolist()]
    columns = examples.columns[unseen]
    return calibration.calibrate(held_out, columns, urls, languages, examples.masses)


def matrix(urls: Sequence[str], bits: int) -> Any:
    """The features as a scipy CSR matrix, float32 (n_urls, 2**bits)."""
    from scipy.sparse import csr_matrix

    from classifiers.urls import ngrams

    batch = encode(urls)
    pointers = ngrams.count_features(batch.buffer, len(batch), bits)
    indices = np.empty(pointers[-1], np.int32)
    values = np.empty(pointers[-1], np.float32)
    ngrams.fill_features(batch.buffer, bits, pointers, indices, values)
    features = csr_matrix((values, indices, pointers), shape=(len(urls), 1 << bits))
    features.sum_duplicates()
    return features


def _languages(rows: Sequence[LabelledUrl], options: Options) -> tuple[str, ...]:
    counts = Counter(row.language for row in rows)
    wanted = options.languages or tuple(counts)
    enough = sorted(code for code in wanted if counts[code] >= options.min_urls)
    few = sorted(set(wanted) - set(enough))
    if options.languages and few:
        raise DatasetError(
            f"too few URLs for {', '.join(few)}: a language needs {options.min_urls}"
        )
    if len(enough) < 2:
        raise DatasetError(
            f"{len(enough)} languages have {options.min_urls} usable URLs or more; two are needed"
        )
    return tuple(enough)


def _bits(buckets: int) -> int:
    bits = buckets.bit_length() - 1
    if buckets != 1 << bits or not 4 <= bits <= 24:
        raise DatasetError(f"buckets must be a power of two from 16 to 16777216, not {buckets}")
    return bits


def _name_machines(languages: Sequence[str], bits: int, options: Options) -> Floats | None:
    """Weights (n_buckets, n_listed) of classifiers of made-up names.

    None if fewer than two of the languages have a word list.
    """
    listed = wordlists.listed(languages)
    if len(listed) < 2:
        return None
    urls: list[str] = []
    columns, weights = [], []
    for at, code in enumerate(listed):
        share, size = (1.0, options.names) if code in FIVE else (_OTHER_NAMES, options.names // 4)
        names = wordlists.names(code, size, options.seed)
        towns = wordlists.towns(code, size // 2, options.seed)
        urls += names + towns
        columns += [at] * (len(names) + len(towns))
        weights += [share / len(names)] * len(names)
        weights += [_TOWNS * share / max(len(towns), 1)] * len(towns)
    machines, _ = solver.fit(
        matrix(urls, bits),
        np.array(columns, np.int64),
        np.array(weights),
        len(listed),
        options.penalty,
        options.seed,
    )
    return machines * np.float32(_NAME_SCALE)


def _with_scores(features: Any, machines: Floats | None) -> Any:
    """The features, with the scores of the name classifiers as further columns."""
    from scipy.sparse import csr_matrix, hstack

    if machines is None:
        return features
    return hstack([features, csr_matrix(features @ machines)], format="csr")


def _folded(weights: Floats, machines: Floats | None, n_buckets: int) -> Floats:
    """Weights of the features alone; those of the scores are added into them."""
    if machines is None:
        return weights
    folded: Floats = weights[:n_buckets] + machines @ weights[n_buckets:]
    return folded


def _fit_twice(
    features: Any, examples: Examples, options: Options
) -> tuple[npt.NDArray[np.float64], Floats, Floats]:
    """Decision values of the held-out URLs by classifiers without them; then the final weights."""
    from joblib import Parallel, delayed

    def fit_on(rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        return solver.fit(
            features[rows],
            examples.columns[rows],
            examples.weights[rows],
            len(examples.masses),
            options.penalty,
            options.seed,
            rest_weights=examples.rest_weights[rows],
        )

    parts = (np.flatnonzero(~examples.is_left_out), np.arange(len(examples.urls)))
    work = Parallel(n_jobs=min(options.jobs, 2), backend="threading")
    (seen, seen_intercepts), (weights, intercepts) = work(delayed(fit_on)(part) for part in parts)
    unseen = features[np.flatnonzero(examples.is_held_out)]
    return (unseen @ seen + seen_intercepts).astype(np.float64), weights, intercepts


def _use_domains(
    weights: Floats,
    intercepts: Floats,
    languages: Sequence[str],
    thresholds: calibration.Thresholds,
) -> None:
    """Add the top-level domains to the weights of the languages for which they are better."""
    bits = len(weights).bit_length() - 1
    for at, language in enumerate(languages):
        rule = thresholds.domains.get(language)
        if rule is None:
            continue
        marks = matrix([f"http://1234.{tld}/" for tld in sorted(tlds_of(language))], bits).indices
        if rule == calibration.ALONE:
            weights[:, at] = 0
            intercepts[at] = -0.5
        weights[np.unique(marks), at] += 1 / MARK_VALUE


def _facts(
    rows: Sequence[LabelledUrl],
    chosen: Sequence[LabelledUrl],
    languages: Sequence[str],
    options: Options,
) -> dict[str, Any]:
    """The training data and options, for the model card."""
    counts = Counter(row.language for row in chosen)
    return {
        "rows": len(rows),
        "rows_used": len(chosen),
        "languages": {code: counts[code] for code in languages},
        "sources": dict(sorted(Counter(row.source for row in chosen).items())),
        "label_kinds": dict(sorted(Counter(row.label_kind for row in chosen).items())),
        "excluded_sources": sorted(EXCLUDED_SOURCES),
        "buckets": options.buckets,
        "seed": options.seed,
        "max_per_domain": options.max_per_domain,
        "penalty": options.penalty,
        "word_lists": options.word_lists,
        "min_urls": options.min_urls,
    }
