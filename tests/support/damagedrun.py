"""A run with something in every table, and the judgement of what a changed byte does to it."""

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crawler.errors import RunFolderError, StorageError
from crawler.frontier.base import PAGE, REDIRECT, Link, Record
from crawler.frontier.row_check import readable
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import open_run
from crawler.strategies.filters import make_filter
from crawler.strategies.focus.evidence import Evidence
from tests.support.learning import PRIOR

META: dict[str, object] = {
    "lang": "de",
    "ordering": "svm",
    "filter": "directory-conservative",
    "tolerance": 10,
    "host_cap": 9,
    "host_queue": 40,
    "directory_depth": 1,
    "web": "live",
    "identify": "composite",
    "shared": "",
    "seeds": ["http://h0.de/"],
}
RULES = FrontierRules(
    filter=make_filter("directory-conservative", tolerance=10, directory_depth=1),
    host_cap=9,
    host_queue=40,
    domain_cap=900,
    address_cap=900,
    keeps_links=True,
)
FOCUS_META = META | {"ordering": "focus"}
FOCUS_RULES = replace(RULES, prior=PRIOR, doubts_up_to=0.0, host_cap=6)
SESSION = 1
"""The number of the session that opens a damaged run; its row is not compared."""

# Columns of `urls` and other tables that change while a crawl runs and that nothing else tells.
UNNOTICED = {
    "meta",
    *(f"urls.{name}" for name in ("tries", "score", "inlinks", "evidence", "sent")),
    *(f"hosts.{name}" for name in ("delay_s", "not_before", "taken", "relevant")),
    *(f"units.{name}" for name in ("unit", "downloaded", "relevant")),
    *(f"sessions.{name}" for name in ("started_at", "ended_at", "finish_reason")),
    *(f"counts.{name}" for name in ("name", "value")),
    *(f"tallies.{name}" for name in ("unit", "labelled", "relevant")),
    *(f"belief.{name}" for name in ("labelled", "relevant", "swept", "mean", "covariance")),
    *(f"robots.{name}" for name in ("origin", "fetched_at", "bytes", "text")),
}


def frontier_of(connection: sqlite3.Connection, now: float) -> SqliteFrontier:
    query = "SELECT value FROM meta WHERE key = 'ordering'"
    learns = connection.execute(query).fetchone() == ("focus",)
    return SqliteFrontier(connection, FOCUS_RULES if learns else RULES, now=now)


def make_run(folder: Path, pages: int = 40, meta: Mapping[str, object] = META) -> Path:
    """Make a run with settled, queued and known URLs, redirects, retries and robots.txt files."""
    run = open_run(folder, meta, 1e9)
    frontier = frontier_of(run.connection, 1e9)
    frontier.seed([Link(f"http://h{n}.de/", 0.5) for n in range(5)], 1e9)
    for n in range(pages):
        lease = frontier.next(1e9 + n)
        if lease is None:
            break
        frontier.send(lease, f"192.0.2.{n % 3}", now=1e9 + n)
        found = [_link(f"http://h{n % 7}.de/d{k % 3}/p{n}-{k}.html", k) for k in range(6)]
        if n % 9 == 4:
            frontier.retry(lease, now=1e9 + n, not_before=1e9 + n + 60.0)
        elif n % 9 == 6:
            other = f"{lease.url}?utm_source=x"
            frontier.retry(lease, now=1e9 + n, not_before=1e9 + n + 60.0, url=other)
        elif n % 7 == 3:
            frontier.admit(lease, Record(REDIRECT, 1e9 + n, 301), found[:1], now=1e9 + n)
        else:
            told = Record(
                PAGE, 1e9 + n, 200, True, True, "de", 0.75, "text", "utf-8", "DE", 999,
                is_reference=True, canonical=_canonical(lease.host, n),
            )  # fmt: skip
            frontier.admit(lease, told, found, now=1e9 + n)
        frontier.set_robots(f"http://h{n % 7}.de", "User-agent: *\nDisallow: /x", 1e9 + n)
    run.end_session(1e9 + 99, "finished")
    run.connection.close()
    return folder / "run.db"


def _link(url: str, place: int) -> Link:
    score = place / 8 - 0.25
    return Link(url, score, Evidence(named=8.0 * score, code=float(place == 3)))


def _canonical(host: str, number: int) -> str | None:
    """Return a URL that may be in the queue, one that is unknown, or None."""
    if number % 4 == 1:
        return f"http://{host}/d1/p{number - number % 7}-1.html"
    return f"http://{host}/own{number}" if number % 4 == 2 else None


class Content(NamedTuple):
    """The rows of all tables of a run, and the names of their columns."""

    rows: dict[str, list[tuple[Any, ...]]]
    columns: dict[str, list[str]]


def content(connection: sqlite3.Connection) -> Content:
    """Return all but the row of the session that opened the run last."""
    before, connection.text_factory = connection.text_factory, readable
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = Content({}, {})
    for (name,) in tables:
        cursor = connection.execute(f"SELECT * FROM {name}")  # of the schema
        found.columns[name] = [column for column, *_ in cursor.description]
        found.rows[name] = cursor.fetchall()
    found.rows["sessions"] = [row for row in found.rows["sessions"] if row[0] <= SESSION]
    connection.text_factory = before
    return found


def judged(folder: Path, before: Content, meta: Mapping[str, object] = META) -> str:
    """Open a damaged run and crawl to its end; return how the damage was handled.

    "refused", "ended" (in one line, while it ran), "noticed", "harmless" (no value is different) or
    "unnoticed in TABLE.COLUMN".
    """
    database = folder / "run.db"
    bytes_before = database.read_bytes()
    try:
        run = open_run(folder, meta, 1e9 + 200)
    except RunFolderError as error:
        is_as_it_was = database.read_bytes() == bytes_before
        return "refused" if is_as_it_was and str(error).isprintable() else f"changed: {error}"
    try:
        after = content(run.connection)
        _crawl_on(run.connection)
    except StorageError as error:
        return "ended" if str(error).isprintable() else f"said {error}"
    finally:
        run.connection.close()
    return "noticed" if after.rows["set_aside"] else _difference(before, after)


def _crawl_on(connection: sqlite3.Connection) -> None:
    frontier = frontier_of(connection, 1e9 + 200)
    now = 2e12
    while lease := frontier.next(now):
        frontier.robots("http://h1.de")
        found = [Link(f"http://new{lease.depth}.de/{lease.fingerprint}", 0.0)]
        frontier.admit(lease, Record(PAGE, now, 200), found if lease.depth < 9 else [], now=now)
        now += 100.0
    assert frontier.counts().queued == 0


def _difference(before: Content, after: Content) -> str:
    for table, rows in before.rows.items():
        others = after.rows[table]
        if len(rows) != len(others):
            return f"unnoticed in {table}"
        for row, other in zip(rows, others, strict=True):
            for name, value, now in zip(before.columns[table], row, other, strict=True):
                if value != now:
                    return f"unnoticed in {table}.{name}"
    return "harmless"
