"""The scripts of the letters of a text.

A script often says more than any n-gram: kana is Japanese, Hangul is Korean, Thai letters
are Thai. This module counts letters per script in one pass over the UTF-16 code units of a
text. Names are those of ISO 15924, as in `classifiers.languages.scripts`.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers import languages
from langfocus.classifiers.tables import rows

_RANGES = rows("scripts.txt")
"""Script -> first and last code points of the runs of its letters."""

SCRIPTS: tuple[str, ...] = ("Zyyy", *_RANGES)
"""Names by number; number 0 is every character that is no letter of these scripts."""

_LATIN = SCRIPTS.index("Latn")
_HAN_SCRIPTS = ("Hani", "Jpan")

# One sign of these says about as much as three letters of an alphabet.
_DENSE = frozenset({"Hang", "Kana", "Hani"})
_DENSE_WEIGHT = 3

# Pages in other scripts carry Latin menus, brands and addresses; the reverse is rare.
_VOTES = {"Latn": 1}
_NON_LATIN_WEIGHT = 2

# Signs that one of Chinese and Japanese uses alone, and their weights for a text in Japanese:
# Chinese texts have Japanese names, mostly in katakana.
_CHINESE, _JAPANESE, _HIRAGANA, _KATAKANA = 1, 2, 3, 4
_WEIGHTS = np.array([0, -1, 1, 1 / 2, 1 / 8])
_SURE_SIGNS = 2
"""Such signs of a language from which a text with Han signs is not open."""
_MIXED = 0.1
"""Their number in the other language, for one of them, from which it is open all the same."""

# The signs of level 1 of JIS X 0208, which Japanese uses, end here in Shift_JIS.
_LEVEL_1 = b"\x98\x72"

AROUND = 5
"""A letter of the main text counts as many times as one of the text around it."""

PARTS: dict[str, frozenset[str]] = {
    "Jpan": frozenset({"Hira", "Kana"}),
    "Kore": frozenset({"Hang"}),
}
"""Winner of a vote -> the scripts of its characters in `classifiers.languages`."""

SINGLE_SCRIPTS = rows("single-scripts.txt")
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
    there is no letter. `letters` is the number of all letters; an East Asian sign counts as three.
    `own_signs` is the number of signs that of Chinese and Japanese only one uses, in the language
    that has more of them. `is_open` if they leave these two open.
    """

    script: str | None
    letters: int
    own_signs: int = 0
    is_open: bool = False


def utf16_units(text: str) -> NDArray[np.uint16]:
    """The UTF-16 code units of a text; a character above U+FFFF becomes two that are no letters."""
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")


@cache
def script_table() -> NDArray[np.uint8]:
    """For each of the 65,536 code units its number in `SCRIPTS`."""
    table = np.zeros(0x10000, dtype=np.uint8)
    for number, runs in enumerate(_RANGES.values(), 1):
        for run in runs.split():
            first, _, last = run.partition("-")
            table[int(first, 16) : int(last or first, 16) + 1] = number
    table[[0xD7, 0xF7]] = 0
    return table


@cache
def _own_table() -> NDArray[np.uint8]:
    """For each code unit whether it is a sign of Chinese or Japanese alone.

    A Han sign is of Japanese alone if it is in JIS X 0208, but not in GB 2312 and Big5; of Chinese
    alone if it is in one of these, but not in level 1 of JIS X 0208.
    """
    table = np.zeros(0x10000, dtype=np.uint8)
    table[0x3041:0x3097] = _HIRAGANA
    table[0x30A1:0x30FB] = table[0xFF66:0xFF9E] = _KATAKANA
    for sign in range(0x4E00, 0xA000):
        in_japan, *in_china = (
            chr(sign).encode(codec, "ignore") for codec in ("shift_jis", "gb2312", "big5")
        )
        if any(in_china) and (not in_japan or in_japan > _LEVEL_1):
            table[sign] = _CHINESE
        elif in_japan and not any(in_china):
            table[sign] = _JAPANESE
    return table


def vote(units: NDArray[np.uint16], around: NDArray[np.uint16] | None = None) -> ScriptVote:
    """The winning script of a text given as UTF-16 code units.

    Letters of the text around it count as letters; a fifth of the Latin ones has a vote.
    """
    counts = votes = np.bincount(script_table().take(units), minlength=len(SCRIPTS))
    if around is not None and len(around):
        other = np.bincount(script_table().take(around), minlength=len(SCRIPTS))
        counts, votes = counts + other, AROUND * (counts + other)
        votes[_LATIN] -= (AROUND - 1) * other[_LATIN]
    script, letters = _won(votes, counts)
    if script not in _HAN_SCRIPTS:
        return ScriptVote(script, letters)
    own = np.bincount(_own_table().take(units), minlength=len(_WEIGHTS))
    fewer, more = sorted((int(own[_CHINESE]), int(own[_JAPANESE:].sum())))
    is_open = more < _SURE_SIGNS or fewer > _MIXED * more
    return ScriptVote("Jpan" if own @ _WEIGHTS > 0 else "Hani", letters, more, is_open)


def _won(votes: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[str | None, int]:
    """The winning script, and the number of letters."""
    found = {name: n * _VOTES.get(name, _NON_LATIN_WEIGHT) for name, n in _joined(votes).items()}
    return max(found, key=found.__getitem__, default=None), sum(_joined(counts).values())


@cache
def foreign(script: str) -> NDArray[np.bool_]:
    """For each of the 65,536 code units whether it is a letter of another script, (65536,)."""
    own = [SCRIPTS.index(name) for name in _LETTERS.get(script, (script,))]
    table = script_table()
    found: NDArray[np.bool_] = (table != 0) & ~np.isin(table, own)
    return found


def _joined(counts: NDArray[np.int64]) -> dict[str, int]:
    """The letters of each script; kana, Han and Hangul are those of the language that has most."""
    found = {SCRIPTS[at]: n for at, n in enumerate(counts.tolist()) if n and at}
    dense = {name: found.pop(name, 0) * _DENSE_WEIGHT for name in sorted(_DENSE)}
    if dense["Hang"] > dense["Kana"]:
        winner = "Kore" if dense["Hang"] * 2 > dense["Hani"] else "Hani"
    else:
        winner = "Jpan" if dense["Kana"] else "Hani"
    total = sum(dense.values())
    return {**found, winner: total} if total else found


def fits(language: str, ballot: ScriptVote) -> bool:
    """Whether a language is written in the script that won."""
    if ballot.script is None:
        return False
    wanted = {"Hani"} if ballot.is_open else PARTS.get(ballot.script, {ballot.script})
    return not languages.scripts(language).isdisjoint(wanted)
