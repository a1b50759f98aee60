"""Letter neighbours per language, the evidence that distinguishes single-byte encodings.

Each byte beyond ASCII is a character. A character costs the negative log probability, in a
language, of the character and both neighbours. Readings of the same bytes are ranked by the sum of
costs. `classifiers.training.letters` learns the counts. The file (56 kB) is loaded on first use and
expanded to byte tables (0.2 s, 10 MB).
"""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langfocus.classifiers.arrayfile import MODELS, read_arrays
from langfocus.classifiers.pages.charset.charsets import (
    BEYOND_ASCII,
    CODE_PAGES,
    FIRST_LETTER,
    ascii_contexts,
    characters,
    codec,
    context,
    triples,
)

MODEL = MODELS / "page-letters-v1.npz"

Keys = NDArray[np.int64]
Shares = NDArray[np.float64]
Table = NDArray[np.float32]

# Shares of a language's characters reserved for foreign letters and for signs.
_FOREIGN_LETTERS, _SIGNS = 0.01, 0.06
_PSEUDO_COUNT = 3.0
_STEPS_PER_NAT = 8.0
_FLOOR = 1e-6
_MOST_TRIPLES = 1_500
# Signs on pages but not in sentences.
_PAGE_SIGNS = (
    " © 2004 a\xa0b \xa0 \xa0a\xa0 © 1999-2005 a © b a\xa0b 1\xa0a a \xa0 b  »   « a » b « a · b • "
    "a – b 1–2 a — b … a…  ® a® ™ a™ 1 € €1 1€ £1 20°C 10° § 1 m² 1½ “a” ‘a’ a’s l’a d’e „a“ "  # noqa: RUF001
    "“A «a» a‘ 1× ¿A ¡A nº 1ª ´ a´a"  # noqa: RUF001
).split(" ") * 4


class LetterModel:
    """Costs of byte sequences as text in a language and an encoding.

    `readings` are the columns of `costs`: pairs (encoding, language).
    """

    def __init__(self, path: Path = MODEL) -> None:
        arrays = read_arrays(path, "languages", "lengths", "keys", "counts")
        languages = [str(code) for code in arrays["languages"]]
        ends = np.cumsum(arrays["lengths"])[:-1]
        keys = [np.cumsum(part.astype(np.int64)) for part in np.split(arrays["keys"], ends)]
        counts = np.split(2.0 ** (arrays["counts"] / 16.0), ends)
        shares = [
            n / max(float(n[key & 1 == 0].sum()), 1.0) for key, n in zip(keys, counts, strict=True)
        ]
        self._number = characters()
        # Number 0, any other character, is neither letter nor Latin.
        self._is_letter = _flags(unicodedata.category(c)[0] in "LM" for c in self._number)
        self._is_latin = _flags("LATIN" in unicodedata.name(c, "") for c in self._number)
        self.readings: list[tuple[str, str]] = [
            (name, code)
            for name, reading in CODE_PAGES.items()
            for code in reading.languages
            if code in languages
        ]
        self._before, self._after = self._tables(languages, keys, shares)
        self._rarity = np.array([CODE_PAGES[name].rarity for name, _ in self.readings])

    def costs(self, sample: bytes) -> tuple[NDArray[np.float64], float]:
        """Return nats per reading for the bytes beyond ASCII, fewer are better, and the byte count.

        The byte count is the number of explained bytes. Cost differences are log-likelihood ratios.
        Repeated byte triples count less. At most 1 ms for a sample of 64 kB.
        """
        units = np.frombuffer(b" " + sample + b" ", dtype=np.uint8).astype(np.int64)
        at = np.flatnonzero(units >= 128)
        triple, times = np.unique(
            (units[at] - 128) * 65_536 + units[at - 1] * 256 + units[at + 1], return_counts=True
        )
        # Sample every n-th triple, since nearly all triples in East Asian texts differ.
        step = 1 + len(triple) // _MOST_TRIPLES
        triple, times = triple[::step], times[::step]
        weights = (1 + np.log(times)).astype(np.float32)
        rows = triple >> 16 << 8
        total: Table = weights @ self._before[rows + (triple >> 8 & 255)].astype(np.float32)
        total += weights @ self._after[rows + (triple & 255)].astype(np.float32)
        nats: NDArray[np.float64] = total.astype(np.float64) / _STEPS_PER_NAT + self._rarity
        return nats, float(weights.sum())

    def _tables(
        self, languages: list[str], keys: list[Keys], shares: list[Shares]
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return costs before and after a byte, (byte beyond ASCII * 256 + neighbour, reading)."""
        numbers = {name: self._numbers(codec(name)) for name in dict(self.readings)}
        tables = {}
        mixtures = self._mixtures(keys, shares)
        for code, key, share, mixture in zip(languages, keys, shares, mixtures, strict=True):
            both = [(table, _beside(table)) for table in self._dense(key, share) + mixture]
            for name in {name for name, language in self.readings if language == code}:
                tables[name, code] = [_nats(*side, *numbers[name]) for side in both]
        sides = zip(*(tables[reading] for reading in self.readings), strict=True)
        before, after = (np.ascontiguousarray(np.stack(side).T) for side in sides)
        return before, after

    def _numbers(self, python: str) -> tuple[Keys, Keys]:
        """Return byte beyond ASCII -> character number, and any byte -> context as neighbour."""
        high = [bytes([byte]).decode(python, "replace") for byte in range(128, 256)]
        beyond = np.array([self._number.get(c, 0) for c in high])
        return beyond, np.concatenate((ascii_contexts(), BEYOND_ASCII + beyond))

    def _dense(self, key: Keys, share: Shares) -> Table:
        """Return (character, neighbour) shares, before and after; (2, n_characters, n_contexts)."""
        size = len(self._number) + 1
        table = np.zeros((2, size, BEYOND_ASCII + size), dtype=np.float32)
        table.reshape(2, -1)[key & 1, key >> 1] = share
        return table

    def _mixtures(self, keys: list[Keys], shares: list[Shares]) -> Iterator[Table]:
        """Yield the additions per language: signs, and letters of other Latin languages."""
        whole = np.zeros_like(self._dense(keys[0], shares[0]))
        for key, share in zip(keys, shares, strict=True):
            whole.reshape(2, -1)[key & 1, key >> 1] += share
        letters = np.where(self._is_latin[:, None], whole, 0)
        signs = _SIGNS * self._signs(whole)
        latin = signs + _FOREIGN_LETTERS * letters / max(float(letters[0].sum()), _FLOOR)
        width = whole.shape[2]
        for key, share in zip(keys, shares, strict=True):
            is_latin = self._is_latin[(key >> 1) // width] & (key & 1 == 0)
            yield (latin if share[is_latin].sum() > 0.5 else signs).astype(np.float32, copy=False)

    def _signs(self, whole: Table) -> Table:
        """Return sign neighbours in any language: in sentences, on pages, and any neighbour."""
        number = self._number
        page = np.zeros_like(whole)
        for piece in _PAGE_SIGNS:
            for before, character, after in triples(f" {piece} "):
                place = number[character]
                page[0, place, context(before, number)] += 1
                page[1, place, context(after, number)] += 1
        signs = np.where(self._is_letter[:, None], 0, whole)
        signs = signs / max(float(signs[0].sum()), _FLOOR) + page / page[0].sum()
        around = np.full(BEYOND_ASCII, 0.5 / 26, dtype=np.float32)
        around[:FIRST_LETTER] = (0, 0.3, 0.05, 0.1, 0.05)
        anywhere = np.zeros_like(signs)
        anywhere[..., :BEYOND_ASCII] = signs.sum(axis=2, keepdims=True) * around
        mixed: Table = (0.3 * signs + 0.2 * anywhere).astype(np.float32)
        return mixed


@cache
def letter_model() -> LetterModel:
    """Return the shipped model, loaded on first use."""
    return LetterModel()


def _flags(found: Iterable[bool]) -> NDArray[np.bool_]:
    return np.array([False, *found])


def _beside(table: Table) -> Table:
    """Return each neighbour's share, added beside every character's own neighbours."""
    shares: Table = table.sum(axis=0) + 1e-4
    shares *= _PSEUDO_COUNT / 20_000 / shares.sum()
    return shares


def _nats(table: Table, beside: Table, beyond: Keys, around: Keys) -> NDArray[np.uint8]:
    """Return half the character's -log probability (each side has half) plus the neighbour's.

    In eighths of a nat, by byte beyond ASCII * 256 + neighbouring byte.
    """
    rows = table[beyond]
    each = rows.sum(axis=1, keepdims=True)
    columns, column_of = np.unique(around, return_inverse=True)  # most bytes are no letters
    chance = (rows[:, columns] + beside[columns]) / (each + _PSEUDO_COUNT / 20_000)
    nats = -0.5 * np.log(each + _FLOOR) - np.log(chance)
    steps: NDArray[np.uint8] = np.round(nats * _STEPS_PER_NAT).clip(0, 255).astype(np.uint8)
    return steps[:, column_of].reshape(-1)
