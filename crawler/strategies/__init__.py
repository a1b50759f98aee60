"""The orderings of a crawl by their names. The live crawl and the simulator both call them.

This code uses neither Scrapy nor a clock.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from langfocus.crawler.strategies.orderings import (
    BREADTH_FIRST,
    RANDOM,
    SOFT,
    Ordering,
    confidence,
    country_domain,
)


def _cctld(language: str, model: Path | None) -> Ordering:
    from langfocus.classifiers.urls.cctld import score

    return country_domain(lambda urls: [float(x) for x in score(urls, language)])


def _svm(language: str, model: Path | None) -> Ordering:
    from langfocus.classifiers.urls.model import UrlModel

    url_model = UrlModel.load(model)

    def score_urls(urls: Sequence[str]) -> Sequence[float]:
        scores: list[float] = url_model.score(urls, language).tolist()
        return scores

    score_urls([])  # raises before the crawl begins if the model lacks the language
    return confidence(score_urls)


def _focus(language: str, model: Path | None) -> Ordering:
    from langfocus.crawler.strategies.focus.belief import Prior
    from langfocus.crawler.strategies.focus.evidence import evidence_of
    from langfocus.crawler.strategies.focus.ordering import focus

    found, knows_urls = evidence_of(language, model)
    return focus(found, Prior.shipped(), knows_urls=knows_urls)


_MAKERS: dict[str, Callable[[str, Path | None], Ordering]] = {
    "random": lambda *_: RANDOM,
    "bfs": lambda *_: BREADTH_FIRST,
    "soft": lambda *_: SOFT,
    "cctld": _cctld,
    "svm": _svm,
    "focus": _focus,
}

ORDERINGS = tuple(_MAKERS)
"""The names of the orderings."""


def make_ordering(name: str, language: str, *, model: Path | None = None) -> Ordering:
    """Return the ordering with that name for a target language.

    `model` is the file of the URL model, None: the one that ships. Raises KeyError for a name not
    in `ORDERINGS`, `classifiers.errors.LanguageError` if the URL model lacks the language, and
    `classifiers.errors.ModelError` if it cannot be read.
    """
    return _MAKERS[name](language, model)
