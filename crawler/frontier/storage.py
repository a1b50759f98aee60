"""SQL statements of the SQLite frontier, one per method; `crawler.run.schema` has the tables."""

import itertools
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

from langfocus.crawler.frontier import outlinks
from langfocus.crawler.frontier.base import (
    PAGE,
    KnownUrlError,
    Lease,
    Record,
    Visit,
)
from langfocus.crawler.frontier.links import NO_LINKS, Held, Links, QueuedUrl, make
from langfocus.crawler.frontier.selection import UniformDraw
from langfocus.crawler.frontier.transactions import rows_among
from langfocus.crawler.run.page_row import add_page, page_values
from langfocus.crawler.run.target import IS_RATED, is_wanted
from langfocus.crawler.strategies.focus.evidence import Evidence
from langfocus.crawler.strategies.versions import Twins
from langfocus.crawler.url import fingerprint, host_of

_LATEST = """\
SELECT MAX(time) FROM (
    SELECT MAX(MAX(started_at), COALESCE(MAX(ended_at), 0)) AS time FROM sessions
    UNION ALL SELECT MAX(fetched_at) FROM robots
    UNION ALL SELECT * FROM (SELECT fetched_at FROM pages ORDER BY id DESC LIMIT 1))"""
"""The time at which an earlier process was still at work."""

_LANG: Final = "(SELECT value FROM meta WHERE key = 'lang')"

QUEUED = 1
"""The state (`urls.queued`) of a URL in the queue."""

KNOWN = 2
"""State (`urls.queued`) of a URL that is never fetched, because another URL had the same page."""

RESPELLED = 2
"""Value of `urls.sent` for a URL redirected to another spelling of the same page."""


@dataclass(slots=True)
class HostRow:
    """The row of a host, or of a registered domain or an address with slots (`holder_of`)."""

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
    received: int = 0  # bytes of the bodies of a host's settled URLs
    is_new: bool = False  # not stored yet


_HOST = "h.id, h.host, h.sent, h.settled, h.delay_s, h.not_before, h.taken, h.relevant"
_HOST += ", h.files, h.found, h.received"
"""The columns of a `HostRow`."""


_URL = "url, score, depth, evidence, id, fingerprint, host, queued"
"""The columns of `queued_url`."""

_LEASED = (
    "SELECT redirects, tries, sent, (SELECT p.url FROM urls AS p WHERE p.id = u.parent),"  # noqa: S608  # names of columns
    f" {_URL} FROM urls AS u WHERE id IN "
)

_EVIDENCE: Final = Struct("<2d3f4B")
"""Fields of `Evidence` and `Links`, packed: rows of fixed size can be updated in place, and SQLite
reads a single value."""


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
    facts, links = None, NO_LINKS
    if evidence is not None:
        numbers = _EVIDENCE.unpack(evidence)
        facts, links = make(Evidence, numbers[:5]), make(Links, numbers[5:])
    columns = (url, score, depth, facts, links, url_id, key, host, state, None, None, 0)
    return make(QueuedUrl, columns)


def _packed(url: QueuedUrl) -> bytes | None:
    """Return the evidence of a URL as `urls.evidence` holds it."""
    return None if url.evidence is None else _EVIDENCE.pack(*url.evidence, *url.links)


def _held(redirects: int, tries: int, sent: int, parent: str | None, *columns: Any) -> Held:
    url, is_respelled = queued_url(*columns), sent == RESPELLED
    place = url.fingerprint, url.url, host_of(url.url), url.score, url.depth
    lease = Lease(*place, redirects, tries, parent, is_respelled=is_respelled)
    return Held(lease, url, sent > 0)


class Storage:
    """The statements of the frontier; transactions are the caller's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read the last ids of hosts and URLs.

        URLs are numbered in the order of discovery, or by `draw` if that is set.
        """
        self.draw: UniformDraw | None = None
        self._connection = connection
        self._sql = connection.execute
        self._many = connection.executemany
        self.last_host: int = self._one("SELECT COALESCE(MAX(id), 0) FROM hosts")[0]
        self._next_url: int = self._one("SELECT COALESCE(MAX(id), 0) FROM urls")[0]

    def _one(self, statement: str, parameters: Sequence[object] = ()) -> tuple[int, ...]:
        row: tuple[int, ...] = self._sql(statement, parameters).fetchone()
        return row

    # Read once at opening.

    def seconds_ahead(self, now: float) -> float:
        """Return the seconds by which the machine's clock was set back after another process."""
        latest = self._sql(_LATEST).fetchone()[0]
        return 0.0 if latest is None else max(0.0, latest - now)

    def set_back(self, seconds: float) -> None:
        """Move the times of an earlier process back."""
        self._sql("UPDATE hosts SET not_before = max(0, not_before - ?)", (seconds,))
        self._sql("UPDATE robots SET fetched_at = fetched_at - ?", (seconds,))

    def totals(self) -> tuple[int, int, int, int]:
        """Return the number of hosts with a page, of pages, labelled pages and relevant pages."""
        hosts = self._one("SELECT COUNT(*) FROM hosts WHERE pages > 0")[0]
        pages, labelled, relevant = self._one(
            f"SELECT COUNT(*), COUNT(*) FILTER (WHERE {IS_RATED}),"  # noqa: S608
            f" COALESCE(SUM({is_wanted(_LANG)}), 0)"
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
        """Return the highest settled URL id per score."""
        return dict(self._sql("SELECT score, MAX(id) FROM urls WHERE queued = 0 GROUP BY score"))

    # Leases.

    def head(self, host: int) -> tuple[float, int]:
        """Return (minus score, id) of a host's best queued URL; the host has one."""
        row: tuple[float, int] = self._sql(
            "SELECT -score, id FROM urls WHERE host = ? AND queued = 1"
            " ORDER BY score DESC, id LIMIT 1",
            (host,),
        ).fetchone()
        return row

    def best_besides(self, host: int, url_id: int) -> tuple[float, int] | None:
        """Return (minus score, id) of the best of a host's other queued URLs, or None."""
        row: tuple[float, int] | None = self._sql(
            "SELECT -score, id FROM urls WHERE host = ? AND queued = 1 AND id <> ?"
            " ORDER BY score DESC, id LIMIT 1",
            (host, url_id),
        ).fetchone()
        return row

    def leases(self, url_ids: Iterable[int]) -> dict[int, Held]:
        """Return queued URLs with their leases, by id."""
        rows = rows_among(self._connection, _LEASED, url_ids)
        return {held.url.id: held for held in itertools.starmap(_held, rows)}

    def drop_blocked(
        self, is_blocked: Callable[[str], bool], leased: Sequence[int]
    ) -> Counter[int]:
        """Delete blocked URLs that are queued, not leased, and without an earlier request.

        Deleted URLs are no longer known. Return their number per host id.
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
        """Change the spelling of a queued URL, and count a redirect instead of a try.

        The spelling `before` remains known. Raises `KnownUrlError` if the new spelling is known
        too.
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

    def make_known(self, url: str, host: int, parent: int, *, depth: int = 0) -> int | None:
        """Mark a URL as known and never fetch it; return its host's id if it was queued.

        A queued URL at less than `depth` stays queued. A new URL is stored with the id `host`.
        """
        key = fingerprint(url)
        row: tuple[int, int] | None = self._sql(
            "UPDATE urls SET queued = ?, evidence = NULL"
            " WHERE fingerprint = ? AND depth >= ? AND queued = 1 RETURNING host, sent",
            (KNOWN, key, depth),
        ).fetchone()
        if row is not None:
            self.settle_host(row[0], is_page=False, was_sent=row[1] > 0)
            return row[0]
        if not self.seen([key]):
            self._add_known(url, host, parent)
        return None

    def knows_version(self, twins: Twins, doubts_up_to: float | None) -> bool:
        """Return True if one of a page's URLs is known, expected with more than `doubts_up_to`."""
        known = self.seen(frozenset().union(*twins))
        least = math.inf if doubts_up_to is None else doubts_up_to
        for key, url in known.items():
            is_meant = key in twins.queued or (key in twins.expected and url.score > least)
            if is_meant and url.state == QUEUED:
                return True
        query = f"SELECT 1 FROM pages WHERE {is_wanted(_LANG)} AND fingerprint IN "  # noqa: S608
        return any(rows_among(self._connection, query, known))

    def _add_known(self, url: str, host: int, parent: int) -> None:
        key = fingerprint(url)
        known = queued_url(url, 0.0, 0, None, self.new_url_id(0.0), key, host, KNOWN)
        self.store([known._replace(parent=parent)])

    def hold(self, host: int, not_before: float) -> None:
        """Let a host rest until `not_before`, also after a restart."""
        self._sql("UPDATE hosts SET not_before = ? WHERE id = ?", (not_before, host))

    def settle_host(
        self, host: int, *, is_page: bool, was_sent: bool, received: int = 0
    ) -> tuple[bool, int, int]:
        """Count a settled URL with `received` bytes for its host.

        Return True for the host's first page, its file count and its received bytes.
        """
        row = self._sql(
            "UPDATE hosts SET pages = pages + ?, settled = settled + ?, received = received + ?"
            " WHERE id = ? RETURNING pages, files, received",
            (int(is_page), int(was_sent), received, host),
        )
        pages, files, total = row.fetchone()
        return pages == 1 and is_page, files, total

    def repay(self, host: int, files: int, domain: str) -> None:
        """Release the domain slots of a host's files."""
        self._sql("UPDATE hosts SET files = 0 WHERE id = ?", (host,))
        self._sql("UPDATE hosts SET taken = taken - ? WHERE host = ?", (files, domain))

    def drop(self, host: int, unit: str | None, spared: str = "") -> int:
        """Delete the queued URLs of a unit, or of the whole host if `unit` is None.

        Return their number. URLs with an earlier request, or in a `spared` unit, are kept.
        """
        where = "host = ?" if unit is None else "+host = ? AND unit = ?"
        parameters = (host, spared) if unit is None else (host, unit, spared)
        statement = f"DELETE FROM urls WHERE {where} AND queued = 1 AND sent = 0 AND unit IS NOT ?"  # noqa: S608  # both spellings are above
        return self._sql(statement, parameters).rowcount

    def add_record(self, lease: Lease, record: Record, queued: int) -> int:
        """Write the row of a settled URL and return its id; `queued` URLs are in the queue."""
        return add_page(self._connection, page_values(lease, record) | {"queued": queued})

    def add_visit(self, page: int, visit: Visit) -> None:
        """Write the state of a settled URL that a later run compares with."""
        values = (page, *visit)
        self._sql("INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def add_links(self, page: int, urls: Sequence[str]) -> None:
        """Write all links of a settled URL, admitted or not."""
        self._sql("INSERT INTO links VALUES (?, ?)", (page, outlinks.written(urls)))

    # Admitting links.

    def seen(self, fingerprints: Iterable[int]) -> dict[int, QueuedUrl]:
        """Return the known URLs among some fingerprints, by fingerprint."""
        rows = rows_among(
            self._connection,
            f"SELECT {_URL} FROM urls WHERE fingerprint IN ",  # noqa: S608  # names of columns
            fingerprints,
        )
        return {row[5]: queued_url(*row) for row in rows}

    def hosts(self, keys: Iterable[str]) -> dict[str, HostRow]:
        """Return the hosts, domains and addresses with these names; new ones get an id."""
        names = dict.fromkeys(keys)
        query = f"SELECT {_HOST} FROM hosts AS h WHERE h.host IN "  # noqa: S608  # names of columns
        rows = rows_among(self._connection, query, names)
        found = {row[1]: HostRow(*row) for row in rows}
        for name in names:
            if name not in found:
                self.last_host += 1
                found[name] = HostRow(self.last_host, name, is_new=True)
        return found

    def slots(self, holders: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Return the used slots of known domains, and their relevant pages."""
        query = "SELECT host, taken, relevant FROM hosts WHERE host IN "
        rows = rows_among(self._connection, query, dict.fromkeys(holders))
        return {name: (taken, relevant) for name, taken, relevant in rows}

    def store_hosts(self, hosts: Iterable[HostRow]) -> None:
        """Store hosts, domains and addresses with their numbers of requests."""
        self._many(
            "INSERT INTO hosts(id, host, sent, taken, files, found) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(host) DO UPDATE SET sent = excluded.sent, taken = excluded.taken,"
            " files = excluded.files, found = excluded.found",
            [(one.id, one.key, one.sent, one.taken, one.files, one.found) for one in hosts],
        )

    def count_relevant(self, holders: Iterable[str]) -> None:
        """Count a relevant page for domains and addresses."""
        self._many(
            "UPDATE hosts SET relevant = relevant + 1 WHERE host = ?", [(h,) for h in holders]
        )

    def send(self, url_id: int) -> None:
        """Note that a URL gets a request."""
        self._sql("UPDATE urls SET sent = max(1, sent), tries = tries + 1 WHERE id = ?", (url_id,))

    def set_scores(self, scores: Iterable[tuple[float, int]]) -> None:
        """Change the scores of queued URLs: pairs of score and id."""
        self._many("UPDATE urls SET score = ? WHERE id = ?", scores)

    def new_url_id(self, score: float) -> int:
        """Return the id of the next stored URL, with this score."""
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
        row = self._sql(
            "UPDATE hosts SET delay_s = ? WHERE host = ? RETURNING id", (delay_s, host)
        ).fetchone()
        return None if row is None else int(row[0])
