"""The words of a URL and its two parts, from which the features of the study are made.

Baykan 2013, 2.1: a URL is split at all characters that are no letters; single letters and six
special words are left out. Letters of every script count, percent-encoded or not, also in names
that are spelled `xn--`. Unlike in `ngrams`, bytes that are not UTF-8 separate words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from classifiers.urls.batch import MAX_CHARACTERS, plain

SPECIAL: Final = frozenset("www index html htm http https".split())
"""Runs of letters that do not count as words."""

_JOINERS: Final = "\u200c\u200d"  # occur inside Persian and Indic words
_LATIN: Final = re.compile("[a-z]+")
_SCHEME: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_HOST_END: Final = re.compile("[/?#]")
_PORT: Final = re.compile(r":\d*$")


def words(url: str) -> list[str]:
    """The words of a URL or of a part of one, in lower case and in their order.

    Only the first MAX_CHARACTERS count.
    """
    return [run for run in runs(url) if len(run) >= 2 and run not in SPECIAL]


def text_words(text: str) -> list[str]:
    """The words of a text of any length, which is no URL: nothing in it is decoded."""
    found = "".join(each if _is_letter(each) else " " for each in text.lower()).split()
    return [word for word in found if len(word) >= 2 and word not in SPECIAL]


def runs(url: str) -> list[str]:
    """All runs of letters, also single letters and special words."""
    url = url[:MAX_CHARACTERS]
    text = url.lower()
    if text.isascii() and "%" not in text and "xn--" not in text:
        return _LATIN.findall(text)
    text = unicodedata.normalize("NFC", _decoded(url).lower())
    return "".join(each if _is_letter(each) else " " for each in text).split()


def parts(url: str) -> tuple[str, str]:
    """The host, without scheme, credentials and port, and the rest after it, as written.

    The host ends at the first `/`, `?` or `#`; the rest begins with that sign. Either may be ''.
    Only the first MAX_CHARACTERS count.
    """
    url = url[:MAX_CHARACTERS]
    scheme = _SCHEME.match(url)
    start = scheme.end() if scheme else 0
    end = _HOST_END.search(url, start)
    stop = end.start() if end else len(url)
    host = url[start:stop].rpartition("@")[2].strip()
    return _PORT.sub("", host), url[stop:]


def _decoded(url: str) -> str:
    text = plain(url).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return unquote(text, errors="replace")


@lru_cache(maxsize=65536)
def _is_letter(character: str) -> bool:
    if character.isalpha() or character in _JOINERS:
        return True
    return unicodedata.category(character)[0] == "M"
