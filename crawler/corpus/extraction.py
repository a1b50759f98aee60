"""The main text of a page, by an extractor that the user chooses, and its paragraphs' languages.

docs/research/corpus.md compares the extractors.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from langfocus.classifiers.pages.charset.encodings import decode
from langfocus.classifiers.pages.html.tree import affordable, read
from langfocus.classifiers.pages.parse import MAX_BYTES
from langfocus.classifiers.pages.text.textengine import TWINS, LangfocusEngine, shipped_engine
from langfocus.classifiers.pages.text.words import number_of_words

MAX_CHARACTERS: Final = 500_000
"""Characters of a page's main text that are kept."""

MAX_PARAGRAPHS: Final = 5_000

_SLOW_CHARACTERS: Final = 300_000
"""Characters of a page that trafilatura reads; hostile ones take up to 1.4 s."""

_SENTENCE: Final = 6
"""Words of a line that may be a sentence."""

FEWEST_LETTERS: Final = 80
"""A shorter paragraph has the language of its page."""

_LEAD: Final = 4.0
"""Nats by which another language must lead over that of the page."""
_READ_CHARACTERS: Final = 500
_READ_PARAGRAPHS: Final = 50


class MainText(NamedTuple):
    """The title of a page, and the paragraphs of its main text, each with single spaces."""

    title: str
    paragraphs: list[str]


def main_text_of(body: bytes, content_type: str | None, extractor: str = "trafilatura") -> MainText:
    """Return the main text of a page; no paragraphs if it has none.

    A plain text has its own lines. Of a page that takes a parser too long the beginning is read.
    Raises an error of the extractor, which may be any.
    """
    html = decode(body[:MAX_BYTES], content_type).utf8
    if (content_type or "").strip().lower().startswith("text/plain"):
        return MainText("", _lines(html.decode("utf-8", "replace")))
    page = affordable(html)
    text = EXTRACTORS[extractor](page.decode("utf-8", "replace"))
    return MainText(read(page, 1).title, _lines(text))


def _lines(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text[:MAX_CHARACTERS].split("\n"))
    # A line of signs alone is an ornament, or a link to the top of the page.
    return [line for line in lines if any(map(str.isalnum, line))][:MAX_PARAGRAPHS]


def _by_resiliparse(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    others: dict[str, Any] = dict.fromkeys(
        ("list_bullets", "alt_texts", "form_fields", "noscript", "comments"), False
    )
    return str(extract_plain_text(HTMLTree.parse(html), main_content=True, **others))


def _by_trafilatura(html: str) -> str:
    text = _extracted(html, is_strict=False)
    if any(number_of_words(line) >= _SENTENCE for line in text.split("\n")):
        return text
    # A page with little text gets all of it, menus included, unless the mode is strict.
    return _extracted(html, is_strict=True) if text else ""


def _extracted(html: str, *, is_strict: bool) -> str:
    from lxml.etree import strip_tags
    from trafilatura import bare_extraction
    from trafilatura.xml import xmltotxt

    # Where links are known, rows of links are left out; without them they are lines.
    found = bare_extraction(
        html[:_SLOW_CHARACTERS],
        fast=True,
        favor_precision=is_strict,
        include_comments=False,
        include_tables=True,
        include_links=True,
    )
    body = getattr(found, "body", None)
    if body is None:
        return ""
    strip_tags(body, "ref")
    return str(xmltotxt(body, include_formatting=False))


EXTRACTORS: Final[dict[str, Callable[[str], str]]] = {
    "trafilatura": _by_trafilatura,
    "resiliparse": _by_resiliparse,
}
"""Name of an extractor -> function from a page to its main text, a paragraph in each line."""


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
    for _, place in zip(range(_READ_PARAGRAPHS), long, strict=False):
        found[place] = _other(paragraphs[place][:_READ_CHARACTERS], language, alike, engine)
    return found


def _other(text: str, language: str, alike: set[str], engine: LangfocusEngine) -> str | None:
    reading = engine.read(text)
    if not reading.codes or reading.known < 0 or reading.codes[0] in alike:
        return None
    if reading.ballot.letters < FEWEST_LETTERS:
        return None
    is_sure = language not in reading.codes or reading.behind(language) >= _LEAD
    return reading.codes[0] if is_sure else None
