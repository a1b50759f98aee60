"""The most probable language of each URL of a batch, in one pass over its bytes.

For each URL the decision values, their evidence, the clues and the prior are added up and the best
language is taken while all of it is in the processor's cache. No table (n_urls, n_languages) is
written: on the languages that ship, that table costs as much as the sums of weights.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import borrowing, step
from classifiers.urls.clues import MAX_CLUES, Keys, clues
from classifiers.urls.codepoints import Bytes
from classifiers.urls.ngrams import MARK_VALUE, features, scratch_arrays
from classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows

_LANES: Final = 16
"""Languages are padded to a multiple of this number."""
_ROWS: Final = 4
"""Classifiers are padded to a multiple of this number."""
_TOP_BITS: Final = 12
_TOP_SHIFT = np.uint64(64 - _TOP_BITS)
_NEGLIGIBLE = np.float32(-16)
_TAYLOR: Final = tuple(np.float32(1 / math.factorial(n)) for n in range(8, -1, -1))
"""The exponential function by powers, the highest first; on [-1, 0] within 3e-6."""

Places = npt.NDArray[np.int16]
Answers = tuple[Places, Floats]


class Classifiers(NamedTuple):
    """The binary classifiers of n languages."""

    table: Codes
    """Of `classifiers.weights.table_of`."""
    scales: Floats
    intercepts: Floats
    bits: int


class Nats(NamedTuple):
    """Evidence in nats for m languages, padded."""

    mixing: Floats
    """For each unit of the decision values of the first languages, (n_classifiers, n_first)."""
    base: Floats
    """Of a URL without features, with the logarithm of the prior, (m,); -inf in the padding."""
    keys: Keys
    """Keys of the known clues, sorted, (n_clues,)."""
    starts: Ints
    """The place of the first key that begins with each number of 12 bits."""
    of_clues: Floats
    """The evidence of each clue, (n_clues, m)."""


class _Room(NamedTuple):
    """Arrays for the steps of one URL."""

    grams: Buckets
    marks: Buckets
    clues: Keys
    gram_sums: Ints
    mark_sums: Ints
    scores: Floats
    logits: Floats
    lanes: Floats


def nats_of(mixing: Floats, base: Floats, keys: Keys, of_clues: Floats) -> Nats:
    """The evidence with `mixing` (n_classifiers, m), without padding."""
    n_first = 1 + int(np.flatnonzero(mixing.any(axis=0)).max(initial=0))
    n_rows = -(-len(mixing) // _ROWS) * _ROWS
    mixed = np.zeros((n_rows, n_first), np.float32)
    mixed[: len(mixing)] = mixing[:, :n_first]
    firsts = np.arange(1 << _TOP_BITS, dtype=np.uint64) << _TOP_SHIFT
    starts = np.searchsorted(keys, firsts).astype(np.int32)
    return Nats(_padded(mixed), _padded(base, -np.inf), keys, starts, _padded(of_clues))


def with_base(nats: Nats, base: Floats) -> Nats:
    """The same evidence with another base, (m,), without padding."""
    return nats._replace(base=_padded(base, -np.inf))


def name_many(buffer: Bytes, n_urls: int, classifiers: Classifiers, nats: Nats) -> Answers:
    """The place of the most probable language of each URL and its probability, (n_urls,) each.

    The place is -1, and the probability 0, where a URL has neither a weight nor a known clue.
    """
    grams, marks = scratch_arrays()
    n_summed = classifiers.table.shape[1]
    room = _Room(
        grams,
        marks,
        np.empty(MAX_CLUES, np.uint64),
        np.empty(n_summed, np.int32),
        np.empty(n_summed, np.int32),
        np.zeros(len(nats.mixing), np.float32),
        np.empty(len(nats.base), np.float32),
        np.empty(_LANES, np.float32),
    )
    answers = np.empty(n_urls, np.int16), np.empty(n_urls, np.float32)
    _fill(buffer, answers, classifiers, nats, room)
    return answers


def _padded(values: Floats, fill: float = 0.0) -> Floats:
    """The values, their last axis filled up to a multiple of _LANES."""
    width = -(-values.shape[-1] // _LANES) * _LANES
    result = np.full((*values.shape[:-1], width), fill, np.float32)
    result[..., : values.shape[-1]] = values
    return result


@step
def _row_of(nats: Nats, clue: np.uint64) -> int:
    """The place of a clue, or -1. Keys are hashes, so few begin alike."""
    keys, at = nats.keys, int(nats.starts[clue >> _TOP_SHIFT])
    while at < len(keys) and keys[at] < clue:
        at += 1
    return at if at < len(keys) and keys[at] == clue else -1


@step
def _decide(classifiers: Classifiers, room: _Room, n_grams: int, n_marks: int) -> bool:
    """Write the decision values; returns whether any feature has a weight."""
    table, scales, intercepts = classifiers.table, classifiers.scales, classifiers.intercepts
    zeros, length = len(table) - 1, math.sqrt(max(n_grams, 1))
    sum_rows(table, room.grams, filled(room.grams, n_grams, zeros), room.gram_sums)
    sum_rows(table, room.marks, filled(room.marks, n_marks, zeros), room.mark_sums)
    differs = False
    for at in range(len(scales)):
        total = room.mark_sums[at] * MARK_VALUE + room.gram_sums[at] / length
        score = np.float32(total * scales[at] + intercepts[at])
        differs |= score != intercepts[at]
        room.scores[at] = score
    return differs


@step
def _mix(nats: Nats, scores: Floats, logits: Floats) -> None:
    """Write the evidence of decision values and the base."""
    mixing, base = nats.mixing, nats.base
    for at in range(len(base)):
        logits[at] = base[at]
    for row in range(0, len(scores), _ROWS):  # each step loads and stores all logits
        a, b, c, d = scores[row], scores[row + 1], scores[row + 2], scores[row + 3]
        for at in range(mixing.shape[1]):
            first = a * mixing[row, at] + b * mixing[row + 1, at]
            logits[at] += first + (c * mixing[row + 2, at] + d * mixing[row + 3, at])


@step
def _add_clues(buffer: Bytes, start: int, nats: Nats, room: _Room) -> bool:
    """Add the evidence of the clues of a URL; returns whether any is known."""
    count, _ = clues(buffer, start, room.clues)
    is_known = False
    for at in range(count):
        row = _row_of(nats, room.clues[at])
        if row >= 0:
            is_known = True
            for language in range(len(room.logits)):
                room.logits[language] += nats.of_clues[row, language]
    return is_known


@step
def _best(logits: Floats, most: Floats) -> int:
    """The place of the first of the largest logits."""
    for lane in range(_LANES):
        most[lane] = logits[lane]
    for start in range(_LANES, len(logits), _LANES):
        for lane in range(_LANES):
            most[lane] = max(most[lane], logits[start + lane])
    best = most[0]
    for lane in range(1, _LANES):
        best = max(best, most[lane])
    at = 0
    while logits[at] < best:
        at += 1
    return at


@step
def _share(logits: Floats, best: np.float32, totals: Floats) -> np.float32:
    """The share of the largest logit in the softmax; terms below 1e-7 are left out.

    exp(x) is exp(x / 16)**16, which loses precision only where it is close to 0. It is computed for
    a vector of languages at a time.
    """
    for lane in range(_LANES):
        totals[lane] = 0
    for start in range(0, len(logits), _LANES):
        for lane in range(_LANES):
            behind = logits[start + lane] - best
            x = max(behind, _NEGLIGIBLE) * np.float32(1 / 16)
            power = _TAYLOR[0]
            for factor in _TAYLOR[1:]:
                power = power * x + factor
            power *= power
            power *= power
            power *= power
            power *= power
            totals[lane] += power if behind > _NEGLIGIBLE else np.float32(0)
    total = np.float32(0)
    for lane in range(_LANES):
        total += totals[lane]
    return np.float32(1) / total


@borrowing
def _fill(
    buffer: Bytes, answers: Answers, classifiers: Classifiers, nats: Nats, room: _Room
) -> None:
    """Write the answers of `name_many`."""
    places, shares = answers
    start = 0
    for row in range(len(places)):
        n_grams, n_marks, after = features(buffer, start, classifiers.bits, room.grams, room.marks)
        has_weight = _decide(classifiers, room, n_grams, n_marks)
        _mix(nats, room.scores, room.logits)
        places[row], shares[row] = -1, 0
        if _add_clues(buffer, start, nats, room) or has_weight:
            best = _best(room.logits, room.lanes)
            places[row] = best
            shares[row] = _share(room.logits, room.logits[best], room.lanes)
        start = after
