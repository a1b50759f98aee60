"""The columns of a run's table `pages`, declared once.

The fields of `PageRow` define the table's SQL, its insert statements and the rows for readers. A
new column needs a field here and, for a value from a fetch, an equally named field in `Record`.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter, itemgetter
from threading import Lock
from typing import Any, get_type_hints


@dataclass(frozen=True, slots=True)
class PageRow:
    """A settled URL; a field without a comment is one of its `Record` in `frontier.base`."""

    id: int  # grows in the order of settling
    fingerprint: int  # 64 bits of a hash of the page's key (`crawler.url.page_key`)
    url: str  # normalised (`crawler.url.normalise`)
    host: str  # without `www.` and port
    parent: str | None  # the URL of the page that linked here first, None for seeds
    depth: int  # links from the seeds
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
    score: float  # of the crawl's ordering before the fetch; of `focus` the log-odds
    reasons: str | None  # what each feature adds to the score, as JSON
    queued: int  # queued URLs after this one was settled
    fetched_at: float
    is_copy: int
    in_scope: int
    needs_browser: int


_SQL_TYPES = {
    int: "INTEGER NOT NULL",
    int | None: "INTEGER",
    float: "REAL NOT NULL",
    float | None: "REAL",
    str: "TEXT NOT NULL",
    str | None: "TEXT",
}
_OTHER_SQL_TYPES = {
    "id": "INTEGER PRIMARY KEY CHECK(id > 0)",
    "fingerprint": "INTEGER NOT NULL UNIQUE",
    "status": "INTEGER CHECK(status BETWEEN 100 AND 999)",
    "bytes": "INTEGER NOT NULL CHECK(bytes >= 0)",
}

PAGE_COLUMNS = tuple(get_type_hints(PageRow))
"""All column names, in order."""

# The columns that a URL has before it is fetched.
_URL_COLUMNS = ("fingerprint", "url", "host", "parent", "depth", "score", "reasons")
_RECORD_COLUMNS = tuple(n for n in PAGE_COLUMNS if n not in (*_URL_COLUMNS, "id", "queued"))
_GIVEN = (*_URL_COLUMNS, *_RECORD_COLUMNS)
_url_values_of = attrgetter(*_URL_COLUMNS)
_record_values_of = attrgetter(*_RECORD_COLUMNS)
_values_of = itemgetter(*PAGE_COLUMNS[1:])


def create_pages() -> str:
    """Return the CREATE statement for the table `pages`."""
    types = {name: _SQL_TYPES[kind] for name, kind in get_type_hints(PageRow).items()}
    columns = [f"{name} {sql_type}" for name, sql_type in (types | _OTHER_SQL_TYPES).items()]
    return f"CREATE TABLE pages({', '.join(columns)}) STRICT"


def insert_pages(rest: str = "", **expressions: str) -> str:
    """Return a statement that adds rows to `pages`.

    The value of a column is the SQL expression of its name, else the parameter of its name
    (`:url`). `rest` is the FROM clause with its conditions.
    """
    values = [expressions.get(name, f":{name}") for name in PAGE_COLUMNS]
    return f"INSERT INTO pages({', '.join(PAGE_COLUMNS)}) SELECT {', '.join(values)} {rest}"


_ADD_PAGE = f"INSERT INTO pages VALUES (NULL{', ?' * (len(PAGE_COLUMNS) - 1)})"  # noqa: S608
_TRY_PAGE = insert_pages()
_TRYING = Lock()  # two threads cannot bind values to one statement


def page_values(lease: object, record: object) -> dict[str, Any]:
    """Return the column values from a lease and its record, by name."""
    values = *_url_values_of(lease), *_record_values_of(record)
    return dict(zip(_GIVEN, values, strict=True))


def add_page(connection: sqlite3.Connection, values: Mapping[str, Any]) -> int:
    """Insert a row and return its id, the next number; `values` are the remaining columns.

    Raises ValueError for a value that no run can store: a wrong type, a number above 64 bits, NaN,
    half a surrogate pair.
    """
    try:
        return connection.execute(_ADD_PAGE, _values_of(values)).lastrowid or 0
    except (ValueError, OverflowError, sqlite3.IntegrityError) as error:
        raise ValueError(f"this record cannot be stored: {error}") from error


def check_page(values: Mapping[str, Any]) -> None:
    """Raise ValueError unless `values` are a whole row that a run can store."""
    with _TRYING:
        table = _empty_table()
        try:
            table.execute(_TRY_PAGE, values)
        except (ValueError, OverflowError, sqlite3.Error) as error:
            raise ValueError(f"this record cannot be stored: {error}") from error
        finally:
            table.execute("DELETE FROM pages")


@cache
def _empty_table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(create_pages())
    return connection


def read_pages(connection: sqlite3.Connection) -> Iterator[PageRow]:
    """Yield the pages of a run in the order of settling."""
    rows = connection.execute(f"SELECT {', '.join(PAGE_COLUMNS)} FROM pages ORDER BY id")  # noqa: S608
    for row in rows:
        yield PageRow(*row)
