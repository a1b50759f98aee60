"""A server that deletes keys of a crawl is noticed, and no host is asked before its delay."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from crawler.config import Config
from crawler.errors import SettingError, StorageError
from crawler.frontier.base import Lease, Link, Sending
from crawler.frontier.rules import FrontierRules
from crawler.opening import open_crawl
from crawler.run import open_run
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from crawler.shared.worker import Worker
from crawler.strategies.filters import make_filter
from crawler.strategies.focus.belief import Prior
from crawler.strategies.orderings import Draw
from tests.crawler.frontier.test_frontier_contract import META, page
from tests.support.crawls import rows
from tests.support.redisserver import RedisServer

DELAY_S = 5.0
HOSTS, PAGES = 8, 4
HARMLESS = {"doubt", "hopes", "reply:CLIENT"}
"""Keys whose loss changes at most the order of some URLs."""
UNNOTICED = {"seen:", "counts:", "queue:"}
"""Keys whose loss is noticed with that of others, or (a queue) when only lost URLs are left."""


class Halfway:
    """A crawl of two workers in which some hosts are leased, some rest, and some are ready."""

    def __init__(self, url: str, draw: Draw, *, learns: bool = False) -> None:
        self.client, self.now, self.name = connect(url), 1000.0, uuid4().hex
        rules = FrontierRules(
            filter=make_filter("server", tolerance=9),
            draw=draw,
            delay_s=DELAY_S,
            host_queue=20,
            domain_cap=1000,
            address_cap=1000,
            doubts_up_to=0.0,
            patience_s=1.0,
        )
        if learns:
            rules = replace(rules, prior=Prior.shipped())
        self.workers = [
            RedisFrontier(
                connect(url), self.name, rules, Membership(worker=f"w{n}"), now=self.now,
                sleep=lambda _: None,
            )
            for n in range(2)
        ]  # fmt: skip
        self.fetched: list[str] = []
        self.contacts: dict[str, float] = {}
        self.turn = 0
        self.leases: list[tuple[RedisFrontier, Lease]] = []
        seeds = [Link(f"http://h{n}.de/0", n % 3 - 1.0) for n in range(HOSTS)]
        self.workers[0].seed(seeds, self.now)
        self.workers[0].set_delay("h1.de", 2 * DELAY_S)
        self.workers[0].set_robots("http://h1.de", "", self.now)
        for _ in range(HOSTS + 3):
            self.step()
            self.now += 0.5
        self.lease()
        self.lease()

    def lease(self) -> bool:
        self.turn = 1 - self.turn
        worker = self.workers[self.turn]
        lease = worker.next(self.now)
        if lease is None:
            return False
        before = self.contacts.get(lease.host, -1e9)
        assert self.now - before >= DELAY_S * (2 if lease.host == "h1.de" else 1)
        self.contacts[lease.host] = self.now
        assert worker.send(lease, "192.0.2.1", now=self.now) is Sending.NOW
        self.leases.append((worker, lease))
        return True

    def step(self) -> bool:
        """Lease a URL and settle the oldest lease; False if there is nothing to do now."""
        is_leased = self.lease()
        if not self.leases:
            return is_leased
        worker, lease = self.leases.pop(0)
        host, _, number = lease.url.removeprefix("http://").partition("/")
        more = [Link(f"http://{host}/{n}", n / 2) for n in (int(number) + 1, 1) if n < PAGES]
        other = f"http://h{(int(host[1:-3]) + 1) % HOSTS}.de/{number}"
        told = replace(page(), canonical=f"http://{host}/own")
        worker.admit(lease, told, [*more, Link(other, 0.0)], now=self.now)
        self.contacts[lease.host] = self.now
        self.fetched.append(lease.url)
        return True

    def all_keys(self) -> list[str]:
        return sorted(self.client.scan_iter(f"{{{self.name}}}:*"))

    def go_on(self) -> None:
        """Crawl to the end; raises what a worker raises."""
        waits = 0
        while waits < 40:
            waits = 0 if self.step() else waits + 1
            self.now += 0.5
            for worker in self.workers:
                worker.renew(self.now)

    def told_at_the_end(self) -> str:
        """Crawl to the end and return the message of the error that ends it, "" without one."""
        try:
            self.go_on()
        except StorageError as error:
            return str(error)
        return ""

    def close(self) -> None:
        self.client.delete(*(self.all_keys() or ["none"]))
        for worker in self.workers:
            worker._held.clear()
            worker.close()
        self.client.close()


@pytest.fixture(params=Draw)
def halfway(redis_server: RedisServer, request: pytest.FixtureRequest) -> Iterator[Halfway]:
    learns = request.param == "learns"
    crawl = Halfway(redis_server.url, Draw.FIRST if learns else request.param, learns=learns)
    yield crawl
    crawl.close()


def kind_of(key: str) -> str:
    """Return the kind of a key, as the Lua files name it."""
    name = key.partition("}:")[2]
    name = re.sub(r"^(seen|queue|reply|records|counts):.*", r"\1:", name)
    return {"reply:": "reply:CLIENT"}.get(name, name)


ALL = sorted(f"http://h{host}.de/{number}" for host in range(HOSTS) for number in range(PAGES))


def test_a_crawl_that_lost_nothing_reaches_every_url_once(halfway: Halfway) -> None:
    halfway.go_on()
    assert sorted(halfway.fetched) == ALL


@pytest.mark.parametrize("halfway", [*Draw, "learns"], indirect=True)
def test_the_loss_of_any_key_ends_the_crawl_or_changes_no_page(
    redis_server: RedisServer, halfway: Halfway
) -> None:
    rules = halfway.workers[0]._rules
    kinds = {kind_of(key): key.partition("}:")[2] for key in halfway.all_keys()}
    assert len(kinds) >= 20
    for kind, key in kinds.items() - {(kind, kinds[kind]) for kind in UNNOTICED}:
        crawl = Halfway(redis_server.url, rules.draw, learns=rules.prior is not None)
        if not crawl.client.delete(f"{{{crawl.name}}}:{key}"):
            continue
        told = crawl.told_at_the_end()
        crawl.close()
        assert told.isprintable()
        if kind in HARMLESS:
            assert (kind, told, sorted(crawl.fetched)) == (kind, "", ALL)
        else:
            assert "begin another crawl" in told, kind


@pytest.mark.parametrize("seed", range(6))
def test_keys_that_vanish_at_any_moment_end_both_workers_and_nobody_joins_again(
    halfway: Halfway, seed: int
) -> None:
    random = Random(seed)
    for _ in range(random.randrange(10)):
        halfway.step()
        halfway.now += 0.5
    gone = [key for key in halfway.all_keys() if kind_of(key) not in HARMLESS]
    halfway.client.delete(*random.sample(gone, len(gone) // 3))
    with pytest.raises(StorageError):
        halfway.go_on()
    for worker in halfway.workers:
        with pytest.raises(StorageError, match="begin another crawl"):
            worker.renew(halfway.now)
    member = Membership(worker="w3")
    with pytest.raises(StorageError, match=f"deleted from this crawl, {halfway.name}, in Redis; "):
        RedisFrontier(
            halfway.client, halfway.name, halfway.workers[0]._rules, member, now=halfway.now
        )


def test_a_worker_of_a_crawl_that_was_begun_anew_meanwhile_ends(halfway: Halfway) -> None:
    halfway.client.delete(*halfway.all_keys())
    rules = halfway.workers[0]._rules
    new = RedisFrontier(halfway.client, halfway.name, rules, now=halfway.now)
    new.seed([Link("http://a.de/", 0.0)], halfway.now)
    with pytest.raises(StorageError, match="nothing is kept of this crawl"):
        halfway.workers[0].next(halfway.now)
    assert new.next(halfway.now) is not None
    new.close()


def test_a_folder_keeps_its_counters_if_the_server_forgets_the_crawl(
    halfway: Halfway, tmp_path: Path
) -> None:
    run = open_run(tmp_path, META, 0.0)
    occupancy = SharedOccupancy(halfway.workers[0], 0, lambda: 0.0, lease_s=60.0)
    worker = Worker(halfway.workers[0], occupancy, run.connection, every_s=15.0)
    worker.tend(halfway.now)
    before = rows(tmp_path, "SELECT * FROM counts")
    assert before
    halfway.client.delete(*halfway.all_keys())
    with pytest.raises(StorageError, match="nothing is kept"):
        worker.tend(halfway.now)
    worker.write_down()
    assert rows(tmp_path, "SELECT * FROM counts") == before
    run.connection.close()


POLICIES = [
    f"{kind}-{how}"
    for kind, how in [
        ("allkeys", "lru"), ("allkeys", "lfu"), ("allkeys", "random"), ("volatile", "lru"),
        ("volatile", "lfu"), ("volatile", "random"), ("volatile", "ttl"),
    ]
]  # fmt: skip


def test_a_server_that_evicts_keys_is_refused_and_ends_a_worker_that_runs(
    own_server: RedisServer, tmp_path: Path
) -> None:
    client = connect(own_server.url)
    frontier = RedisFrontier(client, "crawl", FrontierRules(), now=0.0)
    run = open_run(tmp_path, META, 0.0)
    occupancy = SharedOccupancy(frontier, 0, lambda: 0.0, lease_s=60.0)
    worker = Worker(frontier, occupancy, run.connection, every_s=15.0)
    worker.tend(0.0)
    for policy in POLICIES:
        client.config_set("maxmemory-policy", policy)
        with pytest.raises(SettingError, match=rf"maxmemory-policy {policy}\).*noeviction"):
            RedisFrontier(connect(own_server.url), "crawl", FrontierRules(), now=0.0)
        with pytest.raises(StorageError, match="deletes keys when its memory is full"):
            worker.tend(0.0)
    client.config_set("maxmemory-policy", "noeviction")
    worker.tend(0.0)
    frontier.close()
    run.connection.close()


@pytest.mark.parametrize("kind", ["config", "seal", "counts:", "robots", "leases", "counts"])
@pytest.mark.parametrize("is_of_type", [True, False])
def test_what_another_program_writes_ends_a_worker_in_one_line(
    halfway: Halfway, kind: str, is_of_type: bool
) -> None:
    key = next(key for key in halfway.all_keys() if kind_of(key) == kind)
    if not is_of_type:
        halfway.client.delete(key)
        (halfway.client.set if kind != "config" else halfway.client.rpush)(key, "\x1b")
    elif kind in ("config", "seal"):
        halfway.client.set(key, "\x1b")
    elif kind == "leases":
        pytest.skip("any member and score is one of a lease")
    else:
        for name in halfway.client.hkeys(key):
            halfway.client.hset(key, name, "\x1b")
    with pytest.raises(StorageError) as caught:
        use_everything(halfway)
    assert "begin another crawl" in str(caught.value)
    assert str(caught.value).isprintable()


def use_everything(crawl: Halfway) -> None:
    for _ in range(3):
        crawl.workers[0].counts()
        crawl.workers[0].totals()
        crawl.workers[0].robots("http://h1.de")
        crawl.step()
        crawl.now += 1


def test_a_crawl_whose_urls_never_become_ready_ends(
    own_server: RedisServer, tmp_path: Path
) -> None:
    options = Config.read({"lang": "de", "seeds": "http://a.de/", "strategy": "bfs"})
    config = replace(options, run_folder=tmp_path, frontier=own_server.url, crawl_name="c")
    crawl = open_crawl(config)
    crawl.start()
    assert crawl.has_more()
    client = connect(own_server.url)
    client.delete(*(key for key in client.scan_iter("*") if kind_of(key) == "queue:"))
    assert (crawl.next(), crawl.ready_at() is None) == (None, False)
    with pytest.raises(StorageError, match=r"keys \(queue\) were deleted .* begin another crawl"):
        crawl.next()
    crawl.close("storage")
    client.close()
