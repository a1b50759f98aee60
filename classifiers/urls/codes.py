"""Facts about codes and names of languages that the labelled URLs of the training do not hold.

The fit knows few URLs with `/srpski/`, `hl=iw` or `/my/en/`. Here the evidence of such clues gets
a lower bound, codes of a country and of a language a tie that a second clue breaks, and pairs of a
language and a country the language that is used there. Names and countries are CLDR's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr, rows
from langfocus.classifiers.urls.clues import (
    HOST,
    KEYED,
    LOCALE,
    LOCALE_PAIR,
    MAX_TOKEN,
    REGION,
    SEGMENT,
    SEGMENT_PAIR,
    SUFFIX,
    WORD,
    WORD_CODES,
    Keys,
    key_of,
    pair_key_of,
)

Values = npt.NDArray[np.float32]

_NAME_NATS: Final = {HOST: 7.5, SEGMENT: 10.0, LOCALE: 6.0, KEYED: 11.0, SUFFIX: 5.0}
"""Least evidence of a name or an old code, by its place."""
_PAIR_NATS: Final = 13.0
_SHARED_NATS: Final = 8.0
"""Most evidence of a code of a language and of another country."""
_WORD_NATS: Final = 3.0
"""Most evidence of a code that is an English word; and of the word for English."""
_INNER_NATS: Final = -6.0
"""Evidence of such a word below another directory for its language: n-grams know `am` too well."""
_TIED: Final = rows("tied-codes.txt")
"""Codes that a second clue has to decide; n-grams of their own language add to their evidence."""
_LONG_CODES: Final = (
    "ces cze deu dut ell eng fra fre ger gre hrv hun ita jpn kor nld pol ron rus slk slv spa srp"
    " swe ukr zho"
).split()
"""Codes of three letters that are no words of English."""
_PAIR_LETTERS: Final = 4
_MOST_TERRITORIES: Final = 7
"""A language that is official in more has no country of its own."""
_LEAST_SPEAKERS: Final = 5.0
"""Percent of a country's people from which a language is used in its directory (`/us/es/`)."""
_SHORTENED: Final = "ad id ip mm pc ps tv".split()
"""Codes that other words have for an abbreviation: identifier, advertisement."""
_ENGLISH_COUNTRIES: Final = "au gb nz".split()
WEB_CODES: Final = rows("web-shares.txt")
"""Languages with a share of the Web's pages."""
_FREQUENT: Final = 250
"""Of a million pages: a code of a language with more is hardly a country's, if it is not tied."""
_USED_COUNTRIES: Final = rows("used-countries.txt")


def completed(codes: Sequence[str], keys: Keys, nats: Values) -> tuple[Keys, Values]:
    """The keys and the evidence of clues with these facts, for the languages of the columns.

    Codes that the training found to be words have a row of zeros, and keep it.
    """
    if not len(keys):
        return keys, nats
    column = {code: at for at, code in enumerate(codes)}
    found = dict(zip(keys.tolist(), nats.astype(np.float32), strict=True))
    for kind, text, code, least in _facts():
        if code in column:
            row = found.setdefault(key_of(kind, text), np.zeros(len(codes), np.float32))
            row[column[code]] = max(row[column[code]], least)
    _limit(found, column)
    found |= _pairs(found, column)
    order = sorted(found)
    return np.array(order, np.uint64), np.array([found[key] for key in order], np.float32)


def _facts() -> Iterator[tuple[int, str, str, float]]:
    """A kind of clue, a text, the language that it means, and its least evidence."""
    old, long = _codes_of(2), _codes_of(3)
    names = _names() | {"kr": "ko"}
    known = {code: code for code in languages.known()}
    plain = {code for code in WEB_CODES if len(code) == 2} - {*_TIED, *WORD_CODES, *_SHORTENED}
    own = {code: code for code in plain if _is_own(code)}
    written = {text: long[text] for text in _LONG_CODES}
    countries = {
        text: code
        for text, code in _countries().items()
        if text not in {*plain, *_TIED, *WORD_CODES, *_SHORTENED}
    }
    no_codes = {text: code for text, code in countries.items() if text not in known | old}
    for meanings, places in (
        (names, _NAME_NATS),
        ({text: old[text] for text in old if text.upper() not in cldr.spoken_in()}, _NAME_NATS),
        (old, {KEYED: _NAME_NATS[KEYED]}),
        (long | known, {KEYED: 9.0}),
        (known, {LOCALE: 6.0}),
        (own | written, {SEGMENT: 8.0}),
        (countries, {HOST: 7.5, SEGMENT: 8.0}),
        (no_codes, {KEYED: 8.0}),
    ):
        for text, code in meanings.items():
            for kind, least in places.items():
                yield kind, text, code, least


def _is_own(code: str) -> bool:
    """True if the code is no country's, or one of a country with a rarer language."""
    other, pages = _country_language(code), int(WEB_CODES[code])
    return other in (None, code) or pages > min(_FREQUENT, int(WEB_CODES.get(other or "", 0)))


def _country_language(text: str) -> str | None:
    spoken = languages.language_of_tld(text) if len(text) == 2 else None
    return _USED_COUNTRIES.get(text, spoken)


def _names() -> dict[str, str]:
    """Names of one word: those in other letters than Latin may be short."""
    return {
        name: code
        for name, code in languages.names().items()
        if (4 if name.isascii() else 2) <= len(name) <= MAX_TOKEN
        and not {" ", "-"} & {*name}
        and name not in languages.known()
    }


@cache
def _codes_of(length: int) -> dict[str, str]:
    """Other codes of a length: those that ISO 639 had before, and those of three letters."""
    aliases = (alias for alias in cldr.aliases() | rows("own-codes.txt") if len(alias) == length)
    return {alias: code for alias in aliases if (code := languages.canonical(alias))}


def _countries() -> dict[str, str]:
    """Codes of countries with a language of their own."""
    official = Counter(code for each in cldr.spoken_in() for code in _codes(cldr.official_in(each)))
    found = {code: _country_language(code) for code in map(str.lower, cldr.spoken_in())}
    return dict.fromkeys(_ENGLISH_COUNTRIES, "en") | {
        country: code
        for country, code in found.items()
        if code and code != country and official[code] <= _MOST_TERRITORIES
    }


def _codes(tags: Iterable[str]) -> set[str]:
    return set(filter(None, (languages.of_subtag(tag.partition("_")[0]) for tag in tags)))


def _limit(found: dict[int, Values], column: dict[str, int]) -> None:
    """Let a second clue decide what a code means that is a word, or a country's too."""
    shared = {code for code in column if _country_language(code) not in (None, code)}
    most = dict.fromkeys(shared, _SHARED_NATS) | dict.fromkeys(WORD_CODES, _WORD_NATS)
    for code in {*WORD_CODES} & column.keys() if "en" in column else ():
        found[key_of(WORD, code)] = row = np.zeros(len(column), np.float32)
        row[[column[code], column["en"]]] = _INNER_NATS, _WORD_NATS
    for kind, code in product((HOST, SEGMENT, SUFFIX), most | _TIED):
        row = found.get(key_of(kind, code), np.zeros(len(column), np.float32))
        other, least, own = _TIED.get(code, f"{code} inf {most.get(code)}").split()
        nats = min(row[column[code]], float(own)) if code in column else 0.0
        np.minimum(row, float(least), out=row)
        if other in column:
            row[column[other]] = float(least)
        if code in column:
            row[column[code]] = nats


def _pairs(found: dict[int, Values], column: dict[str, int]) -> dict[int, Values]:
    """Pairs of a country and a language, in both orders, as one clue.

    The clues of both parts count, too, so a pair takes their evidence away.
    """
    pairs: dict[int, Values] = {}
    for (first, second), code in _paired().items():
        at = column.get(code)
        if at is None or len(first + second) != _PAIR_LETTERS:
            continue
        for pair, kinds in _PAIRS:
            row = np.zeros(len(column), np.float32)
            for text, kind in zip((first, second), kinds, strict=True):
                part = found.get(key_of(kind, text))
                if part is not None:
                    row -= part
            row[at] += _PAIR_NATS
            pairs[pair_key_of(pair, first, second)] = row
    return pairs


_PAIRS: Final = ((SEGMENT_PAIR, (SEGMENT, SEGMENT)), (LOCALE_PAIR, (LOCALE, REGION)))


def _paired() -> dict[tuple[str, str], str]:
    """Both parts of a pair -> its language: `my en` is English."""
    found: dict[tuple[str, str], str] = {}
    for territory, spoken in cldr.spoken_in().items():
        country = "uk" if territory == "GB" else territory.lower()
        used = [each.tag for each in spoken if each.status or each.percent >= _LEAST_SPEAKERS]
        official = _codes(cldr.official_in(territory))
        for code in sorted({*_codes(used), "en"}):
            found[country, code] = code
            found.setdefault((code, country), code)
        found |= {(code, country): code for code in official}
        found |= {(old, country): code for old, code in _codes_of(2).items() if code in official}
    return found
