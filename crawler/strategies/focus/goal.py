"""The goals of the ordering `focus`: what a crawl seeks, and which URL is then fetched first.

A crawl that seeks pages takes the most probable URL first: its rank in the queue is its log-odds.
With another goal the rank also follows from the host of the URL. A rank is above 0 exactly if the
log-odds are, so an expected URL goes before a doubtful one whatever is sought.
"""

import math
from typing import Final

RELEVANT: Final = "relevant"
SERVERS: Final = "servers"
WORDS: Final = "words"
COVERAGE: Final = "coverage"

GOALS: Final = (RELEVANT, SERVERS, WORDS, COVERAGE)
"""The values of `-a goal`."""

WORD_STRENGTH: Final = 2.0
"""A host has the mean words of the crawl until its relevant pages outweigh so many such pages."""

_APART: Final = 1024.0
_BASE: Final = 32.0
_MOST_WORTH: Final = 16.0
_GRAIN: Final = 1048576.0


def rank_for_servers(odds: float, *, is_known: bool) -> float:
    """Return the rank of a URL for the most relevant servers.

    `is_known` is True if its host gave a relevant page. Then the URL comes after all URLs of other
    hosts, but an expected one before doubtful ones.
    """
    if odds > 0:
        return odds if is_known else odds + _APART
    return odds - _APART if is_known else odds


def rank_for_words(odds: float, pages: int, words: int, mean: float) -> float:
    """Return the rank of a URL for the most words: the logarithm of the words to be expected.

    Its host gave `words` words on `pages` relevant pages. `mean` is the mean number of words of a
    relevant page in the crawl, 0 before there is any.
    """
    worth = 0.0
    if mean > 0:
        expected = (words / mean + WORD_STRENGTH) / (pages + WORD_STRENGTH)
        worth = max(-_MOST_WORTH, min(_MOST_WORTH, math.log(expected)))
    # log p, without overflow
    share = -math.log1p(math.exp(-odds)) if odds > 0 else odds - math.log1p(math.exp(odds))
    ranked = _BASE + share + worth if odds > 0 else min(0.0, share + worth - _BASE)
    return math.floor(ranked * _GRAIN + 0.5) / _GRAIN
