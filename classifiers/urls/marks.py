"""The marks of a language in a URL: its top-level domain, and its code in name, path or query.

They need no training, so they exist for every language of the project. Marks of other languages
speak against it: `/de/` and `.de` for German, `/fr/` and `.fr` against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from classifiers.languages import known, language_of_tld, tlds_of
from classifiers.urls.batch import encode
from classifiers.urls.clues import HOST, KEYED, LOCALE, SEGMENT, SUFFIX, TOP, find_clues, key_of

Marks = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

_OF_A_CODE = (HOST, SEGMENT, LOCALE, KEYED, SUFFIX)
"""The kinds of clues that a code may be; the value of any parameter is too often a word."""
_ISO_639_1 = 2


def marks(urls: Sequence[str], language: str) -> Marks:
    """Return the marks of the top-level domain and of codes, (n_urls, 2).

    1 stands for the language, -1 for another, 0 for none. A URL with a code of the language and one
    of another, as in `/de/en/`, has 1. A language
    beyond the project's codes has no top-level domain.
    """
    keys, kinds = _table(language)
    batch = encode(urls)
    rows = find_clues(batch.buffer, len(batch), keys)
    found: Marks = np.zeros((len(urls), 2), np.int8)
    for column, sign, is_one in kinds:
        found[is_one[rows].any(axis=1), column] = sign
    return found


@lru_cache(maxsize=8)
def _table(language: str) -> tuple[npt.NDArray[np.uint64], list[tuple[int, int, Flags]]]:
    """Return the keys of all marks, sorted, and which of them are of each column and sign.

    The last flag of each is that of a missing mark, False.
    """
    of_key = {key: (column, -1) for key, column in _of_others(language)}
    of_key |= {key: (column, 1) for key, column in _of_language(language)}
    keys = sorted(of_key)
    kinds = [
        (column, sign, np.array([*(of_key[key] == (column, sign) for key in keys), False]))
        for sign in (-1, 1)
        for column in (0, 1)
    ]
    return np.array(keys, np.uint64), kinds


def _of_language(language: str) -> Iterator[tuple[int, int]]:
    for domain in tlds_of(language) if language in known() else ():
        yield key_of(TOP, _as_read(domain)), 0
    for kind in _OF_A_CODE:
        yield key_of(kind, language), 1


def _of_others(language: str) -> Iterator[tuple[int, int]]:
    for code in known() - {language}:
        for domain in tlds_of(code):
            if language_of_tld(domain) != language:
                yield key_of(TOP, _as_read(domain)), 0
        if len(code) == _ISO_639_1:  # codes of three letters are words too
            for kind in _OF_A_CODE:
                yield key_of(kind, code), 1


def _as_read(domain: str) -> str:
    """Return a top-level domain as the reader of URLs spells it: decoded."""
    return domain.encode().decode("idna") if domain.startswith("xn--") else domain
