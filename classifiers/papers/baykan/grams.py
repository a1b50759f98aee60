"""URL words, URL parts, and the named feature sets that count words and n-grams.

Server countries of hosts (2.2, "IP") are resolved before a study starts.

Baykan 2013, 2.1: a URL is split at all non-letters; single letters and six special words are
dropped. Letters of every script count, percent-encoded or not, also in `xn--` names. Unlike in
`classifiers.urls.ngrams`, bytes outside UTF-8 separate words.
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
"""Host in lower case -> IP addresses."""
Countries = Mapping[str, str]
"""Host in lower case -> ISO 3166-1 code of the server country, if known."""

_SIZES: Final = {f"{size}-grams": (size, size) for size in range(1, 8)} | {
    "3-4-grams": (3, 4),
    "3-4-5-grams": (3, 5),
    "3-4-5-6-grams": (3, 6),
    "allgrams": (3, 7),
}
_SOURCES: Final[tuple[Source, ...]] = ("word", "url")
_GRAMS: Final = {f"{name}-from-{source}": (name, source) for source in _SOURCES for name in _SIZES}
CUSTOM: Final = {"custom": 60, "custom-2008": 74}
"""Custom-made feature sets with their numbers of features."""
_EDGE: Final = "_"

NAMES: Final = ("words", *_GRAMS, *CUSTOM)
"""Feature sets of the study."""

SPECIAL: Final = frozenset("www index html htm http https".split())
"""Letter runs that do not count as words."""

_JOINERS: Final = "\u200c\u200d"  # occur inside Persian and Indic words
_LATIN: Final = re.compile("[a-z]+")
_SCHEME: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_HOST_END: Final = re.compile("[/?#]")
_PORT: Final = re.compile(r":\d*$")


def words(url: str) -> list[str]:
    """Return the words of a URL or URL part, in lower case and in order.

    Only the first MAX_CHARACTERS count.
    """
    return [run for run in runs(url) if len(run) >= 2 and run not in SPECIAL]


def text_words(text: str) -> list[str]:
    """Return the words in a text, at any length; unlike a URL, the text is not decoded."""
    runs = "".join(letter if _is_letter(letter) else " " for letter in text.lower()).split()
    return [word for word in runs if len(word) >= 2 and word not in SPECIAL]


def runs(url: str) -> list[str]:
    """Return all runs of letters, single letters and special words included."""
    url = url[:MAX_CHARACTERS]
    text = url.lower()
    if text.isascii() and "%" not in text and "xn--" not in text:
        return _LATIN.findall(text)
    text = unicodedata.normalize("NFC", _decoded(url).lower())
    return "".join(letter if _is_letter(letter) else " " for letter in text).split()


def parts(url: str) -> tuple[str, str]:
    """Return the host, without scheme, credentials and port, and the rest after it, unchanged.

    The host ends at the first `/`, `?` or `#`; the rest begins with this sign. Either may be ''.
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
    """Return the unfitted counter of a word or n-gram feature set."""
    if name == "words":
        return Counts(words)
    sizes, source = _GRAMS[name]
    smallest, largest = _SIZES[sizes]
    of_url = partial(grams, smallest=smallest, largest=largest, source=source)
    return Counts(of_url, is_sorted=False)


@dataclass
class Counts:
    """Counts of text pieces, float64, CSR (n_texts, n_pieces).

    Pieces unseen by `fit_transform` are dropped.
    """

    pieces: Callable[[str], list[str]]
    """Text -> its words or n-grams, with repetitions."""
    is_sorted: bool = True
    """True: columns in alphabetical piece order; else in order of first occurrence. Some algorithms
    break ties by column order.
    """

    def fit_transform(self, texts: Sequence[str], y: object = None) -> csr_matrix:
        """Learn and count the pieces; ValueError if no text has a piece."""
        met = dict.fromkeys(piece for text in texts for piece in self.pieces(text))
        names = sorted(met) if self.is_sorted else met
        self.vocabulary_ = {name: column for column, name in enumerate(names)}
        return self.transform(texts)

    def transform(self, texts: Sequence[str]) -> csr_matrix:
        """Count the learned pieces."""
        counter = CountVectorizer(
            analyzer=self.pieces, dtype=np.float64, vocabulary=self.vocabulary_
        )
        return csr_matrix(counter.transform(texts))

    def get_feature_names_out(self) -> Names:
        """Return the pieces, (n_pieces,)."""
        return np.array(list(self.vocabulary_), object)


def grams(url: str, smallest: int, largest: int, source: Source) -> list[str]:
    """Return the character n-grams of a URL with `smallest` to `largest` letters.

    N-grams are from each word between marks (`_we`, `wea`, …, `er_`; a mark counts as a letter), or
    from the URL. The paper leaves three points open. For 1-grams from words the mark is not a
    letter, because every word has two marks. A word shorter than the smallest n-gram is padded with
    marks (`_de__`), so that every word has n-grams. N-grams from the URL cover all its letters,
    `http` and `www` included, without the characters between them, since `yde` is an n-gram of
    `http://www.hi-fly.de`.
    """
    texts = ["".join(runs(url))]
    if source == "word":
        texts = [f"{_EDGE}{word}{_EDGE}".ljust(smallest, _EDGE) for word in words(url)]
    grams = [
        text[start:end]
        for text in texts
        for start in range(len(text) - smallest + 1)
        for end in range(start + smallest, min(start + largest, len(text)) + 1)
    ]
    return grams if smallest > 1 else [gram for gram in grams if gram != _EDGE]


def locate(urls: Iterable[str], mmdb: Path, addresses: Addresses) -> Countries:
    """Return the server countries of the URLs, by a MaxMind DB file.

    GeoIPError if the file cannot be read.
    """
    look_up = country_lookup(mmdb)
    hosts = sorted({host for url in urls if (host := spelled(parts(url)[0]))})
    countries = {host: server_country(host, look_up, addresses) for host in hosts}
    return {host: code for host, code in countries.items() if code}


def server_country(host: str, countries: CountryLookup, addresses: Addresses) -> str | None:
    """Return the ISO 3166-1 code of a host's server country; None if unknown.

    The first address with a known country decides. A host that is an IP address is its own address.
    """
    bare = host.strip("[]")
    own = [bare] if parsed_address(bare) else addresses.get(host, ())
    return next((country for country in map(countries, own) if country), None)


def listed(path: Path) -> Addresses:
    """Return the addresses of a file with lines `host<TAB>address`; StudyError for other lines."""
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
    """Return a host as spelled in the keys of `Countries`."""
    return host.strip().strip(".").lower()
