"""Words of languages with few or no labelled URLs, as evidence for a URL's language.

`benchmarks.url_words` counts in texts which words are more frequent in a language than in
others. Slugs and host names have such words, mostly without accents (`/hiru-urteko-...`).
"""

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import arrayfile
from langfocus.classifiers.compiled import inlined
from langfocus.classifiers.urls.ngrams import WORD_FACTOR, mixed
from langfocus.classifiers.weights import Floats

SHIPPED: Final = arrayfile.MODELS / "url-words.npz"
STEPS: Final = 16
"""Stored steps per nat."""
_KIND: Final = 15
"""Another kind than those of clues."""
_LEAST_NATS: Final = np.float32(3)
"""Evidence that a URL's words need before more counts: a single word may be a name."""
_MOST_NATS: Final = np.float32(20)
_ZERO: Final = np.float32(0)
_KEY_SHIFT, _BUCKET_SHIFT = np.uint64(33), np.uint32(15)


class Table(NamedTuple):
    """Evidence of hashed texts in the layout of the compiled code."""

    starts: npt.NDArray[np.int32]
    """First place for each value of a key's upper 16 bits."""
    keys: npt.NDArray[np.uint32]
    """Keys of 31 bits, sorted, one for each text and language; a larger number ends them."""
    columns: npt.NDArray[np.int16]
    nats: Floats


def table_of(
    keys: npt.NDArray[np.uint32], columns: npt.NDArray[Any], nats: npt.NDArray[Any]
) -> Table:
    """Return a table of sorted keys, each with the column of a language and its evidence."""
    starts = np.searchsorted(keys, np.arange(1 << 16) << 15).astype(np.int32)
    keys = np.append(keys, np.uint32(1 << 31))
    return Table(starts, keys, columns.astype(np.int16), nats.astype(np.float32))


@inlined
def key_in(kind: int, text: np.uint64) -> np.uint32:
    """Return a text's key of 31 bits from its hash."""
    return np.uint32(mixed(kind, text) >> _KEY_SHIFT)


@inlined
def place_in(table: Table, key: np.uint32) -> int:
    """Return the first place of a key, or -1."""
    at = table.starts[key >> _BUCKET_SHIFT]
    while table.keys[at] < key:
        at += 1
    return int(at) if table.keys[at] == key else -1


def word_key(word: str) -> int:
    """Return the key of a word in lower case."""
    key = np.uint64(0)
    with np.errstate(over="ignore"):
        for letter in word:
            key = (key ^ np.uint64(ord(letter))) * WORD_FACTOR
        return int(key_in(_KIND, key))


@cache
def words_of(named: tuple[str, ...]) -> Table:
    """Return the words of the named languages; ModelError if the file is damaged."""
    arrays = arrayfile.read_arrays(SHIPPED, "languages", "keys", "owners", "codes")
    column = {code: at for at, code in enumerate(named)}
    columns = np.array([column.get(str(code), -1) for code in arrays["languages"]], np.int16)
    columns = columns[arrays["owners"]]
    keys, nats = arrays["keys"], arrays["codes"] / STEPS
    return table_of(keys[columns >= 0], columns[columns >= 0], nats[columns >= 0])


@inlined
def weigh_words(
    words: Table, found: npt.NDArray[np.uint64], sums: Floats, row: int, logits: Floats
) -> None:
    """Add the evidence of words, `found` by their keys, to a row of `logits`; each counts once.

    `sums` are zeros before and after, one for each logit.
    """
    is_known = False
    for place in range(len(found)):
        key = key_in(_KIND, found[place])
        at = place_in(words, key)
        is_new = at >= 0
        for other in range(place if is_new else 0):
            is_new = is_new and found[other] != found[place]
        while is_new and words.keys[at] == key:
            sums[words.columns[at]] += words.nats[at]
            at, is_known = at + 1, True
    for language in range(len(sums) if is_known else 0):
        logits[row, language] += min(max(sums[language] - _LEAST_NATS, _ZERO), _MOST_NATS)
        sums[language] = _ZERO
