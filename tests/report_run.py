"""Runs made by hand: a `run.db` with the rows that a test names."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE sessions(id INTEGER PRIMARY KEY, started_at REAL, ended_at REAL, finish_reason TEXT);
CREATE TABLE pages(id INTEGER PRIMARY KEY, fingerprint INTEGER UNIQUE, url TEXT, host TEXT,
    parent TEXT, depth INTEGER, status INTEGER, outcome TEXT, language TEXT, confidence REAL,
    method TEXT, charset TEXT, country TEXT, bytes INTEGER, score REAL, queued INTEGER,
    fetched_at REAL);
CREATE TABLE counts(name TEXT PRIMARY KEY, value INTEGER);
"""

META = {
    "schema": "1",
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


def make_run(
    where: Path | None,
    rows: Iterable[Row],
    *,
    sessions: Iterable[Session] = ((1000.0, 1010.0, "pages"),),
    counts: dict[str, int] | None = None,
    **meta: str,
) -> sqlite3.Connection:
    """A connection to a run in the folder `where`, or in memory."""
    if where is not None:
        where.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(":memory:" if where is None else where / "run.db")
    connection.executescript(SCHEMA)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", {**META, **meta}.items())
    connection.executemany(
        "INSERT INTO sessions (started_at, ended_at, finish_reason) VALUES (?, ?, ?)", sessions
    )
    connection.executemany("INSERT INTO counts VALUES (?, ?)", (counts or {}).items())
    connection.executemany(
        """INSERT INTO pages (fingerprint, depth, confidence, score, url, host, status, outcome,
                              language, method, charset, country, bytes, queued, fetched_at)
           VALUES (?, 0, 0.9, 0.5, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        ((number, *astuple(row)) for number, row in enumerate(rows)),
    )
    connection.commit()
    return connection
