"""Texts that stand in for others in drafts of pages: lorem ipsum, in all that its generators make.

They are made of few Latin words in any order. Real Latin has other words in between.
"""

import re
from functools import cache
from typing import Final

from langfocus.classifiers.tables import rows

_MOST: Final = 0.4
"""Share of such words in a text above which it has a filler text: of Latin ones 0.2 at most."""
_LEAST: Final = 4
"""Number of such words from which they are one."""
_WORD: Final = re.compile(r"[^\W\d_]+")


@cache
def _words() -> tuple[frozenset[str], frozenset[str]]:
    """The words of filler texts that tell, and the function words between them."""
    table = {kind: frozenset(words.split()) for kind, words in rows("filler-words.txt").items()}
    between = table.pop("between")
    return frozenset[str]().union(*table.values()), between


def without_filler(text: str) -> str:
    """A text without the words of a filler text; the same object if it has none."""
    telling, between = _words()
    words = _WORD.findall(text.lower())
    found = sum(word in telling for word in words)
    if found <= _MOST * len(words) or (found < _LEAST and "lorem" not in words):
        return text
    dropped = telling | between
    return _WORD.sub(lambda word: "" if word[0].lower() in dropped else word[0], text)
