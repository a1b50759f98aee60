"""The language-focused spider: it opens a crawl, which the scheduler runs."""

from typing import Any
from urllib.request import getproxies

from scrapy import Spider
from scrapy.crawler import Crawler

from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.spiders.printable_log import make_log_printable
from langfocus.crawler.spiders.scrapy_settings import adapt, config_of, proxy_remarks


class LangfocusSpider(Spider):
    """Crawls the part of the Web that is written in one language.

    Its arguments are in `crawler.options.config.ARGUMENTS`. It has no `start_urls`, since the
    seeds are in the frontier. The results are in the folder JOBDIR.
    """

    name = "langfocus"
    crawl: Crawl

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
        if crawl.prepared.web is None and crawler.settings.getbool("HTTPPROXY_ENABLED"):
            remarks += proxy_remarks(getproxies())
        for line in remarks:
            spider.logger.warning("%s", line)
        adapt(crawler.settings, crawl)
        return spider
