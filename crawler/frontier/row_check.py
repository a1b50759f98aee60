"""Finds rows of a run whose content has changed since they were written.

SQLite notices damage of its own structure. It does not notice a changed byte in a value. Rows of
`urls` and `pages` have a checksum. The counters of hosts follow from these rows. Rows of the other
tables are only checked for values that no crawl writes.
"""

import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from math import isfinite, isnan
from struct import pack
from typing import NamedTuple
from zlib import crc32

from crawler.frontier import inlinks, outlinks
from crawler.frontier.evidence_rows import BOUNDS, fault_of_belief, is_evidence
from crawler.page_row import PAGE_COLUMNS, fault_of, page_checksum
from crawler.set_aside import BadRow, set_aside
from crawler.url import fingerprint, host_of

_PAGES = f"SELECT {', '.join(PAGE_COLUMNS)}, checksum FROM pages"  # noqa: S608
# `crawler.outputs.repair` checks the rows of `archived`.
_NOT_CHECKED = (
    *("meta", "urls", "pages", "archived", "sqlite_sequence", "sqlite_stat1"),
    "belief",
)
_URLS = (
    "SELECT u.id, u.fingerprint, u.url, u.host, u.unit, u.parent, u.depth, u.redirects, u.checksum,"
    " u.tries, u.score, u.queued, u.inlinks, u.sent, h.host"
    " FROM urls AS u LEFT JOIN hosts AS h ON h.id = u.host"
)

# The queue and the counters of hosts as they follow from the rows.
_DERIVED = """
CREATE TEMP TABLE derived AS
SELECT u.host AS id, TOTAL(u.sent > 0) AS sent, TOTAL(u.sent > 0 AND u.queued <> 1) AS settled,
    COUNT(IIF(p.outcome = 'page', 1, NULL)) AS pages, MIN(u.url) AS url
FROM urls AS u LEFT JOIN pages AS p ON p.fingerprint = u.fingerprint GROUP BY u.host;
"""
_WRONG_QUEUE = (
    "SELECT id, queued FROM urls AS u WHERE queued <> 2 AND queued IS NOT"
    " NOT EXISTS(SELECT 1 FROM pages AS p WHERE p.fingerprint = u.fingerprint)"
)
_WRONG_HOSTS = (
    "SELECT h.id, h.sent, h.settled, h.pages, IFNULL(d.sent, 0) AS true_sent,"
    " IFNULL(d.settled, 0) AS true_settled, IFNULL(d.pages, 0) AS true_pages"
    " FROM hosts AS h LEFT JOIN derived AS d ON d.id = h.id"
    " WHERE (h.sent, h.settled, h.pages) IS NOT (true_sent, true_settled, true_pages)"
)


class _Found(NamedTuple):
    """A bad row and the place where it is: the `value` of the `key` of a table."""

    table: str
    key: str
    value: int | str | bytes
    row: BadRow


def readable(data: bytes) -> str | bytes:
    """Return a text of SQLite, or its bytes if they are not UTF-8; a `text_factory`."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


KNOWN = 2
"""The state (`urls.queued`) of a URL that is not fetched, because another one gave its page."""


def url_checksum(url: str, unit: str | None, *numbers: int, is_known: bool = False) -> int:
    """Return a checksum of the values of a row of `urls` that mostly never change.

    `numbers` are fingerprint, host, parent (0 if there is none), depth and redirects. The
    fingerprint is no checksum of the URL, since all spellings of a page share it. A row `is_known`
    if its state is `KNOWN`.
    """
    checksum = crc32(pack("<qqqqq", *numbers), crc32(url.encode(), int(is_known)))
    return checksum if unit is None else crc32(unit.encode(), checksum)


def set_bad_rows_aside(connection: sqlite3.Connection) -> list[BadRow]:
    """Take bad rows out of their tables and return them; costs O(rows).

    A URL whose page is set aside is queued again. A counter of a host that is wrong is corrected.
    The caller's transaction must have begun.
    """
    before = connection.text_factory
    try:
        found = _found_fast(connection)
        bad = [*_take_out(connection, found), *_corrected(connection)]
    finally:
        connection.text_factory = before
    set_aside(connection, bad)
    return bad


def _found_fast(connection: sqlite3.Connection) -> list[_Found]:
    """Return the bad rows. To read damaged texts as bytes takes longer, so it is the second try."""
    connection.text_factory = str
    try:
        return _all_found(connection)
    except sqlite3.OperationalError:  # a text that is not UTF-8
        connection.text_factory = readable
        return _all_found(connection)


def _all_found(connection: sqlite3.Connection) -> list[_Found]:
    by_table = (_bad_rows, _bad_beliefs, _bad_pages, _bad_urls)
    return list(chain.from_iterable(find(connection) for find in by_table))


def _take_out(connection: sqlite3.Connection, found: Sequence[_Found]) -> list[BadRow]:
    told = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found or told != "ok":
        # SQLite refuses to delete a row that differs from its entry in an index.
        connection.execute("REINDEX")
    for one in found:
        where = f"{one.key} = ?" if isinstance(one.value, int) else f"CAST({one.key} AS BLOB) = ?"
        value = one.value.encode() if isinstance(one.value, str) else one.value
        connection.execute(f"DELETE FROM {one.table} WHERE {where}", (value,))  # noqa: S608
    bad = [one.row for one in found]
    return bad if bad or told == "ok" else [BadRow("index", "it was made anew", str(told))]


def _found(table: str, key: str, row: Sequence[object], fault: str) -> _Found:
    value = row[0] if isinstance(row[0], int | str | bytes) else str(row[0])
    return _Found(table, key, value, BadRow(f"{table} {value!r}", fault, repr(tuple(row))))


def _bad_beliefs(connection: sqlite3.Connection) -> Iterator[_Found]:
    blobs = "typeof(mean) = 'blob' AND typeof(covariance) = 'blob'"
    for are_blobs, *row in connection.execute(f"SELECT {blobs}, * FROM belief"):  # noqa: S608  # above
        if row[0] != 1:
            fault = "its id is impossible"
        else:
            fault = fault_of_belief(row[1:]) if are_blobs else "the weights are no bytes"
        if fault:
            yield _found("belief", "id", row[:4], fault)


def _bad_pages(connection: sqlite3.Connection) -> Iterator[_Found]:
    for row, fault in checked_pages(connection):
        if fault:
            yield _found("pages", "id", row, fault)


def checked_pages(connection: sqlite3.Connection) -> Iterator[tuple[Sequence[object], str]]:
    """Yield each row of `pages` in the order of `PAGE_COLUMNS` with its fault, "" for a sound row.

    With the `text_factory` `readable`, damaged texts come as bytes; else they raise an error.
    """
    for *row, checksum in connection.execute(_PAGES):
        yield row, _page_fault(row, checksum)


def _page_fault(row: Sequence[object], checksum: object) -> str:
    values = dict(zip(PAGE_COLUMNS, row, strict=True))
    fault = fault_of(values)
    if fault:
        return fault
    if values["fingerprint"] != fingerprint(str(values["url"])):
        return "its fingerprint is not that of its URL"
    if checksum != page_checksum(*row[1:]):
        return "its checksum is wrong"
    return ""


def _bad_urls(connection: sqlite3.Connection) -> Iterator[_Found]:
    bad_hosts = set()
    for row in connection.execute(_URLS):
        fault = _url_fault(row)
        if fault:
            yield _found("urls", "id", row, fault)
        elif row[-1] != host_of(row[2]) and row[-1] is not None and row[3] not in bad_hosts:
            bad_hosts.add(row[3])
            yield _found("hosts", "id", (row[3], row[-1]), f"it has the URL {row[2]!r:.60}")


def _url_fault(row: Sequence[object]) -> str:
    _, key, url, host, unit, parent, depth, redirects, checksum, *rest, _ = row
    tries, score, queued, languages, sent = rest
    if not isinstance(url, str) or key != fingerprint(url):
        return "its fingerprint is not that of its URL"
    try:
        numbers = key, host, parent or 0, depth, redirects
        is_sound = checksum == url_checksum(url, unit, *numbers, is_known=queued == KNOWN)  # type: ignore[arg-type]  # a wrong type is an error
    except Exception:  # a value of another type
        is_sound = False
    if not is_sound:
        return "its checksum is wrong"
    if not _is_number(tries) or not _is_score(score) or queued not in (0, 1, KNOWN):
        return "its tries, score or state are impossible"
    if sent not in (0, 1, 2):
        return "its sent is impossible"
    return "" if _is_inlinks(languages) else "its inlinks are impossible"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 53


def _is_score(value: object) -> bool:
    return isinstance(value, float) and not isnan(value)


def _is_time(value: object) -> bool:
    return isinstance(value, float) and isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_inlinks(value: object) -> bool:
    if value is None:
        return True
    try:
        return isinstance(value, str) and bool(inlinks.read(value))
    except ValueError:
        return False


def _is_packed(value: object) -> bool:
    try:
        return isinstance(value, bytes) and outlinks.read(value) is not None
    except ValueError:
        return False


_CHECKS = {"TEXT": _is_text, "REAL": _is_time, "INTEGER": _is_number, "BLOB": _is_packed}
_PASSED = {
    "TEXT": "typeof({0}) = 'text'",
    "REAL": "typeof({0}) = 'real' AND abs({0}) < 9e999",
    "INTEGER": "typeof({0}) = 'integer' AND {0} BETWEEN 0 AND 1 << 53",
    "BLOB": "0",
}
"""Conditions that only sound values pass, without a function of Python for each."""


class _Column(NamedTuple):
    name: str
    kind: str
    may_miss: bool

    def is_sound(self, value: object) -> bool:
        return _CHECKS[self.kind](value) or (self.may_miss and value is None)

    def condition(self) -> str:
        condition = _PASSED[self.kind].format(self.name)
        return f"({condition} OR {self.name} IS NULL)" if self.may_miss else f"({condition})"


def _bad_rows(connection: sqlite3.Connection) -> Iterator[_Found]:
    """Yield the rows of all other tables whose values are not of the declared types."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table not in _NOT_CHECKED:
            yield from _bad_rows_of(connection, table)


def _bad_rows_of(connection: sqlite3.Connection, table: str) -> Iterator[_Found]:
    declared = connection.execute(f"PRAGMA table_info({table})").fetchall()
    columns = [_Column(name, kind, not needed) for _, name, kind, needed, *_ in declared]
    if connection.text_factory is str:
        texts = ", ".join(column.name for column in columns if column.kind == "TEXT")
        if texts:  # to read them is to check that they are UTF-8
            deque(connection.execute(f"SELECT {texts} FROM {table}"), maxlen=0)  # noqa: S608
        sound = " AND ".join(column.condition() for column in columns)
    else:
        sound = "0"
    names = ", ".join(column.name for column in columns)
    bounds = BOUNDS.get(table, "1")
    statement = f"SELECT {bounds}, {names} FROM {table} WHERE NOT ({sound} AND {bounds})"  # noqa: S608
    for is_within, *row in connection.execute(statement):
        bad = [c.name for value, c in zip(row, columns, strict=True) if not c.is_sound(value)]
        if bad or not is_within:
            fault = f"its {bad[0]} is impossible" if bad else "its numbers are impossible"
            yield _found(table, columns[0].name, row, fault)


def _corrected(connection: sqlite3.Connection) -> Iterator[BadRow]:
    """Correct what follows from the rows: the queue, missing hosts, the counters of hosts."""
    wrong = connection.execute(_WRONG_QUEUE).fetchall()
    connection.executemany(
        "UPDATE urls SET queued = NOT queued WHERE id = ?", [(url,) for url, _ in wrong]
    )
    connection.execute("DROP TABLE IF EXISTS temp.derived")
    connection.execute(_DERIVED)
    missing = connection.execute(
        "SELECT id, url FROM derived WHERE id NOT IN (SELECT id FROM hosts)"
    ).fetchall()
    connection.executemany(
        "INSERT OR IGNORE INTO hosts(id, host) VALUES (?, ?)",
        [(host, host_of(url)) for host, url in missing],
    )
    lost = connection.execute(
        "DELETE FROM urls WHERE host NOT IN (SELECT id FROM hosts) RETURNING id, url"
    ).fetchall()
    counted = connection.execute(_WRONG_HOSTS).fetchall()
    connection.executemany(
        "UPDATE hosts SET sent = ?, settled = ?, pages = ? WHERE id = ?",
        [(*row[4:], row[0]) for row in counted],
    )
    connection.execute("DROP TABLE temp.derived")
    homeless = [
        (table, page)
        for table in ("links", "visits")
        for (page,) in connection.execute(
            f"DELETE FROM {table} WHERE page NOT IN (SELECT id FROM pages) RETURNING page"  # noqa: S608
        ).fetchall()
    ]
    useless = list(_without_evidence(connection))
    return chain(
        (BadRow(f"{table} {page}", "its page is missing", "") for table, page in homeless),
        (BadRow(f"urls {url}", "its evidence is impossible", repr(kept)) for url, kept in useless),
        (BadRow(f"urls {url}", "its host is missing", repr(text)) for url, text in lost),
        (BadRow(f"urls {url}", "its state is corrected", repr(queued)) for url, queued in wrong),
        (
            BadRow(f"hosts {host}", "its counters are corrected", repr(before))
            for host, *before, _, _, _ in counted
        ),
    )


def _without_evidence(connection: sqlite3.Connection) -> Iterator[tuple[int, object]]:
    """Delete evidence that is damaged, or of a URL that is not queued; yield its id and a value."""
    kept = "SELECT id, queued, IIF(typeof(evidence) = 'blob', evidence, 0) FROM urls"
    for url, queued, evidence in connection.execute(f"{kept} WHERE evidence NOT NULL").fetchall():
        if queued != 1 or not is_evidence(evidence):
            connection.execute("UPDATE urls SET evidence = NULL WHERE id = ?", (url,))
            yield url, evidence


def bad_page(row: Sequence[object], fault: str, place: str = "") -> BadRow:
    """Return a bad row of `pages`, which is in another database if it has a `place`."""
    return BadRow(f"pages {row[0]!r}{place}", fault, repr(tuple(row)))
