"""The work of a shared crawl's worker besides fetching; nothing is lost if the worker dies.

The frontier is in Redis, and, for a short time, so are the records of settled pages. Every worker
writes its records into its own run folder. `crawler.shared.merging` merges all folders into one
run.
"""

import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.transactions import Transactions
from langfocus.crawler.run.page_row import insert_pages
from langfocus.crawler.shared.addresses import SharedOccupancy

if TYPE_CHECKING:
    from langfocus.crawler.shared.redis import SharedFrontier

_STEP_S = 0.05
_MESSAGE_KEPT_S = 24 * 3600
_STOPS = (signal.SIGINT, signal.SIGTERM)

# Leaves out a URL with a row. A server that lost its last second in a power cut gives a number
# twice. The later of the two rows then gets the next free id.
_ADD_SETTLED = insert_pages(
    "WHERE NOT EXISTS (SELECT 1 FROM pages WHERE fingerprint = :fingerprint)",
    id="IIF(EXISTS(SELECT 1 FROM pages WHERE id = :id), NULL, :id)",
)


def worker_name(folder: Path) -> str:
    """Return the name of the worker that crawls in a folder; it is the same every time."""
    return f"{socket.gethostname()}:{folder.resolve()}"


class Worker:
    """Renews a process's leases and stores its settled pages."""

    def __init__(
        self,
        frontier: "SharedFrontier",
        occupancy: SharedOccupancy,
        connection: sqlite3.Connection,
        *,
        every_s: float,
        waiting: "Waiting | None" = None,
    ) -> None:
        """Write into a run's database; the caller calls `tend` every `every_s` seconds."""
        self.waiting = waiting or Waiting(time.time)
        self.frontier, self.stored = frontier, frontier.stored
        self.name, self.crawl = frontier.worker, self.stored.whole.crawl
        self._occupancy = occupancy
        self._connection = connection
        self.every_s = every_s

    def tend(self, now: float) -> None:
        """Renew the leases and store settled pages; raises `StorageError`."""
        self.frontier.renew(now)
        self.stored.check_eviction()
        self._occupancy.renew()
        self.write_down()

    def share(self, message: str) -> dict[str, str]:
        """Publish a message to the other workers; return each worker's last message, by name.

        Nothing is published while the server is unreachable.
        """
        whole = self.stored.whole
        key = whole.key("told")

        def exchange(pipe: Any) -> None:
            pipe.hset(key, self.name, message)
            pipe.expire(key, _MESSAGE_KEPT_S)
            pipe.hgetall(key)

        found = whole.reach(lambda: whole.run(exchange)[-1]) or {}
        return {name: text for name, text in found.items() if name != self.name}

    def write_down(self) -> None:
        """Move the records of settled pages from Redis into the run's database.

        A record is deleted from Redis after it was stored here, and is never stored twice. Raises
        `StorageError`, also for a record that no worker writes.
        """
        while records := self.stored.records(self.name):
            with storing(self._connection):
                self._connection.executemany(_ADD_SETTLED, [settled.row for settled in records])
            self.stored.forget([settled.entry for settled in records], self.name)
        counts = self.stored.worker_counts(self.name)
        # A server that forgot the crawl has no counters; the folder keeps its own.
        if not self.stored.is_lost and self.stored.is_complete():
            with storing(self._connection):
                set_counts(self._connection, counts)


def storing(connection: sqlite3.Connection) -> AbstractContextManager[object]:
    """Run a block as one transaction; raises `StorageError` if it cannot be written."""
    return Transactions(connection).transaction()


def set_counts(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Replace the run's counters by those of the frontier."""
    connection.execute("DELETE FROM counts")
    connection.executemany("INSERT INTO counts VALUES (?, ?)", counts.items())


class Waiting:
    """Waits while the frontier cannot be reached, and knows when it last waited."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Do not wait yet; `clock` returns unix seconds."""
        self._clock = clock
        self._ended_at = float("-inf")
        self._is_stopped = False
        self._handlers: dict[int, Any] = {}

    def listen(self) -> None:
        """End the wait on SIGINT and SIGTERM; the previous handlers are called too.

        Without this, a process that waits would not react to a signal, because its handlers only
        ask the event loop to stop.
        """
        if self._handlers or threading.current_thread() is not threading.main_thread():
            return
        for number in _STOPS:
            self._handlers[number] = signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._is_stopped = True
        handler = self._handlers[number]
        if callable(handler):
            handler(number, frame)

    def end(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._handlers.items():
            # The previous handler may have installed another handler.
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)
        self._handlers.clear()

    def sleep(self, seconds: float) -> None:
        """Sleep; raises `StorageError` if the process got a signal to stop, before or during it."""
        until = time.monotonic() + seconds
        while not self._is_stopped and time.monotonic() < until:
            time.sleep(_STEP_S)
        self._ended_at = self._clock()
        if self._is_stopped:
            raise StorageError("stopped while the frontier could not be reached")

    def ended_after(self, then: float) -> bool:
        """Return True if this process waited for the frontier after `then`.

        A time-out of a download since then is not the fault of its server.
        """
        return self._ended_at > then
