"""Single-byte encodings, their languages and characters, and the neighbours of a character."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classifiers.pages.charset.charsets import codec


class CodePage(NamedTuple):
    """A single-byte encoding and its use."""

    languages: str
    """Codes of the languages that were written in it, with spaces between."""
    rarity: float
    """Its rarity on the Web relative to others with the same letters, in nats; an estimate."""


_WESTERN = (
    "af br ca cy da de en es eu fi fo fr fy ga gd gl id is it kl la lb nl no oc pt se sq st sv sw"
    " tn"
)
_CENTRAL = "bs cs hr hsb hu pl ro sk sl sq"
CODE_PAGES: dict[str, CodePage] = {
    "windows-1252": CodePage(_WESTERN, 0.0),
    "windows-1251": CodePage("be bg mk ru sr uk", 0.0),
    "windows-1250": CodePage(_CENTRAL, 0.0),
    "iso-8859-2": CodePage(_CENTRAL, 0.5),
    "windows-1254": CodePage("tr", 0.5),
    "windows-1253": CodePage("el", 0.0),
    "iso-8859-7": CodePage("el", 0.5),
    "windows-1255": CodePage("he yi", 0.0),
    "iso-8859-8": CodePage("he", 0.5),
    "windows-1256": CodePage("ar fa ur", 0.0),
    "iso-8859-6": CodePage("ar", 1.0),
    "windows-1257": CodePage("et lt lv", 0.5),
    "windows-1258": CodePage("vi", 1.0),
    "windows-874": CodePage("th", 0.0),
    "koi8-r": CodePage("bg ru", 0.5),
    "koi8-u": CodePage("be uk", 0.5),
    "iso-8859-15": CodePage(_WESTERN, 2.0),
    "iso-8859-5": CodePage("be bg mk ru sr uk", 1.0),
    "ibm866": CodePage("be ru uk", 4.0),
    "ibm855": CodePage("bg mk ru sr", 5.0),
    "x-mac-cyrillic": CodePage("be bg mk ru sr uk", 4.0),
    "iso-8859-13": CodePage("et lt lv", 2.0),
    "iso-8859-4": CodePage("et lt lv", 3.0),
    "iso-8859-3": CodePage("eo mt", 2.0),
    "macintosh": CodePage("ca da de en es fi fr is it nl no pt sv", 4.0),
}
"""Single-byte encodings that are distinguished, by their WHATWG names."""

_SPACE, _DIGIT, _MARK, _APOSTROPHE = 1, 2, 3, 4
FIRST_LETTER = 5
"""Context of a neighbour `a` or `A`."""
BEYOND_ASCII = FIRST_LETTER + 26
"""Context of a neighbour beyond ASCII outside of `characters`; the contexts of `characters` follow.
"""

_TRIPLES = re.compile("(?s)(.)(?=([^\x00-\x7f])(.))")


def characters() -> list[str]:
    """The characters beyond ASCII of all readings, in order; the number of one is its place + 1."""
    found: set[str] = set()
    high = bytes(range(128, 256))
    for name in CODE_PAGES:
        found.update(high.decode(codec(name), "ignore"))
    return sorted(c for c in found if not "\x80" <= c <= "\x9f")


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
