"""The ordering `focus`: all evidence about a link in one probability, learned while crawling."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Final

from langfocus.crawler.strategies.focus.belief import Prior
from langfocus.crawler.strategies.focus.evidence import Evidence, EvidenceOf
from langfocus.crawler.strategies.orderings import LinkSource, Ordering

# Read by code of classifiers.compiled.
DOUBTS_UP_TO: Final = 0.0
"""A URL with these log-odds or less is not expected in the target language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus(Ordering):
    """Most probable first. The frontier learns, and scores queued URLs anew (`Belief`).

    Its scores are by the URLs of links alone; the frontier computes those of its queue.
    `knows_urls` is False if the URL model does not know the language.
    """

    evidence_of: EvidenceOf = field(repr=False)
    prior: Prior = field(repr=False)
    knows_urls: bool = True

    def evidence(self, urls: Sequence[str], source: LinkSource) -> Sequence[Evidence]:
        """Return the evidence about links of a page."""
        declared = dict.fromkeys(source.declared_other, False)
        return self.evidence_of(urls, declared | dict.fromkeys(source.declared, True))


def probability_of(odds: float) -> float:
    """Return 1 / (1 + exp(-odds)), without overflow."""
    return 1.0 / (1.0 + exp(-odds)) if odds >= 0 else exp(odds) / (1.0 + exp(odds))


def first_scores(evidence: Sequence[Evidence]) -> list[float]:
    """Return a score of links by their URLs and by what is declared of them."""
    return [
        each.named + each.decision + each.top_level + each.code + each.declared for each in evidence
    ]


def focus(found: EvidenceOf, prior: Prior, *, knows_urls: bool = True) -> Focus:
    """Return the ordering with a source of evidence and a prior; see `Focus`."""
    return Focus(
        "focus",
        lambda urls, _: first_scores(found(urls, {})),
        doubts_up_to=DOUBTS_UP_TO,
        evidence_of=found,
        prior=prior,
        knows_urls=knows_urls,
    )
