"""Letter scripts of a text.

A script is often better evidence than any n-gram: kana is Japanese, Hangul is Korean, Thai letters
are Thai. This module counts letters per script in one pass over a text's UTF-16 code units. Names
follow ISO 15924, as in `classifiers.languages.scripts`.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers import languages
from langfocus.classifiers.tables import rows

_RANGES = rows("scripts.txt")
"""Script -> first and last code points of its letter runs."""

SCRIPTS: tuple[str, ...] = ("Zyyy", *_RANGES)
"""Script names by number; number 0 is any character that is not a letter in these scripts."""

_LATIN = SCRIPTS.index("Latn")
_HAN_SCRIPTS = ("Hani", "Jpan")

# A sign in these scripts is worth about three letters of an alphabet.
_DENSE = frozenset({"Hang", "Kana", "Hani"})
_DENSE_WEIGHT = 3

# Pages in other scripts contain Latin menus, brands and addresses; the reverse is rare.
_VOTES = {"Latn": 1}
_NON_LATIN_WEIGHT = 2

# Signs unique to Chinese or to Japanese, and their weights for a text in Japanese:
# Chinese texts contain Japanese names, mostly in katakana.
_CHINESE, _JAPANESE, _HIRAGANA, _KATAKANA = 1, 2, 3, 4
_WEIGHTS = np.array([0, -1, 1, 1 / 2, 1 / 8])
_SURE_SIGNS = 2
"""Distinctive signs from which a Han text is not open between Chinese and Japanese."""
_MIXED = 0.1
"""Foreign signs per distinctive sign, above which a Han text remains unidentified."""

# Last Shift_JIS sign in level 1 of JIS X 0208, the signs in common use.
_LEVEL_1 = b"\x98\x72"

AROUND = 5
"""Votes per main text letter, relative to surrounding text."""

PARTS: dict[str, frozenset[str]] = {
    "Jpan": frozenset({"Hira", "Kana"}),
    "Kore": frozenset({"Hang"}),
}
"""Winning script -> character scripts in `classifiers.languages`."""

SINGLE_SCRIPTS = rows("single-scripts.txt")
"""Scripts with a single language, in which nearly every page is written."""

_LETTERS: dict[str, tuple[str, ...]] = {
    "Jpan": ("Hani", "Kana"),
    "Hani": ("Hani", "Kana"),
    "Kore": ("Hang",),
}
"""Winning script -> scripts in this module whose letters are read."""


@dataclass(frozen=True, slots=True)
class ScriptVote:
    """The winning script among the letters of a text."""

    script: str | None
    """ISO 15924 name (`Jpan`, `Kore` and `Hani` for East Asian signs); None without letters."""
    letters: int
    """Number of letters; an East Asian sign counts as three."""
    own_signs: int = 0
    """Signs unique to Chinese or to Japanese, counted in the language with more such signs."""
    is_open: bool = False
    """Whether the unique signs leave Chinese and Japanese open."""


def utf16_units(text: str) -> NDArray[np.uint16]:
    """Return UTF-16 code units; a character above U+FFFF becomes two units without a letter."""
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")


@cache
def script_table() -> NDArray[np.uint8]:
    """Return the number in `SCRIPTS` for each of the 65,536 code units."""
    table = np.zeros(0x10000, dtype=np.uint8)
    for number, runs in enumerate(_RANGES.values(), 1):
        for run in runs.split():
            first, _, last = run.partition("-")
            table[int(first, 16) : int(last or first, 16) + 1] = number
    table[[0xD7, 0xF7]] = 0
    return table


@cache
def _own_table() -> NDArray[np.uint8]:
    """Return for each code unit whether only Chinese or only Japanese uses the sign.

    A Han sign is Japanese alone if in JIS X 0208, but not in GB 2312 and Big5; Chinese alone if in
    GB 2312 or Big5, but not in level 1 of JIS X 0208.
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
    """Return a text's winning script from UTF-16 code units.

    Letters in the surrounding text count as letters; a fifth of the Latin letters there votes.
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
    """Return the winning script and the number of letters."""
    weighted = {name: n * _VOTES.get(name, _NON_LATIN_WEIGHT) for name, n in _joined(votes).items()}
    return max(weighted, key=weighted.__getitem__, default=None), sum(_joined(counts).values())


@cache
def foreign(script: str) -> NDArray[np.bool_]:
    """Return which code units are letters of another script, (65536,)."""
    own = [SCRIPTS.index(name) for name in _LETTERS.get(script, (script,))]
    table = script_table()
    is_foreign: NDArray[np.bool_] = (table != 0) & ~np.isin(table, own)
    return is_foreign


def _joined(counts: NDArray[np.int64]) -> dict[str, int]:
    """Return letters per script; kana, Han and Hangul are joined under the most likely language."""
    by_script = {SCRIPTS[at]: n for at, n in enumerate(counts.tolist()) if n and at}
    dense = {name: by_script.pop(name, 0) * _DENSE_WEIGHT for name in sorted(_DENSE)}
    if dense["Hang"] > dense["Kana"]:
        winner = "Kore" if dense["Hang"] * 2 > dense["Hani"] else "Hani"
    else:
        winner = "Jpan" if dense["Kana"] else "Hani"
    total = sum(dense.values())
    return {**by_script, winner: total} if total else by_script


def fits(language: str, ballot: ScriptVote) -> bool:
    """Return True if the language is written in the winning script."""
    if ballot.script is None:
        return False
    wanted = {"Hani"} if ballot.is_open else PARTS.get(ballot.script, {ballot.script})
    return not languages.scripts(language).isdisjoint(wanted)
