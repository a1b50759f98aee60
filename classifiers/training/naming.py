"""Training of the evidence that names a URL's language from all decision values and clues.

Multinomial logistic regression (maximum a posteriori) on URLs unseen by the classifiers. A
language's evidence is the sum of

- the decision values of all classifiers, its own with a slope near a common slope and the others
  with a weight near 0 (a common intercept replaces a missing classifier);
- the log share of the top-level domain among the language's sites, counted on other URLs than the
  URLs for fitting its weight;
- a weight for each clue that may name the language, near the mean of the clue kind.

All weights are shrunk towards the common values, more for languages with fewer URLs. The fit uses
language frequencies in the data as a prior, so the evidence is independent of these frequencies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import stable_share
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.training import domain_shares
from langfocus.classifiers.training.domain_shares import Site
from langfocus.classifiers.training.tokens import WORD_PLACES, Token, code_words, tokens_of
from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.posteriors import Evidence

MAX_PER_SITE: Final = 3
"""Maximum sampled URLs per registered domain and language."""
_MAX_URLS: Final = 1_500
"""Maximum sampled URLs per language; more add little."""
_EVENNESS: Final = 0.6
"""URL count exponent by which a frequent language's URLs are down-weighted."""
_LEAST_SPEAKERS: Final = 0.1
"""Minimum share of speakers in a country for naming a language without a classifier."""
_ITERATIONS: Final = 100
_FOLDS: Final = 3
_UNCLASSIFIED: Final = -4.0
"""Initial intercept of languages without a classifier: few URLs are in such a language."""
_ABSENT: Final = -60.0
"""Log prior of a language without URLs."""

Floats = npt.NDArray[np.float32]
Columns = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]


class Seen(NamedTuple):
    """Labelled URLs and decision values of classifiers trained without their sites."""

    urls: list[str]
    languages: list[str]
    sites: list[str]
    """Registered domains of the URLs."""
    scores: Floats
    """(n_urls, n_classifiers)."""

    def part(self, rows: Columns) -> Seen:
        """Return a subset of the URLs."""
        urls, codes, sites = ([each[row] for row in rows] for each in self[:3])
        return Seen(urls, codes, sites, self.scores[rows])


def nameable(classified: Sequence[str]) -> tuple[str, ...]:
    """Return the languages with a classifier, then with a top-level domain or a country."""
    others = {
        code
        for code in PROJECT_CODES
        if domain_shares.own_domains(code)
        or max(domain_shares.home_domains(code).values(), default=0) >= _LEAST_SPEAKERS
    }
    return (*classified, *sorted(others - set(classified)))


def learn(seen: Seen, named: tuple[str, ...], seed: int) -> Evidence:
    """Return the evidence for languages, languages with a classifier first.

    Equal input gives equal numbers.
    """
    design = _Design.of(_sampled(seen, named, seed), named)
    learned = _evidence(design, _fitted(design))
    words = code_words(seen.urls, seen.languages, seen.sites, named)
    keys = [clues.key_of(kind, word) for word in words for kind in WORD_PLACES]
    learned.nats[np.isin(learned.keys, np.array(keys, np.uint64))] = 0
    return learned


def _sampled(seen: Seen, named: Sequence[str], seed: int) -> Seen:
    """Return at most three URLs per site and language and some thousand per language, by hash."""
    wanted = set(named)
    order = sorted(range(len(seen.urls)), key=lambda row: stable_share(seen.urls[row], seed))
    of_site: Counter[tuple[str, str]] = Counter()
    of_language: Counter[str] = Counter()
    kept = []
    for row in order:
        code = seen.languages[row]
        site = seen.sites[row], code
        if code in wanted and of_site[site] < MAX_PER_SITE and of_language[code] < _MAX_URLS:
            of_site[site] += 1
            of_language[code] += 1
            kept.append(row)
    return seen.part(np.array(sorted(kept), np.int64))


class _Weights(NamedTuple):
    """Fitted weights."""

    slope: Vector
    """(1,): common slope."""
    slopes: Vector
    """(n_classifiers,): deviations from the common slope."""
    mixing: Vector
    """(n_classifiers, n_classifiers): weights of other classifiers."""
    intercepts: Vector
    """(n_named,)."""
    unclassified: Vector
    """(1,): common to languages without a classifier."""
    domain: Vector
    """(1,): weight of the top-level domain's log share, also a feature of the classifiers."""
    unclassified_domain: Vector
    """(1,): the same for languages without a classifier."""
    groups: Vector
    """(n_groups,): mean clue weights."""
    clues: Vector
    """(n_pairs,): deviations from the mean clue weights."""


_PULL: Final = (0, 3, 30, 1, 5, 0, 100, 0.3, 2)
"""Regularisation strength towards the start, for each weight."""


@dataclass(frozen=True)
class _Design:
    """Design matrices of a sample; a pair is a clue kind and a language."""

    named: tuple[str, ...]
    sites: list[Site]
    scores: Floats
    domains: Floats
    """Log shares of each URL's top-level domain, (n_urls, n_named)."""
    tokens: list[Token]
    pairs: Any
    """CSR matrix (n_urls, n_pairs): 1 where a URL has a clue of the pair."""
    pair_of_token: Columns
    language_of_pair: Columns
    group_of_pair: Columns
    columns: Columns
    """Language index per URL, (n_urls,)."""
    weights: Floats
    priors: Floats
    """Log weights of languages in the sample, (n_named,)."""
    start: _Weights

    @classmethod
    def of(cls, sample: Seen, named: tuple[str, ...]) -> _Design:
        """Return the design matrices of a sample."""
        n_classified = sample.scores.shape[1]
        sites = [
            Site(name, domain_shares.top_of(url), code)
            for name, url, code in zip(sample.sites, sample.urls, sample.languages, strict=True)
        ]
        places = {code: at for at, code in enumerate(named)}
        columns = np.array([places[code] for code in sample.languages], np.int64)
        counts = np.bincount(columns, minlength=len(named))
        weight_of = np.where(counts > 0, np.maximum(counts, 1.0) ** -_EVENNESS, 0.0)
        weights = weight_of[columns] / weight_of[columns].mean()
        shares = counts * weight_of
        priors = np.full(len(named), _ABSENT)
        np.log(shares / shares.sum(), out=priors, where=shares > 0)
        tokens = tokens_of(named)
        pairs, pair_of_token = _indexed([(t.kind, t.reason, t.language) for t in tokens])
        has_model = [places[code] < n_classified for _, _, code in pairs]
        groups, group_of_pair = _indexed(
            [(kind, reason, flag) for (kind, reason, _), flag in zip(pairs, has_model, strict=True)]
        )
        return cls(
            named,
            sites,
            np.ascontiguousarray(sample.scores, np.float32),
            _unseen_shares(sites, named),
            tokens,
            _pair_matrix(sample.urls, tokens, pair_of_token, len(pairs)),
            pair_of_token,
            np.array([places[code] for _, _, code in pairs], np.int64),
            group_of_pair,
            columns,
            weights.astype(np.float32),
            priors.astype(np.float32),
            _Weights(
                slope=np.array([3.0]),
                slopes=np.zeros(n_classified),
                mixing=np.zeros((n_classified, n_classified)),
                intercepts=np.zeros(len(named)),
                unclassified=np.array([_UNCLASSIFIED]),
                domain=np.array([0.5]),
                unclassified_domain=np.ones(1),
                groups=np.ones(len(groups)),
                clues=np.zeros(len(pairs)),
            ),
        )


def _indexed(items: Sequence[Any]) -> tuple[list[Any], Columns]:
    """Return the distinct items in order, and the index of each item."""
    distinct = sorted(set(items))
    places = {item: at for at, item in enumerate(distinct)}
    return distinct, np.array([places[item] for item in items], np.int64)


def _pair_matrix(urls: Sequence[str], tokens: Sequence[Token], pairs: Columns, n_pairs: int) -> Any:
    from scipy.sparse import csr_matrix

    keys = np.array([clues.key_of(token.kind, token.text) for token in tokens], np.uint64)
    known_keys, places = np.unique(keys, return_inverse=True)
    rows = clues.find_clues(encode(urls), len(urls), known_keys)
    at, slot = np.nonzero(rows >= 0)
    entries = np.ones(len(at), np.float32), (at, rows[at, slot])
    stands_for = np.ones(len(keys), np.float32), (places, pairs)
    of_keys = csr_matrix(stands_for, (len(known_keys), n_pairs))
    matrix = (csr_matrix(entries, (len(urls), len(known_keys))) @ of_keys).tocsr()
    matrix.data[:] = 1
    return matrix


def _shares(sites: Sequence[Site], named: Sequence[str], tops: Sequence[str]) -> Vector:
    """Return the log shares of domains, less their means over the languages."""
    logs = domain_shares.log_shares(sites, named, tops)
    shares: Vector = logs - logs.mean(axis=0)
    return shares


def _unseen_shares(sites: Sequence[Site], named: Sequence[str]) -> Floats:
    """Return the domain's log shares, counted on other sites; 0 for an IP address."""
    tops = domain_shares.all_tops(sites, named)
    places = {top: at for at, top in enumerate(tops)}
    fold = [int(stable_share(site.name, 0, "domains") * _FOLDS) for site in sites]
    result = np.zeros((len(sites), len(named)), np.float32)
    for left_out in range(_FOLDS):
        others = [site for site, at in zip(sites, fold, strict=True) if at != left_out]
        shares = _shares(others, named, tops)
        for row, site in enumerate(sites):
            if fold[row] == left_out and site.top:
                result[row] = shares[:, places[site.top]]
    return result


def _fitted(design: _Design) -> _Weights:
    from scipy.optimize import minimize

    def loss(values: Vector) -> tuple[float, Vector]:
        return _loss(design, _unflat(values, design.start))

    start, limits = _flat(design.start), {"maxiter": _ITERATIONS}
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options=limits)
    return _unflat(optimum.x, design.start)


def _flat(weights: _Weights) -> Vector:
    return np.concatenate([np.ravel(part) for part in weights]).astype(np.float64)


def _unflat(values: Vector, like: _Weights) -> _Weights:
    parts = np.split(values, np.cumsum([part.size for part in like])[:-1])
    return _Weights(*(part.reshape(old.shape) for part, old in zip(parts, like, strict=True)))


def _mixing(weights: _Weights) -> Floats:
    """Return nats per unit of a decision value, (n_classifiers, n_classifiers)."""
    own = np.diag(weights.slope + weights.slopes)
    return (own + weights.mixing).astype(np.float32)


def _intercepts(weights: _Weights) -> Floats:
    intercepts = weights.intercepts.copy()
    intercepts[len(weights.slopes) :] += weights.unclassified
    return intercepts.astype(np.float32)


def _domain_weights(weights: _Weights, n_named: int) -> Floats:
    """Return the top-level domain's weight per language, (n_named,)."""
    n_classified = len(weights.slopes)
    shares = (weights.domain, weights.unclassified_domain)
    return np.repeat(np.concatenate(shares), (n_classified, n_named - n_classified)).astype(
        np.float32
    )


def _logits(design: _Design, weights: _Weights) -> Floats:
    from scipy.sparse import csr_matrix

    n_classified = len(weights.slopes)
    logits = _domain_weights(weights, len(design.named)) * design.domains
    logits[:, :n_classified] += design.scores @ _mixing(weights)
    logits += _intercepts(weights)
    values = (weights.groups[design.group_of_pair] + weights.clues).astype(np.float32)
    places = np.arange(len(values)), design.language_of_pair
    shape = len(values), len(design.named)
    logits += (design.pairs @ csr_matrix((values, places), shape)).toarray()
    return logits


def _loss(design: _Design, weights: _Weights) -> tuple[float, Vector]:
    """Return the negative log posterior, and its gradient, flat."""
    rows = np.arange(len(design.columns))
    shares = _logits(design, weights) + design.priors
    np.exp(shares - shares.max(axis=1, keepdims=True), out=shares)
    shares /= shares.sum(axis=1, keepdims=True)
    right = np.maximum(shares[rows, design.columns], 1e-30)
    value = -float((design.weights * np.log(right)).sum())
    shares[rows, design.columns] -= 1
    shares *= design.weights[:, None]
    gradient = _flat(_gradient(design, weights, shares))
    moved = _flat(weights) - _flat(design.start)
    strengths = [np.full(part.size, pull) for pull, part in zip(_PULL, weights, strict=True)]
    pull = np.concatenate(strengths) * moved
    return value + 0.5 * float(pull @ moved), gradient + pull


def _gradient(design: _Design, weights: _Weights, errors: Floats) -> _Weights:
    n_classified = len(weights.slopes)
    mixing = (design.scores.T @ errors[:, :n_classified]).astype(np.float64)
    own = np.diag(mixing).copy()
    sums = errors.sum(axis=0, dtype=np.float64)
    of_domains = (errors * design.domains).sum(axis=0, dtype=np.float64)
    of_pairs = np.asarray(design.pairs.T @ errors, np.float64)
    clue = of_pairs[np.arange(len(of_pairs)), design.language_of_pair]
    return _Weights(
        slope=np.array([own.sum()]),
        slopes=own,
        mixing=mixing,
        intercepts=sums,
        unclassified=np.array([sums[n_classified:].sum()]),
        domain=of_domains[:n_classified].sum(keepdims=True),
        unclassified_domain=of_domains[n_classified:].sum(keepdims=True),
        groups=np.bincount(design.group_of_pair, clue, len(weights.groups)).astype(np.float64),
        clues=clue,
    )


def _evidence(design: _Design, weights: _Weights) -> Evidence:
    """Return the model parameters; top-level domains are counted on all sites."""
    n_classified, n_named = len(weights.slopes), len(design.named)
    mixing = np.zeros((n_classified, n_named), np.float32)
    mixing[:, :n_classified] = _mixing(weights)
    values = weights.groups[design.group_of_pair] + weights.clues
    nats: dict[int, Vector] = {}
    for token, pair in zip(design.tokens, design.pair_of_token.tolist(), strict=True):
        row = nats.setdefault(clues.key_of(token.kind, token.text), np.zeros(n_named))
        row[design.language_of_pair[pair]] += values[pair]
    tops = domain_shares.all_tops(design.sites, design.named)
    shares = _domain_weights(weights, n_named)[:, None] * _shares(design.sites, design.named, tops)
    nats |= {clues.key_of(clues.TOP, top): shares[:, at] for at, top in enumerate(tops)}
    keys = sorted(nats)
    return Evidence(
        design.named,
        mixing,
        _intercepts(weights),
        np.array(keys, np.uint64),
        np.array([nats[key] for key in keys], np.float16).reshape(len(keys), n_named),
    )
