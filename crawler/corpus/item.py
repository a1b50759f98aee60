"""Page item: the object in feeds and pipelines during a crawl, and in exports afterwards."""

import sqlite3
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, TypedDict

from langfocus.classifiers.languages import codes_of
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import Lease, Record
from langfocus.crawler.run.page_row import PAGE_COLUMNS

_LINKS = "SELECT urls FROM links WHERE page = (SELECT id FROM pages WHERE fingerprint = ?)"
_FORMULA: Final = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""First letters of a cell that a spreadsheet may evaluate as a formula."""


class OtherParagraph(TypedDict):
    """A paragraph in another language than its page."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class PageItem:
    """A page with a final status and its text.

    Fields without a comment are columns of the run's table `pages`
    (`crawler.run.page_row.PageRow`). A page outside a run has None for `parent`, `score` and
    `depth`, and a file without a date for `fetched_at`. The last fields, from `id`, are None in the
    feeds of a crawl.
    """

    url: str
    parent: str | None
    status: int | None
    language: str | None
    confidence: float | None
    method: str | None
    is_relevant: bool  # the page is in the target language
    charset: str | None
    country: str | None
    directives: str | None
    robots_txt: str | None
    bytes: int
    score: float | None
    depth: int | None
    fetched_at: float | None
    id: str | None = None  # a UUID of the URL and the bytes of the page
    warc_file: str | None = None  # archive file of the page
    warc_offset: int | None = None  # byte offset of its record
    digest: str | None = None  # payload digest, as in the WARC record
    title: str | None = None  # page title
    author: str | None = None  # as stated by the page, like the next fields
    published: str | None = None  # date, such as 2026-11-28
    site: str | None = None  # name of the site
    license: str | None = None  # such as CC BY-SA 4.0
    description: str | None = None  # from the page head
    categories: list[str] | None = None  # sections of the site
    text: str | None = None  # one paragraph per line, without `other_paragraphs`
    words: int | None = None  # word count of `text`
    other_paragraphs: list[OtherParagraph] | None = None  # paragraphs in other languages
    repeated: list[int] | None = None  # numbers, from 0, of repeated lines (--keep-repeated)
    duplicate_of: str | None = None  # an earlier page with nearly this text (--keep-copies)
    pages: list[int] | None = None  # of a document: where in `text` each page or chapter begins
    links: list[str] | None = None  # page links, with LANGFOCUS_LINKS

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


FIELDS = tuple(field.name for field in fields(PageItem))
ROW_FIELDS = tuple(name for name in FIELDS[: FIELDS.index("id")] if name in PAGE_COLUMNS)
"""Fields that are columns of the run's table `pages`."""


def settled_item(connection: sqlite3.Connection, lease: Lease, record: Record) -> PageItem:
    """Return the item of a newly settled page, without its text."""
    sources = {"url": lease.url, "parent": lease.parent, "score": lease.score, "depth": lease.depth}
    values: dict[str, Any] = {
        name: sources[name] if name in sources else getattr(record, name) for name in ROW_FIELDS
    }
    row = connection.execute(_LINKS, (lease.fingerprint,)).fetchone()
    lang = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
    return PageItem(
        **values,
        is_relevant=lang is not None and record.language in codes_of(lang[0]),
        links=outlinks.read(row[0]) if row else None,
    )


def safe_cell(text: str) -> str:
    """Return a text that no spreadsheet evaluates as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
