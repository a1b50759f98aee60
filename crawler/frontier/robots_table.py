"""The robots.txt files of a run, in its database."""

import sqlite3

from langfocus.crawler.frontier.base import ROBOTS_ENTRY_BYTES, KeptRobots
from langfocus.crawler.frontier.transactions import Transactions

_ROBOTS_BYTES = "SELECT COALESCE(SUM(bytes), 0) FROM robots"

_FORGET_ROBOTS = """DELETE FROM robots WHERE origin IN (
    SELECT origin FROM (
        SELECT origin, SUM(bytes) OVER (ORDER BY fetched_at, origin) - bytes AS older
        FROM robots WHERE origin <> ?)
    WHERE older < ?)"""


class RobotsTable:
    """The stored robots.txt files, and texts like them; their bytes are counted in memory."""

    def __init__(self, connection: sqlite3.Connection, transactions: Transactions) -> None:
        """Count the bytes that are stored."""
        self._sql = connection.execute
        self._transactions = transactions
        self._bytes = self._count_bytes()

    def _count_bytes(self) -> int:
        return int(self._sql(_ROBOTS_BYTES).fetchone()[0])

    def text_of(self, origin: str) -> KeptRobots | None:
        """Return the stored robots.txt of an origin, or None."""
        query = "SELECT text, fetched_at FROM robots WHERE origin = ?"
        row = self._sql(query, (origin,)).fetchone()
        return None if row is None else KeptRobots(*row)

    def store(self, origin: str, text: str, now: float, most_bytes: int) -> None:
        """Store the robots.txt of an origin.

        If the table holds more than `most_bytes`, the oldest are deleted down to three quarters.
        """
        size = len(origin) + len(text) + ROBOTS_ENTRY_BYTES
        with self._transactions.transaction():
            before = self._sql("SELECT bytes FROM robots WHERE origin = ?", (origin,)).fetchone()
            row = (origin, now, size, text)
            self._sql("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", row)
            total = self._bytes + size - (before[0] if before else 0)
            if total > most_bytes:
                self._sql(_FORGET_ROBOTS, (origin, total - most_bytes * 3 // 4))
                total = self._count_bytes()
        self._bytes = total
