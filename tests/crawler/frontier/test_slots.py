"""Slots of domains and addresses: earned by relevant pages, and penalties on scores."""

from hypothesis import given
from hypothesis import strategies as st

from langfocus.crawler.frontier.slots import (
    are_full,
    highest_penalized,
    holder_of,
    penalized,
    penalties_for,
)

SCORES = st.floats(-900, 900).map(lambda score: round(score, 6))
THRESHOLDS = st.none() | st.just(0.0)


def test_the_slots_end_at_the_cap_and_ten_more_for_each_relevant_page() -> None:
    assert [are_full(20, taken, 0) for taken in (0, 19, 20)] == [False, False, True]
    assert [are_full(20, taken, 3) for taken in (49, 50)] == [False, True]
    assert not are_full(0, 10**9, 0)


def test_the_level_grows_when_the_slots_double_after_the_first_tenth() -> None:
    assert [penalties_for(1000, n, 0) for n in (0, 99, 100, 199, 200, 399, 400)] == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
    ]
    assert [penalties_for(3, n, 0) for n in range(5)] == [0, 1, 2, 2, 3]
    assert penalties_for(0, 10**9, 0) == 0


def test_half_as_many_slots_as_there_are_relevant_pages_do_not_count() -> None:
    assert [penalties_for(1000, 199, n) for n in (0, 198, 199, 200, 1000)] == [1, 1, 1, 0, 0]


def test_the_addresses_of_one_network_of_ipv6_are_one() -> None:
    assert holder_of("2001:db8::1") == holder_of("2001:db8::ffff:2") != holder_of("2001:db8:0:1::1")
    assert holder_of("::ffff:192.0.2.1") == holder_of("192.0.2.1") != holder_of("192.0.2.2")


@given(st.lists(SCORES, min_size=2, max_size=2), THRESHOLDS, st.integers(0, 20))
def test_urls_with_equal_penalties_keep_their_order(
    scores: list[float], threshold: float | None, level: int
) -> None:
    low, high = sorted(scores)
    assert penalized(low, level, threshold) <= penalized(high, level, threshold)


@given(SCORES, SCORES, THRESHOLDS, st.integers(0, 20))
def test_a_url_is_worse_than_every_url_of_its_kind_with_fewer_penalties(
    score: float, other: float, threshold: float | None, level: int
) -> None:
    is_promising = threshold is not None and score > threshold
    is_same_kind = (threshold is not None and other > threshold) == is_promising
    is_tiny = is_promising and min(score, other) < 1e-9
    if is_same_kind and not is_tiny:
        assert penalized(score, level + 1, threshold) < penalized(other, level, threshold)
    if is_promising and threshold is not None:
        assert penalized(score, level, threshold) > threshold
        assert penalized(-1.0, 0, threshold) < penalized(score, level, threshold)


@given(SCORES, THRESHOLDS, st.integers(1, 20))
def test_every_url_with_a_penalty_waits_for_others(
    score: float, threshold: float | None, level: int
) -> None:
    assert penalized(score, level, threshold) <= highest_penalized(threshold)
