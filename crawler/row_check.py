"""Finds rows of a run whose content has changed since they were written.

SQLite notices damage of its own structure. It does not notice a changed byte in a value.
"""

import sqlite3
from collections.abc import Iterator, Sequence

from crawler.page_row import PAGE_COLUMNS, fault_of, page_checksum
from crawler.set_aside import BadRow
from crawler.url import fingerprint

_PAGES = f"SELECT {', '.join(PAGE_COLUMNS)}, checksum FROM pages"  # noqa: S608


def readable(data: bytes) -> str | bytes:
    """Return a text of SQLite, or its bytes if they are not UTF-8; a `text_factory`."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def checked_pages(
    connection: sqlite3.Connection,
) -> Iterator[tuple[Sequence[object], str]]:
    """Yield each row of `pages` in the order of `PAGE_COLUMNS` with its fault, "" for a sound row.

    Texts that are not UTF-8 come as bytes.
    """
    for *row, checksum in _tolerant(connection, _PAGES):
        yield row, _page_fault(row, checksum)


def _tolerant(connection: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
    before = connection.text_factory
    connection.text_factory = readable
    try:
        yield from connection.execute(query)
    finally:
        connection.text_factory = before


def _page_fault(row: Sequence[object], checksum: object) -> str:
    values = dict(zip(PAGE_COLUMNS, row, strict=True))
    fault = fault_of(values)
    if fault:
        return fault
    if values["fingerprint"] != fingerprint(str(values["url"])):
        return "its fingerprint is not that of its URL"
    if checksum != page_checksum(*row[1:]):
        return "its checksum is wrong"
    return ""


def bad_page(row: Sequence[object], fault: str, place: str = "") -> BadRow:
    """Return a bad row of `pages`, which is in another database if it has a `place`."""
    return BadRow(f"pages {row[0]!r}{place}", fault, repr(tuple(row)))
