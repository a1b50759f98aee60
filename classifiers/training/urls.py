"""Training of the URL model on labelled URLs.

A one-versus-rest linear SVM per language, with balanced classes (Baykan 2013, 2.2 and 3.2).
Unlike in the paper,

- a classifier's negatives are weighted by language: the paper's five languages have equal weights,
  and all other languages together about the weight of one of the five;
- host names are also learned from word lists: classifiers of synthetic names
  (:mod:`classifiers.training.examples`) score every URL, and the scores are features beside the
  n-grams. Since these classifiers are linear, they are added into the weights afterwards;
- a path of words is also a separate example, without its host;
- a classifier's decision threshold is calibrated on unseen domains. On its training data its
  decision values are too high, so that its recall elsewhere would be too low. The data are divided
  into folds, and classifiers of the other folds score each fold. These decision values are also the
  training data for naming a language (:mod:`classifiers.training.naming`);
- filter list URLs under a domain of another language are skipped.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import LabelledUrl, distinct, domain_reader, stable_share
from langfocus.classifiers.errors import DatasetError
from langfocus.classifiers.languages import language_of_tld, tlds_of
from langfocus.classifiers.training import naming, solver
from langfocus.classifiers.training.domain_shares import Site, limited, top_of
from langfocus.classifiers.training.examples import (
    FIVE,
    Examples,
    collect,
    folds_of,
    made_up_names,
    towns,
    with_word_lists,
)
from langfocus.classifiers.training.hosts import with_hosts
from langfocus.classifiers.training.thresholds import ALONE, Thresholds, calibrate
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.cctld import top_level_domain
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.ngrams import MARK_VALUE
from langfocus.classifiers.urls.posteriors import Evidence
from langfocus.classifiers.weights import quantised

EXCLUDED_SOURCES: Final = frozenset({"citizenlab_country"})
"""Sources whose licence does not allow a model for general use."""

FILTER_LISTS: Final = frozenset(
    {"adguard_regional", "easylist_commit_urls", "easylist_history", "easylist_regional"}
)
"""Advertisement lists, by the language of their users, who also visit other sites."""

MAX_PER_DOMAIN: Final = 20
"""Maximum URLs per language and registered domain; more add little information."""
_PENALTY: Final = 0.2
"""C of the SVM."""
_FOLDS: Final = 3
"""Domain folds; classifiers of the other folds score each fold."""
_NONE: Final = -2
"""No part: everything is learned."""
_THREADS: Final = 2
_NAME_SCALE: Final = 0.2
"""Scale of the synthetic name scores, which are features; a smaller scale trusts them less."""
_LARGE: Final = 2_000
"""Minimum URLs of a language that can spare domains mostly in another language."""
_OTHER_NAMES: Final = 0.3
"""Weight of a language outside the paper's five in training on names."""
_TOWNS: Final = 0.3
"""Weight of town names relative to a language's synthetic names."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Options:
    """How to train; the same options and rows give the same model, bit by bit."""

    buckets: int = 1 << 18
    """Feature buckets, a power of two; determines the file size and the table size in memory."""
    seed: int = 0
    min_urls: int = 30
    """A language with fewer URLs gets no classifier."""
    languages: tuple[str, ...] | None = None
    """Only these languages; None: every language with `min_urls`, and further languages can be
    named.
    """
    word_lists: bool = True
    """Whether to learn from word lists and towns also; needs the extra `training`."""
    names: int = 160_000
    """Synthetic names per language of the paper's five; other languages have a quarter."""


def usable(rows: Iterable[LabelledUrl]) -> list[LabelledUrl]:
    """Return each URL once, without excluded sources and URLs listed under two languages."""
    return distinct(row for row in rows if row.source not in EXCLUDED_SOURCES)


def is_reliable(row: LabelledUrl) -> bool:
    """Return False for a filter list URL under a top-level domain of another language."""
    if row.source not in FILTER_LISTS:
        return True
    return language_of_tld(top_level_domain(row.url)) in (None, row.language)


def capped(
    rows: Sequence[LabelledUrl], limit: int, seed: int = 0, large: int | None = None
) -> list[LabelledUrl]:
    """Return at most `limit` URLs per registered domain and language, selected by hash.

    A language with `large` URLs or more keeps its share of a domain that is mostly in another
    language. From a domain with 2,000 English and 40 Chinese URLs, 20 English URLs and one Chinese
    URL are learned; 20 URLs of each would make the domain name Chinese. Small languages need all
    their URLs.
    """
    domain, counts = domain_reader(), Counter(row.language for row in rows)
    groups: dict[str, dict[str, list[LabelledUrl]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[domain(row.url)][row.language].append(row)
    kept: list[LabelledUrl] = []
    for languages in groups.values():
        most = max(map(len, languages.values()))
        for code, group in languages.items():
            is_scaled = large is not None and most > limit and counts[code] >= large
            size = max(1, round(limit * len(group) / most)) if is_scaled else limit
            group.sort(key=lambda row: stable_share(row.url, seed, "cap"))
            kept += group[:size]
    return sorted(kept)


def fit(rows: Sequence[LabelledUrl], options: Options) -> UrlModel:
    """Return a model of the languages with enough rows; DatasetError below two languages."""
    bits, seed = _bits(options.buckets), options.seed
    known = usable(rows)
    reliable = capped(list(filter(is_reliable, known)), MAX_PER_DOMAIN, seed, _LARGE)
    languages = _languages(reliable, options)
    # Rows of languages with too few URLs are only scored; the examples begin with all other rows.
    reliable.sort(key=lambda row: row.language not in languages)
    urls, n_chosen = [row.url for row in reliable], sum(r.language in languages for r in reliable)
    examples = collect(
        reliable[:n_chosen], languages, folds=_FOLDS, seed=seed, made_up=options.word_lists
    )
    names = _name_machines(languages, bits, options) if options.word_lists else None
    features = _with_scores(matrix(examples.urls, bits), names)
    fitted = _cross_fitted(features, examples, len(languages), seed)
    weights, intercepts = fitted[-1]
    unseen = _unseen_values(fitted, features[:n_chosen], examples.folds[:n_chosen])
    thresholds = calibrate(
        unseen, examples.columns[:n_chosen], urls[:n_chosen], languages, examples.masses
    )
    rest = _with_scores(matrix(urls[n_chosen:], bits), names)
    folds = np.array(folds_of(urls[n_chosen:], _FOLDS, seed), np.int64)
    unseen = np.vstack([unseen, _unseen_values(fitted, rest, folds)])
    if names is not None:  # add the score weights into the feature weights
        weights = weights[: options.buckets] + names @ weights[options.buckets :]
    use_domains(weights, intercepts, languages, thresholds)
    codes, scales = quantised(weights.T)
    model = UrlModel(
        languages=languages,
        codes=codes,
        scales=scales,
        intercepts=(intercepts + thresholds.shifts).astype(np.float32),
        posterior=_posterior(
            reliable, thresholds.applied(unseen, urls, languages), languages, options, known
        ),
        facts=_facts(rows, reliable[:n_chosen], languages, options)
        | {"examples": len(examples.urls), "top_level_domains": thresholds.domains},
    )
    return with_hosts(model, filter(is_reliable, known))


def _posterior(
    rows: Sequence[LabelledUrl],
    scores: npt.NDArray[np.float64],
    languages: tuple[str, ...],
    options: Options,
    known: Sequence[LabelledUrl],
) -> Evidence:
    """Return the evidence for naming a language; restricted to the selected languages.

    `rows` are learned; the sites of all `known` rows limit what a domain says.
    """
    domain = domain_reader()
    urls, codes = [row.url for row in rows], [row.language for row in rows]
    seen = naming.Seen(urls, codes, [domain(url) for url in urls], scores.astype(np.float32))
    named = languages if options.languages else naming.nameable(languages)
    learned = naming.learn(seen, named, options.seed).widened()
    sites = (Site(domain(row.url), top_of(row.url), row.language) for row in known)
    return limited(learned, len(languages), sites)


def matrix(urls: Sequence[str], bits: int) -> Any:
    """Return the features as a scipy CSR matrix, float32 (n_urls, 2**bits)."""
    from scipy.sparse import csr_matrix

    from langfocus.classifiers.urls import ngrams

    pointers, indices, values = ngrams.csr(encode(urls), len(urls), bits)
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
    """Return weights (n_buckets, n_listed) of synthetic name classifiers.

    Names are classified only against languages in the same script, so that Cyrillic names add no
    evidence about Latin letters. None if no script has two languages with word lists.
    """
    machines = [_machines_of(group, bits, options) for group in with_word_lists(languages)]
    return np.hstack(machines) if machines else None


def _machines_of(listed: Sequence[str], bits: int, options: Options) -> Floats:
    """Return the weights for languages whose names share a script."""
    urls: list[str] = []
    columns, weights = [], []
    for at, code in enumerate(listed):
        share, size = (1.0, options.names) if code in FIVE else (_OTHER_NAMES, options.names // 4)
        names = made_up_names(code, size, options.seed)
        of_towns = towns(code, size // 2, options.seed)
        urls += names + of_towns
        columns += [at] * (len(names) + len(of_towns))
        weights += [share / len(names)] * len(names)
        weights += [_TOWNS * share / max(len(of_towns), 1)] * len(of_towns)
    rows = matrix(urls, bits), np.array(columns, np.int64), np.array(weights)
    machines, _ = solver.fit(*rows, len(listed), _PENALTY, options.seed)
    scaled: Floats = machines * np.float32(_NAME_SCALE)
    return scaled


def _with_scores(features: Any, machines: Floats | None) -> Any:
    """Return the features, with the name classifier scores as further columns."""
    from scipy.sparse import csr_matrix, hstack

    if machines is None:
        return features
    return hstack([features, csr_matrix(features @ machines)], format="csr")


def _cross_fitted(
    features: Any, examples: Examples, n_languages: int, seed: int
) -> list[tuple[Floats, Floats]]:
    """Return weights and intercepts without each fold; then of all examples."""
    from joblib import Parallel, delayed

    def fit_without(part: int) -> tuple[Floats, Floats]:
        rows = np.flatnonzero(examples.folds != part)
        weights, rest_weights = examples.weights[rows], examples.rest_weights[rows]
        of_rows = features[rows], examples.columns[rows], weights, n_languages
        return solver.fit(*of_rows, _PENALTY, seed, rest_weights=rest_weights)

    work = Parallel(n_jobs=_THREADS, backend="threading")
    fitted: list[tuple[Floats, Floats]] = work(
        delayed(fit_without)(part) for part in (*range(_FOLDS), _NONE)
    )
    return fitted


def _unseen_values(
    fitted: Sequence[tuple[Floats, Floats]], features: Any, folds: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return decision values (n_rows, n_classes) of the classifiers fitted without each fold."""
    *partial, (_, intercepts) = fitted
    unseen = np.empty((features.shape[0], len(intercepts)))
    for part, (weights, intercepts) in enumerate(partial):
        rows = np.flatnonzero(folds == part)
        unseen[rows] = features[rows] @ weights + intercepts
    return unseen


def use_domains(
    weights: Floats,
    intercepts: Floats,
    languages: Sequence[str],
    thresholds: Thresholds,
) -> None:
    """Add the top-level domains to the weights of languages with a better domain rule."""
    bits = len(weights).bit_length() - 1
    for at, language in enumerate(languages):
        rule = thresholds.domains.get(language)
        if rule is None:
            continue
        marks = matrix([f"http://1234.{tld}/" for tld in sorted(tlds_of(language))], bits).indices
        if rule == ALONE:
            weights[:, at] = 0
            intercepts[at] = -0.5
        weights[np.unique(marks), at] += 1 / MARK_VALUE


def _facts(
    rows: Sequence[LabelledUrl],
    chosen: Sequence[LabelledUrl],
    languages: Sequence[str],
    options: Options,
) -> dict[str, Any]:
    """Return the training data and options, for the model card."""
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
        "max_per_domain": MAX_PER_DOMAIN,
        "penalty": _PENALTY,
        "word_lists": options.word_lists,
        "min_urls": options.min_urls,
    }
