"""WARC files as sources of a graph: their pages are read as a crawl reads them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from crawler.config import RetryRule
from crawler.frontier.base import Admission, Frontier, Lease, Link, Record
from crawler.simulate.sources.source import GraphRow, count_ignored, status_of
from crawler.simulate.webgraph import FAILED, REDIRECT
from crawler.sources.contract import Answer, NotArchived
from crawler.strategies.orderings import BreadthFirst
from crawler.url import fingerprint, normalise
from crawler.visit import Download, Read, Visitor, VisitRules

_DAMAGED = "damaged records"
_NO_URL = "answers to invalid URLs"
_RESPELLED = "redirects to another spelling of the same page"
_ROBOTS = "answers that are a robots.txt"
_NO_BODY = "answers whose body is not in the archive"
_UNREADABLE = "pages that could not be read"


def _is_robots(url: str) -> bool:
    return url.endswith("/robots.txt") and url.count("/") == 3


class WarcSource:
    """The answers in a WARC file; a page's language is told as a crawl tells it.

    Unlike in a crawl no languages of linking pages are among the evidence. Raises `ArchiveError`
    for a file that is missing or without answers.
    """

    ordering = None

    def __init__(self, path: Path, read: Read) -> None:
        from crawler.sources.archive import ArchiveWeb

        self.name = f"WARC {path}"
        self.left_out: Counter[str] = Counter()
        self._web = ArchiveWeb(path)
        if self._web.skipped.number:
            self.left_out[_DAMAGED] = self._web.skipped.number
        self._settled: list[tuple[Record, list[str]]] = []
        # A visitor that never retries calls only `admit` of a frontier.
        frontier = cast(Frontier, self)
        rules = VisitRules("", read, RetryRule(retry_times=0))
        self._visitor = Visitor(frontier, BreadthFirst(), rules, lambda: 0.0)

    def seeds(self) -> list[str]:
        """Return none: an archive does not say where its crawl began."""
        return []

    def rows(self) -> Iterator[GraphRow]:
        """Read the answers in their order; of several to one URL the first counts."""
        for written in self._web.urls():
            url = normalise(written)
            if url is None:
                self.left_out[_NO_URL] += 1
            elif _is_robots(url):
                self.left_out[_ROBOTS] += 1
            else:
                try:
                    answer = self._web.respond(written)
                except NotArchived:  # a revisit of a page that is not in the archive
                    self.left_out[_NO_BODY] += 1
                    continue
                row = self._row(url, answer)
                if _is_respelling(row):
                    self.left_out[_RESPELLED] += 1
                else:
                    yield row

    def _row(self, url: str, answer: Answer) -> GraphRow:
        lease = Lease(0, url, "", 0.0, 1, 0, 0)
        try:
            self._visitor.answered(lease, _download(url, answer))
            record, links = self._settled.pop()
        except Exception:
            # As in a crawl: whatever is wrong with a page, the others are read.
            self.left_out[_UNREADABLE] += 1
            return GraphRow(url, FAILED)
        count_ignored(
            self.left_out, record.ignored_files, record.ignored_urls, record.ignored_traps
        )
        status = status_of(record.outcome, is_download=record.is_download)
        if status == FAILED:
            return GraphRow(url, FAILED)
        return GraphRow(url, status, record.language, record.bytes, links)

    def admit(
        self,
        lease: Lease,
        record: Record,
        links: Sequence[Link] = (),
        *,
        now: float,
        was_contacted: bool = True,
    ) -> list[Admission]:
        """Take the record and the links of an answer from the visitor."""
        self._settled.append((record, [link.url for link in links]))
        return []


def _is_respelling(row: GraphRow) -> bool:
    """Return True for a redirect to another spelling of the same page, which is no page itself."""
    page = fingerprint(row.url)
    return row.status == REDIRECT and any(fingerprint(link) == page for link in row.links or ())


def _download(url: str, answer: Answer) -> Download:
    return Download(
        url,
        answer.status,
        answer.body,
        answer.header("Content-Type"),
        answer.header("Content-Language"),
        answer.header("Location"),
    )
