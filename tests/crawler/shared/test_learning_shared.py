"""An ordering that learns: a worker alone decides as one process does, number by number."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from crawler.errors import SettingError
from crawler.frontier.base import PAGE, REDIRECT, SITEMAP, Lease, Link, Record, Sending
from crawler.frontier.rules import FrontierRules
from crawler.frontier.sqlite import SqliteFrontier
from crawler.run import open_run
from crawler.shared.learner import MERGED_EVERY_S
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from crawler.strategies.filters import make_filter
from crawler.strategies.focus.belief import Belief, Prior, Standing
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
        assert self.shared.send(lease, address, now=now, is_page=is_page) == answer
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
    ids=["plain", "slots", "full", "penalties"],
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
    for other in (replace(shipped, strength=3.0), None):
        with pytest.raises(SettingError, match="prior="):
            RedisFrontier(connect(redis_server.url), crawl, FrontierRules(prior=other), now=0.0)
    first.close()


def settle_some(workers: Sequence[RedisFrontier], number: int, now: float) -> None:
    """Let workers fetch pages in turn; those of .de are relevant."""
    for turn in range(number):
        worker = workers[turn % len(workers)]
        lease = worker.next(now)
        assert lease is not None
        is_relevant = lease.host.endswith(".de")
        language = "de" if is_relevant else "en"
        worker.admit(lease, Record(PAGE, now, 200, True, is_relevant, language), now=now)


def belief_of(worker: RedisFrontier) -> Belief:
    assert worker._learner is not None
    return worker._learner._belief


def test_workers_believe_what_all_of_them_learned(redis_server: RedisServer) -> None:
    rules = FrontierRules(host_cap=0, doubts_up_to=0.0, prior=Prior.shipped())
    together = Workers(redis_server.url, rules, 1000.0)
    first, second = together.workers
    links = [
        Link(f"http://h{n}.{('de', 'com')[n % 2]}/", 0.0, Evidence(1.0 - n % 3)) for n in range(90)
    ]
    first.seed(links, 1000.0)
    settle_some([first, second], 40, 1000.0)
    assert belief_of(first).labelled < 40
    settle_some([second, first], 2, 1000.0 + MERGED_EVERY_S)
    assert belief_of(first).labelled == 42
    together.close()
    third = together.join(0)
    assert belief_of(third).labelled == 42
    assert np.allclose(belief_of(third).mean, belief_of(first).mean)
    assert not np.allclose(belief_of(third).mean, Belief(Prior.shipped()).mean, atol=0.05)
    third.close()


def test_the_sum_of_what_two_beliefs_learned_is_what_one_learns() -> None:
    """Close to it: each page is learned at the mean of its time."""
    prior = Prior.shipped()
    random, both, parts = Random(1), Belief(prior), [Belief(prior), Belief(prior)]
    for number in range(60):
        is_relevant = random.random() < 0.4
        named = random.gauss(2.0 if is_relevant else -2.0, 1.0)
        evidence = Evidence(named, 0.0, float(is_relevant))
        standing = Standing(evidence, (1, 0, 0, 0), (3, is_relevant, 1, 1))
        for belief in (both, parts[number % 2]):
            belief.learn(standing, is_relevant=is_relevant)
    before = Belief(prior).sums()
    merged = Belief(prior)
    merged.take_over(before + sum(part.sums() - before for part in parts))
    assert (merged.labelled, merged.relevant) == (both.labelled, both.relevant)
    apart, apart_before = (
        abs(belief.mean - both.mean) / np.sqrt(np.diagonal(np.array(prior.covariance)))
        for belief in (merged, parts[0])
    )
    assert apart.max() < 0.4 < apart_before.max()
    with pytest.raises(ValueError, match="of another version"):
        merged.take_over(np.zeros(7))
    assert (np.diagonal(merged.covariance) < np.diagonal(np.array(prior.covariance))).all()
