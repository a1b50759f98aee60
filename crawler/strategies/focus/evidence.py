"""The evidence about a link that is known before its page is fetched."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Final, NamedTuple

from crawler.url import domain_of, host_of

_SAID = {None: 0.0, True: 1.0, False: -1.0}
_KEPT_URLS = 65_536
MAX_DEPTH = 4
"""The most segments of a path that make a unit of a URL."""


class Evidence(NamedTuple):
    """The facts about one link, except the pages that link to it and the record of its units.

    `named` is the log-odds of the target language by the URL model's one calibrated answer, and
    `decision` the decision value of its classifier; both are 0 without such a model. `top_level`
    and `code` are its marks. These four come from
    `classifiers.urls.facts`. `declared` is 1 if a page or a sitemap says that the URL is in the
    target language (`hreflang`), -1 if it names another.
    """

    named: float = 0.0
    decision: float = 0.0
    top_level: float = 0.0
    code: float = 0.0
    declared: float = 0.0


NO_EVIDENCE: Final = Evidence()

EvidenceOf = Callable[[Sequence[str], Mapping[str, bool]], Sequence[Evidence]]
"""Returns the evidence of URLs; the mapping has those with a declared language, True: the target's.
"""


@lru_cache(_KEPT_URLS)
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


def evidence_of(language: str, model: Path | None) -> tuple[EvidenceOf, bool]:
    """Return the function that finds the evidence for a language; True if the URL model knows it.

    `model` is the file of the URL model, None: the one that ships. Raises
    `classifiers.errors.ModelError` if it cannot be read.
    """
    from classifiers.urls.facts import UrlFacts  # numba takes half a second
    from classifiers.urls.model import UrlModel

    facts = UrlFacts(UrlModel.load(model), language)
    kept: dict[str, Evidence] = {}

    def of_urls(urls: Sequence[str], declared: Mapping[str, bool]) -> Sequence[Evidence]:
        new = [url for url in urls if url not in kept]
        if len(kept) + len(new) > _KEPT_URLS:
            kept.clear()
            new = list(urls)
        if new:
            found = starmap(Evidence, facts.of(new).tolist())
            kept.update(zip(new, found, strict=True))
        if not declared:
            return [kept[url] for url in urls]
        return [kept[url]._replace(declared=_SAID[declared.get(url)]) for url in urls]

    return of_urls, facts.has_classifier
