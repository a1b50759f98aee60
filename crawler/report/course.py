"""The course of a run: its harvest rate, queue and hosts by number of pages.

SQLite numbers and groups the pages, so nothing is kept in memory for each page.
"""

import sqlite3
from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, Final, NamedTuple

from crawler.report.formatting import share_of

PORTION = 200
"""Pages in one point of Baykan 2013, Fig. 7."""

# A column beside max() is taken from the row of the maximum (SQLite, "bare columns").
_PORTIONS: Final = """\
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY id) - 1 AS number, language, is_copy, host, queued
    FROM pages WHERE outcome = 'page'),
new AS (
    SELECT first / :size AS place, count(*) AS hosts
    FROM (SELECT min(number) AS first FROM numbered GROUP BY host) GROUP BY 1)
SELECT max(number) + 1, count(*), count(language),
       count(*) FILTER (WHERE language = :lang AND NOT is_copy), coalesce(new.hosts, 0), queued
FROM numbered LEFT JOIN new ON new.place = number / :size
GROUP BY number / :size ORDER BY number / :size"""


class Portion(NamedTuple):
    """The counts of some consecutive pages of a run."""

    last: int
    """The number of the last of them."""
    pages: int
    labelled: int
    relevant: int
    hosts: int
    """Hosts with their first page here."""
    queued: int
    """Queued URLs after the last page."""

    @property
    def harvest_rate(self) -> float | None:
        """Relevant pages per page with a label, 0 to 1; `None` if no page has a label."""
        return share_of(self.relevant, self.labelled)

    @property
    def span(self) -> str:
        """The numbers of the first and the last page."""
        return f"{self.last - self.pages + 1:,}-{self.last:,}"

    @property
    def point(self) -> tuple[float, float | None]:
        """The harvest rate at the middle of the pages, for a chart."""
        return self.last - self.pages / 2, self.harvest_rate

    def and_then(self, next_one: "Portion") -> "Portion":
        """The pages of this portion and of the next one."""
        last, pages, labelled, relevant, hosts, queued = next_one
        return Portion(
            last,
            self.pages + pages,
            self.labelled + labelled,
            self.relevant + relevant,
            self.hosts + hosts,
            queued,
        )

    def as_json(self) -> dict[str, Any]:
        """The counts of pages and their rate."""
        counts = {"pages": self.pages, "labelled": self.labelled, "relevant": self.relevant}
        return counts | {"harvest_rate": self.harvest_rate}


def by_portion(connection: sqlite3.Connection, lang: str, size: int = PORTION) -> list[Portion]:
    """The first `size` pages, the next ones, and so on; the last portion may be shorter."""
    rows = connection.execute(_PORTIONS, {"lang": lang, "size": size})
    return [Portion(*row) for row in rows]


def curve(connection: sqlite3.Connection, lang: str, *, points: int = 500) -> list[Portion]:
    """The pages of a run up to evenly spaced ones, at most `points`; the last point is its end."""
    (pages,) = connection.execute("SELECT count(*) FROM pages WHERE outcome = 'page'").fetchone()
    portions = by_portion(connection, lang, max(1, -(-pages // points)))
    return list(accumulate(portions, Portion.and_then))


def merged(
    portions: Sequence[Portion], at_most: int, *, longest: int | None = None
) -> list[Portion]:
    """The same pages in at most `at_most` portions, each made from equally many.

    `longest` is the number of portions of the longest of several runs, so that the portions of all
    runs have the same length.
    """
    width = max(1, -(-(longest or len(portions)) // at_most))
    starts = range(0, len(portions), width)
    return [reduce(Portion.and_then, portions[start : start + width]) for start in starts]
