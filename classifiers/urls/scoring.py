"""URL scores and most probable languages, computed from the bytes of a batch.

A score is a classifier's decision value, a sum of feature weights. Decision values and clues
together form the evidence for each named language.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.compiled import compiled, compiled_for_many, inlined
from langfocus.classifiers.urls.clues import (
    MAX_CLUES,
    NAME_BITS,
    Counts,
    Filter,
    Keys,
    clue_room,
    clues,
    filter_of,
    place_of,
)
from langfocus.classifiers.urls.letters import Points
from langfocus.classifiers.urls.ngrams import MARK_VALUE, features, make_room
from langfocus.classifiers.urls.words import Table, key_in, place_in, weigh_words
from langfocus.classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows

_LANES: Final = 16
"""Languages are padded to a multiple of this number, so that processors add whole vectors."""
_NEGLIGIBLE = -16.0
HOST_KIND: Final = 16
"""Another kind than those of clues and words."""

Places = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]


class Weights(NamedTuple):
    """Classifier weights in the layout of the compiled code."""

    bits: int
    table: Codes
    """See `classifiers.weights.table_of`."""
    scales: Floats
    intercepts: Floats


class Room(NamedTuple):
    """Arrays overwritten for each URL; the last two are as wide as the table."""

    grams: Buckets
    marks: Buckets
    gram_sums: Ints
    mark_sums: Ints


@inlined
def rooms(width: int) -> Room:
    """Return buffers for a table width."""
    grams, marks = make_room()
    return Room(grams, marks, np.empty(width, np.int32), np.empty(width, np.int32))


@inlined
def score_row(
    points: Points, start: int, weights: Weights, room: Room, scores: Floats, row: int
) -> int:
    """Write the decision values for the URL at `start` into a row of `scores`.

    Returns the start of the next URL. A weight is code * |code| * scale: fine steps near zero.
    """
    n_grams, n_marks, after = features(points, start, weights.bits, (room.grams, room.marks))
    length, zeros = math.sqrt(max(n_grams, 1)), len(weights.table) - 1
    n_grams = filled(room.grams, n_grams, zeros)
    n_marks = filled(room.marks, n_marks, zeros)
    sum_rows(weights.table, room.grams, n_grams, room.gram_sums)
    sum_rows(weights.table, room.marks, n_marks, room.mark_sums)
    for language in range(len(weights.scales)):
        total = room.mark_sums[language] * MARK_VALUE + room.gram_sums[language] / length
        scores[row, language] = total * weights.scales[language] + weights.intercepts[language]
    return after


@compiled_for_many
def score_many(points: Points, n_urls: int, weights: Weights) -> Floats:
    """Return the classifiers' decision values, (n_urls, n_languages)."""
    written = rooms(weights.table.shape[1])
    scores = np.empty((n_urls, len(weights.scales)), np.float32)
    start = 0
    for row in range(n_urls):
        start = score_row(points, start, weights, written, scores, row)
    return scores


class Nats(NamedTuple):
    """Evidence in nats for m languages, padded."""

    mixing: Floats
    """Nats per unit of decision value for the first languages, (n_classifiers, n_first)."""
    base: Floats
    """Nats for a URL without features, (m,); -inf in the padding."""
    keys: Keys
    """Keys of the known clues, sorted, (n_clues,)."""
    of_clues: Floats
    """Nats per clue, (n_clues, m)."""
    names: Filter
    """Filter of the clues within host labels."""
    words: Table
    hosts: Table


def nats_of(
    mixing: Floats, base: Floats, keys: Keys, of_clues: Floats, names: Keys, *tables: Table
) -> Nats:
    """Return padded evidence from unpadded arrays; `mixing` is (n_classifiers, m).

    `names` are the keys that are clues within host labels; the tables are of words and hosts.
    """
    n_first = 1 + int(np.flatnonzero(mixing.any(axis=0)).max(initial=0))
    mixed = _padded(mixing[:, :n_first])
    return Nats(mixed, _padded(base, -np.inf), keys, _padded(of_clues), filter_of(names), *tables)


def _padded(values: Floats, fill: float = 0.0) -> Floats:
    """Pad the last axis to a multiple of _LANES; do not copy an axis of such a length."""
    if values.shape[-1] % _LANES == 0:
        return np.ascontiguousarray(values, np.float32)
    width = -(-values.shape[-1] // _LANES) * _LANES
    result = np.full((*values.shape[:-1], width), fill, np.float32)
    result[..., : values.shape[-1]] = values
    return result


@inlined
def _mix(mixing: Floats, scores: Floats, row: int, logits: Floats) -> None:
    """Add the evidence of a URL's decision values."""
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
def weigh(
    nats: Nats,
    base: Floats,
    scores: Floats,
    keys: Keys,
    counts: Counts,
    row: int,
    sums: Floats,
    logits: Floats,
) -> bool:
    """Write a URL's evidence into a row of `logits`; True with a known clue.

    `base` is the prior plus the evidence of a URL without features; `keys` and `counts` are as
    `clues` has them. The same row of `scores` holds the URL's decision values; `sums` is as in
    `weigh_words`. The deepest host that is listed counts.
    """
    for language in range(logits.shape[1]):  # operations on whole arrays take 3 s to compile
        logits[row, language] = base[language]
    _mix(nats.mixing, scores, row, logits)
    is_known = False
    n_clues, n_words, n_hosts = counts
    for at in range(n_clues):
        place = place_of(nats.keys, keys[at])
        if place >= 0:
            is_known = True
            for language in range(logits.shape[1]):
                logits[row, language] += nats.of_clues[place, language]
    weigh_words(nats.words, keys[MAX_CLUES : MAX_CLUES + n_words], sums, row, logits)
    for at in range(2 * MAX_CLUES + n_hosts - 1, 2 * MAX_CLUES - 1, -1):
        place = place_in(nats.hosts, key_in(HOST_KIND, keys[at]))
        if place >= 0:
            logits[row, nats.hosts.columns[place]] += nats.hosts.nats[place]
            return True
    return is_known


@compiled_for_many
def logits_of(points: Points, scores: Floats, nats: Nats, base: Floats) -> tuple[Floats, Flags]:
    """Return the evidence of each URL, (n_urls, m), padded, and flags of URLs with a known clue.

    `scores` are decision values for the URLs in `points`, (n_urls, n_classifiers); `base` is as in
    `weigh`.
    """
    n_urls = len(scores)
    logits, has_clue = np.empty((n_urls, len(base)), np.float32), np.empty(n_urls, np.bool_)
    keys, sums = clue_room(), np.zeros(len(base), np.float32)
    start = 0
    for url in range(n_urls):
        counts, start = clues(points, start, nats.names, keys)
        has_clue[url] = weigh(nats, base, scores, keys, counts, url, sums, logits)
    return logits, has_clue


@compiled
def hosts_of(points: Points, n_urls: int) -> npt.NDArray[np.uint32]:
    """Return the key of each URL's host, or of the first directory, (n_urls,); 0 for none."""
    found, names = clue_room(), np.zeros(1 << NAME_BITS, np.bool_)
    hosts, start = np.zeros(n_urls, np.uint32), 0
    for url in range(n_urls):
        counts, start = clues(points, start, names, found)
        if counts[2]:
            hosts[url] = key_in(HOST_KIND, found[2 * MAX_CLUES + counts[2] - 1])
    return hosts


@inlined
def _exp(x: float) -> float:
    """Return the exponential of x, -16..0, with an absolute error below 1e-5.

    Without calls and branches, processors compute several at once.
    """
    power = x / 256
    power = 1 + power + power * power / 2
    for _ in range(8):
        power *= power
    return power


@compiled_for_many
def best_of(logits: Floats) -> tuple[Places, Floats]:
    """Return the index of each row's largest logit and the softmax share, (n_urls,) each.

    Rows are padded to a multiple of _LANES.
    """
    places, shares = np.empty(len(logits), np.int16), np.empty(len(logits), np.float32)
    sums = np.empty(_LANES)
    for row in range(len(logits)):
        best = int(np.argmax(logits[row]))
        most = np.float64(logits[row, best])
        sums[:] = 0.0
        for first in range(0, logits.shape[1], _LANES):
            for lane in range(_LANES):
                sums[lane] += _exp(max(np.float64(logits[row, first + lane]) - most, _NEGLIGIBLE))
        places[row], shares[row] = best, 1 / sums.sum()
    return places, shares
