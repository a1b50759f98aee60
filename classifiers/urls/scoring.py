"""The scores of URLs, and the most probable language of each: sums over the bytes of a batch.

A score is the decision value of a classifier, a sum of weights of features. Decision values and
clues together are the evidence for each language that can be named.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.urls.clues import MAX_CLUES, Keys, clues
from classifiers.urls.letters import Bytes
from classifiers.urls.ngrams import MARK_VALUE, features, room
from classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows

_LANES: Final = 16
"""Languages are padded to a multiple of this number, so that processors add whole vectors."""
_TOP_BITS: Final = 12
_TOP_SHIFT = np.uint64(64 - _TOP_BITS)
_NEGLIGIBLE = -16.0

Places = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]


class Weights(NamedTuple):
    """The weights of some classifiers, as the compiled code reads them."""

    bits: int
    table: Codes
    """See `classifiers.weights.table_of`."""
    scales: Floats
    intercepts: Floats


class Room(NamedTuple):
    """Arrays that are written over for each URL; the last two are as wide as the table."""

    grams: Buckets
    marks: Buckets
    gram_sums: Ints
    mark_sums: Ints


@inlined
def rooms(width: int) -> Room:
    """Room for tables of some width."""
    grams, marks = room()
    return Room(grams, marks, np.empty(width, np.int32), np.empty(width, np.int32))


@inlined
def score_row(
    buffer: Bytes, start: int, weights: Weights, room: Room, scores: Floats, row: int
) -> int:
    """Write the decision values of the URL that begins at `start` into a row of `scores`.

    Returns where the next URL begins. A weight is code * |code| * scale: fine steps near zero.
    """
    n_grams, n_marks, after = features(buffer, start, weights.bits, room.grams, room.marks)
    length, zeros = math.sqrt(max(n_grams, 1)), len(weights.table) - 1
    n_grams = filled(room.grams, n_grams, zeros)
    n_marks = filled(room.marks, n_marks, zeros)
    sum_rows(weights.table, room.grams, n_grams, room.gram_sums)
    sum_rows(weights.table, room.marks, n_marks, room.mark_sums)
    for language in range(len(weights.scales)):
        total = room.mark_sums[language] * MARK_VALUE + room.gram_sums[language] / length
        scores[row, language] = total * weights.scales[language] + weights.intercepts[language]
    return after


@compiled
def score_many(buffer: Bytes, n_urls: int, weights: Weights) -> Floats:
    """Decision values of some classifiers, (n_urls, n_languages)."""
    written = rooms(weights.table.shape[1])
    scores = np.empty((n_urls, len(weights.scales)), np.float32)
    start = 0
    for row in range(n_urls):
        start = score_row(buffer, start, weights, written, scores, row)
    return scores


class Nats(NamedTuple):
    """Evidence in nats for m languages, padded."""

    mixing: Floats
    """For each unit of the decision values of the first languages, (n_classifiers, n_first)."""
    base: Floats
    """Of a URL without features, (m,); -inf in the padding."""
    keys: Keys
    """Keys of the known clues, sorted, (n_clues,)."""
    starts: Ints
    """See `starts_of`."""
    of_clues: Floats
    """The evidence of each clue, (n_clues, m)."""


def nats_of(mixing: Floats, base: Floats, keys: Keys, of_clues: Floats) -> Nats:
    """The evidence with `mixing` (n_classifiers, m), without padding."""
    n_first = 1 + int(np.flatnonzero(mixing.any(axis=0)).max(initial=0))
    mixed = _padded(mixing[:, :n_first])
    return Nats(mixed, _padded(base, -np.inf), keys, starts_of(keys), _padded(of_clues))


def starts_of(keys: Keys) -> Ints:
    """The place of the first of sorted keys that begins with each number of 12 bits."""
    firsts = np.arange(1 << _TOP_BITS, dtype=np.uint64) << _TOP_SHIFT
    return np.searchsorted(keys, firsts).astype(np.int32)


def _padded(values: Floats, fill: float = 0.0) -> Floats:
    """The values, their last axis filled up to a multiple of _LANES."""
    width = -(-values.shape[-1] // _LANES) * _LANES
    result = np.full((*values.shape[:-1], width), fill, np.float32)
    result[..., : values.shape[-1]] = values
    return result


@inlined
def place_of(keys: Keys, starts: Ints, clue: np.uint64) -> int:
    """The place of a clue in sorted keys, or -1. Keys are hashes, so few begin alike."""
    at = int(starts[clue >> _TOP_SHIFT])
    while at < len(keys) and keys[at] < clue:
        at += 1
    return at if at < len(keys) and keys[at] == clue else -1


@inlined
def mix(mixing: Floats, scores: Floats, row: int, logits: Floats) -> None:
    """Add the evidence of the decision values of a URL."""
    first = 0
    while first + 4 <= len(mixing):  # each step loads and stores all logits
        a, b = scores[row, first], scores[row, first + 1]
        c, d = scores[row, first + 2], scores[row, first + 3]
        for at in range(mixing.shape[1]):
            both = a * mixing[first, at] + b * mixing[first + 1, at]
            both += c * mixing[first + 2, at] + d * mixing[first + 3, at]
            logits[row, at] += both
        first += 4
    while first < len(mixing):
        a = scores[row, first]
        for at in range(mixing.shape[1]):
            logits[row, at] += a * mixing[first, at]
        first += 1


@inlined
def add_clues(nats: Nats, found: Keys, count: int, row: int, logits: Floats) -> bool:
    """Add the evidence of the first `count` clues of a URL; True if one of them is known."""
    is_known = False
    for at in range(count):
        place = place_of(nats.keys, nats.starts, found[at])
        if place >= 0:
            is_known = True
            for language in range(logits.shape[1]):
                logits[row, language] += nats.of_clues[place, language]
    return is_known


@compiled
def logits_of(buffer: Bytes, scores: Floats, nats: Nats, prior: Floats) -> tuple[Floats, Flags]:
    """The evidence and log-prior of each URL, (n_urls, m), padded, and which have a known clue.

    `scores` are the decision values of the URLs in `buffer`, (n_urls, n_classifiers); `prior` has
    the logarithms of the prior, without padding.
    """
    logits, has_clue = (
        np.empty((len(scores), len(nats.base)), np.float32),
        np.empty(len(scores), np.bool_),
    )
    found = np.empty(MAX_CLUES, np.uint64)
    start = 0
    for url in range(len(scores)):
        logits[url] = nats.base
        for language in range(len(prior)):
            logits[url, language] += prior[language]
        mix(nats.mixing, scores, url, logits)
        count, start = clues(buffer, start, found)
        has_clue[url] = add_clues(nats, found, count, url, logits)
    return logits, has_clue


@compiled
def best_of(logits: Floats) -> tuple[Places, Floats]:
    """The place of the largest logit of each row and its share in the softmax, (n_urls,) each."""
    places, shares = np.empty(len(logits), np.int16), np.empty(len(logits), np.float32)
    for row in range(len(logits)):
        best = 0
        for language in range(1, logits.shape[1]):
            if logits[row, language] > logits[row, best]:
                best = language
        total = 0.0
        for language in range(logits.shape[1]):
            behind = logits[row, language] - logits[row, best]
            if behind > _NEGLIGIBLE:
                total += math.exp(behind)
        places[row], shares[row] = best, 1 / total
    return places, shares
