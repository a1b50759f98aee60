"""The changes of some time are written together, and a kill undoes all of them or none."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Record
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.frontier.sqlite import SqliteFrontier
from langfocus.crawler.run.folder import OpenRun
from langfocus.crawler.strategies.links import Link
from langfocus.testing.frontiers import META
from tests.crawler.frontier.test_frontier_contract import lease_now, page, sent_now
from tests.support.crawls import rows
from tests.support.dropped import dropped_run

OUTCOMES = "SELECT url, outcome FROM pages ORDER BY id"
QUEUED = "SELECT url, sent, tries FROM urls WHERE queued = 1 ORDER BY id"
SENT = "SELECT host, sent FROM hosts ORDER BY id"


class Grouping:
    """A frontier that groups; `writes` are the functions that wait to be called."""

    def __init__(self, folder: Path) -> None:
        self.writes: list[Callable[[], None]] = []
        self.run: OpenRun = dropped_run(folder, META, 0.0)
        self.frontier = SqliteFrontier(self.run.connection, FrontierRules(), now=0.0)
        self.frontier.seed([Link(f"http://{c}.de/", 0.0) for c in "abcd"], 0.0)
        self.frontier.group(self.writes.append)

    def settle(self, *links: Link) -> str:
        lease = sent_now(self.frontier)
        self.frontier.admit(lease, page(), links, now=0.0)
        return lease.url


def test_a_kill_undoes_what_was_not_written_and_its_urls_are_queued_again(tmp_path: Path) -> None:
    group = Grouping(tmp_path)
    group.settle(Link("http://a.de/1", 0.0))
    group.writes.pop()()
    group.settle(Link("http://b.de/1", 0.0))
    lease_now(group.frontier)
    group.run.connection.close()
    assert rows(tmp_path, OUTCOMES) == [("http://a.de/", "page")]
    waiting = ["http://b.de/", "http://c.de/", "http://d.de/", "http://a.de/1"]
    assert [url for url, *_ in rows(tmp_path, QUEUED)] == waiting


def test_a_kill_undoes_no_slot_that_was_written(tmp_path: Path) -> None:
    group = Grouping(tmp_path)
    lease = sent_now(group.frontier)
    group.writes.pop()()
    group.run.connection.close()
    assert rows(tmp_path, QUEUED)[0] == (lease.url, 1, 1)
    assert rows(tmp_path, SENT)[0] == (lease.host, 1)


def test_a_change_that_fails_is_undone_alone(tmp_path: Path) -> None:
    group = Grouping(tmp_path)
    group.settle()
    lease = sent_now(group.frontier)
    broken = Record("page", 0.0, 200, True, True, "de", country=object())  # type: ignore[arg-type]  # cannot be stored
    with pytest.raises(sqlite3.Error):
        group.frontier.admit(lease, broken, [Link("http://e.de/", 0.0)], now=0.0)
    group.frontier.admit(lease, page("en"), now=0.0)
    group.frontier.close()
    assert rows(tmp_path, OUTCOMES) == [("http://a.de/", "page"), ("http://b.de/", "page")]
    assert [url for url, *_ in rows(tmp_path, QUEUED)] == ["http://c.de/", "http://d.de/"]
    group.writes.pop()()  # what was written at the end is not written again


def test_a_disk_that_fills_while_changes_are_grouped_loses_the_group(tmp_path: Path) -> None:
    group = Grouping(tmp_path)
    group.settle()
    group.writes.pop()()
    first, second = sent_now(group.frontier), sent_now(group.frontier)
    group.frontier.admit(first, page(), now=0.0)
    pages = group.run.connection.execute("PRAGMA page_count").fetchone()[0]
    group.run.connection.execute(f"PRAGMA max_page_count = {pages}")
    links = [Link(f"http://h{n}.de/{'x' * 900}", 0.0) for n in range(99)]
    for _ in range(2):
        with pytest.raises(StorageError, match="can no longer be written"):
            group.frontier.admit(second, page(), links, now=0.0)
    group.run.connection.close()
    assert rows(tmp_path, OUTCOMES) == [("http://a.de/", "page")]
