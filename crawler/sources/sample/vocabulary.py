"""The words and sentences of the sample web, one file per language, and how they are drawn.

A file opens with `key: value` lines, then a `[words]` and a `[sentences]` section. `share` is the
language's weight among hosts, `tlds` the endings of its host names with their weights, `charset`
the encoding that its pages used before UTF-8. A word that is not ASCII even without accents has its
host-name form after a colon.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TypeVar

FOLDER = Path(__file__).parent
UNDECOMPOSED = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "\N{LATIN SMALL LETTER DOTLESS I}": "i", "æ": "ae", "đ": "d"}
)


@dataclass(frozen=True, slots=True)
class Text:
    """The vocabulary of one language; `names[i]` is `words[i]` in ASCII."""

    language: str
    share: float
    charset: str
    tlds: dict[str, float]
    words: tuple[str, ...]
    names: tuple[str, ...]
    sentences: tuple[str, ...]


@cache
def load_texts() -> dict[str, Text]:
    """Return the vocabulary of every language by its code, the most frequent first."""
    texts = [_read(path) for path in sorted(FOLDER.glob("*.txt"))]
    return {text.language: text for text in sorted(texts, key=lambda text: -text.share)}


def ascii_name(word: str) -> str:
    """Return a word in lower-case ASCII without accents, "" for another script."""
    decomposed = unicodedata.normalize("NFKD", word.lower().translate(UNDECOMPOSED))
    return decomposed.encode("ascii", "ignore").decode()


def _read(path: Path) -> Text:
    head, _, rest = path.read_text("utf-8").partition("[words]")
    words, _, sentences = rest.partition("[sentences]")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    pairs = [word.partition(":")[::2] for word in words.split()]
    tlds = fields["tlds"].split()
    return Text(
        language=path.stem,
        share=float(fields["share"]),
        charset=fields["charset"],
        tlds=dict(zip(tlds[::2], map(float, tlds[1::2]), strict=True)),
        words=tuple(word for word, _ in pairs),
        names=tuple(name or ascii_name(word) for word, name in pairs),
        sentences=tuple(line for line in sentences.splitlines() if line),
    )


T = TypeVar("T")


def dice(*key: object) -> Random:
    """Return a generator whose seed is the `repr` of the key's parts."""
    digest = blake2b(repr(key).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))


def pick(chance: Random, weights: Mapping[T, float]) -> T:
    """Return a random key of `weights`, with a probability in proportion to its weight."""
    return chance.choices(list(weights), list(weights.values()))[0]
