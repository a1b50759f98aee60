"""An ordering that learns: a worker alone decides as one process does, number by number."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from crawler.errors import SettingError
from crawler.frontier.base import PAGE, REDIRECT, SITEMAP, Lease, Link, Record, Sending
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import open_run
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from crawler.strategies.filters import make_filter
from crawler.strategies.focus.belief import Prior
from crawler.strategies.focus.evidence import Evidence
from tests.crawler.frontier.test_frontier_contract import META
from tests.crawler.shared.test_frontier_redis import Workers
from tests.support.redisserver import RedisServer

HOSTS = ["a.de", "b.a.de", "www.c.a.de", "b.de:81", "c.com", "d.org", "192.0.2.7", "e.co.uk"]
PATHS = ["", "x.html", "en/1", "en/2?a=/b/c", "de/1", "de/2/3/4/5/6", "de//1", "fr/é/1"]


class Pair:
    """The frontier in SQLite, and a worker that loses each answer once."""

    def __init__(self, server: RedisServer, folder: Path, rules: FrontierRules, now: float) -> None:
        self.connection = open_run(folder, META, now).connection
        self.embedded = SqliteFrontier(self.connection, rules, now=now)
        self.shared = Workers(server.url, rules, now, 1)

    def next(self, now: float) -> Lease | None:
        lease = self.embedded.next(now)
        assert self.shared.next(now) == lease
        return lease

    def send(
        self, lease: Lease, address: str | None, now: float, *, is_page: bool = True
    ) -> Sending:
        answer = self.embedded.send(lease, address, now=now, is_page=is_page)
        assert self.shared.send(lease, address, now=now, is_page=is_page) is answer
        return answer

    def scores(self) -> dict[str, float]:
        """Return the score of each queued URL, the same in both."""
        stored = self.connection.execute("SELECT url, score FROM urls WHERE queued = 1").fetchall()
        worker = self.shared.workers[0]
        client: Any = worker._client
        queued = {
            place[15:]: -tier
            for key in client.scan_iter(worker.key("queue:*"))
            for place, tier in client.zrange(key, 0, -1, withscores=True)
        }
        urls = dict(worker.queued_urls())
        scores = {urls[key]: score for key, score in queued.items()}
        assert scores == dict(stored)
        return scores

    def check(self) -> None:
        assert self.shared.counts() == self.embedded.counts()
        self.scores()
        counted = dict(self.connection.execute("SELECT name, value FROM counts WHERE value"))
        ours = self.shared.workers[0].totals()
        assert {name: ours.get(name, 0) for name in counted} == counted


@contextmanager
def pair(server: RedisServer, folder: Path, rules: FrontierRules) -> Iterator[Pair]:
    """Open both frontiers and compare them at the end."""
    both = Pair(server, folder, rules, 1000.0)
    yield both
    both.check()
    both.shared.close()
    both.connection.close()


def some_links(random: Random, number: int) -> list[Link]:
    def evidence() -> Evidence | None:
        named = random.choice([0.0, random.uniform(-8, 8), 0.5])
        declared = random.choice([0.0, 0.0, 0.0, 1.0, -1.0])
        return Evidence(named, random.uniform(-3, 3), code(), code(), declared)

    def code() -> float:
        return random.choice([-1.0, 0.0, 1.0])

    urls = [
        f"http://{random.choice(HOSTS)}/{random.choice(PATHS)}{random.randrange(9)}"
        for _ in range(number)
    ]
    return [Link(url, 0.0, evidence() if random.random() < 0.9 else None) for url in urls]


def some_record(random: Random, lease: Lease, now: float) -> Record:
    others = [REDIRECT, SITEMAP, "robots", "timeout"]
    kind = random.choice(["page"] * 8 + ["gone", "unlabelled", *others])
    if kind in others:
        return Record(kind, now, 301)
    if kind == "gone":
        return Record(PAGE, now, 404)
    canonical = None
    if random.random() < 0.1:
        canonical = f"http://{lease.host}/{random.choice(PATHS)}"
        canonical = None if canonical == lease.url else canonical
    if kind == "unlabelled":
        return Record(PAGE, now, 200, True, canonical=canonical)
    is_relevant = random.random() < (0.8 if "/de/" in lease.url or ".de/" in lease.url else 0.2)
    return Record(
        PAGE,
        now,
        200,
        True,
        is_relevant,
        "de" if is_relevant else "en",
        is_reference=True,
        canonical=canonical,
    )


def crawl_a_while(both: Pair, random: Random, steps: int) -> int:
    """Do the same to both; return the number of settled URLs."""
    now, leases, settled = 1000.0, list[Lease](), 0
    seeds = some_links(random, 6)
    assert both.shared.seed(seeds, now) == both.embedded.seed(seeds, now)
    for _ in range(steps):
        now += random.choice([0.5, 1.0, 7.0])
        if lease := both.next(now):
            leases.append(lease)
        if not leases or random.random() < 0.2:
            continue
        lease = leases.pop(random.randrange(len(leases)))
        match random.randrange(12):
            case 0:
                both.shared.release(lease, now=now)
                both.embedded.release(lease, now=now)
            case 1:
                url = lease.url.replace("http:", "https:") if random.random() < 0.5 else None
                both.shared.retry(lease, now=now, not_before=now + 2, url=url)
                both.embedded.retry(lease, now=now, not_before=now + 2, url=url)
            case 2:
                answer = both.send(lease, f"192.0.2.{random.randrange(2)}", now, is_page=False)
                if answer is not Sending.LATER:
                    leases.append(lease)
            case _:
                address = random.choice([None, "192.0.2.1", "2001:db8::1"])
                if both.send(lease, address, now) is Sending.LATER:
                    continue
                record = some_record(random, lease, now)
                links = some_links(random, random.choice([0, 3, 12]))
                answers = both.embedded.admit(lease, record, links, now=now)
                assert both.shared.admit(lease, record, links, now=now) == answers
                assert both.shared.counts() == both.embedded.counts()
                settled += 1
        if random.random() < 0.03:
            blocked = f"{random.choice(HOSTS)}/de"
            dropped = both.embedded.drop_blocked(lambda url: blocked in url)  # noqa: B023  # called at once
            assert both.shared.drop_blocked(lambda url: blocked in url) == dropped  # noqa: B023  # called at once
    return settled


@pytest.mark.parametrize(
    "changes",
    [
        {"host_cap": 0, "delay_s": 1.0},
        {"host_cap": 10, "domain_cap": 20, "address_cap": 10, "patience_s": 3.0, "delay_s": 2.0},
        {"host_cap": 4, "host_queue": 5, "patience_s": 3.0, "filter": make_filter("server")},
        {"host_cap": 0, "domain_cap": 200, "address_cap": 5, "doubts_up_to": None},
    ],
    ids=["plain", "slots", "full", "falls"],
)
def test_both_frontiers_decide_the_same(
    redis_server: RedisServer, tmp_path: Path, changes: dict[str, object]
) -> None:
    rules = FrontierRules(**{"doubts_up_to": 0.0, "prior": Prior.shipped(), **changes})  # type: ignore[arg-type]
    with pair(redis_server, tmp_path, rules) as both:
        assert crawl_a_while(both, Random(7), 250) > 20


def test_a_worker_with_another_prior_is_refused(redis_server: RedisServer) -> None:
    crawl, shipped = uuid4().hex, Prior.shipped()
    first = RedisFrontier(connect(redis_server.url), crawl, FrontierRules(prior=shipped), now=0.0)
    for other in (shipped.without(["declared"]), replace(shipped, strength=3.0), None):
        with pytest.raises(SettingError, match="prior="):
            RedisFrontier(connect(redis_server.url), crawl, FrontierRules(prior=other), now=0.0)
    first.close()


def test_the_weights_outlive_the_workers(redis_server: RedisServer, tmp_path: Path) -> None:
    rules = FrontierRules(host_cap=0, doubts_up_to=0.0, prior=Prior.shipped())
    with pair(redis_server, tmp_path, rules) as both:
        crawl_a_while(both, Random(3), 60)
        both.shared.close()
        both.embedded = SqliteFrontier(both.connection, rules, now=1e6)
        both.shared.now = 1e6
        both.shared.workers = [both.shared.join(0), both.shared.join(1)]
        assert both.next(1e6 + 1)


def test_a_worker_believes_what_the_others_learned(redis_server: RedisServer) -> None:
    """The first learns from 60 pages that a code in the URL says nothing about the language."""
    rules = FrontierRules(host_cap=0, doubts_up_to=0.0, prior=Prior.shipped())
    crawl = uuid4().hex
    first, second = (
        RedisFrontier(connect(redis_server.url), crawl, rules, Membership(worker=name), now=0.0)
        for name in ("first", "second")
    )
    coded = Evidence(0.0, 0.0, 0.0, 1.0, 0.0)
    first.seed([Link(f"http://host{n}.de/", 0.0, coded) for n in range(64)], 0.0)

    def settle(worker: RedisFrontier, now: float) -> float:
        lease = worker.next(now)
        assert lease is not None
        worker.admit(lease, Record(PAGE, now, 200, True, False, "en"), now=now)
        return lease.score

    at_first = settle(second, 0.0)
    learned = [settle(first, 0.0) for _ in range(60)][-1]
    assert learned < at_first - 1.0
    for worker in (first, second):
        settle(worker, 6.0)
    assert settle(second, 6.0) == pytest.approx(learned, abs=0.3)
    first.close()
    second.close()
