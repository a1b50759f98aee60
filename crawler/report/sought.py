"""What a crawl with the strategy `focus` sought (`-a goal`), and how far it got."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

from crawler.frontier.remaining import MOST_LOOKED_UP
from crawler.frontier.slots import unfallen
from crawler.report.formatting import NOTHING, language_name, number, percent
from crawler.strategies.focus.goal import COVERAGE, RELEVANT, SERVERS
from crawler.strategies.focus.odds import probability_of
from crawler.strategies.focus.ordering import DOUBTS_UP_TO

LEFT: Final = "left"
"""The key in `meta` of what a worker of a shared crawl last knew of the queue: sum and variance."""

SOUGHT: Final = "sought first"
"""The name of the figure that tells the goal."""

_DEVIATIONS: Final = 1.96
_QUEUE = """\
SELECT score FROM (
    SELECT score, host, row_number() OVER (PARTITION BY host ORDER BY score DESC) AS place
    FROM urls WHERE queued = 1)
AS best JOIN hosts ON hosts.id = best.host WHERE ? = 0 OR place <= ? - settled"""
_SERVERS = "SELECT count(DISTINCT host) FROM pages WHERE outcome = 'page' AND language = ?"
_SEEKS = {
    RELEVANT: "the most pages in {}",
    SERVERS: "the most servers with a page in {}",
    COVERAGE: "a share of all pages in {} with the fewest fetches",
}


@dataclass(frozen=True, slots=True)
class Sought:
    """The goal of a crawl, and its figures.

    `servers` are hosts with a relevant page. `expected` are the relevant pages to be expected from
    the queue, as far as the host cap allows them; `coverage` is the share of the relevant pages so
    far in both together, from `coverage_low` to `coverage_high` with a chance of 95 %, if the
    probabilities are right and independent. These four are None unless the goal is a coverage and
    the queue is known.
    """

    goal: str
    servers: int
    expected: float | None = None
    coverage: float | None = None
    coverage_low: float | None = None
    coverage_high: float | None = None


def seeks(goal: str, lang: str) -> str:
    """What a goal means, in a few words."""
    return _SEEKS[goal].format(language_name(lang))


def sought_of(
    connection: sqlite3.Connection, meta: Mapping[str, str], relevant: int
) -> Sought | None:
    """The goal of a run with so many relevant pages; None if its strategy has no goals.

    Cost: a scan of the pages, and with the goal `coverage` one of the queue.
    """
    goal = meta.get("goal")
    if goal not in _SEEKS:
        return None
    servers = connection.execute(_SERVERS, (meta["lang"],)).fetchone()[0]
    left = _left(connection, meta) if goal == COVERAGE else None
    if left is None:
        return Sought(goal, servers)
    expected, variance = left
    margin = _DEVIATIONS * sqrt(variance)
    shares = [
        relevant / (relevant + rest) if relevant + rest else None
        for rest in (expected, expected + margin, max(0.0, expected - margin))
    ]
    return Sought(goal, servers, expected, *shares)


def _left(connection: sqlite3.Connection, meta: Mapping[str, str]) -> tuple[float, float] | None:
    """The relevant pages to be expected from the queue, and their variance; None: not known."""
    if meta.get("shared"):
        try:
            expected, variance = map(float, meta.get(LEFT, "").split())
        except ValueError:  # no worker ended in order
            return None
        return expected, variance
    cap = int(meta.get("host_cap") or 0)
    cap = cap if cap <= MOST_LOOKED_UP else 0
    expected = variance = 0.0
    for (score,) in connection.execute(_QUEUE, (cap, cap)):
        share = probability_of(unfallen(score, DOUBTS_UP_TO))
        expected += share
        variance += share * (1.0 - share)
    return expected, variance


def sought_rows(sought: Sought | None, lang: str) -> list[tuple[str, str]]:
    """The goal and its figures as pairs of a name and a figure; none without a goal.

    The figures of relevant pages are in the tables of every run.
    """
    if sought is None:
        return []
    return [(SOUGHT, seeks(sought.goal, lang)), *sought_figures(sought, lang)]


def sought_figures(sought: Sought | None, lang: str) -> list[tuple[str, str]]:
    """Return name and figure of what was sought, where no other row has it."""
    if sought is None:
        return []
    rows = list[tuple[str, str]]()
    if sought.goal == SERVERS:
        rows.append((f"servers with a page in {language_name(lang)}", f"{sought.servers:,}"))
    if sought.goal == COVERAGE:
        rows.append(("coverage, estimated", _estimate(sought)))
        rows.append(("relevant pages expected in the queue", number(sought.expected)))
    return rows


def _estimate(sought: Sought) -> str:
    if sought.coverage is None:
        return NOTHING
    low, high = percent(sought.coverage_low), percent(sought.coverage_high)
    return f"{percent(sought.coverage)} ({low} to {high})"
