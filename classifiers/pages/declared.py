"""The languages that a page means by a declaration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from classifiers import languages

MOST: Final = 8
"""Parts of a list that are read."""

COUNTRIES: Final[dict[str, str]] = {"kr": "ko"}
"""Countries whose code is also that of a language with hardly a page: `kr` is Kanuri in ISO 639."""

_BETWEEN: Final = re.compile(r"\s*[,;|]\s*")
_TAG: Final = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]*)*", re.ASCII)


@lru_cache(maxsize=4096)
def meant(value: str) -> tuple[str, ...]:
    """Return the codes of the languages that a declaration names, each once, in its order.

    Beside the tags and names of `languages.canonical` it may be a list (`de, en`, RFC 9110, 8.5;
    Cai 2009, Listing 2-1), or the code of a country in place of its language (`jp`, `cz`, `kr-KR`).
    Unknown parts of a list are skipped; () if nothing is known.
    """
    whole = _language(value)
    if whole is not None:
        return (whole,)
    parts = _BETWEEN.split(value.strip())[:MOST]
    if len(parts) > 1:
        return _known(map(_language, parts))
    words = [_of_tag(word) for word in value.split()[:MOST]]
    return () if None in words else _known(words)


def _known(codes: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code for code in codes if code is not None))


def _language(text: str) -> str | None:
    return _of_tag(text) or languages.canonical(text)


def _of_tag(text: str) -> str | None:
    """Return the language of a tag, or of the country that stands in its place."""
    tag = text.strip().lower().rstrip("-_")
    if not _TAG.fullmatch(tag):
        return None
    first = re.split("[-_]", tag, maxsplit=1)[0]
    if first in COUNTRIES:
        return COUNTRIES[first]
    code = languages.canonical(tag)
    return languages.language_of_tld(first) if code is None and len(first) == 2 else code
