"""The languages of the paragraphs of a page, where they differ from that of the page."""

from collections.abc import Sequence
from typing import Final

from classifiers.pages.text.textengine import TWINS, LangfocusEngine, shipped_engine

FEWEST_LETTERS: Final = 80
"""A shorter paragraph has the language of its page."""

_LEAD: Final = 4.0
"""Nats by which another language must lead over that of the page."""
_MOST_CHARACTERS: Final = 500
_MOST_PARAGRAPHS: Final = 50


def differing_languages(
    paragraphs: Sequence[str], language: str | None, engine: LangfocusEngine | None = None
) -> list[str | None]:
    """Return the language of each paragraph that is not in the page's, None for the others.

    Only the first long paragraphs are read. Without a language of the page, or if the text model
    does not know it, all are None. 0.1 ms for each paragraph that is read.
    """
    engine = engine or shipped_engine()
    found: list[str | None] = [None] * len(paragraphs)
    if language is None or language not in engine.languages:
        return found
    alike = {language}.union(*(twins for twins in TWINS if language in twins))
    long = (place for place, text in enumerate(paragraphs) if len(text) >= FEWEST_LETTERS)
    for _, place in zip(range(_MOST_PARAGRAPHS), long, strict=False):
        found[place] = _other(paragraphs[place][:_MOST_CHARACTERS], language, alike, engine)
    return found


def _other(text: str, language: str, alike: set[str], engine: LangfocusEngine) -> str | None:
    reading = engine.read(text)
    if not reading.codes or reading.known < 0 or reading.codes[0] in alike:
        return None
    if reading.ballot.letters < FEWEST_LETTERS:
        return None
    is_sure = language not in reading.codes or reading.behind(language) >= _LEAD
    return reading.codes[0] if is_sure else None
