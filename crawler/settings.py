"""Scrapy's own settings for the project; those that langfocus reads are in `crawler.config`."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("langfocus")
except PackageNotFoundError:
    VERSION = "0+source"

BOT_NAME = "langfocus"
SPIDER_MODULES = ["crawler.spiders.langfocus"]
COMMANDS_MODULE = "crawler.commands.crawl"
USER_AGENT = f"langfocus/{VERSION}"

# Politeness. The frontier keeps the delay for each host (DOWNLOAD_DELAY), one connection at a time.
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False

# Limits for a page.
CONCURRENT_REQUESTS = 64
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False
DNS_TIMEOUT = 20
DNSCACHE_SIZE = 100_000
# Scrapy starts this number of tasks for each response, even for one item; our spider yields one.
CONCURRENT_ITEMS = 1

# Scrapy's dictionaries of versions and counts bury the log of a crawl; summary.json has the counts.
LOG_VERSIONS: list[str] = []
STATS_DUMP = False

# The frontier replaces Scrapy's queues, filters and retries; see docs/architecture.md.
SCHEDULER = "crawler.spiders.scheduler.FrontierScheduler"
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.spiders.unpacking.Unpacking": 590,
    "crawler.spiders.page_readers.PageReaders": 10,
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": None,
}
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
}
EXTENSIONS = {
    "crawler.spiders.reporter.Reporter": 500,
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.spiderstate.SpiderState": None,
    "scrapy.extensions.throttle.AutoThrottle": None,
}
FEED_EXPORTERS = {
    "csv": "crawler.spiders.items.CsvFeed",
    "xml": "crawler.spiders.items.XmlFeed",
}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"
LOGSTATS_INTERVAL = 30.0  # seconds between two lines of progress, if there is no terminal
