"""The downloader middlewares of a crawl: bodies are unpacked, and pages read beside the network."""

import os
from typing import Final

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import (
    ACCEPTED_ENCODINGS,
    HttpCompressionMiddleware,
)
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, NotConfigured
from scrapy.http import Response

from langfocus.classifiers.pages.charset.charsets import canonical_label
from langfocus.crawler.crawl import Crawl
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.readers import MANY_PAGES, Readers
from langfocus.crawler.reading import Download
from langfocus.crawler.spiders.messages import FILE_BYTES, LEASE, READ_PAGE, download_of

MAX_LAYERS: Final = 3
"""Most layers of compression of a body; each may unpack to `DOWNLOAD_MAXSIZE` bytes."""

UNLIMITED: Final = "download_maxsize"
"""The key in `Request.meta` for a limit of the download; 0 limits only the unpacked body."""

_NAME = b"Content-Encoding"
_KNOWN = frozenset({*ACCEPTED_ENCODINGS, b"x-gzip"})
_NO_ENCODINGS = frozenset({b"", b"identity", b"none", b"binary", b"8bit", b"7bit"})
"""Names that some servers send with a body that is not encoded; so are names of charsets."""


class BrokenEncoding(Exception):
    """A body cannot be unpacked by its Content-Encoding."""


class Unpacking(HttpCompressionMiddleware):
    """Scrapy's middleware with different errors for two failures.

    `DownloadCancelledError`: the unpacked body is too large. `BrokenEncoding`: any other failure,
    also an encoding that is not known.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Return the response with its body unpacked.

        `DOWNLOAD_MAXSIZE` limits the unpacked body, even if the request has another limit.
        """
        names = _encodings(response)
        if len(names) > MAX_LAYERS:
            raise BrokenEncoding(f"compressed more than {MAX_LAYERS} times")
        if not names:
            return response
        response.headers[_NAME] = names
        try:
            return super().process_response(_without_limit_of_its_own(request), response)
        except IgnoreRequest as error:
            raise DownloadCancelledError(str(error)) from error
        except Exception as error:  # each of the four formats has different errors
            raise BrokenEncoding(str(error)) from error


def _encodings(response: Response) -> list[bytes]:
    """Return the encodings of a body in their order; raises `BrokenEncoding` for an unknown one."""
    told = b",".join(response.headers.getlist(_NAME)).lower().split(b",")
    names = [name.strip() for name in told]
    names = [name for name in names if name in _KNOWN or not _is_harmless(name)]
    for name in names:
        if name not in _KNOWN:
            raise BrokenEncoding(f"unknown Content-Encoding {name[:40]!r}")
    return names


def _is_harmless(name: bytes) -> bool:
    return name in _NO_ENCODINGS or canonical_label(name.decode("latin-1")) is not None


def _without_limit_of_its_own(request: Request) -> Request:
    if UNLIMITED not in request.meta:
        return request
    meta = {key: value for key, value in request.meta.items() if key != UNLIMITED}
    return request.replace(meta=meta)


class PageReaders:
    """Puts a download, and what was read of it, into `Request.meta` under `READ_PAGE`.

    A page that is read counts as a download that goes on, so no more than `CONCURRENT_REQUESTS`
    pages wait for a reader.
    """

    def __init__(self, crawl: Crawl, readers: Readers) -> None:
        """Read the pages of a crawl."""
        self._crawl = crawl
        self._readers = readers

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PageReaders":
        """Return the middleware of a crawl; raises `NotConfigured` for one without readers."""
        crawl: Crawl | None = getattr(crawler.spider, "crawl", None)
        if crawl is None or crawl.config.readers == 0:
            raise NotConfigured
        readers = Readers(crawl.config.readers or max(1, processors() - 1), crawl.config)
        if crawl.config.pages is None or crawl.config.pages >= MANY_PAGES:
            readers.start()
        crawler.signals.connect(readers.close, signals.spider_closed, weak=False)
        return cls(crawl, readers)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return the response when its page was read."""
        download = page_download(self._crawl, request, response)
        if download is not None:
            self._crawl.reading += 1
            try:
                page = await self._readers.read(download, request.meta[LEASE].depth)
            finally:
                self._crawl.reading -= 1
            request.meta[READ_PAGE] = download, page
        return response


def page_download(crawl: Crawl, request: Request, response: Response) -> Download | None:
    """Return the download of a leased URL whose page is to be read, None of any other."""
    lease: Lease | None = request.meta.get(LEASE)
    if lease is None or FILE_BYTES in request.meta:
        return None
    response.request = request  # as the engine does later
    download = download_of(response, crawl.clock())
    return download if crawl.visitor.reads(lease, download) else None


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
