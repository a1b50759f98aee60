"""The order of the queue for each goal of the ordering `focus`."""

from math import exp, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.strategies.focus.goal import (
    MOST_WORTH,
    PRIOR_SHARE,
    WordTotals,
    rank_for_servers,
    rank_for_words,
    worth_of,
)

ODDS = st.floats(-40, 40).map(lambda odds: round(odds * 2**20) / 2**20)


def probability(odds: float) -> float:
    return 1 / (1 + exp(-odds))


@given(ODDS, st.booleans(), st.floats(-MOST_WORTH, MOST_WORTH))
def test_what_is_expected_does_not_depend_on_the_goal(
    odds: float, is_known: bool, worth: float
) -> None:
    assert (rank_for_servers(odds, is_known=is_known) > 0) == (odds > 0)
    assert (rank_for_words(odds, worth) > 0) == (odds > 0)


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
    mean, strength = 300.0, 2.0
    hosts = [(0, 0), (1, 900), (8, 400), (3, 900)]
    urls = [(low + step / 4, *host) for step in range(9) for host in hosts]

    def expected(odds: float, pages: int, words: int) -> float:
        of_page = (words + strength * mean) / (pages + strength)
        return log(probability(odds) * of_page)

    def rank(odds: float, pages: int, words: int) -> float:
        return rank_for_words(odds, worth_of([words], [pages], mean, strength))

    ranks = {url: rank(*url) for url in urls if (url[0] > 0) == (low > 0)}
    first = urls[0]
    for url, found in ranks.items():
        apart = expected(*url) - expected(*first)
        assert found - ranks[first] == pytest.approx(apart, abs=1e-5)


def test_a_unit_is_shrunk_to_the_unit_around_it() -> None:
    assert worth_of([800, 0], [6, 0], 100.0, 2.0) == pytest.approx(log(1000 / 8 / 100))
    assert worth_of([800, 500], [6, 2], 100.0, 2.0) == pytest.approx(log((500 + 250) / 4 / 100))
    assert worth_of([800], [6], 0.0, 2.0) == 0.0
    assert abs(worth_of([0], [10**9], 100.0, 1e-9)) == MOST_WORTH


def test_before_the_first_words_the_order_is_that_of_probabilities() -> None:
    ranks = [rank_for_words(odds, 0.0) for odds in (-700.0, -1.0, 0.0, 1.0, 9.0, 700.0)]
    assert ranks == sorted(ranks)


def totals_of(hosts: list[list[int]]) -> WordTotals:
    """Count the pages of all hosts in turns."""
    totals, sums = WordTotals(), [(0, 0)] * len(hosts)
    for turn in range(max(map(len, hosts))):
        for place, pages in enumerate(hosts):
            if turn < len(pages):
                totals.count(pages[turn], *sums[place])
                sums[place] = sums[place][0] + 1, sums[place][1] + pages[turn]
    return totals


@given(st.lists(st.lists(st.integers(0, 100_000), min_size=1, max_size=9), min_size=1))
def test_the_sums_are_those_of_whole_hosts(hosts: list[list[int]]) -> None:
    at_once = WordTotals()
    for pages in hosts:
        at_once.count_host(len(pages), sum(pages), sum(words * words for words in pages))
    assert totals_of(hosts) == at_once
    assert 0 < at_once.share < 1


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7])
def test_the_share_of_the_variance_between_hosts_is_found(share: float) -> None:
    random = Random(1)
    hosts = []
    for _ in range(3000):
        mean = random.gauss(1000, (share * 10_000) ** 0.5)
        pages = random.randrange(1, 8)
        hosts.append(
            [round(random.gauss(mean, ((1 - share) * 10_000) ** 0.5)) for _ in range(pages)]
        )
    found = totals_of(hosts).share
    assert found == pytest.approx(share, abs=0.03)
    assert totals_of(hosts[:1]).share == PRIOR_SHARE
