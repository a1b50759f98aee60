"""The words that are evidence for a URL's language, from labelled texts: url-words.npz.

    python -m benchmarks.url_words TEXTS SIB200 --output classifiers/models/url-words.npz

A word's evidence is the logarithm of its share in a language's texts against the largest of three
shares: in the texts of all languages, in those of another language that the URL model has learned,
whose classifier has its own evidence, and a share that any word may have in URLs. Languages with
many labelled URLs get no words.
"""

import argparse
import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import arrayfile
from langfocus.classifiers.datasets.texts import LabelledText, LabelledTexts
from langfocus.classifiers.languages import unaccented
from langfocus.classifiers.pages.text.scripts import utf16_units, vote
from langfocus.classifiers.training.texts import in_all_scripts
from langfocus.classifiers.urls.clues import MIN_WORD
from langfocus.classifiers.urls.model import UrlModel
from langfocus.classifiers.urls.words import STEPS, word_key

_MANY_URLS: Final = 300
"""A classifier with so many URLs knows its language's words."""
_SIZE: Final = 800
"""Words kept per language: those with the most evidence in its texts."""
_SMOOTHING: Final = 2_000
"""Unknown words added to a language's texts."""
_LEAST_SHARE: Final = 1e-5
_LEAST_NATS: Final = 0.7
_WEIGHT: Final = 1.5
"""Factor on the logarithms, chosen on URLs of unseen domains."""
_KIND_WEIGHTS: Final = {"single-word": 0.3, "word-pair": 0.3, "page-title": 0.0}
_TOP: Final = "com edu gov info int net org www".split()
_APOSTROPHES: Final = dict.fromkeys(map(ord, "'\u2019\u02bc\u02bb\u2018`"))
_SLUG_LETTERS: Final = str.maketrans(
    dict(zip("øđłıɓɗƙħŧðəæœßþ", "o d l i b d k h t d e ae oe ss th".split(), strict=True))
)


class WordTable(NamedTuple):
    """Words of languages, sorted by key."""

    languages: tuple[str, ...]
    keys: npt.NDArray[np.uint32]
    owners: npt.NDArray[np.uint8]
    """Index of each word's language."""
    codes: npt.NDArray[np.uint8]
    """Evidence in steps."""

    def save(self, path: Path) -> None:
        """Write the file; equal tables produce equal bytes."""
        arrayfile.write_arrays(path, **self._asdict())


def train(rows: Iterable[LabelledText], model: UrlModel | None = None) -> WordTable:
    """Return the words of languages with few URLs in a URL model, None: the model that ships."""
    learned: dict[str, int] = (model or UrlModel.load()).facts["languages"]
    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in in_all_scripts(rows):
        if weight := _KIND_WEIGHTS.get(row.kind, 1.0):
            for word in _words(row.text):
                counts[row.language][""] += weight
                for form in {word, as_slug(word)}:
                    counts[row.language][form] += weight
    totals = {code: words.pop("") for code, words in counts.items()}
    mean: dict[str, float] = defaultdict(float)
    most: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for code, words in counts.items():
        for word, count in words.items():
            mean[word] += count / totals[code] / len(counts)
            if code in learned:
                most[word].append((count / (totals[code] + _SMOOTHING), code))
    chosen = sorted(code for code in counts if learned.get(code, 0) < _MANY_URLS)
    entries: list[tuple[int, int, int]] = []
    for at, code in enumerate(chosen):
        found: list[tuple[float, str, float]] = []
        for word, count in counts[code].items():
            share = count / (totals[code] + _SMOOTHING)
            others = (other for other, owner in most[word] if owner != code)
            nats = math.log(share / max(mean[word], *others, _LEAST_SHARE))
            if nats > _LEAST_NATS and word not in _TOP:
                found.append((-share * nats, word, nats))
        for _, word, nats in sorted(found)[:_SIZE]:
            entries.append((word_key(word), at, min(255, round(_WEIGHT * STEPS * nats))))
    keys, owners, codes = np.array(sorted(entries), np.int64).reshape(-1, 3).T
    as_bytes = owners.astype(np.uint8), codes.astype(np.uint8)
    return WordTable(tuple(chosen), keys.astype(np.uint32), *as_bytes)


def _words(text: str) -> list[str]:
    """Return the words in the text's script, in lower case; an apostrophe joins two parts."""
    is_latin = vote(utf16_units(text)).script == "Latn"
    text = unicodedata.normalize("NFC", text.translate(_APOSTROPHES).lower())
    words = "".join(sign if _is_letter(sign) else " " for sign in text).split()
    return [word for word in words if len(word) >= MIN_WORD and _is_latin(word) == is_latin]


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LM" or sign in "\u200c\u200d"


def _is_latin(word: str) -> bool:
    most = ord(max(word))
    return most < 0x2B0 or 0x1E00 <= most < 0x1F00


def as_slug(word: str) -> str:
    """Return a word in Latin letters without accents; other words unchanged."""
    return unaccented(word).translate(_SLUG_LETTERS) if _is_latin(word) else word


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the words that are evidence for URLs.")
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    opts = parser.parse_args()
    train(row for path in opts.texts for row in LabelledTexts(path)).save(opts.output)


if __name__ == "__main__":
    main()
