"""The columns of a run's table `pages`, declared once.

The table's SQL, the statements that fill it and the rows that readers get are made from the fields
of `PageRow`. A new column needs a field here and, if its value comes from a fetch, one in `Record`
with the same name.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from operator import attrgetter, itemgetter
from types import UnionType
from typing import Any, get_type_hints


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

    id: int
    fingerprint: int
    url: str
    host: str
    parent: str | None
    depth: int
    status: int | None
    outcome: str
    language: str | None
    confidence: float | None
    method: str | None
    charset: str | None
    country: str | None
    address: str | None
    directives: str | None
    robots_txt: str | None
    words_read: int | None
    bytes: int
    score: float
    reasons: str | None
    queued: int
    fetched_at: float
    is_copy: int


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


_OTHER_SQL_TYPES = {
    "id": "INTEGER PRIMARY KEY",
    "fingerprint": "INTEGER NOT NULL UNIQUE",
    "status": "INTEGER CHECK(status BETWEEN 100 AND 999 OR status IS NULL)",
}
_OF_ORDER = ("id", "queued")

PAGE_COLUMNS = tuple(_TYPES)
"""The names of all columns, in their order."""

URL_COLUMNS = ("fingerprint", "url", "host", "parent", "depth", "score", "reasons")
"""The columns that a URL has before it is fetched."""

_BOUNDS = (("id", 1, 1 << 53), ("status", 100, 999), ("bytes", 0, 1 << 53))
_page_values_of = itemgetter(*PAGE_COLUMNS[1:])
_RECORD_COLUMNS = tuple(n for n in PAGE_COLUMNS if n not in (*URL_COLUMNS, *_OF_ORDER))
_values_of = attrgetter(*_RECORD_COLUMNS)


def create_pages() -> str:
    """Return the statement that makes the table `pages`."""
    types = {name: _OTHER_SQL_TYPES.get(name, _SQL_TYPES[kind]) for name, kind in _TYPES.items()}
    columns = [f"{name} {sql_type}" for name, sql_type in types.items()]
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
