"""Which letters of a language stand beside which: what tells single-byte encodings apart.

Every byte beyond ASCII is a character in its place: the probability of the character in a
language, and of its two neighbours beside it. Readings of the same bytes differ by the sum of
their logarithms. Learned by `train` from labelled texts and langdetect's profiles; the file (56 kB)
is read on first use and turned into tables of bytes (0.3 s, 10 MB).

    python -m classifiers.pages.charset.letters texts.tsv.gz
"""

import json
import re
import sys
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from classifiers.arrayfile import MODELS, read_arrays, write_arrays

MODEL = MODELS / "page-letters-v1.npz"

_WESTERN = (
    "af br ca cy da de en es eu fi fo fr fy ga gd gl id is it kl la lb nl no oc pt se sq st sv sw"
    " tn"
)
_CENTRAL = "bs cs hr hsb hu pl ro sk sl sq"
READINGS: dict[str, tuple[str, str, float]] = {
    "windows-1252": ("cp1252", _WESTERN, 0.0),
    "windows-1251": ("cp1251", "be bg mk ru sr uk", 0.0),
    "windows-1250": ("cp1250", _CENTRAL, 0.0),
    "iso-8859-2": ("iso8859-2", _CENTRAL, 0.5),
    "windows-1254": ("cp1254", "tr", 0.5),
    "windows-1253": ("cp1253", "el", 0.0),
    "iso-8859-7": ("iso8859-7", "el", 0.5),
    "windows-1255": ("cp1255", "he yi", 0.0),
    "iso-8859-8": ("iso8859-8", "he", 0.5),
    "windows-1256": ("cp1256", "ar fa ur", 0.0),
    "iso-8859-6": ("iso8859-6", "ar", 1.0),
    "windows-1257": ("cp1257", "et lt lv", 0.5),
    "windows-1258": ("cp1258", "vi", 1.0),
    "windows-874": ("cp874", "th", 0.0),
    "koi8-r": ("koi8-r", "bg ru", 0.5),
    "koi8-u": ("koi8-u", "be uk", 0.5),
    "iso-8859-15": ("iso8859-15", _WESTERN, 2.0),
    "iso-8859-5": ("iso8859-5", "be bg mk ru sr uk", 1.0),
    "ibm866": ("cp866", "be ru uk", 4.0),
    "ibm855": ("cp855", "bg mk ru sr", 5.0),
    "x-mac-cyrillic": ("mac_cyrillic", "be bg mk ru sr uk", 4.0),
    "iso-8859-13": ("iso8859-13", "et lt lv", 2.0),
    "iso-8859-4": ("iso8859-4", "et lt lv", 3.0),
    "iso-8859-3": ("iso8859-3", "eo mt", 2.0),
    "macintosh": ("mac_roman", "ca da de en es fi fr is it nl no pt sv", 4.0),
}
"""Encoding (WHATWG name) -> Python's codec, languages that were written in it, and how rare it is
on the Web beside others with the same letters (nats; judged, not counted)."""

_SPACE, _DIGIT, _MARK, _APOSTROPHE, _LETTER = 1, 2, 3, 4, 5
_BEYOND = _LETTER + 26
_NEIGHBOURS = re.compile("(?s)(.)(?=([^\x00-\x7f])(.))")
_FOREIGN_LETTERS, _SIGNS = 0.01, 0.06
_PSEUDO_COUNT = 3.0
_PROFILE_CHARACTERS = 20_000
_STEPS_PER_NAT = 8.0
_FLOOR = 1e-6
_MOST_TRIPLES = 1_500
# Signs that pages have and sentences lack.
_PAGE_SIGNS = (
    " © 2004 a\xa0b \xa0 \xa0a\xa0 © 1999-2005 a © b a\xa0b 1\xa0a a \xa0 b  »   « a » b « a · b • "
    "a – b 1–2 a — b … a…  ® a® ™ a™ 1 € €1 1€ £1 20°C 10° § 1 m² 1½ “a” ‘a’ a’s l’a d’e „a“ "  # noqa: RUF001
    "“A «a» a‘ 1× ¿A ¡A nº 1ª ´ a´a"  # noqa: RUF001
).split(" ") * 4
_OLD_LETTERS = str.maketrans("șțȘȚی", "şţŞŢي")
_TONES = "\u0300\u0301\u0303\u0309\u0323"


def characters() -> list[str]:
    """The characters beyond ASCII of all readings, in order; a number is 1 + the place."""
    found: set[str] = set()
    high = bytes(range(128, 256))
    for codec, _, _ in READINGS.values():
        found.update(high.decode(codec, "ignore"))
    return sorted(c for c in found if not "\x80" <= c <= "\x9f")


def train(texts: Iterable[tuple[str, str]], path: Path = MODEL) -> None:
    """Count neighbours in texts, given with their languages, and write the model.

    Languages in no reading are left out, and texts that `is_held_out`. The same texts give the
    same file.
    """
    wanted = {code for _, codes, _ in READINGS.values() for code in codes.split()}
    rows = defaultdict(list)
    for text, language in texts:
        if language in wanted and not is_held_out(text):
            rows[language].append(text)
    languages = sorted(rows)
    counts = [_counts(rows[language], language) for language in languages]
    lengths = np.array([len(c) for c in counts])
    keys = [np.diff(np.array(sorted(c)), prepend=0) for c in counts]
    values = [np.log2([c[key] for key in sorted(c)]) for c in counts]
    write_arrays(
        path,
        languages=np.array(languages),
        lengths=lengths,
        keys=np.concatenate(keys).astype(np.uint32),
        counts=np.round(16 * np.concatenate(values)).clip(0, 255).astype(np.uint8),
    )


def is_held_out(text: str) -> bool:
    """Whether a text is kept for measuring: a quarter of them, chosen by a checksum."""
    return zlib.crc32(text.encode()) % 4 == 0


def _counts(texts: list[str], language: str) -> Counter[int]:
    """How often neighbours stand before (even keys) and after (odd keys) a character."""
    number = {c: i for i, c in enumerate(characters(), start=1)}
    found: Counter[int] = Counter()
    for at, text in enumerate(_as_typed(text, language) for text in texts):
        for version in (text, text.upper()) if at % 20 == 0 else (text,):
            for before, character, after in _triples(version):
                place = number.get(character, 0)
                if place:
                    found[_key(place, before, number, after=False)] += 1
                    found[_key(place, after, number, after=True)] += 1
    found.update(_profile_counts(language, number))
    # What was seen once is mostly names in another language.
    return Counter({key: n for key, n in found.items() if n > (1 if found.total() > 10_000 else 0)})


def _profile_counts(language: str, number: Mapping[str, int]) -> Counter[int]:
    """Neighbours by langdetect's profile, from pairs of letters of Wikipedia; for some languages.

    Vietnamese has other letters there than in windows-1258.
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
    width = _BEYOND + len(number) + 1
    return 2 * (place * width + _context(neighbour, number)) + after


def _as_typed(text: str, language: str) -> str:
    """A text in the characters that legacy encodings have."""
    text = unicodedata.normalize("NFC", text).translate(_OLD_LETTERS)
    return f" {decomposed(text) if language == 'vi' else text} "


def decomposed(text: str) -> str:
    """Vietnamese as windows-1258 has it: a letter of the code page, then the tone."""
    result = []
    for character in text:
        parts = unicodedata.normalize("NFD", character)
        tones = "".join(mark for mark in parts[1:] if mark in _TONES)
        rest = unicodedata.normalize("NFC", "".join(c for c in parts if c not in tones))
        result.append(rest + tones if tones else character)
    return "".join(result)


def _triples(text: str) -> Iterator[tuple[str, str, str]]:
    return (match.groups() for match in _NEIGHBOURS.finditer(text))  # type: ignore[misc]


def _context(character: str, number: Mapping[str, int]) -> int:
    if character.isascii():
        return int(_ascii_contexts()[ord(character)])
    return _BEYOND + number.get(character, 0)


@cache
def _ascii_contexts() -> NDArray[np.int64]:
    kinds = np.full(128, _MARK)
    kinds[: ord(" ") + 1] = _SPACE
    kinds[ord("0") : ord("9") + 1] = _DIGIT
    kinds[[ord("'"), ord('"')]] = _APOSTROPHE
    for first in "aA":
        kinds[ord(first) : ord(first) + 26] = np.arange(_LETTER, _BEYOND)
    return kinds


class LetterModel:
    """Readings of bytes held against languages.

    `readings` gives the columns of `costs`: (encoding, language).
    """

    def __init__(self, path: Path = MODEL) -> None:
        arrays = read_arrays(path, "languages", "lengths", "keys", "counts")
        languages = [str(code) for code in arrays["languages"]]
        ends = np.cumsum(arrays["lengths"])[:-1]
        keys = [np.cumsum(part.astype(np.int64)) for part in np.split(arrays["keys"], ends)]
        counts = np.split(2.0 ** (arrays["counts"] / 16.0), ends)
        self._characters = characters()
        self.readings: list[tuple[str, str]] = []
        self.readings = [
            (name, code)
            for name, (_, codes, _) in READINGS.items()
            for code in codes.split()
            if code in languages
        ]
        self._describe()
        shares = [
            count / max(float(count[key & 1 == 0].sum()), 1.0)
            for key, count in zip(keys, counts, strict=True)
        ]
        mixtures = self._mixtures(keys, shares)
        numbers = {name: self._numbers(READINGS[name][0]) for name, _ in self.readings}
        tables = {
            (name, code): _nats(table, mixture, *numbers[name])
            for code, table, mixture in zip(
                languages, map(self._dense, keys, shares), mixtures, strict=True
            )
            for name, (_, codes, _) in READINGS.items()
            if code in codes.split()
        }
        self._before, self._after = (
            np.stack([tables[reading][side] for reading in self.readings], axis=-1)
            for side in (0, 1)
        )
        self._rarity = np.array([READINGS[name][2] for name, _ in self.readings])

    def costs(self, sample: bytes) -> tuple[NDArray[np.float64], float]:
        """Per reading, nats that it takes to explain the bytes beyond ASCII; fewer are better.

        The second value is the number of bytes that they are spent on. Differences are
        log-likelihood ratios, damped where the same three bytes come again. At most 1 ms for the
        64 kB of a sample.
        """
        units = np.frombuffer(b" " + sample + b" ", dtype=np.uint8).astype(np.int64)
        at = np.flatnonzero(units >= 128)
        triples = (units[at] - 128) * 65_536 + units[at - 1] * 256 + units[at + 1]
        found, times = np.unique(triples, return_counts=True)
        # Every n-th of many: East Asian texts have hardly two alike.
        step = 1 + len(found) // _MOST_TRIPLES
        found, times = found[::step], times[::step]
        weights = (1 + np.log(times)).astype(np.float32)
        rows = found >> 16 << 8
        total: NDArray[np.float32] = weights @ self._before[rows + (found >> 8 & 255)].astype(
            np.float32
        )
        total += weights @ self._after[rows + (found & 255)].astype(np.float32)
        nats: NDArray[np.float64] = total.astype(np.float64) / _STEPS_PER_NAT + self._rarity
        return nats, float(weights.sum())

    def _numbers(self, codec: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Byte beyond ASCII -> character; any byte -> neighbour."""
        number = {c: i for i, c in enumerate(self._characters, start=1)}
        high = [bytes([byte]).decode(codec, "replace") for byte in range(128, 256)]
        beyond = np.array([number.get(c, 0) for c in high])
        return beyond, np.concatenate((_ascii_contexts(), _BEYOND + beyond))

    def _describe(self) -> None:
        letters = [unicodedata.category(c)[0] in "LM" for c in self._characters]
        latin = ["LATIN" in unicodedata.name(c, "") for c in self._characters]
        self._is_letter = np.array([False, *letters])
        self._is_latin = np.array([False, *latin])

    def _dense(self, key: NDArray[np.int64], share: NDArray[np.float64]) -> NDArray[np.float32]:
        """Shares of (character, neighbour), before and after; shape (2, characters, neighbours)."""
        size = len(self._characters) + 1
        table = np.zeros((2, size, _BEYOND + size), dtype=np.float32)
        table.reshape(2, -1)[key & 1, key >> 1] = share
        return table

    def _mixtures(
        self, keys: list[NDArray[np.int64]], shares: list[NDArray[np.float64]]
    ) -> Iterator[NDArray[np.float32]]:
        """What is added to each language: signs, and in Latin ones the letters of the others."""
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

    def _signs(self, whole: NDArray[np.float32]) -> NDArray[np.float32]:
        """What signs have around them in any language: by sentences, by pages, and anything."""
        number = {c: i for i, c in enumerate(self._characters, start=1)}
        page = np.zeros_like(whole)
        for piece in _PAGE_SIGNS:
            for before, character, after in _triples(f" {piece} "):
                place = number[character]
                page[0, place, _context(before, number)] += 1
                page[1, place, _context(after, number)] += 1
        signs = np.where(self._is_letter[:, None], 0, whole)
        signs = signs / max(float(signs[0].sum()), _FLOOR) + page / page[0].sum()
        around = np.full(_BEYOND, 0.5 / 26, dtype=np.float32)
        around[:_LETTER] = (0, 0.3, 0.05, 0.1, 0.05)
        anywhere = np.zeros_like(signs)
        anywhere[..., :_BEYOND] = signs.sum(axis=2, keepdims=True) * around
        mixed: NDArray[np.float32] = (0.3 * signs + 0.2 * anywhere).astype(np.float32)
        return mixed


def _nats(
    table: NDArray[np.float32],
    mixture: NDArray[np.float32],
    beyond: NDArray[np.int64],
    around: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """-log of half the character's probability (each side has a half) and of its neighbour's.

    In eighths of a nat, by byte beyond ASCII * 256 + neighbouring byte; before it and after it.
    """
    first, second = (_side(table[i] + mixture[i], beyond) for i in (0, 1))
    return first[:, around].reshape(-1), second[:, around].reshape(-1)


def _side(table: NDArray[np.float32], beyond: NDArray[np.int64]) -> NDArray[np.uint8]:
    beside = table.sum(axis=0) + 1e-4
    beside *= _PSEUDO_COUNT / 20_000 / beside.sum()
    rows = table[beyond]
    each = rows.sum(axis=1, keepdims=True)
    chance = (rows + beside) / (each + _PSEUDO_COUNT / 20_000)
    nats = -0.5 * np.log(each + _FLOOR) - np.log(chance)
    steps: NDArray[np.uint8] = np.round(nats * _STEPS_PER_NAT).clip(0, 255).astype(np.uint8)
    return steps


@cache
def letter_model() -> LetterModel:
    """The model that ships, read when first asked for."""
    return LetterModel()


def _main() -> None:
    from classifiers.lab.datasets.texts import LabelledTexts

    train((row.text, row.language) for row in LabelledTexts(Path(sys.argv[1])))


if __name__ == "__main__":
    _main()
