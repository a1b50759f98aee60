"""Tallies of units, in memory and in their table."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from langfocus.crawler.frontier import transactions
from langfocus.crawler.frontier.transactions import TallyTable
from langfocus.crawler.strategies.filters import NOTHING, Tally

UNITS = [f"{name}/" for name in "abcdefghijkl"]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as found:
        yield found


@pytest.mark.parametrize("kept", [0, 3, 7, 100])
@pytest.mark.parametrize("earlier", [0, 5])
def test_a_tally_is_right_however_few_rows_are_in_memory(
    monkeypatch: pytest.MonkeyPatch, connection: sqlite3.Connection, kept: int, earlier: int
) -> None:
    monkeypatch.setattr(transactions, "_KEPT_TALLIES", kept)
    connection.execute("CREATE TABLE units(unit TEXT PRIMARY KEY, downloaded INT, relevant INT)")
    rows = [(unit, 2, 1) for unit in UNITS[:earlier]]
    connection.executemany("INSERT INTO units VALUES (?, ?, ?)", rows)
    pages, relevant = (Counter({row[0]: row[at] for row in rows}) for at in (1, 2))
    table, random = TallyTable(connection, "units", "downloaded, relevant"), Random(kept)
    for step in range(200):
        units, is_relevant = random.sample(UNITS, 2), random.random() < 0.5
        table.begin()
        table.count(units, is_relevant=is_relevant)
        if step % 3:
            pages.update(units)
            relevant.update(units if is_relevant else [])
        else:
            table.undo()
        if step % 5 == 0:
            table.write()
        asked = random.sample(UNITS, 3)
        found = table.of(asked)
        assert [found[unit] for unit in asked] == [Tally(pages[u], relevant[u]) for u in asked]
    table.write()
    stored = {row[0]: Tally(*row[1:]) for row in connection.execute("SELECT * FROM units")}
    assert {u: t for u, t in stored.items() if t != NOTHING} == {
        unit: Tally(number, relevant[unit]) for unit, number in pages.items() if number
    }
