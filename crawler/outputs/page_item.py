"""The item of a page: what feeds and pipelines get during a crawl, and exports after it."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from crawler.frontier import outlinks
from crawler.frontier.base import PAGE, UNCHANGED, Lease, Record
from crawler.page_row import PAGE_COLUMNS
from crawler.page_text import PageText, unpacked

_LINKS = "SELECT urls FROM links WHERE page = (SELECT id FROM pages WHERE fingerprint = ?)"


class OtherParagraph(TypedDict):
    """A paragraph that is not in the language of its page."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class PageItem:
    """A page with a final status and its text, or one whose text stayed since an earlier run.

    The columns of the run's table `pages` are those of `crawler.page_row.PageRow`; `is_relevant` is
    True if the page is in the target language. `title`, `text`, `words`, `other_paragraphs` and
    `duplicate_of` are None if the run does not keep the text of the page. `text` has one paragraph
    in each line, without those in other languages and without lines that earlier pages of the host
    repeat; `words` is the number of its words. `duplicate_of` is the URL of an earlier page with
    nearly the same text. `links` is None if the run does not keep links (LANGFOCUS_LINKS).
    """

    url: str
    parent: str | None
    status: int | None
    language: str | None
    confidence: float | None
    method: str | None
    is_relevant: bool
    charset: str | None
    country: str | None
    directives: str | None
    robots_txt: str | None
    bytes: int
    score: float
    depth: int
    fetched_at: float
    title: str | None = None
    text: str | None = None
    words: int | None = None
    other_paragraphs: list[OtherParagraph] | None = None
    duplicate_of: str | None = None
    links: list[str] | None = None


_COLUMNS = tuple(field.name for field in fields(PageItem) if field.name in PAGE_COLUMNS)
_ITEMS = (
    f"SELECT p.id, {', '.join(f'p.{name}' for name in _COLUMNS)},"  # noqa: S608  # names of columns
    " t.content, t.words, t.copy_of, (SELECT url FROM pages WHERE id = t.copy_of), l.urls"
    " FROM texts AS t JOIN pages AS p ON p.id = t.page LEFT JOIN links AS l ON l.page = p.id"
    " WHERE p.outcome IN (?, ?) ORDER BY p.id"
)


def settled_item(connection: sqlite3.Connection, lease: Lease, record: Record) -> PageItem:
    """Return the item of a page that was just settled."""
    sources = {"url": lease.url, "parent": lease.parent, "score": lease.score, "depth": lease.depth}
    values: dict[str, Any] = {
        name: sources[name] if name in sources else getattr(record, name) for name in _COLUMNS
    }
    row = connection.execute(_LINKS, (lease.fingerprint,)).fetchone()
    new = record.text
    return PageItem(
        **values,
        is_relevant=_is_in(_language(connection), record.language),
        **(_text_fields(new.text, new.copy_url) if new is not None else {}),
        links=outlinks.read(row[0]) if row else None,
    )


def _text_fields(text: PageText, copy_url: str | None) -> dict[str, Any]:
    kept = [part for part in text.paragraphs if not part.is_repeated]
    return {
        "title": text.title,
        "text": "\n".join(part.text for part in kept if part.language is None),
        "words": text.words,
        "other_paragraphs": [
            OtherParagraph(language=part.language, text=part.text) for part in kept if part.language
        ],
        "duplicate_of": copy_url,
    }


class KeptItems:
    """The items of all pages of a run whose text it keeps, in the order of the crawl.

    `damaged` counts the texts that could not be read; they are left out.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read a run that is open for reading."""
        self._connection = connection
        self.damaged = 0

    def __iter__(self) -> Iterator[PageItem]:
        """Yield the items, read from disk one by one."""
        lang = _language(self._connection)
        for values in self._connection.execute(_ITEMS, (PAGE, UNCHANGED)):
            try:
                yield _item(values, lang)
            except ValueError:
                self.damaged += 1


def _item(row: Sequence[Any], lang: str | None) -> PageItem:
    _, *columns, content, words, copy_of, copy_url, links = row
    values = dict(zip(_COLUMNS, columns, strict=True))
    return PageItem(
        **values,
        is_relevant=_is_in(lang, values["language"]),
        **_text_fields(unpacked(content, words, copy_of), copy_url),
        links=None if links is None else outlinks.read(links),
    )


def _language(connection: sqlite3.Connection) -> str | None:
    """Return the target language of a run."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
    return row[0] if row else None


def _is_in(lang: str | None, language: str | None) -> bool:
    return language is not None and language == lang
