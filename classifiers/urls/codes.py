"""Language codes and names missing from the labelled training URLs.

The fit saw few URLs with `/srpski/`, `hl=iw` or `/my/en/`. Here such clues get a lower bound of
evidence, codes shared by a country and a language get a tie for a second clue to break, and pairs
of language and country get the language used in the country. Names and countries come from CLDR.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr, rows
from langfocus.classifiers.tables.language_codes import PROJECT_CODES
from langfocus.classifiers.urls.clues import (
    HOST,
    KEYED,
    LOCALE,
    LOCALE_PAIR,
    MAX_TOKEN,
    MIN_NAME,
    NAME_END,
    NAME_START,
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

Fact = tuple[int, str, str, float]
"""A clue kind, a text, the language meant, and the least evidence."""

_NAME_NATS: Final = {HOST: 10.0, SEGMENT: 10.0, LOCALE: 6.0, KEYED: 11.0, SUFFIX: 5.0}
"""Least evidence of a name or an old code, by clue kind."""
_PLACES: Final = frozenset(
    "cree gothic jawa komi kongo latin latina lombard malay mari nauru nias picard prussian rundi"
    " sami scots shan tonga tulu valencia venda veneto".split()
)
"""Names of languages that are places, peoples or common words in URLs."""
_LANDS: Final = frozenset("kazakh kurdi kyrgyz tajik turkmen uzbek".split())
"""Names with which the name of a country begins."""
_WITHIN_NATS: Final = 5.0
"""Evidence of an English name at the start or end of a host label: often of a people."""
_OWN_NATS: Final = 7.0
"""The same of a name in the language itself."""
_PAIR_NATS: Final = 13.0
_SHARED_NATS: Final = 8.0
"""Most evidence of a language code that is also another country's code."""
_WORD_NATS: Final = 3.0
"""Most evidence of a code that is an English word; also the word's evidence for English."""
_INNER_NATS: Final = -6.0
"""Evidence of a word code below another directory for the code's language: n-grams overrate `am`.
"""
_TIED: Final = rows("tied-codes.txt")
"""Codes decided by a second clue; n-grams of the code's own language add to the evidence."""
_LONG_CODES: Final = (
    "ces cze deu dut ell eng fra fre ger gre hrv hun ita jpn kor nld pol ron rus slk slv spa srp"
    " swe ukr zho"
).split()
"""Three-letter codes that are not English words."""
_PAIR_LETTERS: Final = 4
_MOST_TERRITORIES: Final = 7
"""A language with more official territories marks no single country."""
_LEAST_SPEAKERS: Final = 5.0
"""Least percentage of speakers for a language to be used in a country's directory (`/us/es/`)."""
_SHORTENED: Final = "ad id ip mm pc ps tv".split()
"""Codes that also abbreviate a word: identifier, advertisement."""
_DEPARTMENTS: Final = "cs it".split()
"""Codes that are departments in hosts: computer science, information technology."""
_ENGLISH_COUNTRIES: Final = "au gb nz".split()
WEB_CODES: Final = rows("web-shares.txt")
"""Languages with a share of Web pages."""
_FREQUENT: Final = 250
"""Pages per million: above, an untied language code is hardly a country code."""
_IN_HOSTS: Final = 10_000
"""Pages per million: above, a language code in a host is hardly an abbreviation."""
_USED_COUNTRIES: Final = rows("used-countries.txt")


def completed(
    codes: Sequence[str], keys: Keys, nats: npt.NDArray[np.float16], more: Iterable[Fact] = ()
) -> tuple[Keys, Values]:
    """Return clue keys and evidence completed with facts, for the column languages.

    Codes recognised as words in training keep a row of zeros.
    """
    if not len(keys):
        return keys, nats.astype(np.float32)
    column = {code: at for at, code in enumerate(codes)}
    evidence = dict(zip(keys.tolist(), nats.astype(np.float32), strict=True))
    for kind, text, code, least in chain(_facts(), more):
        if code in column:
            row = evidence.setdefault(key_of(kind, text), np.zeros(len(codes), np.float32))
            row[column[code]] = max(row[column[code]], least)
    _limit(evidence, column)
    _forget_places(evidence, column)
    evidence |= _pairs(evidence, column)
    order = sorted(evidence)
    rows_in_order = np.concatenate([evidence[key] for key in order])
    return np.array(order, np.uint64), rows_in_order.reshape(len(order), -1)


def _facts() -> Iterator[Fact]:
    old, long = _codes_of(2), _codes_of(3)
    names = _names() | {"kr": "ko"}
    known = {code: code for code in PROJECT_CODES}
    plain = {code for code in WEB_CODES if len(code) == 2} - {*_TIED, *WORD_CODES, *_SHORTENED}
    own = {code: code for code in plain if _is_own(code)}
    often = {code for code in own if int(WEB_CODES[code]) > _IN_HOSTS} - {*_DEPARTMENTS}
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
        ({code: code for code in often}, {HOST: _NAME_NATS[HOST]}),
        (countries, {HOST: 7.5, SEGMENT: 8.0}),
        (no_codes, {KEYED: 8.0}),
    ):
        for text, code in meanings.items():
            for kind, least in places.items():
                yield kind, text, code, least


def names_in_hosts(unlearned: Collection[str]) -> list[Fact]:
    """Return the names of languages as clues within host labels."""
    natives = (text for _, (_, *others) in languages.called_names() for text in others)
    own = set(map(languages.unaccented, natives))
    return [
        (kind, text, code, _OWN_NATS if name in own else _WITHIN_NATS)
        for name, code in _names().items()
        if code in unlearned and len(name) >= MIN_NAME and name.isascii() and name not in _LANDS
        for kind, text in ((NAME_START, name), (NAME_END, name[::-1]))
    ]


def _is_own(code: str) -> bool:
    """Return True if the code is not a country code, or if the country's language is rarer."""
    other, pages = _country_language(code), int(WEB_CODES[code])
    return other in (None, code) or pages > min(_FREQUENT, int(WEB_CODES.get(other or "", 0)))


def _country_language(text: str) -> str | None:
    language = languages.language_of_tld(text) if len(text) == 2 else None
    return _USED_COUNTRIES.get(text, language)


def _names() -> dict[str, str]:
    """Return single-word names; names in other letters than Latin may be short."""
    return {
        name: code
        for called, code in languages.names().items()
        for name in {called, called.replace(" ", "")} - _PLACES
        if (4 if name.isascii() else 2) <= len(name) <= MAX_TOKEN
        and not {" ", "-"} & {*name}
        and name not in PROJECT_CODES
    }


@cache
def _codes_of(length: int) -> dict[str, str]:
    """Return other codes with `length` letters: former ISO 639 codes, and three-letter codes."""
    aliases = (alias for alias in cldr.aliases() | rows("own-codes.txt") if len(alias) == length)
    return {alias: code for alias in aliases if (code := languages.canonical(alias))}


def _countries() -> dict[str, str]:
    """Return codes of countries with an own language."""
    official = Counter(
        code for place in cldr.spoken_in() for code in _codes(cldr.official_in(place))
    )
    language_of = {code: _country_language(code) for code in map(str.lower, cldr.spoken_in())}
    return dict.fromkeys(_ENGLISH_COUNTRIES, "en") | {
        country: code
        for country, code in language_of.items()
        if code and code != country and official[code] <= _MOST_TERRITORIES
    }


def _codes(tags: Iterable[str]) -> set[str]:
    return set(filter(None, (languages.of_subtag(tag.partition("_")[0]) for tag in tags)))


def _forget_places(evidence: dict[int, Values], column: dict[str, int]) -> None:
    """Remove the evidence of names that are no sign of their language."""
    for name, kind in product(_PLACES, _NAME_NATS):
        row, code = evidence.get(key_of(kind, name)), languages.names().get(name)
        if row is not None and code in column:
            row[column[code]] = 0.0


def _limit(evidence: dict[int, Values], column: dict[str, int]) -> None:
    """Limit codes that are also words or country codes, so that a second clue decides."""
    shared = {code for code in column if _country_language(code) not in (None, code)}
    most = dict.fromkeys(shared, _SHARED_NATS) | dict.fromkeys(WORD_CODES, _WORD_NATS)
    for code in {*WORD_CODES} & column.keys() if "en" in column else ():
        evidence[key_of(WORD, code)] = row = np.zeros(len(column), np.float32)
        row[[column[code], column["en"]]] = _INNER_NATS, _WORD_NATS
    for kind, code in product((HOST, SEGMENT, SUFFIX), most | _TIED):
        row = evidence.get(key_of(kind, code), np.zeros(len(column), np.float32))
        other, least, own = _TIED.get(code, f"{code} inf {most.get(code)}").split()
        nats = min(row[column[code]], float(own)) if code in column else 0.0
        np.minimum(row, float(least), out=row)
        if other in column:
            row[column[other]] = float(least)
        if code in column:
            row[column[code]] = nats


def _pairs(evidence: dict[int, Values], column: dict[str, int]) -> dict[int, Values]:
    """Return country and language pairs, in both orders, as single clues.

    Both parts also count as clues, so a pair subtracts the evidence of the parts.
    """
    pairs: dict[int, Values] = {}
    nothing = np.zeros(len(column), np.float32)
    for (first, second), code in _paired().items():
        at = column.get(code)
        if at is None or len(first + second) != _PAIR_LETTERS:
            continue
        for pair, kinds in _PAIRS:
            parts = (key_of(kind, text) for text, kind in zip((first, second), kinds, strict=True))
            one, other = (evidence.get(key, nothing) for key in parts)
            row = nothing - one - other
            row[at] += _PAIR_NATS
            pairs[pair_key_of(pair, first, second)] = row
    return pairs


_PAIRS: Final = ((SEGMENT_PAIR, (SEGMENT, SEGMENT)), (LOCALE_PAIR, (LOCALE, REGION)))


def _paired() -> dict[tuple[str, str], str]:
    """Return pair of parts -> language: `my en` is English."""
    language_of: dict[tuple[str, str], str] = {}
    for territory, spoken in cldr.spoken_in().items():
        country = "uk" if territory == "GB" else territory.lower()
        used = [use.tag for use in spoken if use.status or use.percent >= _LEAST_SPEAKERS]
        official = _codes(cldr.official_in(territory))
        for code in sorted({*_codes(used), "en"}):
            language_of[country, code] = code
            language_of.setdefault((code, country), code)
        language_of |= {(code, country): code for code in official}
        language_of |= {
            (old, country): code for old, code in _codes_of(2).items() if code in official
        }
    return language_of
