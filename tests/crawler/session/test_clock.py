"""A clock that is set back or forth, or that is an hour off, does not stop or hurry a crawl."""

import sys
import time
from dataclasses import dataclass, replace
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response

from benchmarks.servers import processes
from benchmarks.servers.loopback import loopback
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.spiders.messages import retry_after_s
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now, new_sqlite_frontier, page
from tests.support.crawls import command, environment, rows, smallest_gap
from tests.support.redisserver import RedisServer
from tests.support.smallweb import SmallWeb

HOUR_S = 3600.0
DELAY_S = 0.05


@dataclass
class Machine:
    """A machine whose clock may be wrong by `error_s` seconds."""

    now: float = 1e9
    error_s: float = 0.0

    def wall(self) -> float:
        return self.now + self.error_s

    def elapsed(self) -> float:
        return self.now - 1e8

    def clock(self) -> CrawlClock:
        return CrawlClock(self.wall, self.elapsed)


STEPS = st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(-1e5, 1e5)), max_size=30)


@given(STEPS)
def test_a_clock_of_a_crawl_counts_seconds_whatever_the_machine_says(
    steps: list[tuple[float, float]],
) -> None:
    machine = Machine()
    clock = machine.clock()
    for waits_s, error_s in steps:
        machine.now += waits_s
        machine.error_s = error_s
        assert clock() == pytest.approx(machine.now, abs=1e-3)


@given(st.lists(st.floats(-0.9, 0.9), max_size=30))
def test_a_clock_that_follows_another_never_goes_back(drifts: list[float]) -> None:
    machine = Machine()
    clock, before = machine.clock(), 0.0
    for drift in drifts:
        assert clock.follow(lambda: clock._offset + machine.elapsed() + drift) == 0.0  # noqa: B023  # called at once
        assert clock() >= before
        before = clock()


def test_an_answer_that_is_late_does_not_set_the_clock_wrong() -> None:
    machine, late = Machine(error_s=-HOUR_S), iter([3.0, 0.5, 0.001, 9.0] * 9)

    def now_of() -> float:
        time_then = machine.now
        machine.now += next(late)
        return time_then

    clock = machine.clock()
    clock.set_to(now_of)
    assert clock() == pytest.approx(machine.now, abs=0.001)
    clock.follow(now_of)
    assert clock() == pytest.approx(machine.now, abs=0.001)


@pytest.mark.parametrize("jump_s", [-HOUR_S, HOUR_S])
def test_a_clock_does_not_follow_a_jump_and_tells_of_it(jump_s: float) -> None:
    machine = Machine()
    clock = machine.clock()
    assert clock.follow(lambda: machine.now + jump_s) == pytest.approx(jump_s)
    assert clock() == machine.now
    assert clock.follow(lambda: machine.now + jump_s) == 0.0  # told once


def test_a_host_rests_no_longer_if_the_clock_was_set_back_before_a_restart(tmp_path: Path) -> None:
    machine = Machine(error_s=HOUR_S)
    clock = machine.clock()
    frontier = new_sqlite_frontier(tmp_path, clock())
    frontier.seed([Link("http://a.de/", 0.0), Link("http://b.de/", 0.0)], clock())
    lease = lease_now(frontier, clock())
    frontier.set_robots("http://a.de", "x", clock())
    frontier.retry(lease, now=clock(), not_before=clock() + 30.0)
    machine.error_s = 0.0
    clock = machine.clock()
    frontier = new_sqlite_frontier(tmp_path, clock())
    kept = frontier.robots("http://a.de")
    assert kept is not None
    assert kept.fetched_at <= clock()
    assert lease_now(frontier, clock()).url == "http://b.de/"
    machine.now += 30.0
    assert lease_now(frontier, clock()).url == "http://a.de/"


def test_workers_whose_clocks_are_an_hour_off_take_turns(
    redis_server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = Config("de", strategy="bfs", seeds=("http://a.de/1", "http://a.de/2"), delay_s=0.0)
    options = replace(options, frontier=redis_server.url, crawl_name=uuid4().hex)
    crawls = []
    for number, error_s in enumerate([HOUR_S, -HOUR_S, 0.0]):
        clock = CrawlClock(lambda error_s=error_s: time.time() + error_s)  # type: ignore[misc]  # a default binds it
        crawls.append(open_crawl(replace(options, run_folder=tmp_path / str(number)), clock))
    now = time.time()
    assert [crawl.clock() for crawl in crawls] == pytest.approx([now] * 3, abs=60.0)
    assert "clock of this machine is 3600 s ahead of the Redis server's" in caplog.text
    assert "clock of this machine is -3600 s ahead of the Redis server's" in caplog.text
    crawls[0].start()
    lease = lease_now(crawls[0].frontier, crawls[0].clock())
    crawls[0].frontier.admit(lease, page(), now=crawls[0].clock())
    crawls[0].tend()
    assert crawls[1].frontier.next(crawls[1].clock()) is not None
    started = [rows(tmp_path / str(n), "SELECT started_at FROM sessions")[0][0] for n in range(3)]
    assert started == pytest.approx([now] * 3, abs=60.0)
    for crawl in crawls:
        crawl.close("finished")


def test_a_worker_that_joins_after_the_servers_clock_was_set_back_has_the_time_of_the_others(
    redis_server: RedisServer,
) -> None:
    client, name = connect(redis_server.url), uuid4().hex
    later = time.time() + HOUR_S
    other = RedisFrontier.join(client, name, FrontierRules(), Membership(worker="w1"), now=later)
    assert other.stored.crawl_time() == later
    other.next(later + 5.0)
    assert other.stored.crawl_time() == later + 5.0
    assert other.stored.time() < later
    other.stored.remove()
    other.close()


def test_a_date_of_retry_after_counts_from_the_date_of_the_answer() -> None:
    sent_at = 1e9
    headers = {"Retry-After": formatdate(sent_at + 30.0, usegmt=True)}
    assert retry_after_s(Response("http://a.de/", headers=headers), sent_at + 10.0) == 20.0
    headers["Date"] = formatdate(sent_at, usegmt=True)
    assert retry_after_s(Response("http://a.de/", headers=headers), sent_at + HOUR_S) == 30.0
    headers["Date"] = "yesterday"
    assert retry_after_s(Response("http://a.de/", headers=headers), sent_at) == 30.0


def test_a_crawl_on_a_machine_whose_clock_jumps_by_hours_does_not_notice(tmp_path: Path) -> None:
    """Its delays hold, its time-outs end, and its records are in order."""
    web = SmallWeb(pages=40)
    began_at = time.time()
    with loopback(web) as proxy:
        line = command(
            "lang=de", "strategy=bfs", "filter=none", "host_cap=0", f"seeds={web.url(0)}",
            JOBDIR=tmp_path, DOWNLOAD_DELAY=DELAY_S,
        )  # fmt: skip
        stepping = [sys.executable, "-m", "tests.support.steppingclock", "0.1", *line[2:]]
        done = processes.run_alone(*stepping, environment=environment(proxy.url))
    assert done.returncode == 0, done.stderr
    assert smallest_gap(proxy) >= DELAY_S
    pages = rows(tmp_path, "SELECT url, fetched_at FROM pages WHERE outcome = 'page' ORDER BY id")
    assert sorted(url for url, _ in pages) == sorted(web.urls())
    assert all(before <= after for (_, before), (_, after) in pairwise(pages))
    # The time at the start of the process may have been one of the wrong ones.
    assert abs(pages[0][1] - began_at) <= 2 * HOUR_S + 300.0
