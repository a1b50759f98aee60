"""The marks of a language in a URL: its top-level domain, and its code in name, path or query.

They need no training, so they exist for every language of the project. Marks of other languages
speak against it: `/de/` and `.de` for German, `/fr/` and `.fr` against it. 1 stands for the
language, -1 for another, 0 for none. A URL with a code of the language and one of another, as in
`/de/en/`, has 1. A language beyond the project's codes has no top-level domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from classifiers.languages import known, language_of_tld, tlds_of
from classifiers.urls.clues import HOST, KEYED, LOCALE, SEGMENT, SUFFIX, TOP, Keys, key_of
from classifiers.urls.naming import starts_of
from classifiers.weights import Ints

Signs = npt.NDArray[np.int8]

DOMAIN, CODE = 0, 1
"""The two marks of a URL."""

_OF_A_CODE: Final = (HOST, SEGMENT, LOCALE, KEYED, SUFFIX)
"""The kinds of clues that a code may be; the value of any parameter is too often a word."""
_ISO_639_1: Final = 2


# Read by code of classifiers.compiled.
class MarkTable(NamedTuple):
    """The clues that are marks for one language; `starts` is `naming.starts_of` their keys."""

    keys: Keys
    """Sorted, (n,)."""
    starts: Ints
    marks: Signs
    """DOMAIN or CODE, (n,)."""
    signs: Signs
    """1 for the language, -1 for another, (n,)."""


@lru_cache(maxsize=8)
def mark_table(language: str) -> MarkTable:
    """Return the marks of all languages, as they speak for or against one."""
    of_key = {key: (mark, -1) for key, mark in _of_others(language)}
    of_key |= {key: (mark, 1) for key, mark in _of_language(language)}
    keys = np.array(sorted(of_key), np.uint64)
    values = np.array([of_key[int(key)] for key in keys], np.int8)
    return MarkTable(keys, starts_of(keys), values[:, 0].copy(), values[:, 1].copy())


def _of_language(language: str) -> Iterator[tuple[int, int]]:
    for domain in tlds_of(language) if language in known() else ():
        yield key_of(TOP, _as_read(domain)), DOMAIN
    for kind in _OF_A_CODE:
        yield key_of(kind, language), CODE


def _of_others(language: str) -> Iterator[tuple[int, int]]:
    for code in known() - {language}:
        for domain in tlds_of(code):
            if language_of_tld(domain) != language:
                yield key_of(TOP, _as_read(domain)), DOMAIN
        if len(code) == _ISO_639_1:  # codes of three letters are words too
            for kind in _OF_A_CODE:
                yield key_of(kind, code), CODE


def _as_read(domain: str) -> str:
    """Return a top-level domain as the reader of URLs spells it: decoded."""
    return domain.encode().decode("idna") if domain.startswith("xn--") else domain
