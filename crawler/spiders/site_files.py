"""Asks hosts for their files: robots.txt before the first page, tdmrep.json after a relevant one.

A file is asked for with the lease of a page: nothing else contacts the host meanwhile, and a kill
loses no more than this page. The request passes the downloader middlewares and the download
handler, which keep it to the rules of a page. It takes no slot, and it passes none of the rest of
Scrapy's engine, where it took longer than in the handler.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.http import Response

from crawler.errors import StorageError
from crawler.frontier.base import Lease, LeaseError
from crawler.politeness.network import BusyAddressError
from crawler.politeness.reservations import TDMREP_PATH, Reservations
from crawler.politeness.robots import MAX_MOVES, ROBOTS_UNREACHABLE, Verdict, is_unreachable
from crawler.readers import Answer
from crawler.reading import Download, Reading
from crawler.spiders.concurrency import begin, end
from crawler.spiders.messages import (
    EXCHANGE,
    FILE_BYTES,
    LEASE,
    LEASED_AT,
    READ_PAGE,
    redirect_target,
    retry_after_s,
    statements_of,
)
from crawler.spiders.middlewares import UNLIMITED, page_download
from crawler.url import domain_of, host_of

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider

_TRIES: Final = 5
"""Times that a file is asked for while others use its host or its address."""


def file_request(spider: "LangfocusSpider", lease: Lease, file: str) -> Request:
    """Return the request for a file of a host, in the name of a lease.

    Its download has no size limit: the spider stops it at the size at which files are cut.
    """
    meta = {LEASE: lease, LEASED_AT: spider.crawl.clock(), FILE_BYTES: 0, UNLIMITED: 0}
    return Request(file, meta={**meta, **spider.patience()})


async def answer_for(spider: "LangfocusSpider", request: Request) -> Response:
    """Return the answer for a file, which is archived; raises what ends a download.

    An error instead of a tdmrep.json is not archived: the frontier keeps that there is no file.
    """
    crawl, downloader = spider.crawl, spider.crawler.engine.downloader
    answer: Request | Response = request
    while isinstance(answer, Request):  # a middleware of the user may send it again
        request = answer
        send = downloader.handlers.download_request_async
        answer = await downloader.middleware.download_async(send, request)
    is_missing = answer.status >= 400 and request.url.endswith(TDMREP_PATH)
    if not is_missing and crawl.visitor.may_keep(statements_of(answer.headers)):
        crawl.keep_aside(request.meta.get(EXCHANGE))
    return answer


def may_ask(spider: "LangfocusSpider", file: str) -> bool:
    """Return True if a file lies neither in a private network nor behind the user's block."""
    return spider.crawl.may_contact(file) and not spider.crawl.blocking.blocks(file)


class RobotsFiles:
    """Fetches the robots.txt files that leased pages wait for."""

    def __init__(self, spider: "LangfocusSpider") -> None:
        """Ask in the name of a spider."""
        self._spider, self._crawl = spider, spider.crawl
        self._fetches: dict[str, asyncio.Task[None]] = {}

    def begin(self, lease: Lease, file: str) -> bool:
        """Begin to fetch a file; its page is leased again when the rules are stored.

        False if it is fetched already.
        """
        if file in self._fetches:
            return False
        request = file_request(self._spider, lease, file)
        begin(self._spider.crawler.engine, request)
        self._fetches[file] = asyncio.ensure_future(self.fetch(lease, file, request))
        return True

    async def fetch(self, lease: Lease, file: str, request: Request) -> None:
        """Fetch a file, store its rules, and give its page back or settle it."""
        try:
            with suppress(CloseSpider), self._spider.settling(lease):
                try:
                    response = await answer_for(self._spider, request)
                except Exception as error:
                    self._failed(lease, file, error, request.meta[LEASED_AT])
                else:
                    self._answered(lease, file, response)
        finally:
            self._fetches.pop(file, None)
            end(self._spider.crawler.engine, request)

    def _answered(self, lease: Lease, file: str, response: Response) -> None:
        crawl, now = self._crawl, self._crawl.clock()
        if is_unreachable(response.status):
            hold_s = retry_after_s(response, now) or 0.0
            self._without_rules(lease, file, ROBOTS_UNREACHABLE, is_final=False, hold_s=hold_s)
            return
        target = redirect_target(response)
        if target is not None and not may_ask(self._spider, target):
            self._without_rules(lease, file, ROBOTS_UNREACHABLE, is_final=True)
            return
        if target is None or not crawl.robots.move(lease.url, target, now, file):
            crawl.robots.keep(lease.url, response.status, response.body, now, file)
        crawl.frontier.release(lease, now=now)

    def _failed(self, lease: Lease, file: str, error: Exception, asked_at: float) -> None:
        """Fetch nothing from a host whose robots.txt cannot be fetched (RFC 9309, 2.3.1.4)."""
        if not self._spider.waits(lease, error, asked_at):
            reason, is_final = self._spider.reason(lease, error)
            self._without_rules(lease, file, reason, is_final=is_final)

    def _without_rules(
        self, lease: Lease, file: str, reason: str, *, is_final: bool, hold_s: float = 0.0
    ) -> None:
        """Ask for a file again later; after the last try the site is forbidden for a while."""
        crawl, now, config = self._crawl, self._crawl.clock(), self._crawl.config
        failures = 0 if is_final else crawl.robots.fail(lease.url, now, file)
        if 0 < failures <= config.retry_times:
            not_before = now + config.rest_s(failures, hold_s)
            crawl.frontier.release(lease, now=now, not_before=not_before)
            return
        crawl.robots.keep(lease.url, None, b"", now, file)
        crawl.visitor.failed(lease, reason, is_final=True)


class SiteFiles:
    """The middleware that adds the statements of tdmrep.json to the downloads of relevant pages.

    It asks before the page is settled, so that the page's record has the answer.
    """

    def __init__(self, spider: "LangfocusSpider") -> None:
        """Ask in the name of a spider."""
        self._spider, self._crawl = spider, spider.crawl
        self._reservations = Reservations(spider.crawl.frontier)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "SiteFiles":
        """Return the middleware; raises `NotConfigured` for a crawl that asks no host.

        Those are crawls without servers, and those that do not obey robots.txt or directives.
        """
        spider = cast("LangfocusSpider", crawler.spider)
        crawl = getattr(spider, "crawl", None)
        if crawl is None or crawl.web is not None:
            raise NotConfigured
        if not (crawl.config.obeys_robots and crawl.config.obeys_directives):
            raise NotConfigured
        return cls(spider)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Return the response when the file of its host is known, if its page is relevant."""
        if READ_PAGE in request.meta:
            download, page = request.meta[READ_PAGE]
        else:
            download, page = page_download(self._crawl, request, response), None
        if download is not None:
            request.meta[READ_PAGE] = await self._added(request.meta[LEASE], download, page)
        return response

    async def _added(
        self, lease: Lease, download: Download, page: Answer | None
    ) -> tuple[Download, Answer | None]:
        """Return a download with the statements of its host's file, and its page."""
        if self._is_other(page):
            return download, page
        file = self._reservations.file_for(lease.url, self._crawl.clock())
        if page is None and file is not None:
            with suppress(Exception):  # it is read again where its failure is handled
                page = self._crawl.visitor.read(download, lease.depth)
        if self._is_other(page):
            return download, page
        if isinstance(page, Reading) and file is not None:
            body = await self._body(lease, file, len(download.body))
            self._reservations.keep(lease.url, body, self._crawl.clock())
        return replace(download, reserved=self._reservations.of(lease.url)), page

    def _is_other(self, page: Answer | None) -> bool:
        """Return True for a page that was read and is not in the language."""
        return isinstance(page, Reading) and page.language != self._crawl.config.lang

    async def _body(self, lease: Lease, file: str, size: int) -> bytes:
        """Return the body of a file; b"" where there is none, or no answer.

        A page of `size` bytes waits for it.

        Redirects within the registered domain are followed: many hosts together could have a
        stranger's host asked without end.
        """
        for _ in range(MAX_MOVES + 1):
            response = await self._answer(lease, file, size)
            if response is None:
                break
            target = redirect_target(response)
            if target is None:
                return response.body if 200 <= response.status < 300 else b""
            if domain_of(host_of(target)) != domain_of(lease.host):
                break
            file = target
        return b""

    async def _answer(self, lease: Lease, file: str, size: int) -> Response | None:
        """Return the answer for a file; None if it may not be asked for, or nothing came."""
        crawl, spider = self._crawl, self._spider
        if not may_ask(spider, file):
            return None
        if crawl.robots.verdict(file, crawl.clock()) is Verdict.FORBIDDEN:
            return None
        wait_s = max(crawl.config.delay_s, crawl.robots.delay_s(lease.url))
        for _ in range(_TRIES):
            with spider.throttle.beside(spider.crawler.engine, size):
                await asyncio.sleep(wait_s)
            try:
                return await answer_for(spider, file_request(spider, lease, file))
            except BusyAddressError as error:
                wait_s = error.wait_s
            except (LeaseError, StorageError):
                raise
            except Exception:  # any failure of a download says the same: there is no answer
                return None
        return None
