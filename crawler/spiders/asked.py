"""A spider's requests with more than a URL (callback, method, meta), kept until sent."""

import logging
import pickle
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from langfocus.crawler.errors import StorageError
from langfocus.crawler.run.folder import REQUESTS, connect
from langfocus.crawler.url import fingerprint

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS requests(
    fingerprint INTEGER PRIMARY KEY, url TEXT NOT NULL, request BLOB NOT NULL)"""
_OWN_META: Final = frozenset({"depth", "is_start_request"})
"""Keys that Scrapy's own spider middlewares set."""

_WRITTEN_AFTER_S: Final = 10.0
"""Seconds after which the end of a lease is no longer in a transaction that a kill undoes."""

_MOST_ENDED: Final = 100_000

_log = logging.getLogger(__name__)


_SAFE: Final = (
    "builtins",
    "collections",
    "datetime",
    "decimal",
    "uuid",
    "scrapy.http",
    "scrapy.item",
)
"""Modules whose classes a request may hold, beside those of the spider's own package."""


class _Unpickler(pickle.Unpickler):
    """Makes objects of some classes alone, since a run folder may be a stranger's."""

    def __init__(self, data: bytes, spider: Spider) -> None:
        super().__init__(BytesIO(data))
        self._own = type(spider).__module__.partition(".")[0]

    def find_class(self, module: str, name: str) -> Any:
        """Return a class; raises `pickle.UnpicklingError` for anything else."""
        found = super().find_class(module, name)
        is_safe = module in _SAFE or module.startswith("scrapy.http.")
        is_safe = is_safe or module.partition(".")[0] == self._own
        # The text of a link, which the rules of a CrawlSpider put into `meta`.
        is_safe = is_safe or (module, name) == ("lxml.etree", "_ElementUnicodeResult")
        if is_safe and isinstance(found, type) and found.__module__ == module:
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no class of the spider's package")


def is_plain(request: Request) -> bool:
    """Return True if a request says no more than its URL."""
    extras = (request.callback, request.errback, request.cb_kwargs, request.headers)
    return not (any(extras) or request.cookies or request.flags or request.meta.keys() - _OWN_META)


class AskedRequests:
    """Requests by the fingerprint of their URL, as Scrapy's disk queues keep them.

    Callbacks are spider methods. A request that cannot be serialised stays in memory: a resumed
    crawl fetches the URL with the spider's default callback.
    """

    def __init__(self, folder: Path, spider: Spider) -> None:
        """Continue with the file of a run folder, which is made by the first request."""
        self._path, self._spider = folder / REQUESTS, spider
        self._in_memory: dict[int, Request] = {}
        self._ended: deque[tuple[float, int]] = deque(maxlen=_MOST_ENDED)
        self._connection: sqlite3.Connection | None = None
        if self._path.exists():
            self._open()

    def _open(self) -> sqlite3.Connection:
        with self._writing():
            self._connection = connect(self._path)
            self._connection.execute(_SCHEMA)
        return self._connection

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(f"{self._path}: {error}") from error

    def put(self, url: str, request: Request) -> None:
        """Keep a request for a normalised URL, unless the URL has one; raises `StorageError`."""
        key = fingerprint(url)
        try:
            row = key, url, pickle.dumps(request.to_dict(spider=self._spider))
        except Exception as error:
            if not self._in_memory:
                _log.warning(
                    "%s: this request and others like it are lost if the crawl stops, since they "
                    "cannot be written: %s",
                    *(request, error),
                )
            self._in_memory.setdefault(key, request)
            return
        connection = self._connection or self._open()
        with self._writing():
            connection.execute("INSERT OR IGNORE INTO requests VALUES (?, ?, ?)", row)

    def get(self, key: int) -> Request | None:
        """Return the request for the URL with a fingerprint, None if there is none."""
        if key in self._in_memory:
            return self._in_memory[key]
        if self._connection is None:
            return None
        query = "SELECT request FROM requests WHERE fingerprint = ?"
        try:
            row = self._connection.execute(query, (key,)).fetchone()
            return row and request_from_dict(
                _Unpickler(row[0], self._spider).load(), spider=self._spider
            )
        except Exception as error:
            # A method may have another name in a later version of the spider.
            _log.error("a request that the spider made cannot be read again: %s", error)
            return None

    def end(self, key: int) -> None:
        """Forget the request for a URL that is settled, when that is surely written down.

        Raises `StorageError`.
        """
        self._in_memory.pop(key, None)
        now = time.monotonic()
        self._ended.append((now + _WRITTEN_AFTER_S, key))
        while self._connection is not None and self._ended[0][0] < now:
            gone = self._ended.popleft()[1]
            with self._writing():
                self._connection.execute("DELETE FROM requests WHERE fingerprint = ?", (gone,))

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
