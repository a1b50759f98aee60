"""Runs an open crawl in Scrapy's reactor, which starts only once in a process."""

import logging
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
from scrapy.settings import Settings

from crawler.crawl import Crawl
from crawler.errors import SettingError
from crawler.spiders.scrapy_settings import is_asked_for

_ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
_REPORTER = "crawler.spiders.reporter.Reporter"


def crawler_process(settings: Settings) -> Any:
    """Return the object that runs the reactor, of the class that Scrapy would choose.

    Raises `SettingError` for a module of spiders or a class that cannot be imported, and for an
    unknown LOG_LEVEL.
    """
    level = str(settings["LOG_LEVEL"])
    if not level.isdecimal() and level not in logging.getLevelNamesMapping():
        raise SettingError(f"LOG_LEVEL={level}: DEBUG, INFO, WARNING, ERROR or CRITICAL is needed")
    is_asyncio = settings["TWISTED_REACTOR"] == _ASYNCIO
    is_forced = settings.getbool("FORCE_CRAWLER_PROCESS")
    try:
        if is_asyncio and not is_forced:
            return AsyncCrawlerProcess(settings)
        return CrawlerProcess(settings)
    except ImportError as error:
        raise SettingError(
            f"a module that the settings name cannot be imported: {error}"
        ) from error


def run_without_report(crawl: Crawl, settings: Settings) -> None:
    """Run a crawl to its end without a progress line, tables and files.

    Ctrl-C ends it in order; `crawl.finish_reason` is then "shutdown".
    """
    from crawler.spiders.langfocus import LangfocusSpider

    settings = settings.copy()
    extensions = {**settings.getdict("EXTENSIONS"), _REPORTER: None}
    settings.set("EXTENSIONS", extensions, priority="spider")
    if not is_asked_for(settings, "LOG_LEVEL"):
        settings.set("LOG_LEVEL", "ERROR")  # warnings about pages are in the reasons
    process = crawler_process(settings)
    process.crawl(LangfocusSpider, crawl=crawl)
    process.start()
