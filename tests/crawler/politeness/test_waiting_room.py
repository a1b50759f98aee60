"""The waiting room that hosts and addresses have in common."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.waiting_room import WaitingRoom

VISITORS = [f"h{number}.de" for number in range(6)]


def test_a_visitor_is_told_how_many_wait_for_the_same_place() -> None:
    room = WaitingRoom()
    assert [room.wait("a", "x"), room.wait("b", "x"), room.wait("c", "y")] == [1, 2, 1]
    assert room.wait("a", "x") == 2
    assert room.wait("a", "y") == 2
    assert len(room) == 3


def test_a_full_room_forgets_who_waits_longest() -> None:
    empty: list[str] = []
    room = WaitingRoom(on_empty=empty.append, capacity=2)
    room.wait("a", "x")
    room.wait("b", "y")
    room.wait("a", "x")
    room.wait("c", "z")
    assert len(room) == 2
    assert empty == ["x", "y"]


def test_a_place_is_empty_once_its_last_visitor_leaves() -> None:
    empty: list[str] = []
    room = WaitingRoom(on_empty=empty.append)
    room.wait("a", "x")
    room.wait("b", "x")
    room.leave("a")
    room.leave("a")
    assert empty == []
    room.leave("b")
    assert empty == ["x"]


@given(st.lists(st.tuples(st.sampled_from(VISITORS), st.sampled_from(["x", "y", None]))))
def test_no_more_wait_than_came_and_all_leave_nothing_behind(
    steps: list[tuple[str, str | None]],
) -> None:
    room, waiting = WaitingRoom(capacity=4), dict[str, str]()
    for visitor, place in steps:
        waiting.pop(visitor, None)
        if place is None:
            room.leave(visitor)
            continue
        if len(waiting) == 4:
            waiting.pop(next(iter(waiting)))
        waiting[visitor] = place
        assert room.wait(visitor, place) == list(waiting.values()).count(place)
        assert len(room) == len(waiting)
    for visitor in VISITORS:
        room.leave(visitor)
    assert len(room) == 0
