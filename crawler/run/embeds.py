"""The outcomes of files that pages embed, and their numbers in a run."""

import sqlite3
from typing import Final

FETCHED, FRAME, FAILED, IS_PAGE, FULL, TOO_LARGE = (
    *("fetched", "frame", "error_status", "is_page", "embeds_full", "too_large"),
)
"""Outcomes: an answer without an error; an HTML document, which may be fetched as a page later; an
answer with an error; a URL that the crawl fetches as a page; no bytes left for its page or domain;
a file larger than the bytes that it may have.
"""
WAITING: Final = "waiting"
"""Files that have no outcome."""

_COUNT: Final = """\
SELECT COALESCE(outcome, 'waiting'), COUNT(*), SUM(bytes) FROM embeds GROUP BY 1"""


def embed_figures(connection: sqlite3.Connection) -> tuple[dict[str, int], int]:
    """Return the embedded files of a run by outcome, and their bytes."""
    rows = connection.execute(_COUNT).fetchall()
    return {outcome: number for outcome, number, _ in rows}, sum(size for *_, size in rows)
