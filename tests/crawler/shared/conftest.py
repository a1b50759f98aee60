"""Workers that join the shared crawl of a test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from langfocus.crawler.frontier.rules import FrontierRules
from langfocus.crawler.run.folder import OpenRun, open_run
from langfocus.crawler.shared.addresses import SharedOccupancy
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.membership import Membership
from langfocus.crawler.shared.redis import RedisFrontier
from langfocus.crawler.shared.worker import Worker
from langfocus.crawler.strategies.links import Link
from langfocus.testing.frontiers import META
from tests.crawler.frontier.test_frontier_contract import lease_now, page
from tests.support.redisserver import RedisServer

Joiner = Callable[..., RedisFrontier]


@pytest.fixture
def join(redis_server: RedisServer) -> Iterator[Joiner]:
    """Return a function that joins a worker, with fields of rules and membership."""
    crawl = uuid4().hex
    joined = []
    of_membership = {field.name for field in fields(Membership)}

    def join(now: float = 0.0, **changes: Any) -> RedisFrontier:
        member = Membership(**{name: changes.pop(name) for name in of_membership & {*changes}})
        rules = FrontierRules(**changes)
        client = connect(redis_server.url)
        joined.append(
            RedisFrontier.join(client, crawl, rules, member, now=now, sleep=lambda _: None)
        )
        return joined[-1]

    yield join
    for frontier in joined:
        frontier._held.clear()  # of a crawl that may be lost
        frontier.close()


@dataclass
class Joined:
    """A worker with its folder."""

    folder: Path
    frontier: RedisFrontier
    run: OpenRun
    worker: Worker

    def settle(self, number: int = 1) -> None:
        for _ in range(number):
            self.frontier.admit(lease_now(self.frontier), page(), now=0.0)


@pytest.fixture
def joined(join: Joiner, tmp_path: Path) -> Iterator[Joined]:
    """Let a worker join that has some queued URLs."""
    frontier, run = join(), open_run(tmp_path, META, 0.0)
    frontier.seed([Link(f"http://h{n}.de/", 0.0) for n in range(6)], 0.0)
    occupancy = SharedOccupancy(frontier.stored, 0, lambda: 0.0, lease_s=60.0)
    yield Joined(tmp_path, frontier, run, Worker(frontier, occupancy, run.connection, every_s=15.0))
    run.connection.close()
