"""What a URL says about one language, in one pass over a batch: the facts that a crawl learns with.

A crawl asks for a few URLs at a time, between much other work. Then most of the time goes into
memory that the processor has not at hand, so all facts come from one compiled function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.urls.batch import encode
from classifiers.urls.clues import MAX_CLUES, Keys, clues
from classifiers.urls.codepoints import Bytes
from classifiers.urls.marks import MarkTable, mark_table
from classifiers.urls.model import UrlModel
from classifiers.urls.naming import Nats, add_clues, mix, place_of
from classifiers.urls.ngrams import room
from classifiers.urls.posteriors import Prior
from classifiers.urls.scoring import Room, Weights, score_row
from classifiers.weights import Floats

N_FACTS: Final = 4
MOST_NATS: Final = 8.0
"""The most log-odds of one language, for or against it, that a crawl learns with."""
MOST_DECISION: Final = 3.0
"""The largest decision value, for or against a language, that a crawl learns with."""
_NEGLIGIBLE: Final = -40.0

Facts = npt.NDArray[np.float64]


class _Known(NamedTuple):
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


class _Answers(NamedTuple):
    """Room for the decision values, the logits and the clues of one URL."""

    scores: Floats
    logits: Floats
    clues: Keys


class UrlFacts:
    """Finds the facts about URLs for one language; the prior gives it half of all URLs."""

    def __init__(self, model: UrlModel, language: str) -> None:
        """Prepare the arrays that the compiled code reads."""
        names, classifiers = model.named_languages, model.languages
        self.is_named = language in names
        self.has_classifier = language in classifiers
        nats = model.parameters.evidence.of_urls
        base = nats.base.copy()
        if self.is_named:
            base[: len(names)] += Prior.crawl(language).log_of(names)
        self._known = _Known(
            names.index(language) if self.is_named else -1,
            classifiers.index(language) if self.has_classifier else -1,
            model.weights(),
            nats,
            base,
            mark_table(language),
        )

    def of(self, urls: Sequence[str]) -> Facts:
        """Return the facts about URLs, (n_urls, 4).

        The log-odds of the language by the model's one calibrated answer, within `MOST_NATS`; the
        decision value of its classifier, within `MOST_DECISION`; the marks of its top-level domain
        and of its code (`classifiers.urls.marks`). A fact that the model does not know is 0. A
        language that it does not name has no mark of a top-level domain: the weight of that mark
        belongs beside the answer of a model.
        """
        batch = encode(urls)
        found = np.zeros((len(batch), N_FACTS))
        weights, width = self._known.weights, self._known.weights.table.shape[1]
        scratch = Room(*room(), np.empty(width, np.int32), np.empty(width, np.int32))
        answers = _Answers(
            np.empty((1, len(weights.scales)), np.float32),
            np.empty((1, len(self._known.base)), np.float32),
            np.empty(MAX_CLUES, np.uint64),
        )
        _fill(batch.buffer, self._known, answers, scratch, found)
        return found


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
    at = place_of(marks.keys, marks.starts, clue)
    if at >= 0:
        column = 2 + marks.marks[at]
        if marks.signs[at] > 0 or facts[row, column] == 0:
            facts[row, column] = marks.signs[at]


@compiled
def _fill(buffer: Bytes, known: _Known, answers: _Answers, scratch: Room, facts: Facts) -> None:
    scores, logits, found = answers
    start = 0
    for row in range(len(facts)):
        if known.named >= 0 or known.classifier >= 0:
            score_row(buffer, start, known.weights, scratch, scores, 0)
        count, start = clues(buffer, start, found)
        for at in range(count):
            _mark(known.marks, found[at], facts, row)
        if known.classifier >= 0:
            decision = float(scores[0, known.classifier])
            facts[row, 1] = max(-MOST_DECISION, min(MOST_DECISION, decision))
        if known.named >= 0:
            for at in range(len(known.base)):
                logits[0, at] = known.base[at]
            mix(known.nats.mixing, scores, 0, logits)
            add_clues(known.nats, found, count, 0, logits)
            facts[row, 0] = _log_odds(logits, known.named)
        else:
            facts[row, 2] = 0.0
