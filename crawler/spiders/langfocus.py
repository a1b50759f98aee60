"""Spiders whose pages come from the language-focused frontier, and that of `langfocus crawl`."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from langfocus.crawler.options.config import ARGUMENTS, Config
from langfocus.crawler.options.knob import text_of
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.settings import BOT_NAME
from langfocus.crawler.spiders.callbacks import Callbacks, FailedPage, Page
from langfocus.crawler.spiders.fetches import attach
from langfocus.crawler.spiders.framework import bring, check
from langfocus.crawler.spiders.printable_log import make_log_printable
from langfocus.crawler.spiders.scrapy_settings import adapt, config_of, proxy_remarks
from langfocus.crawler.strategies.links import Link

if TYPE_CHECKING:
    from langfocus.crawler.report.past_run import Run


class Spider(scrapy.Spider):
    """A spider that crawls the part of the Web that is written in one language.

    Arguments of a crawl (`langfocus crawl --help`) are class attributes or `-a`; `-a` wins. Seeds
    are the argument `seeds`, or `start_urls`, or what `start` yields, or those that ship. The
    results are in the folder JOBDIR.

    The links of each page are followed, whatever `parse_page` yields. A subclass may define any of
    the methods below; all may be asynchronous but `wants`.
    """

    crawl: Crawl
    _framework_priority = "spider"
    _nothing: Sequence[Any] = ()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Bring what the framework needs; raises `SettingError` for what contradicts it."""
        make_log_printable()
        bring(settings, cls._framework_priority)
        super().update_settings(settings)
        check(settings)

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, *args: Any, crawl: Crawl | None = None, **arguments: Any
    ) -> "Spider":
        """Return a spider with an open crawl; raises `CrawlError`.

        `crawl` is a crawl that was opened from the same arguments; None: it is opened here.
        """
        spider = cls(*args, **arguments)
        spider._set_crawler(crawler)
        spider.crawl = crawl or open_crawl(spider._config(arguments))
        adapt(crawler.settings, spider.crawl)
        attach(crawler, spider.crawl, spider._callbacks())
        for line in spider._remarks(arguments):
            spider.logger.warning("%s", line)
        crawler.signals.connect(spider._connect_last, signals.spider_opened)
        return spider

    def parse_page(self, response: Response, page: Page) -> Any:
        """Yield items and requests of a page; called before the page is settled."""
        raise NotImplementedError

    def parse_failure(self, failed: FailedPage) -> Any:
        """Yield items and requests of a URL whose last request brought no page."""
        raise NotImplementedError

    def wants(self, link: Link) -> bool | float | None:
        """Return False to leave a link out, a bonus in log-odds, or True or None for neither."""
        raise NotImplementedError

    def spider_closed(self, run: "Run") -> Any:
        """Handle the crawl's run, after the report is written."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield further seeds as requests, and items."""
        for one in self._nothing:
            yield one

    def _has_own(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(Spider, name)

    def _callbacks(self) -> Callbacks | None:
        if not any(map(self._has_own, ("parse_page", "parse_failure", "wants", "start"))):
            return None
        return Callbacks(
            self,
            self.crawl,
            on_page=self.parse_page if self._has_own("parse_page") else None,
            on_failure=self.parse_failure if self._has_own("parse_failure") else None,
            wants=self.wants if self._has_own("wants") else None,
            takes_page=True,
        )

    def _config(self, arguments: Mapping[str, Any]) -> Config:
        own = {name: getattr(self, name, None) for name in ARGUMENTS}
        given = {name: value for name, value in own.items() if _is_value(value)}
        given |= {name: value for name, value in arguments.items() if name in ARGUMENTS}
        has_seeds = "seeds" in given or "hosts" in given
        if not has_seeds and self.start_urls:
            given["seeds"] = self.start_urls
        brings_seeds = not has_seeds and not self.start_urls and self._has_own("start")
        texts: dict[str, object] = {name: text_of(given[name], ", ") for name in given}
        if brings_seeds:
            texts["seeds"] = ()
        return config_of(texts, self.settings, spider=self.name)

    def _remarks(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        if self.crawl.config.bot.advice:
            yield self.crawl.config.bot.advice
        if self.crawl.prepared.web is None and self.settings.getbool("HTTPPROXY_ENABLED"):
            yield from proxy_remarks(getproxies())
        for name in arguments:
            if name not in ARGUMENTS and not hasattr(type(self), name):
                for near in get_close_matches(name, ARGUMENTS, n=1, cutoff=0.8):
                    yield f"-a {name}: no argument of a crawl; did you mean {near}?"

    def _connect_last(self) -> None:
        # After the extensions: the report is written then.
        self.crawler.signals.connect(self._finish, signals.spider_closed)

    def _finish(self) -> Any:
        # A method for Scrapy's signal may have this name, and other parameters.
        if "run" not in signature(self.spider_closed).parameters or not self._has_own(
            "spider_closed"
        ):
            return None
        # By name: a crawl needs none of the rooms that read finished runs.
        past_run = import_module("langfocus.crawler.report.past_run")
        return self.spider_closed(past_run.Run(self.crawl.run.folder))


class LangfocusSpider(Spider):
    """The spider of `langfocus crawl`, without callbacks."""

    name = BOT_NAME
    _framework_priority = "addon"  # the settings of `langfocus crawl` are leaner


def _is_value(value: object) -> bool:
    return value is not None and not callable(value)
