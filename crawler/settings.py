"""Scrapy's own settings for the project; `crawler.options.config` has those of langfocus."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

try:
    VERSION = version("langfocus")
except PackageNotFoundError:
    VERSION = "0+source"

BOT_NAME = "langfocus"
SPIDER_MODULES = ["langfocus.crawler.spiders.langfocus"]
COMMANDS_MODULE = "langfocus.crawler.commands.crawl"
USER_AGENT = f"langfocus/{VERSION}"  # the contact is added to it; one of your own is sent as it is

# An event loop in C takes a tenth less of the crawl's processor time.
ASYNCIO_EVENT_LOOP = "uvloop.Loop" if find_spec("uvloop") else None

# Politeness. The frontier keeps the delay for each host (DOWNLOAD_DELAY), one connection at a time.
ROBOTSTXT_OBEY = True  # False asks for no robots.txt: only for servers that are yours
COOKIES_ENABLED = False  # True keeps the cookies of all servers in memory

# Limits for a page.
CONCURRENT_REQUESTS = 64  # downloads in progress at once, of all hosts
DOWNLOAD_TIMEOUT = 30  # seconds for a whole download: name, connection, headers, body
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # bytes of a body; a larger one is not read
DOWNLOAD_WARNSIZE = 0  # bytes of a body that is worth a warning; 0: none is
DOWNLOAD_FAIL_ON_DATALOSS = False  # False: a body that was cut off is read as far as it came
DNS_TIMEOUT = 20  # seconds for the address of a host
DNSCACHE_SIZE = 100_000  # addresses that are remembered
# Scrapy starts this number of tasks for each response, even for one item; our spider yields one.
CONCURRENT_ITEMS = 1

# Scrapy's dictionaries of versions and counts bury the log of a crawl; summary.json has the counts.
LOG_VERSIONS: list[str] = []
STATS_DUMP = False

# The frontier replaces Scrapy's queues, filters and retries (docs/architecture.md). Each part of
# Scrapy costs every page, so only settings that a crawl uses are here.
SCHEDULER = "langfocus.crawler.spiders.scheduler.FrontierScheduler"
DOWNLOADER_MIDDLEWARES_BASE = {
    "langfocus.crawler.spiders.middlewares.PageReaders": 10,
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "langfocus.crawler.spiders.middlewares.Unpacking": 590,
    "langfocus.crawler.spiders.middlewares.Cookies": 700,
    "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 750,
}
SPIDER_MIDDLEWARES_BASE = {"langfocus.crawler.spiders.spider_middleware.SpiderCallbacks": 10}
EXTENSIONS_BASE = {
    "langfocus.crawler.spiders.reporter.Reporter": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
}
FEED_EXPORTERS = {"csv": "langfocus.crawler.spiders.reporter.CsvFeed", "xml": None}
LOG_LEVEL = "WARNING"  # INFO tells more of the crawl
LOGSTATS_INTERVAL = 30.0  # seconds between two lines of progress, if there is no terminal
