"""The last look at the URL that is to be fetched next: it is scored once more before its fetch.

Its score may have changed since it was written: by what the crawl learned, or by a penalty for its
domain. If it is no longer the best, it goes back, and the next best is tried.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from crawler.frontier.base import Lease

# Read by code of classifiers.compiled.
LEAST_CHANGE: Final = 0.2
"""A smaller change of the log-odds is not written."""

MOST_TRIED: Final = 16
"""The most URLs that are scored anew to find the one that is fetched next."""

MOST_PENALTIES: Final = 256
"""So many URLs of crowded domains may get a penalty before the next fetch besides."""


@dataclass(slots=True)
class Candidate:
    """The best URL, which was taken from the queue.

    Its score there was `before`, and is `score` now. `is_penalized` is True if it has a penalty
    that it did not have before.
    """

    lease: Lease
    before: float
    score: float
    is_penalized: bool


C = TypeVar("C", bound=Candidate)


def chosen(
    take: Callable[[], C | None],
    best_other: Callable[[C], float | None],
    put_back: Callable[[C], None],
    waits_up_to: float | None,
) -> C | None:
    """Return the URL that is fetched next, None if `take` has none.

    `take` takes the best URL of the queue, `put_back` gives it back with its new score.
    `best_other` returns the best score of all others; without one, a URL must be better than
    `waits_up_to`, or it waits.
    """
    tries, penalties = MOST_TRIED, MOST_PENALTIES
    while (found := take()) is not None:
        if tries == 1 or not penalties or _keeps_place(found):
            return found
        best = best_other(found)
        if best is not None and found.score >= best:
            return found
        if best is None and (waits_up_to is None or found.score > waits_up_to):
            return found
        put_back(found)
        tries -= not found.is_penalized
        penalties -= found.is_penalized
    return None


def _keeps_place(found: Candidate) -> bool:
    """Return True if a new score is no reason to look at the others."""
    is_close = not found.is_penalized and found.score > found.before - LEAST_CHANGE
    return is_close or found.score >= found.before
