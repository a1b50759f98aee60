"""The spider middleware of a spider with callbacks: it settles a page after its callback ended."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from twisted.python.failure import Failure

from langfocus.crawler.spiders.callbacks import PAGE_KEY, Callbacks, detached, is_link
from langfocus.crawler.spiders.fetch import Fetch, fetch_of
from langfocus.crawler.spiders.fetches import Fetches, callbacks_of


class NoPage(IgnoreRequest):
    """The answer is none for the spider's callback; Scrapy then calls the errback."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"{response.url}: no page")
        self.response = response


class SpiderCallbacks:
    """Gives each page to the spider's callback, and settles the page at the callback's end.

    The requests of the callback become links of the page. A crawl killed before this end fetches
    the page again, so no request and no item is lost; an item may come twice.
    """

    def __init__(self, crawler: Crawler, callbacks: Callbacks) -> None:
        """Serve the spider of a crawler."""
        self._crawler, self._callbacks = crawler, callbacks

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "SpiderCallbacks":
        """Return the middleware; raises `NotConfigured` for a spider without callbacks."""
        callbacks = callbacks_of(crawler)
        if callbacks is None:
            raise NotConfigured
        return cls(crawler, callbacks)

    @property
    def _fetches(self) -> Fetches:
        scheduler: Any = self._crawler.engine.scheduler
        fetches: Fetches = scheduler.fetches
        return fetches

    def _fetch_of(self, response: Response) -> Fetch | None:
        """Return the fetch of a page that a callback of the spider gets."""
        fetch, fetches = fetch_of(response.request), self._fetches
        is_own = response.request is None or response.request.callback != fetches.settle_answer
        return fetch if is_own else None

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Put the `Page` into `Response.meta`; raises `NoPage`."""
        fetch = self._fetch_of(response)
        if fetch is None or response.request is None:
            return
        try:
            download, answer = self._fetches.read(fetch, response)
        except Exception as error:
            # Settling reads the response again, and has an outcome for the failure.
            raise NoPage(response) from error
        page = self._callbacks.page_for(fetch, download, answer)
        if page is None:
            raise NoPage(response)
        response.request.meta[PAGE_KEY] = page
        if self._callbacks.takes_page and response.request.callback == self._callbacks.on_page:
            response.request.cb_kwargs["page"] = page

    async def process_spider_output(
        self, response: Response, result: AsyncIterable[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield the items of a callback, and keep its requests as links of the page."""
        fetch = self._fetch_of(response)
        try:
            async for one in result:
                if fetch is None or not isinstance(one, Request):
                    yield one
                elif not is_link(request := detached(one)):
                    yield request
                elif self._is_allowed(request):
                    fetch.requests.append(request)
        finally:
            if fetch is not None:
                self._fetches.settle_page(fetch, response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Settle the page of a callback that raised."""
        fetch = self._fetch_of(response)
        if fetch is not None:
            self._fetches.settle_page(fetch, response)

    def _is_allowed(self, request: Request) -> bool:
        """Send the signal that the engine sends of a scheduled request, which may forbid it."""
        answers = self._crawler.signals.send_catch_log(
            signals.request_scheduled,
            request=request,
            spider=self._crawler.spider,
            dont_log=IgnoreRequest,
        )
        return not any(
            isinstance(answer, Failure) and isinstance(answer.value, IgnoreRequest)
            for _, answer in answers
        )
