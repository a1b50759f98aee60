"""The add-on for unchanged spiders: languages of responses, order of requests."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings

from langfocus.classifiers.pages.methods import fasttext_file
from langfocus.crawler.errors import SettingError
from langfocus.crawler.options.config import ARGUMENTS, Config
from langfocus.crawler.reading.configured import ordering_of, page_method
from langfocus.crawler.reading.page import identified
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.spiders.callbacks import NO_PAGE, PAGE_KEY, Callbacks, Page
from langfocus.crawler.spiders.fetches import attach, callbacks_of
from langfocus.crawler.spiders.framework import bring
from langfocus.crawler.spiders.langfocus import Spider as OwnSpider
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.printable_log import make_log_printable
from langfocus.crawler.spiders.scrapy_settings import adapt, config_of
from langfocus.crawler.strategies.links import SEED, LinkSource
from langfocus.crawler.url import normalise

SCHEDULER: Final = "LANGFOCUS_SCHEDULER"
DROP_OTHERS: Final = "LANGFOCUS_DROP_OTHERS"
_ARGUMENTS: Final = {f"LANGFOCUS_{name.upper()}": name for name in ARGUMENTS}
"""The settings that are arguments of a crawl elsewhere."""

ADDON_SETTINGS: Final = (*_ARGUMENTS, SCHEDULER, DROP_OTHERS)
"""The settings of a project that only the add-on reads."""

_STEPS: Final = 100
"""Request priority steps per score unit."""


class Addon:
    """A Scrapy add-on: `ADDONS = {"langfocus.Addon": 300}` and `LANGFOCUS_LANG = "gl"`.

    Each response has a `Page` in `Response.meta["langfocus"]`; with LANGFOCUS_DROP_OTHERS callbacks
    get no page in another language. Requests get a priority by their URL. With LANGFOCUS_SCHEDULER
    the frontier orders them over all hosts, with the caps and filters of a crawl, and the run is
    kept in a folder as that of a crawl is.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Serve the spider of a crawler."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Addon":
        """Return the add-on of a crawler."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Bring what the spider needs; raises `SettingError`."""
        make_log_printable()
        spider = self._crawler.spider
        if spider is None or isinstance(spider, OwnSpider):
            return  # a spider of langfocus brings all itself
        config = addon_config(settings, spider.name)
        others = {Languages: 15, OtherLanguages: 20, **settings.getdict("SPIDER_MIDDLEWARES")}
        settings.set("SPIDER_MIDDLEWARES", others, priority="spider")
        if not settings.getbool(SCHEDULER):
            return
        for name, value in {"FRONTIER": config.frontier, "RENDER": config.render}.items():
            if value is not None:
                raise SettingError(f"LANGFOCUS_{name}: not with {SCHEDULER}")
        bring(settings, keeps_spider_middlewares=True)
        crawl = open_crawl(config)
        adapt(settings, crawl)
        callbacks = Callbacks(spider, crawl, on_page=spider._parse, follows_links=False)
        attach(self._crawler, crawl, callbacks)


def addon_config(settings: BaseSettings, spider: str) -> Config:
    """Return the configuration that the settings of a project describe; raises `SettingError`.

    Without LANGFOCUS_SEEDS the seeds are what the spider's `start` yields.
    """
    given = {name: settings.get(key) for key, name in _ARGUMENTS.items() if key in settings}
    if not given.get("lang"):
        raise SettingError('LANGFOCUS_LANG is missing: name the target language ("gl")')
    return config_of({"seeds": (), **given}, settings, spider=spider, others=ADDON_SETTINGS)


class Languages:
    """Identifies the page of each response, and gives requests a priority by their URL.

    With LANGFOCUS_SCHEDULER the crawl does both.
    """

    def __init__(self, config: Config) -> None:
        """Identify and score for a configuration; raises `SettingError`."""
        self._targets = config.targets
        self._ordering = ordering_of(config)
        self._method = page_method(config.identify, fasttext_file(config.fasttext))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Languages":
        """Return the middleware; raises `NotConfigured` with LANGFOCUS_SCHEDULER."""
        if callbacks_of(crawler) is not None or crawler.spider is None:
            raise NotConfigured
        return cls(addon_config(crawler.settings, crawler.spider.name))

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Store a response's `Page` in the response meta."""
        response.meta[PAGE_KEY] = self._page(response)

    def _page(self, response: Response) -> Page:
        download = download_of(response, 0.0)
        page, label = identified(download, self._method)
        if page is None:
            return NO_PAGE
        is_relevant = label.language in self._targets
        found = label.language, label.confidence, label.method, page.charset
        return Page(*found, is_relevant=is_relevant, links=tuple(page.links), _download=download)

    async def process_spider_output(
        self, response: Response, result: AsyncIterable[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield items, and requests with a priority."""
        page: Page = response.meta.get(PAGE_KEY, NO_PAGE)
        source = LinkSource(is_relevant=page.is_relevant, depth=response.meta.get("depth", 0))
        async for one in result:
            yield self._ordered(one, source) if isinstance(one, Request) else one

    async def process_start(self, start: AsyncIterable[Any]) -> AsyncIterator[Any]:
        """Yield what a spider starts with, requests with a priority."""
        async for one in start:
            yield self._ordered(one, SEED) if isinstance(one, Request) else one

    def _ordered(self, request: Request, source: LinkSource) -> Request:
        urls = [url for url in [normalise(request.url)] if url]
        steps = sum(round(_STEPS * link.score) for link in self._ordering.links(urls, source))
        meta = {name: value for name, value in request.meta.items() if name != PAGE_KEY}
        return request.replace(priority=request.priority + steps, meta=meta)


class OtherLanguage(IgnoreRequest):
    """The page of a response is in another language than the target."""

    def __init__(self, response: Response, language: str) -> None:
        super().__init__(f"{response.url}: a page in {language}")
        self.response = response


class OtherLanguages:
    """Drops pages in other languages, as Scrapy drops pages with an error."""

    def __init__(self, crawler: Crawler) -> None:
        """Count what is dropped in the stats of a crawler."""
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "OtherLanguages":
        """Return the middleware; raises `NotConfigured` without LANGFOCUS_DROP_OTHERS."""
        if not crawler.settings.getbool(DROP_OTHERS):
            raise NotConfigured
        return cls(crawler)

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise `OtherLanguage` for a page with a label other than the target."""
        page: Page = response.meta.get(PAGE_KEY, NO_PAGE)
        if page.language is not None and not page.is_relevant:
            self._crawler.stats.inc_value("langfocus/dropped")
            raise OtherLanguage(response, page.language)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterator[Any] | None:
        """Yield nothing for a dropped page whose request has no errback."""
        return iter(()) if isinstance(exception, OtherLanguage) else None
