"""Codes of languages that are words in URLs: `/run/` is not Rundi, `-bar` is not Bavarian.

A code of three letters is taken for a word if it stands mostly on sites in other languages. It then
names its language only as the value of a parameter of a language (`lang=run`) or before a region.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from classifiers.training import url_tokens
from classifiers.urls import clues
from classifiers.urls.batch import encode

PLACES: Final = (clues.HOST, clues.SEGMENT, clues.SUFFIX, clues.PARAMETER)
"""The kinds of clues in which a code may be a word."""
_LETTERS: Final = 3
_LEAST_SITES: Final = 3
"""Sites in other languages from which a code can be a word."""
_TIMES: Final = 4
"""A word stands on more sites of other languages than on that many times those of its own."""


def found(
    urls: Sequence[str], labels: Sequence[str], sites: Sequence[str], named: Sequence[str]
) -> list[str]:
    """The codes of some languages that are words, sorted.

    `urls`, `labels` (languages) and `sites` (registered domains) belong together.
    """
    tokens = url_tokens.tokens(named)
    codes = [t for t in tokens if t.reason == url_tokens.CODE and len(t.text) == _LETTERS]
    meant: dict[str, set[str]] = defaultdict(set)
    for token in codes:
        meant[token.text].add(token.language)
    texts = {clues.key_of(kind, text): text for text in meant for kind in PLACES}
    keys = sorted(texts)
    batch = encode(urls)
    rows = clues.find_clues(batch.buffer, len(batch), np.array(keys, np.uint64))
    own: dict[str, set[str]] = defaultdict(set)
    other: dict[str, set[str]] = defaultdict(set)
    for url, slot in np.argwhere(rows >= 0).tolist():
        text = texts[keys[rows[url, slot]]]
        (own if labels[url] in meant[text] else other)[text].add(sites[url])
    return sorted(
        text
        for text, where in other.items()
        if len(where) >= _LEAST_SITES and len(where) > _TIMES * len(own[text])
    )
