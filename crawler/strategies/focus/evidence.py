"""The evidence about a link that is known before its page is fetched."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawler.domains import domain_of
from crawler.url import host_of

_MOST_NATS = 8.0
_MOST_DECISION = 3.0
_LEAST_SHARE = 1e-9
MAX_DEPTH = 4
"""The most segments of a path that make a unit of a URL."""


class Evidence(NamedTuple):
    """The facts about one link, except the pages that link to it and the record of its units.

    `named` is the log-odds of the target language by the URL model's one calibrated answer, and
    `decision` the decision value of its classifier; both are 0 without such a model. `top_level`
    and `code` are the marks of `classifiers.urls.marks`. `declared` is 1 if a page or a sitemap
    says that the URL is in the target language (`hreflang`), -1 if it names another.
    """

    named: float = 0.0
    decision: float = 0.0
    top_level: float = 0.0
    code: float = 0.0
    declared: float = 0.0


EvidenceOf = Callable[[Sequence[str], Mapping[str, bool]], Sequence[Evidence]]
"""Returns the evidence of URLs; the mapping has those with a declared language, True: the target's.
"""


def units_of(url: str) -> tuple[str, ...]:
    """Return the units of a URL: its registered domain, host, and first directories.

    >>> units_of("http://www.a.example.de/docs/2.4/de/index.html")
    ('example.de', 'a.example.de/', 'a.example.de/docs/', 'a.example.de/docs/2.4/', \
'a.example.de/docs/2.4/de/')
    """
    host = host_of(url)
    units = [domain_of(host), f"{host}/"]
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    for segment in path.split("/", MAX_DEPTH)[:MAX_DEPTH]:
        units.append(f"{units[-1]}{segment}/")
    # What stands behind the last slash is the page's own name, not a directory.
    return tuple(units[: 2 + min(MAX_DEPTH, path.count("/"))])


def evidence_of(language: str, model: Path | None) -> EvidenceOf:
    """Return the function that finds the evidence for a target language.

    `model` is the file of the URL model, None: the one that ships. A language that the model lacks
    has the marks of URLs only. Raises `classifiers.errors.ModelError` if it cannot be read.
    """
    from classifiers.urls.marks import marks  # numba takes half a second
    from classifiers.urls.model import UrlModel
    from classifiers.urls.posteriors import Prior

    url_model = UrlModel.load(model)
    prior = Prior.crawl(language)
    named = url_model.named_languages
    column = named.index(language) if language in named else None

    def of_urls(urls: Sequence[str], declared: Mapping[str, bool]) -> Sequence[Evidence]:
        if not urls:
            return []
        odds = decisions = np.zeros(len(urls), np.float32)
        if column is not None:
            share = url_model.shares(urls, prior)[:, column].astype(np.float64)
            share = share.clip(_LEAST_SHARE, 1 - _LEAST_SHARE)
            odds = np.log(share / (1 - share)).clip(-_MOST_NATS, _MOST_NATS).astype(np.float32)
        if language in url_model.languages:
            decisions = url_model.score(urls, language).clip(-_MOST_DECISION, _MOST_DECISION)
        said = [0.0 if (of := declared.get(url)) is None else (1.0 if of else -1.0) for url in urls]
        top_level, code = marks(urls, language).T.astype(np.float64).tolist()
        found = zip(odds.tolist(), decisions.tolist(), top_level, code, said, strict=True)
        return [Evidence(*values) for values in found]

    return of_urls
