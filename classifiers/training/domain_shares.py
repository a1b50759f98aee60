"""How often the sites of a language are under each top-level domain.

Counted on labelled URLs. A language with few of them also has those that are expected: half of its
sites under the domains of its countries, in proportion to the speakers there, and under those of
its own; half where sites of other languages are outside of their countries, most under `com`.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr
from langfocus.classifiers.tables.country_domains import GENERIC, OTHER, SHARED, WITHOUT_A_DOMAIN
from langfocus.classifiers.urls.cctld import top_level_domain

_EXPECTED: Final = 10.0
"""Weight of the expectation, in sites."""
_AT_HOME: Final = 0.5
"""Share of the sites that are expected under domains of the language and its countries."""
_OWN: Final = 0.25
"""Share of these that are under domains of the language, if there are countries also."""
_OTHER_LETTERS: Final = 0.2
"""Weight of a domain in letters beyond ASCII, relative to others of a language."""
_UNOFFICIAL: Final = 0.15
"""Weight of speakers where their language is not official."""
_SOLD: Final = 0.2
"""Weight of speakers in a country whose domain is sold worldwide."""
_FEW_SPEAKERS: Final = 0.02
"""Countries with a smaller share of speakers than this, relative to the highest, do not count."""
_FEW_SITES: Final = 20
"""Sites abroad from which a language counts in full for the expectation of others."""
_LEAST: Final = 1e-6

Shares = npt.NDArray[np.float64]


class Site(NamedTuple):
    """A registered domain in a language."""

    name: str
    top: str
    """Its top-level domain in letters, lower case; '' for an address."""
    language: str


def top_of(url: str) -> str:
    """The top-level domain of a URL in letters, lower case; '' if it has none."""
    top = top_level_domain(url)
    if top.startswith("xn--"):
        try:
            return top[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return top
    return "" if top.isdigit() else top


def home_domains(language: str) -> dict[str, float]:
    """Country domains -> share of the population that speaks the language, less if unofficial."""
    return _homes().get(language, {})


def own_domains(language: str) -> list[str]:
    """Domains of the language, its regions and cities, also those that it shares."""
    return [*OTHER.get(language, "").split(), *SHARED.get(language, "").split()]


def log_shares(sites: Sequence[Site], named: Sequence[str], tops: Sequence[str]) -> Shares:
    """Logarithms of the shares of top-level domains in each language, (n_languages, n_tops).

    They are of distinct sites and expectations. `tops` must have every domain of the sites, and
    those of `all_tops`.
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


def all_tops(sites: Sequence[Site], named: Sequence[str]) -> list[str]:
    """The domains of some sites and those that are expected for some languages, sorted."""
    found = {site.top for site in sites if site.top}
    for code in named:
        found.update(home_domains(code), own_domains(code))
    return sorted(found)


@lru_cache(maxsize=1)
def _homes() -> dict[str, dict[str, float]]:
    """Language -> country domain -> share of speakers."""
    without, sold = WITHOUT_A_DOMAIN.split(), GENERIC.split()
    homes: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for territory, spoken in cldr.spoken_in().items():
        top = "uk" if territory == "GB" else territory.lower()
        if len(top) != 2 or not top.isalpha() or top in without:
            continue
        for each in spoken:
            code = languages.canonical(each.tag)
            if code:
                share = each.percent / 100
                share *= 1 if each.status else _UNOFFICIAL
                share *= _SOLD if top in sold else 1
                homes[code][top] = max(homes[code].get(top, 0.0), share)
    return dict(homes)


def _abroad(counts: Shares, named: Sequence[str], places: dict[str, int]) -> Shares:
    """The mean share of each domain among sites outside of the countries of their language."""
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
