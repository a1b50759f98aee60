"""The limit for hosts that share an address, without a network."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.shared_address import STEP_S, SharedAddresses

HOSTS = [f"h{number}.de" for number in range(8)]


def test_an_address_lets_in_so_many_at_once() -> None:
    shared = SharedAddresses(2)
    assert shared.enter("1.1.1.1", "a.de") is None
    assert shared.enter("1.1.1.1", "b.de") is None
    assert shared.enter("1.1.1.1", "c.de") == STEP_S
    assert shared.enter("1.1.1.1", "d.de") == 2 * STEP_S
    assert shared.enter("2.2.2.2", "e.de") is None
    shared.leave("1.1.1.1")
    assert shared.enter("1.1.1.1", "c.de") is None
    assert len(shared) == 1


def test_a_host_that_comes_too_early_again_waits_once() -> None:
    shared = SharedAddresses(1)
    shared.enter("1.1.1.1", "a.de")
    assert [shared.enter("1.1.1.1", "b.de") for _ in range(3)] == [STEP_S] * 3
    assert len(shared) == 1


def test_nobody_waits_without_a_limit() -> None:
    shared = SharedAddresses(0)
    assert [shared.enter("1.1.1.1", host) for host in HOSTS] == [None] * len(HOSTS)


@given(
    st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from("xy"), st.booleans()), max_size=60),
    st.integers(1, 3),
)
def test_no_more_than_the_limit_are_in_and_all_leave_nothing_behind(
    steps: list[tuple[str, str, bool]], at_once: int
) -> None:
    shared = SharedAddresses(at_once)
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
