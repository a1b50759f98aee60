"""The course of a run: its harvest rate, queue and hosts by number of pages.

SQLite numbers and groups the pages, so nothing is kept in memory for each page.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from crawler.report.formatting import share_of
from crawler.run import reading

PORTION = 200
"""Pages in one point of Baykan 2013, Fig. 7."""

_NUMBERED: Final = """\
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY id) - 1 AS number, language, is_copy, host, queued
    FROM pages WHERE outcome = 'page')
"""
# A column beside max() is taken from the row of the maximum (SQLite, "bare columns").
_GROUPED: Final = """\
SELECT count(*), count(language), count(*) FILTER (WHERE language = :lang AND NOT is_copy),
       queued, max(number)
FROM numbered GROUP BY number / :step ORDER BY number / :step"""
_NEW_HOSTS: Final = """\
SELECT first / :step, count(*) FROM (SELECT min(number) AS first FROM numbered GROUP BY host)
GROUP BY 1"""
_LAST: Final = """\
SELECT count(*), count(language), count(*) FILTER (WHERE language = :lang AND NOT is_copy)
FROM (SELECT language, is_copy FROM pages WHERE outcome = 'page' ORDER BY id DESC LIMIT :size)"""


@dataclass(frozen=True, slots=True)
class Portion:
    """The counts of some consecutive pages of a run."""

    pages: int
    labelled: int
    relevant: int

    @property
    def harvest_rate(self) -> float | None:
        """Relevant pages per page with a label, 0 to 1; `None` if no page has a label."""
        return share_of(self.relevant, self.labelled)

    def as_json(self) -> dict[str, Any]:
        """The counts and their rate."""
        return {**asdict(self), "harvest_rate": self.harvest_rate}


@dataclass(frozen=True, slots=True)
class CurvePoint(Portion):
    """The counts of a run from its start to its page number `pages`."""

    hosts: int
    """Distinct hosts with a page so far."""
    queued: int
    """Queued URLs at that moment."""


def curve(run: sqlite3.Connection | Path | str, *, points: int = 500) -> list[CurvePoint]:
    """The counts of a run at evenly spaced pages, at most `points`; the last point is its end."""
    with reading(run) as connection:
        lang = connection.execute("SELECT value FROM meta WHERE key = 'lang'").fetchone()
        pages = connection.execute("SELECT count(*) FROM pages WHERE outcome = 'page'").fetchone()
        asked = {"lang": lang[0] if lang else "", "step": max(1, -(-pages[0] // points))}
        new_hosts = dict(connection.execute(_NUMBERED + _NEW_HOSTS, asked))
        rows = connection.execute(_NUMBERED + _GROUPED, asked)
        return list(_running_totals(rows, new_hosts))


def _running_totals(rows: sqlite3.Cursor, new_hosts: dict[int, int]) -> Iterator[CurvePoint]:
    pages = labelled = relevant = hosts = 0
    for place, (more_pages, more_labelled, more_relevant, queued, _) in enumerate(rows):
        pages += more_pages
        labelled += more_labelled
        relevant += more_relevant
        hosts += new_hosts.get(place, 0)
        yield CurvePoint(pages, labelled, relevant, hosts, queued)


def by_portion(connection: sqlite3.Connection, lang: str) -> list[Portion]:
    """The first 200 pages, the next 200, and so on; the last portion may be shorter."""
    rows = connection.execute(_NUMBERED + _GROUPED, {"lang": lang, "step": PORTION})
    return [Portion(*row[:3]) for row in rows]


def last_portion(connection: sqlite3.Connection, lang: str) -> Portion:
    """The last 200 pages of a run (fewer if it is shorter)."""
    return Portion(*connection.execute(_LAST, {"lang": lang, "size": PORTION}).fetchone())


def merged(portions: list[Portion], at_most: int, *, longest: int | None = None) -> list[Portion]:
    """The same pages in at most `at_most` portions, each made from equally many.

    `longest` is the number of portions of the longest of several runs, so that the portions of all
    runs have the same length.
    """
    width = max(1, -(-(longest or len(portions)) // at_most))
    groups = (portions[start : start + width] for start in range(0, len(portions), width))
    return [
        Portion(
            sum(portion.pages for portion in group),
            sum(portion.labelled for portion in group),
            sum(portion.relevant for portion in group),
        )
        for group in groups
    ]


def ends_of(portions: list[Portion]) -> list[int]:
    """The number of pages at the end of each portion."""
    return list(accumulate(portion.pages for portion in portions))


def middles_of(portions: list[Portion]) -> list[float]:
    """The place of each portion in a plot: the middle of its pages."""
    return [end - part.pages / 2 for end, part in zip(ends_of(portions), portions, strict=True)]
