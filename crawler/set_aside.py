"""Rows that cannot be used. They are kept apart, so that one bad row does not stop a crawl."""

import logging
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

TABLE = """\
CREATE TABLE set_aside(
    source TEXT NOT NULL,                 -- the table or stream of the row, and its key there
    reason TEXT NOT NULL,
    content TEXT NOT NULL,                -- the values of the row, as far as they can be read
    UNIQUE(source, content))"""

COUNT = "set_aside"
"""The counter of a run that has the number of its bad rows."""

_MOST_NAMED = 10
_LONGEST_CONTENT = 10_000

_log = logging.getLogger(__name__)


class BadRow(NamedTuple):
    """A row that cannot be used; see the columns of the table `set_aside`."""

    source: str
    reason: str
    content: str


def set_aside(connection: sqlite3.Connection, rows: Sequence[BadRow]) -> None:
    """Keep bad rows in the caller's transaction; a row that is kept already stays as it is."""
    connection.executemany(
        "INSERT OR IGNORE INTO set_aside VALUES (?, ?, ?)",
        [tuple(one_line(text) for text in row) for row in rows],
    )


def number_set_aside(connection: sqlite3.Connection) -> int:
    """Return the number of bad rows of a run."""
    number: int = connection.execute("SELECT COUNT(*) FROM set_aside").fetchone()[0]
    return number


def warn_of(rows: Sequence[BadRow], place: object) -> None:
    """Log the first rows by name, and the number of the others."""
    for row in rows[:_MOST_NAMED]:
        _log.warning("%s: %s is set aside: %s", place, one_line(row.source), row.reason)
    if len(rows) > _MOST_NAMED:
        more = len(rows) - _MOST_NAMED
        _log.warning("%s: %s more rows are set aside; see its table set_aside", place, f"{more:,}")


def one_line(text: str) -> str:
    """Return a text of one line that any database and terminal can take."""
    short = " ".join(text[:_LONGEST_CONTENT].encode("utf-8", "backslashreplace").decode().split())
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in short)
