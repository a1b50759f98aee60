"""Filters decide if a link enters the queue (Tamura 2007, chapter 4)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from crawler.strategies.relevance import Relevance, Tally
from crawler.url import directory_of, host_of

TOLERANCE: Final = 10
"""The default of T, the tolerance (Tamura 2007, 4.1), in pages."""

DIRECTORY_DEPTH: Final = 1
"""The default number of path segments that make a directory (Tamura 2007, 4.3)."""


class Unit(Enum):
    """The unit of relevance."""

    SERVER = "server"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class Filter:
    """A rule that accepts or rejects the links of a page, one by one.

    `follows_irrelevant_pages` is False for hard focused crawling, which drops all links of
    irrelevant pages. `uses_relevance` rejects links to irrelevant units, and drops the queued
    URLs of a unit that turns irrelevant (Tamura 2007, Fig. 3, step 5). `is_conservative` rejects
    links to new units from units without a relevant page (4.2, step 4.5). `tolerance` is T.
    `directory_depth` is the number of path segments that make a directory.
    """

    name: str
    unit: Unit = Unit.SERVER
    follows_irrelevant_pages: bool = True
    uses_relevance: bool = False
    is_conservative: bool = False
    tolerance: int = TOLERANCE
    directory_depth: int = DIRECTORY_DEPTH

    def unit_of(self, url: str) -> str:
        """Return the server or directory that a URL belongs to."""
        if self.unit is Unit.DIRECTORY:
            return self.directory_of(url)
        return host_of(url)

    def part_of_host(self, url: str) -> str | None:
        """Return the directory of a URL, None if its whole host is the unit."""
        return self.directory_of(url) if self.unit is Unit.DIRECTORY else None

    def directory_of(self, url: str) -> str:
        """Return the directory of a URL, even if the unit is the server; it contains a `/`."""
        return directory_of(url, self.directory_depth)

    def accepts(self, *, page_is_relevant: bool, source: Tally, target: Tally) -> bool:
        """Return True if a link enters the queue.

        `source` is the tally of the page's unit, this page included. `target` is the tally of the
        unit that the link points to.
        """
        if not (page_is_relevant or self.follows_irrelevant_pages):
            return False
        if self.is_conservative and source.relevant == 0 and target.downloaded == 0:
            return False
        return not self.drops(target)

    def drops(self, tally: Tally) -> bool:
        """Return True for an irrelevant unit; none of its URLs stays in the queue."""
        return self.uses_relevance and tally.relevance(self.tolerance) is Relevance.IRRELEVANT


_RULES: dict[str, dict[str, object]] = {
    "none": {},
    "hard": {"follows_irrelevant_pages": False},
    "server": {"uses_relevance": True},
    "server-conservative": {"uses_relevance": True, "is_conservative": True},
    "directory-conservative": {
        "uses_relevance": True,
        "is_conservative": True,
        "unit": Unit.DIRECTORY,
    },
}

FILTERS = tuple(_RULES)
"""The names of the filters: none, hard focused, and Tamura's three (2007, 5.1)."""


def make_filter(
    name: str, *, tolerance: int = TOLERANCE, directory_depth: int = DIRECTORY_DEPTH
) -> Filter:
    """Return the filter with that name; raises KeyError for a name not in `FILTERS`."""
    rule = _RULES[name]
    return Filter(name, tolerance=tolerance, directory_depth=directory_depth, **rule)  # type: ignore[arg-type]  # the rules above are fields of Filter
