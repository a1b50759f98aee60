"""Farms of translated and generated pages, recognised by their links.

A farm offers a page in many languages, and links to few other domains. So do some human sites.
Therefore the evidence only changes the order of a crawl: see `Scorer.note`.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p
from operator import mul
from typing import Final, NamedTuple

from langfocus.crawler.url import domain_of, host_of

WEIGHTS: Final = (-7.85, 1.9, -1.15)
"""Weights of the log-odds of a farm, by a logistic regression: `benchmarks.farms --learn ad`."""

TYPICAL: Final = 0.12
"""Share of links to other registered domains: the median of 1,124 real pages."""

MOST_DOMAINS: Final = 10_000
"""Most domains with remembered links."""

_CODE: Final = re.compile(
    r"[/.=_-][a-z]{2}(?:[-_][a-z]{2})?(?=[/.?&\n]|\Z)|\.[a-z]{3}(?=/)", re.ASCII
)
"""What may differ between the URLs of two versions: language, region, top-level domain."""


class LinkFacts(NamedTuple):
    """Facts about the links of a page."""

    outside: float = TYPICAL  # the share of other registered domains, beside versions
    versions: int = 0  # of the page: linked ones, or languages in `hreflang` if these are more


def facts_of(url: str, links: Sequence[str], declared: int) -> LinkFacts:
    """Return the facts about a page's links; all URLs are normalised."""
    start = url.index("//")
    path = url.partition("?")[0]
    tail, own = path[path.rindex("/") :], url[start : url.index("/", start + 2) + 1]
    alike = [link for link in links if tail in link and (tail != "/" or link[-1] == "/")]
    form, *forms = _CODE.sub("", "\n".join([url, *alike])).split("\n")
    versions = {link for link, of in zip(alike, forms, strict=True) if of == form}
    domain, number = domain_of(host_of(url)), len(links) - len(versions)
    others = [link for link in links if own not in link and link not in versions]
    outside = sum(domain_of(host_of(link)) != domain for link in others)
    return LinkFacts(outside / number if number else TYPICAL, max(len(versions), declared))


@dataclass(slots=True)
class _Domain:
    pages: int = 0
    outside: float = TYPICAL
    versions: int = 0

    def features(self) -> tuple[float, float, float]:
        """Return 1, and logarithms of the versions of a page and of the share of outside links."""
        return 1.0, log1p(self.versions / self.pages), log(self.outside / (self.pages + 1))


class Farms:
    """The links of the latest domains with relevant pages."""

    def __init__(self) -> None:
        """Start empty."""
        self.domains: OrderedDict[str, _Domain] = OrderedDict()

    def is_farm(self, domain: str, facts: LinkFacts) -> bool:
        """Return True if a domain is probably a farm, with another relevant page."""
        of = self.domains.setdefault(domain, _Domain())
        self.domains.move_to_end(domain)
        if len(self.domains) > MOST_DOMAINS:
            self.domains.popitem(last=False)
        of.pages += 1
        of.outside += facts.outside
        of.versions += facts.versions
        odds = sum(map(mul, WEIGHTS, of.features()))
        return bool(odds > 0)
