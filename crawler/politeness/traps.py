"""URLs that a server would make for ever, told by how they look.

Heritrix leaves out URLs of more than 20 segments and of more than 2 repetitions by the same
signs. How many real URLs these rules take for traps is measured in docs/hostile-web.md.
"""

from collections import Counter
from itertools import pairwise
from typing import Final

MAX_SEGMENTS: Final = 20
"""Segments of a path."""

MAX_IN_A_ROW: Final = 2
"""Times that a segment may follow itself: a relative link on an error page repeats its folder."""

MAX_EQUAL: Final = 3
"""Times that a segment may occur in a path at all."""

MAX_PARAMETERS: Final = 30
"""Parameters of a query: each click on a facet of a shop adds one."""

MAX_EQUAL_PARAMETERS: Final = 3
"""Times that the same parameter may have the same value."""

# Of an address with fewer nothing has to be counted: two belong to the scheme.
_LEAST_SLASHES = 2 + MAX_IN_A_ROW + 1
_LEAST_AMPERSANDS = MAX_EQUAL_PARAMETERS


def is_trap(url: str) -> bool:
    """Tell whether a normalised URL looks as if there were no end to others like it."""
    address, _, query = url.partition("?")
    is_long_path = address.count("/") >= _LEAST_SLASHES
    is_long_query = query.count("&") >= _LEAST_AMPERSANDS
    return (is_long_path and _is_endless_path(address)) or (
        is_long_query and _is_endless_query(query)
    )


def _is_endless_path(address: str) -> bool:
    segments = address.split("/")[3:]
    if len(segments) > MAX_SEGMENTS:
        return True
    counts = Counter(segments)
    if len(counts) == len(segments):
        return False
    return max(counts.values()) > MAX_EQUAL or _most_in_a_row(segments) > MAX_IN_A_ROW


def _most_in_a_row(segments: list[str]) -> int:
    most = run = 1
    for before, segment in pairwise(segments):
        run = run + 1 if segment == before else 1
        most = max(most, run)
    return most


def _is_endless_query(query: str) -> bool:
    parameters = query.split("&")
    if len(parameters) > MAX_PARAMETERS:
        return True
    return max(Counter(parameters).values()) > MAX_EQUAL_PARAMETERS
