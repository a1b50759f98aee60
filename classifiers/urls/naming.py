"""The most probable language of each URL: evidence of decision values and clues, and the best.

Each step works on vectors of languages, padded to the width of the processor's registers.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.compiled import compiled, inlined
from classifiers.urls.clues import MAX_CLUES, Keys, clues
from classifiers.urls.codepoints import Bytes
from classifiers.weights import Floats, Ints

_LANES: Final = 16
"""Languages are padded to a multiple of this number."""
_TOP_BITS: Final = 12
_TOP_SHIFT = np.uint64(64 - _TOP_BITS)
_NEGLIGIBLE = np.float32(-16)
_TAYLOR: Final = tuple(np.float32(1 / math.factorial(n)) for n in range(8, -1, -1))
"""The exponential function by powers, the highest first; on [-1, 0] within 3e-6."""

Places = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]
Answers = tuple[Places, Floats]


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


def logits_of(buffer: Bytes, scores: Floats, nats: Nats, prior: Floats) -> tuple[Floats, Flags]:
    """The evidence and log-prior of each URL, (n_urls, m), padded, and which have a known clue.

    `scores` are the decision values of the URLs in `buffer`, (n_urls, n_classifiers); `prior` has
    the logarithms of the prior, without padding.
    """
    logits = np.empty((len(scores), len(nats.base)), np.float32)
    logits[:] = nats.base
    logits[:, : len(prior)] += prior
    has_clue = np.empty(len(scores), np.bool_)
    _add_evidence(buffer, scores, nats, (logits, has_clue), np.empty(MAX_CLUES, np.uint64))
    return logits, has_clue


def best_of(logits: Floats) -> Answers:
    """The place of the largest logit of each row and its share in the softmax, (n_urls,) each."""
    answers = np.empty(len(logits), np.int16), np.empty(len(logits), np.float32)
    _fill_best(logits, answers, np.empty(_LANES, np.float32))
    return answers


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
def _add_evidence(
    buffer: Bytes, scores: Floats, nats: Nats, answers: tuple[Floats, Flags], found: Keys
) -> None:
    """Add the evidence of decision values and clues; `found` is room for clues."""
    logits, has_clue = answers
    start = 0
    for url in range(len(scores)):
        mix(nats.mixing, scores, url, logits)
        count, start = clues(buffer, start, found)
        has_clue[url] = add_clues(nats, found, count, url, logits)


@inlined
def _best(logits: Floats, row: int, most: Floats) -> int:
    """The place of the first of the largest logits of a row."""
    for lane in range(_LANES):
        most[lane] = logits[row, lane]
    for start in range(_LANES, logits.shape[1], _LANES):
        for lane in range(_LANES):
            most[lane] = max(most[lane], logits[row, start + lane])
    best = most[0]
    for lane in range(1, _LANES):
        best = max(best, most[lane])
    at = 0
    while logits[row, at] < best:
        at += 1
    return at


@inlined
def _share(logits: Floats, row: int, best: np.float32, totals: Floats) -> np.float32:
    """The share of the largest logit of a row in the softmax; terms below 1e-7 are left out.

    exp(x) is exp(x / 16)**16, which loses precision only where it is close to 0. It is computed for
    a vector of languages at a time.
    """
    for lane in range(_LANES):
        totals[lane] = 0
    for start in range(0, logits.shape[1], _LANES):
        for lane in range(_LANES):
            behind = logits[row, start + lane] - best
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


@compiled
def _fill_best(logits: Floats, answers: Answers, lanes: Floats) -> None:
    """Write the answers of `best_of`; `lanes` is room."""
    places, shares = answers
    for row in range(len(logits)):
        best = _best(logits, row, lanes)
        places[row], shares[row] = best, _share(logits, row, logits[row, best], lanes)
