"""Placeholder text in page drafts: lorem ipsum, in every generator's variety.

Filler text consists of few Latin words in random order. Real Latin has other words in between.
"""

import re
from functools import cache
from typing import Final

from langfocus.classifiers.tables import rows

_MOST: Final = 0.4
"""Share of filler words above which a text contains filler; real Latin has 0.2 at most."""
_LEAST: Final = 4
"""Least number of filler words in filler text."""
_WORD: Final = re.compile(r"[^\W\d_]+")


@cache
def _words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the distinctive filler words, and the function words in between."""
    table = {kind: frozenset(words.split()) for kind, words in rows("filler-words.txt").items()}
    between = table.pop("between")
    return frozenset[str]().union(*table.values()), between


def without_filler(text: str) -> str:
    """Remove filler words from a text; the same object without filler."""
    distinctive, between = _words()
    words = _WORD.findall(text.lower())
    count = sum(word in distinctive for word in words)
    if count <= _MOST * len(words) or (count < _LEAST and "lorem" not in words):
        return text
    dropped = distinctive | between
    return _WORD.sub(lambda word: "" if word[0].lower() in dropped else word[0], text)
