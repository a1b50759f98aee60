"""The downloader middlewares of a crawl: bodies are unpacked, and pages read beside the network."""

import sys
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from scrapy.exceptions import DownloadCancelledError, NotConfigured
from scrapy.http import Response
from scrapy.http.cookies import potential_domain_matches
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from langfocus.classifiers.pages.charset.encodings import is_binary
from langfocus.classifiers.tables.suffixes import loaded
from langfocus.crawler.http.body import BrokenEncoding, encodings, unpacked
from langfocus.crawler.reading.readers import MANY_PAGES, Readers, processors
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.spiders.fetch import fetch_of, is_file
from langfocus.crawler.spiders.messages import download_of

if TYPE_CHECKING:
    from langfocus.crawler.spiders.rendering import Rendering

MOST_COOKIE_BYTES: Final = 8192
"""Bytes of the cookies of a response, or of a domain; many servers read no longer request."""

_COOKIE_BYTES = 64
_NAME = b"Content-Encoding"


class Unpacking:
    """Unpacks the bodies of pages and files; other answers need only status and headers.

    Raises `DownloadCancelledError` for a too large unpacked body, `BrokenEncoding` for an
    undecodable body. A host's file may be text in spite of its Content-Encoding.
    """

    def __init__(self, most: int) -> None:
        """Unpack at most so many bytes of a body."""
        self._most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Unpacking":
        """Return the middleware; raises `NotConfigured` if a setting forbids to unpack."""
        if not crawler.settings.getbool("COMPRESSION_ENABLED"):
            raise NotConfigured
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE") or sys.maxsize)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Announce the supported encodings."""
        request.headers.setdefault(b"Accept-Encoding", b"gzip, deflate, br, zstd")

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return the response with its body unpacked."""
        names = encodings(response.headers.getlist(_NAME))
        if not names or not 200 <= response.status < 300:
            return response
        try:
            body = unpacked(response.body, names, self._most)
        except BrokenEncoding:
            if is_file(request) and not is_binary(response.body):
                return response
            raise
        if len(body) > self._most:
            raise DownloadCancelledError(f"{response.url}: more than {self._most:,} bytes")
        del response.headers[_NAME]
        kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
        # `Response.replace` would detect the encoding of the packed body.
        parts = {name: getattr(response, name) for name in Response.attributes}
        return kind(**{**parts, "body": body})


class Cookies(cookies.CookiesMiddleware):
    """Scrapy's cookie middleware, with the installed public suffix list instead of a download.

    Cookies of a domain beyond `MOST_COOKIE_BYTES` are dropped: a host could set so many for its
    registered domain that every server of the domain rejects requests.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Cookies":
        """Return the middleware; raises `NotConfigured` without COOKIES_ENABLED."""
        cookies._split_domain = loaded()
        return super().from_crawler(crawler)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Keep the cookies of a response."""
        sizes = accumulate(map(len, found := response.headers.getlist(b"Set-Cookie")))
        kept = [one for one, size in zip(found, sizes, strict=True) if size <= MOST_COOKIE_BYTES]
        if kept != found:
            response = response.replace(headers={**response.headers, b"Set-Cookie": kept})
        result = super().process_response(request, response)
        domains = self.jars[request.meta.get("cookiejar")]._cookies
        for name in potential_domain_matches(urlparse_cached(request).hostname or ""):
            held = [one for of_path in domains.get(name, {}).values() for one in of_path.values()]
            size = sum(_COOKIE_BYTES + len(one.name) + len(one.value or "") for one in held)
            if size > MOST_COOKIE_BYTES:
                del domains[name]
        return result


class PageReaders:
    """Puts a download and its reading into the fetch of its request.

    A page being read counts as a download in progress, so at most `CONCURRENT_REQUESTS` pages wait
    for a reader.
    """

    def __init__(
        self, crawl: Crawl, readers: Readers, rendering: "Rendering | None" = None
    ) -> None:
        """Read the pages of a crawl, those that need a browser by `rendering`."""
        self._crawl, self._readers, self._rendering = crawl, readers, rendering

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PageReaders":
        """Return the middleware of a crawl; raises `NotConfigured` for one without readers."""
        crawl: Crawl | None = getattr(crawler.spider, "crawl", None)
        has_browser = crawl is not None and crawl.config.render is not None
        if crawl is None or (crawl.config.readers == 0 and not has_browser):
            raise NotConfigured
        number = crawl.config.readers
        number = max(1, processors() - 1) if number is None else number
        readers, rendering = Readers(number, crawl.config), None
        if has_browser:
            module = import_module("langfocus.crawler.spiders.rendering")
            rendering = module.Rendering(crawler, crawl, readers.read)
        if number == 0:
            return cls(crawl, readers, rendering)
        if crawl.config.pages is None or crawl.config.pages >= MANY_PAGES:
            readers.fork(crawl.prepared.read)
            try:
                readers.start()
            except RuntimeError:  # in a CrawlerProcess the event loop does not run yet
                crawler.signals.connect(readers.start, signals.engine_started, weak=False)
        crawler.signals.connect(readers.close, signals.spider_closed, weak=False)
        return cls(crawl, readers, rendering)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return the response when its page was read."""
        fetch = fetch_of(request)
        if fetch is None or not fetch.is_leased:
            return response
        download = download_of(response, self._crawl.clock(), request)
        if self._crawl.visitor.reads(fetch.lease, download):
            with self._crawl.traffic.being_read():
                page = await self._readers.read(download, fetch.lease.depth)
            fetch.page = download, page
            if self._rendering is not None:
                return await self._rendering.rendered(fetch, response)
        return response
