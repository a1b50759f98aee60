"""Settings of the project: Scrapy's own names if it has them, else names with `LANGFOCUS_`.

Each setting that langfocus reads is declared once, with its type, default, bounds, unit and help;
None means that it is not set. `-s NAME=VALUE` overrides the value here. `crawler.configuration`
collects the declarations.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

from crawler.declaration import Declared
from crawler.politeness.network import dns_servers

try:
    VERSION = version("langfocus")
except PackageNotFoundError:
    VERSION = "0+source"

BOT_NAME = "langfocus"
SPIDER_MODULES = ["crawler.spiders.langfocus", "crawler.spiders.census"]
COMMANDS_MODULE = "crawler.commands"
USER_AGENT = f"langfocus/{VERSION}"
LANGFOCUS_CONTACT: Annotated[
    str | None,
    Declared(
        "e-mail address or http(s) URL for the User-Agent, so that those who find the bot in their "
        "logs can ask about it; a live crawl without one here or in its USER_AGENT warns"
    ),
] = None

# Politeness. The frontier keeps the delay for each host, one connection at a time.
DOWNLOAD_DELAY: Annotated[float, Declared("seconds between two requests to a host", least=0)] = 1.0
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False
LANGFOCUS_DIRECTIVES_OBEY: Annotated[
    bool,
    Declared(
        "False: links with nofollow are followed and pages with noarchive are kept, for archives "
        "that have the right to do so; the directives are recorded in either case"
    ),
] = True
LANGFOCUS_MAX_CRAWL_DELAY: Annotated[
    float, Declared("seconds; a longer Crawl-delay of robots.txt is cut to this", least=0)
] = 60.0
LANGFOCUS_PRIVATE_ADDRESSES: Annotated[
    bool,
    Declared(
        "True: hosts of the crawl's own network may be crawled too (loopback, private and "
        "link-local addresses, names such as localhost or printer.local)"
    ),
] = False
LANGFOCUS_PER_ADDRESS: Annotated[
    int,
    Declared(
        "hosts with the same IP address that are contacted at once, 0 for any number; behind a "
        "proxy addresses are not known",
        least=0,
    ),
] = 2

# Limits for a page.
CONCURRENT_REQUESTS = 64
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False
DNS_TIMEOUT = 20
DNSCACHE_SIZE = 100_000
TWISTED_DNS_RESOLVER = "crawler.spiders.names.CaresNames"
LANGFOCUS_DNS: Annotated[
    str | None,
    Declared(
        "DNS servers that are asked, as ADDRESS or ADDRESS:PORT with commas between them",
        default_help="those of this machine",
        read=dns_servers,
    ),
] = None
RETRY_TIMES: Annotated[int, Declared("retries of a failed URL", least=0, most=100)] = 2
LANGFOCUS_RETRY_DELAY: Annotated[
    float,
    Declared(
        "seconds that a host rests after a failure, twice that after the second; 0 on the sample "
        "web and on archives",
        least=0,
    ),
] = 10.0
# Scrapy starts this number of tasks for each response, even for one item; our spider yields one.
CONCURRENT_ITEMS = 1
REDIRECT_MAX_TIMES: Annotated[int, Declared("most redirects in a row", least=0, most=100)] = 20

# Scrapy's dictionaries of versions and counts bury the log of a crawl; summary.json has the counts.
LOG_VERSIONS: list[str] = []
STATS_DUMP = False

# The frontier replaces Scrapy's queues, filters and retries; see docs/architecture.md.
SCHEDULER = "crawler.spiders.scheduler.FrontierScheduler"
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.spiders.unpacking.Unpacking": 590,
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
    "parquet": "crawler.spiders.items.ParquetFeed",
    "csv": "crawler.spiders.items.CsvFeed",
    "xml": "crawler.spiders.items.XmlFeed",
}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"
LOGSTATS_INTERVAL = 30.0  # seconds between two lines of progress, if there is no terminal

LANGFOCUS_FRONTIER: Annotated[
    str | None,
    Declared(
        "address of a Redis server (redis://host:6379/0) where any number of processes share one "
        "frontier",
        default_help="an unshared frontier in run.db",
    ),
] = None
LANGFOCUS_CRAWL: Annotated[
    str | None,
    Declared("name of the shared crawl", default_help="LANG-STRATEGY, such as de-focus"),
] = None
LANGFOCUS_LEASE: Annotated[
    float,
    Declared(
        "seconds after which other workers of a shared crawl take over the URLs of a worker that "
        "died",
        least=1,
    ),
] = 60.0
LANGFOCUS_LINKS: Annotated[
    bool,
    Declared(
        "True: run.db keeps the links of every page, even those that the crawl does not follow, so "
        "that other strategies can be simulated on these pages; not for shared crawls"
    ),
] = False
LANGFOCUS_WARC: Annotated[
    bool,
    Declared(
        "True: the run folder keeps all requests and answers in WARC 1.1 files (pages-*.warc.gz) "
        "with an index, except pages with noarchive; langfocus export makes texts of them"
    ),
] = True
LANGFOCUS_RANDOM_STATE: Annotated[int, Declared("seed of all random draws of a crawl", least=0)] = 0
LANGFOCUS_URL_MODEL: Annotated[
    str | None, Declared("file of the URL model", default_help="the one that ships")
] = None
LANGFOCUS_FASTTEXT_MODEL: Annotated[
    str | None,
    Declared(
        "model file of fastText (lid.176.ftz, GlotLID): pages in languages that the text model "
        "lacks are identified by it; -a lang takes these languages",
        default_help="the file that the environment variable of that name gives, if it is set",
    ),
] = None
LANGFOCUS_GEOIP: Annotated[
    str | None,
    Declared(
        "MMDB file with the countries of IP addresses",
        default_help="countries are not recorded",
    ),
] = None
LANGFOCUS_SITEMAPS: Annotated[
    bool,
    Declared(
        "True: the sitemaps and feeds of hosts with a relevant page are fetched, and their links "
        "compete with others; the strategies of the papers know links of pages only"
    ),
] = False
LANGFOCUS_HREFLANG: Annotated[
    bool,
    Declared(
        "False: svm and cctld score links by their URLs alone, as in Baykan 2013, and focus does "
        "without this evidence; True: a link that a page declares to be its translation into the "
        "language (hreflang) counts as expected, and is evidence for focus"
    ),
] = True
LANGFOCUS_PATIENCE: Annotated[
    float,
    Declared(
        "seconds for which free connections wait for a better URL (from a page in progress, from a "
        "host that rests) before they fetch one that focus, svm or cctld does not expect in the "
        "language",
        least=0,
    ),
] = 1.0
LANGFOCUS_SAMPLE_HOSTS: Annotated[
    int, Declared("approximate number of hosts of the sample web", least=1)
] = 4000
LANGFOCUS_QUIET: Annotated[
    bool, Declared("True: print no table at the end of a crawl (the files are still written)")
] = False
