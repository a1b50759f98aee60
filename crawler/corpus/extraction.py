"""Main text and metadata of a page, by a selectable extractor.

Paragraph languages are compared with the page language.

docs/research/corpus.md compares the extractors.
"""

import logging
import re
from collections.abc import Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, Protocol

from langfocus.classifiers.pages.charset.encodings import decode, is_document
from langfocus.classifiers.pages.charset.twice import repaired
from langfocus.classifiers.pages.html.shell import is_page_text, without_scripting
from langfocus.classifiers.pages.html.tree import affordable, title_of
from langfocus.classifiers.pages.parse import MAX_BYTES
from langfocus.classifiers.pages.text.textengine import TWINS, LangfocusEngine, shipped_engine
from langfocus.classifiers.pages.text.textgrams import without_unseen
from langfocus.classifiers.pages.text.words import number_of_words
from langfocus.classifiers.plugins import Registry
from langfocus.crawler.corpus import blocks

MAX_CHARACTERS: Final = 500_000
"""Length limit of a page's main text in characters."""

MAX_PARAGRAPHS: Final = 5_000

_MAX_METADATA: Final = 1_000
"""Length limit of an author, description or similar field in characters."""

_MAX_BYTES: Final = 1_000_000
"""Byte limit of an extractor's input: a page without scripts and styles."""

_SENTENCE: Final = 6
"""Minimum words of a possible sentence line."""

_SHORT: Final = 60_000
"""Length limit in characters of a page, not declared as an article, that trafilatura reads."""

_ARTICLE: Final = re.compile(
    r"og:type[\"'][^>]{0,40}content=[\"']?article|\"articleBody\"|\"(?:News)?Article\"",
    re.IGNORECASE,
)

_MARKS: Final = ".!?:"
"""Ends of a printed paragraph."""

FEWEST_LETTERS: Final = 80
"""Minimum letters of a paragraph; a shorter paragraph has the page language."""

_LEAD: Final = 4.0
"""Lead in nats by which another language must outscore the page language."""
_READ_CHARACTERS: Final = 500
_READ_PARAGRAPHS: Final = 50


class Metadata(NamedTuple):
    """A page's metadata; None where unstated or not found.

    `published` is a date of the form 2026-11-28. `license` is a short name or a URL.
    """

    author: str | None = None
    published: str | None = None
    site: str | None = None
    license: str | None = None
    description: str | None = None
    categories: list[str] | None = None


class MainText(NamedTuple):
    """A page's title, main text paragraphs with single spaces, and metadata."""

    title: str
    paragraphs: list[str]
    metadata: Metadata = Metadata()
    pages: Sequence[int] = ()  # of a document: the page of each paragraph, or the chapter, from 1


def main_text_of(
    body: bytes,
    content_type: str | None,
    extractor: str = "combined",
    *,
    has_markup: bool = False,
    has_metadata: bool = True,
) -> MainText:
    """Return the main text of a page; no paragraphs if the page has none.

    With markup, headings begin with `#` signs and list items with `- `, as in Markdown. Plain text
    keeps its lines. Only the beginning is read of a page that is too slow to parse. Without
    `has_metadata` the metadata is empty, which saves a third of the time. Raises any error of the
    extractor.
    """
    if is_document(body) and (document := _document_text(body)):
        return document
    html = decode(body[:MAX_BYTES], content_type).utf8
    if (content_type or "").strip().lower().startswith("text/plain"):
        return MainText("", _lines(html.decode("utf-8", "replace")))
    text = slim(affordable(html))
    paragraphs = _lines(extractor_of(extractor)(text, has_markup))
    if not paragraphs and (plain := without_scripting(html)) is not None:
        found = _lines(extractor_of(extractor)(slim(affordable(plain)), has_markup))
        paragraphs = found if is_page_text(" ".join(found)) else []
    metadata = metadata_of(text) if paragraphs and has_metadata else Metadata()
    return MainText(without_unseen(title_of(text)), paragraphs, metadata)


def _document_text(body: bytes) -> MainText | None:
    from langfocus.classifiers.pages.documents import read_document

    document = read_document(body)
    if document is None:
        return None
    lines_of = _joined if document.kind == "pdf" else _lines
    found = [
        (line, page) for page, text in enumerate(document.parts, 1) for line in lines_of(text)
    ][:MAX_PARAGRAPHS]
    paragraphs, pages = [line for line, _ in found], [page for _, page in found]
    return MainText(without_unseen(document.title), paragraphs, pages=pages)


def _joined(text: str) -> list[str]:
    """Return the paragraphs of a PDF page, whose lines are as long as they are printed."""
    found: list[str] = []
    for line in _lines(text):
        if found and line[0].islower() and found[-1][-1] not in _MARKS:
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def slim(page: bytes) -> str:
    """Return the part of a UTF-8 page that extractors read."""
    return repaired(_without_scripts(page)[:_MAX_BYTES].decode("utf-8", "replace"))


_DROPPED: Final = re.compile(rb"<(script|style|svg|template)\b|<!--", re.IGNORECASE)
_DATA: Final = b"ld+json"


def _without_scripts(page: bytes) -> bytes:
    """Return a page without textless elements and comments; linear time.

    Scripts with linked data stay.
    """
    lower, parts, at, place = page.lower(), [], 0, 0
    while found := _DROPPED.search(page, place):
        end = b"</" + found[1].lower() if found[1] else b"--"
        close = lower.find(end, found.end())
        place = lower.find(b">", close) + 1 if close >= 0 else 0
        if not place:
            break
        if _DATA not in lower[found.end() : lower.find(b">", found.end())]:
            parts.append(page[at : found.start()])
            at = place
    return b" ".join([*parts, page[at:]])


def metadata_of(html: str) -> Metadata:
    """Return the metadata of a page; 15 ms."""
    from trafilatura.metadata import extract_metadata

    tree = _tree(html)
    if tree is None:
        return Metadata()
    # Only dates in metadata: an extensive search would use any date in the text.
    dates = {"original_date": True, "extensive_search": False, "max_date": f"{date.max:%Y-%m-%d}"}
    found = extract_metadata(tree, date_config=dates, extensive=False)
    return Metadata(
        author=_short(found.author),
        published=_short(found.date),
        site=_short(found.sitename),
        license=_short(found.license),
        description=_short(found.description),
        categories=[text for text in map(_short, found.categories or ()) if text] or None,
    )


@lru_cache(maxsize=1)
def _tree(html: str) -> Any:
    """Return trafilatura's tree of a page, or None; text and metadata share the tree."""
    from trafilatura.utils import load_html

    return load_html(html)


def _short(text: str | None) -> str | None:
    return " ".join((text or "")[:_MAX_METADATA].split()) or None


def _lines(text: str) -> list[str]:
    text = without_unseen(repaired(text[:MAX_CHARACTERS]))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    # A line without letters is an ornament, or a link to the page top.
    return [line for line in lines if any(map(str.isalnum, line))][:MAX_PARAGRAPHS]


def _by_resiliparse(html: str, has_markup: bool) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    others: dict[str, Any] = dict.fromkeys(
        ("alt_texts", "form_fields", "noscript", "comments"), False
    )
    tree = HTMLTree.parse(html)
    return str(extract_plain_text(tree, main_content=True, list_bullets=has_markup, **others))


def _by_trafilatura(html: str, has_markup: bool, *, is_fast: bool = False) -> str:
    text = _extracted(html, has_markup, is_fast=is_fast)
    if not text or _has_sentence(text):
        return text
    # Unless strict, the extractor keeps the whole text of a short page, menus included.
    return _extracted(html, has_markup, is_fast=is_fast, is_strict=True)


def _extracted(html: str, has_markup: bool, *, is_fast: bool, is_strict: bool = False) -> str:
    from lxml.etree import strip_tags
    from trafilatura import bare_extraction
    from trafilatura.xml import xmltotxt

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # a warning for each odd page
    tree = _tree(html)
    if tree is None:
        return ""
    # Link rows are dropped only if links are included; otherwise they become lines.
    found = bare_extraction(
        tree,  # copied by trafilatura
        fast=is_fast,
        favor_precision=is_strict,
        include_comments=False,
        include_tables=True,
        include_links=True,
        include_formatting=has_markup,
    )
    body = getattr(found, "body", None)
    if body is None:
        return ""
    strip_tags(body, "ref")
    return str(xmltotxt(body, include_formatting=has_markup))


def _combined(html: str, has_markup: bool) -> str:
    """Return the blocks with the best expected F1, or trafilatura's text of some pages."""
    reading = find_blocks(html, has_markup=has_markup)
    if reading is None:  # a fragment, or all text is in linked data
        text = _by_trafilatura(html, has_markup) or _by_resiliparse(html, has_markup)
        return text if _has_sentence(text) else ""
    page, is_article, text, found, features = reading
    chances = blocks.probabilities(features)
    if is_article and blocks.is_better(text, found, page.blocks, chances):
        return text
    text = "\n".join(
        f"{_SIGNS.get(block.tag, '') if has_markup else ''}{block.text}"
        for block in blocks.best_choice(page.blocks, chances)
    )
    return text if _has_sentence(text) else ""


class FoundBlocks(NamedTuple):
    """The blocks of a page and their features; trafilatura's text and the blocks found in it."""

    page: blocks.Page
    is_article: bool
    text: str
    found: blocks.Choice
    features: blocks.Numbers


def find_blocks(html: str, *, has_markup: bool = False) -> FoundBlocks | None:
    """Return a page as the block model reads it, None if the page has no blocks.

    trafilatura's fast mode reads short pages and articles: on others it is slow and finds less.
    """
    tree, is_article = _tree(html), bool(_ARTICLE.search(html))
    page = blocks.page_of(tree) if tree is not None else None
    if page is None or not page.blocks:
        return None
    is_read = is_article or len(html) < _SHORT
    text = _by_trafilatura(html, has_markup, is_fast=True) if is_read else ""
    texts = (text, _by_resiliparse(html, has_markup=False))
    found = [blocks.found_in(page.blocks, each) for each in texts]
    seen = [found[0] if is_read else None, found[1]]
    features = blocks.features_of(page, seen, is_article=is_article)
    return FoundBlocks(page, is_article, text, found[0], features)


_SIGNS: Final = {**{f"h{level}": f"{'#' * level} " for level in range(1, 7)}, "li": "- "}
"""Markdown before a block, by element."""


def _has_sentence(text: str) -> bool:
    return any(number_of_words(line) >= _SENTENCE for line in text.split("\n"))


class Extractor(Protocol):
    """A function that finds the main text of a page."""

    def __call__(self, html: str, has_markup: bool, /) -> str:
        """Return the main text, one paragraph per line; with markup headings and lists as Markdown.

        `html` has no scripts, styles and comments, and at most a million characters.
        """


EXTRACTORS: Final = Registry[Extractor](
    "extractor",
    "langfocus.extractors",
    {"combined": _combined, "trafilatura": _by_trafilatura, "resiliparse": _by_resiliparse},
)
"""The extractors by name."""


@cache
def extractor_of(name: str) -> Extractor:
    """Return the extractor with a name; the errors of a plug-in name it.

    Raises KeyError for an unknown name, and `PluginError`.
    """
    extract, plugin = EXTRACTORS.load(name), EXTRACTORS.plugin(name)
    if plugin is None:
        return extract

    def named(html: str, has_markup: bool) -> str:
        with plugin.blamed():
            text = extract(html, has_markup)
            if not isinstance(text, str):
                raise TypeError(f"{type(text).__name__} in place of a text")
            return text

    return named


def differing_languages(paragraphs: Sequence[str], language: str | None) -> list[str | None]:
    """Return the language of each paragraph outside the page language, or None if equal.

    Only the first long paragraphs are identified. All are None if the page language is missing or
    unknown to the text model. 0.1 ms per identified paragraph.
    """
    engine = shipped_engine()
    languages: list[str | None] = [None] * len(paragraphs)
    if language is None or language not in engine.languages:
        return languages
    alike = {language}.union(*(twins for twins in TWINS if language in twins))
    long = (place for place, text in enumerate(paragraphs) if len(text) >= FEWEST_LETTERS)
    for _, place in zip(range(_READ_PARAGRAPHS), long, strict=False):
        languages[place] = _other(paragraphs[place][:_READ_CHARACTERS], language, alike, engine)
    return languages


def _other(text: str, language: str, alike: set[str], engine: LangfocusEngine) -> str | None:
    reading = engine.read(text)
    if not reading.codes or reading.known < 0 or reading.codes[0] in alike:
        return None
    if reading.ballot.letters < FEWEST_LETTERS:
        return None
    is_sure = language not in reading.codes or reading.behind(language) >= _LEAD
    return reading.codes[0] if is_sure else None
