"""Databases that a test drops, as a kill does: closed at its end, or when one is opened again."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from langfocus.crawler.run.folder import OpenRun, open_run

_dropped: dict[object, sqlite3.Connection] = {}


def dropped(connection: sqlite3.Connection, folder: Path | None = None) -> sqlite3.Connection:
    """Close a connection when the test ends, or when it opens the `folder` again."""
    close_dropped(folder)
    _dropped[folder or connection] = connection
    return connection


def dropped_run(folder: Path, meta: Mapping[str, object], now: float) -> OpenRun:
    """A run whose process is killed before it is opened again."""
    close_dropped(folder)
    run = open_run(folder, meta, now)
    dropped(run.connection, folder)
    return run


def close_dropped(folder: Path | None) -> None:
    if folder in _dropped:
        _dropped.pop(folder).close()


def close_all() -> None:
    while _dropped:
        _dropped.popitem()[1].close()
