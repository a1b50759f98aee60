"""Language codes, with names, top-level domains and scripts.

A project code is the ISO 639-1 code of a language, or else the ISO 639-3 code. Varieties that share
a Web share a code: `no` includes Bokmål, `zh` every written Chinese but Cantonese (`yue`), `ar` the
spoken Arabics, `fa` Dari, `ak` Twi, `tl` Filipino, `sr` Montenegrin and text tagged Serbo-Croatian.
Names, official languages and scripts come from CLDR (`classifiers.tables.cldr`). Further languages,
identified only by fastText models, use ISO 639-3 codes.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from typing import Final

from langfocus.classifiers.errors import LanguageError
from langfocus.classifiers.tables import cldr, rows
from langfocus.classifiers.tables.country_domains import (
    GENERIC,
    OTHER,
    TABLE_I,
    WITHOUT_A_DOMAIN,
    WRITTEN,
)
from langfocus.classifiers.tables.language_codes import (
    ALSO_ACCEPTED,
    CLDR,
    COMPOSITE,
    CONSTRUCTED,
    ENGLISH,
    MORE_SCRIPTS,
    NAMES,
    NOT_COUNTED,
    OWN,
    PROJECT_CODES,
    TAGS,
)

_TAG: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*(?:\.[\w-]+)?(?:@\w+)?", re.ASCII)
_LONGEST_TAG: Final = 80
_DECLARED: Final = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]*)*", re.ASCII)
_BETWEEN: Final = re.compile("[,;|]")
MOST_DECLARED: Final = 8
"""Parts parsed of a declared list."""
_LONGEST_DECLARED: Final = 256
"""Characters parsed of a declaration."""
_COUNTRIES: Final = {"kr": "ko"}
"""Country codes that are also codes of languages with hardly a page: `kr` is Kanuri in ISO 639."""
_NO_LANGUAGE: Final = frozenset({"mis", "mul", "und", "zxx"})
_SHOWN: Final = 40
"""Characters of an unknown name quoted in an error."""
_NEAR: Final = 0.7
"""Least similarity to an unknown name for a suggestion, 0..1 (`difflib`)."""


def canonical(tag: str) -> str | None:
    """Return the project code for a language tag or name; None if unknown.

    Accepts, in any case: ISO 639-1, -2 (both spellings) and -3; BCP 47 tags with region, script or
    `_`; POSIX locales (`de_DE.UTF-8`); English and native names (`German`, `Deutsch`), also with a
    remark in brackets (`Chinese (Simplified)`). Returns None for lists (`de, en`) and countries
    (`cz`, `jp`).
    """
    return None if len(tag) > _LONGEST_TAG else _canonical(tag)


@lru_cache(maxsize=8192)
def _canonical(tag: str) -> str | None:
    match = _TAG.fullmatch(tag.strip().lower())
    code = _of_tag(match) if match else None
    return code or names().get(spelled(tag))


def further(tag: str) -> str | None:
    """Return the ISO 639-3 code of a language beyond the project codes; None if unknown.

    Accepts the code, alone or before a script (`nog`, `nog_Cyrl`), and the English name.
    """
    if len(tag) > _LONGEST_TAG or canonical(tag) is not None:
        return None
    match = _TAG.fullmatch(tag.strip().lower())
    code = re.split("[-_.@]", match[0], maxsplit=1)[0] if match else ""
    return code if code in _further() else _further_codes().get(spelled(tag))


def parse_language(text: str) -> str:
    """Return the language code for a user's text, in any spelling of `canonical` or `further`.

    Raises LanguageError, whose message suggests languages with similar names.
    """
    code = canonical(text) or further(text)
    if code is not None:
        return code
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    near = [f"{name(code)} ({code})" for code in _near(text)]
    way_out = "give a code (de) or a name (German)"
    if near:
        *others, last = near
        way_out = f"did you mean {' or '.join(filter(None, (', '.join(others), last)))}?"
    raise LanguageError(f"{shown}: no such language; {way_out}")


def declared_languages(value: str) -> tuple[str, ...]:
    """Return the distinct language codes of a declaration, in order.

    Beside the tags and names of `canonical`, accepts a list (`de, en`, RFC 9110, 8.5; Cai 2009,
    Listing 2-1), and a country code in place of a language (`jp`, `cz`, `kr-KR`). Unknown list
    parts are skipped; () without any known part.
    """
    return _declared_languages(value[:_LONGEST_DECLARED])


@lru_cache(maxsize=4096)
def _declared_languages(value: str) -> tuple[str, ...]:
    whole = _declared(value)
    if whole is not None:
        return (whole,)
    parts = _BETWEEN.split(value.strip())[:MOST_DECLARED]
    if len(parts) > 1:
        return _distinct(map(_declared, parts))
    words = [_of_declared_tag(word) for word in value.split()[:MOST_DECLARED]]
    return () if None in words else _distinct(words)


def name(code: str) -> str:
    """Return the English name; raises LanguageError for an unknown code."""
    return ENGLISH.get(_checked(code)) or cldr.english_names().get(code) or _further()[code]


def language_of_tld(tld: str) -> str | None:
    """Return the language of a top-level domain; None for several languages or none.

    Three sources, in this order: Baykan 2013, 2.1, Table I; domains of languages, cities and other
    alphabets; CLDR's official language with most speakers in the country (`be` is Dutch, `kz`
    Russian, `in` Hindi). Unlike the paper, country codes sold worldwide (`tv`, `io`) have no
    language. Case and outer dots are ignored; internationalised domains are accepted in both
    spellings.
    """
    return _tlds().get(_a_label(tld.strip(".").lower()))


@lru_cache(maxsize=512)
def tlds_of(code: str) -> frozenset[str]:
    """Return a language's top-level domains, in the spelling of hosts: lower case, `xn--`.

    Raises LanguageError for an unknown code.
    """
    _checked(code)
    return frozenset(tld for tld, language in _tlds().items() if language == code)


def codes_of(target: str) -> tuple[str, ...]:
    """Return the languages of a target, which are separated by commas; () for ""."""
    return tuple(target.split(",")) if target else ()


def accept_language(target: str) -> str:
    """Return the Accept-Language value that prefers a target and accepts any other language.

    Raises LanguageError for an unknown code.
    """
    also = {code: ALSO_ACCEPTED.get(_checked(code)) for code in codes_of(target)}
    named = [f"{code},{more};q=0.9" if more else code for code, more in also.items()]
    return ",".join((*named, "*;q=0.1"))


@lru_cache(maxsize=512)
def scripts(code: str) -> frozenset[str]:
    """Return the ISO 15924 codes of the scripts in which a language is written.

    The scripts are character scripts: `zh` is {'Hani'}, `ja` {'Hani', 'Hira', 'Kana'}, never 'Hans'
    or 'Jpan'. Romanised Hindi and Chinese do not count. Raises LanguageError for an unknown code.
    """
    spelling = CLDR.get(_checked(code), code)
    names = set(cldr.scripts().get(spelling, ())) - CONSTRUCTED
    names.discard(NOT_COUNTED.get(code, ""))
    names.update(MORE_SCRIPTS.get(code, "").split())
    return frozenset(part for s in names for part in COMPOSITE.get(s, (s,)))


def _checked(code: str) -> str:
    if code in PROJECT_CODES or code in _further():
        return code
    other = canonical(code)
    way_out = f"write {other!r}" if other else "use an ISO 639-1 or 639-3 code such as 'de'"
    raise LanguageError(f"language {code!r} is not a known code: {way_out}")


def _of_tag(match: re.Match[str]) -> str | None:
    parts = re.split("[-_.@]", match[0], maxsplit=2)
    return TAGS.get("-".join(parts[:2])) or of_subtag(parts[0])


def of_subtag(subtag: str, aliases: Mapping[str, str] | None = None) -> str | None:
    """Return the code of a primary subtag, with aliases (default: CLDR's); None if unknown."""
    if subtag in OWN:
        return OWN[subtag]
    if subtag in PROJECT_CODES:
        return subtag
    alias = (aliases or cldr.aliases()).get(subtag, "").partition("_")[0]
    alias = OWN.get(alias, alias)
    return alias if alias in PROJECT_CODES else None


def _distinct(codes: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code for code in codes if code is not None))


def _declared(text: str) -> str | None:
    return _of_declared_tag(text) or canonical(text)


def _of_declared_tag(text: str) -> str | None:
    """Return a tag's language; a country code may replace the language code."""
    tag = text.strip().lower().rstrip("-_")
    if not _DECLARED.fullmatch(tag):
        return None
    first = re.split("[-_]", tag, maxsplit=1)[0]
    if first in _COUNTRIES:
        return _COUNTRIES[first]
    code = canonical(tag)
    return language_of_tld(first) if code is None and len(first) == 2 else code


@lru_cache(maxsize=1)
def names() -> Mapping[str, str]:
    """Return name -> code: English and native names, in the spelling of `spelled`.

    Project names win over CLDR names, and CLDR names over names without accents.
    """
    codes = {spelled(text): code for text, code in NAMES.items()}
    codes |= {spelled(text): code for code, text in ENGLISH.items()}
    for code, called in called_names():
        for text in called:
            codes.setdefault(text, code)
    for text, code in list(codes.items()):
        plain = unaccented(text)
        if plain.isascii():
            codes.setdefault(plain, code)
    return codes


def unaccented(text: str) -> str:
    """Return a text without accents."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def called_names() -> Iterator[tuple[str, list[str]]]:
    """Yield each code with English and native names, in lower case, without brackets."""
    return ((code, called.split(" | ")) for code, called in rows("names.txt").items())


@lru_cache(maxsize=1)
def _further() -> dict[str, str]:
    """Return ISO 639-3 code -> English name, for languages beyond the project codes.

    CLDR names about 270; the package python-iso639 (extra `fasttext`) names the rest. The project
    ships no copy of that table: SIL forbids redistributing the whole code set.
    """
    try:
        table = import_module("iso639").ALL_LANGUAGES
    except ImportError:
        table = ()
    names = {row.part3: row.name for row in table if row.scope == "I"} | cldr.english_names()
    codes = (code for code in names if len(code) == 3 and code not in _NO_LANGUAGE)
    return {code: names[code] for code in codes if canonical(code) is None}


@lru_cache(maxsize=1)
def _further_codes() -> dict[str, str]:
    """Return name -> code for the `_further` languages, without names of project languages."""
    names = sorted(_further().items(), reverse=True)
    return {spelled(text): code for code, text in names if canonical(text) is None}


def _near(text: str) -> list[str]:
    """Return up to three languages with similar names, or the language of a country code."""
    near = spelled(text[:_LONGEST_TAG])
    language = language_of_tld(near) if len(near) == 2 else None
    if language is not None:
        return [language]
    for codes in (names(), _further_codes()):
        matches = get_close_matches(near, codes, n=3, cutoff=_NEAR)
        if matches:
            return list(dict.fromkeys(codes[match] for match in matches))
    return []


def spelled(text: str) -> str:
    """Normalise a name for comparison: lower case, no brackets, single spaces."""
    text = re.sub(r"\([^()]*\)", " ", unicodedata.normalize("NFC", text))
    return " ".join(re.sub(r"[\s_-]+", " ", text).casefold().split())


@lru_cache(maxsize=1)
def _tlds() -> dict[str, str]:
    """Return top-level domain, in the spelling of hosts, -> language; earlier tables win."""
    tlds: dict[str, str] = {}
    for table in (TABLE_I, WRITTEN, OTHER):
        for code, row in table.items():
            tlds.update({_a_label(tld): code for tld in row.split()} | tlds)
    without = {*GENERIC.split(), *WITHOUT_A_DOMAIN.split()}
    for territory in cldr.spoken_in():
        tld = territory.lower()
        if tld.isalpha() and tld not in without:
            tags = cldr.official_in(territory)
            codes = list(filter(None, (of_subtag(tag.partition("_")[0]) for tag in tags)))
            if codes:
                tlds.setdefault(tld, codes[0])
    return tlds


def _a_label(label: str) -> str:
    if label.isascii():
        return label
    return "xn--" + label.encode("punycode").decode("ascii")
