"""The spider of a census: it fetches the portal page of each listed host (Cai 2009)."""

from scrapy.settings import BaseSettings

from crawler.census.options import CensusOptions, read_census
from crawler.crawl import Crawl, open_crawl
from crawler.spiders.langfocus import LangfocusSpider
from crawler.spiders.scrapy_settings import crawl_settings


class CensusSpider(LangfocusSpider):
    """Fetches one page of each host in a list. Its arguments are in `CENSUS_ARGUMENTS`."""

    name = "census"

    @classmethod
    def open(cls, arguments: dict[str, str], settings: BaseSettings) -> Crawl:
        """Return the open census of some arguments; raises `CrawlError`."""
        options: CensusOptions = read_census(arguments)
        return open_crawl(options, crawl_settings(settings, has_servers=options.web == "live"))
