"""The baselines, which need no training (Baykan 2013, 2.2, 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Self

import numpy as np

from classifiers.errors import AlgorithmError, LanguageError
from classifiers.papers.baykan.algorithms.binary import Floats
from classifiers.papers.baykan.algorithms.urlclassifier import UrlClassifier, Urls, checked
from classifiers.papers.baykan.features.hosting import CountryOfHost
from classifiers.papers.baykan.features.words import parts
from classifiers.tables.country_domains import TABLE_I
from classifiers.urls.cctld import top_level_domain

GENERIC_ENGLISH: Final = frozenset({"com", "org"})
"""Domains that ccTLD+ adds to English."""


class Baseline(UrlClassifier):
    """A classifier that needs no training; Yes scores 1 and No -1.

    `fit` only checks its arguments; the classes are always False and True.
    """

    classes_ = np.array([False, True])

    def fit(self, urls: Urls, y: Any = None) -> Self:
        """Return itself, unchanged."""
        checked(urls)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """There is nothing to fit."""
        return True

    def _scores(self, urls: list[str]) -> Floats:
        says_yes = self._rule()
        return np.array([1.0 if says_yes(url) else -1.0 for url in urls])

    def _rule(self) -> Callable[[str], bool]:
        """Return the function that decides about a URL."""
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
    """As CcTld, with `com` and `org` as English domains too; other languages do not differ."""

    def _domains(self) -> frozenset[str]:
        domains = super()._domains()
        return domains | GENERIC_ENGLISH if self.language == "en" else domains


class Ip(Baseline):
    """Yes for URLs whose server is in a country of the language (Table I of the paper).

    No for a host whose country is not known. Each host is looked up once per call.

    Parameters
    ----------
    language : {"en", "de", "fr", "es", "it"}
    countries : callable
        Host -> ISO 3166-1 code of its server's country in any case, or None; for instance a
        `hosting.ServerCountry`. Scoring without it raises AlgorithmError.
    """

    def __init__(self, language: str, countries: CountryOfHost | None = None) -> None:
        self.language = language
        self.countries = countries

    def _rule(self) -> Callable[[str], bool]:
        if self.countries is None:
            raise AlgorithmError("the IP baseline needs `countries`, from a host to its country")
        codes = table_i(self.language)
        country_of = lru_cache(maxsize=None)(self.countries)
        return lambda url: (country_of(_host(url)) or "").lower() in codes


def table_i(language: str) -> frozenset[str]:
    """Return the country codes and domains of a language in Table I, in lower case."""
    if language not in TABLE_I:
        raise LanguageError(f"Table I has {', '.join(TABLE_I)}, but not {language!r}")
    return frozenset(TABLE_I[language].split())


def _host(url: str) -> str:
    return parts(url)[0].rstrip(".").lower()
