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

# One sign of these says about as much as three letters of an alphabet.
_DENSE = frozenset({"Hang", "Kana", "Hani"})
_DENSE_WEIGHT = 3

# Pages in other scripts carry Latin menus, brands and addresses; the reverse is rare.
_NON_LATIN_WEIGHT = 2

# A Japanese text has at least this share of kana among its kana and Han signs.
_KANA_SHARE = 0.05

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
    """

    script: str | None
    letters: int


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


def vote(units: NDArray[np.uint16], around: NDArray[np.uint16] | None = None) -> ScriptVote:
    """The winning script of a text given as UTF-16 code units.

    Letters of the text around it count as letters; a fifth of the Latin ones has a vote.
    """
    counts = np.bincount(script_table().take(units), minlength=len(SCRIPTS))
    if around is not None and len(around):
        other = np.bincount(script_table().take(around), minlength=len(SCRIPTS))
        votes = AROUND * (counts + other)
        votes[_LATIN] -= (AROUND - 1) * other[_LATIN]
        script = _won(votes).script
        return ScriptVote(script, _won(counts + other).letters)
    return _won(counts)


def _won(counts: NDArray[np.int64]) -> ScriptVote:
    found = {SCRIPTS[at]: n for at, n in enumerate(counts.tolist()) if n and at}
    weighted = _east_asia(found)
    votes = {name: n * (1 if name == "Latn" else _NON_LATIN_WEIGHT) for name, n in weighted.items()}
    best = max(votes, key=votes.__getitem__, default=None)
    return ScriptVote(best, sum(weighted.values()))


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


def fits(language: str, ballot: ScriptVote) -> bool:
    """Whether a language is written in the script that won."""
    if ballot.script is None:
        return False
    wanted = PARTS.get(ballot.script, {ballot.script})
    return not languages.scripts(language).isdisjoint(wanted)
