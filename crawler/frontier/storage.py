"""The statements of the SQLite frontier, one method each; the schema is in `crawler.run.folder`."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final, Protocol

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import (
    PAGE,
    ROBOTS_ENTRY_BYTES,
    KeptRobots,
    KnownUrlError,
    Lease,
    Record,
    Visit,
)
from langfocus.crawler.frontier.links import Links, QueuedUrl
from langfocus.crawler.frontier.selection import UniformDraw
from langfocus.crawler.run.page_row import add_page, page_values
from langfocus.crawler.strategies.filters import NOTHING, Tally
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.url import fingerprint, host_of

_LATEST = """\
SELECT MAX(time) FROM (
    SELECT MAX(MAX(started_at), COALESCE(MAX(ended_at), 0)) AS time FROM sessions
    UNION ALL SELECT MAX(fetched_at) FROM robots
    UNION ALL SELECT * FROM (SELECT fetched_at FROM pages ORDER BY id DESC LIMIT 1))"""
"""The time at which an earlier process was still at work."""

QUEUED = 1
"""The state (`urls.queued`) of a URL in the queue."""

KNOWN = 2
"""The state (`urls.queued`) of a URL that is not fetched, because another one gave its page."""

RESPELLED = 2
"""The value of `urls.sent` of a URL whose server redirected to another spelling of it."""

_MOST_KEYS: Final = 1024
"""The most keys that a statement asks for at once."""

_KEPT_TALLIES: Final = 100_000

_ROBOTS_BYTES = "SELECT COALESCE(SUM(bytes), 0) FROM robots"

_FORGET_ROBOTS = """DELETE FROM robots WHERE origin IN (
    SELECT origin FROM (
        SELECT origin, SUM(bytes) OVER (ORDER BY fetched_at, origin) - bytes AS older
        FROM robots WHERE origin <> ?)
    WHERE older < ?)"""


@dataclass(slots=True)
class HostRow:
    """A host on disk, or a registered domain or an address (`slots.holder_of`) that gives slots."""

    id: int
    key: str
    sent: int = 0  # URLs of a host that got a request
    settled: int = 0  # of these, those that left the queue
    delay_s: float | None = None  # None: the crawl's delay
    not_before: float = 0.0
    taken: int = 0  # slots of a domain or an address
    relevant: int = 0  # its relevant pages
    files: int = 0  # requests to a host for files since its last page
    found: int = 0  # bytes of URLs that the other hosts of a domain ever queued
    is_new: bool = False  # not stored yet


_HOST = "h.id, h.host, h.sent, h.settled, h.delay_s, h.not_before, h.taken, h.relevant"
_HOST += ", h.files, h.found"
"""The columns of a `HostRow`."""


_EVIDENCE: Final = Struct("<2d3f4B")
"""The fields of `Evidence` and those of `Links`: rows of one size can be changed where they stand,
and SQLite reads one value for all."""

_make = tuple.__new__
"""Makes a named tuple in half the time of its own constructor; a page reads about 50."""


def queued_url(
    url: str,
    score: float,
    depth: int,
    evidence: bytes | None,
    url_id: int = 0,
    key: int = 0,
    host: int = 0,
    state: int = QUEUED,
) -> QueuedUrl:
    """Return a URL from its columns in `urls`; `key` is its fingerprint."""
    facts, links = None, Links()
    if evidence is not None:
        numbers = _EVIDENCE.unpack(evidence)
        facts, links = _make(Evidence, numbers[:5]), _make(Links, numbers[5:])
    return QueuedUrl(url, score, depth, facts, links, url_id, key, host, state)


def _packed(url: QueuedUrl) -> bytes | None:
    """Return the evidence of a URL as `urls.evidence` holds it."""
    return None if url.evidence is None else _EVIDENCE.pack(*url.evidence, *url.links)


def is_of_storage(error: sqlite3.Error) -> bool:
    """Return True if the disk or the file caused an error, not the statement."""
    # sqlite3 has no error class for a damaged file.
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError


def rows_among(
    connection: sqlite3.Connection, query: str, keys: Iterable[int | str]
) -> Iterator[Any]:
    """Yield the rows of a query that ends with `IN`, for these keys.

    SQLite compiles a statement for 1, 2, 4, ... `_MOST_KEYS` keys, and reads them faster than JSON.
    """
    keys = tuple(keys)
    for start in range(0, len(keys), _MOST_KEYS):
        part = keys[start : start + _MOST_KEYS]
        places = 1 << (len(part) - 1).bit_length()
        part += part[:1] * (places - len(part))
        yield from connection.execute(f"{query}({'?,' * (places - 1)}?)", part)


class WrittenLater(Protocol):
    """Values in memory that a transaction changes, and that are written when a group ends."""

    def begin(self) -> None:
        """Note that a transaction begins."""

    def undo(self) -> None:
        """Undo what the transaction changed."""

    def write(self) -> None:
        """Write what changed since the last call."""


class TallyTable:
    """Pages and relevant pages of units: a table whose last used rows are in memory."""

    def __init__(self, connection: sqlite3.Connection, table: str, numbers: str) -> None:
        """Read the columns `unit` and `numbers` of a table."""
        self._connection = connection
        self._query = f"SELECT unit, {numbers} FROM {table} WHERE unit IN "  # noqa: S608  # both are constants
        self._insert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"  # noqa: S608  # as above
        self._kept: dict[str, Tally] = {}  # with all of the next
        self._changed: dict[str, Tally] = {}
        self._before: dict[str, Tally] = {}

    def of(self, units: Collection[str]) -> Mapping[str, Tally]:
        """Return the tally of each of these units, `NOTHING` of a new one; others may be there."""
        missing = [unit for unit in units if unit not in self._kept]
        if missing:
            if len(self._kept) + len(missing) > _KEPT_TALLIES:
                self._kept = self._changed.copy()
                missing = [unit for unit in units if unit not in self._kept]
            self._kept.update(dict.fromkeys(missing, NOTHING))
            rows = rows_among(self._connection, self._query, missing)
            self._kept.update({unit: Tally(pages, relevant) for unit, pages, relevant in rows})
        return self._kept

    def count(self, units: Collection[str], *, is_relevant: bool) -> list[Tally]:
        """Add a page to the tallies of its units, and return these."""
        kept = self.of(units)
        self._before.update({unit: kept[unit] for unit in units})
        new = {unit: Tally(kept[unit][0] + 1, kept[unit][1] + is_relevant) for unit in units}
        self._changed.update(new)
        self._kept.update(new)
        return list(new.values())

    def begin(self) -> None:
        """See `WrittenLater`."""
        self._before.clear()

    def undo(self) -> None:
        """See `WrittenLater`."""
        for unit, tally in self._before.items():
            self._kept[unit] = tally
            self._changed.pop(unit, None)
            if tally != NOTHING:
                self._changed[unit] = tally

    def write(self) -> None:
        """See `WrittenLater`."""
        rows = [(unit, *tally) for unit, tally in self._changed.items()]
        self._connection.executemany(self._insert, rows)
        self._changed.clear()


class Storage:
    """The statements of the frontier on one connection in autocommit mode."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read the last ids of hosts and URLs.

        URLs are numbered in the order of discovery, or by `draw` if that is set.
        """
        self.draw: UniformDraw | None = None
        self._connection = connection
        self._later: Callable[[], object] | None = None
        self._is_lost = False
        self.units = TallyTable(connection, "units", "downloaded, relevant")
        self.written_later: list[WrittenLater] = [self.units]
        self._counts: Counter[str] = Counter()  # of the group
        self._sql = connection.execute
        self._many = connection.executemany
        self.last_host: int = self._one("SELECT COALESCE(MAX(id), 0) FROM hosts")[0]
        self._next_url: int = self._one("SELECT COALESCE(MAX(id), 0) FROM urls")[0]
        self._robots_bytes: int = self._one(_ROBOTS_BYTES)[0]

    def _one(self, statement: str, parameters: Sequence[object] = ()) -> tuple[int, ...]:
        row: tuple[int, ...] = self._sql(statement, parameters).fetchone()
        return row

    @contextmanager
    def transaction(self) -> Iterator[Counter[str]]:
        """Run a block completely or not at all.

        The counts that the block adds to the yielded counter are added to the table `counts`.
        Raises `StorageError` if the run can no longer be written.
        """
        counts: Counter[str] = Counter()
        try:
            self._begin()
            yield counts
            if self._later is None:
                self._write(counts)
                self._sql("COMMIT")
            else:
                self._sql("RELEASE change")
                self._counts.update(counts)
        except BaseException as error:
            self._undo()
            if isinstance(error, sqlite3.Error) and is_of_storage(error):
                raise StorageError(f"the run can no longer be written: {error}") from error
            raise

    def group(self, later: Callable[[], object]) -> None:
        """Join transactions; `later` is called for each group, and must let `commit` be called."""
        self._later = later

    def commit(self) -> None:
        """Write what is grouped. Raises `StorageError` if it is lost; nothing can be added then."""
        if self._later is None or not self._connection.in_transaction:
            return
        try:
            self._write(self._counts)
            self._counts.clear()
            self._sql("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            self._is_lost = True
            raise StorageError(f"the run can no longer be written: {error}") from error

    def _write(self, counts: Mapping[str, int]) -> None:
        """Write what is written once for all transactions of a group."""
        self._many(
            "INSERT INTO counts VALUES (?, ?)"
            " ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            [(name, number) for name, number in counts.items() if number],
        )
        for values in self.written_later:
            values.write()

    def end_groups(self) -> None:
        """Write what is grouped; from now on each transaction is written at once."""
        self.commit()
        self._later = None

    def _begin(self) -> None:
        if self._is_lost:
            raise StorageError("the run can no longer be written")
        if not self._connection.in_transaction:
            self._sql("BEGIN IMMEDIATE")
            if self._later is not None:
                self._later()
        if self._later is not None:
            self._sql("SAVEPOINT change")
        for values in self.written_later:
            values.begin()

    def _undo(self) -> None:
        """Undo a transaction that failed; some errors, a full disk for example, undo its group."""
        was_grouped = self._later is not None
        with suppress(sqlite3.DatabaseError):
            if was_grouped and self._connection.in_transaction:
                self._sql("ROLLBACK TO change")
                self._sql("RELEASE change")
            else:
                self._sql("ROLLBACK")
        for values in self.written_later:
            values.undo()
        self._is_lost = was_grouped and not self._connection.in_transaction

    def set_back(self, now: float) -> None:
        """Move the times of an earlier process back if they are later than `now`.

        They are if the machine's clock was set back between the processes.
        """
        latest = self._sql(_LATEST).fetchone()[0]
        if latest is None or latest <= now:
            return
        with self.transaction():
            self._sql("UPDATE hosts SET not_before = max(0, not_before - ?)", (latest - now,))
            self._sql("UPDATE robots SET fetched_at = fetched_at - ?", (latest - now,))

    # Totals, read once at opening.

    def totals(self) -> tuple[int, int, int, int]:
        """Return the number of hosts with a page, of pages, labelled pages and relevant pages."""
        hosts = self._one("SELECT COUNT(*) FROM hosts WHERE pages > 0")[0]
        pages, labelled, relevant = self._one(
            "SELECT COUNT(*), COUNT(language),"
            " COALESCE(SUM(language = (SELECT value FROM meta WHERE key = 'lang')"
            " AND NOT is_copy), 0)"
            " FROM pages WHERE outcome = ?",
            (PAGE,),
        )
        return hosts, pages, labelled, relevant

    def full_hosts(self, host_cap: int) -> int:
        """Return the number of hosts without a slot."""
        return self._one("SELECT COUNT(*) FROM hosts WHERE sent >= ?", (host_cap,))[0]

    def queues(self) -> Iterator[tuple[HostRow, int, float, int]]:
        """Yield each host with a queue, the number of its URLs, minus the best score and its id.

        Costs O(queued URLs) inside SQLite, which reads only an index, and O(hosts) in Python.
        """
        rows = self._sql(
            f"SELECT {_HOST}, q.n, -q.best,"  # noqa: S608  # names of columns
            " (SELECT id FROM urls WHERE host = q.host AND queued = 1 AND score = q.best"
            "  ORDER BY id LIMIT 1)"
            " FROM (SELECT host, COUNT(*) AS n, MAX(score) AS best"
            "  FROM urls WHERE queued = 1 GROUP BY host) AS q JOIN hosts AS h ON h.id = q.host"
        )
        for *host, number, score, url_id in rows:
            yield HostRow(*host), number, score, url_id

    def drawn(self) -> dict[float, int]:
        """Return the highest id of the settled URLs of each score."""
        return dict(self._sql("SELECT score, MAX(id) FROM urls WHERE queued = 0 GROUP BY score"))

    # Taking from the queue.

    def head(self, host: int) -> tuple[float, int]:
        """Return (minus score, id) of the best queued URL of a host that has one."""
        row: tuple[float, int] = self._sql(
            "SELECT -score, id FROM urls WHERE host = ? AND queued = 1"
            " ORDER BY score DESC, id LIMIT 1",
            (host,),
        ).fetchone()
        return row

    def best_besides(self, host: int, url_id: int) -> float | None:
        """Return the best score of the other queued URLs of a host; None if it has no other."""
        row = self._sql(
            "SELECT score FROM urls WHERE host = ? AND queued = 1 AND id <> ?"
            " ORDER BY score DESC, id LIMIT 1",
            (host, url_id),
        ).fetchone()
        return None if row is None else float(row[0])

    def lease(self, url_id: int) -> tuple[Lease, bool, QueuedUrl]:
        """Return the lease of a URL, True if the URL got a request, and the URL as it is queued."""
        key, url, score, depth, redirects, tries, sent, evidence, parent = self._sql(
            "SELECT fingerprint, url, score, depth, redirects, tries, sent, evidence,"
            " (SELECT p.url FROM urls AS p WHERE p.id = u.parent) FROM urls AS u WHERE id = ?",
            (url_id,),
        ).fetchone()
        place, is_respelled = (score, depth, redirects, tries, parent), sent == RESPELLED
        lease = Lease(key, url, host_of(url), *place, is_respelled=is_respelled)
        return lease, sent > 0, queued_url(url, score, depth, evidence)

    def drop_blocked(
        self, is_blocked: Callable[[str], bool], leased: Sequence[int]
    ) -> Counter[int]:
        """Delete the blocked URLs that are queued, not leased, and got no request.

        They are no longer known. Return their number by the ids of their hosts.
        """
        self._connection.create_function("is_blocked", 1, is_blocked)
        rows = self._sql(
            "DELETE FROM urls WHERE queued = 1 AND sent = 0"
            " AND id NOT IN (SELECT value FROM json_each(?)) AND is_blocked(url) RETURNING host",
            (json.dumps(leased),),
        )
        return Counter(host for (host,) in rows)

    # Settling.

    def unqueue(self, url_id: int) -> None:
        """Remove a URL from the queue; it still counts as seen."""
        self._sql("UPDATE urls SET queued = 0, evidence = NULL WHERE id = ?", (url_id,))

    def count_try(self, url_id: int) -> None:
        """Count a failure of a URL before its request."""
        self._sql("UPDATE urls SET tries = tries + 1 WHERE id = ?", (url_id,))

    def respell(self, url_id: int, before: str, url: str, unit: str | None) -> None:
        """Give a queued URL another spelling, and count a redirect of it instead of a try.

        The spelling `before` stays a known one. Raises `KnownUrlError` if the other is known too.
        """
        key = fingerprint(url)
        if key != fingerprint(before) and self.seen([key]):
            raise KnownUrlError(url)
        host = self._one(
            "UPDATE urls SET fingerprint = ?, url = ?, unit = ?, redirects = redirects + 1,"
            " tries = max(0, tries - 1), sent = ? WHERE id = ? RETURNING host",
            (key, url, unit, RESPELLED, url_id),
        )[0]
        if key != fingerprint(before):
            self._add_known(before, host, url_id)

    def make_known(self, url: str, host: int, parent: int) -> bool:
        """Make a URL of a host known, so that it will not be fetched; True if it was queued."""
        key = fingerprint(url)
        row: tuple[int] | None = self._sql(
            "UPDATE urls SET queued = ?, evidence = NULL"
            " WHERE fingerprint = ? AND host = ? AND queued = 1 RETURNING sent",
            (KNOWN, key, host),
        ).fetchone()
        if row is not None:
            self.settle_host(host, is_page=False, was_sent=row[0] > 0)
        elif not self.seen([key]):
            self._add_known(url, host, parent)
        return row is not None

    def _add_known(self, url: str, host: int, parent: int) -> None:
        key = fingerprint(url)
        known = queued_url(url, 0.0, 0, None, self.new_url_id(0.0), key, host, KNOWN)
        self.store([known._replace(parent=parent)])

    def hold(self, host: int, not_before: float) -> None:
        """Let a host rest until `not_before`, also after a restart."""
        self._sql("UPDATE hosts SET not_before = ? WHERE id = ?", (not_before, host))

    def settle_host(self, host: int, *, is_page: bool, was_sent: bool) -> tuple[bool, int]:
        """Count a settled URL for its host; return if it is its first page, and its files."""
        row = self._sql(
            "UPDATE hosts SET pages = pages + ?, settled = settled + ? WHERE id = ?"
            " RETURNING pages, files",
            (int(is_page), int(was_sent), host),
        )
        pages, files = row.fetchone()
        return pages == 1 and is_page, files

    def repay(self, host: int, files: int, holders: Sequence[str]) -> None:
        """Give back the slots of a host's files."""
        self._sql("UPDATE hosts SET files = 0 WHERE id = ?", (host,))
        changed = [(files, holder) for holder in holders]
        self._many("UPDATE hosts SET taken = taken - ? WHERE host = ?", changed)

    def drop(self, host: int, unit: str | None) -> int:
        """Delete the queued URLs of a unit, or of the whole host if `unit` is None.

        Return their number. URLs that got a request stay.
        """
        where = "host = ?" if unit is None else "+host = ? AND unit = ?"
        parameters = (host,) if unit is None else (host, unit)
        statement = f"DELETE FROM urls WHERE {where} AND queued = 1 AND sent = 0"  # noqa: S608  # both spellings are above
        return self._sql(statement, parameters).rowcount

    def add_record(self, lease: Lease, record: Record, queued: int) -> int:
        """Write the row of a settled URL and return its id; `queued` URLs are in the queue."""
        return add_page(self._connection, page_values(lease, record) | {"queued": queued})

    def add_visit(self, page: int, visit: Visit) -> None:
        """Write what a later run needs to know about a settled URL."""
        values = (page, *visit)
        self._sql("INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def add_links(self, page: int, urls: Sequence[str]) -> None:
        """Write all links of a settled URL, admitted or not."""
        self._sql("INSERT INTO links VALUES (?, ?)", (page, outlinks.written(urls)))

    # Admitting links.

    def seen(self, fingerprints: Iterable[int]) -> dict[int, QueuedUrl]:
        """Return the known URLs with some fingerprints, by these."""
        rows = rows_among(
            self._connection,
            "SELECT url, score, depth, evidence, id, fingerprint, host, queued"
            " FROM urls WHERE fingerprint IN ",
            fingerprints,
        )
        return {row[5]: queued_url(*row) for row in rows}

    def hosts(self, keys: Iterable[str]) -> dict[str, HostRow]:
        """Return the hosts, domains and addresses with these names; a new one gets its id."""
        names = dict.fromkeys(keys)
        query = f"SELECT {_HOST} FROM hosts AS h WHERE h.host IN "  # noqa: S608  # names of columns
        rows = rows_among(self._connection, query, names)
        found = {row[1]: HostRow(*row) for row in rows}
        for name in names:
            if name not in found:
                self.last_host += 1
                found[name] = HostRow(self.last_host, name, is_new=True)
        return found

    def slots(self, holder: str) -> tuple[int, int]:
        """Return the slots of a domain or an address that are taken, and its relevant pages."""
        query = "SELECT taken, relevant FROM hosts WHERE host = ?"
        row: tuple[int, int] | None = self._sql(query, (holder,)).fetchone()
        return row or (0, 0)

    def store_hosts(self, hosts: Iterable[HostRow]) -> None:
        """Store hosts, domains and addresses with their numbers of requests."""
        self._many(
            "INSERT INTO hosts(id, host, sent, taken, files, found) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(host) DO UPDATE SET sent = excluded.sent, taken = excluded.taken,"
            " files = excluded.files, found = excluded.found",
            [(one.id, one.key, one.sent, one.taken, one.files, one.found) for one in hosts],
        )

    def count_relevant(self, holders: Sequence[str]) -> None:
        """Count a relevant page for domains and addresses that have given slots."""
        self._many(
            "UPDATE hosts SET relevant = relevant + 1 WHERE host = ?", [(h,) for h in holders]
        )

    def send(self, url_id: int) -> None:
        """Note that a URL gets a request."""
        self._sql("UPDATE urls SET sent = max(1, sent), tries = tries + 1 WHERE id = ?", (url_id,))

    def set_score(self, url_id: int, score: float) -> None:
        """Give a queued URL another score."""
        self._sql("UPDATE urls SET score = ? WHERE id = ?", (score, url_id))

    def new_url_id(self, score: float) -> int:
        """Return the id of the next URL to be stored, which has this score."""
        if self.draw is None:
            self._next_url += 1
            return self._next_url
        while True:
            url_id = self.draw.id_for(score)
            if self._sql("SELECT 1 FROM urls WHERE id = ?", (url_id,)).fetchone() is None:
                return url_id

    def store(self, urls: Sequence[QueuedUrl]) -> None:
        """Queue URLs; `store_hosts` stores their hosts."""
        self._many(
            "INSERT INTO urls(evidence, url, score, depth, id, fingerprint, host, queued, unit,"
            " parent, redirects, tries) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            [(_packed(url), *url[:3], *url[5:]) for url in urls],
        )

    def change(self, urls: Sequence[QueuedUrl]) -> None:
        """Store the evidence and the scores of queued URLs."""
        values = [(_packed(url), url.score, url.id) for url in urls]
        self._many("UPDATE urls SET evidence = ?, score = ? WHERE id = ?", values)

    # Politeness.

    def set_delay(self, host: str, delay_s: float) -> int | None:
        """Write the delay of a host; return the host's id, None if the host is unknown."""
        with self.transaction():
            row = self._sql(
                "UPDATE hosts SET delay_s = ? WHERE host = ? RETURNING id", (delay_s, host)
            ).fetchone()
        return None if row is None else int(row[0])

    def robots(self, origin: str) -> KeptRobots | None:
        """Return the stored robots.txt of an origin, None if there is none."""
        query = "SELECT text, fetched_at FROM robots WHERE origin = ?"
        row = self._sql(query, (origin,)).fetchone()
        return None if row is None else KeptRobots(*row)

    def set_robots(self, origin: str, text: str, now: float, most_bytes: int) -> None:
        """Store the robots.txt of an origin.

        If the table holds more than `most_bytes`, the oldest are deleted down to three quarters.
        """
        size = len(origin) + len(text) + ROBOTS_ENTRY_BYTES
        with self.transaction():
            before = self._sql("SELECT bytes FROM robots WHERE origin = ?", (origin,)).fetchone()
            row = (origin, now, size, text)
            self._sql("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", row)
            total = self._robots_bytes + size - (before[0] if before else 0)
            if total > most_bytes:
                self._sql(_FORGET_ROBOTS, (origin, total - most_bytes * 3 // 4))
                total = self._one(_ROBOTS_BYTES)[0]
        self._robots_bytes = total
