"""Filters decide by the relevance of servers if a link enters the queue (Tamura 2007, 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from langfocus.classifiers.languages import codes_of
from langfocus.classifiers.plugins import Registry
from langfocus.crawler.strategies.links import LinkSource
from langfocus.crawler.url import directory_of, host_of

TOLERANCE: Final = 5
"""The default of T, the tolerance (Tamura 2007, 4.1), in pages: less than the host cap, or it never
acts. Unlike there (5.2: at least 10), since ten URLs of a host are fetched."""

DIRECTORY_DEPTH: Final = 1
"""Default number of path segments in a directory (Tamura 2007, 4.3)."""


class Unit(Enum):
    """The unit of relevance."""

    SERVER = "server"
    DIRECTORY = "directory"


class Tally(NamedTuple):
    """The number of pages downloaded from one server or directory.

    `downloaded` is N_a, the pages downloaded; `relevant` is N_r, those of them written in the
    target language (Tamura 2007, 4.1). Pages without a label count as downloaded: a frame set
    or an empty page uses up tolerance, as in the paper.
    """

    downloaded: int = 0
    relevant: int = 0


# Compiled for the simulator by classifiers.compiled.
def is_irrelevant(downloaded: int, relevant: int, tolerance: int) -> bool:
    """Return True for an irrelevant unit: N_r = 0 and N_a > T (Tamura 2007, 4.1).

    A unit with N_r > 0 is relevant, any other undecided. `drops` in Lua is the same rule.
    """
    return relevant == 0 and downloaded > tolerance


NOTHING = Tally()
"""The tally of a server or directory without downloaded pages."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A rule that accepts or rejects the links of a page, one by one (Tamura 2007, chapter 4)."""

    name: str
    unit: Unit = Unit.SERVER
    follows_irrelevant_pages: bool = True  # False: hard focused crawling drops all their links
    # Links to irrelevant units are rejected, and a unit that turns irrelevant loses its queued URLs
    # (Fig. 3, step 5).
    uses_relevance: bool = False
    # Links to new units are rejected from units without a relevant page (4.2, step 4.5).
    is_conservative: bool = False
    tolerance: int = TOLERANCE  # T
    directory_depth: int = DIRECTORY_DEPTH  # segments of a path that make a directory
    closes_servers: bool = False  # a server that is irrelevant as a whole too, beside directories

    def unit_of(self, url: str) -> str:
        """Return the server or directory that a URL belongs to."""
        if self.unit is Unit.DIRECTORY:
            return self.directory_of(url)
        return host_of(url)

    def units_of(self, url: str) -> tuple[str, ...]:
        """Return the unit of a URL, and its server if servers can be closed too."""
        return self.units_in(self.part_of_host(url), host_of(url))

    def units_in(self, part: str | None, host: str) -> tuple[str, ...]:
        """Return the units of the URLs in a part of a host (`part_of_host`)."""
        return (part or host, host) if self.closes_servers else (part or host,)

    def part_of_host(self, url: str) -> str | None:
        """Return the directory of a URL; None if the whole host is the unit."""
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

    def worst(self, tallies: Sequence[Tally]) -> Tally:
        """Return the tally of a URL's irrelevant unit, else of its first unit."""
        return next((tally for tally in tallies if self.drops(tally)), tallies[0])

    def drops(self, tally: Tally) -> bool:
        """Return True for an irrelevant unit: its queued URLs are dropped after its next page."""
        return self.uses_relevance and is_irrelevant(*tally, self.tolerance)


_CONSERVATIVE: dict[str, object] = {"uses_relevance": True, "is_conservative": True}
_RULES: dict[str, dict[str, object]] = {
    "none": {},
    "hard": {"follows_irrelevant_pages": False},
    "server": {"uses_relevance": True},
    "server-conservative": _CONSERVATIVE,
    "directory-conservative": {**_CONSERVATIVE, "unit": Unit.DIRECTORY},
    "both-conservative": {**_CONSERVATIVE, "unit": Unit.DIRECTORY, "closes_servers": True},
}

DEFAULT_FILTER: Final = "both-conservative"
"""Default filter of a crawl: per server and per directory."""

FILTERS: Final = Registry[Any]("filter", "langfocus.filters", _RULES)
"""Filters: none, hard focused, Tamura's three (2007, 5.1), and ours; makers of plug-ins."""

PAPER_FILTERS = tuple(name for name in _RULES if name != DEFAULT_FILTER)
"""The filters that Tamura 2007, chapter 5, evaluates."""


class AcceptsLinks(Protocol):
    """The filter of a plug-in.

    The plug-in's maker receives the target language. The maker's attribute `rules` names a built-in
    filter to apply too; "none" by default.
    """

    def accepts(self, urls: Sequence[str], source: LinkSource, /) -> Sequence[bool]:
        """Return for each normalised URL of a page's links whether it may enter the queue.

        Seeds, and targets of redirects and sitemaps, always do. The same arguments always get the
        same answers.
        """


def make_filter(
    name: str,
    *,
    tolerance: int = TOLERANCE,
    directory_depth: int = DIRECTORY_DEPTH,
) -> Filter:
    """Return the filter with that name, of a plug-in its `rules`.

    Raises KeyError for a name not in `FILTERS`.
    """
    rules = FILTERS.load(name)
    if FILTERS.plugin(name) is not None:
        rules = _RULES[getattr(rules, "rules", "none")]
    return Filter(name, tolerance=tolerance, directory_depth=directory_depth, **rules)


def link_filter(
    name: str, language: str
) -> Callable[[Sequence[str], LinkSource], list[str]] | None:
    """Return a plug-in's function that selects URLs accepted for any language of a target.

    None for a built-in filter.

    Raises `PluginError`, and so does the function.
    """
    plugin = FILTERS.plugin(name)
    if plugin is None:
        return None
    make = FILTERS.load(name)
    with plugin.blamed():
        if (rules := getattr(make, "rules", "none")) not in FILTERS:
            raise ValueError(f"rules {rules!r}: there are {', '.join(FILTERS)}")
        made: list[AcceptsLinks] = list(map(make, codes_of(language) or [language]))

    def kept(urls: Sequence[str], source: LinkSource) -> list[str]:
        with plugin.blamed():
            answers = zip(urls, *(each.accepts(urls, source) for each in made), strict=True)
            return [url for url, *are_kept in answers if any(are_kept)]

    kept(["http://example.org/"], LinkSource())
    return kept
