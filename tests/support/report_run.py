"""Runs made by hand: a `run.db` with the rows that a test names."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

from benchmarks.crawling import new_run
from tests.support.dropped import dropped

META = {
    "lang": "de",
    "strategy": "svm",
    "ordering": "svm",
    "filter": "none",
    "tolerance": "10",
    "host_cap": "10",
    "directory_depth": "1",
    "web": "sample",
    "seeds": json.dumps(["http://www.tagesschau.de/"]),
    "budget_pages": "1000",
    "version": "0.1.0",
}

Session = tuple[float, float | None, str | None]


@dataclass(frozen=True)
class Row:
    """One settled URL; what a test does not name is a German page of one host."""

    url: str = ""
    host: str = "example.de"
    status: int | None = 200
    outcome: str = "page"
    language: str | None = "de"
    method: str | None = "ngrams"
    charset: str | None = "utf-8"
    country: str | None = None
    bytes: int = 100
    queued: int = 5
    fetched_at: float = 1000.0
    is_copy: int = 0
    in_scope: int = 0
    needs_browser: int = 0


def make_run(
    where: Path | None,
    rows: Iterable[Row],
    *,
    sessions: Iterable[Session] = ((1000.0, 1010.0, "pages"),),
    counts: dict[str, int] | None = None,
    **meta: str,
) -> sqlite3.Connection:
    """A connection to a run in the folder `where`, or in memory; open until the test ends."""
    database = ":memory:"
    if where is not None:
        where.mkdir(parents=True, exist_ok=True)
        database = str(where / "run.db")
        (where / "run.db").write_bytes(new_run())
    connection = dropped(sqlite3.connect(database))
    if where is None:
        connection.deserialize(new_run())
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", (META | meta).items())
    connection.executemany(
        "INSERT INTO sessions (started_at, ended_at, finish_reason) VALUES (?, ?, ?)", sessions
    )
    connection.executemany("INSERT INTO counts VALUES (?, ?)", (counts or {}).items())
    connection.executemany(
        """INSERT INTO pages (fingerprint, depth, confidence, score, url, host, status, outcome,
                              language, method, charset, country, bytes, queued, fetched_at,
                              is_copy, in_scope, needs_browser)
           VALUES (?, 0, 0.9, 0.5, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        ((number, *astuple(row)) for number, row in enumerate(rows)),
    )
    connection.commit()
    return connection
