"""Reading and upgrading runs with other schemas.

A step has a query per changed table, which derives new rows from the previous schema's rows.
Readers see the new rows through temporary views and change no file, however large the run. A crawl
copies `run.db`, then stores the new rows.
"""

import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shutil import copymode
from typing import Final

from langfocus.crawler.errors import RunFolderError, one_line
from langfocus.crawler.run.schema import (
    SCHEMA_VERSION,
    VERSION_META,
    columns_of,
    expected_schema,
    schema_of,
)
from langfocus.crawler.run.whole_file import replacing

STEPS: Final[Mapping[int, Mapping[str, str]]] = {
    24: {
        "hosts": "SELECT id, host, sent, settled, pages, delay_s, not_before, taken,"
        " 0 AS files, 0 AS found, relevant FROM hosts"
    },
    25: {
        "embeds": "SELECT NULL AS id, NULL AS url, NULL AS host, NULL AS domain, NULL AS page,"
        " NULL AS depth, NULL AS is_frame, NULL AS tries, NULL AS outcome, NULL AS bytes"
        " WHERE 0",
        "hosts": "SELECT id, host, sent, settled, hosts.pages, delay_s, not_before, taken, files,"
        " found, COALESCE(received, 0) AS received, relevant FROM hosts LEFT JOIN"
        " (SELECT host, SUM(bytes) AS received FROM pages GROUP BY host) USING (host)",
        "pages": "SELECT *, 0 AS in_scope, 0 AS needs_browser FROM pages",
    },
}
"""Schema -> tables that the next schema changed -> their new rows, the columns in order.

The query of a new table yields no row: `SELECT NULL AS name WHERE 0`.
"""

COPIES: Final = "run-schema-*.db"
"""The names of the copies of `run.db` that upgrades leave in a run folder."""

_log = logging.getLogger(__name__)
_LONGEST_NUMBER: Final = 9
_PAGES_AT_ONCE: Final = 10_000
_TABLE: Final = "CREATE TABLE "


def schema_number(meta: Mapping[str, str], key: str = "schema") -> int:
    """Return the schema that the `meta` of a run states; 0 for none."""
    text = meta.get(key, "")
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else 0


def check_version(folder: Path, meta: Mapping[str, str], *, continues: bool) -> None:
    """Raise `RunFolderError` for a run that this version cannot read, or not continue."""
    schema, oldest = schema_number(meta), min(STEPS)
    is_later = schema > SCHEMA_VERSION
    reads_later = not continues and 0 < schema_number(meta, "readable_by") <= SCHEMA_VERSION
    if oldest <= schema and (reads_later or not is_later):
        return
    program = one_line(meta.get("version") or "the version that made it")
    raise RunFolderError(
        f"{folder}: made with schema {one_line(meta.get('schema', ''))}; this version "
        f"{'continues' if continues else 'reads'} schemas {oldest} to {SCHEMA_VERSION}; use "
        f"{program}{' or a later version' if is_later else ', or a new folder'}"
    )


def see_as_current(connection: sqlite3.Connection, schema: int) -> set[str]:
    """Hide each table with other columns behind a temporary view; return the hidden tables.

    In a run with a later schema, every table with another statement is hidden. Raises `ValueError`
    for a virtual table or a computed column, which may yield endless values. Raises
    `sqlite3.OperationalError` for a missing table or column.
    """
    found = {row[1].lower(): row[3] for row in schema_of(connection) if row[0] == "table"}
    changed = _changed(schema)
    if schema > SCHEMA_VERSION:
        tables = {row[1]: row[3] for row in expected_schema() if row[0] == "table"}
        changed = {table for table, statement in tables.items() if found.get(table) != statement}
    computed = "SELECT 1 FROM pragma_table_xinfo(?, 'main') WHERE hidden"
    for table in changed:
        is_plain = found.get(table, _TABLE).startswith(_TABLE)
        if not is_plain or connection.execute(computed, (table,)).fetchone():
            raise ValueError(f"{table} is not a plain table")
        rows = _current_rows(table, schema, f"main.{table}")
        connection.execute(f"CREATE TEMP VIEW {table} AS {rows}")
        connection.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608  # names of tables
    return changed


def _changed(schema: int) -> set[str]:
    return {table for number in range(schema, SCHEMA_VERSION) for table in STEPS[number]}


def _current_rows(table: str, schema: int, source: str) -> str:
    """Return the query that derives current rows from the rows in `source`."""
    if schema > SCHEMA_VERSION:
        return f"SELECT {', '.join(columns_of(table))} FROM {source}"  # noqa: S608
    query = f"SELECT * FROM {source}"  # noqa: S608
    for number in range(schema, SCHEMA_VERSION):
        if table in STEPS[number]:
            query = f"WITH {table} AS ({query}) {STEPS[number][table]}"
    return query


def upgrade(connection: sqlite3.Connection, folder: Path, schema: int) -> None:
    """Upgrade a run to the current schema, completely or not at all.

    A copy of the database stays in the folder and replaces the copy of an earlier upgrade. Raises
    `sqlite3.Error` and `OSError`.
    """
    copy = folder / COPIES.replace("*", str(schema))
    with replacing(copy) as new:
        new.touch(0o600)
        with closing(sqlite3.connect(new)) as target:
            # In steps, between which Ctrl-C is noticed.
            connection.backup(target, pages=_PAGES_AT_ONCE, progress=lambda *_: None)
        copymode(folder / "run.db", new)
    # Old rows in free pages of the file would survive a take-down.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    for table in _changed(schema):
        _rewrite(connection, table, schema)
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", VERSION_META.items())
    connection.execute("COMMIT")
    _log.warning(
        "%s: upgraded from schema %d to %d; %s is a copy of before",
        *(folder, schema, SCHEMA_VERSION, copy.name),
    )


def _rewrite(connection: sqlite3.Connection, table: str, schema: int) -> None:
    """Upgrade a table with its rows to the current schema; user-made indexes are lost."""
    of_table = sorted((row for row in expected_schema() if row[2] == table), reverse=True)
    create, *indexes = (statement for *_, statement in of_table if statement)
    rows = _current_rows(table, schema, "before_upgrade")
    for statement in (
        f"CREATE TABLE IF NOT EXISTS {table}(no_rows)",  # a new one
        f"ALTER TABLE {table} RENAME TO before_upgrade",
        create,
        f"INSERT INTO {table} {rows}",
        "DROP TABLE before_upgrade",
        *indexes,
    ):
        connection.execute(statement)
