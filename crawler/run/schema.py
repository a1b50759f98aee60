"""The tables of a run's database `run.db`."""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

from langfocus.crawler.run.page_row import create_pages
from langfocus.crawler.run.whole_file import replacing

SCHEMA_VERSION: Final = 26
"""Changes with each change of a statement below, which needs a step in `crawler.run.versions`."""

READABLE_BY: Final = 25
"""Oldest schema whose programs can read this schema: every older column keeps its meaning."""

SCHEMA: Final = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(
    id INTEGER PRIMARY KEY, started_at REAL NOT NULL, ended_at REAL, finish_reason TEXT);
CREATE TABLE hosts(
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,            -- or a registered domain, or "ip " and an address
    sent INTEGER NOT NULL DEFAULT 0,      -- URLs that got a request
    settled INTEGER NOT NULL DEFAULT 0,   -- of these, URLs that left the queue
    pages INTEGER NOT NULL DEFAULT 0,     -- pages downloaded
    delay_s REAL,                         -- Crawl-delay; NULL: the crawl's own delay
    not_before REAL NOT NULL DEFAULT 0,   -- unix seconds; set by Retry-After and back-off
    taken INTEGER NOT NULL DEFAULT 0,     -- slots of the domain or address that are taken
    files INTEGER NOT NULL DEFAULT 0,     -- requests to the host for files since its last page
    found INTEGER NOT NULL DEFAULT 0,     -- bytes of URLs that a domain's other hosts ever queued
    received INTEGER NOT NULL DEFAULT 0,  -- bytes of the bodies of the host's settled URLs
    relevant INTEGER NOT NULL DEFAULT 0); -- relevant pages of the domain or address
CREATE TABLE units(
    unit TEXT PRIMARY KEY,                -- server or directory
    downloaded INTEGER NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE urls(
    id INTEGER PRIMARY KEY,               -- order of discovery
    fingerprint INTEGER NOT NULL UNIQUE, url TEXT NOT NULL, host INTEGER NOT NULL,
    unit TEXT,                            -- NULL if the host is the unit; '+': no filter drops it
    parent INTEGER,                       -- urls.id of the page that linked here first
    depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
    tries INTEGER NOT NULL,               -- requests, and failures before one
    score REAL NOT NULL,
    queued INTEGER NOT NULL,              -- 1: in the queue; 0: settled;
                                          -- 2: not fetched, another URL gave its page
    evidence BLOB,                        -- of an ordering that learns, packed by
                                          -- crawler.frontier.evidence_rows; NULL: none, or settled
    sent INTEGER NOT NULL DEFAULT 0);     -- 1: it got a request; 2: and its server named
                                          -- another spelling
CREATE INDEX urls_queue ON urls(host, score DESC, id) WHERE queued = 1;
CREATE INDEX urls_unit ON urls(unit) WHERE queued = 1 AND unit IS NOT NULL;
{create_pages()};
CREATE TABLE links(
    page INTEGER PRIMARY KEY,             -- pages.id of a page that was read, or of a redirect
    urls BLOB NOT NULL);                  -- its links, packed by crawler.frontier.outlinks
CREATE TABLE visits(
    page INTEGER PRIMARY KEY,             -- pages.id of a download, or of an unchanged page
    etag TEXT, modified TEXT,             -- ETag and Last-Modified of its server
    digest TEXT NOT NULL,                 -- of its body
    looks INTEGER NOT NULL,               -- visits after the first, in earlier runs too
    changes INTEGER NOT NULL,             -- visits that found it changed
    first_at REAL NOT NULL);              -- time of its first visit, unix seconds
CREATE TABLE earlier(
    url TEXT NOT NULL PRIMARY KEY,        -- of a page of the run that this one is since
    etag TEXT, modified TEXT, digest TEXT NOT NULL,
    looks INTEGER NOT NULL, changes INTEGER NOT NULL, first_at REAL NOT NULL,
    seen_at REAL NOT NULL,                -- time of its last visit
    language TEXT, confidence REAL, method TEXT, charset TEXT,
    kept_url TEXT, kept_at TEXT)          -- WARC-Target-URI and WARC-Date of the record with its
    WITHOUT ROWID;                        -- body; NULL: no run kept it
CREATE TABLE counts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tallies(
    unit TEXT PRIMARY KEY,                -- registered domain, host or directory
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE belief(
    id INTEGER PRIMARY KEY,               -- 1
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL,
    mean BLOB NOT NULL, covariance BLOB NOT NULL);
CREATE TABLE archived(
    id INTEGER PRIMARY KEY,               -- order in the WARC files
    fingerprint INTEGER,                  -- of the settled URL; NULL: robots.txt, an embedded
                                          -- file, or another spelling of a URL
    url TEXT NOT NULL, date TEXT NOT NULL, status INTEGER NOT NULL, mime TEXT NOT NULL,
    digest TEXT NOT NULL,                 -- SHA-1 of the body, in hexadecimal; or ALGORITHM:DIGEST
                                          -- as the archive spells it that has the body
    is_revisit INTEGER NOT NULL,          -- 1: an earlier record has the body; 2: the server said
                                          -- that the page of an earlier run has not changed
    file TEXT NOT NULL,
    start INTEGER NOT NULL,               -- bytes: the answer begins
    length INTEGER NOT NULL,              -- bytes of the answer's record
    finish INTEGER NOT NULL);             -- bytes: the exchange ends
CREATE INDEX archived_digest ON archived(digest) WHERE is_revisit = 0;
CREATE TABLE embeds(
    id INTEGER PRIMARY KEY,               -- order of discovery
    url TEXT NOT NULL UNIQUE,             -- of a file that a relevant page embeds
    host TEXT NOT NULL, domain TEXT NOT NULL,
    page INTEGER NOT NULL,                -- urls.fingerprint of the page that needed it first
    depth INTEGER NOT NULL,               -- 1; more after frames, imports and redirects
    is_frame INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,                         -- NULL: it waits
    bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX embeds_host ON embeds(host, id) WHERE outcome IS NULL;
CREATE INDEX embeds_page ON embeds(page, bytes);
CREATE INDEX embeds_domain ON embeds(domain, bytes);
CREATE TABLE robots(
    origin TEXT NOT NULL PRIMARY KEY,
    fetched_at REAL NOT NULL,
    bytes INTEGER NOT NULL,               -- of this row, about
    text TEXT NOT NULL);                  -- the rules for our bot
"""

_COMMENT: Final = re.compile(r"--[^\n]*")

VERSION_META: Final = {"schema": str(SCHEMA_VERSION), "readable_by": str(READABLE_BY)}


def create(path: Path, values: Mapping[str, str]) -> None:
    """Make a run's database with `values` as its `meta`, completely or not at all."""
    with replacing(path) as new, closing(sqlite3.connect(new, isolation_level=None)) as connection:
        # A file that is not finished is deleted, so it needs no journal.
        connection.execute("PRAGMA journal_mode = OFF")
        # The transaction of a page changes an index leaf for each of its links, so small leaves
        # mean fewer bytes written.
        connection.execute("PRAGMA page_size = 2048")
        connection.executescript(f"BEGIN IMMEDIATE;{SCHEMA}")
        rows = {**values, **VERSION_META}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        connection.execute("COMMIT")


@cache
def _model() -> sqlite3.Connection:
    model = sqlite3.connect(":memory:", check_same_thread=False)
    model.executescript(SCHEMA)
    return model


@cache
def expected_schema() -> frozenset[tuple[str, ...]]:
    """Return the `schema_of` rows of an empty run in the current schema."""
    return frozenset(schema_of(_model()))


@cache
def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table of this schema, in order."""
    return tuple(name for _, name, *_ in _model().execute(f"PRAGMA table_info({table})"))


def schema_of(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Return (type, name, table, statement) per table, index, view and trigger.

    Comments and repeated spaces are removed from statements, so they may differ between runs.
    """
    rows = connection.execute(
        "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_master"
        " WHERE name NOT LIKE 'sqlite_stat%'"
    )
    return {(*names, " ".join(_COMMENT.sub("", sql).split())) for *names, sql in rows}
