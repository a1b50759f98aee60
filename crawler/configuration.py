"""The settings of a crawl as plain values, and the declarations that they come from."""

from dataclasses import dataclass, field
from pathlib import Path

from crawler import settings
from crawler.declaration import declarations
from crawler.first_answer import PATIENCE_S
from crawler.politeness.contact import BotName
from crawler.visit import RetryRule

SETTINGS = declarations(settings)
"""The declaration of each setting that langfocus reads, Scrapy's own settings included."""

DESCRIPTIONS = {name: setting.manual for name, setting in SETTINGS.items()}
"""The help of each setting."""


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """The settings that a crawl needs. All delays are seconds.

    `run_folder` None: a new folder below `runs`. `url_model` None: the model that ships. `fasttext`
    None: no model of fastText adds languages. `geoip` None: countries are not recorded.
    `bot` is the name and contact that requests carry.
    `obeys_robots` is False if robots.txt files are not fetched, `obeys_directives` if nofollow and
    noarchive are ignored. With `uses_hreflang` translations into the language are expected in it.
    With `reads_sitemaps` sitemaps and feeds are fetched.
    `private_addresses` allows hosts of the crawler's own network. At most `per_address` hosts with
    one address are contacted at once; 0 is no limit. With `keeps_links` the run stores the links of
    its pages, with `keeps_warc` its requests and answers.

    `frontier` is the address of a Redis server whose frontier this process shares with others;
    None: an unshared frontier. `crawl_name` is the name of the shared crawl there; None: language
    and strategy. A worker renews its leases four times in `lease_s` seconds. The leases of a worker
    that died end `lease_s` seconds after the last renewal. A crawl ends if no server answered
    within `first_answer_s` seconds.
    """

    run_folder: Path | None = None
    delay_s: float = settings.DOWNLOAD_DELAY
    retry_rule: RetryRule = field(default_factory=RetryRule)
    bot: BotName = field(default_factory=BotName)
    obeys_robots: bool = settings.ROBOTSTXT_OBEY
    obeys_directives: bool = settings.LANGFOCUS_DIRECTIVES_OBEY
    reads_sitemaps: bool = settings.LANGFOCUS_SITEMAPS
    uses_hreflang: bool = settings.LANGFOCUS_HREFLANG
    private_addresses: bool = settings.LANGFOCUS_PRIVATE_ADDRESSES
    per_address: int = settings.LANGFOCUS_PER_ADDRESS
    max_crawl_delay_s: float = settings.LANGFOCUS_MAX_CRAWL_DELAY
    patience_s: float = settings.LANGFOCUS_PATIENCE
    random_state: int = settings.LANGFOCUS_RANDOM_STATE
    keeps_links: bool = settings.LANGFOCUS_LINKS
    keeps_warc: bool = settings.LANGFOCUS_WARC
    url_model: Path | None = None
    fasttext: Path | None = None
    geoip: Path | None = None
    sample_hosts: int = settings.LANGFOCUS_SAMPLE_HOSTS
    version: str = ""
    frontier: str | None = settings.LANGFOCUS_FRONTIER
    crawl_name: str | None = settings.LANGFOCUS_CRAWL
    lease_s: float = settings.LANGFOCUS_LEASE
    first_answer_s: float = PATIENCE_S
