"""Crawls that share one frontier in Redis: processes that join, divide the work, die, come back."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

import pytest

from benchmarks.killoutputs import misarchived
from benchmarks.servers import processes
from benchmarks.servers.loopback import Proxy, loopback
from benchmarks.servers.processes import HANG_S, Done, Forked, wait_until
from langfocus.crawler.shared.keyspace import connect
from tests.support.crawls import (
    crawl,
    environment,
    finished,
    rows,
    smallest_gap,
    started,
    summary,
    wait_for,
)
from tests.support.redisserver import RedisServer
from tests.support.smallweb import SmallWeb

DELAY_S = 0.05
LEASE_S = 60
MORTAL_LEASE_S = 10
"""Where the server dies: a lease whose end it forgot holds its host for so long."""
SHORT_LEASE_S = 2
"""Of a crawl with one worker at a time: a busy machine may let a worker pause for seconds."""


class SharedCrawl:
    """Workers of one crawl of a small web, each with a separate folder."""

    def __init__(self, server: RedisServer, proxy: Proxy, web: SmallWeb, folder: Path) -> None:
        self.server, self.proxy, self.web, self.folder = server, proxy, web, folder
        self.name, self.lease_s = uuid4().hex, LEASE_S
        # Without a filter: which links it drops depends on the order of pages.
        self.arguments = ["lang=de", "strategy=bfs", "filter=none", "host_cap=0"]
        self.arguments.append(f"seeds={web.url(0)}")

    def settings(self, worker: str, **more: object) -> dict[str, object]:
        return {
            "JOBDIR": self.folder / worker,
            "DOWNLOAD_DELAY": DELAY_S,
            "LANGFOCUS_FRONTIER": self.server.url,
            "LANGFOCUS_CRAWL": self.name,
            "LANGFOCUS_LEASE": self.lease_s,
            "LANGFOCUS_CONTACT": f"{worker}@example.org",
            **more,
        }

    def run(self, worker: str, *more: str, **settings: object) -> Done:
        arguments = [*self.arguments, *more]
        return crawl(*arguments, proxy=self.proxy.url, **self.settings(worker, **settings))

    def started(
        self, worker: str, *more: str, **settings: object
    ) -> AbstractContextManager[Forked]:
        arguments = [*self.arguments, *more]
        return started(*arguments, proxy=self.proxy.url, **self.settings(worker, **settings))

    def agents(self) -> set[str]:
        """The names of the workers that have sent a request."""
        return {access.user_agent for access in self.proxy.log}

    def merge(self, *more: str) -> None:
        folders = [str(path.parent) for path in sorted(self.folder.glob("worker*/run.db"))]
        done = merge(str(self.folder / "all"), *folders, *more)
        assert done.returncode == 0, done.stderr

    def records(self) -> list[tuple[str, str]]:
        return rows(self.folder / "all", "SELECT url, outcome FROM pages")

    def pages(self) -> list[str]:
        return sorted(url for url, outcome in self.records() if outcome == "page")

    def shares(self) -> list[int]:
        folders = sorted(self.folder.glob("worker*"))
        return [rows(folder, "SELECT COUNT(*) FROM pages")[0][0] for folder in folders]


def merge(*arguments: str) -> Done:
    return processes.run("langfocus", "merge", *arguments, environment=environment(None))


def ended(process: Forked) -> str:
    output, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, output
    return output


@pytest.fixture
def shared(redis_server: RedisServer, tmp_path: Path) -> Iterator[SharedCrawl]:
    web = SmallWeb(pages=100)
    with loopback(web, latency_s=0.01) as proxy:
        yield SharedCrawl(redis_server, proxy, web, tmp_path)


def test_two_workers_settle_each_url_once_and_leave_one_report(shared: SharedCrawl) -> None:
    # Each holds one URL of its own before either of them may go on.
    shared.proxy.answers = 8
    with (
        shared.started("worker1", CONCURRENT_REQUESTS=1, LANGFOCUS_WARC=True) as first,
        shared.started("worker2", CONCURRENT_REQUESTS=1, LANGFOCUS_WARC=True) as second,
    ):
        wait_until(lambda: len(shared.agents()) == 2, first, second)
        shared.proxy.answers = None
        ended(first)
        ended(second)
    shared.merge(shared.server.url)
    workers = sorted(shared.folder.glob("worker*"))
    assert misarchived(workers) == misarchived([shared.folder / "all"]) == []
    assert len(list((shared.folder / "all").glob("pages-*.warc.gz"))) == 2
    assert shared.pages() == sorted(shared.web.urls())
    assert all(shared.shares())
    assert sum(shared.shares()) == len(shared.records())
    assert smallest_gap(shared.proxy) >= DELAY_S
    figures = summary(shared.folder / "all")
    shares = [summary(shared.folder / worker) for worker in ("worker1", "worker2")]
    assert figures["pages"] == 100
    for name in ("relevant", "labelled", "bytes"):
        assert figures[name] == sum(share[name] for share in shares)
    assert Counter(figures["counts"]) == sum((Counter(s["counts"]) for s in shares), Counter())
    assert figures["counts"]["stored"] == len(shared.records())
    assert (shared.folder / "all" / "report.html").exists()


def test_the_page_budget_holds_for_all_workers_together(shared: SharedCrawl) -> None:
    with (
        shared.started("worker1", "pages=50") as first,
        shared.started("worker2", "pages=50") as second,
    ):
        ended(first)
        ended(second)
    shared.merge()
    assert Counter(outcome for _, outcome in shared.records())["page"] == 50
    # One that comes later finds nothing to do, and with a larger budget goes on.
    late = shared.run("worker3", "pages=50")
    assert late.returncode == 0, late.stderr
    assert "nothing is left to do" in late.stderr
    assert shared.run("worker3", "pages=55").returncode == 0
    assert shared.shares()[2] >= 5
    shared.merge()
    assert summary(shared.folder / "all")["pages"] == 55


def test_a_worker_that_is_killed_leaves_its_urls_and_its_records(shared: SharedCrawl) -> None:
    shared.proxy.answers, shared.lease_s = 40, SHORT_LEASE_S
    with shared.started("worker1") as first:
        wait_for(shared.proxy, 40, first)
        first.send_signal(signal.SIGKILL)
    shared.proxy.answers = None
    assert shared.run("worker2").returncode == 0
    folder = shared.folder
    shared.merge(shared.server.url)
    assert shared.pages() == sorted(shared.web.urls())
    assert smallest_gap(shared.proxy) >= DELAY_S
    assert "in none of these folders" in merge(f"{folder}/all", f"{folder}/worker2").stderr
    # What it settled last is with the server; when it comes back it writes that down.
    assert shared.run("worker1").returncode == 0
    shared.merge()
    assert sum(shared.shares()) == len(shared.records())
    shared.merge(shared.server.url, "--remove")
    again = merge(f"{folder}/all", f"{folder}/worker1", shared.server.url)
    assert "no crawl" in again.stderr
    forgotten = shared.run("worker1")
    assert forgotten.returncode == 1
    assert "use a new folder" in forgotten.stderr


@pytest.fixture
def mortal(own_server: RedisServer, tmp_path: Path) -> Iterator[SharedCrawl]:
    """A crawl whose server the test may kill."""
    web = SmallWeb(pages=100)
    with loopback(web) as proxy:
        crawl = SharedCrawl(own_server, proxy, web, tmp_path)
        crawl.lease_s = MORTAL_LEASE_S
        yield crawl


def test_a_server_that_goes_and_comes_back_costs_nothing_but_time(mortal: SharedCrawl) -> None:
    with mortal.started("worker1") as first, mortal.started("worker2") as second:
        for requests in (20, 60):
            mortal.proxy.answers = requests
            wait_for(mortal.proxy, requests, first, second)
            mortal.server.kill()
            mortal.server.start()
        mortal.proxy.answers = None
        ended(first)
        ended(second)
    mortal.merge(mortal.server.url)
    assert mortal.pages() == sorted(mortal.web.urls())
    assert smallest_gap(mortal.proxy) >= DELAY_S


def test_a_worker_whose_server_stays_away_can_be_stopped(mortal: SharedCrawl) -> None:
    mortal.proxy.answers, mortal.lease_s = 20, SHORT_LEASE_S
    with mortal.started("worker1") as worker:
        wait_for(mortal.proxy, 20, worker)
        mortal.server.kill()
        worker.send_signal(signal.SIGINT)
        mortal.proxy.answers = None
        output, _ = worker.communicate(timeout=HANG_S)
    assert worker.returncode == 1
    assert "could not be reached" in output
    assert "continues" in output
    mortal.server.start()
    done = mortal.run("worker1")
    assert done.returncode == 0, done.stderr
    assert summary(mortal.folder / "worker1")["pages"] == 100


def test_workers_whose_server_loses_keys_end_in_one_line_and_their_folders_merge(
    mortal: SharedCrawl,
) -> None:
    client = connect(mortal.server.url)
    mortal.proxy.answers = 20
    with mortal.started("worker1") as first, mortal.started("worker2") as second:
        wait_for(mortal.proxy, 20, first, second)
        client.flushall()
        client.close()
        mortal.proxy.answers = None
        outputs = [worker.communicate(timeout=HANG_S)[0] for worker in (first, second)]
    for worker, output in zip((first, second), outputs, strict=True):
        assert worker.returncode == 1
        assert "Traceback" not in output
        assert output.splitlines()[-1].startswith("langfocus: ")
        assert output.endswith("begin another crawl (LANGFOCUS_CRAWL)\n")
    assert smallest_gap(mortal.proxy) >= DELAY_S
    assert mortal.run("worker3").returncode == 0
    mortal.merge()
    assert mortal.pages() == sorted(mortal.web.urls())


def test_only_workers_of_one_crawl_join_and_are_merged(shared: SharedCrawl) -> None:
    assert shared.run("worker1", "pages=1").returncode == 0
    refused = shared.run("worker2", "lang=fr")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "lang=de, not with lang=fr" in refused.stderr
    alone = shared.folder / "alone"
    finished("lang=de", "web=sample", "pages=1", JOBDIR=alone)
    worker = shared.folder / "worker1"
    for arguments, fault in (
        ([shared.folder / "all", alone], "no worker of a shared crawl"),
        ([alone, worker], "not a merged one"),
        ([shared.folder / "all", worker, shared.folder / "none"], "not the folder of a run"),
        ([shared.folder / "all"], "WORKER_FOLDER"),
        ([shared.folder / "all", worker, "unix:///nowhere/redis.sock"], "could not be reached"),
    ):
        refused = merge(*map(str, arguments))
        assert refused.returncode in {1, 2}
        assert fault in refused.stderr
    assert not (shared.folder / "all").exists()
    assert json.loads((alone / "summary.json").read_text())["pages"] == 1


def test_workers_crawl_with_plug_ins_and_one_with_another_is_refused(
    shared: SharedCrawl,
) -> None:
    asked = ["strategy=tests.support.plugins:Latest", "filter=tests.support.plugins:Latest"]
    for worker in ("worker1", "worker2"):
        done = shared.run(worker, *asked)
        assert done.returncode == 0, done.stderr
    done = shared.run("worker3", asked[0], "filter=tests.support.plugins:Other")
    assert done.returncode == 2
    assert "filter=tests.support.plugins:Latest" in done.stderr
    found = rows(
        shared.folder / "worker1",
        "SELECT url, score FROM pages WHERE depth > 0 AND outcome = 'page'",
    )
    assert found
    assert all(not url.endswith("3") for url, _ in found)
    assert all(score == float(url.rpartition("/")[2]) for url, score in found)
    assert summary(shared.folder / "worker1")["counts"]["rejected"] > 0
