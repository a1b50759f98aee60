"""URL features for one language, in one pass over a batch: the facts a crawl learns from.

A crawl scores few URLs at a time, between much other work. Cold memory then dominates the time, so
a single compiled function computes every fact.

The marks of a language are the top-level domain, and the language code in host name, path or query.
Marks need no training, so marks exist for every project language. Marks of other languages count
against the target language: `/de/` and `.de` for German, `/fr/` and `.fr` against German. 1 is a
mark of the language, -1 of another, 0 none. A URL with a code of the language and another code, as
in `/de/en/`, has 1. A language beyond the project codes has no top-level domain.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.languages import tlds_of
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.clues import (
    HOST,
    KEYED,
    LOCALE,
    SEGMENT,
    SUFFIX,
    TOP,
    Keys,
    clue_room,
    clues,
    key_of,
    place_of,
)
from langfocus.classifiers.urls.letters import Points
from langfocus.classifiers.urls.model import UrlModel, load_model
from langfocus.classifiers.urls.posteriors import Prior
from langfocus.classifiers.urls.scoring import Nats, Weights, rooms, score_row, weigh
from langfocus.classifiers.weights import Floats

N_FACTS: Final = 4
MOST_NATS: Final = 8.0
"""Bound on a language's log-odds, positive or negative, as a fact for a crawl."""
MOST_DECISION: Final = 3.0
"""Bound on a decision value, positive or negative, as a fact for a crawl."""
_NEGLIGIBLE: Final = -40.0

_CODE_PLACES: Final = (HOST, SEGMENT, LOCALE, KEYED, SUFFIX)
"""Clue kinds that may be a code; the value of an arbitrary parameter is too often a word."""

Facts = npt.NDArray[np.float64]


class MarkTable(NamedTuple):
    """Clues that are marks for a language."""

    keys: Keys
    """Sorted, (n,)."""
    values: npt.NDArray[np.int8]
    """Column of the facts that a mark fills, and 1 for the language or -1, (n, 2)."""


_DOMAIN, _CODE = 2, 3


@lru_cache(maxsize=8)
def _mark_table(language: str) -> MarkTable:
    """Return the marks of every language, signed for or against `language`."""
    of_key = {
        key_of(TOP, _as_read(domain)): (_DOMAIN, 1 if code == language else -1)
        for code in PROJECT_CODES
        for domain in tlds_of(code)
    }
    # Other languages count with two-letter codes only: three-letter codes are words too.
    for code in {code for code in PROJECT_CODES if len(code) == 2} | {language}:
        sign = 1 if code == language else -1
        of_key |= {key_of(kind, code): (_CODE, sign) for kind in _CODE_PLACES}
    keys = np.array(sorted(of_key), np.uint64)
    return MarkTable(keys, np.array([of_key[int(key)] for key in keys], np.int8))


def _as_read(domain: str) -> str:
    """Decode a top-level domain to the spelling of `batch.encode`."""
    return domain.encode().decode("idna") if domain.startswith("xn--") else domain


class _Asked(NamedTuple):
    """The target language and the weights, in the layout of the compiled code."""

    named: int
    """Index among the languages the model can identify, or -1."""
    classifier: int
    """Index of the language's classifier, or -1."""
    weights: Weights
    nats: Nats
    base: Floats
    """Log-prior plus the evidence of a URL without features, padded."""
    marks: MarkTable


class UrlFacts:
    """Computes URL facts for a language; the prior assumes half of all URLs in the language."""

    def __init__(self, model: UrlModel, language: str) -> None:
        """Prepare the arrays for the compiled code."""
        names, classifiers = model.named_languages, model.languages
        self.is_named = language in names
        self.has_classifier = language in classifiers
        evidence = model.posterior
        prior = Prior.crawl(language) if self.is_named else Prior.uniform()
        self._asked = _Asked(
            names.index(language) if self.is_named else -1,
            classifiers.index(language) if self.has_classifier else -1,
            model.weights,
            evidence.of_urls,
            evidence.base(prior),
            _mark_table(language),
        )

    def of(self, urls: Sequence[str]) -> Facts:
        """Return the facts about URLs, (n_urls, 4).

        The facts: the language's calibrated log-odds, within `MOST_NATS`; the classifier's decision
        value, within `MOST_DECISION`; the mark of the top-level domain; the mark of the code. A
        fact unknown to the model is 0. A language without calibrated log-odds has no top-level
        domain mark, whose weight only complements a model's log-odds.
        """
        return _facts(encode(urls), len(urls), self._asked)


def facts_of(path: Path | None, language: str) -> tuple[Callable[[Sequence[str]], Facts], bool]:
    """Return `UrlFacts.of` with the model at a path, and True if the model scores the language.

    The first two facts are made from a plug-in's log-odds; a plug-in changes no marks.
    """
    model = load_model(path)
    if isinstance(model, UrlModel):
        facts = UrlFacts(model, language)
        return facts.of, facts.has_classifier
    marks, knows = UrlFacts(UrlModel.load(), language), language in model.languages

    def of(urls: Sequence[str]) -> Facts:
        found = marks.of(urls)
        odds = model.score(urls, language) if knows else np.zeros(len(urls))
        found[:, 0] = np.clip(odds, -MOST_NATS, MOST_NATS)
        found[:, 1] = np.clip(odds, -MOST_DECISION, MOST_DECISION)
        return found

    return of, knows


@inlined
def _log_odds(logits: Floats, place: int) -> float:
    """Return a logit's log-odds against all other logits, within `MOST_NATS`."""
    most = -math.inf
    for at in range(logits.shape[1]):
        if at != place and logits[0, at] > most:
            most = float(logits[0, at])
    others = 0.0
    for at in range(logits.shape[1]):
        behind = logits[0, at] - most
        if at != place and behind > _NEGLIGIBLE:
            others += math.exp(behind)
    odds = logits[0, place] - most - math.log(others)
    return float(np.float32(max(-MOST_NATS, min(MOST_NATS, odds))))


@inlined
def _mark(marks: MarkTable, clue: np.uint64, facts: Facts, row: int) -> None:
    """Record a clue's mark, if any; the language's mark overrides another language's mark."""
    at = place_of(marks.keys, clue)
    if at >= 0:
        column, sign = marks.values[at]
        if sign > 0 or facts[row, column] == 0:
            facts[row, column] = sign


@compiled
def _facts(points: Points, n_urls: int, asked: _Asked) -> Facts:
    facts, room = np.zeros((n_urls, N_FACTS)), rooms(asked.weights.table.shape[1])
    scores = np.empty((1, len(asked.weights.scales)), np.float32)
    logits = np.empty((1, len(asked.base)), np.float32)
    found, sums = clue_room(), np.zeros(len(asked.base), np.float32)
    start = 0
    for row in range(n_urls):
        if asked.named >= 0 or asked.classifier >= 0:
            score_row(points, start, asked.weights, room, scores, 0)
        counts, start = clues(points, start, asked.nats.names, found)
        for at in range(counts[0]):
            _mark(asked.marks, found[at], facts, row)
        if asked.classifier >= 0:
            decision = float(scores[0, asked.classifier])
            facts[row, 1] = max(-MOST_DECISION, min(MOST_DECISION, decision))
        if asked.named >= 0:
            weigh(asked.nats, asked.base, scores, found, counts, 0, sums, logits)
            facts[row, 0] = _log_odds(logits, asked.named)
        else:
            facts[row, _DOMAIN] = 0.0
    return facts
