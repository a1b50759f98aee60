"""Counts neighbours of letters in labelled texts, for the detection of single-byte encodings.

The counts come from the texts and from langdetect's profiles.
"""

import json
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from langfocus.classifiers.arrayfile import write_arrays
from langfocus.classifiers.datasets.texts import LabelledText
from langfocus.classifiers.pages.charset.charsets import (
    BEYOND_ASCII,
    CODE_PAGES,
    characters,
    context,
    triples,
)

_PROFILE_CHARACTERS = 20_000
_MANY = 10_000
"""Neighbours of a language from which single occurrences are dropped: most are foreign names."""
_OLD_LETTERS = str.maketrans("șțȘȚی", "şţŞŢي")
_TONES = "\u0300\u0301\u0303\u0309\u0323"


class Letters(NamedTuple):
    """The counts of neighbours of some languages; see `_counts`."""

    languages: list[str]
    counts: list[Counter[int]]

    def save(self, path: Path) -> None:
        """Write the model; the same counts give the same file."""
        keys = [np.diff(np.array(sorted(c)), prepend=0) for c in self.counts]
        values = [np.log2([c[key] for key in sorted(c)]) for c in self.counts]
        write_arrays(
            path,
            languages=np.array(self.languages),
            lengths=np.array([len(c) for c in self.counts]),
            keys=np.concatenate(keys).astype(np.uint32),
            counts=np.round(16 * np.concatenate(values)).clip(0, 255).astype(np.uint8),
        )


def train(texts: Iterable[LabelledText]) -> Letters:
    """The model of some texts, without held-out ones and languages that have no encoding."""
    wanted = {code for page in CODE_PAGES.values() for code in page.languages}
    rows = defaultdict(list)
    for text, language, *_ in texts:
        if language in wanted and not is_held_out(text):
            rows[language].append(text)
    languages = sorted(rows)
    return Letters(languages, [_counts(rows[language], language) for language in languages])


def is_held_out(text: str) -> bool:
    """Whether a text is kept for measuring: a quarter of all, chosen by a checksum."""
    return zlib.crc32(text.encode()) % 4 == 0


def _counts(texts: list[str], language: str) -> Counter[int]:
    """The counts of neighbours before (even keys) and after (odd keys) a character."""
    number = characters()
    found: Counter[int] = Counter()
    for at, text in enumerate(_as_typed(text, language) for text in texts):
        for version in (text, text.upper()) if at % 20 == 0 else (text,):
            for before, character, after in triples(version):
                place = number.get(character, 0)
                if place:
                    found[_key(place, before, number, after=False)] += 1
                    found[_key(place, after, number, after=True)] += 1
    found.update(_profile_counts(language, number))
    least = 2 if found.total() > _MANY else 1
    return Counter({key: n for key, n in found.items() if n >= least})


def _profile_counts(language: str, number: Mapping[str, int]) -> Counter[int]:
    """Counts of neighbours from langdetect's profile of letter pairs; empty without a profile.

    Empty for Vietnamese, too: its letters there are not those of windows-1258.
    """
    from langdetect import PROFILES_DIRECTORY

    path = Path(PROFILES_DIRECTORY) / language
    if language == "vi" or not path.exists():
        return Counter()
    pairs = [
        (*gram.translate(_OLD_LETTERS), n)
        for gram, n in json.loads(path.read_text(encoding="utf-8"))["freq"].items()
        if len(gram) == 2
    ]
    scale = _PROFILE_CHARACTERS / max(1, sum(n for _, c, n in pairs if c in number))
    found: Counter[int] = Counter()
    for first, second, n in pairs:
        times = round(n * scale)
        if second in number:
            found[_key(number[second], first, number, after=False)] += times
        if first in number:
            found[_key(number[first], second, number, after=True)] += times
    return found


def _key(place: int, neighbour: str, number: Mapping[str, int], *, after: bool) -> int:
    width = BEYOND_ASCII + len(number) + 1
    return 2 * (place * width + context(neighbour, number)) + after


def _as_typed(text: str, language: str) -> str:
    """A text in the characters that legacy encodings have."""
    text = unicodedata.normalize("NFC", text).translate(_OLD_LETTERS)
    return f" {decomposed(text) if language == 'vi' else text} "


def decomposed(text: str) -> str:
    """Vietnamese as windows-1258 spells it: a letter of the code page, then the tone."""
    result = []
    for character in text:
        parts = unicodedata.normalize("NFD", character)
        tones = "".join(mark for mark in parts[1:] if mark in _TONES)
        rest = unicodedata.normalize("NFC", "".join(c for c in parts if c not in tones))
        result.append(rest + tones if tones else character)
    return "".join(result)
