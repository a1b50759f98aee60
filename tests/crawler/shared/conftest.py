"""Workers that join the shared crawl of a test."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any
from uuid import uuid4

import pytest

from crawler.frontier.rules import FrontierRules
from crawler.shared.membership import Membership
from crawler.shared.redis import RedisFrontier
from crawler.shared.stored import connect
from tests.support.redisserver import RedisServer

Joiner = Callable[..., RedisFrontier]


@pytest.fixture
def join(redis_server: RedisServer) -> Iterator[Joiner]:
    """Let a worker join the crawl of this test, with rules and what makes its membership."""
    crawl = uuid4().hex
    joined = []
    of_membership = {field.name for field in fields(Membership)}

    def join(now: float = 0.0, **changes: Any) -> RedisFrontier:
        member = Membership(**{name: changes.pop(name) for name in of_membership & {*changes}})
        rules = FrontierRules(**changes)
        client = connect(redis_server.url)
        joined.append(RedisFrontier(client, crawl, rules, member, now=now, sleep=lambda _: None))
        return joined[-1]

    yield join
    for frontier in joined:
        frontier._held.clear()  # of a crawl that may be lost
        frontier.close()
