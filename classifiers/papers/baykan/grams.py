"""What a URL is made of: its words and two parts, and the feature sets that count them, by name.

The countries of hosts' servers (2.2, "IP") are looked up before a study begins.

Baykan 2013, 2.1: a URL is split at all characters that are no letters; single letters and six
special words are left out. Letters of every script count, percent-encoded or not, also in names
that are spelled `xn--`. Unlike in `classifiers.urls.ngrams`, bytes that are not UTF-8 separate
words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from langfocus.classifiers.errors import StudyError
from langfocus.classifiers.geoip import CountryLookup, country_lookup, parsed_address
from langfocus.classifiers.tables.letters import is_letter
from langfocus.classifiers.urls.batch import MAX_CHARACTERS, plain

Source = Literal["word", "url"]
Names = npt.NDArray[np.object_]
Addresses = Mapping[str, Sequence[str]]
"""Host in lower case -> its addresses."""
Countries = Mapping[str, str]
"""Host in lower case -> the ISO 3166-1 code of its server's country, where that is known."""

_SIZES: Final = {f"{size}-grams": (size, size) for size in range(1, 8)} | {
    "3-4-grams": (3, 4),
    "3-4-5-grams": (3, 5),
    "3-4-5-6-grams": (3, 6),
    "allgrams": (3, 7),
}
_SOURCES: Final[tuple[Source, ...]] = ("word", "url")
_GRAMS: Final = {f"{name}-from-{source}": (name, source) for source in _SOURCES for name in _SIZES}
CUSTOM: Final = {"custom": 60, "custom-2008": 74}
"""Custom-made feature sets, and their number of features."""
_EDGE: Final = "_"

NAMES: Final = ("words", *_GRAMS, *CUSTOM)
"""The feature sets of the study."""

SPECIAL: Final = frozenset("www index html htm http https".split())
"""Runs of letters that do not count as words."""

_JOINERS: Final = "\u200c\u200d"  # occur inside Persian and Indic words
_LATIN: Final = re.compile("[a-z]+")
_SCHEME: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_HOST_END: Final = re.compile("[/?#]")
_PORT: Final = re.compile(r":\d*$")


def words(url: str) -> list[str]:
    """The words of a URL or of a part of one, in lower case and in their order.

    Only the first MAX_CHARACTERS count.
    """
    return [run for run in runs(url) if len(run) >= 2 and run not in SPECIAL]


def text_words(text: str) -> list[str]:
    """The words of a text of any length, which is no URL: nothing in it is decoded."""
    found = "".join(each if _is_letter(each) else " " for each in text.lower()).split()
    return [word for word in found if len(word) >= 2 and word not in SPECIAL]


def runs(url: str) -> list[str]:
    """All runs of letters, also single letters and special words."""
    url = url[:MAX_CHARACTERS]
    text = url.lower()
    if text.isascii() and "%" not in text and "xn--" not in text:
        return _LATIN.findall(text)
    text = unicodedata.normalize("NFC", _decoded(url).lower())
    return "".join(each if _is_letter(each) else " " for each in text).split()


def parts(url: str) -> tuple[str, str]:
    """The host, without scheme, credentials and port, and the rest after it, as written.

    The host ends at the first `/`, `?` or `#`; the rest begins with that sign. Either may be ''.
    Only the first MAX_CHARACTERS count.
    """
    url = url[:MAX_CHARACTERS]
    scheme = _SCHEME.match(url)
    start = scheme.end() if scheme else 0
    end = _HOST_END.search(url, start)
    stop = end.start() if end else len(url)
    host = url[start:stop].rpartition("@")[2].strip()
    return _PORT.sub("", host), url[stop:]


def _decoded(url: str) -> str:
    text = plain(url).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return unquote(text, errors="replace")


@lru_cache(maxsize=65536)
def _is_letter(character: str) -> bool:
    return character in _JOINERS or is_letter(character)


def counter(name: str) -> Counts:
    """The unfitted counter of a feature set of words or n-grams."""
    if name == "words":
        return Counts(words)
    sizes, source = _GRAMS[name]
    smallest, largest = _SIZES[sizes]
    of_url = partial(grams, smallest=smallest, largest=largest, source=source)
    return Counts(of_url, is_sorted=False)


@dataclass
class Counts:
    """Counts of the pieces of texts, float64, CSR (n_texts, n_pieces).

    Pieces that no text of `fit_transform` has are left out.
    """

    pieces: Callable[[str], list[str]]
    """Text -> its words or n-grams, with repetitions."""
    is_sorted: bool = True
    """Whether the columns are in the order of the pieces' letters, else in that in which the pieces
    were met. Some algorithms decide ties by it."""

    def fit_transform(self, texts: Sequence[str], y: object = None) -> csr_matrix:
        """Learn the pieces, and count them; ValueError if no text has any."""
        met = dict.fromkeys(piece for text in texts for piece in self.pieces(text))
        names = sorted(met) if self.is_sorted else met
        self.vocabulary_ = {name: column for column, name in enumerate(names)}
        return self.transform(texts)

    def transform(self, texts: Sequence[str]) -> csr_matrix:
        """Count the pieces that were learned."""
        counter = CountVectorizer(
            analyzer=self.pieces, dtype=np.float64, vocabulary=self.vocabulary_
        )
        return csr_matrix(counter.transform(texts))

    def get_feature_names_out(self) -> Names:
        """Return the pieces, (n_pieces,)."""
        return np.array(list(self.vocabulary_), object)


def grams(url: str, smallest: int, largest: int, source: Source) -> list[str]:
    """The character n-grams of a URL that have `smallest` to `largest` letters.

    They are those of each word between marks (`_we`, `wea`, …, `er_`; a mark counts as a letter),
    or those of the URL. The paper leaves three things open. For 1-grams from words the mark is not
    a letter, because every word has two marks. A word that is too short for the smallest n-gram
    gets more marks at its end (`_de__`), so that no word is without n-grams. N-grams from the URL
    are those of all its letters, `http` and `www` included, without the characters between them,
    since `yde` is one of `http://www.hi-fly.de`.
    """
    texts = ["".join(runs(url))]
    if source == "word":
        texts = [f"{_EDGE}{word}{_EDGE}".ljust(smallest, _EDGE) for word in words(url)]
    found = [
        text[start:end]
        for text in texts
        for start in range(len(text) - smallest + 1)
        for end in range(start + smallest, min(start + largest, len(text)) + 1)
    ]
    return found if smallest > 1 else [gram for gram in found if gram != _EDGE]


def locate(urls: Iterable[str], mmdb: Path, addresses: Addresses) -> Countries:
    """The countries of the servers of some URLs, by a MaxMind DB file.

    GeoIPError if the file cannot be read.
    """
    look_up = country_lookup(mmdb)
    hosts = sorted({host for url in urls if (host := spelled(parts(url)[0]))})
    found = {host: server_country(host, look_up, addresses) for host in hosts}
    return {host: code for host, code in found.items() if code}


def server_country(host: str, countries: CountryLookup, addresses: Addresses) -> str | None:
    """The ISO 3166-1 code of the country of a host's server; None if it is not known.

    The first address of the host whose country is known decides. A host that is an IP address
    stands for itself.
    """
    bare = host.strip("[]")
    own = [bare] if parsed_address(bare) else addresses.get(host, ())
    return next((country for country in map(countries, own) if country), None)


def listed(path: Path) -> Addresses:
    """The addresses of a file with lines `host<TAB>address`; StudyError for others."""
    table: dict[str, list[str]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        host, tab, address = line.partition("\t")
        if not tab and line.strip():
            raise StudyError(f"{path}:{number}: expected host and address with a tab between")
        table[spelled(host)].append(address.strip())
    return table


def spelled(host: str) -> str:
    """A host as the keys of `Countries` spell it."""
    return host.strip().strip(".").lower()
