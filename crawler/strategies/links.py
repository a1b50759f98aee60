"""Links: an ordering's facts about their page, their scores, and equal scores."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final

from langfocus.crawler.strategies.focus.evidence import Evidence

SCORES: Final = (-(2.0**19), 2048.0)
"""Range of ordering scores; penalties are below, pages of earlier runs above."""


class Draw(Enum):
    """The choice among several URLs with the same score."""

    FIRST = "first"
    UNIFORM = "uniform"


@dataclass(frozen=True, slots=True)
class LinkSource:
    """The facts about the page of the links that an ordering may use."""

    is_relevant: bool = True
    depth: int = 0
    # URLs declared in the target language by the page (hreflang); only `focus` reads them.
    declared: Collection[str] = ()
    declared_other: Collection[str] = ()  # those that it says are in another


SEED = LinkSource(depth=-1)
"""The source of seeds: a relevant page, one step before the seeds."""


@dataclass(frozen=True, slots=True)
class Link:
    """A normalised URL found on a page, with its score by the crawl's ordering.

    With `evidence`, a frontier that learns computes a score below `FIRST_SCORE` from it instead.
    """

    url: str
    score: float
    evidence: Evidence | None = None
