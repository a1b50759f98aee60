"""URL tokens that may name a language: codes, countries, names and letters.

A token may name several languages: `br` is the code of Breton and Brazil. Token weights are trained
(:mod:`classifiers.training.naming`).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr, rows
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.training.examples import plain
from langfocus.classifiers.urls import clues
from langfocus.classifiers.urls.batch import encode

CODE, COUNTRY, NAME, SCRIPT = "code", "country", "name", "script"
"""Kinds of evidence by which a token names a language."""

_USED_COUNTRIES: Final = rows("used-countries.txt")
"""Country and region names whose language in URLs differs from their language as domains."""
_LEAST_NAME: Final = 4
_BLOCKS: Final = rows("letter-blocks.txt")
"""Scripts and the 128-character blocks of their letters (Unicode, Blocks.txt).

Latin, Han, Hangul and kana are left out: the classifiers identify them well.
"""

WORD_PLACES: Final = (clues.HOST, clues.SEGMENT, clues.SUFFIX, clues.PARAMETER)
"""Clue kinds in which a code may be a word."""
_PLACES: Final = (*WORD_PLACES, clues.LOCALE, clues.REGION, clues.KEYED)
_WORD_LETTERS: Final = 3
_LEAST_SITES: Final = 3
"""Minimum sites in other languages at which a code can be a word."""
_TIMES: Final = 4
"""A word's minimum ratio of sites in other languages to sites in its own language."""


class Token(NamedTuple):
    """A clue that may name a language."""

    kind: int
    """Clue kind of :mod:`classifiers.urls.clues`."""
    text: str
    reason: str
    """CODE, COUNTRY, NAME or SCRIPT."""
    language: str


def tokens_of(wanted: Sequence[str]) -> list[Token]:
    """Return all tokens of the languages, in a fixed order."""
    chosen = set(wanted)
    tokens = {
        Token(kind, text, reason, code)
        for text, reason, code in {*_codes(), *_countries(), *_names()}
        for kind in _PLACES
        if code in chosen and (kind != clues.REGION or reason == CODE)
    }
    return sorted({*tokens, *_letters(wanted)})


def _codes() -> Iterator[tuple[str, str, str]]:
    """Yield codes of two and three letters, older and bibliographic codes included."""
    for code in PROJECT_CODES:
        yield code, CODE, code
    for alias in cldr.aliases():
        language = languages.canonical(alias) if len(alias) == 3 and alias.isalpha() else None
        if language:
            yield alias, CODE, language


def _countries() -> Iterator[tuple[str, str, str]]:
    """Yield country codes, often used as language codes by sites (`/cz/`)."""
    for territory in cldr.spoken_in():
        country = territory.lower()
        language = languages.language_of_tld(country) if len(country) == 2 else None
        if language and language != country:
            yield country, COUNTRY, language
    for country, code in _USED_COUNTRIES.items():
        yield country, COUNTRY, code


def _names() -> Iterator[tuple[str, str, str]]:
    """Yield one-word names, in English and in the language, with and without accents."""
    for code, called in languages.called_names():
        for name in called:
            for text in (name, plain(name, code)):
                if _LEAST_NAME <= len(text) <= clues.MAX_TOKEN and text.isalpha():
                    yield text, NAME, code


def _letters(wanted: Sequence[str]) -> Iterator[Token]:
    """Yield one letter per block of a script, for the languages written in the script."""
    for code in wanted:
        for script in languages.scripts(code):
            for block in _BLOCKS.get(script, "").split():
                yield Token(clues.BLOCK, chr(int(block, 16)), SCRIPT, code)


def code_words(
    urls: Sequence[str], labels: Sequence[str], sites: Sequence[str], named: Sequence[str]
) -> list[str]:
    """Return the language codes that are words in URLs, sorted: `/run/` is not Rundi.

    A three-letter code is a word if it occurs mostly on sites in other languages. A word names its
    language only as the value of a language parameter (`lang=run`) or before a region.

    `urls`, `labels` (languages) and `sites` (registered domains) are parallel sequences.
    """
    codes = [t for t in tokens_of(named) if t.reason == CODE and len(t.text) == _WORD_LETTERS]
    languages_of: dict[str, set[str]] = defaultdict(set)
    for token in codes:
        languages_of[token.text].add(token.language)
    texts = {clues.key_of(kind, text): text for text in languages_of for kind in WORD_PLACES}
    keys = sorted(texts)
    rows = clues.find_clues(encode(urls), len(urls), np.array(keys, np.uint64))
    own: dict[str, set[str]] = defaultdict(set)
    other: dict[str, set[str]] = defaultdict(set)
    for url, slot in np.argwhere(rows >= 0).tolist():
        text = texts[keys[rows[url, slot]]]
        (own if labels[url] in languages_of[text] else other)[text].add(sites[url])
    return sorted(
        text
        for text, where in other.items()
        if len(where) >= _LEAST_SITES and len(where) > _TIMES * len(own[text])
    )
