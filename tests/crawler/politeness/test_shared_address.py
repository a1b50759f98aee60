"""The limit for hosts that share an address, without a network but for Redis."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.occupancy import OwnOccupancy
from crawler.politeness.shared_address import SharedAddresses
from crawler.politeness.waiting_room import STEP_S
from crawler.shared.addresses import SharedOccupancy
from crawler.shared.stored import StoredCrawl, connect
from tests.support.redisserver import RedisServer

HOSTS = [f"h{number}.de" for number in range(8)]


def test_an_address_lets_in_so_many_at_once() -> None:
    shared = SharedAddresses(OwnOccupancy(2))
    assert shared.enter("1.1.1.1", "a.de") is None
    assert shared.enter("1.1.1.1", "b.de") is None
    assert shared.enter("1.1.1.1", "c.de") == STEP_S
    assert shared.enter("1.1.1.1", "d.de") == 2 * STEP_S
    assert shared.enter("2.2.2.2", "e.de") is None
    shared.leave("1.1.1.1")
    assert shared.enter("1.1.1.1", "c.de") is None
    assert len(shared) == 1


def test_a_host_that_comes_too_early_again_waits_once() -> None:
    shared = SharedAddresses(OwnOccupancy(1))
    shared.enter("1.1.1.1", "a.de")
    assert [shared.enter("1.1.1.1", "b.de") for _ in range(3)] == [STEP_S] * 3
    assert len(shared) == 1


def test_nobody_waits_without_a_limit() -> None:
    shared = SharedAddresses(OwnOccupancy(0))
    assert [shared.enter("1.1.1.1", host) for host in HOSTS] == [None] * len(HOSTS)


@given(
    st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from("xy"), st.booleans()), max_size=60),
    st.integers(1, 3),
)
def test_no_more_than_the_limit_are_in_and_all_leave_nothing_behind(
    steps: list[tuple[str, str, bool]], at_once: int
) -> None:
    shared = SharedAddresses(OwnOccupancy(at_once))
    inside: list[str] = []
    for host, address, comes in steps:
        if comes:
            if shared.enter(address, host) is None:
                inside.append(address)
            assert inside.count(address) <= at_once
        elif inside:
            shared.leave(inside.pop())
    for address in inside:
        shared.leave(address)
    for host in HOSTS:
        assert shared.enter("x", host) is None
        shared.leave("x")
    assert len(shared) == 0


def test_the_limit_of_an_address_holds_for_all_workers_together(redis_server: RedisServer) -> None:
    name, now = uuid4().hex, [100.0]

    def worker() -> SharedOccupancy:
        crawl = StoredCrawl(connect(redis_server.url), name)
        return SharedOccupancy(crawl, 2, lambda: now[0], lease_s=10.0)

    one, other = worker(), worker()
    assert one.enter("1.1.1.1")
    assert other.enter("1.1.1.1")
    assert not one.enter("1.1.1.1")
    assert one.enter("2.2.2.2")
    other.leave("1.1.1.1")
    assert one.enter("1.1.1.1")
    assert not other.enter("1.1.1.1")
    # A worker that died stays no longer than its lease.
    now[0] = 109.0
    one.renew()
    now[0] = 115.0
    assert not other.enter("1.1.1.1")
    now[0] = 119.0
    assert other.enter("1.1.1.1")
    other.leave("1.1.1.1")
    StoredCrawl(connect(redis_server.url), name).remove()
    assert not connect(redis_server.url).keys(f"*{name}*")
