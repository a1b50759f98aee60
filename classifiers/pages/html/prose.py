"""Main text extraction: the texts that read as prose, from the whole page.

A menu, a row of names or a table is not prose, at any position. A long main text is sampled from
start to end, so that a consent form before an article does not stand in for the article.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

PIECES: Final = 8
"""Pieces sampled from a long main text."""
_LEAST: Final = 40
"""Least characters of a prose text."""
_LEAST_WHOLE: Final = 80
"""Least characters of a main text."""
_JUDGED: Final = 400
"""Characters by which a text is classified."""
_MOST_CAPITALS: Final = 0.5
"""Share of capitalised words above which a text is a list of names."""
_LONGEST: Final = 250
"""Characters per sentence end at most in prose."""
_STOP: Final = re.compile(
    # Scripts without a sentence-final sign count, too. A single class of first signs makes the
    # search twice as fast.
    r"[.!?…:。！？｡।॥۔؟።։។။།༎꯫᱾᱿߹\u0e00-\u0eff]"  # noqa: RUF001  # native signs
    r"(?:(?<=[.!?…])[\"'”’»)\]]*(?:\s|$|[A-ZÀ-Ý])|(?<=[\u0561-\u0587]:)|(?<=[^.!?…:]))"  # noqa: RUF001
)
_LONG: Final = 1_000
"""Characters above which the parts of a text are classified separately: a page may be a single
text."""
_MOST_CHARACTERS: Final = 200_000


class Texts(NamedTuple):
    """The main text, a piece per line, and the start of the surrounding text."""

    prose: str = ""
    around: str = ""


def texts_of(root: LexborNode, limit: int, main: LexborNode | None = None) -> Texts:
    """Return the texts under a node, with at most `limit` characters of main text.

    A main text shorter than `_LEAST_WHOLE` is empty. About 0.2 ms per 100 kB of HTML.
    """
    texts, inner = _text(root), "" if main is None else _text(main)
    prose, others, n_others = list[str](), list[str](), 0
    for part in (inner, texts.replace(inner, "", 1)):
        has_main = sum(map(len, prose)) >= _LEAST_WHOLE
        for text in _parts(part):
            if not has_main and len(text) >= _LEAST and _is_prose(text):
                prose.append(_tidy(text))
            elif n_others < limit:
                others.append(text)
                n_others += len(text)
    whole = "\n".join(prose)
    if len(whole) < _LEAST_WHOLE:
        return Texts()
    if len(whole) > limit:
        size, step = limit // PIECES - 1, len(whole) // PIECES
        starts = (at * step for at in range(PIECES))
        whole = "\n".join(whole[at : at + size].replace("\n", " ") for at in starts)
    return Texts(whole, _tidy(" ".join(others)))


def _text(node: LexborNode) -> str:
    return node.text(deep=True, separator="\0", skip_empty=True)[:_MOST_CHARACTERS]


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _parts(texts: str) -> Iterator[str]:
    """Yield the texts of elements, long texts in parts."""
    for text in texts.split("\0"):
        if len(text) <= _LONG:
            yield text
        else:
            yield from (text[at : at + _LONG] for at in range(0, len(text), _LONG))


def _is_prose(text: str) -> bool:
    start = text[:_JUDGED]
    letters = start.lower()
    if "cookie" in letters or "consent" in letters:
        return False
    wanted = -(-len(start) // _LONGEST)
    if len(list(islice(_STOP.finditer(start), wanted))) < wanted:
        return False
    words = start.split()
    return sum(map(str.istitle, words)) <= _MOST_CAPITALS * len(words)
