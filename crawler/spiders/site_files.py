"""The downloader middleware that asks the hosts of relevant pages for their tdmrep.json.

It asks before the page is settled, so that the page's record has the answer. The page keeps its
lease: nothing else contacts the host meanwhile, and a kill loses no more than this page. A request
has the limits of one for a robots.txt and takes no slot.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.errors import StorageError
from crawler.frontier.base import Lease, LeaseError
from crawler.politeness.network import BusyAddressError
from crawler.politeness.reservations import Reservations
from crawler.politeness.robots import MAX_MOVES, Verdict
from crawler.readers import Answer
from crawler.reading import Download, Reading
from crawler.spiders.concurrency import IN_SLOT
from crawler.spiders.messages import (
    EXCHANGE,
    LEASE,
    LEASED_AT,
    READ_PAGE,
    redirect_target,
    statements_of,
)
from crawler.spiders.middlewares import page_download
from crawler.url import domain_of, host_of

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider

_TRIES: Final = 5
"""Times that a file is asked for while others use its host or its address."""


class SiteFiles:
    """Adds the statements of tdmrep.json to the downloads of relevant pages."""

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
            await self._ask(lease, file)
        return replace(download, reserved=self._reservations.of(lease.url)), page

    def _is_other(self, page: Answer | None) -> bool:
        """Return True for a page that was read and is not in the language."""
        return isinstance(page, Reading) and page.language != self._crawl.config.lang

    async def _ask(self, lease: Lease, file: str) -> None:
        """Store what is answered for a file; where nothing is, the host is given up.

        Redirects within the registered domain are followed: many hosts together could have a
        stranger's host asked without end.
        """
        crawl = self._crawl
        for _ in range(MAX_MOVES + 1):
            response = await self._answer(lease, file)
            if response is None:
                break
            if crawl.visitor.may_keep(statements_of(response.headers)):
                crawl.keep_aside(response.meta.get(EXCHANGE))
            target = redirect_target(response)
            if target is None:
                body = response.body if 200 <= response.status < 300 else b""
                self._reservations.keep(lease.url, body, crawl.clock())
                return
            if domain_of(host_of(target)) != domain_of(lease.host):
                break
            file = target
        self._reservations.give_up(lease.url, crawl.clock())

    async def _answer(self, lease: Lease, file: str) -> Response | None:
        """Return the answer for a file; None if it may not be asked for, or nothing came."""
        crawl, spider = self._crawl, self._spider
        is_open = crawl.may_contact(file) and not crawl.blocking.blocks(file)
        if not is_open or crawl.robots.verdict(file, crawl.clock()) is Verdict.FORBIDDEN:
            return None
        wait_s = max(crawl.config.delay_s, crawl.robots.delay_s(lease.url))
        for _ in range(_TRIES):
            with spider.throttle.beside(spider.crawler.engine):
                await asyncio.sleep(wait_s)
            meta = {LEASE: lease, LEASED_AT: crawl.clock(), **IN_SLOT}
            request = spider.robots_request(file, meta)
            try:
                return await spider.crawler.engine.download_async(request)
            except BusyAddressError as error:
                wait_s = error.wait_s
            except (LeaseError, StorageError):
                raise
            except Exception:  # any failure of a download says the same: there is no answer
                return None
        return None
