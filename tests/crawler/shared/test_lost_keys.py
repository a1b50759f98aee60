"""A server that deletes or changes keys of a crawl ends it in one line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.options.config import Config
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now, page, urls_of
from tests.crawler.shared.conftest import Joined, Joiner
from tests.support.crawls import rows
from tests.support.redisserver import RedisServer


def client_of(frontier: RedisFrontier) -> Any:
    return frontier.stored.whole.client


def delete_all(frontier: RedisFrontier) -> None:
    client = client_of(frontier)
    client.delete(*client.scan_iter(frontier.keys.key("*")))


def test_a_worker_of_a_crawl_that_was_begun_anew_meanwhile_ends(join: Joiner) -> None:
    old = join()
    delete_all(old)
    new = join()
    new.seed(urls_of("a.de", 1), 0.0)
    with pytest.raises(StorageError, match="nothing is kept of this crawl"):
        old.next(0.0)
    assert old.stored.is_lost
    assert new.next(0.0) is not None


@pytest.mark.parametrize("lost", ["urls", "config"])
def test_keys_that_vanish_end_both_workers_and_nobody_joins_again(join: Joiner, lost: str) -> None:
    one, other = join(host_cap=0), join(host_cap=0)
    one.seed(urls_of("a.de", 9), 0.0)
    client_of(one).delete(one.keys.key(lost))
    for worker in (one, other):
        with pytest.raises(StorageError, match="begin another crawl"):
            worker.next(0.0)
    with pytest.raises(StorageError, match="were changed of this crawl"):
        join(host_cap=0)


def test_a_crawl_without_its_seal_is_not_joined(join: Joiner) -> None:
    worker = join()
    client_of(worker).delete(worker.keys.key("seal"))
    with pytest.raises(StorageError, match=r"keys \(seal\)"):
        join()


def test_a_folder_keeps_its_counters_if_the_server_forgets_the_crawl(joined: Joined) -> None:
    joined.worker.tend(0.0)
    before = rows(joined.folder, "SELECT * FROM counts")
    assert before == [("stored", 6)]
    delete_all(joined.frontier)
    with pytest.raises(StorageError, match="nothing is kept"):
        joined.worker.tend(0.0)
    joined.worker.write_down()
    assert rows(joined.folder, "SELECT * FROM counts") == before


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_keys_is_refused_and_ends_a_worker_that_runs(
    own_server: RedisServer, policy: str
) -> None:
    client = connect(own_server.url)
    frontier = RedisFrontier.join(client, "crawl", FrontierRules(), now=0.0)
    frontier.stored.check_eviction()
    client.config_set("maxmemory-policy", policy)
    with pytest.raises(SettingError, match=rf"maxmemory-policy {policy}\).*noeviction"):
        RedisFrontier.join(connect(own_server.url), "crawl", FrontierRules(), now=0.0)
    with pytest.raises(StorageError, match="deletes keys when its memory is full"):
        frontier.stored.check_eviction()
    frontier.close()


@pytest.mark.parametrize("key", ["config", "seal", "counts:worker", "robots", "counts", "leased"])
@pytest.mark.parametrize("is_of_type", [True, False])
def test_what_another_program_writes_ends_a_worker_in_one_line(
    join: Joiner, key: str, is_of_type: bool
) -> None:
    worker = join(budget_pages=9)
    worker.seed([*urls_of("a.de", 2), *urls_of("b.de", 2)], 0.0)
    worker.set_robots("http://a.de", "", 0.0)
    lease, client = lease_now(worker), client_of(worker)
    name = worker.keys.key(key)
    if not is_of_type:
        client.delete(name)
        client.rpush(name, "\x1b")
    elif key in ("config", "seal"):
        client.set(name, "\x1b")
    else:
        client.hset(name, mapping=dict.fromkeys(client.hkeys(name), "\x1b"))

    def use_everything() -> None:
        worker.stored.totals()
        worker.robots("http://a.de")
        worker.admit(lease, page(), [Link("http://c.de/", 0.0)], now=0.0)

    with pytest.raises(StorageError) as caught:
        use_everything()
    assert "begin another crawl" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("shards", [1, 2])
def test_a_crawl_without_urls_ends_and_a_lost_one_fails(
    shards: int, own_server: RedisServer, tmp_path: Path
) -> None:
    options = Config.read({"lang": "de", "seeds": "http://a.de/", "strategy": "bfs"})
    shared: dict[str, Any] = {"frontier": own_server.url, "crawl_name": "c", "shards": shards}
    crawl = open_crawl(replace(options, run_folder=tmp_path, **shared))
    crawl.start()
    lease = crawl.queue.next()
    assert lease is not None
    crawl.visitor.failed(lease, "dns", is_final=True)
    assert not crawl.queue.has_more()
    client = connect(own_server.url)
    client.flushall()
    client.close()
    assert crawl.queue.has_more()
    with pytest.raises(StorageError, match="begin another"):
        crawl.queue.next()
    crawl.close("storage")


def test_a_crawl_whose_urls_never_become_ready_ends(
    own_server: RedisServer, tmp_path: Path
) -> None:
    options = Config.read({"lang": "de", "seeds": "http://a.de/", "strategy": "bfs"})
    config = replace(options, run_folder=tmp_path, frontier=own_server.url, crawl_name="c")
    crawl = open_crawl(config)
    crawl.start()
    assert crawl.queue.has_more()
    client = connect(own_server.url)
    client.delete(*client.scan_iter("*queue:*"))
    assert (crawl.queue.next(), crawl.queue.ready_at() is None) == (None, False)
    with pytest.raises(StorageError, match=r"keys \(queue\) were changed of .* begin another"):
        crawl.queue.next()
    crawl.close("storage")
    client.close()
