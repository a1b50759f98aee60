"""Turns of hosts, addresses and lookups, without a network but for Redis."""

from itertools import count, pairwise
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfocus.crawler.politeness import turns as limits
from langfocus.crawler.politeness.turns import (
    LONGEST_REST_S,
    LOOKUP_S,
    PACE_S,
    PATIENCE,
    PER_DOMAIN,
    SILENT_S,
    SLOW_S,
    STEP_S,
    UNANSWERED,
    WAITED_OUT,
    HostTurns,
    Line,
    LookupTurns,
    OwnOccupancy,
    Recent,
    Rests,
)
from langfocus.crawler.shared.addresses import SharedOccupancy
from langfocus.crawler.shared.keyspace import connect
from langfocus.crawler.shared.stored import StoredCrawl
from tests.support.redisserver import RedisServer

HUB = "hub.de"
DELAY_S = 5.0


def delay() -> float:
    return DELAY_S


# Places.


def test_what_was_written_first_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED", 2)
    recent: Recent[int] = Recent()
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        recent[key] = value
    assert dict(recent) == {"a": 3, "c": 4}


def test_those_who_wait_for_a_place_come_one_after_the_other() -> None:
    line = Line()
    waits = [line.wait(place, 9.0) for place in ("x", "x", "y", "x")]
    assert waits == pytest.approx([STEP_S, 2 * STEP_S, STEP_S, 3 * STEP_S])
    assert line.wait("x", 9.0 + STEP_S) == pytest.approx(3 * STEP_S)
    assert line.wait("x", 20.0) == pytest.approx(STEP_S)
    assert line.wait("x", 20.0, 5.0) == pytest.approx(STEP_S + 5.0)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.booleans()), max_size=60), st.integers(0, 3))
def test_no_more_than_the_limit_are_in_and_all_leave_nothing_behind(
    steps: list[tuple[str, bool]], at_once: int
) -> None:
    occupancy, inside = OwnOccupancy(at_once), list[str]()
    for place, comes in steps:
        if comes:
            is_free = not at_once or inside.count(place) < at_once
            assert occupancy.enter(place) is is_free
            inside += [place] if is_free else []
        elif inside:
            occupancy.leave(inside.pop())
    for place in inside:
        occupancy.leave(place)
    assert not occupancy._inside


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


def test_an_address_is_asked_no_more_often_than_its_pace_allows() -> None:
    now, sent = [0.0], list[float]()
    occupancy = OwnOccupancy(2, lambda: now[0], PACE_S)
    for _ in range(3000):
        now[0] += 0.001
        if occupancy.enter("x"):
            sent.append(now[0])
            occupancy.leave("x")
        assert occupancy.pace(f"{now[0]}")
    assert max(sum(a <= b < a + 1 for b in sent) for a in sent) <= 20
    assert len(sent) > 50


def test_the_pace_of_an_address_holds_for_all_workers_together(redis_server: RedisServer) -> None:
    crawl = StoredCrawl(connect(redis_server.url), uuid4().hex)
    one, other = (
        SharedOccupancy(crawl, at_once, lambda: 1.0, lease_s=10.0, pace_s=600.0)
        for at_once in (2, 2)
    )
    assert one.enter("1.1.1.1")
    assert not other.enter("1.1.1.1")
    assert not other.pace("1.1.1.1")
    assert other.enter("2.2.2.2")
    assert SharedOccupancy(crawl, 0, lambda: 1.0, lease_s=10.0, pace_s=600.0).enter("1.1.1.1")
    crawl.remove()


# Places that answer with errors alone.


NUMBERS = count()


def failed(rests: Rests, place: str, now: float, times: int, hold_s: float = 0.0) -> float:
    """Let so many URLs fail in a row, each as soon as it may be requested; return the time."""
    for _ in range(times):
        now += rests.wait_s(place, now)
        rests.contact(place, now)
        url = f"http://{place}/{next(NUMBERS)}"
        rests.fail(place, url, now, began_at=now, hold_s=hold_s)
    return now


def test_a_place_with_errors_alone_rests_longer_and_longer_and_is_given_up() -> None:
    rests, now = Rests(10.0), failed(Rests(10.0), "x.de", 0.0, 0)
    now = failed(rests, "x.de", now, UNANSWERED - 1)
    assert rests.wait_s("x.de", now) == 0.0
    waits = []
    for _ in range(12):
        now = failed(rests, "x.de", now, 1)
        waits.append(rests.wait_s("x.de", now))
        is_given_up = len(waits) > WAITED_OUT
        assert rests.is_given_up("x.de", now) is is_given_up
        assert not rests.is_given_up("y.de", now)
    assert waits == [min(10.0 * 2**n, LONGEST_REST_S) for n in range(12)]
    assert not rests.is_given_up("x.de", now + LONGEST_REST_S)


def test_one_request_is_tried_after_a_rest_and_another_answer_ends_it() -> None:
    rests = Rests(10.0)
    now = failed(rests, "x.de", 0.0, UNANSWERED) + 10.0
    assert rests.wait_s("x.de", now) == 0.0
    rests.contact("x.de", now)
    assert rests.wait_s("x.de", now) == 10.0
    rests.succeed("x.de", is_page=False)
    assert rests.wait_s("x.de", now + 1) == 0.0
    assert rests.wait_s("x.de", failed(rests, "x.de", now, UNANSWERED - 1)) == 0.0


def test_a_url_that_always_fails_is_one_error() -> None:
    rests = Rests(10.0)
    now = failed(rests, "x.de", 0.0, UNANSWERED - 2)
    for _ in range(9):
        rests.fail("x.de", "http://x.de/", now, began_at=now)
        assert rests.wait_s("x.de", now) == 0.0
    assert rests.wait_s("x.de", failed(rests, "x.de", now, 1)) == 10.0
    for later in (now + 10, now + 30):
        rests.fail("x.de", "http://x.de/", later, began_at=later)
        assert rests.wait_s("x.de", later) == 10.0


def test_retry_after_counts_for_a_place_if_all_of_its_hosts_fail_up_to_an_hour() -> None:
    rests = Rests(10.0)
    now = failed(rests, "x.de", 0.0, UNANSWERED - 1, hold_s=1e9)
    assert rests.wait_s("x.de", now) == 0.0
    assert rests.wait_s("x.de", failed(rests, "x.de", now, 1, hold_s=120.0)) == 120.0
    assert rests.wait_s("y.de", failed(rests, "y.de", 0.0, UNANSWERED, 1e9)) == LONGEST_REST_S


def test_a_place_that_answered_a_page_is_given_up_after_a_time_and_probed_until_then() -> None:
    rests, now = Rests(10.0), 0.0
    rests.succeed("x.de", is_page=True)
    for url in range(3 * UNANSWERED):  # in progress together: one event
        rests.fail("x.de", f"http://x.de/{url}", now, began_at=now - 1.0)
    waits = [rests.wait_s("x.de", now)]
    while not rests.is_given_up("x.de", now):
        now = failed(rests, "x.de", now, 1)
        waits.append(rests.wait_s("x.de", now))
    assert waits[:7] == [10.0, 20.0, 40.0, 80.0, 160.0, 160.0, 160.0]
    assert PATIENCE * 10.0 <= now < (PATIENCE + 2**WAITED_OUT) * 10.0
    assert waits[-1] > max(waits[:-1])
    rests.succeed("x.de", is_page=False)
    assert not rests.is_given_up("x.de", now)


# Hosts that are asked for the rules of others.


@pytest.mark.parametrize(("first", "second"), [(HUB, "a.de"), ("a.de", HUB), ("a.de", "b.de")])
def test_the_second_waits_for_the_end_and_the_rest_of_the_first(first: str, second: str) -> None:
    turns = HostTurns()
    assert turns.enter(HUB, first, 0.0, delay) is None
    assert (turns.enter(HUB, second, 1.0, delay) or 0.0) > DELAY_S
    turns.leave(HUB, 2.0)
    assert turns.enter(HUB, second, 3.0, delay) == 4.0
    assert turns.enter(HUB, second, 7.0, delay) is None


def test_a_host_that_was_not_contacted_needs_no_rest() -> None:
    turns = HostTurns()
    assert turns.enter(HUB, HUB, 0.0, delay) is None
    turns.leave(HUB, 1.0, was_contacted=False)
    assert turns.enter(HUB, "a.de", 1.0, delay) is None


def test_a_host_that_is_never_idle_leaves_a_turn_to_its_guest() -> None:
    turns = HostTurns()
    turns.enter(HUB, HUB, 0.0, delay)
    turns.leave(HUB, 0.0)
    assert turns.enter(HUB, "a.de", 1.0, delay) == 4.0
    assert turns.enter(HUB, HUB, 5.0, delay) is not None
    assert turns.enter(HUB, "a.de", 5.0, delay) is None


VISITS = st.lists(st.tuples(st.sampled_from([HUB, "a.de", "b.de", "c.de"]), st.floats(0.1, 4.0)))


@settings(deadline=None)
@given(VISITS)
def test_nobody_comes_within_the_delay_of_a_contact_and_every_guest_comes(
    visits: list[tuple[str, float]],
) -> None:
    turns, now, contacts = HostTurns(), 0.0, [-DELAY_S]
    for visitor, pause_s in visits:
        now += pause_s
        if turns.enter(HUB, visitor, now, delay) is None:
            contacts.append(now)
            turns.leave(HUB, now)
    assert all(b - a >= DELAY_S - 1e-6 for a, b in pairwise(contacts))
    for visitor in ("a.de", "b.de", "c.de"):
        visits_before = 0
        while (wait_s := turns.enter(HUB, visitor, now, delay)) is not None:
            now += wait_s
            visits_before += 1
            assert visits_before < 10
        turns.leave(HUB, now)


# Names whose servers never answer hold up no others.


def farm(number: int) -> str:
    return f"n{number}.farm.de"


def test_few_names_of_one_domain_are_looked_up_at_once_and_others_do_not_wait() -> None:
    turns = LookupTurns()
    begun = [turns.enter(farm(n), 2 * LOOKUP_S * n) is None for n in range(100)]
    assert begun == [True] * PER_DOMAIN + [False] * (100 - PER_DOMAIN)
    assert turns.enter("a.de", 0.0) is None
    assert len(turns._began_at) == PER_DOMAIN + 1
    waits = [turns.enter(farm(200 + n), 20.0) or 0.0 for n in range(40)]
    assert waits == sorted(waits)
    assert waits[-1] >= 40 * LOOKUP_S


def test_names_of_one_domain_are_looked_up_at_a_bounded_rate_however_fast_the_answers() -> None:
    turns, now, begun = LookupTurns(), 0.0, list[float]()
    for n in range(1000):
        if turns.enter(farm(n), now) is None:
            begun.append(now)
            turns.leave(farm(n), now, has_addresses=False)
        now += 0.001
    assert len(begun) == 10
    assert min(b - a for a, b in pairwise(begun)) >= LOOKUP_S


def test_a_slow_lookup_is_begun_once_and_asked_for_less_and_less_often() -> None:
    turns, now, visits = LookupTurns(), 0.0, 0
    assert turns.enter("slow.de", now) is None
    while now < 20.0:
        now += turns.enter("slow.de", now) or 0.0
        visits += 1
    assert visits < 10
    assert len(turns._began_at) == 1


def silenced(turns: LookupTurns, now: float) -> None:
    for n in range(UNANSWERED):
        assert not turns.is_silent("new.farm.de", now)
        turns.enter(farm(n), now + n)
        turns.leave(farm(n), now + n + SLOW_S, has_addresses=False)


def test_a_domain_whose_servers_never_answer_is_left_alone_for_a_while() -> None:
    turns = LookupTurns()
    turns.enter("www.farm.de", 0.0)
    turns.leave("www.farm.de", 0.1, has_addresses=True)
    silenced(turns, 1.0)
    ended_at = UNANSWERED + SLOW_S
    values = {host: turns.is_silent(host, ended_at) for host in (farm(99), "www.farm.de", "a.de")}
    assert values == {farm(99): True, "www.farm.de": False, "a.de": False}
    assert not turns.is_silent(farm(99), ended_at + SILENT_S)


def test_a_quick_answer_that_a_name_does_not_exist_is_an_answer() -> None:
    turns = LookupTurns()
    for n in range(100):
        turns.enter(farm(n), float(n))
        turns.leave(farm(n), n + 0.1, has_addresses=False)
    assert not turns.is_silent("new.farm.de", 100.0)
    silenced(turns, 101.0)
    turns.enter("www.farm.de", 110.0)
    turns.leave("www.farm.de", 114.0, has_addresses=True)
    assert not turns.is_silent("new.farm.de", 114.0)


def test_names_of_all_blogs_of_a_platform_are_looked_up_one_after_the_other() -> None:
    turns = LookupTurns()
    assert turns.enter("a.github.io", 0.0) is None
    assert turns.enter("b.github.io", 0.0) is not None
    assert turns.enter("c.example.io", 0.0) is None
    assert turns.enter("b.github.io", LOOKUP_S) is None
