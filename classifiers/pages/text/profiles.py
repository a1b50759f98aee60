"""The n-gram profiles that langdetect ships, as arrays.

langdetect draws n-grams of a text at random until one language is nearly certain. Here every
n-gram of the text is used once, with the same profiles, the same normalisation of characters and
the same smoothing. The answer is the limit of langdetect's sampling; it costs a tenth, and it is
the same each time.

Unlike in langdetect, only languages of one script are compared with each other.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from classifiers.pages.text.scripts import SCRIPTS, script_table, utf16_units

_LATIN = (
    "af ca cs cy da de en es et fi fr hr hu id it lt lv nl no pl pt ro sk sl so sq sv sw tl tr vi"
)

GROUPS: dict[str, tuple[str, ...]] = {
    "Latn": tuple(_LATIN.split()),
    "Cyrl": ("bg", "mk", "ru", "uk"),
    "Arab": ("ar", "fa", "ur"),
    "Deva": ("hi", "mr", "ne"),
    "Grek": ("el",),
    "Hebr": ("he",),
    "Thai": ("th",),
}
"""Script -> the languages whose profiles are read for it."""

OVERLAP = 6.0
"""Divisor of log-likelihoods. The n-grams of a text overlap, so they count the same evidence
several times; with this divisor the confidence is right on short texts."""

_SMOOTHING = 0.5 / 10_000  # langdetect's ALPHA_DEFAULT / BASE_FREQ
_VIETNAMESE_MARKS = (0x300, 0x323)
_SPACE = 1  # its number among the characters; 0 means "no character"


class ProfileGroup:
    """The profiles of the languages of one script, ready to be summed over a text.

    `languages` gives the columns of every result. Building reads the profile files of the
    installed langdetect once (Latin: 31 files, about 0.5 s; the others a tenth of that).
    """

    def __init__(self, script: str) -> None:
        self.languages = GROUPS[script]
        profiles = [_read_profile(code) for code in self.languages]
        grams = sorted({gram for freq, _ in profiles for gram in freq})
        characters = sorted({character for gram in grams for character in gram} - {" "})
        self._base = len(characters) + 3
        self._numbers = self._character_table(characters, None if script == "Latn" else script)
        self._upper = _upper_table()
        number = {c: i for i, c in enumerate([" ", *characters], start=_SPACE)}
        keys = np.array([self._pack(gram, number) for gram in grams], dtype=np.int64)
        order = np.argsort(keys)
        self._keys = keys[order]
        self._gains = _gain_matrix(grams, profiles)[order]

    def gains(self, text: str) -> tuple[NDArray[np.float64], int]:
        """Per language the sum of log(1 + p / smoothing) over the n-grams of a text.

        Differences are log-likelihood ratios (nats); 0 means that no n-gram is known. The second
        value is the number of n-grams.
        """
        keys, counts = np.unique(self._text_keys(text), return_counts=True)
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        known = self._keys[places] == keys
        rows = self._gains[places[known]]
        total = np.einsum("i,ij->j", counts[known].astype(np.float32), rows)
        return total.astype(np.float64), int(counts.sum())

    def _text_keys(self, text: str) -> NDArray[np.int64]:
        units = utf16_units(_compose_vietnamese(text))
        numbers = self._numbers[units]
        spaces = numbers == _SPACE
        keep = ~(spaces & np.concatenate(([True], spaces[:-1])))
        last = np.concatenate(([_SPACE], numbers[keep])).astype(np.int64)
        upper = np.concatenate(([False], self._upper[units][keep]))
        return self._pack_windows(last, upper)

    def _pack_windows(self, last: NDArray[np.int64], upper: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Keys of all 1-, 2- and 3-grams that do not end inside a word of capitals."""
        base = self._base
        plain = ~(upper[1:] & upper[:-1])
        second = last[1:]
        pairs = last[:-1] * base + second
        triples = pairs[:-1] * base + second[1:]
        inside = (last[1:-1] != _SPACE) & plain[1:]
        return np.concatenate((second[plain & (second != _SPACE)], pairs[plain], triples[inside]))

    def _pack(self, gram: str, number: dict[str, int]) -> int:
        key = 0
        for character in gram:
            key = key * self._base + number[character]
        return key

    def _character_table(self, characters: list[str], only: str | None) -> NDArray[np.int64]:
        """Code unit -> number of its character after langdetect's normalisation.

        With `only`, letters of every other script count as spaces: langdetect, too, drops the
        Latin parts of a text in another script.
        """
        normal = _normal_units()
        number = np.full(0x10000, len(characters) + 2, dtype=np.int64)
        number[0x20] = _SPACE
        units = np.array([ord(c) for c in characters], dtype=np.int64)
        number[units] = np.arange(_SPACE + 1, len(characters) + 2)
        table = number[normal]
        if only is not None:
            scripts = script_table()
            table[(scripts != 0) & (scripts != SCRIPTS.index(only))] = _SPACE
        return table


@cache
def group(script: str) -> ProfileGroup:
    """The profiles of a script of `GROUPS`, read at the first call."""
    return ProfileGroup(script)


def _read_profile(code: str) -> tuple[dict[str, int], list[int]]:
    from langdetect import PROFILES_DIRECTORY

    profile = json.loads((Path(PROFILES_DIRECTORY) / code).read_text(encoding="utf-8"))
    freq = {gram: n for gram, n in profile["freq"].items() if 1 <= len(gram) <= 3}
    return freq, profile["n_words"]


def _gain_matrix(
    grams: list[str], profiles: list[tuple[dict[str, int], list[int]]]
) -> NDArray[np.float32]:
    lengths = np.array([len(gram) for gram in grams]) - 1
    columns = []
    for freq, n_words in profiles:
        counts = np.array([freq.get(gram, 0) for gram in grams], dtype=np.float64)
        columns.append(np.log1p(counts / np.array(n_words)[lengths] / _SMOOTHING))
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float32)


@cache
def _normal_units() -> NDArray[np.int64]:
    """Code unit -> code unit after langdetect's normalisation of characters."""
    from langdetect.utils.ngram import NGram

    normalize = NGram.normalize
    return np.array([ord(normalize(chr(unit))) for unit in range(0x10000)], dtype=np.int64)


@cache
def _upper_table() -> NDArray[np.bool_]:
    normal = _normal_units()
    return np.array([chr(unit).isupper() for unit in range(0x10000)])[normal]


def _compose_vietnamese(text: str) -> str:
    """A text whose letters with Vietnamese tone marks are single characters."""
    if text.isascii() or not any(chr(m) in text for m in range(*_VIETNAMESE_MARKS)):
        return text
    from langdetect.utils.ngram import NGram

    return str(NGram.normalize_vi(text))
