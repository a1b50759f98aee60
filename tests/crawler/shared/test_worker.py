"""A worker moves records from Redis into its folder, and no bad record stops it."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from crawler.errors import StorageError
from crawler.frontier.base import Link
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import open_run
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from crawler.shared.worker import Worker, storing
from tests.crawler.frontier.test_frontier_contract import META, page
from tests.support.crawls import rows
from tests.support.redisserver import RedisServer

HOSTS = 6


class Joined:
    """One worker with its folder, some queued URLs, and a way into its stream of records."""

    def __init__(self, url: str, folder: Path) -> None:
        self.client, self.folder = connect(url), folder
        member = Membership(worker="w1")
        self.frontier = RedisFrontier(
            connect(url), uuid4().hex, FrontierRules(), member, now=0.0, sleep=lambda _: None
        )
        self.run = open_run(folder, META, 0.0)
        occupancy = SharedOccupancy(self.frontier, 0, lambda: 0.0, lease_s=60.0)
        self.worker = Worker(self.frontier, occupancy, self.run.connection, every_s=15.0)
        self.frontier.seed([Link(f"http://h{n}.de/", 0.0) for n in range(HOSTS)], 0.0)

    def settle(self, number: int = 1) -> None:
        for _ in range(number):
            lease = self.frontier.next(0.0)
            assert lease is not None
            self.frontier.admit(lease, page(), now=0.0)

    def stream(self) -> str:
        return self.frontier.key("records:w1")

    def last_row(self) -> dict[str, Any]:
        entries: Any = self.client.xrevrange(self.stream(), count=1)
        row: dict[str, Any] = json.loads(entries[0][1]["row"])
        return row

    def write(self, *words: bytes | str) -> None:
        """Write an entry into the stream, as no worker does."""
        ask: Any = self.client.execute_command
        ask("XADD", self.stream(), "*", *words)

    def close(self) -> None:
        self.frontier.close()
        self.run.connection.close()
        self.client.close()


@pytest.fixture
def joined(redis_server: RedisServer, tmp_path: Path) -> Iterator[Joined]:
    joined = Joined(redis_server.url, tmp_path)
    yield joined
    joined.close()


MALFORMED: dict[str, dict[str, object]] = {
    "its status is 22222": {"status": int("2" * 23)},
    "its status is 99": {"status": 99},
    "its status is '200'": {"status": "200"},
    "its charset is": {"charset": "\ud800"},
    "its country is": {"country": ["DE"]},
    "its language is 7": {"language": 7},
    "its bytes is": {"bytes": 1 << 63},
    "its bytes is None": {"bytes": None},
    "its confidence is nan": {"confidence": float("nan")},
    "its fetched_at is None": {"fetched_at": None},
    "unexpected keyword": {"colour": "red"},
}


def refused(joined: Joined) -> str:
    """Return the line of the refusal to store the worker's records."""
    with pytest.raises(StorageError) as told:
        joined.worker.tend(1.0)
    line = str(told.value)
    assert line.isprintable()
    assert "merge the folders of its workers" in line
    assert rows(joined.folder, "SELECT COUNT(*) FROM pages") == [(0,)]
    return line


@pytest.mark.parametrize("reason", MALFORMED)
def test_a_record_with_a_bad_value_is_refused_in_one_line(joined: Joined, reason: str) -> None:
    joined.settle()
    row = joined.last_row()
    row["record"] |= MALFORMED[reason]
    joined.write("number", "2", "queued", "0", "row", json.dumps(row))
    assert reason in refused(joined)


@pytest.mark.parametrize(
    "words",
    [
        (b"row", b"\xff\xfe"),
        (b"\xff", b"row"),
        ("number", "2", "queued", "0", "row", "[]"),
        ("number", "2", "queued", "0", "row", "[" * 100_000),
        ("number", "2", "queued", "0", "row", "9" * 5000),
        ("number", "two", "queued", "0"),
        (b"\x1b[2J", b"\x00"),
    ],
    ids=range(7),
)
def test_an_entry_that_is_no_record_is_refused_in_one_line(
    joined: Joined, words: tuple[Any, ...]
) -> None:
    joined.write(*words)
    joined.settle()
    assert " of w1: " in refused(joined)


@pytest.mark.parametrize("number", ["0", "-1", "1" * 30, "1.5"])
def test_a_record_with_an_impossible_number_is_refused(joined: Joined, number: str) -> None:
    joined.settle()
    row = json.dumps(joined.last_row())
    joined.client.delete(joined.stream())
    joined.write("number", number, "queued", "0", "row", row)
    refused(joined)


def test_a_record_whose_url_is_not_its_own_is_refused(joined: Joined) -> None:
    joined.settle()
    row = json.dumps({**joined.last_row(), "url": "http://other.de/"})
    joined.client.delete(joined.stream())
    joined.write("number", "1", "queued", "0", "row", row)
    assert "its fingerprint is not that of 'http://other.de/'" in refused(joined)


@pytest.mark.parametrize(
    "bad",
    [{"status": 99}, {"charset": "\ud800"}, {"bytes": 1 << 63}, {"fetched_at": float("nan")}],
    ids=str,
)
def test_both_frontiers_refuse_a_record_that_cannot_be_stored_and_change_nothing(
    joined: Joined, tmp_path: Path, bad: dict[str, Any]
) -> None:
    run = open_run(tmp_path / "alone", META, 0.0)
    alone = SqliteFrontier(run.connection, FrontierRules(), now=0.0)
    alone.seed([Link("http://h0.de/", 0.0)], 0.0)
    for frontier in (alone, joined.frontier):
        lease = frontier.next(0.0)
        assert lease is not None
        with pytest.raises(ValueError, match="cannot be stored: its "):
            frontier.admit(lease, replace(page(), **bad), [Link("http://x.de/", 0.0)], now=0.0)
        assert (frontier.counts().leased, frontier.counts().pages) == (1, 0)
        frontier.admit(lease, page(), now=0.0)
    run.connection.close()


@pytest.mark.parametrize("error", [OverflowError, ValueError, KeyboardInterrupt, sqlite3.DataError])
def test_after_any_exception_nothing_of_a_transaction_is_kept(
    joined: Joined, error: type[BaseException]
) -> None:
    connection = joined.run.connection

    def fail() -> None:
        with storing(connection):
            connection.execute("INSERT INTO counts VALUES ('x', 1)")
            raise error("something")

    with pytest.raises(error):
        fail()
    assert not connection.in_transaction
    assert rows(joined.folder, "SELECT * FROM counts") == []


def test_a_full_disk_is_an_error_of_storage_and_no_bad_record(joined: Joined) -> None:
    joined.settle(3)
    joined.run.connection.execute("PRAGMA max_page_count = 1")
    size = joined.run.connection.execute("PRAGMA page_count").fetchone()[0]
    joined.run.connection.execute(f"PRAGMA max_page_count = {size}")
    lease = joined.frontier.next(0.0)
    assert lease is not None
    joined.frontier.admit(lease, replace(page(), charset="x" * 99_999), now=0.0)
    with pytest.raises(StorageError, match="can no longer be written"):
        joined.worker.write_down()
    assert len(joined.frontier.records(joined.frontier.worker).settled) == 4


def test_records_of_one_number_all_have_a_row(joined: Joined) -> None:
    """A server that lost its last second in a power cut gives a number twice."""
    joined.settle(2)
    joined.worker.write_down()
    joined.client.hset(joined.frontier.key("counts"), "settled", "0")
    joined.settle(3)
    joined.worker.write_down()
    joined.settle(1)
    joined.worker.write_down()
    assert [number for (number,) in rows(joined.folder, "SELECT id FROM pages ORDER BY id")] == [
        1, 2, 3, 4, 5, 6
    ]  # fmt: skip
