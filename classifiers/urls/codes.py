"""Facts about codes and names of languages that the labelled URLs of the training do not hold.

The fit knows few URLs with `/srpski/`, `hl=iw` or `/my/en/`. Here the evidence of such clues gets
a lower bound, codes of a country and of a language a tie that a second clue breaks, and pairs of a
language and a country the language that is used there. Names and countries are CLDR's.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

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
    WORD_CODES,
    Keys,
    key_of,
    pair_key_of,
)

Values = npt.NDArray[np.float32]

_CODE_NATS: Final = {HOST: 5.5, SEGMENT: 8.0, LOCALE: 6.0, KEYED: 9.0, SUFFIX: 4.0}
"""Least evidence of a code of a language alone, by its place."""
_NAME_NATS: Final = {HOST: 7.5, SEGMENT: 10.0, LOCALE: 6.0, KEYED: 11.0, SUFFIX: 5.0}
"""The same for a name or an old code."""
_COUNTRY_NATS: Final = {HOST: 7.5, SEGMENT: 8.0, KEYED: 8.0}
"""The same for a country's code in place of its language's (`/cz/`)."""
_PAIR_NATS: Final = 10.0
_WORD_NATS: Final = 3.0
"""Most evidence of a code that is an English word."""
_RARE_NATS: Final = 5.0
"""Most evidence of a rare language whose code is also a country's (`ee`)."""
_SHARED_NATS: Final = 8.0
"""Most evidence of other codes of a language and of a country: the path may outweigh it."""
_TIED: Final = {"ch": (), "la": (), "my": (), "uk": ("en",)}
"""Codes that a second clue has to decide, with the languages that they may mean as well."""
_TIED_NATS: Final = 3.0
_LONG_NATS: Final = 8.0
"""Least evidence of a code of three letters as a directory (`/deu/`)."""
_LONG_CODES: Final = (
    "ces cze deu dut ell eng fra fre ger gre hrv hun ita jpn kor nld pol ron rus slk slv spa srp"
    " swe ukr zho"
).split()
"""Codes of three letters that are no words of English."""
_MOST_TERRITORIES: Final = 7
"""A language that is official in more has no country of its own."""
_LEAST_SPEAKERS: Final = 5.0
"""Percent of a country's people from which a language is used in its directory (`/us/es/`)."""
_SHORTENED: Final = "ad cs id ip mm pc ps tv".split()
"""Codes that other words have for an abbreviation: computer science, identifier."""
_ADVERBS: Final = {
    "cesky": "cs",
    "latviski": "lv",
    "lietuviskai": "lt",
    "magyarul": "hu",
    "makedonski": "mk",
    "polsku": "pl",
    "russkij": "ru",
    "russkiy": "ru",
    "slovenski": "sl",
    "slovensky": "sk",
    "suomeksi": "fi",
}
"""Words of sites for *in the language* that are not its name."""
_ENGLISH_COUNTRIES: Final = "au gb nz".split()
_SHORT, _LONG = 2, 3
WEB_CODES: Final = rows("web-shares.txt")
"""Languages with a share of the Web's pages."""


class _Fact(NamedTuple):
    kind: int
    text: str
    language: str
    nats: float


def completed(codes: Sequence[str], keys: Keys, nats: Values) -> tuple[Keys, Values]:
    """The keys and the evidence of clues with these facts, for the languages of the columns.

    Codes that the training found to be words have a row of zeros, and keep it.
    """
    if not len(keys):
        return keys, nats
    column = {code: at for at, code in enumerate(codes)}
    found = dict(zip(keys.tolist(), nats.astype(np.float32), strict=True))
    _limit(found, column)
    for fact in _facts():
        at = column.get(fact.language)
        if at is None:
            continue
        row = found.setdefault(key_of(fact.kind, fact.text), _fresh(len(codes)))
        row[at] = max(row[at], fact.nats)
    _tie(found, column)
    found |= _pairs(found, column)
    order = sorted(found)
    return np.array(order, np.uint64), np.array([found[key] for key in order], np.float32)


def _fresh(width: int) -> Values:
    return np.zeros(width, np.float32)


@cache
def _facts() -> tuple[_Fact, ...]:
    """The least evidence of each name and code."""
    named = [
        _Fact(kind, text, code, nats)
        for text, code in {*_names(), *_ADVERBS.items(), *_old_codes()}
        for kind, nats in _NAME_NATS.items()
        if kind == KEYED or not _is_territory(text)
    ]
    plain = {code for code in WEB_CODES if len(code) == _SHORT} - {*WORD_CODES, *_SHORTENED}
    codes = [
        _Fact(kind, code, code, nats)
        for code in languages.known()
        for kind, nats in _CODE_NATS.items()
        if kind in (KEYED, LOCALE) or (kind == SEGMENT and code in plain and _is_own(code))
    ]
    old = {text for text, _ in _old_codes()}
    countries = [
        _Fact(kind, text, code, nats)
        for text, code in _countries()
        for kind, nats in _COUNTRY_NATS.items()
        if text not in (*WORD_CODES, *_SHORTENED)
        and (kind != KEYED or text not in {*languages.known(), *old})
        if text not in plain
    ]
    long = [_Fact(KEYED, text, code, _CODE_NATS[KEYED]) for text, code in _long_codes()]
    long += [
        _Fact(SEGMENT, text, code, _LONG_NATS)
        for text, code in _long_codes()
        if text in _LONG_CODES
    ]
    return (*named, *codes, *countries, *long)


def _is_own(code: str) -> bool:
    """True if the code is no country's, or one of a country with a rarer language."""
    other = _country_language(code)
    return other in (None, code) or int(WEB_CODES[code]) > int(WEB_CODES.get(other or "", 0))


def _country_language(text: str) -> str | None:
    spoken = languages.language_of_tld(text) if len(text) == _SHORT else None
    return rows("used-countries.txt").get(text, spoken)


def _is_territory(text: str) -> bool:
    return text.upper() in cldr.spoken_in()


def _names() -> Iterator[tuple[str, str]]:
    """Names of one word: those in other letters than Latin may be short."""
    for name, code in languages.names().items():
        least = 4 if name.isascii() else _SHORT
        is_word = not {" ", "-"} & {*name} and name not in languages.known()
        if is_word and least <= len(name) <= MAX_TOKEN:
            yield name, code


def _old_codes() -> Iterator[tuple[str, str]]:
    """Codes of two letters that ISO 639 had before: `iw` and `in`."""
    for alias in {*cldr.aliases(), *rows("own-codes.txt")}:
        code = languages.canonical(alias) if len(alias) == _SHORT else None
        if code:
            yield alias, code


def _long_codes() -> Iterator[tuple[str, str]]:
    """Codes of three letters, of which some are words."""
    for alias in {*cldr.aliases(), *rows("own-codes.txt")}:
        code = languages.canonical(alias) if len(alias) == _LONG else None
        if code:
            yield alias, code


@cache
def _countries() -> tuple[tuple[str, str], ...]:
    """Codes of countries with a language of their own."""
    official = [code for territory in cldr.spoken_in() for code in _official(territory)]
    found = [(country, "en") for country in _ENGLISH_COUNTRIES]
    for territory in cldr.spoken_in():
        country = territory.lower()
        spoken = languages.language_of_tld(country) if country.isalpha() else None
        spoken = rows("used-countries.txt").get(country, spoken)
        if spoken and spoken != country and official.count(spoken) <= _MOST_TERRITORIES:
            found.append((country, spoken))
    return tuple(found)


def _official(territory: str) -> list[str]:
    found = (languages.of_subtag(tag.partition("_")[0]) for tag in cldr.official_in(territory))
    return [code for code in found if code]


def _limit(found: dict[int, Values], column: dict[str, int]) -> None:
    """Limit the evidence of codes that are words, or the country of a more frequent language."""
    shared = {code for code in languages.known() if _country_language(code) not in (None, code)}
    limits = {code: _SHARED_NATS if code in WEB_CODES else _RARE_NATS for code in shared}
    limits |= dict.fromkeys(WORD_CODES, _WORD_NATS)
    for code, most in limits.items():
        for kind in (HOST, SEGMENT, SUFFIX):
            row = found.get(key_of(kind, code))
            if row is not None and code in column:
                row[column[code]] = min(row[column[code]], most)


def _tie(found: dict[int, Values], column: dict[str, int]) -> None:
    """Let a second clue decide what a tied code means."""
    for text, others in _TIED.items():
        for kind in (HOST, SEGMENT, SUFFIX):
            row = found.get(key_of(kind, text))
            if row is None:
                continue
            np.minimum(row, _TIED_NATS, out=row)
            for at in (column[code] for code in others if code in column):
                row[at] = max(row[at], _TIED_NATS)


def _pairs(found: dict[int, Values], column: dict[str, int]) -> dict[int, Values]:
    """Pairs of a country and a language, in both orders, as one clue.

    The clues of both parts count, too, so a pair takes their evidence away.
    """
    pairs: dict[int, Values] = {}
    for first, second, code in _paired():
        at = column.get(code)
        if at is None:
            continue
        for pair, kinds in _PAIRS:
            row = _fresh(len(column))
            for text, kind in zip((first, second), kinds, strict=True):
                part = found.get(key_of(kind, text))
                if part is not None:
                    row -= part
            row[at] += _PAIR_NATS
            pairs[pair_key_of(pair, first, second)] = row
    return pairs


_PAIRS: Final = ((SEGMENT_PAIR, (SEGMENT, SEGMENT)), (LOCALE_PAIR, (LOCALE, REGION)))


@cache
def _paired() -> tuple[tuple[str, str, str], ...]:
    """First part, second part, and the language of both: `my en` is English."""
    found: dict[tuple[str, str], str] = {}
    for territory, spoken in cldr.spoken_in().items():
        country = "uk" if territory == "GB" else territory.lower()
        if not country.isalpha():
            continue
        local = {
            languages.of_subtag(each.tag.partition("_")[0])
            for each in spoken
            if each.percent >= _LEAST_SPEAKERS or each.status in ("official", "official_regional")
        }
        official = set(_official(territory))
        for code in sorted({*filter(None, local), "en"}):
            if len(code) == _SHORT:
                found[country, code] = code
                if code in official or (code, country) not in found:
                    found[code, country] = code
        for code in official:
            found[code, country] = code
        found |= {(old, country): code for old, code in _old_codes() if code in official}
    return tuple((first, second, code) for (first, second), code in sorted(found.items()))
