"""What a source of graphs gives: rows, one or more for each URL that it knows."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from crawler.simulate.webgraph import UNKNOWN


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A URL, normalised, and the facts that a source knows of it."""

    url: str
    status: int = UNKNOWN
    """One of `crawler.simulate.webgraph`; UNKNOWN: the source does not say."""
    language: str | None = None
    bytes: int = 0
    links: Sequence[str] | None = None
    """Normalised and as a crawl would queue them, in the order of the page; None: not known."""
    score: float | None = None
    """That of the source's `ordering`."""


@dataclass
class GraphSource:
    """Something that knows pages and links.

    `rows` reads it from beginning to end, and counts in `left_out` how many things of which kind
    are not among the rows. `seeds` are the URLs where a crawl of it began, `ordering` the one whose
    scores the rows have.
    """

    name: str
    rows: Callable[[Counter[str]], Iterator[GraphRow]]
    seeds: Sequence[str] = ()
    ordering: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)


def count_ignored(left_out: Counter[str], files: int, malformed: int, traps: int) -> None:
    """Count links that no crawl would queue."""
    left_out["links to files that are no pages"] += files
    left_out["links that are no URLs"] += malformed
    left_out["links that look endless"] += traps
