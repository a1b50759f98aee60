"""Names whose servers never answer hold up no others."""

from crawler.politeness.lookups import (
    AT_ONCE,
    PER_DOMAIN,
    SILENT_S,
    SLOW_S,
    UNANSWERED,
    LookupTurns,
)


def test_few_names_of_one_domain_are_looked_up_at_once_and_others_do_not_wait() -> None:
    turns = LookupTurns()
    begun = [turns.enter(f"n{n}.farm.de", 0.0) is None for n in range(100)]
    assert begun.count(True) == PER_DOMAIN
    assert turns.enter("a.de", 0.0) is None
    assert len(turns) == PER_DOMAIN + 1


def test_the_more_names_of_a_domain_wait_the_longer_each_waits() -> None:
    turns = LookupTurns()
    waits = [turns.enter(f"n{n}.farm.de", 0.0) or 0.0 for n in range(PER_DOMAIN + 40)]
    assert waits[PER_DOMAIN:] == sorted(waits[PER_DOMAIN:])
    assert waits[-1] >= 10 * waits[PER_DOMAIN]


def test_a_slow_lookup_is_begun_once_and_asked_for_less_and_less_often() -> None:
    turns, now, visits = LookupTurns(), 0.0, 0
    assert turns.enter("slow.de", now) is None
    while now < 20.0:
        now += turns.enter("slow.de", now) or 0.0
        visits += 1
    assert visits < 10
    assert len(turns) == 1


def test_all_lookups_together_are_bounded() -> None:
    turns = LookupTurns()
    begun = [turns.enter(f"n{n}.de", 0.0) is None for n in range(AT_ONCE + 9)]
    assert begun.count(True) == AT_ONCE
    turns.leave("n0.de", 1.0, has_addresses=True)
    assert turns.enter("one-more.de", 1.0) is None


def silenced(turns: LookupTurns, now: float) -> None:
    for n in range(UNANSWERED):
        assert not turns.is_silent("new.farm.de", now)
        turns.enter(f"n{n}.farm.de", now)
        turns.leave(f"n{n}.farm.de", now + SLOW_S, has_addresses=False)


def test_a_domain_whose_servers_never_answer_is_left_alone_for_a_while() -> None:
    turns = LookupTurns()
    silenced(turns, 0.0)
    assert turns.is_silent("new.farm.de", SLOW_S)
    assert not turns.is_silent("a.de", SLOW_S)
    assert not turns.is_silent("new.farm.de", SLOW_S + SILENT_S)


def test_a_name_that_had_an_address_is_asked_for_in_a_silent_domain_too() -> None:
    turns = LookupTurns()
    turns.enter("www.farm.de", 0.0)
    turns.leave("www.farm.de", 0.1, has_addresses=True)
    silenced(turns, 0.2)
    assert not turns.is_silent("www.farm.de", 5.0)


def test_a_quick_answer_that_a_name_does_not_exist_is_an_answer() -> None:
    turns = LookupTurns()
    for n in range(100):
        turns.enter(f"n{n}.farm.de", 0.0)
        turns.leave(f"n{n}.farm.de", 0.1, has_addresses=False)
    assert not turns.is_silent("new.farm.de", 1.0)
    silenced(turns, 1.0)
    turns.enter("www.farm.de", 5.0)
    turns.leave("www.farm.de", 9.0, has_addresses=True)
    assert not turns.is_silent("new.farm.de", 9.0)
