"""Legacy encodings: their labels, codecs and languages, and the neighbours of their characters."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.tables import rows

_CODECS = rows("codecs.txt")
"""WHATWG name -> Python's codec where it has another name, or one that reads more."""

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
    """Its rarity on the Web relative to others with the same letters, in nats; an estimate."""
    languages: list[str]
    """Codes of the languages that were written in it."""


CODE_PAGES = {
    name: CodePage(float(rarity), codes)
    for name, (rarity, *codes) in ((n, use.split()) for n, use in rows("code-pages.txt").items())
}
"""Single-byte encodings that are distinguished, by their WHATWG names."""

_SPACE, _DIGIT, _MARK, _APOSTROPHE = 1, 2, 3, 4
FIRST_LETTER = 5
"""Context of a neighbour `a` or `A`."""
BEYOND_ASCII = FIRST_LETTER + 26
"""Context of a neighbour beyond ASCII outside of `characters`; the contexts of `characters` follow.
"""


def canonical_label(label: str) -> str | None:
    """The WHATWG name of an encoding label, `Latin1` -> `windows-1252`; None if unknown.

    Unlike in the standard, ibm855 has a label: such pages exist.
    """
    return _LABELS.get(label.strip().lower())


def codec(name: str) -> str:
    """The Python codec of a WHATWG name."""
    return _CODECS.get(name, name)


def characters() -> dict[str, int]:
    """The characters beyond ASCII of all readings, in order, with their numbers from 1 on."""
    found: set[str] = set()
    high = bytes(range(128, 256))
    for name in CODE_PAGES:
        found.update(high.decode(codec(name), "ignore"))
    kept = sorted(c for c in found if not "\x80" <= c <= "\x9f")
    return {c: number for number, c in enumerate(kept, start=1)}


def triples(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each character beyond ASCII with the character before it and the one after it."""
    return (match.groups() for match in _TRIPLES.finditer(text))  # type: ignore[misc]


def context(character: str, number: Mapping[str, int]) -> int:
    """The number of a neighbour: its kind within ASCII, else its place among the characters."""
    if character.isascii():
        return int(ascii_contexts()[ord(character)])
    return BEYOND_ASCII + number.get(character, 0)


@cache
def ascii_contexts() -> NDArray[np.int64]:
    """The context of each ASCII character: space, digit, apostrophe, letter or other mark."""
    kinds = np.full(128, _MARK)
    kinds[: ord(" ") + 1] = _SPACE
    kinds[ord("0") : ord("9") + 1] = _DIGIT
    kinds[[ord("'"), ord('"')]] = _APOSTROPHE
    for first in "aA":
        kinds[ord(first) : ord(first) + 26] = np.arange(FIRST_LETTER, BEYOND_ASCII)
    return kinds
