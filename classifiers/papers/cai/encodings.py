"""Tables of Cai's method: encodings of one language, and words of no language.

The names of encodings are those of `classifiers.pages.charset.charsets`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

from classifiers.pages.charset import charsets

_ONLY_IN: Final = {
    "th": "windows-874",
    "ja": "shift_jis euc-jp iso-2022-jp iso-2022-jp-2 iso-2022-jp-3 iso-2022-jp-2004"
    " x-mac-japanese",
    "ko": "euc-kr iso-2022-kr johab x-mac-korean",
    "zh": "gb18030 hz-gb-2312 iso-2022-cn iso-2022-cn-ext big5 euc-tw x-mac-chinesesimp"
    " x-mac-chinesetrad",
    "el": "windows-1253 iso-8859-7 ibm737 ibm869 x-mac-greek",
    "tr": "windows-1254 ibm857 x-mac-turkish",
    "he": "windows-1255 iso-8859-8 ibm862 x-mac-hebrew",
    "ar": "iso-8859-6 ibm864",
    "ru": "koi8-r iso-ir-111",
    "uk": "koi8-u",
    "vi": "windows-1258 viscii tcvn vps",
    "is": "ibm861 x-mac-icelandic",
    "hy": "armscii-8",
    "ka": "georgian-ps georgian-academy",
    "ta": "tscii",
    "lo": "mulelao-1",
    "kk": "ptcp154 kz-1048",
}
"""Language -> encodings whose letters are those of this language alone.

Names, aliases and the languages that they are registered for: the IANA registry of character
sets, and the labels of the WHATWG Encoding Standard; Microsoft's table of code pages for the
ibm, x-mac and windows ones; RFC 1489 (koi8-r: Russian) and RFC 2319 (koi8-u: Ukrainian). Cai's
library of 72 codes came from W3C's and Microsoft's lists (Cai 2009, 4.3.2, 5.1.1) and counts the
Turkish ones, as his Table 5-2 shows: iso-8859-9 is windows-1254 here. Left out are encodings of
several languages of one script, among them windows-1251, windows-1256, iso-8859-2 and ibm866.
"""
SINGLE_LANGUAGE: Final = {name: code for code, names in _ONLY_IN.items() for name in names.split()}
"""Encoding -> the only language that is written in it."""

WRITTEN_IN: Final[dict[str, str]] = {
    "windows-874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "euc-kr": "ko",
    "gb18030": "zh",
    "big5": "zh",
    "windows-1253": "el",
    "iso-8859-7": "el",
    "windows-1254": "tr",
    "windows-1255": "he yi",
    "windows-1256": "ar fa ur",
    "iso-8859-6": "ar",
    "windows-1251": "be bg mk mn ru sr uk",
    "koi8-r": "bg ru",
    "koi8-u": "uk",
    "iso-8859-5": "be bg mk ru sr",
    "ibm866": "be bg ru",
    "windows-1250": "bs cs hr hu pl ro sk sl",
    "iso-8859-2": "bs cs hr hsb hu pl ro sk sl",
    "windows-1257": "et lt lv",
    "iso-8859-3": "eo mt",
    "windows-1252": "ast br ca da de es fi fo fr ga gd gl is it lb nl nn no pt se sq sv wo",
}
"""Legacy encodings and the languages whose pages use them, the usual encoding of each first.

Languages without letters beyond ASCII are not listed: their bytes are the same in all of these and
in UTF-8.
"""

_WORDS_FILE: Final = Path(__file__).with_name("common-words.txt")
COMMON_WORDS: Final = tuple(_WORDS_FILE.read_text(encoding="utf-8").splitlines())
"""Words and lines on pages in any language (the kinds of Cai 2009, 2.3 and 3.2.2), lower case."""

_COMMON = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, COMMON_WORDS))})(?![^\W\d_])")


class _Shown(dict[int, str]):
    """Code point -> itself for letters and their marks, else a space."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        kept = character if unicodedata.category(character)[0] in "LM" else " "
        self[point] = kept
        return kept


_SHOWN = _Shown()


def language_of_encoding(label: str) -> str | None:
    """The only language of an encoding, given by any of its labels; None if it has several."""
    name = label.strip().lower()
    return SINGLE_LANGUAGE.get(charsets.canonical_label(name) or name)


def filtered(text: str) -> str:
    """A text in lower case without common words, symbols, digits and punctuation.

    Each of them becomes one space (Cai 2009, 3.2.2 and 4.3.1).
    """
    return " ".join(_COMMON.sub(" ", text.lower()).translate(_SHOWN).split())


@cache
def encodings_of(language: str) -> tuple[str, ...]:
    """The legacy encodings of a language, the most usual one first; empty if it has none."""
    return tuple(name for name, users in WRITTEN_IN.items() if language in users.split())


# The code pages have older letters with a cedilla instead of these with a comma.
_CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")


def encoded(text: str, encoding: str) -> bytes | None:
    """A text in an encoding; None if the encoding lacks some of its characters."""
    try:
        if encoding == "utf-8":
            return text.encode("utf-8", "replace")
        return text.translate(_CEDILLAS).encode(charsets.codec(encoding))
    except (UnicodeEncodeError, LookupError):
        return None
