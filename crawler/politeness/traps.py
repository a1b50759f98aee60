"""Crawler traps: URLs that look like members of an endless series.

Heritrix, too, leaves out URLs with more than 20 segments or more than 2 repetitions. The share of
real URLs that these rules take for traps is in docs/hostile-web.md.
"""

from collections import Counter
from itertools import pairwise
from typing import Final

MAX_SEGMENTS: Final = 20
"""Most segments of a path."""

MAX_IN_A_ROW: Final = 2
"""Most equal segments in a row: a relative link on an error page repeats its folder."""

MAX_EQUAL: Final = 3
"""Most equal segments in a path."""

MAX_PARAMETERS: Final = 30
"""Most parameters of a query: in a shop each click on a filter adds one."""

MAX_EQUAL_PARAMETERS: Final = 3
"""Most equal parameters with equal values in a query."""

# With fewer slashes there is nothing to count; two of them belong to the scheme.
_LEAST_SLASHES = 2 + MAX_IN_A_ROW + 1
_LEAST_AMPERSANDS = MAX_EQUAL_PARAMETERS


def is_trap(url: str) -> bool:
    """Return True if a normalised URL looks like a member of an endless series."""
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
