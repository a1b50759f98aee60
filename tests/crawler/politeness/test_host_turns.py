"""The turns of a host that is asked for the rules of others, without a network."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.politeness.host_turns import GRACE_S, HostTurns

HUB = "hub.de"
DELAY_S = 5.0


def delay() -> float:
    return DELAY_S


def test_the_own_leases_of_a_host_are_left_to_the_frontier() -> None:
    turns = HostTurns(60.0)
    for now in (0.0, 0.1, 0.2):
        assert turns.enter(HUB, HUB, now, delay) is None
        turns.leave(HUB, HUB, now)


def test_a_guest_waits_for_the_end_and_the_rest_of_an_own_lease() -> None:
    turns = HostTurns(60.0)
    assert turns.enter(HUB, HUB, 0.0, delay) is None
    assert (turns.enter(HUB, "a.de", 1.0, delay) or 0.0) > DELAY_S
    turns.leave(HUB, HUB, 2.0)
    assert turns.enter(HUB, "a.de", 3.0, delay) == 4.0
    assert turns.enter(HUB, "a.de", 7.0, delay) is None


def test_an_own_lease_waits_for_the_end_and_the_rest_of_a_guest() -> None:
    turns = HostTurns(60.0)
    assert turns.enter(HUB, "a.de", 0.0, delay) is None
    assert turns.enter(HUB, HUB, 1.0, delay) is not None
    turns.leave(HUB, "a.de", 2.0)
    assert turns.enter(HUB, HUB, 3.0, delay) == 4.0
    assert turns.enter(HUB, HUB, 7.0, delay) is None


def test_a_host_that_is_never_idle_leaves_a_turn_to_its_guest() -> None:
    turns = HostTurns(60.0)
    turns.enter(HUB, HUB, 0.0, delay)
    turns.leave(HUB, HUB, 0.0)
    assert turns.enter(HUB, "a.de", 1.0, delay) == 4.0
    assert turns.enter(HUB, HUB, 5.0, delay) is not None
    assert turns.enter(HUB, "a.de", 5.0, delay) is None


def test_a_guest_that_does_not_come_loses_its_turn() -> None:
    turns = HostTurns(60.0)
    turns.enter(HUB, HUB, 0.0, delay)
    turns.leave(HUB, HUB, 0.0)
    turns.enter(HUB, "a.de", 1.0, delay)
    assert turns.enter(HUB, HUB, 5.0 + GRACE_S, delay) is None


def test_the_more_guests_wait_the_later_the_next_one_comes() -> None:
    turns = HostTurns(60.0)
    turns.enter(HUB, "a.de", 0.0, delay)
    waits = [turns.enter(HUB, f"g{number}.de", 0.0, delay) or 0.0 for number in range(4)]
    assert [round(wait - waits[0]) for wait in waits] == [0, 5, 10, 15]


VISITS = st.lists(st.tuples(st.sampled_from([HUB, "a.de", "b.de", "c.de"]), st.floats(0.1, 4.0)))


@settings(deadline=None)
@given(VISITS)
def test_no_guest_comes_within_the_delay_of_a_contact_and_nothing_stays_behind(
    visits: list[tuple[str, float]],
) -> None:
    turns, now, contacts = HostTurns(60.0), 0.0, [(-DELAY_S, HUB)]
    for visitor, pause_s in visits:
        now += pause_s
        if visitor == HUB and contacts[-1][1] == HUB and now - contacts[-1][0] < DELAY_S:
            continue  # the frontier would not
        if turns.enter(HUB, visitor, now, delay) is None:
            contacts.append((now, visitor))
            turns.leave(HUB, visitor, now)
    times = [at for at, _ in contacts]
    assert all(b - a >= DELAY_S - 1e-6 for a, b in pairwise(times))
    now += 1000.0
    for visitor in ("a.de", "b.de", "c.de"):
        while (wait_s := turns.enter(HUB, visitor, now, delay)) is not None:
            now += wait_s
        turns.leave(HUB, visitor, now)
        now += 100.0
    assert len(turns) == 1
