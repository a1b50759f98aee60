"""The strata of a run's pages: by the identifier's answer and its confidence."""

import sqlite3
from enum import Enum
from typing import Final, NamedTuple

BANDS: Final = (0.5, 0.9)
"""The confidences at which a band of a stratum ends and the next begins."""


class Answer(Enum):
    """The identifier's answer about a page."""

    TARGET = "target"
    OTHER = "other"
    NONE = "none"


class Stratum(NamedTuple):
    """Pages with the same kind of answer and a confidence in the same band, from 0.

    Pages without an answer, or with one that has no confidence, are in band 0.
    """

    answer: Answer
    band: int


def strata_sql(lang: str) -> tuple[str, tuple[object, ...]]:
    """Return SQL for the answer and the band of a row of `pages`, and its parameters."""
    low, high = BANDS
    return (
        "CASE WHEN language IS NULL THEN 'none' WHEN language = ? THEN 'target' ELSE 'other' END,"
        " CASE WHEN language IS NULL THEN 0"
        " ELSE (coalesce(confidence, 0) >= ?) + (coalesce(confidence, 0) >= ?) END",
        (lang, low, high),
    )


def sizes_of(connection: sqlite3.Connection, lang: str, until: int) -> dict[Stratum, int]:
    """Return the pages of each stratum, of the pages with an id up to `until`."""
    sql, parameters = strata_sql(lang)
    rows = connection.execute(
        f"SELECT {sql}, count(*) FROM pages WHERE outcome = 'page' AND id <= ? GROUP BY 1, 2",  # noqa: S608  # written above
        (*parameters, until),
    )
    return {Stratum(Answer(answer), band): number for answer, band, number in rows}


def last_page(connection: sqlite3.Connection) -> int:
    """Return the id of the last page, 0 if there is none."""
    row = connection.execute("SELECT max(id) FROM pages WHERE outcome = 'page'").fetchone()
    return int(row[0] or 0)
