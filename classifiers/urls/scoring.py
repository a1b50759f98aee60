"""The scores of URLs: sums of the weights of their features, one pass over the bytes of a batch."""

from __future__ import annotations

import math

import numpy as np

from classifiers.compiled import compiled, inlined
from classifiers.urls.codepoints import Bytes
from classifiers.urls.ngrams import MARK_VALUE, features, scratch
from classifiers.weights import Buckets, Codes, Floats, filled, sum_rows


@inlined
def _sum(codes: Codes, buckets: Buckets, count: int) -> int:
    """The sum of the weights of some buckets for one language, in units of its scale."""
    total = 0
    for at in range(count):
        code = int(codes[buckets[at]])
        total += code * abs(code)
    return total


@compiled
def score_one(
    buffer: Bytes, n_urls: int, bits: int, codes: Codes, scale: float, intercept: float
) -> Floats:
    """Decision values of one classifier, (n_urls,); codes are its row, (n_buckets,).

    A weight is code * |code| * scale: fine steps where most weights are, near zero.
    """
    grams, marks = scratch()
    scores = np.empty(n_urls, np.float32)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = features(buffer, start, bits, grams, marks)
        total = _sum(codes, marks, n_marks) * MARK_VALUE
        total += _sum(codes, grams, n_grams) / math.sqrt(max(n_grams, 1))
        scores[row] = total * scale + intercept
    return scores


@compiled
def score_many(
    buffer: Bytes,
    n_urls: int,
    bits: int,
    table: Codes,
    scales: Floats,
    intercepts: Floats,
) -> Floats:
    """Decision values of some classifiers, (n_urls, n_languages).

    `table` is that of `table_of`; weights are coded as for `score_one`.
    """
    grams, marks = scratch()
    n_languages, zeros = len(scales), len(table) - 1
    scores = np.empty((n_urls, n_languages), np.float32)
    gram_sums = np.empty(table.shape[1], np.int32)
    mark_sums = np.empty(table.shape[1], np.int32)
    start = 0
    for row in range(n_urls):
        n_grams, n_marks, start = features(buffer, start, bits, grams, marks)
        length = math.sqrt(max(n_grams, 1))
        n_grams = filled(grams, n_grams, zeros)
        n_marks = filled(marks, n_marks, zeros)
        sum_rows(table, grams, n_grams, gram_sums)
        sum_rows(table, marks, n_marks, mark_sums)
        for language in range(n_languages):
            total = mark_sums[language] * MARK_VALUE + gram_sums[language] / length
            scores[row, language] = total * scales[language] + intercepts[language]
    return scores
