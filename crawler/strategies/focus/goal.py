"""The goals of the ordering `focus`: what a crawl seeks, and which URL is then fetched first.

A crawl that seeks pages takes the most probable URL first: its rank in the queue is its log-odds.
With another goal the rank also follows from the host of the URL. A rank is above 0 exactly if the
log-odds are, so an expected URL goes before a doubtful one whatever is sought.
"""

from typing import Final

RELEVANT: Final = "relevant"
SERVERS: Final = "servers"
COVERAGE: Final = "coverage"

GOALS: Final = (RELEVANT, SERVERS, COVERAGE)
"""The values of `-a goal`."""

APART: Final = 1024.0
"""With the goal `servers`, ranks of known servers and of new ones are so far apart."""


def rank_for_servers(odds: float, is_known: bool) -> float:
    """Return the rank of a URL for the most relevant servers.

    `is_known` is True if its host gave a relevant page. Then the URL comes after all URLs of other
    hosts, but an expected one before doubtful ones.
    """
    if odds > 0:
        return odds if is_known else odds + APART
    return odds - APART if is_known else odds
