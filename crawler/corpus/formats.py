"""Text formats of exports; each writer yields the lines of items in order."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, Protocol
from xml.sax.saxutils import escape, quoteattr

from langfocus.classifiers.errors import PluginError
from langfocus.classifiers.pages.text.words import tokens
from langfocus.classifiers.plugins import Registry
from langfocus.crawler.corpus.item import FIELDS, PageItem, safe_cell

if TYPE_CHECKING:
    from lxml.etree import _Element

_NOT_OF_CSV: Final = ("text", "other_paragraphs", "repeated", "pages", "links")
_OF_CSV: Final = tuple(name for name in FIELDS if name not in _NOT_OF_CSV)
_OF_DOC: Final = ("id", "url", "title", "author", "published", "site", "license", "language")
"""Attributes of `<doc>` in vertical text."""

# Full stops, marks of exclamation and question, the danda; then closing signs.
_MARKS: Final = ".!?\u2026\u0964\u061f\u06d4"
_WIDE_MARKS: Final = "\u3002\uff01\uff1f"
_CLOSING: Final = "\"'\u201d\u2019\u00bb\u300d)\\]"
_SENTENCE_END: Final = re.compile(
    f"(?:[{_MARKS}][{_CLOSING}]{{0,3}}\\s+)|[{_WIDE_MARKS}][{_CLOSING}]{{0,3}}\\s*"
)
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TEI: Final = "http://www.tei-c.org/ns/1.0"


def _json_lines(items: Iterable[PageItem]) -> Iterator[str]:
    for item in items:
        yield json.dumps(item.as_dict(), ensure_ascii=False) + "\n"


def _plain(items: Iterable[PageItem]) -> Iterator[str]:
    """Yield each text, followed by an empty line."""
    for item in items:
        yield f"{item.text}\n\n"


def _csv(items: Iterable[PageItem]) -> Iterator[str]:
    """Yield a header, then each page's metadata; a bar separates categories."""
    yield _csv_row(_OF_CSV)
    for item in items:
        values = (getattr(item, name) for name in _OF_CSV)
        cells = (" | ".join(value) if isinstance(value, list) else value for value in values)
        yield _csv_row(safe_cell(cell) if isinstance(cell, str) else cell for cell in cells)


def _csv_row(values: Iterable[object]) -> str:
    row = io.StringIO()
    csv.writer(row, lineterminator="\n").writerow(values)
    return row.getvalue()


def _vertical(items: Iterable[PageItem]) -> Iterator[str]:
    """Yield vertical text: a token a line between the tags of documents, paragraphs, sentences."""
    for item in items:
        written = {name: getattr(item, name) for name in _OF_DOC}
        named = "".join(
            f" {name}={quoteattr(_xml(str(value)))}" for name, value in written.items() if value
        )
        lines = [f"<doc{named}>"]
        for paragraph in (item.text or "").split("\n"):
            lines.append("<p>")
            for sentence in sentences(paragraph):
                lines += ["<s>", *(escape(_xml(token)) for token in tokens(sentence)), "</s>"]
            lines.append("</p>")
        yield "\n".join([*lines, "</doc>", ""])


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph.

    A sentence ends with its mark, before a space without a following lower-case letter. An
    abbreviation before a capital also ends a sentence. Thai, without marks, is not divided.
    """
    ended, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        if end.end() < len(text) and not text[end.end()].islower():
            ended.append(text[start : end.end()].strip())
            start = end.end()
    return [*ended, text[start:].strip()]


def _tei(items: Iterable[PageItem]) -> Iterator[str]:
    """Yield a TEI P5 corpus, a `TEI` element per page (trafilatura's headers)."""
    from lxml import etree

    title = "Texts of Web pages"
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<teiCorpus xmlns="{_TEI}">\n<teiHeader><fileDesc>'
        f"<titleStmt><title>{title}</title></titleStmt><publicationStmt><p>{title}</p>"
        f"</publicationStmt><sourceDesc><p>{title}</p></sourceDesc></fileDesc></teiHeader>\n"
    )
    for item in items:
        yield etree.tostring(tei_of(item), encoding="unicode") + "\n"
    yield "</teiCorpus>\n"


def tei_of(item: PageItem) -> "_Element":
    """Return a page's `TEI` element; headings and lists are paragraphs."""
    from lxml import etree
    from trafilatura.settings import Document
    from trafilatura.xml import build_tei_output

    page = Document()
    page.id, page.title, page.url = item.id, _xml(item.title or item.url), _xml(item.url)
    page.hostname = item.url.split("/")[2] if "//" in item.url else None
    for name, value in (
        ("author", item.author),
        ("date", item.published),
        ("sitename", item.site),
        ("license", item.license),
        ("description", item.description),
        ("language", item.language),
    ):
        setattr(page, name, _xml(value) if value else None)
    page.categories, page.tags = [_xml(category) for category in item.categories or ()], []
    page.body, page.commentsbody = etree.Element("body"), etree.Element("body")
    for paragraph in (item.text or "").split("\n"):
        etree.SubElement(page.body, "p").text = _xml(paragraph)
    return build_tei_output(page)


def _xml(text: str) -> str:
    """Return a text without characters that are invalid in XML."""
    return _NOT_XML.sub("", text)


class Writer(Protocol):
    """A function that writes the items of a corpus."""

    def __call__(self, items: Iterable[PageItem], /) -> Iterator[str]:
        """Yield the text of a file in pieces; the items come in order, and once."""


WRITERS: Final = Registry[Writer](
    "format",
    "langfocus.formats",
    {"jsonl": _json_lines, "txt": _plain, "csv": _csv, "vert": _vertical, "xml": _tei},
)
"""File name ending -> writer of a text format."""


def written(kind: str, items: Iterable[PageItem]) -> Iterator[bytes]:
    """Yield the text of items in a format, as UTF-8; the errors of a plug-in name it."""
    write, plugin = WRITERS.load(kind), WRITERS.plugin(kind)
    if plugin is None:
        yield from (text.encode("utf-8", "replace") for text in write(items))
        return
    faults: list[Exception] = []  # of the items
    try:
        with plugin.blamed():
            yield from (text.encode("utf-8", "replace") for text in write(_noted(items, faults)))
    except PluginError as error:
        if error.__cause__ in faults:
            raise error.__cause__ from None
        raise


def _noted(items: Iterable[PageItem], faults: list[Exception]) -> Iterator[PageItem]:
    try:
        yield from items
    except Exception as error:
        faults.append(error)
        raise
