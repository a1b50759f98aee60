"""Orderings: a score for each link decides which queued URL is fetched next.

The frontier fetches the highest score first. Among equal scores an ordering wants either the URL
discovered first, or one drawn uniformly from those queued at that moment. To sort URLs by random
numbers would not be uniform: late links compete in fewer draws, so that would favour them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


class Draw(Enum):
    """The choice among several URLs with the same score."""

    FIRST = "first"
    UNIFORM = "uniform"


@dataclass(frozen=True, slots=True)
class LinkSource:
    """The facts about the page of the links that an ordering may use.

    `declared` are the URLs that the page says are in the target language (`hreflang`),
    `declared_other` those that it says are in another.
    """

    is_relevant: bool = True
    depth: int = 0
    declared: Collection[str] = ()
    declared_other: Collection[str] = ()


SEED = LinkSource(depth=-1)
"""The source of seeds: a relevant page one step before them."""


class Ordering(Protocol):
    """A rule that scores links when they are found."""

    @property
    def name(self) -> str:
        """The name of the strategy."""

    @property
    def draw(self) -> Draw:
        """The choice among several URLs with the same score."""

    @property
    def doubts_up_to(self) -> float | None:
        """The highest score of URLs not expected in the target language; None if there is none."""

    @property
    def lifts(self) -> bool:
        """True if a queued URL takes a higher score when a later page links to it."""

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return one score per URL; a higher one is fetched earlier."""


ScoreUrls = Callable[[Sequence[str]], Sequence[float]]
"""Returns the confidence that URLs are in the target language; positive is Yes."""


DECLARED = 1.0
"""The least score of a URL that a page declares to be in the target language.

That of a matching top-level domain, and the margin of an SVM: a surer Yes than most.
"""


def _raised(scores: Sequence[float], urls: Sequence[str], source: LinkSource) -> Sequence[float]:
    """Return scores, those of declared URLs at least `DECLARED`."""
    if not source.declared:
        return scores
    return [
        max(score, DECLARED) if url in source.declared else score
        for url, score in zip(urls, scores, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Random:
    """Uniform over all queued URLs (Baykan 2013, 5.2, "Random")."""

    name: str = "random"
    draw: Draw = Draw.UNIFORM
    doubts_up_to: float | None = None
    lifts: bool = False

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return 0 for every URL."""
        return [0.0] * len(urls)


@dataclass(frozen=True, slots=True)
class BreadthFirst:
    """Nearest to the seeds first, in the order of discovery (Tamura 2007, 5.1, "BFS")."""

    name: str = "bfs"
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = None
    lifts: bool = False

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return minus the distance from the seeds."""
        return [-float(source.depth + 1)] * len(urls)


@dataclass(frozen=True, slots=True)
class Soft:
    """Links of relevant pages first (Tamura 2007, 5.1, "soft focused")."""

    name: str = "soft"
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = None
    lifts: bool = True

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return 1 for links of relevant pages, else 0."""
        return [float(source.is_relevant)] * len(urls)


@dataclass(frozen=True, slots=True)
class CountryDomain:
    """Uniform among URLs whose top-level domain belongs to the language, then among the rest.

    Baykan 2013, 5.2, "ccTLD". The paper does not describe the case that no URL matches.
    """

    score_urls: ScoreUrls
    name: str = "cctld"
    draw: Draw = Draw.UNIFORM
    doubts_up_to: float | None = 0.0
    lifts: bool = False

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return 1 for a matching top-level domain and for declared URLs, else 0."""
        return _raised(self.score_urls(urls), urls, source)


@dataclass(frozen=True, slots=True)
class Confidence:
    """Highest confidence of the URL model first (Baykan 2013, 5.2, "SVM allgrams")."""

    score_urls: ScoreUrls = field(repr=False)
    name: str = "svm"
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = 0.0
    lifts: bool = False

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return the decision value of the target language's binary classifier.

        That of a declared URL is at least `DECLARED`.
        """
        return _raised(self.score_urls(urls), urls, source)
