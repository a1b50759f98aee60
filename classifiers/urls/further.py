"""Languages with hardly a labelled URL, which a URL can name all the same.

Their evidence is fixed: codes and names in URLs, letters, and a little for the domains of their
countries, most of whose sites are in other languages. The values are those that the fit has for
languages without a classifier. The intercept was chosen with 27 learned languages that a fit was
made not to see.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers import languages
from langfocus.classifiers.tables import cldr, rows
from langfocus.classifiers.tables.country_domains import WITHOUT_A_DOMAIN
from langfocus.classifiers.urls.clues import BLOCK, HOST, SEGMENT, TOP

_CHOSEN: Final = {name: tuple(text.split()) for name, text in rows("further-languages.txt").items()}
FURTHER: Final = _CHOSEN["codes"]
INTERCEPT: Final = -1.0
_CODE_NATS: Final = {"": {HOST: 6.5, SEGMENT: 12.0}, "short": {HOST: 6.5, SEGMENT: 9.0}} | {
    "abbreviations": {HOST: 3.0, SEGMENT: 7.5},
    "words": {HOST: 3.0},
}
"""Evidence of a code: of three letters, of two, or one with another meaning."""
_LETTER_NATS: Final = 0.95
_HOME_NATS: Final = 2.0
_LEAST_SPEAKERS: Final = 0.5
"""Least percentage of speakers for a country's domain to count."""

Numbers = npt.NDArray[Any]


def added(named: tuple[str, ...], n_classified: int) -> tuple[str, ...]:
    """Return the languages that a model lacks; () if it names those of its classifiers alone."""
    return tuple(code for code in FURTHER if code not in named and len(named) > n_classified)


def widened(values: Numbers, n_added: int, fill: float = 0.0) -> Numbers:
    """Return an array with further columns."""
    added_to = [(0, 0)] * (values.ndim - 1) + [(0, n_added)]
    return np.pad(values, added_to, constant_values=fill)


def facts() -> Iterator[tuple[int, str, str, float]]:
    """Yield a clue kind, a text, the language meant, and the least evidence."""
    blocks = rows("letter-blocks.txt")
    for code in FURTHER:
        for kind, nats in _CODE_NATS[_sort_of(code)].items():
            yield kind, code, code, nats
        for script in languages.scripts(code):
            for block in blocks.get(script, "").split():
                yield BLOCK, chr(int(block, 16)), code, _LETTER_NATS
    for territory, spoken in cldr.spoken_in().items():
        top = "uk" if territory == "GB" else territory.lower()
        if len(top) == 2 and top.isalpha() and top not in WITHOUT_A_DOMAIN.split():
            used = (use.tag for use in spoken if use.status or use.percent >= _LEAST_SPEAKERS)
            spoken_there = {*map(languages.canonical, used)}
            yield from ((TOP, top, each, _HOME_NATS) for each in FURTHER if each in spoken_there)


def _sort_of(code: str) -> str:
    sorts = (sort for sort in ("words", "abbreviations") if code in _CHOSEN[sort])
    return next(sorts, "short" if len(code) == 2 else "")
