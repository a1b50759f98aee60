"""A worker of a shared crawl: what it does beside fetching, so that nothing is lost with it.

The frontier is in Redis, and so is, for the moment, what was settled; every worker writes its own
share into its own run folder. `crawler.shared.merging` makes one run of all shares.
"""

import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from crawler.errors import StorageError
from crawler.page_row import URL_COLUMNS, insert_pages, record_values
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.redis import RedisFrontier, Settled

_AT_ONCE = 1000
_STEP_S = 0.05
_STOPS = (signal.SIGINT, signal.SIGTERM)

_ADD_SETTLED = insert_pages(
    "WHERE NOT EXISTS (SELECT 1 FROM pages WHERE fingerprint = :fingerprint)",
    id="IIF(EXISTS(SELECT 1 FROM pages WHERE id = :id), NULL, :id)",
)


def worker_name(folder: Path) -> str:
    """Return what a worker is called: the same whenever the folder is crawled in again."""
    return f"{socket.gethostname()}:{folder.resolve()}"


class Worker:
    """Keeps the leases of a process and writes down what it settled."""

    def __init__(
        self,
        frontier: RedisFrontier,
        occupancy: SharedOccupancy,
        connection: sqlite3.Connection,
        *,
        every_s: float,
    ) -> None:
        """Write into a run's database; `tend` has to be called every `every_s` seconds."""
        self.name, self.crawl = frontier.worker, frontier.crawl
        self._frontier = frontier
        self._occupancy = occupancy
        self._connection = connection
        self.every_s = every_s

    def tend(self, now: float) -> None:
        """Let the leases go on and write down what was settled; raises `StorageError`."""
        self._frontier.renew(now)
        self._occupancy.renew()
        self.write_down()

    def write_down(self) -> None:
        """Move what was settled from Redis into the run's database.

        It is forgotten there after it is written here, and never written twice.
        """
        while settled := self._frontier.settled(number=_AT_ONCE):
            with storing(self._connection):
                add_settled(self._connection, settled)
            self._frontier.forget(settled)
        with storing(self._connection):
            set_counts(self._connection, self._frontier.worker_counts())


@contextmanager
def storing(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all or nothing; raises `StorageError` where nothing can be written any more."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise StorageError(f"the run cannot be written any more: {error}") from error


def add_settled(connection: sqlite3.Connection, settled: Sequence[Settled]) -> None:
    """Write rows of `pages`, but for URLs that have theirs, in the order of settling.

    A server that forgot its last second in a power cut gives a number twice: the later one of the
    two goes to the end.
    """
    connection.executemany(_ADD_SETTLED, map(_values, settled))


def _values(entry: Settled) -> dict[str, object]:
    known = {name: getattr(entry, name) for name in URL_COLUMNS}
    return {"id": entry.number, "queued": entry.queued} | known | record_values(entry.record)


def set_counts(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Write what the frontier counted, in place of what was written before."""
    connection.execute("DELETE FROM counts")
    connection.executemany("INSERT INTO counts VALUES (?, ?)", counts.items())


class Waiting:
    """How a process waits for its frontier to come back, and when it last did."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Tell the time by `clock`, unix seconds."""
        self._clock = clock
        self._ended_at = float("-inf")
        self._is_stopped = False
        self._handlers: dict[int, Any] = {}

    def listen(self) -> None:
        """Hear from now on when the process is told to stop, beside what it does about that.

        Whoever waits does nothing else, not even what a handler of signals has asked for.
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
        """Listen no more."""
        for number, handler in self._handlers.items():
            # What was called may have put another handler in place.
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)
        self._handlers.clear()

    def sleep(self, seconds: float) -> None:
        """Sleep; raises `StorageError` if the process was told to stop, or is."""
        until = time.monotonic() + seconds
        while not self._is_stopped and time.monotonic() < until:
            time.sleep(_STEP_S)
        self._ended_at = self._clock()
        if self._is_stopped:
            raise StorageError("stopped while the frontier could not be reached")

    def ended_after(self, then: float) -> bool:
        """Tell whether the process waited after that time: what it did meanwhile stood still."""
        return self._ended_at > then
