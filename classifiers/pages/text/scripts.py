"""The scripts of the letters of a text.

A script often says more than any n-gram: kana is Japanese, Hangul is Korean, Thai letters
are Thai. This module counts letters per script in one pass over the UTF-16 code units of a
text. Names are those of ISO 15924, as in `classifiers.languages.scripts`.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from classifiers import languages

# First and last code point of runs of letters, per script.
_RANGES: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = (
    (
        "Latn",
        (
            (0x41, 0x5A),
            (0x61, 0x7A),
            (0xAA, 0xAA),
            (0xBA, 0xBA),
            (0xC0, 0xD6),
            (0xD8, 0xF6),
            (0xF8, 0x24F),
            (0x1E00, 0x1EFF),
        ),
    ),
    ("Grek", ((0x370, 0x3E1), (0x3F0, 0x3FF), (0x1F00, 0x1FFF))),
    ("Cyrl", ((0x400, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA69F))),
    ("Armn", ((0x531, 0x587),)),
    ("Hebr", ((0x5D0, 0x5F2), (0xFB1D, 0xFB4F))),
    ("Arab", ((0x620, 0x64A), (0x66E, 0x6D3), (0x6FA, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8C9))),
    ("Arab", ((0xFB50, 0xFDFB), (0xFE70, 0xFEFC))),
    ("Thaa", ((0x780, 0x7B1),)),
    ("Nkoo", ((0x7CA, 0x7EA), (0x7F4, 0x7F5))),
    ("Deva", ((0x900, 0x963), (0x970, 0x97F))),
    ("Beng", ((0x980, 0x9E5), (0x9F0, 0x9F1))),
    ("Guru", ((0xA01, 0xA65), (0xA70, 0xA76))),
    ("Gujr", ((0xA81, 0xAE5),)),
    ("Orya", ((0xB01, 0xB65),)),
    ("Taml", ((0xB82, 0xBE5),)),
    ("Telu", ((0xC00, 0xC65),)),
    ("Knda", ((0xC80, 0xCE5),)),
    ("Mlym", ((0xD00, 0xD65),)),
    ("Sinh", ((0xD81, 0xDDF),)),
    ("Thai", ((0xE01, 0xE3A), (0xE40, 0xE4E))),
    ("Laoo", ((0xE81, 0xECD), (0xEDC, 0xEDF))),
    ("Tibt", ((0xF00, 0xF1F), (0xF40, 0xFBC))),
    ("Mymr", ((0x1000, 0x103F), (0x1050, 0x108F))),
    ("Geor", ((0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2D))),
    ("Ethi", ((0x1200, 0x135A), (0x1380, 0x138F), (0x2D80, 0x2DDE))),
    ("Cher", ((0x13A0, 0x13FD), (0xAB70, 0xABBF))),
    ("Khmr", ((0x1780, 0x17D3),)),
    ("Mong", ((0x1820, 0x18AA),)),
    ("Olck", ((0x1C5A, 0x1C7D),)),
    ("Tfng", ((0x2D30, 0x2D67), (0x2D6F, 0x2D6F))),
    ("Hang", ((0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3))),
    ("Kana", ((0x3041, 0x3096), (0x30A1, 0x30FA), (0x30FC, 0x30FC), (0xFF66, 0xFF9D))),
    ("Hani", ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9))),
)

SCRIPTS: tuple[str, ...] = ("Zyyy", *dict.fromkeys(name for name, _ in _RANGES))
"""Names by number; number 0 is every character that is no letter of these scripts."""

# One sign of these says about as much as three letters of an alphabet.
_DENSE = frozenset({"Hang", "Kana", "Hani"})
_DENSE_WEIGHT = 3

# Pages in other scripts carry Latin menus, brands and addresses; the reverse is rare.
_NON_LATIN_WEIGHT = 2

# A Japanese text has at least this share of kana among its kana and Han signs.
_KANA_SHARE = 0.05


PARTS: dict[str, frozenset[str]] = {
    "Jpan": frozenset({"Hira", "Kana"}),
    "Kore": frozenset({"Hang"}),
}
"""Winner of a vote -> the scripts of its characters in `classifiers.languages`."""

SINGLE_SCRIPTS: dict[str, str] = {
    "Grek": "el",
    "Armn": "hy",
    "Hebr": "he",
    "Thaa": "dv",
    "Beng": "bn",
    "Guru": "pa",
    "Gujr": "gu",
    "Orya": "or",
    "Taml": "ta",
    "Telu": "te",
    "Knda": "kn",
    "Mlym": "ml",
    "Sinh": "si",
    "Thai": "th",
    "Laoo": "lo",
    "Tibt": "bo",
    "Mymr": "my",
    "Geor": "ka",
    "Ethi": "am",
    "Cher": "chr",
    "Khmr": "km",
    "Mong": "mn",
    "Jpan": "ja",
    "Kore": "ko",
    "Hani": "zh",
}
"""Scripts that have one language: nearly all pages in the script are written in it."""

_LETTERS: dict[str, tuple[str, ...]] = {
    "Jpan": ("Hani", "Kana"),
    "Hani": ("Hani", "Kana"),
    "Kore": ("Hang",),
}
"""Winner of a vote -> the scripts of this module whose letters are read."""


@dataclass(frozen=True, slots=True)
class ScriptVote:
    """The script that won among the letters of a text.

    `script` is an ISO 15924 name (`Jpan`, `Kore` and `Hani` for the signs of East Asia); None if
    there is no letter. `share` is its part of the letters, 0..1. `letters` is the number of all
    letters; an East Asian sign counts as three.
    """

    script: str | None
    share: float
    letters: int


def utf16_units(text: str) -> NDArray[np.uint16]:
    """The UTF-16 code units of a text; a character above U+FFFF becomes two that are no letters."""
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")


@cache
def script_table() -> NDArray[np.uint8]:
    """For each of the 65,536 code units its number in `SCRIPTS`."""
    table = np.zeros(0x10000, dtype=np.uint8)
    for name, runs in _RANGES:
        for first, last in runs:
            table[first : last + 1] = SCRIPTS.index(name)
    table[[0xD7, 0xF7]] = 0
    return table


def vote(units: NDArray[np.uint16]) -> ScriptVote:
    """The winning script of a text given as UTF-16 code units."""
    counts = np.bincount(script_table().take(units)).tolist()
    found = {SCRIPTS[at]: n for at, n in enumerate(counts) if n and at}
    weighted = _east_asia(found)
    letters = sum(weighted.values())
    if not letters:
        return ScriptVote(None, 0.0, 0)
    best = max(weighted, key=lambda name: weighted[name] * _weight(name))
    return ScriptVote(best, weighted[best] / letters, letters)


@cache
def foreign(script: str) -> NDArray[np.bool_]:
    """For each of the 65,536 code units whether it is a letter of another script, (65536,)."""
    own = [SCRIPTS.index(name) for name in _LETTERS.get(script, (script,))]
    table = script_table()
    found: NDArray[np.bool_] = (table != 0) & ~np.isin(table, own)
    return found


def _east_asia(found: dict[str, int]) -> dict[str, int]:
    """The counts, with kana, Han and Hangul joined into the writing systems that use them."""
    dense = {name: found.pop(name, 0) * _DENSE_WEIGHT for name in sorted(_DENSE)}
    if dense["Hang"] > dense["Kana"]:
        winner = "Kore" if dense["Hang"] * 2 > dense["Hani"] else "Hani"
    else:
        winner = "Jpan" if dense["Kana"] > _KANA_SHARE * sum(dense.values()) else "Hani"
    total = sum(dense.values())
    return {**found, winner: total} if total else found


def _weight(script: str) -> int:
    return 1 if script == "Latn" else _NON_LATIN_WEIGHT


def fits(language: str, ballot: ScriptVote) -> bool:
    """Whether a language is written in the script that won."""
    if ballot.script is None:
        return False
    wanted = PARTS.get(ballot.script, {ballot.script})
    return not languages.scripts(language).isdisjoint(wanted)
