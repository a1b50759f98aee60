"""Languages: one code for each, whatever it was called, and what hangs on it.

A code of this project is the ISO 639-1 code of a language, or its ISO 639-3 code where it has no
shorter one. Varieties that share a Web share a code: `no` takes in Bokmål, `zh` all written
Chinese, `tl` Filipino, `sr` what was tagged Serbo-Croatian. Names, official languages and
scripts are CLDR's, read from Babel when they are first asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import Final

from babel import localedata
from babel.core import get_global
from babel.languages import get_official_languages

from classifiers.errors import LanguageError
from classifiers.tables.country_domains import GENERIC, OTHER, TABLE_I, WITHOUT_A_DOMAIN, WRITTEN
from classifiers.tables.language_codes import (
    ALSO_ACCEPTED,
    CLDR,
    COMPOSITE,
    CONSTRUCTED,
    KNOWN,
    MORE_SCRIPTS,
    NAMES,
    OWN,
    ROMANISED,
)
from classifiers.tables.language_names import CALLED

__all__ = [
    "accept_language",
    "canonical",
    "known",
    "language_of_tld",
    "name",
    "scripts",
    "tlds_of",
]

_TAG: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*(?:\.[\w-]+)?(?:@\w+)?", re.ASCII)
_LONGEST_TAG: Final = 80


@lru_cache(maxsize=8192)
def canonical(tag: str) -> str | None:
    """Return the code of this project for a language however written, or None if unknown.

    Understood, in any case: ISO 639-1, -2 (both spellings) and -3; BCP 47 tags with region,
    script or `_`; POSIX locales (`de_DE.UTF-8`); English names and a language's own
    (`German`, `Deutsch`), with a remark in brackets (`Chinese (Simplified)`). Only a whole tag
    counts: lists (`de, en`) and countries (`cz`, `jp`) are None.
    """
    if len(tag) > _LONGEST_TAG:
        return None
    match = _TAG.fullmatch(tag.strip().lower())
    code = _of_subtag(match[1]) if match else None
    return code or _names().get(_spelled(tag))


def known() -> frozenset[str]:
    """Return all codes of the project."""
    return KNOWN


def name(code: str) -> str:
    """Return the English name; raises LanguageError for a code that is not known."""
    return str(_english()[_checked(code)])


def language_of_tld(tld: str) -> str | None:
    """Return the language a top-level domain speaks for, or None where that is open.

    Baykan 2013, 2.1, Table I goes first; then domains of languages, cities and other alphabets;
    then CLDR: the official language that most people of the country use (`be` is Dutch, `kz`
    Russian, `in` Hindi). Unlike the paper this knows country codes that are sold to the whole
    world and speak for no one (`tv`, `io`).
    Case and an outer dot do not matter; both spellings of an internationalised TLD are read.
    """
    label = tld.strip(".").lower()
    return _tlds().get(label if label.isascii() else _a_label(label))


def tlds_of(code: str) -> frozenset[str]:
    """Return all TLDs whose language is `code`, as hosts spell them: lower case, `xn--`.

    Raises LanguageError for a code that is not known.
    """
    return _tlds_by_language().get(_checked(code), frozenset())


def accept_language(code: str) -> str:
    """Return the header value that asks for `code` first and takes anything else.

    Raises LanguageError for a code that is not known.
    """
    also = ALSO_ACCEPTED.get(_checked(code))
    return f"{code},{also};q=0.9,*;q=0.1" if also else f"{code},*;q=0.1"


@lru_cache(maxsize=512)
def scripts(code: str) -> frozenset[str]:
    """Return the ISO 15924 codes of the letters `code` is written in, the usual ones and others.

    They are scripts of characters: `zh` is {'Hani'}, `ja` {'Hani', 'Hira', 'Kana'}, never
    'Hans' or 'Jpan'. Romanised Hindi or Chinese is not counted. Raises LanguageError for a code
    that is not known.
    """
    spelling = CLDR.get(_checked(code), code)
    found = {s for lang, s in _cldr_scripts() if lang == spelling} - CONSTRUCTED
    if code in ROMANISED:
        found.discard("Latn")
    found.update(MORE_SCRIPTS.get(code, "").split())
    return frozenset(part for s in found for part in COMPOSITE.get(s, (s,)))


def _checked(code: str) -> str:
    if code in KNOWN:
        return code
    meant = canonical(code)
    way_out = f"write {meant!r}" if meant else "use an ISO 639-1 or 639-3 code such as 'de'"
    raise LanguageError(f"language {code!r} is not a known code: {way_out}")


def _of_subtag(subtag: str) -> str | None:
    """The code for a tag's first part; CLDR's aliases may lead to a tag with region or script."""
    if subtag in OWN:
        return OWN[subtag]
    if subtag in KNOWN:
        return subtag
    alias = get_global("language_aliases").get(subtag, "").partition("_")[0]
    alias = OWN.get(alias, alias)
    return alias if alias in KNOWN else None


def _english() -> dict[str, str]:
    return localedata.load("en")["languages"]  # type: ignore[no-any-return]  # babel is untyped here


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Name -> code; an earlier source wins: ours, CLDR's, those without accents."""
    names = {_spelled(text): code for text, code in NAMES.items()}
    for line in CALLED.strip().splitlines():
        code, _, called = line.partition(": ")
        for text in called.split(" | "):
            names.setdefault(text, code)
    for text, code in list(names.items()):
        plain = _without_accents(text)
        if plain.isascii():
            names.setdefault(plain, code)
    return names


def _spelled(text: str) -> str:
    """A name without case, brackets, and what stands between its words."""
    text = re.sub(r"\([^()]*\)", " ", unicodedata.normalize("NFC", text))
    return " ".join(re.sub(r"[\s_-]+", " ", text).casefold().split())


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


@lru_cache(maxsize=1)
def _tlds() -> dict[str, str]:
    """TLD as hosts spell it -> language; an earlier table wins."""
    tlds: dict[str, str] = {}
    for table in (TABLE_I, WRITTEN, OTHER):
        for code, row in table.items():
            tlds.update({_a_label(tld): code for tld in row.split()} | tlds)
    without = {*GENERIC.split(), *WITHOUT_A_DOMAIN.split()}
    for territory in get_global("territory_languages"):
        tld = territory.lower()
        if tld.isalpha() and tld not in without and (codes := _official(territory)):
            tlds.setdefault(tld, codes[0])
    return tlds


def _official(territory: str) -> list[str]:
    """The territory's official languages that are known here, the most used first."""
    tags = get_official_languages(territory, regional=False, de_facto=True)
    codes = (_of_subtag(tag.partition("_")[0]) for tag in tags)
    return [code for code in codes if code]


def _a_label(label: str) -> str:
    if label.isascii():
        return label
    return "xn--" + label.encode("punycode").decode("ascii")


@lru_cache(maxsize=1)
def _tlds_by_language() -> dict[str, frozenset[str]]:
    grouped: defaultdict[str, set[str]] = defaultdict(set)
    for tld, code in _tlds().items():
        grouped[code].add(tld)
    return {code: frozenset(group) for code, group in grouped.items()}


@lru_cache(maxsize=1)
def _cldr_scripts() -> frozenset[tuple[str, str]]:
    """Pairs of language and script that CLDR knows: likely, spoken somewhere, or localised."""
    likely = get_global("likely_subtags")
    tags = [tag for lang, tag in likely.items() if "_" not in lang]
    tags += [tag for spoken in get_global("territory_languages").values() for tag in spoken]
    tags += localedata.locale_identifiers()
    parts = (tag.split("_") for tag in tags)
    return frozenset((p[0], p[1]) for p in parts if len(p) > 1 and len(p[1]) == 4)
