"""The columns of a run's table `pages`, declared once.

The table's SQL, the statements that fill it and the rows that readers get are made from the fields
of `PageRow`. A new column needs a field here and, if its value comes from a fetch, one in `Record`.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from math import isnan
from operator import attrgetter, itemgetter
from types import UnionType
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
    before the fetch, `reasons` what each feature adds to it (`crawler.frontier.base.Lease`).
    `queued` is the number of queued URLs after this one was settled. `status`, `outcome`,
    `language`, `confidence`, `method`, `charset`, `country`, `address`, `directives`,
    `robots_txt`, `words_read`, `bytes`, `fetched_at` and `is_copy` (0 or 1) are those of its
    `Record` (`crawler.frontier.base`).
    """

    id: int = _column(_GivenBy.ORDER, "INTEGER PRIMARY KEY")
    fingerprint: int = _column(_GivenBy.URL, "INTEGER NOT NULL UNIQUE")
    url: str = _column(_GivenBy.URL)
    host: str = _column(_GivenBy.URL)
    parent: str | None = _column(_GivenBy.URL)
    depth: int = _column(_GivenBy.URL)
    status: int | None = _column(
        _GivenBy.RECORD, "INTEGER CHECK(status BETWEEN 100 AND 999 OR status IS NULL)"
    )
    outcome: str = _column(_GivenBy.RECORD)
    language: str | None = _column(_GivenBy.RECORD)
    confidence: float | None = _column(_GivenBy.RECORD)
    method: str | None = _column(_GivenBy.RECORD)
    charset: str | None = _column(_GivenBy.RECORD)
    country: str | None = _column(_GivenBy.RECORD)
    address: str | None = _column(_GivenBy.RECORD)
    directives: str | None = _column(_GivenBy.RECORD)
    robots_txt: str | None = _column(_GivenBy.RECORD)
    words_read: int | None = _column(_GivenBy.RECORD)
    bytes: int = _column(_GivenBy.RECORD)
    score: float = _column(_GivenBy.URL)
    reasons: str | None = _column(_GivenBy.URL)
    queued: int = _column(_GivenBy.ORDER)
    fetched_at: float = _column(_GivenBy.RECORD)
    is_copy: int = _column(_GivenBy.RECORD)


_TYPES = get_type_hints(PageRow)
_TEXTS = (str, str | None)
_FLOATS = (float, float | None)
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

_BOUNDS = (("id", 1, 1 << 53), ("status", 100, 999), ("bytes", 0, 1 << 53))
_page_values_of = itemgetter(*PAGE_COLUMNS[1:])
_RECORD_COLUMNS = _names_given_by(_GivenBy.RECORD)
_values_of = attrgetter(*_RECORD_COLUMNS)


def create_pages() -> str:
    """Return the statement that makes the table `pages`."""
    columns = [
        f"{f.name} {f.metadata['sql_type'] or _SQL_TYPES[_TYPES[f.name]]}" for f in fields(PageRow)
    ]
    return f"CREATE TABLE pages({', '.join(columns)})"


def insert_pages(rest: str = "", **expressions: str) -> str:
    """Return a statement that adds rows to `pages`.

    The value of a column is the SQL expression of its name, else the parameter of its name
    (`:url`). `rest` is the FROM clause with its conditions.
    """
    values = [expressions.get(name, f":{name}") for name in PAGE_COLUMNS]
    return f"INSERT INTO pages({', '.join(PAGE_COLUMNS)}) SELECT {', '.join(values)} {rest}"


INSERT_PAGE = f"INSERT INTO pages VALUES (NULL{', ?' * (len(PAGE_COLUMNS) - 1)})"  # noqa: S608
"""A statement that adds one row with the next id; its parameters come from `row_of`."""


def row_of(values: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the values of the columns after the id."""
    row: tuple[object, ...] = _page_values_of(values)
    return row


def record_values(record: object) -> dict[str, object]:
    """Return the columns that the `Record` of a fetch gives, by name."""
    return dict(zip(_RECORD_COLUMNS, _values_of(record), strict=True))


def checked_values(record: object) -> dict[str, object]:
    """Return `record_values`; raises ValueError for a value that no run can store."""
    values = record_values(record)
    fault = fault_of(values)
    if fault:
        raise ValueError(f"this record cannot be stored: {fault}")
    return values


def fault_of(values: Mapping[str, object]) -> str:
    """Return a message about the first of these columns with an invalid value, "" if all are valid.

    A number must fit into 64 bits, a text must be Unicode without half surrogate pairs.
    """
    for name, value in values.items():
        if not _is_valid(value, _TYPES[name]):
            return f"its {name} is {value!r:.60}"
    for name, least, most in _BOUNDS:
        value = values.get(name)
        if isinstance(value, int) and not least <= value <= most:
            return f"its {name} is {value!r:.60}"
    return ""


def _is_valid(value: object, kind: object) -> bool:
    if value is None:
        return isinstance(kind, UnionType)
    if isinstance(value, str):
        return kind in _TEXTS and _is_encodable(value)
    if isinstance(value, float):
        return kind in _FLOATS and not isnan(value)
    return type(value) is int and kind not in _TEXTS and -(1 << 63) <= value < 1 << 63


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_pages(connection: sqlite3.Connection) -> Iterator[PageRow]:
    """Yield the pages of a run in the order of settling."""
    rows = connection.execute(f"SELECT {', '.join(PAGE_COLUMNS)} FROM pages ORDER BY id")  # noqa: S608
    for row in rows:
        yield PageRow(*row)
