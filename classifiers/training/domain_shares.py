"""Shares of top-level domains among a language's sites.

Shares are counted on labelled URLs and smoothed with expected sites, which decide for a language
with few URLs. Half of the expected sites are under country domains, in proportion to the speakers
there, and under the language's own domains; half follow sites of other languages outside their
countries, mostly `com`.

A language without a classifier has few labelled sites, all under its own domains, so that a domain
says too much of it. The sites in all languages limit that (`limited`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr
from langfocus.classifiers.tables.country_domains import GENERIC, OTHER, SHARED, WITHOUT_A_DOMAIN
from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.cctld import top_level_domain
from langfocus.classifiers.urls.posteriors import UNLISTED, WEB_SHARES, Evidence, Prior

_EXPECTED: Final = 10.0
"""Weight of the expectation, in sites."""
_AT_HOME: Final = 0.5
"""Expected site share under domains of the language and its countries."""
_OWN: Final = 0.25
"""Share of the language's own domains within _AT_HOME, for a language with countries."""
_OTHER_LETTERS: Final = 0.2
"""Weight of a non-ASCII domain, relative to the language's ASCII domains."""
_UNOFFICIAL: Final = 0.15
"""Weight of speakers in countries where the language is unofficial."""
_SOLD: Final = 0.2
"""Weight of speakers in a country whose domain is sold worldwide."""
_FEW_SPEAKERS: Final = 0.02
"""Minimum share of speakers in a country, relative to the highest share."""
_FEW_SITES: Final = 20
"""Sites abroad at which a language has full weight in other languages' expectation."""
_LEAST: Final = 1e-6
_MUCH: Final = 3.0
"""Nats from which the evidence of a domain is limited."""
_FITTED: Final = 300.0
"""Weight of the fit beside the labelled sites of a domain, in sites."""
_RARE: Final = 8.0
"""Pages per million: below, a country with other languages has few sites in the language."""

Shares = npt.NDArray[np.float64]


class Site(NamedTuple):
    """A registered domain in a language."""

    name: str
    top: str
    """Top-level domain as letters, lower case; '' for an IP address."""
    language: str


def top_of(url: str) -> str:
    """Return a URL's top-level domain as letters, lower case; '' without a domain."""
    top = top_level_domain(url)
    if top.startswith("xn--"):
        try:
            return top[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return top
    return "" if top.isdigit() else top


def home_domains(language: str) -> dict[str, float]:
    """Return country domain -> population share of speakers, lower if unofficial."""
    return _homes().get(language, {})


def own_domains(language: str) -> list[str]:
    """Return domains of the language, its regions and cities, shared domains included."""
    return [*OTHER.get(language, "").split(), *SHARED.get(language, "").split()]


def log_shares(sites: Sequence[Site], named: Sequence[str], tops: Sequence[str]) -> Shares:
    """Return log shares of top-level domains per language, (n_languages, n_tops).

    Shares combine distinct sites and expectations. `tops` must include every domain of the sites
    and of `all_tops`.
    """
    places = {top: at for at, top in enumerate(tops)}
    rows = {code: at for at, code in enumerate(named)}
    counts = np.zeros((len(named), len(tops)))
    for site in set(sites):
        if site.top:
            counts[rows[site.language], places[site.top]] += 1
    total = counts.sum(axis=1, keepdims=True) + _EXPECTED
    abroad = _abroad(counts, named, places)
    counts += _EXPECTED * np.array([_expected(code, abroad, places) for code in named])
    logs: Shares = np.log(counts / total)
    return logs


def limited(evidence: Evidence, n_classified: int, sites: Iterable[Site]) -> Evidence:
    """Return evidence with what domains say of languages without a classifier limited.

    A URL that has a domain and nothing else gets such a language, by the default prior, with at
    most the language's share of the domain's sites and of the fit's `_FITTED`. A language that is
    rare on the Web has at most half, where others are spoken.
    """
    languages, nats = evidence.languages, evidence.nats.copy()
    base = evidence.intercepts + Prior.evened().log_of(languages)
    is_rare = np.array([WEB_SHARES.get(code, UNLISTED) < _RARE for code in languages])
    shared = {top for code in compress(languages, ~is_rare) for top in home_domains(code)}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for site in set(sites):
        counts[site.top][site.language] += 1
    for top in shared.union(counts):
        key = clues.key_of(clues.TOP, top)
        at = int(np.searchsorted(evidence.keys, key))
        if at == len(nats) or evidence.keys[at] != key:
            continue
        much = nats[at] > _MUCH
        much[:n_classified] = False
        others = np.logaddexp.reduce((base + nats[at])[~much])
        of_language = np.array([counts[top][code] for code in languages])
        with np.errstate(divide="ignore"):  # no site in another language: no limit
            odds = (of_language + _FITTED) / (counts[top].total() - of_language)
        if top in shared:
            odds = np.where(is_rare, np.minimum(odds, 1.0), odds)
        nats[at, much] = np.minimum(nats[at], others + np.log(odds) - base)[much]
    return replace(evidence, nats=nats)


def all_tops(sites: Sequence[Site], named: Sequence[str]) -> list[str]:
    """Return the sorted domains of the sites and the domains expected for the languages."""
    domains = {site.top for site in sites if site.top}
    for code in named:
        domains.update(home_domains(code), own_domains(code))
    return sorted(domains)


@lru_cache(maxsize=1)
def _homes() -> dict[str, dict[str, float]]:
    """Return language -> country domain -> share of speakers."""
    without, sold = WITHOUT_A_DOMAIN.split(), GENERIC.split()
    homes: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for territory, spoken in cldr.spoken_in().items():
        top = "uk" if territory == "GB" else territory.lower()
        if len(top) != 2 or not top.isalpha() or top in without:
            continue
        for speakers in spoken:
            code = languages.canonical(speakers.tag)
            if code:
                share = speakers.percent / 100
                share *= 1 if speakers.status else _UNOFFICIAL
                share *= _SOLD if top in sold else 1
                homes[code][top] = max(homes[code].get(top, 0.0), share)
    return dict(homes)


def _abroad(counts: Shares, named: Sequence[str], places: dict[str, int]) -> Shares:
    """Return each domain's mean share among sites outside their language's countries."""
    counts = counts.copy()
    for row, code in enumerate(named):
        for top in (*home_domains(code), *own_domains(code)):
            counts[row, places[top]] = 0
    counts /= np.maximum(counts.sum(axis=1, keepdims=True), _FEW_SITES)
    mean: Shares = counts.sum(axis=0) + _LEAST
    mean /= mean.sum()
    return mean


def _expected(language: str, abroad: Shares, places: dict[str, int]) -> Shares:
    speakers = home_domains(language)
    least = _FEW_SPEAKERS * max(speakers.values(), default=0.0)
    countries, own = np.zeros_like(abroad), np.zeros_like(abroad)
    for top, share in speakers.items():
        countries[places[top]] = share if share > least else 0.0
    for top in own_domains(language):
        own[places[top]] = 1.0 if top.isascii() else _OTHER_LETTERS
    share = _OWN if countries.any() and own.any() else float(own.any())
    home = (1 - share) * countries / max(countries.sum(), _LEAST)
    home += share * own / max(own.sum(), _LEAST)
    expected: Shares = _AT_HOME * (home if home.any() else abroad) + (1 - _AT_HOME) * abroad
    return expected
