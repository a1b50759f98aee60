"""The language-focused spider: it passes responses to the visitor."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import getproxies

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, StopDownload
from scrapy.http import Response
from scrapy.http.headers import Headers

from crawler.corpus.item import PageItem, settled_item
from crawler.crawl import Crawl
from crawler.errors import StorageError
from crawler.frontier.base import PAGE, UNCHANGED, Lease, LeaseError
from crawler.opening import open_crawl
from crawler.politeness.network import (
    BusyAddressError,
    CapError,
    LocalFaultError,
    NoAddressYetError,
)
from crawler.politeness.robots import MAX_ROBOTS_BYTES
from crawler.readers import Answer, Readers, ReadingError, processors
from crawler.reading import Download, is_text
from crawler.sources.sitemaps import may_be_sitemap
from crawler.spiders.concurrency import PAUSE_S, Throttle, begin, end
from crawler.spiders.faults import explain
from crawler.spiders.messages import (
    FILE_BYTES,
    LEASE,
    LEASED_AT,
    content_type_of,
    download_of,
)
from crawler.spiders.printable_log import make_log_printable
from crawler.spiders.scrapy_settings import adapt, config_of, proxy_remarks
from crawler.visit import NO_ADDRESS

_TIMEOUT = "timeout"
_LEAST_TIMEOUT_S = 1.0
_SMALL_BODY_BYTES = 256 * 1024


Read = tuple[Download, Answer | None]
"""A download and its page; None: the crawl reads it itself."""


class LangfocusSpider(Spider):
    """Crawls the part of the Web that is written in one language.

    Its arguments are in `crawler.config.ARGUMENTS`. It has no `start_urls`, since the seeds are in
    the frontier. The results are in the folder JOBDIR.
    """

    name = "langfocus"
    crawl: Crawl
    _wants_items = False
    _readers: Readers | None = None
    add_reserved: "Callable[[Lease, Download, Answer | None], Awaitable[Read]] | None" = None

    def __init__(self) -> None:
        super().__init__()
        self.throttle = Throttle()
        self.tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, *args: Any, crawl: Crawl | None = None, **arguments: str
    ) -> "LangfocusSpider":
        """Return a spider with an open crawl; raises `CrawlError`.

        `crawl` is a crawl that was opened from the same arguments; None: it is opened here.
        """
        make_log_printable()
        if crawl is None:
            crawl = open_crawl(config_of(arguments, crawler.settings))
        spider = cls()
        spider.crawl = crawl
        spider._set_crawler(crawler)
        remarks = [crawl.config.bot.advice] if crawl.config.bot.advice else []
        if crawl.web is None and crawler.settings.getbool("HTTPPROXY_ENABLED"):
            remarks += proxy_remarks(getproxies())
        for line in remarks:
            spider.logger.warning("%s", line)
        adapt(crawler.settings, crawl)
        wants = map(crawler.settings.getdict, ("FEEDS", "ITEM_PIPELINES"))
        spider._wants_items = any(wants)
        config = crawl.config
        if config.readers != 0:
            spider._readers = Readers(config.readers or max(1, processors() - 1), config)
            crawler.signals.connect(spider._readers.close, signals.spider_closed, weak=False)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        crawler.signals.connect(spider.on_bytes, signals.bytes_received)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def begin_work(self, request: Request, work: Coroutine[Any, Any, None]) -> None:
        """Begin some work with a request, which counts as one in progress until the work ends."""
        begin(self.crawler.engine, request)
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def begin_page(self, lease: Lease, meta: dict[str, Any]) -> None:
        """Begin to fetch a leased page; `meta` is that of its request."""
        headers = self.crawl.revisits.conditions(lease.url)
        meta = {LEASE: lease, **meta, **self.patience()}
        request = Request(lease.url, headers=headers, meta=meta)
        self.begin_work(request, self.fetch(lease, request))

    async def fetch(self, lease: Lease, request: Request) -> None:
        """Fetch a page and settle it; its item goes to feeds and pipelines."""
        engine = self.crawler.engine
        try:
            with self.settling(lease):
                try:
                    response = await self.answer(request)
                    download = download_of(response, self.crawl.clock())
                    if self.crawl.visitor.reads(lease, download):
                        download, page = await self._read(lease, download)
                    else:
                        page = None
                except Exception as error:
                    self._failed(lease, error, request.meta[LEASED_AT])
                    return
                for item in self._settled(lease, response, download, page):
                    await engine.scraper.start_itemproc_async(item, response=response)
        finally:
            end(engine, request)

    async def answer(self, request: Request) -> Response:
        """Return the answer to a request; raises what ends a download.

        The request passes the downloader middlewares and the download handler, and none of the rest
        of Scrapy's engine, which took longer than these.
        """
        downloader = self.crawler.engine.downloader
        answer: Request | Response = request
        while isinstance(answer, Request):  # a middleware of the user may send it again
            request = answer
            send = downloader.handlers.download_request_async
            answer = await downloader.middleware.download_async(send, request)
        answer.request = request
        return answer

    def patience(self) -> dict[str, float]:
        """Count a request; until a server answered, its download ends with the wait for that."""
        watch, now = self.crawl.ending, self.crawl.clock()
        watch.ask(now)
        timeout_s = self.settings.getfloat("DOWNLOAD_TIMEOUT") or float("inf")
        left_s = max(_LEAST_TIMEOUT_S, watch.answer_deadline - now)
        return {"download_timeout": left_s} if left_s < timeout_s else {}

    async def _read(self, lease: Lease, download: Download) -> Read:
        """Return a download with what its host reserves, and its page if a reader read it.

        A page that is read counts as a download that goes on, so no more than
        `CONCURRENT_REQUESTS` pages wait for a reader.
        """
        page = None
        if self._readers is not None:
            self.crawl.reading += 1
            try:
                page = await self._readers.read(download, lease.depth)
            finally:
                self.crawl.reading -= 1
        if self.add_reserved is None:
            return download, page
        return await self.add_reserved(lease, download, page)

    def _settled(
        self, lease: Lease, response: Response, download: Download, page: Answer | None
    ) -> list[PageItem]:
        """Settle a page; return its item if a feed or a pipeline wants one."""
        received = {"response": response, "request": response.request, "spider": self}
        self.crawler.signals.send_catch_log(signals.response_received, **received)
        if self._is_over(lease):
            return []
        self.crawl.fetched(self.crawl.clock() - response.meta[LEASED_AT])
        if isinstance(page, ReadingError):
            raise page
        record = self.crawl.visitor.answered(lease, download, page)
        self.throttle.recover(self.crawler.engine, self.crawl.clock())
        if not self._wants_items or record is None or record.outcome not in (PAGE, UNCHANGED):
            return []
        return [settled_item(self.crawl.run.connection, lease, record)]

    def _failed(self, lease: Lease, error: Exception, leased_at: float) -> None:
        """Settle a page whose download failed."""
        if not self._is_over(lease) and not self.waits(lease, error, leased_at):
            reason, is_final = self.reason(lease, error)
            self.crawl.visitor.failed(lease, reason, is_final=is_final)

    @contextmanager
    def settling(self, lease: Lease) -> Iterator[None]:
        """Handle ended leases and failures to write while a URL is settled.

        A lease of a shared crawl ends if its process is blocked for too long; the worker that has
        the URL then settles it. If the run can no longer be written, the crawl ends. After any
        other exception the URL is settled with the outcome `error`, since a crawl does not end
        before its leases do.
        """
        try:
            try:
                yield
            except (LeaseError, StorageError):
                raise
            except Exception:
                self.give_up(lease)
        except LeaseError:
            return
        except StorageError as error:
            self.crawl.fault = str(error)

    def give_up(self, lease: Lease) -> None:
        """Settle a URL while an unexpected exception is handled; the log has its traceback."""
        self.logger.exception("%s could not be settled", lease.url)
        try:
            self.crawl.visitor.failed(lease, "error", is_final=True)
        except LeaseError:
            return  # it was settled before the exception
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"{lease.url} can be neither settled nor given back") from error

    def _is_over(self, lease: Lease) -> bool:
        """Return True if a goal was reached during the download; the URL is then queued again."""
        if not self.crawl.ending.is_over():
            return False
        self.crawl.frontier.release(lease, now=self.crawl.clock())
        return True

    def reason(self, lease: Lease, error: Exception) -> tuple[str, bool]:
        """Return the reason of a failure, and whether a retry is useless."""
        reason, is_final = explain(error)
        self.crawl.ending.fail(lease.host, reason)
        return reason, is_final

    def waits(self, lease: Lease, error: Exception, asked_at: float) -> bool:
        """Return True if the server of a URL did not cause the failure of its request.

        The URL is then queued again, or settled if a cap is reached.
        """
        now, frontier = self.crawl.clock(), self.crawl.frontier
        if isinstance(error, NoAddressYetError):
            self.crawl.ending.fail(lease.host, NO_ADDRESS)
        if isinstance(error, BusyAddressError):
            frontier.release(lease, now=now, not_before=now + error.wait_s)
            return True
        if isinstance(error, LocalFaultError):
            frontier.release(lease, now=now, not_before=now + PAUSE_S)
            self.throttle.slow_down(self.crawler.engine, str(error), now)
            return True
        if isinstance(error, CapError):
            if error.outcome:
                self.crawl.visitor.refused(lease, error.outcome)
            return True
        if isinstance(error, LeaseError | StorageError):
            raise error
        # This process was blocked meanwhile, so the time-out is not the server's fault.
        if self.crawl.waiting.ended_after(asked_at) and explain(error)[0] == _TIMEOUT:
            frontier.release(lease, now=now)
            return True
        return False

    def on_bytes(self, data: bytes, request: Request, **kwargs: Any) -> None:
        """Stop the download of a file of a host at the size that is read."""
        if FILE_BYTES in request.meta:
            request.meta[FILE_BYTES] += len(data)
            if request.meta[FILE_BYTES] > MAX_ROBOTS_BYTES:
                raise StopDownload(fail=False)

    def on_headers(
        self, headers: Headers, body_length: object, request: Request, **kwargs: Any
    ) -> None:
        """Note the first answer; stop the download of a large body that is not text.

        A small one is read: to stop it may close a connection that is already back in the pool,
        and the next request on that connection would fail.
        """
        self.crawl.ending.come()
        if FILE_BYTES in request.meta:
            return
        is_large = isinstance(body_length, int) and body_length > _SMALL_BODY_BYTES
        kind = content_type_of(headers)
        is_sitemap = self.crawl.config.reads_sitemaps and may_be_sitemap(kind)
        if is_large and not is_text(kind) and not is_sitemap:
            raise StopDownload(fail=False)

    def on_idle(self) -> None:
        """Close the spider with the reason why there is no more work."""
        if self.crawl.fault:
            raise CloseSpider("storage")
        try:
            goal = self.crawl.goal_reached()
        except StorageError as error:
            self.crawl.fault, goal = str(error), "storage"
        if goal:
            raise CloseSpider(goal)
