"""The tokens of URLs that may name a language: codes, countries, names and letters.

A token may stand for several languages: `br` is the code of Breton and Brazil. What each is worth
is learned (:mod:`classifiers.training.naming`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from babel.core import get_global

from classifiers import languages
from classifiers.training.examples import plain
from classifiers.urls import clues
from classifiers.urls.batch import encode

CODE, COUNTRY, NAME, SCRIPT = "code", "country", "name", "script"
"""Why a token stands for a language."""

_USED_COUNTRIES: Final[dict[str, str]] = {
    "by": "be",
    "bz": "br",
    "bzh": "br",
    "cymru": "cy",
    "frl": "fy",
    "hk": "zh",
    "ie": "ga",
    "in": "hi",
    "kz": "kk",
    "lu": "lb",
    "me": "sr",
    "tat": "tt",
    "uk": "en",
}
"""Names of countries and regions that stand for a language in URLs, other than that of the domain.
"""
_LEAST_NAME: Final = 4
_BLOCKS: Final[dict[str, tuple[int, ...]]] = {
    "Grek": (0x380, 0x1F00, 0x1F80),
    "Cyrl": (0x400, 0x480),
    "Armn": (0x500,),
    "Hebr": (0x580,),
    "Arab": (0x600, 0x680),
    "Thaa": (0x780,),
    "Deva": (0x900,),
    "Beng": (0x980,),
    "Guru": (0xA00,),
    "Gujr": (0xA80,),
    "Orya": (0xB00,),
    "Taml": (0xB80,),
    "Telu": (0xC00,),
    "Knda": (0xC80,),
    "Mlym": (0xD00,),
    "Sinh": (0xD80,),
    "Thai": (0xE00,),
    "Laoo": (0xE80,),
    "Tibt": (0xF00, 0xF80),
    "Mymr": (0x1000,),
    "Geor": (0x1080,),
    "Ethi": (0x1200, 0x1280, 0x1300),
    "Cher": (0x1380,),
    "Cans": (0x1400, 0x1480, 0x1500, 0x1580, 0x1600),
    "Khmr": (0x1780,),
    "Mong": (0x1800,),
    "Olck": (0x1C00,),
    "Tfng": (0x2D00,),
    "Yiii": (0xA000, 0xA080, 0xA100, 0xA180, 0xA200, 0xA280, 0xA300, 0xA380, 0xA400),
}
"""Script -> 128 characters each in which its letters are (Unicode, Blocks.txt).

Latin, Han, Hangul and kana are left out: the classifiers know them well."""
_PLACES: Final = (
    clues.HOST,
    clues.SEGMENT,
    clues.LOCALE,
    clues.REGION,
    clues.KEYED,
    clues.PARAMETER,
    clues.SUFFIX,
)


WORD_PLACES: Final = (clues.HOST, clues.SEGMENT, clues.SUFFIX, clues.PARAMETER)
"""The kinds of clues in which a code may be a word."""
_WORD_LETTERS: Final = 3
_LEAST_SITES: Final = 3
"""Sites in other languages from which a code can be a word."""
_TIMES: Final = 4
"""A word stands on more sites of other languages than on that many times those of its own."""


class Token(NamedTuple):
    """A clue that may stand for a language."""

    kind: int
    """A kind of :mod:`classifiers.urls.clues`."""
    text: str
    reason: str
    """CODE, COUNTRY, NAME or SCRIPT."""
    language: str


def tokens_of(wanted: Sequence[str]) -> list[Token]:
    """All tokens of some languages, in a fixed order."""
    chosen = set(wanted)
    found = {
        Token(kind, text, reason, code)
        for text, reason, code in {*_codes(), *_countries(), *_names()}
        for kind in _PLACES
        if code in chosen and (kind != clues.REGION or reason == CODE)
    }
    return sorted({*found, *_letters(wanted)})


def _codes() -> Iterator[tuple[str, str, str]]:
    """Codes of two and three letters, with the older and the bibliographic ones."""
    for code in languages.known():
        yield code, CODE, code
    for alias in get_global("language_aliases"):
        meant = languages.canonical(alias) if len(alias) == 3 and alias.isalpha() else None
        if meant:
            yield alias, CODE, meant


def _countries() -> Iterator[tuple[str, str, str]]:
    """Codes of countries, which many sites take for those of languages (`/cz/`)."""
    for territory in get_global("territory_languages"):
        country = territory.lower()
        spoken = languages.language_of_tld(country) if len(country) == 2 else None
        if spoken and spoken != country:
            yield country, COUNTRY, spoken
    for country, code in _USED_COUNTRIES.items():
        yield country, COUNTRY, code


def _names() -> Iterator[tuple[str, str, str]]:
    """Names of one word, in English and in the language, with and without accents."""
    for code, called in languages.called_names():
        for name in called:
            for text in (name, plain(name, code)):
                if _LEAST_NAME <= len(text) <= clues.MAX_TOKEN and text.isalpha():
                    yield text, NAME, code


def _letters(wanted: Sequence[str]) -> Iterator[Token]:
    """One letter of each block of a script, for the languages that are written in it."""
    for code in wanted:
        for script in languages.scripts(code):
            for block in _BLOCKS.get(script, ()):
                yield Token(clues.BLOCK, chr(block), SCRIPT, code)


def code_words(
    urls: Sequence[str], labels: Sequence[str], sites: Sequence[str], named: Sequence[str]
) -> list[str]:
    """The codes of some languages that are words in URLs, sorted: `/run/` is not Rundi.

    A code of three letters is taken for a word if it stands mostly on sites in other languages. It
    then names its language only as the value of a parameter of a language (`lang=run`) or before a
    region.

    `urls`, `labels` (languages) and `sites` (registered domains) belong together.
    """
    codes = [t for t in tokens_of(named) if t.reason == CODE and len(t.text) == _WORD_LETTERS]
    meant: dict[str, set[str]] = defaultdict(set)
    for token in codes:
        meant[token.text].add(token.language)
    texts = {clues.key_of(kind, text): text for text in meant for kind in WORD_PLACES}
    keys = sorted(texts)
    rows = clues.find_clues(encode(urls), np.array(keys, np.uint64))
    own: dict[str, set[str]] = defaultdict(set)
    other: dict[str, set[str]] = defaultdict(set)
    for url, slot in np.argwhere(rows >= 0).tolist():
        text = texts[keys[rows[url, slot]]]
        (own if labels[url] in meant[text] else other)[text].add(sites[url])
    return sorted(
        text
        for text, where in other.items()
        if len(where) >= _LEAST_SITES and len(where) > _TIMES * len(own[text])
    )
