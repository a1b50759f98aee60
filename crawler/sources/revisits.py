"""Revisits: the pages of an earlier run, fetched again with `-a since=`.

The table `visits` of a run has the validators of each page (ETag, Last-Modified), its body digest,
and its number of changes over earlier visits. A run with `-a since=` copies them into the table
`earlier`, and reads the earlier folder only once.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from langfocus.crawler.errors import SettingError
from langfocus.crawler.frontier.base import FIRST_SCORE, UNCHANGED, Visit
from langfocus.crawler.run.folder import PAYLOADS, reading
from langfocus.crawler.sources.answer_index import digest_of
from langfocus.crawler.strategies.links import Link

_LONGEST_VALIDATOR: Final = 1000


class Earlier(NamedTuple):
    """A page of the earlier run; see the tables `visits` and `earlier`."""

    url: str
    etag: str | None
    modified: str | None
    digest: str
    looks: int
    changes: int
    first_at: float
    seen_at: float
    language: str | None
    confidence: float | None
    method: str | None
    charset: str | None
    kept_url: str | None
    kept_at: str | None


_COLUMNS = ", ".join(Earlier._fields)
_OF_RUN = f"""
SELECT p.url, v.etag, v.modified, v.digest, v.looks, v.changes, v.first_at, p.fetched_at,
    p.language, p.confidence, p.method, p.charset,
    CASE p.outcome WHEN '{UNCHANGED}' THEN e.kept_url
    ELSE COALESCE(o.url, other(a.digest, 'url')) END,
    CASE p.outcome WHEN '{UNCHANGED}' THEN e.kept_at
    ELSE COALESCE(o.date, other(a.digest, 'date')) END
FROM pages AS p JOIN visits AS v ON v.page = p.id LEFT JOIN earlier AS e ON e.url = p.url
LEFT JOIN archived AS a ON a.fingerprint = p.fingerprint
-- The record that has the body: of several, any one.
LEFT JOIN archived AS o ON o.digest = a.digest AND o.is_revisit = 0
"""  # noqa: S608
# The earlier run may have had earlier pages too, and ended before it fetched all of them.
_NOT_ASKED = f"SELECT {_COLUMNS} FROM earlier WHERE url NOT IN (SELECT url FROM pages)"  # noqa: S608
_INSERT = (
    f"INSERT OR IGNORE INTO earlier({_COLUMNS})"  # noqa: S608
    f" VALUES ({', '.join('?' * len(Earlier._fields))})"
)
_ANY = "SELECT EXISTS(SELECT 1 FROM earlier)"
_ONE = f"SELECT {_COLUMNS} FROM earlier WHERE url = ?"  # noqa: S608
_COMMON = "SELECT COALESCE(TOTAL(changes) / NULLIF(TOTAL(looks), 0), 0.5) FROM earlier"
# Few different scores: queued URLs of one score are in the order of their discovery.
_NEXT = (
    "SELECT url, ROUND(COALESCE(1.0 * changes / NULLIF(looks, 0), ?), 2) FROM earlier"
    " WHERE url > ? ORDER BY url LIMIT 1000"
)


def validator(text: str | None) -> str | None:
    """Return a usable validator; None if missing, too long or not printable."""
    is_usable = text and len(text) <= _LONGEST_VALIDATOR and text.isprintable()
    return text if is_usable else None


def visit_of(
    earlier: Earlier | None, digest: str, etag: str | None, modified: str | None, now: float
) -> Visit:
    """Return the visit of a page at `now`, with the counts of earlier visits.

    `digest` is the body digest, "" after status 304.
    """
    etag, modified = validator(etag), validator(modified)
    if earlier is None:
        return Visit(etag, modified, digest, 0, 0, now)
    if not digest:
        etag, modified, digest = etag or earlier.etag, modified or earlier.modified, earlier.digest
    changes = earlier.changes + (digest != earlier.digest)
    return Visit(etag, modified, digest, earlier.looks + 1, changes, earlier.first_at)


def check_since(since: Path, lang: str, run_folder: Path | None) -> None:
    """Raise `SettingError` or `RunFolderError` for a folder unusable with `-a since`."""
    if run_folder is not None and run_folder.resolve() == since.resolve():
        raise SettingError(f"-a since={since}: a run is not since itself; use another JOBDIR")
    with reading(since) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if meta.get("lang") != lang:
            raise SettingError(f"-a since={since}: its language is {meta.get('lang')}, not {lang}")
        if not connection.execute("SELECT EXISTS(SELECT 1 FROM visits)").fetchone()[0]:
            raise SettingError(f"-a since={since}: it has no page to ask for again")


def _payloads(folder: Path) -> sqlite3.Connection:
    """Return the payloads of the archives that an earlier run knew."""
    if (path := folder.resolve() / PAYLOADS).exists():
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    nothing = sqlite3.connect(":memory:")
    nothing.execute("CREATE TABLE payloads(digest, url, date)")
    return nothing


class Revisits:
    """The earlier pages of a run; empty without `-a since`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._look()

    def _look(self) -> None:
        self._has_any: int = self._connection.execute(_ANY).fetchone()[0]

    def take_over(self, since: Path) -> None:
        """Copy the pages of an earlier run, completely or not at all; a second call does nothing.

        Raises `RunFolderError`.
        """
        if self._has_any:
            return
        with reading(since) as before, closing(_payloads(since)) as payloads:

            def other(digest: str | None, column: str) -> str | None:
                key = (digest_of(digest or ""),)
                query = f"SELECT {column} FROM payloads WHERE digest = ?"  # noqa: S608
                row = payloads.execute(query, key).fetchone()
                return None if row is None else str(row[0])

            before.create_function("other", 2, other)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for query in (_OF_RUN, _NOT_ASKED):
                    self._connection.executemany(_INSERT, before.execute(query))
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
        self._look()

    def of(self, url: str) -> Earlier | None:
        """Return the earlier page with a URL."""
        if not self._has_any:
            return None
        row = self._connection.execute(_ONE, (url,)).fetchone()
        return None if row is None else Earlier(*row)

    def conditions(self, url: str) -> dict[str, bytes]:
        """Return the conditional request headers for an earlier page."""
        earlier = self.of(url)
        if earlier is None:
            return {}
        sent = (("If-None-Match", earlier.etag), ("If-Modified-Since", earlier.modified))
        return {name: text.encode("latin-1", "replace") for name, text in sent if text}

    def links(self) -> Iterator[Sequence[Link]]:
        """Yield the earlier pages in batches, scored by their change rate.

        The change rate is the share of visits after the first with a change; a page without such
        visits has the mean rate.
        """
        (common,) = self._connection.execute(_COMMON).fetchone()
        last = ""
        while rows := self._connection.execute(_NEXT, (common, last)).fetchall():
            last = rows[-1][0]
            yield [Link(url, FIRST_SCORE + share) for url, share in rows]
