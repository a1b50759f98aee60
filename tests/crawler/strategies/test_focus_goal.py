"""The order of the queue for each goal of the ordering `focus`."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.strategies.focus.goal import WORD_STRENGTH, rank_for_servers, rank_for_words

ODDS = st.floats(-40, 40).map(lambda odds: round(odds * 2**20) / 2**20)


def probability(odds: float) -> float:
    return 1 / (1 + exp(-odds))


@given(ODDS, st.booleans(), st.integers(0, 9), st.integers(0, 10**6), st.floats(0, 1000))
def test_what_is_expected_does_not_depend_on_the_goal(
    odds: float, is_known: bool, pages: int, words: int, mean: float
) -> None:
    assert (rank_for_servers(odds, is_known=is_known) > 0) == (odds > 0)
    assert (rank_for_words(odds, pages, words, mean) > 0) == (odds > 0)


@given(st.tuples(ODDS, st.booleans()), st.tuples(ODDS, st.booleans()))
def test_new_servers_go_first_among_the_expected_urls_and_among_the_doubtful(
    one: tuple[float, bool], other: tuple[float, bool]
) -> None:
    def order(url: tuple[float, bool]) -> tuple[bool, bool, float]:
        return url[0] > 0, not url[1], url[0]

    ranks = [rank_for_servers(odds, is_known=is_known) for odds, is_known in (one, other)]
    assert (ranks[0] > ranks[1]) == (order(one) > order(other))


@pytest.mark.parametrize("low", [-6.0, 0.5])
def test_the_order_for_words_is_that_of_the_words_to_be_expected(low: float) -> None:
    mean = 300.0
    hosts = [(0, 0), (1, 900), (8, 400), (3, 900)]
    urls = [(low + step / 4, *host) for step in range(9) for host in hosts]

    def expected(odds: float, pages: int, words: int) -> float:
        of_page = (words + WORD_STRENGTH * mean) / (pages + WORD_STRENGTH)
        return log(probability(odds) * of_page)

    ranks = {url: rank_for_words(*url, mean) for url in urls if (url[0] > 0) == (low > 0)}
    first = urls[0]
    for url, rank in ranks.items():
        apart = expected(*url) - expected(*first)
        assert rank - ranks[first] == pytest.approx(apart, abs=1e-5)


def test_before_the_first_words_the_order_is_that_of_probabilities() -> None:
    ranks = [rank_for_words(odds, 0, 0, 0.0) for odds in (-700.0, -1.0, 0.0, 1.0, 9.0, 700.0)]
    assert ranks == sorted(ranks)
