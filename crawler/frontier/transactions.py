"""Transactions of a run's database, and tallies cached in memory."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

from langfocus.crawler.errors import StorageError
from langfocus.crawler.strategies.filters import NOTHING, Tally

_MOST_KEYS: Final = 1024
"""Most keys per statement."""

_KEPT_TALLIES: Final = 100_000


def _is_of_storage(error: sqlite3.Error) -> bool:
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
        """Record the start of a transaction."""

    def undo(self) -> None:
        """Undo what the transaction changed."""

    def write(self) -> None:
        """Write what changed since the last call."""


class Transactions:
    """Transactions of a connection in autocommit mode; `group` merges several into one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Write each transaction at once."""
        self._connection = connection
        self._later: Callable[[], object] | None = None
        self._is_lost = False
        self.written_later: list[WrittenLater] = []
        self._counts: Counter[str] = Counter()  # of the group
        self._sql = connection.execute

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
            if isinstance(error, sqlite3.Error) and _is_of_storage(error):
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
        """Write the values stored once per group of transactions."""
        self._connection.executemany(
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


class _Tallies(dict[str, Tally]):
    def __missing__(self, unit: str) -> Tally:
        return NOTHING


class TallyTable:
    """Pages and relevant pages of units: a table whose last used rows are in memory."""

    def __init__(self, connection: sqlite3.Connection, table: str, numbers: str) -> None:
        """Read the columns `unit` and `numbers` of a table."""
        self._connection = connection
        self._query = f"SELECT unit, {numbers} FROM {table} WHERE unit IN "  # noqa: S608  # both are constants
        self._insert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"  # noqa: S608  # as above
        self._kept = _Tallies()  # with all of the next
        self._changed: dict[str, Tally] = {}
        self._before: dict[str, Tally] = {}
        rows = connection.execute(
            f"SELECT unit, {numbers} FROM {table} LIMIT ?",  # noqa: S608  # as above
            (_KEPT_TALLIES + 1,),
        )
        self._keep(rows)
        # Most units of new links have no page, which needs no statement then.
        self._has_all = len(self._kept) <= _KEPT_TALLIES

    def _keep(self, rows: Iterable[tuple[str, int, int]]) -> None:
        self._kept.update({unit: Tally(pages, relevant) for unit, pages, relevant in rows})

    def of(self, units: Collection[str]) -> Mapping[str, Tally]:
        """Return the tallies of units, `NOTHING` for a new unit; more units may be included."""
        if self._has_all and len(self._kept) <= _KEPT_TALLIES:
            return self._kept
        missing = [unit for unit in units if unit not in self._kept]
        if self._has_all or len(self._kept) + len(missing) > _KEPT_TALLIES:
            self._has_all, self._kept = False, _Tallies(self._changed)
            missing = [unit for unit in units if unit not in self._kept]
        if missing:
            self._kept.update(dict.fromkeys(missing, NOTHING))
            self._keep(rows_among(self._connection, self._query, missing))
        return self._kept

    def count(self, units: Collection[str], *, is_relevant: bool) -> list[Tally]:
        """Add a page to the tallies of its units, and return them."""
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
