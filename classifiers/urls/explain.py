"""Explains a decision value of the URL model: what each word of a URL does to it.

A word is left out, and the URL is scored again: no feature needs a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from classifiers.urls.batch import plain

if TYPE_CHECKING:
    from classifiers.urls.model import UrlModel

_WORD: Final = re.compile(r"((?:[^\W\d_]|%[89A-Fa-f][0-9A-Fa-f])+)")
_NOTHING: Final = "0"
"""Stands for a word that is left out: not a letter, and not a sign around a word."""


@dataclass(frozen=True)
class Contribution:
    """The part of a language's decision value that a word of a URL makes."""

    text: str
    """In letters, also where the URL has them percent-encoded."""
    weight: float
    """The decision value, less that of the URL without the word wherever it stands."""


def explain(
    model: UrlModel, url: str, language: str | None = None, top: int = 10
) -> list[Contribution]:
    """The words of a URL that change the decision value of a language most.

    Without a language, the one with the highest score. A language that has no classifier, and is
    named by its domains and codes alone, has no contributions.
    """
    if language is None:
        language = model.languages[int(model.scores([url])[0].argmax())]
    if language in model.named_languages and language not in model.languages:
        return []
    parts = _WORD.split(plain(url))
    words = list(dict.fromkeys(parts[1::2]))
    without = ["".join(_NOTHING if part == word else part for part in parts) for word in words]
    whole, *others = model.score(["".join(parts), *without], language).tolist()
    found = [
        Contribution(unquote(word, errors="replace"), whole - other)
        for word, other in zip(words, others, strict=True)
        if other != whole
    ]
    return sorted(found, key=lambda each: (-abs(each.weight), each.text))[:top]
