"""The language that the words of a name are in, by lists of words and their frequencies.

Names of hosts are words run together: `wetternachrichten`. A name is read as the most probable
sequence of listed words and single letters, for each language. This is a yardstick for the URL
model, independent of labelled URLs; it is no classifier of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from classifiers.lab.training.wordlists import plain
from classifiers.urls.buckets import STOP_WORDS

LETTER: Final = math.log10(1 / 30)
"""Logarithm of the probability of a letter outside of words."""
LEAD: Final = 1.0
"""Lead of the first language: its reading is ten times as probable as that of any other."""
SHORTEST: Final = 3
"""Letters of a listed word at least; shorter ones are in every name."""
LONGEST: Final = 24

_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_SKIPPED: Final = frozenset({*STOP_WORDS, "php"})

Frequencies = Mapping[str, float]
"""Word in lower case -> its share of the running words of a language."""


class WordLists:
    """Reads names by the words of some languages."""

    def __init__(self, of_language: Mapping[str, Frequencies]) -> None:
        self._logs = {
            code: {
                word: math.log10(share)
                for word, share in shares.items()
                if SHORTEST <= len(word) <= LONGEST
            }
            for code, shares in of_language.items()
        }

    @classmethod
    def of_wordfreq(cls, languages: Sequence[str]) -> WordLists:
        """The lists of the package wordfreq, with the words as URLs spell them, too."""
        return cls({code: _spelled(code) for code in languages})

    def language_of(self, names: Sequence[str]) -> str | None:
        """The language of names in lower case; None if no language leads, or none has a word."""
        readings = sorted(
            (
                (sum(_reading(logs, name) for name in names), code)
                for code, logs in self._logs.items()
            ),
            reverse=True,
        )
        (best, code), (second, _) = readings[:2]
        return code if best - second >= LEAD else None


def _spelled(language: str) -> dict[str, float]:
    import wordfreq

    module: Any = wordfreq
    found: dict[str, float] = {}
    for word, share in module.get_frequency_dict(language, "best").items():
        if word.isalpha():
            for spelling in {word, plain(word, language)}:
                found[spelling] = found.get(spelling, 0.0) + share
    return found


def _reading(logs: Frequencies, name: str) -> float:
    """Logarithm of the probability of the best sequence of words and letters."""
    best = [0.0]
    for end in range(1, len(name) + 1):
        found = best[end - 1] + LETTER
        for start in range(max(0, end - LONGEST), end - SHORTEST + 1):
            word = logs.get(name[start:end])
            if word is not None:
                found = max(found, best[start] + word)
        best.append(found)
    return best[-1]


def names_of(url: str) -> tuple[list[str], list[str]]:
    """The runs of letters of the host, without its top-level domain, and of path and query."""
    rest = url.partition("://")[2] or url
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    path = rest[len(host) :]
    labels = host.rpartition("@")[2].partition(":")[0].rstrip(".").rpartition(".")[0]
    return _runs(labels), _runs(unquote(path))


def _runs(text: str) -> list[str]:
    return [run for run in _LETTERS.findall(text.lower()) if run not in _SKIPPED]
