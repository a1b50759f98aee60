"""A crawl on a Redis Cluster whose servers die and whose slots move."""

from collections.abc import Callable

import pytest

from crawler.errors import StorageError
from crawler.frontier.base import Link
from crawler.frontier.rules import FrontierRules
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.support.rediscluster import RedisCluster, new_cluster

__all__ = ["new_cluster"]

NewCluster = Callable[..., RedisCluster]


def joined(cluster: RedisCluster) -> RedisFrontier:
    member = Membership(wait_s=60.0)
    return RedisFrontier(connect(cluster.url), "crawl", FrontierRules(), member, now=0.0)


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
    frontier._wait_s = 0.1
    with pytest.raises(StorageError, match="could not be reached"):
        frontier.next(0.0)
    frontier._wait_s = 60.0
    list(move)
    assert cluster.owner("{crawl}:") == 2
    assert lease_now(frontier).url == "http://h1.de/"
    cluster.servers[2].kill()
    assert lease_now(frontier).url == "http://h2.de/"
    assert cluster.owner("{crawl}:") == 3
    assert (frontier.counts().leased, frontier.counts().pages) == (2, 1)
    frontier.close()
