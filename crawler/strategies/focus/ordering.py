"""The ordering `focus`: all evidence about a link in one probability, learned while crawling."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.evidence import Evidence, EvidenceOf, evidence_of
from crawler.strategies.orderings import Draw, LinkSource

# Read by code of classifiers.compiled.
DOUBTS_UP_TO: Final = 0.0
"""A URL with these log-odds or less is not expected in the target language."""


@dataclass(frozen=True, slots=True)
class Focus:
    """Most probable first. The frontier learns, and scores queued URLs anew (`Belief`).

    `knows_urls` is False if the URL model does not know the language.
    """

    evidence_of: EvidenceOf = field(repr=False)
    prior: Prior = field(repr=False)
    knows_urls: bool = True
    name: str = "focus"
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = DOUBTS_UP_TO
    lifts: bool = False

    @classmethod
    def of(cls, language: str, model: Path | None) -> "Focus":
        """Return the ordering for a target language, with the file of a URL model; None: ours."""
        found, knows_urls = evidence_of(language, model)
        return cls(found, Prior.shipped(), knows_urls)

    def evidence(self, urls: Sequence[str], source: LinkSource) -> Sequence[Evidence]:
        """Return the evidence about links of a page."""
        declared = dict.fromkeys(source.declared_other, False) | dict.fromkeys(
            source.declared, True
        )
        return self.evidence_of(urls, declared)

    @staticmethod
    def first_scores(evidence: Sequence[Evidence]) -> Sequence[float]:
        """Return a score of links by their URLs alone; the frontier computes that of its queue."""
        return [each.named + each.decision + each.top_level + each.code for each in evidence]

    def scores(self, urls: Sequence[str], source: LinkSource) -> Sequence[float]:
        """Return a score of links by their URLs alone."""
        return self.first_scores(self.evidence(urls, source))
