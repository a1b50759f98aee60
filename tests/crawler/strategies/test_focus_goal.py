"""The order of the queue for each goal of the ordering `focus`."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.strategies.focus.goal import rank_for_servers

ODDS = st.floats(-40, 40).map(lambda odds: round(odds * 2**20) / 2**20)


@given(ODDS, st.booleans())
def test_what_is_expected_does_not_depend_on_the_goal(odds: float, is_known: bool) -> None:
    assert (rank_for_servers(odds, is_known=is_known) > 0) == (odds > 0)


@given(st.tuples(ODDS, st.booleans()), st.tuples(ODDS, st.booleans()))
def test_new_servers_go_first_among_the_expected_urls_and_among_the_doubtful(
    one: tuple[float, bool], other: tuple[float, bool]
) -> None:
    def order(url: tuple[float, bool]) -> tuple[bool, bool, float]:
        return url[0] > 0, not url[1], url[0]

    ranks = [rank_for_servers(odds, is_known=is_known) for odds, is_known in (one, other)]
    assert (ranks[0] > ranks[1]) == (order(one) > order(other))
