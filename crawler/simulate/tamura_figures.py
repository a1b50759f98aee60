"""The figures of Tamura 2007 that a graph made to them is held against."""

from collections.abc import Mapping
from typing import Final

TABLE_1: Final = {
    "th": (591_683, 1_131_088),
    "en": (108_149, 7_971_458),
    "": (155_628, 8_386_121),
}
"""Pages by language ("": all others), under .th and elsewhere."""

Table = tuple[tuple[tuple[int, int], tuple[int, int]], ...]

TABLE_4: Final[Table] = (
    ((23_980_308, 9_428_677), (3_833_048, 6_421_570)),
    ((1_542_513, 5_625_911), (791_862, 1_452_123)),
    ((74_094, 48_137_407), (74_094, 24_731_356)),
)
"""Links of Thai pages, of others on Thai servers, of others elsewhere: to Thai and other pages; of
these, those between servers."""

TABLE_5: Final[Table] = (
    ((41_653_154, 6_013_026), (6_886_986, 6_013_026)),
    ((286_429, 61_175_697), (286_429, 25_655_607)),
)
"""Links of Thai and other servers: to Thai and other servers; of these, those between servers."""

PAGES: Final = 18_344_127
VERTICES: Final = 39_078_795
LINKS: Final = 123_836_342
SERVERS: Final = 574_111
RELEVANT_SERVERS: Final = 26_671
UNFETCHED: Final = 19_953_318
"""Counts of 2.1, 2.3 and 3.1."""

DOMAINS: Final = {
    "com": 0.563,
    "de": 0.079,
    "jp": 0.076,
    "org": 0.075,
    "net": 0.069,
    "th": 0.047,
}
"""Shares of pages by top-level domain (2.1)."""


def is_made_to(provenance: Mapping[str, object]) -> bool:
    """Tell whether a graph was generated to the paper's quantities, at any scale."""
    return provenance.get("source") == "generated" and "measures" in provenance
