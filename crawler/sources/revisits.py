"""The pages of an earlier run, which a later run asks for again.

A run keeps for each page the validators that its server sent, a digest of its body, and how often
earlier visits found it changed (table `visits`). A run with `-a since=` copies these rows of the
earlier run (table `earlier`), so it needs that folder only once.

Changes are taken as a Poisson process. The number of visits that found a change underestimates
their rate, because several changes between two visits count as one. The estimator of Cho and
Garcia-Molina 2003 ("Estimating frequency of change", ACM TOIT 3(3), the estimator with reduced
bias) corrects that and is finite if every visit found a change. Unlike there, the intervals between
the visits may differ; their mean counts.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import exp, log
from pathlib import Path
from typing import Final, NamedTuple

from crawler.errors import SettingError
from crawler.frontier.base import FIRST_SCORE, UNCHANGED, Link, Visit
from crawler.run import reading

_BATCH: Final = 1000
_LONGEST_VALIDATOR: Final = 1000
_UNKNOWN_CHANCE: Final = 0.5  # where no page of the run was visited twice


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


_OF_OTHER_NAMES = {
    "seen_at": "p.fetched_at",
    "kept_url": f"CASE p.outcome WHEN '{UNCHANGED}' THEN e.kept_url ELSE o.url END",
    "kept_at": f"CASE p.outcome WHEN '{UNCHANGED}' THEN e.kept_at ELSE o.date END",
}


def _column_of_run(name: str) -> str:
    """Return the place of a field of `Earlier` in a run; its tables are named in `_OF_RUN`."""
    place = f"v.{name}" if name in Visit._fields else f"p.{name}"
    return _OF_OTHER_NAMES.get(name, place)


_COLUMNS = ", ".join(Earlier._fields)
_OF_RUN = (
    f"SELECT {', '.join(map(_column_of_run, Earlier._fields))}"  # noqa: S608  # names of columns
    " FROM pages AS p JOIN visits AS v ON v.page = p.id LEFT JOIN earlier AS e ON e.url = p.url"
    " LEFT JOIN archived AS a ON a.fingerprint = p.fingerprint"
    # The record that has the body: of several, any one.
    " LEFT JOIN archived AS o ON o.digest = a.digest AND o.is_revisit = 0"
)
# The run before may have had earlier pages too, and ended before it asked for all of them.
_NOT_ASKED = f"SELECT {_COLUMNS} FROM earlier WHERE url NOT IN (SELECT url FROM pages)"  # noqa: S608
_INSERT = (
    f"INSERT OR IGNORE INTO earlier({_COLUMNS})"  # noqa: S608
    f" VALUES ({', '.join('?' * len(Earlier._fields))})"
)
_ONE = f"SELECT {_COLUMNS} FROM earlier WHERE url = ?"  # noqa: S608
_NEXT = f"SELECT {_COLUMNS} FROM earlier WHERE url > ? ORDER BY url LIMIT {_BATCH}"  # noqa: S608
_ALL_LOOKS = "SELECT SUM(looks), SUM(changes), SUM(seen_at - first_at) FROM earlier WHERE looks > 0"


def digest_of(body: bytes) -> str:
    """Return the digest of a body by which a change is noticed."""
    return blake2b(body, digest_size=16).hexdigest()


def validator(text: str | None) -> str | None:
    """Return a validator that can be sent again, None for one that is missing or too long."""
    is_usable = text and len(text) <= _LONGEST_VALIDATOR and text.isprintable()
    return text if is_usable else None


def visit_of(
    earlier: Earlier | None, body: bytes | None, etag: str | None, modified: str | None, now: float
) -> Visit:
    """Return the visit of a page at `now`, with the numbers of the visits before.

    `body` is None if the server of an earlier page says that it did not change.
    """
    etag, modified = validator(etag), validator(modified)
    digest = digest_of(body or b"")
    if earlier is None:
        return Visit(etag, modified, digest, 0, 0, now)
    if body is None:
        etag, modified, digest = etag or earlier.etag, modified or earlier.modified, earlier.digest
    changes = earlier.changes + (digest != earlier.digest)
    return Visit(etag, modified, digest, earlier.looks + 1, changes, earlier.first_at)


def check_since(since: Path, lang: str, run_folder: Path | None, *, schema: str) -> None:
    """Raise `SettingError` or `RunFolderError` for a folder that cannot be asked again."""
    if run_folder is not None and run_folder.resolve() == since.resolve():
        raise SettingError(f"-a since={since}: a run is not since itself; use another JOBDIR")
    with reading(since) as connection:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        if meta.get("schema") != schema:
            raise SettingError(
                f"-a since={since}: made with schema {meta.get('schema')}, which keeps no "
                "validators; crawl it anew with this version"
            )
        if meta.get("lang") != lang:
            raise SettingError(f"-a since={since}: its language is {meta.get('lang')}, not {lang}")
        if not connection.execute("SELECT EXISTS(SELECT 1 FROM visits)").fetchone()[0]:
            raise SettingError(f"-a since={since}: it has no page to ask for again")


class Revisits:
    """The earlier pages of a run; none if it has no `-a since`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.is_empty = not self._has_rows()

    def take_over(self, since: Path) -> None:
        """Copy the pages of an earlier run, completely or not at all; a second call does nothing.

        Raises `RunFolderError`.
        """
        if not self.is_empty:
            return
        with reading(since) as before:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for query in (_OF_RUN, _NOT_ASKED):
                    self._connection.executemany(_INSERT, before.execute(query))
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
        self.is_empty = not self._has_rows()

    def _has_rows(self) -> bool:
        row = self._connection.execute("SELECT EXISTS(SELECT 1 FROM earlier)").fetchone()
        return bool(row[0])

    def of(self, url: str) -> Earlier | None:
        """Return the earlier page with a URL."""
        if self.is_empty:
            return None
        row = self._connection.execute(_ONE, (url,)).fetchone()
        return None if row is None else Earlier(*row)

    def conditions(self, url: str) -> dict[str, bytes]:
        """Return the headers that ask a server to answer only if the page has changed."""
        earlier = self.of(url)
        if earlier is None:
            return {}
        sent = (("If-None-Match", earlier.etag), ("If-Modified-Since", earlier.modified))
        return {name: text.encode("latin-1", "replace") for name, text in sent if text}

    def links(self, now: float) -> Iterator[Sequence[Link]]:
        """Yield the earlier pages in batches; a page that has more likely changed scores higher.

        A page that was visited once has the rate of change of all others together. The chances are
        rounded to hundredths, so that there are few different scores.
        """
        common = self._common_rate()
        last = ""
        while rows := self._connection.execute(_NEXT, (last,)).fetchall():
            pages = [Earlier(*row) for row in rows]
            last = pages[-1].url
            yield [Link(page.url, FIRST_SCORE + _chance(page, common, now)) for page in pages]

    def _common_rate(self) -> float | None:
        looks, changes, seconds = self._connection.execute(_ALL_LOOKS).fetchone()
        return changes_per_second(looks or 0, changes or 0, seconds or 0.0)


def changes_per_second(looks: int, changes: int, seconds: float) -> float | None:
    """Return the estimated rate; None without an interval between two visits.

    `looks` are the visits after the first, `changes` those of them that found a change, `seconds`
    the time between the first and the last visit.
    """
    if not looks or seconds <= 0:
        return None
    return log((looks + 0.5) / (looks - changes + 0.5)) * looks / seconds


def chance_of_change(rate: float, seconds: float) -> float:
    """Return the probability that a page with a rate of change changed in some seconds."""
    return 1.0 - exp(-rate * max(0.0, seconds))


def _chance(page: Earlier, common: float | None, now: float) -> float:
    rate = changes_per_second(page.looks, page.changes, page.seen_at - page.first_at)
    rate = common if rate is None else rate
    return _UNKNOWN_CHANCE if rate is None else round(chance_of_change(rate, now - page.seen_at), 2)
