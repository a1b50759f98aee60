"""Evidence about a link before the fetch of its page, and its features."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import exp, log
from typing import Final, NamedTuple

from langfocus.crawler.url import domain_of, host_of

_KEPT_URLS = 65_536
MAX_DEPTH = 4
"""Most path segments in a unit of a URL."""


FEATURES: Final = (
    "bias",
    "new host",
    "URL, new host",
    "URL, known host",
    "SVM, new host",
    "SVM, known host",
    "top-level domain",
    "code in the URL",
    "links from relevant pages of other hosts",
    "links from other pages of other hosts",
    "links from relevant pages of the host",
    "links from other pages of the host",
    "declared",
    "registered domain",
    "host",
    "path",
)
"""The names of the features, in the order of the weights."""

# Read by code of classifiers.compiled.
N_FACTS: Final = 5
"""The facts of `Evidence`."""

N_LINKS: Final = 4
"""Inlink counts of a URL: relevant and other pages of other hosts, then of the same host."""

N_UNITS: Final = 6
"""Units of a URL: registered domain, host, and the directories of one to four segments."""

N_KNOWN: Final = N_FACTS + N_LINKS + 2 * N_UNITS
"""Numbers per URL: facts, inlinks, and labelled and relevant pages per unit."""

N_FEATURES: Final = len(FEATURES)

_SURE: Final = 0.999_665
"""Greatest probability by the URL model: log-odds of 8, as for one language."""

DOUBTS_UP_TO: Final = 0.0
"""A URL with these log-odds or less is not expected in the target language."""


class Evidence(NamedTuple):
    """Facts about one link, except inlinks and unit records."""

    named: float = 0.0  # log-odds of the target language by the URL model; 0 without one
    decision: float = 0.0  # the decision value of its classifier; 0 without one
    top_level: float = 0.0  # a mark of `classifiers.urls.facts`, as is the next
    code: float = 0.0
    declared: float = 0.0  # 1: a page or a sitemap names the target language, -1: another

    def first_score(self) -> float:
        """Return a score by a link's URL and declarations."""
        return self.named + self.decision + self.top_level + self.code + self.declared


def either_of(found: Sequence[Evidence]) -> Evidence:
    """Return the evidence that a URL is in one of several languages, from that for each."""
    shares = [probability_of(one.named) for one in found if one.named]
    share = min(sum(shares), _SURE)
    named = log(share / (1.0 - share)) if shares else 0.0
    return Evidence(*map(max, zip(*found, strict=True)))._replace(named=round(named, 2))


NO_EVIDENCE: Final = Evidence()

EvidenceOf = Callable[[Sequence[str], Mapping[str, bool]], Sequence[Evidence]]
"""Returns the evidence about URLs; the mapping has URLs with a declared language, True: the
target's."""


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


def probability_of(odds: float) -> float:
    """Return 1 / (1 + exp(-odds)), without overflow."""
    return 1.0 / (1.0 + exp(-odds)) if odds >= 0 else exp(odds) / (1.0 + exp(odds))
