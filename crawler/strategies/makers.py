"""The orderings of a crawl, made for a language and a URL model file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Final

from langfocus.crawler.strategies.focus.evidence import Evidence, EvidenceOf
from langfocus.crawler.strategies.focus.prior import RARE, SHIPPED, Prior
from langfocus.crawler.strategies.orderings import (
    BREADTH_FIRST,
    RANDOM,
    SOFT,
    Ordering,
    confidence,
    country_domain,
    learning,
)

_SAID: Final = {None: 0.0, True: 1.0, False: -1.0}
_KEPT_URLS: Final = 65_536
_RARE_BELOW: Final = 1000
"""Web pages per million; a language with fewer is rare."""


def random(language: str, model: Path | None) -> Ordering:
    return RANDOM


def bfs(language: str, model: Path | None) -> Ordering:
    return BREADTH_FIRST


def soft(language: str, model: Path | None) -> Ordering:
    return SOFT


def cctld(language: str, model: Path | None) -> Ordering:
    from langfocus.classifiers.languages import tlds_of
    from langfocus.classifiers.urls.cctld import score

    ordering = country_domain(lambda urls: [float(x) for x in score(urls, language)])
    return replace(ordering, knows_urls=bool(tlds_of(language)))


def svm(language: str, model: Path | None) -> Ordering:
    from langfocus.classifiers.urls.facts import facts_of
    from langfocus.classifiers.urls.model import load_model

    url_model = load_model(model)
    if language in {*url_model.named_languages} - {*url_model.languages}:
        facts, _ = facts_of(model, language)  # no paper has such languages
        return replace(confidence(lambda urls: facts(urls)[:, 0].tolist()), knows_urls=False)

    def score_urls(urls: Sequence[str]) -> Sequence[float]:
        scores: list[float] = url_model.score(urls, language).tolist()
        return scores

    score_urls([])  # raises before the crawl begins if the model lacks the language
    return confidence(score_urls)


def focus(language: str, model: Path | None) -> Ordering:
    found, knows_urls = evidence_of(language, model)
    return learning(found, prior_of(language), knows_urls=knows_urls)


def prior_of(language: str) -> Prior:
    """Return the prior of a crawl for a language, by its share of the Web."""
    from langfocus.classifiers.urls.posteriors import UNLISTED, WEB_SHARES  # numba, as below

    is_rare = WEB_SHARES.get(language, UNLISTED) < _RARE_BELOW
    return Prior.shipped(RARE if is_rare else SHIPPED)


def evidence_of(language: str, model: Path | None) -> tuple[EvidenceOf, bool]:
    """Return the evidence function for a language, and True if the URL model supports the language.

    `model` is the URL model's file; None for the shipped model. Raises
    `classifiers.errors.ModelError` for an unreadable file.
    """
    from langfocus.classifiers.urls.facts import facts_of  # numba takes half a second

    facts, knows_urls = facts_of(model, language)
    kept: dict[str, Evidence] = {}

    def of_urls(urls: Sequence[str], declared: Mapping[str, bool]) -> Sequence[Evidence]:
        new = [url for url in urls if url not in kept]
        if len(kept) + len(new) > _KEPT_URLS:
            kept.clear()
            new = list(urls)
        if new:
            found = starmap(Evidence, facts(new).tolist())
            kept.update(zip(new, found, strict=True))
        if not declared:
            return [kept[url] for url in urls]
        return [kept[url]._replace(declared=_SAID[declared.get(url)]) for url in urls]

    return of_urls, knows_urls
