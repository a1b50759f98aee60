"""The files that relevant pages embed: what waits, what was fetched, and the bounds.

An embedded file is no page: it takes no slot, and counts neither for a goal nor for the harvest.
Each URL is fetched once in a run. Its row and its exchange are written together, so a kill neither
loses nor repeats one.
"""

import heapq
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from langfocus.crawler.options.config import Config
from langfocus.crawler.run.embeds import FETCHED, FULL, WAITING, embed_figures
from langfocus.crawler.url import domain_of, fingerprint, host_of, normalise

_MOST_DEPTH: Final = 6
"""Frames, imports and redirects in a row."""

_NEW: Final = """\
INSERT INTO embeds(url, host, domain, page, depth, is_frame) VALUES (?, ?, ?, ?, ?, ?)"""
_KNOWN: Final = "SELECT outcome FROM embeds WHERE url = ?"
_NUMBER: Final = "SELECT COUNT(*) FROM embeds WHERE "
_BYTES: Final = "SELECT COALESCE(SUM(bytes), 0) FROM embeds WHERE "
_HOSTS: Final = "SELECT DISTINCT host FROM embeds WHERE outcome IS NULL"
_NEXT: Final = """\
SELECT id, url, host, domain, page, depth, is_frame, tries FROM embeds
WHERE host = ? AND outcome IS NULL ORDER BY id LIMIT 1"""
# The crawl does not read a media file to its end.
_FETCHED_AS_PAGE: Final = """\
SELECT 1 FROM urls LEFT JOIN pages USING(fingerprint)
WHERE fingerprint = ? AND urls.sent > 0 AND outcome IS NOT 'media'"""
_SETTLE: Final = "UPDATE embeds SET outcome = ?, bytes = bytes + ?, tries = tries + 1 WHERE id = ?"


def bytes_left(config: Config, of_page: int, of_domain: int) -> int:
    """Return the bytes that a file may have, after those of its page and of its domain."""
    left = config.embed_bytes_of_page - of_page, config.embed_bytes_of_domain - of_domain
    return max(0, min(config.embed_bytes, *left))


class Embed(NamedTuple):
    """An embedded file that waits; `page` is the fingerprint of the page that needed it first."""

    id: int
    url: str
    host: str
    domain: str
    page: int
    depth: int
    is_frame: bool
    tries: int


class Embeds:
    """The embedded files of a run. Times are unix seconds.

    `numbers` has the files by outcome, `bytes` is their size.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        transaction: Callable[[], AbstractContextManager[Counter[str]]],
        config: Config,
    ) -> None:
        """Continue with the files that wait since an earlier session."""
        self._sql, self._transaction, self._config = connection.execute, transaction, config
        self._ready = [(0.0, host) for (host,) in self._sql(_HOSTS)]
        self._waiting = {host for _, host in self._ready}
        numbers, self.bytes = embed_figures(connection)
        self.numbers = Counter(numbers)

    def add(self, page: int, urls: Mapping[str, bool]) -> None:
        """Queue the files of a page, up to the bounds of the page and of each domain.

        The value of a URL is True for a frame. A file beyond a bound is counted (`embeds_full`).
        """
        with self._transaction() as counts:
            self._add(page, urls, 1, counts)
        self._wait_for(urls)

    def _add(self, page: int, urls: Mapping[str, bool], depth: int, counts: Counter[str]) -> None:
        most = self._config.embeds_of_page if depth <= _MOST_DEPTH else 0
        left: dict[str, int] = {"": most - self._one(_NUMBER + "page = ?", page)}
        for url, is_frame in urls.items():
            if self._sql(_KNOWN, (url,)).fetchone():
                continue
            host = host_of(url)
            domain = domain_of(host)
            if domain not in left:
                number = self._one(_NUMBER + "domain = ?", domain)
                left[domain] = self._config.embeds_of_domain - number
            if min(left[""], left[domain]) <= 0:
                counts[FULL] += 1
                continue
            self._sql(_NEW, (url, host, domain, page, depth, is_frame))
            self.numbers[WAITING] += 1
            left[""], left[domain] = left[""] - 1, left[domain] - 1

    def _one(self, query: str, value: object) -> int:
        number: int = self._sql(query, (value,)).fetchone()[0]
        return number

    def _wait_for(self, urls: Mapping[str, bool]) -> None:
        for host in dict.fromkeys(map(host_of, urls)):
            self._wait(host, 0.0)

    def _wait(self, host: str, ready_at: float) -> None:
        if host not in self._waiting and self._sql(_NEXT, (host,)).fetchone():
            self._waiting.add(host)
            heapq.heappush(self._ready, (ready_at, host))

    def next(self, now: float) -> Embed | None:
        """Return a file whose host may be contacted, or None. `done` then frees its host."""
        while self._ready and self._ready[0][0] <= now:
            _, host = heapq.heappop(self._ready)
            row = self._sql(_NEXT, (host,)).fetchone()
            if row is not None:
                return Embed(*row)
            self._waiting.discard(host)
        return None

    def done(self, host: str, ready_at: float) -> None:
        """Free the host of a file that `next` returned; its next file waits until `ready_at`."""
        self._waiting.discard(host)
        self._wait(host, ready_at)

    def ready_at(self) -> float | None:
        """Return when `next` has a file; None if none waits whose host is free."""
        return self._ready[0][0] if self._ready else None

    def has_file(self, url: str) -> bool:
        """Return True for a file that was fetched and is no HTML."""
        return (FETCHED,) in self._sql(_KNOWN, (url,))

    def is_page(self, url: str) -> bool:
        """Return True for a URL that got a request as a page."""
        key = fingerprint(normalise(url) or url)
        return self._sql(_FETCHED_AS_PAGE, (key,)).fetchone() is not None

    def bytes_left(self, embed: Embed) -> int:
        """Return the bytes that a file may have, by the bounds of file, page and domain."""
        of_page = self._one(_BYTES + "page = ?", embed.page)
        return bytes_left(self._config, of_page, self._one(_BYTES + "domain = ?", embed.domain))

    def settle(
        self,
        embed: Embed,
        outcome: str | None,
        size: int = 0,
        needed: Mapping[str, bool] | None = None,
        keep: Callable[[], object] = lambda: None,
    ) -> None:
        """Store the outcome of a file, None for another try, and queue the files that it needs.

        `keep` archives its exchange in the same transaction.
        """
        needed = needed or {}
        with self._transaction() as counts:
            keep()
            self._sql(_SETTLE, (outcome, size, embed.id))
            self._add(embed.page, needed, embed.depth + 1, counts)
        self.bytes += size
        if outcome is not None:
            self.numbers[outcome] += 1
            self.numbers[WAITING] -= 1
        self._wait_for(needed)
