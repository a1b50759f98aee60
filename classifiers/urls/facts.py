"""What a URL says about one language, in one pass over a batch: the facts that a crawl learns with.

A crawl asks for a few URLs at a time, between much other work. Then most of the time goes into
memory that the processor has not at hand, so all facts come from one compiled function.

The marks of a language are its top-level domain, and its code in name, path or query. They need no
training, so they exist for every language of the project. Marks of other languages speak against
it: `/de/` and `.de` for German, `/fr/` and `.fr` against it. 1 stands for the language, -1 for
another, 0 for none. A URL with a code of the language and one of another, as in `/de/en/`, has 1.
A language beyond the project's codes has no top-level domain.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, inlined
from langfocus.classifiers.languages import known, tlds_of
from langfocus.classifiers.urls.batch import encode
from langfocus.classifiers.urls.clues import (
    HOST,
    KEYED,
    LOCALE,
    MAX_CLUES,
    SEGMENT,
    SUFFIX,
    TOP,
    Keys,
    clues,
    key_of,
    place_of,
)
from langfocus.classifiers.urls.letters import Points
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.posteriors import Prior
from langfocus.classifiers.urls.scoring import Nats, Weights, rooms, score_row, weigh
from langfocus.classifiers.weights import Floats

N_FACTS: Final = 4
MOST_NATS: Final = 8.0
"""The most log-odds of one language, for or against it, that a crawl learns with."""
MOST_DECISION: Final = 3.0
"""The largest decision value, for or against a language, that a crawl learns with."""
_NEGLIGIBLE: Final = -40.0

_CODE_PLACES: Final = (HOST, SEGMENT, LOCALE, KEYED, SUFFIX)
"""The kinds of clues that a code may be; the value of any parameter is too often a word."""

Facts = npt.NDArray[np.float64]


class MarkTable(NamedTuple):
    """The clues that are marks for one language."""

    keys: Keys
    """Sorted, (n,)."""
    values: npt.NDArray[np.int8]
    """The column of the facts that a mark fills, and 1 for the language or -1, (n, 2)."""


_DOMAIN, _CODE = 2, 3


@lru_cache(maxsize=8)
def _mark_table(language: str) -> MarkTable:
    """The marks of all languages, as they speak for or against one."""
    of_key = {
        key_of(TOP, _as_read(domain)): (_DOMAIN, 1 if code == language else -1)
        for code in known()
        for domain in tlds_of(code)
    }
    # Of other languages only codes of two letters: those of three are words too.
    for code in {code for code in known() if len(code) == 2} | {language}:
        sign = 1 if code == language else -1
        of_key |= {key_of(kind, code): (_CODE, sign) for kind in _CODE_PLACES}
    keys = np.array(sorted(of_key), np.uint64)
    return MarkTable(keys, np.array([of_key[int(key)] for key in keys], np.int8))


def _as_read(domain: str) -> str:
    """A top-level domain as the reader of URLs spells it: decoded."""
    return domain.encode().decode("idna") if domain.startswith("xn--") else domain


class _Asked(NamedTuple):
    """What is known of the language that is asked about, and the weights.

    `named` is its place among the languages that the model names, `classifier` that of its
    classifier; each is -1 without it. `base` is the evidence of a URL without features and the
    logarithm of the prior, padded.
    """

    named: int
    classifier: int
    weights: Weights
    nats: Nats
    base: Floats
    marks: MarkTable


class UrlFacts:
    """Finds the facts about URLs for one language; the prior gives it half of all URLs."""

    def __init__(self, model: UrlModel, language: str) -> None:
        """Prepare the arrays that the compiled code reads."""
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

        The log-odds of the language by the model's one calibrated answer, within `MOST_NATS`; the
        decision value of its classifier, within `MOST_DECISION`; the marks of its top-level domain
        and of its code. A fact that the model does not know is 0. A
        language that it does not name has no mark of a top-level domain: the weight of that mark
        belongs beside the answer of a model.
        """
        return _facts(encode(urls), len(urls), self._asked)


@inlined
def _log_odds(logits: Floats, place: int) -> float:
    """Return the log-odds of one of some logits against all others, within `MOST_NATS`."""
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
    """Note the mark that a clue may be; one of the language counts more than one of another."""
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
    found = np.empty(MAX_CLUES, np.uint64)
    start = 0
    for row in range(n_urls):
        if asked.named >= 0 or asked.classifier >= 0:
            score_row(points, start, asked.weights, room, scores, 0)
        count, start = clues(points, start, found)
        for at in range(count):
            _mark(asked.marks, found[at], facts, row)
        if asked.classifier >= 0:
            decision = float(scores[0, asked.classifier])
            facts[row, 1] = max(-MOST_DECISION, min(MOST_DECISION, decision))
        if asked.named >= 0:
            weigh(asked.nats, asked.base, scores, (found, count), 0, logits)
            facts[row, 0] = _log_odds(logits, asked.named)
        else:
            facts[row, _DOMAIN] = 0.0
    return facts
