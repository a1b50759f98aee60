"""The scores of URLs: sums of the weights of their features, one pass over the bytes of a batch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from classifiers.compiled import compiled, inlined
from classifiers.urls.codepoints import Bytes
from classifiers.urls.ngrams import MARK_VALUE, features, scratch
from classifiers.weights import Buckets, Codes, Floats, Ints, filled, sum_rows


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
    grams, marks = scratch()
    width = weights.table.shape[1]
    room = Room(grams, marks, np.empty(width, np.int32), np.empty(width, np.int32))
    scores = np.empty((n_urls, len(weights.scales)), np.float32)
    start = 0
    for row in range(n_urls):
        start = score_row(buffer, start, weights, room, scores, row)
    return scores
