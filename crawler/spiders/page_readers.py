"""The middleware that has pages read beside the network, before the spider gets them.

A page that is read counts as a download that goes on, so no more than `CONCURRENT_REQUESTS` pages
wait for a reader.
"""

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.crawl import Crawl
from crawler.frontier.base import Lease
from crawler.readers import Readers
from crawler.spiders.requests import LEASE, READ_PAGE, ROBOTS_FILE
from crawler.spiders.responses import download_of


class PageReaders:
    """Puts a download, and what was read of it, into `Request.meta` under `READ_PAGE`."""

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
        from joblib import cpu_count

        number = crawl.config.readers or max(1, cpu_count() - 1)
        readers = Readers(number, crawl.config)
        crawler.signals.connect(readers.close, signals.spider_closed, weak=False)
        return cls(crawl, readers)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return the response when its page was read."""
        lease: Lease | None = request.meta.get(LEASE)
        if lease is not None and ROBOTS_FILE not in request.meta:
            response.request = request  # as the engine does later
            download = download_of(response, self._crawl.clock())
            if self._crawl.visitor.reads(lease, download):
                page = await self._readers.read(download, lease.depth)
                request.meta[READ_PAGE] = download, page
        return response
