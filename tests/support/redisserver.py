"""A Redis server for all tests, and one that a test may kill."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.servers.redisserver import RedisServer

__all__ = ["NO_SERVER", "RedisServer"]

NO_SERVER = "there is no redis-server to start"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """Start one server for all tests; each test creates a separate crawl."""
    if shutil.which("redis-server") is None:
        pytest.skip(NO_SERVER)
    yield from _running()


@pytest.fixture
def own_server(redis_server: RedisServer) -> Iterator[RedisServer]:
    """Start a server that the test may kill."""
    yield from _running()


def _running() -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        server = RedisServer(Path(folder))
        server.start()
        yield server
        server.kill()
