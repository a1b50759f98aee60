"""The columns of a run's table `pages`, declared once.

The table's SQL, the statements that fill it and the rows that readers get are made from the fields
of `PageRow`. A new column needs a field here and, if its value comes from a fetch, one in `Record`.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from operator import attrgetter
from typing import Any, get_type_hints


class _GivenBy(Enum):
    """The source of a column's value."""

    ORDER = "the order of settling"
    URL = "the URL, known since it was queued"
    RECORD = "the record of its fetch, which has a field of that name"


def _column(given_by: _GivenBy, sql_type: str = "") -> Any:
    """Return a field; without an SQL type it gets that of its Python type."""
    return field(metadata={"given_by": given_by, "sql_type": sql_type})


@dataclass(frozen=True, slots=True)
class PageRow:
    """A settled URL.

    `id` grows in the order of settling. `parent` is the URL of the page that linked here first,
    None for seeds; `depth` is the distance from the seeds. `score` is that of the crawl's ordering
    before the fetch. `queued` is the number of queued URLs after this one was settled. `status`,
    `outcome`, `language`, `confidence`, `method`, `charset`, `country`, `bytes` and `fetched_at`
    are those of `crawler.frontier.base.Record`.
    """

    id: int = _column(_GivenBy.ORDER, "INTEGER PRIMARY KEY")
    fingerprint: int = _column(_GivenBy.URL, "INTEGER NOT NULL UNIQUE")
    url: str = _column(_GivenBy.URL)
    host: str = _column(_GivenBy.URL)
    parent: str | None = _column(_GivenBy.URL)
    depth: int = _column(_GivenBy.URL)
    status: int | None = _column(_GivenBy.RECORD)
    outcome: str = _column(_GivenBy.RECORD)
    language: str | None = _column(_GivenBy.RECORD)
    confidence: float | None = _column(_GivenBy.RECORD)
    method: str | None = _column(_GivenBy.RECORD)
    charset: str | None = _column(_GivenBy.RECORD)
    country: str | None = _column(_GivenBy.RECORD)
    bytes: int = _column(_GivenBy.RECORD)
    score: float = _column(_GivenBy.URL)
    queued: int = _column(_GivenBy.ORDER)
    fetched_at: float = _column(_GivenBy.RECORD)


_SQL_TYPES = {
    int: "INTEGER NOT NULL",
    int | None: "INTEGER",
    float: "REAL NOT NULL",
    float | None: "REAL",
    str: "TEXT NOT NULL",
    str | None: "TEXT",
}


def _names_given_by(*sources: _GivenBy) -> tuple[str, ...]:
    return tuple(f.name for f in fields(PageRow) if f.metadata["given_by"] in sources)


PAGE_COLUMNS = _names_given_by(*_GivenBy)
"""The names of all columns, in their order."""

URL_COLUMNS = _names_given_by(_GivenBy.URL)
"""The columns that a URL has before it is fetched."""

_RECORD_COLUMNS = _names_given_by(_GivenBy.RECORD)
_values_of = attrgetter(*_RECORD_COLUMNS)


def create_pages() -> str:
    """Return the statement that makes the table `pages`."""
    types = get_type_hints(PageRow)
    columns = [
        f"{f.name} {f.metadata['sql_type'] or _SQL_TYPES[types[f.name]]}" for f in fields(PageRow)
    ]
    return f"CREATE TABLE pages({', '.join(columns)})"


def insert_pages(rest: str = "", **expressions: str) -> str:
    """Return a statement that adds rows to `pages`.

    The value of a column is the SQL expression of its name, else the parameter of its name
    (`:url`). `rest` is the FROM clause with its conditions.
    """
    values = [expressions.get(name, f":{name}") for name in PAGE_COLUMNS]
    return f"INSERT INTO pages({', '.join(PAGE_COLUMNS)}) SELECT {', '.join(values)} {rest}"


def record_values(record: object) -> dict[str, object]:
    """Return the columns that the `Record` of a fetch gives, by name."""
    return dict(zip(_RECORD_COLUMNS, _values_of(record), strict=True))


def read_pages(connection: sqlite3.Connection) -> Iterator[PageRow]:
    """Yield the pages of a run in the order of settling."""
    rows = connection.execute(f"SELECT {', '.join(PAGE_COLUMNS)} FROM pages ORDER BY id")  # noqa: S608
    for row in rows:
        yield PageRow(*row)
