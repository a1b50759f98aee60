"""The contract of a graph's sources: rows, one for each URL that a source knows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.frontier.base import PAGE as PAGE_OUTCOME
from crawler.frontier.base import REDIRECT as REDIRECT_OUTCOME
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT, UNKNOWN
from crawler.visit import sift


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A URL, normalised, and the facts that a source knows of it.

    `status` is one of `crawler.simulate.webgraph`, UNKNOWN where the source does not say. `links`
    are normalised and as a crawl would queue them, in the order of the page, None: not known.
    `score` is that of the source's `ordering`.
    """

    url: str
    status: int = UNKNOWN
    language: str | None = None
    bytes: int = 0
    links: Sequence[str] | None = None
    score: float | None = None


class GraphSource(Protocol):
    """Something that knows pages and links."""

    @property
    def name(self) -> str:
        """The kind and the path of the source, for the graph's provenance."""

    @property
    def left_out(self) -> Counter[str]:
        """How many things of which kind were left out until now."""

    @property
    def ordering(self) -> str | None:
        """The ordering whose scores the rows have, None if they have none."""

    def seeds(self) -> list[str]:
        """Return the normalised URLs where a crawl of it began; empty if it does not say."""

    def rows(self) -> Iterator[GraphRow]:
        """Read it from beginning to end; raises `CrawlError` where that cannot be."""


def status_of(outcome: str, *, is_download: bool) -> int:
    """Return the status of a URL that a crawl settled."""
    if outcome == PAGE_OUTCOME and is_download:
        return PAGE
    return REDIRECT if outcome == REDIRECT_OUTCOME else FAILED


def queueable(links: Sequence[str], left_out: Counter[str]) -> list[str]:
    """Return the links that a crawl would queue, as it would, and count the others."""
    sifted = sift(links)
    count_ignored(left_out, sifted.files, sifted.malformed, sifted.traps)
    return sifted.wanted


def count_ignored(left_out: Counter[str], files: int, malformed: int, traps: int) -> None:
    """Count links that no crawl would queue."""
    left_out["links to files that are no pages"] += files
    left_out["links that are no URLs"] += malformed
    left_out["links that look endless"] += traps
