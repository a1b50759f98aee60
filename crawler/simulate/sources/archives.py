"""WARC files, whose pages are read as a crawl reads them, and WAT files, which are read already."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from classifiers.pages.html.links import Resolver
from crawler.frontier.base import Admission, Frontier, Lease, Link, Record
from crawler.simulate.sources.source import GraphRow, count_ignored, queueable, status_of
from crawler.simulate.webgraph import FAILED, PAGE, REDIRECT
from crawler.strategies.orderings import BreadthFirst
from crawler.url import fingerprint, normalise
from crawler.visit import Download, Read, RetryRule, Visitor, VisitRules, is_text
from crawler.web.contract import Answer, NotArchived
from crawler.web.records import Skipped, read_block, scan

_DAMAGED = "damaged records"
_NO_URL = "answers to invalid URLs"
_RESPELLED = "redirects to another spelling of the same page"
_REPEATED = "answers to a URL that was answered before"
_ROBOTS = "answers that are a robots.txt"
_NO_BODY = "answers whose body is not in the archive"
_UNREADABLE = "pages that could not be read"
_NO_METADATA = "records without the metadata of an answer"

_LINK_ELEMENTS = ("A@", "AREA@", "FRAME@", "IFRAME@")
"""The elements of a WAT record's links that lead to pages; those of images and forms do not."""


def _is_robots(url: str) -> bool:
    return url.endswith("/robots.txt") and url.count("/") == 3


class WarcSource:
    """The answers in a WARC file; a page's language is told as a crawl tells it.

    Unlike in a crawl no languages of linking pages are among the evidence. Raises `ArchiveError`
    for a file that is missing or without answers.
    """

    has_scattered_links = False
    ordering = None

    def __init__(self, path: Path, read: Read) -> None:
        from crawler.web.archive import ArchiveWeb

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


class WatSource:
    """The links that a WAT file has of the pages of a WARC file; it knows no languages.

    Raises `ArchiveError` for a file that is missing or without a whole record.
    """

    has_scattered_links = False
    ordering = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = f"WAT {path}"
        self.left_out: Counter[str] = Counter()

    def seeds(self) -> list[str]:
        """Return none."""
        return []

    def rows(self) -> Iterator[GraphRow]:
        """Read the metadata of answers in their order."""
        skipped = Skipped()
        for record in scan(self._path, skipped):
            if record.kind == "metadata":
                row = self._row(read_block(self._path, record.offset)[1])
                if row is not None and _is_respelling(row):
                    self.left_out[_RESPELLED] += 1
                elif row is not None:
                    yield row
        if skipped.number:
            self.left_out[_DAMAGED] = skipped.number

    def _row(self, block: bytes) -> GraphRow | None:
        try:
            envelope = json.loads(block)["Envelope"]
            header = envelope["WARC-Header-Metadata"]
            if header["WARC-Type"] != "response":
                return None
            url = normalise(header["WARC-Target-URI"])
            http = envelope["Payload-Metadata"]["HTTP-Response-Metadata"]
            code = int(http["Response-Message"]["Status"])
            headers = {name.lower(): str(value) for name, value in http["Headers"].items()}
            html = http.get("HTML-Metadata") or {}
            if url is None or _is_robots(url):
                self.left_out[_ROBOTS if url else _NO_URL] += 1
                return None
            return self._row_of(url, code, headers, html, _size(http))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.left_out[_NO_METADATA] += 1
            return None

    def _row_of(
        self, url: str, code: int, headers: Mapping[str, str], html: Mapping[str, Any], size: int
    ) -> GraphRow:
        if 300 <= code < 400 and "location" in headers:
            target = normalise(headers["location"], url) or ""
            return GraphRow(url, REDIRECT, links=queueable([target], self.left_out))
        if not (200 <= code < 300 and is_text(headers.get("content-type"))):
            return GraphRow(url, FAILED)
        return GraphRow(url, PAGE, bytes=size, links=queueable(_links(url, html), self.left_out))


def _size(http: Mapping[str, Any]) -> int:
    return int(http.get("Entity-Length") or 0)


def _links(url: str, html: Mapping[str, Any]) -> list[str]:
    head = html.get("Head") or {}
    metas = [meta for meta in head.get("Metas") or () if isinstance(meta, dict)]
    if any(
        str(meta.get("name", "")).lower() == "robots"
        and "nofollow" in str(meta.get("content", "")).lower()
        for meta in metas
    ):
        return []
    base = Resolver(url).resolve(str(head.get("Base") or "")) or url
    resolver = Resolver(base)
    written = [
        str(link["url"])
        for link in html.get("Links") or ()
        if "url" in link and str(link.get("path", "")).startswith(_LINK_ELEMENTS)
    ]
    return [target for target in map(resolver.resolve, written) if target]
