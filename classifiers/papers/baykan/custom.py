"""Custom-made URL features: the 60 of Baykan 2013, 2.1 and the 74 of the previous study.

Neither source lists every feature. Both have counters before the first `/` and after it. Where the
described kinds do not add up to the total, counters of the whole URL and small variants are added,
as the table of `CustomFeatures` shows.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.papers.baykan.dictionaries import (
    Flags,
    city_words,
    dictionary_words,
    trained_words,
)
from langfocus.classifiers.papers.baykan.grams import Countries, Names, parts, words
from langfocus.classifiers.tables.country_domains import TABLE_I

WordList = Callable[[str], Collection[str]]
"""Language -> words."""
Matrix = npt.NDArray[np.float64]
Trained = tuple[frozenset[str], frozenset[str]]
"""Trained dictionary words for Yes and for No."""

LANGUAGES: Final = tuple(TABLE_I)
_GENERIC: Final = ("com", "org", "net")
_FOLDS: Final = 5
"""Folds of the training URLs; dictionaries of the other folds look up each fold.

Unlike in the paper, no URL is looked up in a dictionary built with this URL, which would make
training URLs look easier than new URLs. F1 of decision trees rose by 0.4 to 1.0 on domains outside
training, by 0.1 to 0.3 otherwise (2,000 URLs of each language, two seeds).
"""
_PARTS: Final = ("before", "after")
_PLACES: Final = (*_PARTS, "whole")
_TRAINED: Final = ("trained yes", "trained no")
_TLDS: Final = {tld: language for language, row in TABLE_I.items() for tld in row.split()}


def _of_all(*kinds: str) -> list[str]:
    return [f"{kind} {language}" for kind in kinds for language in LANGUAGES]


def _in(places: Sequence[str], *kinds: str) -> list[str]:
    return [f"{kind} {place}" for kind in kinds for place in places]


_COMMON: Final = (
    *_of_all("tld"),
    *(f"tld {tld}" for tld in _GENERIC),
    *_in(_PLACES, "hyphens", *_of_all("dictionary", "city")),
)
_OF_2013: Final = (*_in(_PARTS, *_of_all("code"), *_TRAINED), *_of_all("ip"))
_OF_2008: Final = (
    *_in(_PLACES, *_of_all("code"), *_TRAINED),
    *_in(_PARTS, *_of_all("only dictionary"), "words"),
)
FEATURES: Final = {60: (*_COMMON, *_OF_2013), 74: (*_COMMON, *_OF_2008)}
"""Number of features -> feature names."""


@dataclass
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
    """

    n_features: int = 60
    """60: the 2013 features; 74: the 2008 features, without the server's country."""
    countries: Countries | None = None
    """Host -> server country; without countries, the server country features are 0."""
    dictionary: WordList = dictionary_words
    cities: WordList = city_words
    _kinds: dict[str, list[str]] = field(default_factory=dict, init=False)

    def fit_transform(self, urls: Sequence[str], is_yes: Flags) -> Matrix:
        """Fit the dictionaries, and return the URLs' features as if the URLs were new."""
        self.trained_ = trained_words(urls, is_yes)
        return self._matrix(urls, self._learned_elsewhere(urls, is_yes))

    def transform(self, urls: Sequence[str]) -> Matrix:
        """Return the features of each URL."""
        return self._matrix(urls, [self.trained_] * len(urls))

    def get_feature_names_out(self) -> Names:
        """Return the feature names, (n_features,)."""
        return np.array(FEATURES[self.n_features], object)

    def _learned_elsewhere(self, urls: Sequence[str], is_yes: Flags) -> list[Trained]:
        """Return the dictionaries for each URL, learned from the folds without this URL."""
        learned = [self.trained_] * len(urls)
        part_of = np.random.default_rng(0).permutation(len(urls)) % _FOLDS
        for part in range(min(_FOLDS, len(urls))):
            others = np.flatnonzero(part_of != part)
            of_others = trained_words([urls[row] for row in others.tolist()], is_yes[others])
            for row in np.flatnonzero(part_of == part).tolist():
                learned[row] = of_others
        return learned

    def _matrix(self, urls: Sequence[str], trained: Sequence[Trained]) -> Matrix:
        found = np.zeros((len(urls), self.n_features))
        columns = {name: at for at, name in enumerate(FEATURES[self.n_features])}
        for row, (url, learned) in enumerate(zip(urls, trained, strict=True)):
            for name, value in self._features(url, learned).items():
                if name in columns:
                    found[row, columns[name]] = value
        return found

    def _features(self, url: str, trained: Trained) -> dict[str, int]:
        """Return name -> value of a URL's non-zero features, and of some of the other set's."""
        host, after = parts(url)
        host = host.strip(".").lower()
        tld = host.rpartition(".")[2] if "." in host else ""
        found = {f"tld {_TLDS.get(tld)}": 1}
        if tld in _GENERIC:
            found[f"tld {tld}"] = 1
        if self.countries is not None:
            # Table I's domains are codes of countries, too.
            found[f"ip {_TLDS.get(self.countries.get(host, '').lower())}"] = 1
        first = self._counts(host[: len(host) - len(tld)], trained)
        second = self._counts(after, trained)
        for kind in {*first, *second}:
            one, other = first[kind], second[kind]
            # Codes are yes or no.
            whole = max(one, other) if kind.startswith("code ") else one + other
            counts = zip(_in(_PLACES, kind), (one, other, whole), strict=True)
            found.update(counts)
        return found

    def _counts(self, text: str, trained: Trained) -> Counter[str]:
        """Return dictionary kind -> number of its words in a URL part."""
        counts = Counter({"hyphens": text.count("-")})
        yes, no = trained
        for word in words(text):
            counts.update(self._kinds_of(word))
            counts.update({_TRAINED[0]: word in yes, _TRAINED[1]: word in no})
        for language in LANGUAGES:
            counts[f"code {language}"] = min(1, counts[f"code {language}"])
        return counts

    def _kinds_of(self, word: str) -> list[str]:
        """Return the dictionary kinds of a word, except trained dictionaries."""
        if word not in self._kinds:
            speaking = [each for each in LANGUAGES if word in self.dictionary(each)]
            kinds = ["words", f"code {_TLDS.get(word)}"]
            kinds += [f"dictionary {each}" for each in speaking]
            kinds += [f"only dictionary {each}" for each in speaking if len(speaking) == 1]
            kinds += [f"city {each}" for each in LANGUAGES if word in self.cities(each)]
            self._kinds[word] = kinds
        return self._kinds[word]
