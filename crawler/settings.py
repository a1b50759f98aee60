"""Settings of the project: Scrapy's own where it has one, ours under `LANGFOCUS_`.

Each of ours is declared once in `DESCRIPTIONS` with its unit and what it is for; None is
unset. A spider argument overrides what stands here, `-s NAME=VALUE` overrides both.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("langfocus")
except PackageNotFoundError:
    VERSION = "0+source"

BOT_NAME = "langfocus"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"
USER_AGENT = f"langfocus/{VERSION}"
LANGFOCUS_CONTACT = None

# Politeness. The frontier keeps the delay for each host, one connection at a time.
DOWNLOAD_DELAY = 1.0
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False
LANGFOCUS_PRIVATE_ADDRESSES = False
LANGFOCUS_PER_ADDRESS = 2

# What a page may cost.
CONCURRENT_REQUESTS = 64
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False
DNS_TIMEOUT = 20
DNSCACHE_SIZE = 100_000
REACTOR_THREADPOOL_MAXSIZE = 20
RETRY_TIMES = 2
# Scrapy starts so many tasks for each response, however few items it yields; ours yields one.
CONCURRENT_ITEMS = 1
REDIRECT_MAX_TIMES = 20

# The frontier takes the place of Scrapy's queues, filters and repeats; see docs/architecture.md.
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
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"

LANGFOCUS_RUNS = "runs"
LANGFOCUS_FRONTIER = None
LANGFOCUS_CRAWL = None
LANGFOCUS_LEASE = 60.0
LANGFOCUS_LINKS = False
LANGFOCUS_RANDOM_STATE = 0
LANGFOCUS_URL_MODEL = None
LANGFOCUS_GEOIP = None
LANGFOCUS_RETRY_DELAY = 10.0
LANGFOCUS_MAX_CRAWL_DELAY = 60.0
LANGFOCUS_PATIENCE = 1.0
LANGFOCUS_SAMPLE_SEED = 1
LANGFOCUS_SAMPLE_HOSTS = 4000
LANGFOCUS_QUIET = False
LANGFOCUS_LIVE_INTERVAL = 30.0

DESCRIPTIONS = {
    "LANGFOCUS_CONTACT": "e-mail address or http(s) URL that goes into the User-Agent, for those "
    "who find the bot in their logs; a live crawl needs one here or in its USER_AGENT, unless it "
    "goes through a proxy on this machine",
    "LANGFOCUS_PRIVATE_ADDRESSES": "True: hosts of the crawl's own network may be crawled too "
    "(loopback, private and link-local addresses, names such as localhost or printer.local)",
    "LANGFOCUS_PER_ADDRESS": "hosts with the same IP address that are contacted at once, 0 for any "
    "number; behind a proxy addresses are not known",
    "LANGFOCUS_RUNS": "folder in which a crawl without JOBDIR makes its own",
    "LANGFOCUS_FRONTIER": "address of a Redis server (redis://host:6379/0) where any number of "
    "processes share one frontier; None: a frontier of its own in run.db",
    "LANGFOCUS_CRAWL": "what the shared crawl is called there; None: LANG-STRATEGY, such as de-svm",
    "LANGFOCUS_LEASE": "seconds after which the URLs of a worker of a shared crawl that died go to "
    "the others",
    "LANGFOCUS_LINKS": "True: run.db keeps the links of every page, those that the crawl does not "
    "follow too, so that other strategies can be simulated on what it saw; not for shared crawls",
    "LANGFOCUS_RANDOM_STATE": "whole number from which all draws of a crawl follow",
    "LANGFOCUS_URL_MODEL": "file of the URL model; None: the one that ships",
    "LANGFOCUS_GEOIP": "MMDB file that tells a server's country from its address; None: not told",
    "LANGFOCUS_RETRY_DELAY": "seconds a host rests after a failure, twice that after the second; "
    "0 on webs without a server",
    "LANGFOCUS_MAX_CRAWL_DELAY": "seconds up to which a Crawl-delay of robots.txt counts",
    "LANGFOCUS_PATIENCE": "seconds for which free connections wait for a better URL (from a page "
    "on its way, from a host that rests) before they fetch one that svm or cctld does not expect "
    "in the language",
    "LANGFOCUS_SAMPLE_SEED": "whole number from which the sample web follows",
    "LANGFOCUS_SAMPLE_HOSTS": "about how many hosts the sample web has",
    "LANGFOCUS_QUIET": "True: no table at the end of a crawl (the files are written)",
    "LANGFOCUS_LIVE_INTERVAL": "seconds between two lines of progress where there is no terminal",
}
