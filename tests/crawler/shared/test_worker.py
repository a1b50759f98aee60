"""A worker moves records from Redis into its folder, and no bad record stops it."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.report.live import live_json, together
from langfocus.crawler.run.folder import open_run
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.shared.worker import Worker, storing
from langfocus.crawler.strategies.links import Link
from langfocus.testing.frontiers import META
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.crawler.shared.conftest import Joined, Joiner
from tests.crawler.spiders.test_watch import Crawl
from tests.support.crawls import rows
from tests.support.keptpages import begun
from tests.support.redisserver import RedisServer


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": 99}, "CHECK constraint failed: status"),
        ({"charset": "\ud800"}, "surrogates not allowed"),
        ({"bytes": 1 << 63}, "int too large"),
        ({"score": "high"}, "cannot store TEXT value in REAL column"),
        ({"fetched_at": None}, "NOT NULL constraint failed: pages.fetched_at"),
        ({"number": "0"}, "CHECK constraint failed: id"),
        ({"number": "two"}, "ValueError"),
        ({"row": "[" * 100_000}, "RecursionError"),
        ({"row": b"\xff\xfe"}, "UnicodeDecodeError"),
        ({"row": "[]"}, "TypeError"),
    ],
    ids=str,
)
def test_what_no_worker_writes_into_the_records_is_refused_in_one_line(
    joined: Joined, change: dict[Any, Any], reason: str
) -> None:
    joined.settle()
    key, client = joined.frontier.keys.key("records:worker"), joined.frontier.stored.whole.client
    entries: Any = client.xrange(key)
    entry = entries[0][1]
    row = json.loads(entry["row"]) | {k: v for k, v in change.items() if k not in entry}
    values = {**entry, "row": json.dumps(row), **{k: v for k, v in change.items() if k not in row}}
    client.xadd(key, values)
    with pytest.raises(StorageError) as caught:
        joined.worker.tend(1.0)
    line = str(caught.value)
    assert reason in line
    assert "merge the folders of its workers" in line
    assert line.isprintable()
    assert rows(joined.folder, "SELECT COUNT(*) FROM pages") == [(0,)]


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
        lease = lease_now(frontier)
        with pytest.raises(ValueError, match="cannot be stored: "):
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
    joined.frontier.admit(
        lease_now(joined.frontier), replace(page(), charset="x" * 99_999), now=0.0
    )
    with pytest.raises(StorageError, match="can no longer be written"):
        joined.worker.write_down()
    assert len(joined.frontier.stored.records(joined.frontier.worker)) == 4


def test_records_of_one_number_all_have_a_row(joined: Joined) -> None:
    """A server that lost its last second in a power cut gives a number twice."""
    joined.settle(2)
    joined.worker.write_down()
    joined.frontier.stored.whole.client.hset(joined.frontier.keys.key("counts"), "settled", "0")
    joined.settle(3)
    joined.worker.write_down()
    joined.settle(1)
    joined.worker.write_down()
    assert [number for (number,) in rows(joined.folder, "SELECT id FROM pages ORDER BY id")] == [
        1, 2, 3, 4, 5, 6
    ]  # fmt: skip


def test_workers_tell_each_other_their_figures_and_each_shows_those_of_all(
    joined: Joined, join: Joiner
) -> None:
    other = Worker(join(worker="other"), joined.worker._occupancy, joined.run.connection, every_s=9)
    own, theirs = Crawl(), Crawl()
    for label in ("de", "en", "de"):
        own.settle(language=label)
    own.settle("timeout", None)
    theirs.settle()
    theirs.crawl.traffic.note_fetch(0.2)
    assert other.share(live_json(theirs.look(9.0, drops={"a": 2}))) == {}
    shared = joined.worker.share(live_json(own.look(1.0, drops={"a": 1, "b": 1})))
    assert list(shared) == ["other"]
    assert list(other.share("{}")) == ["worker"]
    seen = together(own.look(drops={"a": 1}), "worker", {**shared, "third": "{}", "old": "x"})
    assert (seen.outcomes, seen.drops) == ({"page": 4, "timeout": 1}, {"a": 3})
    assert (seen.errors, seen.last_relevant, seen.last_labelled) == (1, 3, 4)
    assert (sum(seen.fetches), seen.fetch_s) == (1, 0.2)
    assert [one.name for one in seen.workers] == ["other", "worker"]


def test_a_worker_looks_at_fresh_counts_before_its_crawl_ends(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    """With counts of a moment ago it would end before the URLs of another worker came."""
    settings = {"LANGFOCUS_FRONTIER": redis_server.url, "LANGFOCUS_CRAWL": tmp_path.name}
    clock = CrawlClock(lambda: 0.0, elapsed=lambda: 0.0)
    one, other = (begun(tmp_path / name, clock, settings) for name in ("one", "other"))
    lease = lease_now(other.frontier)
    assert (one.queue.counts().leased, one.queue.has_more()) == (1, True)
    other.frontier.admit(lease, page(), now=0.0)
    assert one.queue.counts().leased == 1
    assert not one.queue.has_more()
    assert (one.queue.counts().queued, one.queue.counts().leased) == (0, 0)
    other.frontier.seed([Link("http://new.de/", 0.0)], 0.0)
    assert one.queue.counts().queued == 0
    assert one.queue.has_more()
    for crawl in (one, other):
        crawl.close("finished")
