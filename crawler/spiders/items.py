"""The item of each page for Scrapy's feeds and pipelines."""

from dataclasses import dataclass

from crawler.frontier.base import Lease, Record


@dataclass(frozen=True, slots=True)
class PageItem:
    """A page with a final status, as in the run's table `pages`.

    `score` is the score that the ordering gave before the fetch, `fetched_at` is in unix seconds,
    `bytes` is the size of the body. `language` None: the page has no label.
    """

    url: str
    status: int | None
    language: str | None
    confidence: float | None
    method: str | None
    is_relevant: bool
    charset: str | None
    country: str | None
    bytes: int
    score: float
    depth: int
    fetched_at: float


def item_of(lease: Lease, record: Record) -> PageItem:
    """Return the item of a settled page."""
    return PageItem(
        lease.url,
        record.status,
        record.language,
        record.confidence,
        record.method,
        record.is_relevant,
        record.charset,
        record.country,
        record.bytes,
        lease.score,
        lease.depth,
        record.fetched_at,
    )
