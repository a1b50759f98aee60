"""Custom-made features of a URL: the 60 of Baykan 2013, 2.1 and the 74 of the study before it.

Neither source lists them one by one. Both have counters before the first `/` and after it; If the
kinds that they describe do not add up to the total, counters of the whole URL and small variants
are added, as the table of `CustomFeatures` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from classifiers.papers.baykan.dictionaries import city_words, dictionary_words, trained_words
from classifiers.papers.baykan.servers import CountryOfHost, language_of_country
from classifiers.papers.baykan.words import parts, words
from classifiers.tables.country_domains import TABLE_I

WordList = Callable[[str], Collection[str]]
"""Language -> words."""
Matrix = npt.NDArray[np.float64]
Names = npt.NDArray[np.object_]
Flags = npt.NDArray[np.bool_]
Trained = tuple[frozenset[str], frozenset[str]]
"""The words of the trained dictionaries of Yes and of No."""

LANGUAGES: Final = tuple(TABLE_I)
_GENERIC: Final = ("com", "org", "net")
_BEFORE, _AFTER, _WHOLE = "before", "after", "whole"
_TLDS: Final = {tld: language for language, row in TABLE_I.items() for tld in row.split()}
_PER_LANGUAGE: Final = ("code", "dictionary", "only dictionary", "city")
_LOOK_UPS: Final = (
    *(f"{kind} {language}" for kind in _PER_LANGUAGE for language in LANGUAGES),
    "words",
)
"""The counts of the words of a part."""


def _names(kinds: Sequence[str], places: Sequence[str]) -> list[str]:
    return [f"{kind} {place}" for kind in kinds for place in places]


def _spoken(kind: str) -> list[str]:
    return [f"{kind} {language}" for language in LANGUAGES]


_PARTS: Final = (_BEFORE, _AFTER)
_ALL: Final = (_BEFORE, _AFTER, _WHOLE)
_TRAINED: Final = ("trained yes", "trained no")
_COMMON: Final = (
    _spoken("tld")
    + [f"tld {tld}" for tld in _GENERIC]
    + _names(["hyphens", *_spoken("dictionary"), *_spoken("city")], _ALL)
)
_OF_2013: Final = _names([*_spoken("code"), *_TRAINED], _PARTS) + _spoken("ip")
_OF_2008: Final = _names([*_spoken("code"), *_TRAINED], _ALL) + _names(
    [*_spoken("only dictionary"), "words"], _PARTS
)
FEATURES: Final = {60: (*_COMMON, *_OF_2013), 74: (*_COMMON, *_OF_2008)}
"""Number of features -> their names."""


class CustomFeatures:
    """Custom-made features of URLs (Baykan 2013, 2.1), dense, (n_urls, n_features).

    ==========================================  =======================  =====  =====
    feature                                     counted                  60     74
    ==========================================  =======================  =====  =====
    top-level domain is one of the language     yes or no                5      5
    top-level domain is com, org, net           yes or no                3      3
    another word is a country code of the       before, after; in the    10     15
    language (Table I): yes or no               74 also whole
    words of the language's dictionary          before, after, whole     15     15
    words of no other language's dictionary     before, after            -      10
    cities of the language's countries          before, after, whole     15     15
    words of the trained dictionaries of Yes    before, after; in the    4      6
    and of No                                   74 also whole
    hyphens                                     before, after, whole     3      3
    words                                       before, after            -      2
    server's country speaks the language        yes or no                5      -
    ==========================================  =======================  =====  =====

    "Before" is the host, "after" what follows it. Languages are the five of the study. Unlike in
    the paper, the top-level domain itself is not among the words of the host: it has separate
    features.

    Parameters
    ----------
    n_features : {60, 74}
        Those of 2013, or those of 2008 without the server's country.
    countries : callable or None
        Host -> country of its server, such as a `hosting.ServerCountry`; without it the
        features of the server's country are 0.
    dictionary, cities : callable
        Language -> words.
    folds : int
        Parts that `fit_transform` divides its URLs into: the words of one are looked up in
        trained dictionaries learned from the others. Unlike in the paper, no URL
        is looked up in a dictionary that it helped to build, which would make training URLs
        look easier than new ones. F1 of decision trees rose by 0.4 to 1.0 on domains not
        trained on, by 0.1 to 0.3 otherwise (2,000 URLs of each language, two seeds). 1 is the
        paper's way.
    """

    def __init__(
        self,
        n_features: int = 60,
        countries: CountryOfHost | None = None,
        dictionary: WordList = dictionary_words,
        cities: WordList = city_words,
        folds: int = 5,
    ) -> None:
        self.n_features = n_features
        self.countries = countries
        self.dictionary = dictionary
        self.cities = cities
        self.folds = folds

    def fit_transform(self, urls: Sequence[str], is_yes: Flags) -> Matrix:
        """Learn the dictionaries, and return the features that the URLs would have as new ones."""
        self.trained_ = trained_words(urls, is_yes)
        features = self.transform(urls)
        names = FEATURES[self.n_features]
        places = np.flatnonzero([name.startswith("trained ") for name in names])
        for rows, learned in self._learned_elsewhere(urls, is_yes):
            _, _, before, after = _taken_apart([urls[row] for row in rows.tolist()])
            columns = _trained_columns(_words_of(before), _words_of(after), learned)
            features[np.ix_(rows, places)] = np.column_stack([columns[names[at]] for at in places])
        return features

    def transform(self, urls: Sequence[str]) -> Matrix:
        """Return the features of each URL."""
        hosts, tlds, before, after = _taken_apart(urls)
        found = _words_of(before), _words_of(after)
        columns = _tld_columns(tlds) | self._ip_columns(hosts)
        columns |= _of_places("hyphens", _hyphens(before), _hyphens(after))
        columns |= _trained_columns(*found, self.trained_)
        counts = [self._counts(place) for place in found]
        for at, name in enumerate(_LOOK_UPS):
            columns |= _of_places(name, counts[0][:, at], counts[1][:, at])
        return np.column_stack([columns[name] for name in FEATURES[self.n_features]])

    def get_feature_names_out(self) -> Names:
        """Return the names of the features, (n_features,)."""
        return np.array(FEATURES[self.n_features], object)

    def _ip_columns(self, hosts: list[str]) -> dict[str, Matrix]:
        spoken: dict[str, str | None] = {}
        if self.countries is not None and self.n_features == 60:
            spoken = {host: language_of_country(self.countries(host)) for host in set(hosts)}
        return {
            f"ip {language}": _is_in((spoken.get(host) for host in hosts), {language})
            for language in LANGUAGES
        }

    def _learned_elsewhere(
        self, urls: Sequence[str], is_yes: Flags
    ) -> Iterator[tuple[npt.NDArray[np.int64], Trained]]:
        """Yield the rows of each part, with the dictionaries learned from the other parts."""
        part_of = np.random.default_rng(0).permutation(len(urls)) % self.folds
        for part in range(min(self.folds, len(urls)) if self.folds > 1 else 0):
            others = np.flatnonzero(part_of != part)
            learned = trained_words([urls[row] for row in others.tolist()], is_yes[others])
            yield np.flatnonzero(part_of == part), learned

    def _counts(self, texts: list[list[str]]) -> Matrix:
        """The number of words of each text that each look-up contains, (n_texts, n_look_ups)."""
        known: dict[str, int] = {}
        found = [[known.setdefault(word, len(known)) for word in text] for text in texts]
        pointers = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(row) for row in found], out=pointers[1:])
        indices = np.fromiter((word for row in found for word in row), np.int64, pointers[-1])
        shape = (len(texts), len(known))
        occurrences = csr_matrix((np.ones(len(indices)), indices, pointers), shape)
        counts: Matrix = occurrences @ self._looked_up(list(known))
        counts[:, : len(LANGUAGES)] = counts[:, : len(LANGUAGES)] > 0  # codes are yes or no
        return counts

    def _looked_up(self, listed: list[str]) -> Matrix:
        """True if the look-up contains the word, (n_words, n_look_ups)."""
        table = {f"code {each}": _is_in(map(_TLDS.get, listed), {each}) for each in LANGUAGES}
        for language in LANGUAGES:
            table[f"dictionary {language}"] = _is_in(listed, self.dictionary(language))
            table[f"city {language}"] = _is_in(listed, self.cities(language))
        spoken = sum((table[f"dictionary {each}"] for each in LANGUAGES), np.zeros(len(listed)))
        for language in LANGUAGES:
            table[f"only dictionary {language}"] = table[f"dictionary {language}"] * (spoken == 1)
        table["words"] = np.ones(len(listed))
        return np.column_stack([table[name] for name in _LOOK_UPS])


def _taken_apart(urls: Sequence[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Hosts, top-level domains, hosts without them, and the rest of the URLs after the host."""
    split = [parts(url) for url in urls]
    hosts = [host.strip(".").lower() for host, _ in split]
    tlds = [host.rpartition(".")[2] if "." in host else "" for host in hosts]
    before = [host[: len(host) - len(tld)] for host, tld in zip(hosts, tlds, strict=True)]
    return hosts, tlds, before, [rest for _, rest in split]


def _words_of(texts: list[str]) -> list[list[str]]:
    return [words(text) for text in texts]


def _trained_columns(
    before: list[list[str]], after: list[list[str]], trained: Trained
) -> dict[str, Matrix]:
    """The number of words of each part that each trained dictionary contains."""
    columns: dict[str, Matrix] = {}
    for name, known in zip(_TRAINED, trained, strict=True):
        counts = [
            np.array([sum(word in known for word in text) for text in place], np.float64)
            for place in (before, after)
        ]
        columns |= _of_places(name, *counts)
    return columns


def _tld_columns(tlds: list[str]) -> dict[str, Matrix]:
    spoken = [_TLDS.get(tld) for tld in tlds]
    columns = {f"tld {language}": _is_in(spoken, {language}) for language in LANGUAGES}
    return columns | {f"tld {tld}": _is_in(tlds, {tld}) for tld in _GENERIC}


def _of_places(name: str, before: Matrix, after: Matrix) -> dict[str, Matrix]:
    """The columns of both parts and of the whole; for codes the whole is yes or no too."""
    whole = np.maximum(before, after) if name.startswith("code ") else before + after
    return {f"{name} {_BEFORE}": before, f"{name} {_AFTER}": after, f"{name} {_WHOLE}": whole}


def _hyphens(texts: Iterable[str]) -> Matrix:
    return np.array([text.count("-") for text in texts], np.float64)


def _is_in(values: Iterable[object], those: Collection[object]) -> Matrix:
    return np.array([value in those for value in values], np.float64)
