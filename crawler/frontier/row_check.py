"""Checksums of the rows of a run, and the check of the pages that a merge takes from a share."""

import sqlite3
from collections.abc import Iterator, Sequence
from struct import pack
from zlib import crc32

from crawler.page_row import PAGE_COLUMNS, fault_of, page_checksum
from crawler.set_aside import BadRow

_PAGES = f"SELECT {', '.join(PAGE_COLUMNS)}, checksum FROM pages"  # noqa: S608

KNOWN = 2
"""The state (`urls.queued`) of a URL that is not fetched, because another one gave its page."""


def readable(data: bytes) -> str | bytes:
    """Return a text of SQLite, or its bytes if they are not UTF-8; a `text_factory`."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def url_checksum(url: str, unit: str | None, *numbers: int, is_known: bool = False) -> int:
    """Return a checksum of the values of a row of `urls` that mostly never change.

    `numbers` are fingerprint, host, parent (0 if there is none), depth and redirects. The
    fingerprint is no checksum of the URL, since all spellings of a page share it. A row `is_known`
    if its state is `KNOWN`.
    """
    checksum = crc32(pack("<qqqqq", *numbers), crc32(url.encode(), int(is_known)))
    return checksum if unit is None else crc32(unit.encode(), checksum)


def checked_pages(connection: sqlite3.Connection) -> Iterator[tuple[Sequence[object], str]]:
    """Yield each row of `pages` in the order of `PAGE_COLUMNS` with its fault, "" for a sound row.

    With the `text_factory` `readable`, damaged texts come as bytes; else they raise an error.
    """
    for *row, checksum in connection.execute(_PAGES):
        yield row, _page_fault(row, checksum)


def _page_fault(row: Sequence[object], checksum: object) -> str:
    values = dict(zip(PAGE_COLUMNS, row, strict=True))
    fault = fault_of(values)
    if fault:
        return fault
    if checksum != page_checksum(*row[1:]):
        return "its checksum is wrong"
    return ""


def bad_page(row: Sequence[object], fault: str, place: str = "") -> BadRow:
    """Return a bad row of `pages`, which is in another database if it has a `place`."""
    return BadRow(f"pages {row[0]!r}{place}", fault, repr(tuple(row)))
