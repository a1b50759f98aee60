"""Letter neighbour counts for the detection of single-byte encodings.

Counts are from labelled texts and langdetect's profiles.
"""

import json
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from langfocus.classifiers.arrayfile import write_arrays
from langfocus.classifiers.datasets.texts import LabelledText, texts_by_language
from langfocus.classifiers.pages.charset.charsets import (
    BEYOND_ASCII,
    CODE_PAGES,
    characters,
    context,
    triples,
)

_PROFILE_CHARACTERS = 20_000
_MANY = 10_000
"""Neighbours of a language above which single occurrences are dropped as mostly foreign names."""
_OLD_LETTERS = str.maketrans("șțȘȚی", "şţŞŢي")
_TONES = "\u0300\u0301\u0303\u0309\u0323"


class Letters(NamedTuple):
    """Letter neighbour counts by language; see `_counts`."""

    languages: list[str]
    counts: list[Counter[int]]

    def save(self, path: Path) -> None:
        """Write the model; equal counts give an equal file."""
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
    """Return the model of texts, without held-out texts and languages without a legacy encoding."""
    wanted = {code for page in CODE_PAGES.values() for code in page.languages}
    own = texts_by_language(
        row for row in texts if row.language in wanted and not is_held_out(row.text)
    )
    return Letters([*own], [_counts(found, language) for language, found in own.items()])


def is_held_out(text: str) -> bool:
    """Return True for a held-out text: a quarter of all texts, selected by checksum."""
    return zlib.crc32(text.encode()) % 4 == 0


def _counts(texts: list[str], language: str) -> Counter[int]:
    """Return the counts of neighbours before (even keys) and after (odd keys) a character."""
    number = characters()
    counts: Counter[int] = Counter()
    for at, text in enumerate(_as_typed(text, language) for text in texts):
        for version in (text, text.upper()) if at % 20 == 0 else (text,):
            for before, character, after in triples(version):
                place = number.get(character, 0)
                if place:
                    counts[_key(place, before, number, after=False)] += 1
                    counts[_key(place, after, number, after=True)] += 1
    counts.update(_profile_counts(language, number))
    least = 2 if counts.total() > _MANY else 1
    return Counter({key: n for key, n in counts.items() if n >= least})


def _profile_counts(language: str, number: Mapping[str, int]) -> Counter[int]:
    """Return neighbour counts from langdetect's letter pairs; empty without a profile.

    Empty for Vietnamese too: the profile's letters differ from windows-1258.
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
    counts: Counter[int] = Counter()
    for first, second, n in pairs:
        times = round(n * scale)
        if second in number:
            counts[_key(number[second], first, number, after=False)] += times
        if first in number:
            counts[_key(number[first], second, number, after=True)] += times
    return counts


def _key(place: int, neighbour: str, number: Mapping[str, int], *, after: bool) -> int:
    width = BEYOND_ASCII + len(number) + 1
    return 2 * (place * width + context(neighbour, number)) + after


def _as_typed(text: str, language: str) -> str:
    """Return a text in the characters of legacy encodings."""
    text = unicodedata.normalize("NFC", text).translate(_OLD_LETTERS)
    return f" {decomposed(text) if language == 'vi' else text} "


def decomposed(text: str) -> str:
    """Return Vietnamese as encoded in windows-1258: a letter of the code page, then the tone."""
    result = []
    for character in text:
        parts = unicodedata.normalize("NFD", character)
        tones = "".join(mark for mark in parts[1:] if mark in _TONES)
        rest = unicodedata.normalize("NFC", "".join(c for c in parts if c not in tones))
        result.append(rest + tones if tones else character)
    return "".join(result)
