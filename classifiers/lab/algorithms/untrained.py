"""The baselines, which need no training (Baykan 2013, 2.2, 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from classifiers._cctld import TABLE_I
from classifiers.errors import AlgorithmError, LanguageError
from classifiers.lab.algorithms.binary import Floats
from classifiers.lab.algorithms.urlclassifier import UrlClassifier, Urls, checked
from classifiers.lab.features.words import parts
from classifiers.urls.cctld import top_level_domain

if TYPE_CHECKING:
    from classifiers.lab.features.hosting import Resolver

Countries = Callable[[str], str | None]
"""From an address to the ISO 3166-1 code of its country, None where that is not known."""

GENERIC_ENGLISH: Final = frozenset({"com", "org"})
"""Domains that ccTLD+ adds to English."""


class Baseline(UrlClassifier):
    """A classifier that knows before training what it says; Yes scores 1 and No -1.

    `fit` only checks what it is given, so its classes are always False and True.
    """

    classes_ = np.array([False, True])

    def fit(self, urls: Urls, y: Any = None) -> Self:
        """Return itself, as it was."""
        checked(urls)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """There is nothing to fit."""
        return True

    def _scores(self, urls: list[str]) -> Floats:
        says_yes = self._rule()
        return np.array([1.0 if says_yes(url) else -1.0 for url in urls])

    def _rule(self) -> Callable[[str], bool]:
        """Return what decides about a URL."""
        raise NotImplementedError


class CcTld(Baseline):
    """Yes for URLs under a country code of the language (Table I of the paper).

    Parameters
    ----------
    language : {"en", "de", "fr", "es", "it"}
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def _rule(self) -> Callable[[str], bool]:
        domains = self._domains()
        return lambda url: top_level_domain(url) in domains

    def _domains(self) -> frozenset[str]:
        return table_i(self.language)


class CcTldPlus(CcTld):
    """The same with `com` and `org` as English domains; it differs for English only."""

    def _domains(self) -> frozenset[str]:
        domains = super()._domains()
        return domains | GENERIC_ENGLISH if self.language == "en" else domains


class ServerCountry:
    """The country of a host's server: called with a host it gives an ISO code or None.

    The first address whose country is known decides. A host that is an address is not resolved.
    Nothing is kept from one call to the next: that is the resolver's to do.
    """

    def __init__(self, resolver: Resolver | None, countries: Countries) -> None:
        self.resolver = resolver
        self.countries = countries

    def __call__(self, host: str) -> str | None:
        """Return the country of a host's server, None where it cannot be told."""
        found = (self.countries(address) for address in self._addresses(host))
        return next((code for code in found if code), None)

    def _addresses(self, host: str) -> Iterable[str]:
        bare = host.strip("[]")
        if not bare:
            return []
        if _is_address(bare):
            return [bare]
        try:
            return _resolver(self.resolver)(host)
        except OSError:
            return []


class Ip(Baseline):
    """Yes for URLs whose server stands in a country of the language (Table I of the paper).

    A host whose country is not known is No. Each host is looked up once a call.

    Parameters
    ----------
    language : {"en", "de", "fr", "es", "it"}
    resolver : callable or None
        From a host to its addresses, none or OSError where it has none; None asks the system.
    countries : callable
        From an address to its country's ISO 3166-1 code in any case, or None: for instance
        `hosting.Hosting.country_of_address`. Without it nothing can be scored.
    """

    def __init__(
        self, language: str, resolver: Resolver | None = None, countries: Countries | None = None
    ) -> None:
        self.language = language
        self.resolver = resolver
        self.countries = countries

    def _rule(self) -> Callable[[str], bool]:
        if self.countries is None:
            raise AlgorithmError(
                "the IP baseline needs `countries`, from an address to its country"
            )
        codes = table_i(self.language)
        country_of = lru_cache(maxsize=None)(ServerCountry(self.resolver, self.countries))
        return lambda url: (country_of(_host(url)) or "").lower() in codes


def table_i(language: str) -> frozenset[str]:
    """Return the country codes and domains of a language in Table I, in lower case."""
    if language not in TABLE_I:
        raise LanguageError(f"Table I has {', '.join(TABLE_I)}, but not {language!r}")
    return frozenset(TABLE_I[language].split())


def _host(url: str) -> str:
    return parts(url)[0].rstrip(".").lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _resolver(given: Resolver | None) -> Resolver:
    if given is not None:
        return given
    from classifiers.lab.features.hosting import resolve

    return resolve
