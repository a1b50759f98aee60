"""Counts of words or character n-grams of URLs: the feature sets of Baykan 2013, 2.1, by name.

Each n-gram has a separate column. A 64-bit hash replaces its text; among the three million n-grams
of 100,000 URLs two share one with a probability below 1 in 10^6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from classifiers.compiled import compiled
from classifiers.papers.baykan.words import runs, words

if TYPE_CHECKING:
    from classifiers.papers.baykan.servers import CountryOfHost

Source = Literal["word", "url"]
Names = npt.NDArray[np.object_]
Symbols = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Columns = npt.NDArray[np.int32]
Counts = npt.NDArray[np.float64]

_SIZES: Final = {f"{size}-grams": (size, size) for size in range(1, 8)} | {
    "3-4-grams": (3, 4),
    "3-4-5-grams": (3, 5),
    "3-4-5-6-grams": (3, 6),
    "allgrams": (3, 7),
}
_SOURCES: Final[tuple[Source, ...]] = ("word", "url")
_GRAMS: Final = {f"{name}-from-{source}": (name, source) for source in _SOURCES for name in _SIZES}
_CUSTOM: Final = {"custom": 60, "custom-2008": 74}

NAMES: Final = ("words", *_GRAMS, *_CUSTOM)
"""The feature sets of the study."""

_EDGE: Final = "_"
_BREAK: Final = "\0"
_EDGE_POINT: Final = ord(_EDGE)
_BREAK_POINT: Final = ord(_BREAK)
_BASIS = np.uint64(0xCBF29CE484222325)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_FREE = np.uint64(0)
_FIRST_SLOTS: Final = 1 << 12


def vectorizer(name: str, countries: CountryOfHost | None = None) -> Any:
    """The unfitted vectorizer of a feature set; `countries` is for the custom-made ones only.

    A name that is not in NAMES raises ValueError.
    """
    if name == "words":
        return Words()
    if name in _GRAMS:
        sizes, source = _GRAMS[name]
        return Grams(*_SIZES[sizes], source)
    if name in _CUSTOM:
        from classifiers.papers.baykan.custom import CustomFeatures

        return CustomFeatures(_CUSTOM[name], countries=countries)
    raise ValueError(f"no feature set is called {name!r}; there are {', '.join(NAMES)}")


class Words:
    """Counts of the words of a URL (Baykan 2013, 2.1), CSR (n_urls, n_words).

    Words that no URL of `fit_transform` has are left out.
    """

    def fit_transform(self, urls: Sequence[str], y: object = None) -> csr_matrix:
        """Learn the words, and count them."""
        counter = CountVectorizer(analyzer=words, dtype=np.float64)
        counts = counter.fit_transform(urls)
        self.vocabulary_: dict[str, int] = counter.vocabulary_
        counts.sort_indices()
        return csr_matrix(counts)

    def transform(self, urls: Sequence[str]) -> csr_matrix:
        """Count the words that were learned."""
        counter = CountVectorizer(analyzer=words, dtype=np.float64, vocabulary=self.vocabulary_)
        return csr_matrix(counter.transform(urls))

    def get_feature_names_out(self) -> Names:
        """Return the words, (n_words,)."""
        return np.array(sorted(self.vocabulary_, key=self.vocabulary_.__getitem__), object)


class Grams:
    """Counts of the character n-grams of a URL (Baykan 2013, 2.1), (n_urls, n_grams).

    N-grams that no URL of `fit` has are left out. The paper leaves three things open. For 1-grams
    from words the mark is not a letter, because every word has two marks. A word that is too short
    for the smallest n-gram gets more marks at its end (`_de__`), so that no word is without
    n-grams. N-grams from the URL are those of all its letters, `http` and `www` included, without
    the characters between them, since `yde` is one of `http://www.hi-fly.de`.

    Parameters
    ----------
    smallest, largest : int
        Letters of an n-gram, the mark counted as one.
    source : {"word", "url"}
        From each word between marks (`_we`, `wea`, …, `er_`), or from the URL.

    Columns have the order in which the n-grams were met.
    """

    def __init__(self, smallest: int = 3, largest: int = 7, source: Source = "word") -> None:
        if not 1 <= smallest <= largest:
            raise ValueError(f"no n-gram has {smallest} to {largest} letters")
        self.smallest = smallest
        self.largest = largest
        self.source = source

    def fit_transform(self, urls: Sequence[str], y: object = None) -> csr_matrix:
        """Learn the n-grams, and count them, CSR (n_urls, n_grams)."""
        text, symbols, rows = self._text(urls)
        learned = _learn(symbols, rows, self.smallest, self.largest)
        columns, ends, self._keys, self._columns, starts, sizes = learned
        if not len(starts):
            raise ValueError(f"no URL has {self.smallest} letters that could be an n-gram")
        # The name of an n-gram is stored as its first place: this is far smaller than all the
        # names.
        self._seen, self._starts, self._lengths = text, starts, sizes
        return self._matrix(columns, rows, ends)

    def transform(self, urls: Sequence[str]) -> csr_matrix:
        """Count the n-grams that were learned."""
        _, symbols, rows = self._text(urls)
        known = (self._keys, self._columns)
        columns, ends = _look_up(symbols, rows, self.smallest, self.largest, *known)
        return self._matrix(columns, rows, ends)

    def get_feature_names_out(self) -> Names:
        """Return the n-grams with their marks, (n_grams,)."""
        places = zip(self._starts.tolist(), self._lengths.tolist(), strict=True)
        return np.array([self._seen[start : start + size] for start, size in places], object)

    def _text(self, urls: Sequence[str]) -> tuple[str, Symbols, Offsets]:
        """The characters of n-grams, as text and as code points; row i begins at rows[i]."""
        is_of_words = self.source == "word"
        texts = [_marked(url, self.smallest) if is_of_words else "".join(runs(url)) for url in urls]
        rows = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=rows[1:])
        text = "".join(texts)
        return text, np.frombuffer(text.encode("utf-32-le"), np.uint32), rows

    def _matrix(self, columns: Columns, rows: Offsets, ends: Offsets) -> csr_matrix:
        """The matrix of counts from a list of columns with repetitions."""
        counts = np.ones(len(columns), np.float64)
        pointers = _summed(columns, counts, ends)
        shape = (len(rows) - 1, len(self._starts))
        n_entries = pointers[-1]
        return csr_matrix((counts[:n_entries], columns[:n_entries], pointers), shape)


def _marked(url: str, smallest: int) -> str:
    """The words of a URL, each between marks and `smallest` characters long or longer.

    There are breaks between them.
    """
    marked = (f"{_EDGE}{word}{_EDGE}".ljust(smallest, _EDGE) for word in words(url))
    return "".join(f"{word}{_BREAK}" for word in marked)


@compiled
def _mix(state: np.uint64, symbol: np.uint32) -> np.uint64:
    state = (state ^ np.uint64(symbol)) * _FACTOR
    return state ^ (state >> _FOLD)


@compiled
def _longest(symbols: Symbols, start: int, end: int, largest: int) -> int:
    """The number of symbols of the longest n-gram that begins at `start`."""
    stop = min(start + largest, end)
    at = start
    while at < stop and symbols[at] != _BREAK_POINT:
        at += 1
    return at - start


@compiled
def _is_gram(symbols: Symbols, start: int, size: int, smallest: int) -> bool:
    return size >= smallest and not (size == 1 and symbols[start] == _EDGE_POINT)


@compiled
def _room(symbols: Symbols, rows: Offsets, smallest: int, largest: int) -> int:
    """An upper bound of the number of n-grams."""
    total = 0
    for row in range(len(rows) - 1):
        for start in range(rows[row], rows[row + 1]):
            longest = _longest(symbols, start, rows[row + 1], largest)
            total += max(0, longest - smallest + 1)
    return total


@compiled
def _slot(keys: Hashes, key: np.uint64) -> int:
    """The slot of a key in the table, or the free slot for it."""
    mask = len(keys) - 1
    at = int(key >> np.uint64(20)) & mask
    while keys[at] != key and keys[at] != _FREE:
        at = (at + 1) & mask
    return at


@compiled
def _grown(keys: Hashes, columns: Columns) -> tuple[Hashes, Columns]:
    """The table with twice as many slots."""
    more_keys = np.zeros(len(keys) * 2, np.uint64)
    more_columns = np.zeros(len(keys) * 2, np.int32)
    for at in range(len(keys)):
        if keys[at] != _FREE:
            slot = _slot(more_keys, keys[at])
            more_keys[slot], more_columns[slot] = keys[at], columns[at]
    return more_keys, more_columns


@compiled
def _learn(
    symbols: Symbols, rows: Offsets, smallest: int, largest: int
) -> tuple[Columns, Offsets, Hashes, Columns, Offsets, Columns]:
    """The columns of all n-grams, the ends of rows, the table, and the first places of columns."""
    found = np.empty(_room(symbols, rows, smallest, largest), np.int32)
    ends = np.zeros(len(rows), np.int64)
    keys, columns = np.zeros(_FIRST_SLOTS, np.uint64), np.zeros(_FIRST_SLOTS, np.int32)
    starts, sizes = np.empty(_FIRST_SLOTS, np.int64), np.empty(_FIRST_SLOTS, np.int32)
    count, n_columns = 0, 0
    for row in range(len(rows) - 1):
        for start in range(rows[row], rows[row + 1]):
            state = _BASIS
            for size in range(1, _longest(symbols, start, rows[row + 1], largest) + 1):
                state = _mix(state, symbols[start + size - 1])
                if not _is_gram(symbols, start, size, smallest):
                    continue
                slot = _slot(keys, state)
                if keys[slot] == _FREE:
                    if 3 * n_columns > 2 * len(keys):
                        keys, columns = _grown(keys, columns)
                        starts = np.concatenate((starts, np.empty_like(starts)))
                        sizes = np.concatenate((sizes, np.empty_like(sizes)))
                        slot = _slot(keys, state)
                    keys[slot], columns[slot] = state, n_columns
                    starts[n_columns], sizes[n_columns] = start, size
                    n_columns += 1
                found[count] = columns[slot]
                count += 1
        ends[row + 1] = count
    return found[:count], ends, keys, columns, starts[:n_columns].copy(), sizes[:n_columns].copy()


@compiled
def _look_up(
    symbols: Symbols, rows: Offsets, smallest: int, largest: int, keys: Hashes, columns: Columns
) -> tuple[Columns, Offsets]:
    """The columns of the n-grams that the table has, and the end of each row."""
    found = np.empty(_room(symbols, rows, smallest, largest), np.int32)
    ends = np.zeros(len(rows), np.int64)
    count = 0
    for row in range(len(rows) - 1):
        for start in range(rows[row], rows[row + 1]):
            state = _BASIS
            for size in range(1, _longest(symbols, start, rows[row + 1], largest) + 1):
                state = _mix(state, symbols[start + size - 1])
                if _is_gram(symbols, start, size, smallest):
                    slot = _slot(keys, state)
                    if keys[slot] != _FREE:
                        found[count] = columns[slot]
                        count += 1
        ends[row + 1] = count
    return found[:count], ends


@compiled
def _summed(columns: Columns, counts: Counts, ends: Offsets) -> Offsets:
    """Sort each row and add up equal columns, in place; return the new row pointers."""
    pointers = np.zeros(len(ends), np.int64)
    last = -1
    for row in range(len(ends) - 1):
        columns[ends[row] : ends[row + 1]] = np.sort(columns[ends[row] : ends[row + 1]])
        first = last + 1
        for at in range(ends[row], ends[row + 1]):
            if last >= first and columns[last] == columns[at]:
                counts[last] += 1.0
            else:
                last += 1
                columns[last], counts[last] = columns[at], 1.0
        pointers[row + 1] = last + 1
    return pointers
