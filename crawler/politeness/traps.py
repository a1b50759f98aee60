"""Which links of a page may be queued; crawler traps: members of an endless series.

Heritrix, too, leaves out URLs with more than 20 segments or more than 2 repetitions. The share of
real URLs that these rules take for traps is in docs/hostile-web.md.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

from langfocus.crawler.politeness.network import has_bad_port
from langfocus.crawler.url import is_unwanted_file, normalise

MAX_SEGMENTS: Final = 20
"""Most segments of a path."""

MAX_IN_A_ROW: Final = 2
"""Most equal segments in a row: a relative link on an error page repeats its folder."""

MAX_EQUAL: Final = 3
"""Most equal segments in a path."""

MAX_PARAMETERS: Final = 30
"""Most parameters of a query: in a shop, each click on a filter adds a parameter."""

MAX_EQUAL_PARAMETERS: Final = 3
"""Most equal parameters with equal values in a query."""


def is_trap(url: str) -> bool:
    """Return True if a normalised URL looks like a member of an endless series."""
    address, _, query = url.partition("?")
    segments, parameters = address.split("/")[3:], query.split("&")
    if len(segments) > MAX_SEGMENTS or len(parameters) > MAX_PARAMETERS:
        return True
    repeats = Counter(parameters).values() if len(parameters) > MAX_EQUAL_PARAMETERS else ()
    if max(repeats, default=0) > MAX_EQUAL_PARAMETERS:
        return True
    # Most URLs have few segments, and none twice.
    if len(segments) <= MAX_IN_A_ROW or len(set(segments)) == len(segments):
        return False
    in_a_row = max(len(list(equal)) for _, equal in groupby(segments))
    return in_a_row > MAX_IN_A_ROW or max(Counter(segments).values()) > MAX_EQUAL


def sift(
    urls: Sequence[str],
    is_blocked: Callable[[str], bool] = lambda _: False,
    is_unwanted: Callable[[str], bool] = is_unwanted_file,
) -> tuple[list[str], dict[str, int]]:
    """Return the distinct, normalised links that may be queued, and counts of the rest by reason.

    `urls` are absolute. Rejected are media files, invalid URLs, ports that no browser opens, traps
    (endless URL spaces), and blocked URLs.
    """
    normal = [url for url in map(normalise, urls) if url]
    allowed = [url for url in normal if not has_bad_port(url)]
    pages = [url for url in allowed if not is_unwanted(url)]
    finite = [url for url in pages if not is_trap(url)]
    wanted = [url for url in finite if not is_blocked(url)]
    left_out = {
        "ignored_file": len(allowed) - len(pages),
        "ignored_url": len(urls) - len(normal),
        "ignored_port": len(normal) - len(allowed),
        "ignored_trap": len(pages) - len(finite),
        "blocked": len(finite) - len(wanted),
    }
    return list(dict.fromkeys(wanted)), left_out
