"""A crawl on a Redis Cluster whose servers die and whose slots move."""

from collections.abc import Callable

import pytest

from benchmarks.servers.processes import wait_until
from benchmarks.servers.rediscluster import RedisCluster
from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Admission, Sending
from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.shared.keyspace import connect, shard_of
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.sharded import ShardedFrontier
from langfocus.crawler.strategies.links import Link
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.support.rediscluster import new_cluster

__all__ = ["new_cluster"]

NewCluster = Callable[..., RedisCluster]


def joined(cluster: RedisCluster) -> RedisFrontier:
    member = Membership(wait_s=60.0)
    return RedisFrontier.join(connect(cluster.url), "crawl", FrontierRules(), member, now=0.0)


def test_a_crawl_goes_on_when_its_slot_moves_and_when_a_replica_takes_over(
    new_cluster: NewCluster,
) -> None:
    cluster = new_cluster(3, replicas=1)
    frontier = joined(cluster)
    frontier.seed([Link(f"http://h{n}.de/", -float(n)) for n in range(9)], 0.0)
    frontier.admit(lease_now(frontier), page(), now=0.0)
    # A slot whose keys are on their way is waited for: a script must not see half of them.
    move = cluster.move("{crawl}:", 2)
    next(move)
    frontier.keys.wait_s = 0.1
    with pytest.raises(StorageError, match="could not be reached"):
        frontier.next(0.0)
    frontier.keys.wait_s = 60.0
    list(move)
    assert cluster.owner("{crawl}:") == 2
    assert lease_now(frontier).url == "http://h1.de/"
    cluster.servers[2].kill()
    assert lease_now(frontier).url == "http://h2.de/"
    assert cluster.owner("{crawl}:") == 3
    assert (frontier.counts().leased, frontier.counts().pages) == (2, 1)
    frontier.close()


def test_links_leave_the_outbox_when_a_replica_has_them_too(new_cluster: NewCluster) -> None:
    cluster = new_cluster(3, replicas=1)
    member = Membership(shards=6, deliver_s=1e9)
    frontier = ShardedFrontier.join(connect(cluster.url), "crawl", FrontierRules(), member, now=0.0)
    frontier.seed([Link("http://h0.de/", 0.0)], 0.0)
    frontier.delivery.delivered_at = 0.0
    found = [Link(f"http://h{n}.de/", -float(n)) for n in range(1, 30)]
    sent = frontier.admit(lease_now(frontier), page(), found, now=0.0).count(Admission.SENT)
    with cluster.servers[3].stopped():
        frontier.delivery.deliver({*range(6)}, 0.0)
        assert frontier.stored.totals()["outbox"] > 0

    def is_delivered() -> bool:
        frontier.delivery.deliver({*range(6)}, 0.0)
        return not frontier.stored.totals()["outbox"]

    wait_until(is_delivered)
    assert 0 < sent < frontier.stored.totals()["stored"] == 30
    frontier.close()


def test_the_other_shards_go_on_while_a_server_is_away_and_nothing_is_lost(
    new_cluster: NewCluster,
) -> None:
    cluster = new_cluster(3)
    rules, member = FrontierRules(), Membership(shards=6, wait_s=60.0, poll_s=0.0, deliver_s=0.0)
    frontier = ShardedFrontier.join(connect(cluster.url), "crawl", rules, member, now=0.0)
    seeds = [Link(f"http://h{n}.de/", -float(n)) for n in range(60)]
    frontier.seed(seeds, 0.0)
    leases = [lease_now(frontier) for _ in range(12)]
    away = {n for n in range(6) if cluster.owner(f"{{crawl/{n:02d}}}:") == 2}
    assert 0 < len(away) < 6
    cluster.servers[2].kill()
    for held in leases:
        frontier.admit(held, page(), [Link(f"{held.url}2", 0.0), *seeds], now=0.0)
    fetched = [held.url for held in leases]
    while lease := frontier.next(0.0):
        assert shard_of(lease.host, 6) not in away
        assert frontier.send(lease, "192.0.2.1", now=0.0) is Sending.NOW
        fetched.append(lease.url)
        frontier.admit(lease, page(), now=0.0)
    frontier.renew(0.0)
    frontier.stored.check_eviction()
    assert frontier.stored.is_durable()
    late = [Link(f"http://late{n}.de/", 0.0) for n in range(20)]
    answers = frontier.seed(late, 0.0)
    assert {*answers} == {Admission.STORED, Admission.SENT}
    seeds += late
    assert len(fetched) > 12
    cluster.start(2)

    def is_back() -> bool:
        frontier.renew(0.0)
        return not any(shard.keys.is_away for shard in frontier.shards)

    wait_until(is_back)
    while lease := frontier.next(0.0):
        fetched.append(lease.url)
        frontier.admit(lease, page(), now=0.0)
    assert sorted(fetched) == sorted(
        [each.url for each in seeds] + [f"{held.url}2" for held in leases]
    )
    counts = frontier.counts()
    assert (counts.pages, counts.queued, counts.leased) == (92, 0, 0)
    frontier.close()
