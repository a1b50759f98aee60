"""Real Redis Clusters on loopback that a test may kill."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.servers.rediscluster import RedisCluster
from benchmarks.servers.redisserver import RedisServer


@pytest.fixture
def new_cluster(redis_server: RedisServer) -> Iterator[Callable[..., RedisCluster]]:
    """Start clusters on loopback."""
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        made: list[RedisCluster] = []

        def make(masters: int, replicas: int = 0) -> RedisCluster:
            made.append(RedisCluster(Path(folder), masters, replicas))
            return made[-1]

        yield make
        for cluster in made:
            cluster.kill()
