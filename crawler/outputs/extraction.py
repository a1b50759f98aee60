"""The main text of a page, by an extractor that the user chooses.

`benchmarks.page_extraction` compares the extractors.
"""

from collections.abc import Callable
from typing import Final

from classifiers.pages.charset.encodings import decode
from classifiers.pages.html.hazards import defused
from classifiers.pages.parse import MAX_BYTES
from crawler.errors import SettingError

MAX_CHARACTERS: Final = 500_000
"""Characters of a page's main text that are kept."""

MAX_PARAGRAPHS: Final = 5_000

_SLOW_CHARACTERS: Final = 300_000
"""Characters of a page that trafilatura reads; hostile ones take up to 1.4 s."""

Extract = Callable[[str], str]
"""Return the main text of an HTML page, a paragraph in each line."""


def paragraphs_of(body: bytes, content_type: str | None, extract: Extract) -> list[str]:
    """Return the paragraphs of a page's main text, each with single spaces.

    A plain text has its own lines. Raises an error of the extractor, which may be any. Markup that
    takes a parser too long is removed first; a page that stays dangerous has no text.
    """
    html = decode(body[:MAX_BYTES], content_type).utf8
    if (content_type or "").strip().lower().startswith("text/plain"):
        return _lines(html.decode("utf-8", "replace"))
    html, is_hazardous = defused(html)
    return [] if is_hazardous else _lines(extract(html.decode("utf-8", "replace")))


def _lines(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text[:MAX_CHARACTERS].split("\n"))
    return [line for line in lines if line][:MAX_PARAGRAPHS]


def _resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def extract(html: str) -> str:
        tree = HTMLTree.parse(html)
        return str(
            extract_plain_text(
                tree,
                main_content=True,
                list_bullets=False,
                alt_texts=False,
                form_fields=False,
                noscript=False,
                comments=False,
            )
        )

    return extract


def _trafilatura() -> Extract:
    from trafilatura import extract as extract_text

    def extract(html: str) -> str:
        found = extract_text(
            html[:_SLOW_CHARACTERS], fast=True, include_comments=False, include_tables=True
        )
        return str(found or "")

    return extract


_MAKERS = {"resiliparse": _resiliparse, "trafilatura": _trafilatura}
EXTRACTORS: Final = tuple(_MAKERS)


def make_extractor(name: str) -> Extract:
    """Return the extractor with a name; raises `SettingError` if its package is missing."""
    try:
        return _MAKERS[name]()
    except ImportError as error:
        raise SettingError(
            f"LANGFOCUS_EXTRACTOR={name}: its package cannot be imported ({error}); "
            f"pip install 'langfocus[{name}]'"
        ) from error
