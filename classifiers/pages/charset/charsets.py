"""Legacy encodings: labels, codecs, languages and character neighbours."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.tables import rows

_CODECS = rows("codecs.txt")
"""WHATWG name -> Python codec, where differently named or more tolerant."""

_LABELS = {
    label: name
    for name, labels in rows("charset-labels.txt").items()
    for label in (name, *labels.split())
}

MULTIBYTE = frozenset(
    {"shift_jis", "euc-jp", "iso-2022-jp", "iso-2022-kr", "euc-kr", "johab", "gb18030", "big5"}
)

_TRIPLES = re.compile("(?s)(.)(?=([^\x00-\x7f])(.))")


class CodePage(NamedTuple):
    """The use of a single-byte encoding."""

    rarity: float
    """Estimated rarity on the Web, in nats, relative to other encodings with the same letters."""
    languages: list[str]
    """Codes of the languages written in the encoding."""


CODE_PAGES = {
    name: CodePage(float(rarity), codes)
    for name, (rarity, *codes) in ((n, use.split()) for n, use in rows("code-pages.txt").items())
}
"""Single-byte encodings that detection distinguishes, by WHATWG name."""

_SPACE, _DIGIT, _MARK, _APOSTROPHE = 1, 2, 3, 4
FIRST_LETTER = 5
"""Context of a neighbour `a` or `A`."""
BEYOND_ASCII = FIRST_LETTER + 26
"""Context of a neighbour beyond ASCII outside `characters`, before the contexts of `characters`."""


def canonical_label(label: str) -> str | None:
    """Return the WHATWG name for an encoding label, `Latin1` -> `windows-1252`; None if unknown.

    Unlike the standard, ibm855 has a label, since pages in ibm855 exist.
    """
    return _LABELS.get(label.strip().lower())


def codec(name: str) -> str:
    """Return the Python codec for a WHATWG name."""
    return _CODECS.get(name, name)


def characters() -> dict[str, int]:
    """Return the characters beyond ASCII in any reading, in order, numbered from 1."""
    every: set[str] = set()
    high = bytes(range(128, 256))
    for name in CODE_PAGES:
        every.update(high.decode(codec(name), "ignore"))
    kept = sorted(c for c in every if not "\x80" <= c <= "\x9f")
    return {c: number for number, c in enumerate(kept, start=1)}


def triples(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each character beyond ASCII with the characters before and after."""
    return (match.groups() for match in _TRIPLES.finditer(text))  # type: ignore[misc]


def context(character: str, number: Mapping[str, int]) -> int:
    """Return a neighbour's context: the kind within ASCII, else by index among the characters."""
    if character.isascii():
        return int(ascii_contexts()[ord(character)])
    return BEYOND_ASCII + number.get(character, 0)


@cache
def ascii_contexts() -> NDArray[np.int64]:
    """Return each ASCII character's context: space, digit, apostrophe, letter or other mark."""
    kinds = np.full(128, _MARK)
    kinds[: ord(" ") + 1] = _SPACE
    kinds[ord("0") : ord("9") + 1] = _DIGIT
    kinds[[ord("'"), ord('"')]] = _APOSTROPHE
    for first in "aA":
        kinds[ord(first) : ord(first) + 26] = np.arange(FIRST_LETTER, BEYOND_ASCII)
    return kinds
