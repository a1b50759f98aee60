"""Orderings: a score for each link decides which queued URL is fetched next.

The frontier fetches the highest score first. Among equal scores an ordering wants either the URL
discovered first, or one drawn uniformly from those queued at that moment. To sort URLs by random
numbers would not be uniform: late links compete in fewer draws, so that would favour them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum


class Draw(Enum):
    """The choice among several URLs with the same score."""

    FIRST = "first"
    UNIFORM = "uniform"


@dataclass(frozen=True, slots=True)
class LinkSource:
    """The facts about the page of the links that an ordering may use."""

    is_relevant: bool = True
    depth: int = 0
    # URLs that the page says are in the target language (hreflang); only `focus` looks at them.
    declared: Collection[str] = ()
    declared_other: Collection[str] = ()  # those that it says are in another


SEED = LinkSource(depth=-1)
"""The source of seeds: a relevant page one step before them."""

Scores = Callable[[Sequence[str], LinkSource], Sequence[float]]
"""Returns one score per URL of a page's links; a higher one is fetched earlier."""

ScoreUrls = Callable[[Sequence[str]], Sequence[float]]
"""Returns the confidence that URLs are in the target language; positive is Yes."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """A rule that scores links when they are found."""

    name: str
    scores: Scores = field(repr=False)
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = None  # the highest score of URLs not expected in the language
    lifts: bool = False  # a queued URL takes a higher score when a later page links to it


RANDOM = Ordering("random", lambda urls, _: [0.0] * len(urls), Draw.UNIFORM)
"""Uniform over all queued URLs (Baykan 2013, 5.2, "Random")."""

BREADTH_FIRST = Ordering("bfs", lambda urls, source: [-float(source.depth + 1)] * len(urls))
"""Nearest to the seeds first, in the order of discovery (Tamura 2007, 5.1, "BFS")."""

SOFT = Ordering("soft", lambda urls, source: [float(source.is_relevant)] * len(urls), lifts=True)
"""Links of relevant pages first (Tamura 2007, 5.1, "soft focused")."""


def country_domain(score_urls: ScoreUrls) -> Ordering:
    """Uniform among URLs whose top-level domain belongs to the language, then among the rest.

    Baykan 2013, 5.2, "ccTLD". The paper does not describe the case that no URL matches.
    """
    return Ordering("cctld", lambda urls, _: score_urls(urls), Draw.UNIFORM, 0.0)


def confidence(score_urls: ScoreUrls) -> Ordering:
    """Highest confidence of the URL model first (Baykan 2013, 5.2, "SVM allgrams").

    A score is the decision value of the target language's binary classifier.
    """
    return Ordering("svm", lambda urls, _: score_urls(urls), Draw.FIRST, 0.0)
