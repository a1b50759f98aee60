"""Orderings: a score for each link decides which queued URL is fetched next.

The frontier fetches the highest score first. Among equal scores an ordering wants either the URL
discovered first, or one drawn uniformly from those queued at that moment. To sort URLs by random
numbers would not be uniform: late links compete in fewer draws, so that would favour them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Final, Protocol

from langfocus.classifiers.plugins import Plugin
from langfocus.crawler.strategies.focus.evidence import (
    DOUBTS_UP_TO,
    Evidence,
    EvidenceOf,
    either_of,
)
from langfocus.crawler.strategies.focus.prior import Prior
from langfocus.crawler.strategies.links import SCORES, Draw, Link, LinkSource

Scores = Callable[[Sequence[str], LinkSource], Sequence[float]]
"""Returns one score per link URL of a page; higher scores are fetched earlier."""

ScoreUrls = Callable[[Sequence[str]], Sequence[float]]
"""Returns the confidence that URLs are in the target language; positive is Yes."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """A rule that scores links when they are found.

    With a `prior` the frontier learns from each page, and scores queued URLs anew from the evidence
    that `evidence_of` finds (`strategies.focus.belief.Belief`).
    """

    name: str
    scores: Scores = field(repr=False)
    draw: Draw = Draw.FIRST
    doubts_up_to: float | None = None  # the highest score of URLs not expected in the language
    lifts: bool = False  # a queued URL takes a higher score when a later page links to it
    prior: Prior | None = field(default=None, repr=False)
    evidence_of: EvidenceOf | None = field(default=None, repr=False)
    knows_urls: bool = True  # False: no classifier, or no top-level domain, of the language

    def links(self, urls: Sequence[str], source: LinkSource) -> list[Link]:
        """Return the links of a page, scored in one batch; with evidence if the frontier learns."""
        if not urls:
            return []
        if self.evidence_of is None:
            scores = self.scores(urls, source)
            return [Link(url, score) for url, score in zip(urls, scores, strict=True)]
        declared = dict.fromkeys(source.declared_other, False)
        found = self.evidence_of(urls, declared | dict.fromkeys(source.declared, True))
        return [Link(url, of.first_score(), of) for url, of in zip(urls, found, strict=True)]


class ScoresLinks(Protocol):
    """An ordering of a plug-in: an `Ordering`, or an object with this method.

    The attributes `draw`, `doubts_up_to` and `lifts` mean what they mean in `Ordering`.
    """

    def scores(self, urls: Sequence[str], source: LinkSource, /) -> Sequence[float]:
        """Return one score per normalised link URL of a page, within `SCORES`.

        Higher scores are fetched earlier. Equal arguments always return equal scores: readers and
        workers call the method in separate processes.
        """


MakesOrdering = Callable[[str, Path | None], ScoresLinks]
"""Returns the ordering for a target language and the value of LANGFOCUS_URL_MODEL, or None."""

_GRAIN: Final = 2.0**20
"""Scores are multiples of the inverse, so that penalties can be read from scores."""


def of_plugin(plugin: Plugin, make: MakesOrdering, language: str, model: Path | None) -> Ordering:
    """Return a plug-in's ordering; raises `PluginError`, also later, from its scores."""
    with plugin.blamed():
        made = make(language, model)
        names = [one.name for one in fields(Ordering) if hasattr(made, one.name)]
        given = {name: getattr(made, name) for name in names}
        draw, doubts = Draw(given.get("draw", Draw.FIRST)), given.get("doubts_up_to")

        def scores(urls: Sequence[str], source: LinkSource) -> list[float]:
            with plugin.blamed():
                exact = map(float, made.scores(urls, source))
                found = [round(score * _GRAIN) / _GRAIN for score in exact]
                if len(found) != len(urls):
                    raise ValueError(f"{len(found)} scores for {len(urls)} URLs")
                least, most = SCORES
                if wrong := [score for score in found if not least < score < most]:
                    raise ValueError(f"a score of {wrong[0]}: not between {least} and {most}")
                return found

        scores(["http://example.org/"], LinkSource())
        own = {"name": plugin.name, "scores": scores, "draw": draw}
        own["doubts_up_to"] = None if doubts is None else float(doubts)
        return Ordering(**{**given, **own})


RANDOM = Ordering("random", lambda urls, _: [0.0] * len(urls), Draw.UNIFORM)
"""Uniform over all queued URLs (Baykan 2013, 5.2, "Random")."""

BREADTH_FIRST = Ordering("bfs", lambda urls, source: [-float(source.depth + 1)] * len(urls))
"""Nearest to the seeds first, in the order of discovery (Tamura 2007, 5.1, "BFS")."""

SOFT = Ordering("soft", lambda urls, source: [float(source.is_relevant)] * len(urls), lifts=True)
"""Links of relevant pages first (Tamura 2007, 5.1, "soft focused")."""


def country_domain(score_urls: ScoreUrls) -> Ordering:
    """Draw among URLs whose top-level domain belongs to the language, then among the rest.

    Baykan 2013, 5.2, "ccTLD". The paper does not describe the case that no URL matches.
    """
    return Ordering("cctld", lambda urls, _: score_urls(urls), Draw.UNIFORM, 0.0)


def confidence(score_urls: ScoreUrls) -> Ordering:
    """Fetch the highest confidence of the URL model first (Baykan 2013, 5.2, "SVM allgrams").

    A score is the decision value of the target language's binary classifier, or the log-odds of a
    language without one.
    """
    return Ordering("svm", lambda urls, _: score_urls(urls), Draw.FIRST, 0.0)


def either(found: Sequence[Ordering]) -> Ordering:
    """Return the ordering of a crawl for several languages from those for one of each.

    A score is the best of all. So is a fact of the evidence, but the log-odds of the URL model are
    those of the sum of probabilities: what one of two close languages loses the other one has.
    The prior is that of a rare language only if all are rare.
    """
    first, *others = found
    if not others:
        return first

    def scores(urls: Sequence[str], source: LinkSource) -> list[float]:
        return list(map(max, zip(*(one.scores(urls, source) for one in found), strict=True)))

    knows_urls = all(one.knows_urls for one in found)
    every = [one.evidence_of for one in found if one.evidence_of is not None]

    def evidence(urls: Sequence[str], declared: Mapping[str, bool]) -> list[Evidence]:
        return list(map(either_of, zip(*(of(urls, declared) for of in every), strict=True)))

    evidence_of = evidence if every else None
    prior = Prior.shipped() if Prior.shipped() in [one.prior for one in found] else first.prior
    return replace(
        first, scores=scores, prior=prior, evidence_of=evidence_of, knows_urls=knows_urls
    )


def learning(found: EvidenceOf, prior: Prior, *, knows_urls: bool = True) -> Ordering:
    """Return the ordering with an evidence source and a prior: most probable first.

    Its own scores use link URLs alone; the frontier computes the scores of its queue.
    """
    return Ordering(
        "focus",
        lambda urls, _: list(map(Evidence.first_score, found(urls, {}))),
        doubts_up_to=DOUBTS_UP_TO,
        prior=prior,
        evidence_of=found,
        knows_urls=knows_urls,
    )
