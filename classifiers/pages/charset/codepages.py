"""Single-byte encodings, their languages and characters, and the neighbours of a character."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class CodePage(NamedTuple):
    """A single-byte encoding and its use."""

    codec: str
    """Python's name."""
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
    "windows-1252": CodePage("cp1252", _WESTERN, 0.0),
    "windows-1251": CodePage("cp1251", "be bg mk ru sr uk", 0.0),
    "windows-1250": CodePage("cp1250", _CENTRAL, 0.0),
    "iso-8859-2": CodePage("iso8859-2", _CENTRAL, 0.5),
    "windows-1254": CodePage("cp1254", "tr", 0.5),
    "windows-1253": CodePage("cp1253", "el", 0.0),
    "iso-8859-7": CodePage("iso8859-7", "el", 0.5),
    "windows-1255": CodePage("cp1255", "he yi", 0.0),
    "iso-8859-8": CodePage("iso8859-8", "he", 0.5),
    "windows-1256": CodePage("cp1256", "ar fa ur", 0.0),
    "iso-8859-6": CodePage("iso8859-6", "ar", 1.0),
    "windows-1257": CodePage("cp1257", "et lt lv", 0.5),
    "windows-1258": CodePage("cp1258", "vi", 1.0),
    "windows-874": CodePage("cp874", "th", 0.0),
    "koi8-r": CodePage("koi8-r", "bg ru", 0.5),
    "koi8-u": CodePage("koi8-u", "be uk", 0.5),
    "iso-8859-15": CodePage("iso8859-15", _WESTERN, 2.0),
    "iso-8859-5": CodePage("iso8859-5", "be bg mk ru sr uk", 1.0),
    "ibm866": CodePage("cp866", "be ru uk", 4.0),
    "ibm855": CodePage("cp855", "bg mk ru sr", 5.0),
    "x-mac-cyrillic": CodePage("mac_cyrillic", "be bg mk ru sr uk", 4.0),
    "iso-8859-13": CodePage("iso8859-13", "et lt lv", 2.0),
    "iso-8859-4": CodePage("iso8859-4", "et lt lv", 3.0),
    "iso-8859-3": CodePage("iso8859-3", "eo mt", 2.0),
    "macintosh": CodePage("mac_roman", "ca da de en es fi fr is it nl no pt sv", 4.0),
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
    for page in CODE_PAGES.values():
        found.update(high.decode(page.codec, "ignore"))
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
