"""From labelled URLs to the parameters of the URL model.

One linear SVM for each language against all others, with balanced classes (Baykan 2013, 2.2 and
3.2). Unlike there, the negatives of a classifier are weighted by the square root of their
language's size rather than equally: dozens of small languages would outvote the large ones. The
point from which a classifier says Yes is set on domains it has not seen: on its own training
data it looks surer than it is, and its recall elsewhere is too low.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.datasets import LabelledUrl, domain_reader, stable_share
from classifiers.errors import DatasetError
from classifiers.urls.batch import encode
from classifiers.urls.modelfile import Parameters

EXCLUDED_SOURCES: Final = frozenset({"citizenlab_country"})
"""Sources whose licence does not allow a model that anybody may use."""

_MIN_NEGATIVES: Final = 50_000

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Options:
    """How to train; the same options and rows give the same model, bit by bit."""

    buckets: int = 1 << 17
    """Buckets of the features, a power of two. Size of the file and of the tables in memory."""
    seed: int = 0
    min_urls: int = 30
    """A language with fewer URLs gets no classifier."""
    languages: tuple[str, ...] | None = None
    """Only these; None is every language with `min_urls`."""
    max_per_domain: int = 20
    """URLs of one language that one registered domain adds: more tell little that is new."""
    penalty: float = 0.3
    """C of the SVM."""
    calibration_share: float = 0.15
    """Share of the domains that are held out to set the point of Yes."""
    jobs: int = 1
    """Processes; the result does not depend on it."""


def usable(rows: Iterable[LabelledUrl]) -> list[LabelledUrl]:
    """Each URL once, without excluded sources and URLs listed under two languages."""
    first: dict[str, LabelledUrl] = {}
    ambiguous: set[str] = set()
    for row in rows:
        if row.source in EXCLUDED_SOURCES:
            continue
        if first.setdefault(row.url, row).language != row.language:
            ambiguous.add(row.url)
    return [row for url, row in first.items() if url not in ambiguous]


def capped(rows: Iterable[LabelledUrl], limit: int, seed: int = 0) -> list[LabelledUrl]:
    """At most so many URLs of each registered domain and language, drawn by their hash."""
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
    problem = _Problem.of(chosen, options)
    fitted = _fit_all(problem, languages, options)
    shifts = _shrunk(
        np.array([each.shift for each in fitted]), np.array([each.n_shift for each in fitted])
    )
    intercepts = np.array([each.intercept for each in fitted]) + shifts
    held_out = np.column_stack([each.held_out for each in fitted]) + shifts
    counts = Counter(row.language for row in chosen)
    return Parameters(
        languages=languages,
        weights=np.vstack([each.weights for each in fitted]),
        scales=np.array([each.scale for each in fitted], np.float32),
        intercepts=intercepts.astype(np.float32),
        temperature=_temperature(held_out, problem.columns(languages)[problem.is_held_out]),
        facts=_facts(rows, chosen, {code: counts[code] for code in languages}, options),
    )


def matrix(urls: Sequence[str], bits: int) -> Any:
    """The features as a scipy CSR matrix, float64 (n_urls, 2**bits)."""
    from scipy.sparse import csr_matrix

    from classifiers.urls import ngrams

    batch = encode(urls)
    pointers = ngrams.count_features(batch.buffer, batch.offsets, bits)
    indices = np.empty(pointers[-1], np.int32)
    values = np.empty(pointers[-1], np.float32)
    ngrams.fill_features(batch.buffer, batch.offsets, bits, pointers, indices, values)
    features = csr_matrix(
        (values.astype(np.float64), indices, pointers), shape=(len(urls), 1 << bits)
    )
    features.sum_duplicates()
    features.indices = features.indices.astype(np.int32)
    features.indptr = features.indptr.astype(np.int32)
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


@dataclass(frozen=True)
class _Problem:
    """What all classifiers are trained on."""

    features: Any
    labels: npt.NDArray[np.str_]
    is_held_out: Flags
    """Rows whose domain sets the point of Yes."""
    weights: Floats
    """Of a row as a negative example."""

    @classmethod
    def of(cls, rows: Sequence[LabelledUrl], options: Options) -> _Problem:
        domain = domain_reader()
        shares = (stable_share(domain(row.url), options.seed, "calibration") for row in rows)
        held_out = np.fromiter(shares, np.float64, len(rows)) < options.calibration_share
        counts = Counter(row.language for row in rows)
        return cls(
            matrix([row.url for row in rows], _bits(options.buckets)),
            np.array([row.language for row in rows]),
            held_out,
            np.array([1 / math.sqrt(counts[row.language]) for row in rows]),
        )

    def columns(self, languages: Sequence[str]) -> npt.NDArray[np.int64]:
        index = {code: at for at, code in enumerate(languages)}
        return np.array([index[code] for code in self.labels.tolist()], np.int64)


def _bits(buckets: int) -> int:
    bits = buckets.bit_length() - 1
    if buckets != 1 << bits or not 4 <= bits <= 24:
        raise DatasetError(f"buckets must be a power of two from 16 to 16777216, not {buckets}")
    return bits


@dataclass(frozen=True)
class _Fitted:
    """One binary classifier, quantised, and how it did on the domains held out."""

    weights: npt.NDArray[np.int8]
    scale: float
    intercept: float
    shift: float
    n_shift: int
    held_out: Floats


def _fit_all(problem: _Problem, languages: Sequence[str], options: Options) -> list[_Fitted]:
    from joblib import Parallel, delayed

    work = Parallel(n_jobs=options.jobs, batch_size=1)
    result: list[_Fitted] = work(
        delayed(_fit_language)(problem, code, options.penalty, options.seed) for code in languages
    )
    return result


def _fit_language(problem: _Problem, language: str, penalty: float, seed: int) -> _Fitted:
    is_positive = problem.labels == language
    unseen = problem.is_held_out
    rows = _sample(is_positive, seed)
    seen = rows[~unseen[rows]]
    held_out = np.zeros(int(unseen.sum()))
    shift, n_shift = 0.0, int(is_positive[unseen].sum())
    if is_positive[seen].any() and n_shift:
        weights, intercept = _svm(problem, is_positive, seen, penalty, seed)
        held_out = problem.features[unseen] @ weights + intercept
        shift = _best_shift(held_out, is_positive[unseen], problem.weights[unseen])
    weights, intercept = _svm(problem, is_positive, rows, penalty, seed)
    quantised, scale = _quantised(weights)
    return _Fitted(quantised, scale, intercept, shift, n_shift, held_out)


def _sample(is_positive: Flags, seed: int) -> npt.NDArray[np.int64]:
    """All positive rows and five times as many negative ones (Baykan 2013, 3.2), or 50,000."""
    negative = np.flatnonzero(~is_positive)
    limit = max(_MIN_NEGATIVES, 5 * int(is_positive.sum()))
    if len(negative) > limit:
        negative = np.random.default_rng(seed).choice(negative, limit, replace=False)
    result: npt.NDArray[np.int64] = np.sort(np.r_[np.flatnonzero(is_positive), negative])
    return result


def _svm(
    problem: _Problem,
    is_positive: Flags,
    rows: npt.NDArray[np.int64],
    penalty: float,
    seed: int,
) -> tuple[Floats, float]:
    """Weights (n_buckets,) and intercept of a linear SVM whose two classes weigh the same."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    is_positive = is_positive[rows]
    weights = np.where(is_positive, 1.0, problem.weights[rows])
    for part in (is_positive, ~is_positive):
        weights[part] *= len(weights) / (2 * weights[part].sum())
    svm = LinearSVC(C=penalty, tol=0.1, max_iter=100, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(problem.features[rows], is_positive, sample_weight=weights)
    return svm.coef_[0], float(svm.intercept_[0])


def _best_shift(scores: Floats, is_positive: Flags, weights: Floats) -> float:
    """What to add to the scores for the highest F1 in the balanced limit (Baykan 2013, 3.3)."""
    shifts = np.arange(-1.0, 1.001, 0.02)
    positive = np.sort(scores[is_positive])
    order = np.argsort(scores[~is_positive])
    negative = scores[~is_positive][order]
    mass = np.concatenate([[0.0], np.cumsum(weights[~is_positive][order])])
    recall = 1 - np.searchsorted(positive, -shifts, side="right") / len(positive)
    wrong = 1 - mass[np.searchsorted(negative, -shifts, side="right")] / mass[-1]
    # 2PR / (P + R) with P = R / (R + wrong)
    f1 = 2 * recall / (recall + wrong + 1)
    return float(shifts[f1.argmax()])


def _shrunk(shifts: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Shifts of languages with few held-out URLs, drawn towards the middle of all."""
    reliable = shifts[counts >= 100]
    middle = float(np.median(reliable)) if len(reliable) else 0.0
    result: Floats = (shifts * counts + middle * 50) / (counts + 50)
    return result


def _quantised(weights: Floats) -> tuple[npt.NDArray[np.int8], float]:
    """Codes and scale: a weight is code * |code| * scale."""
    scale = float(np.abs(weights).max()) / 127**2 or 1.0
    codes = np.sign(weights) * np.sqrt(np.abs(weights) / scale)
    return np.rint(codes).astype(np.int8), scale


def _temperature(scores: Floats, columns: npt.NDArray[np.int64]) -> float:
    """The temperature of a softmax under which the held-out labels are the most likely."""
    if not len(columns):
        return 1.0
    rows = np.arange(len(columns))

    def surprise(temperature: float) -> float:
        values = scores / temperature
        values -= values.max(axis=1, keepdims=True)
        return float((np.log(np.exp(values).sum(axis=1)) - values[rows, columns]).mean())

    return min((round(0.05 * 1.15**step, 4) for step in range(30)), key=surprise)


def _facts(
    rows: Sequence[LabelledUrl],
    chosen: Sequence[LabelledUrl],
    languages: dict[str, int],
    options: Options,
) -> dict[str, Any]:
    """What the model card says of the training data."""
    return {
        "rows": len(rows),
        "rows_used": len(chosen),
        "languages": languages,
        "sources": dict(sorted(Counter(row.source for row in chosen).items())),
        "label_kinds": dict(sorted(Counter(row.label_kind for row in chosen).items())),
        "excluded_sources": sorted(EXCLUDED_SOURCES),
        "buckets": options.buckets,
        "seed": options.seed,
        "max_per_domain": options.max_per_domain,
        "penalty": options.penalty,
        "min_urls": options.min_urls,
    }
