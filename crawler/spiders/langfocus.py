"""The language-focused spider: thin, since frontier and visitor know what to do."""

import sys
from collections.abc import AsyncIterator, Callable
from email.utils import parsedate_to_datetime
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import quote_from_bytes, urljoin
from urllib.request import getproxies

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, StopDownload
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from classifiers import languages
from crawler.crawl import Crawl, CrawlSettings, open_crawl
from crawler.errors import SettingError, StorageError
from crawler.frontier.base import PAGE, Lease, LeaseError
from crawler.options import CrawlOptions
from crawler.politeness.contact import product_token, user_agent
from crawler.politeness.network import BusyAddressError, host_of_proxy, is_loopback_host
from crawler.politeness.robots import MAX_ROBOTS_BYTES, ROBOTS_UNREACHABLE, is_unreachable
from crawler.settings import USER_AGENT
from crawler.spiders import web_handler
from crawler.spiders.failures import explain
from crawler.spiders.items import PageItem, item_of
from crawler.spiders.request_meta import LEASE, LEASED_AT, SLOT
from crawler.spiders.unpacking import UNLIMITED
from crawler.url import normalise
from crawler.visit import Download, RetryRule, is_text

P = ParamSpec("P")
R = TypeVar("R")

_ROBOTS_BYTES = "langfocus_robots_bytes"
"""The key in `Request.meta` under which the request for a robots.txt counts what came."""

_TIMEOUT = "timeout"
_SMALL_BODY_BYTES = 256 * 1024
_WEB_HANDLER = "crawler.spiders.web_handler.WebDownloadHandler"
_LIVE_HANDLER = "crawler.spiders.connections.GuardedDownloadHandler"


def crawl_settings(settings: BaseSettings, *, has_servers: bool) -> CrawlSettings:
    """Return what a crawl needs of Scrapy's settings; raises `SettingError`.

    On a web without servers there is nobody to be polite to: only a delay given with `-s`
    holds there.
    """
    is_asked_for = (settings.getpriority("DOWNLOAD_DELAY") or 0) >= 40
    job_folder, model, geoip = (
        settings.get(name) for name in ("JOBDIR", "LANGFOCUS_URL_MODEL", "LANGFOCUS_GEOIP")
    )
    name = user_agent(USER_AGENT, settings.get("USER_AGENT"), settings.get("LANGFOCUS_CONTACT"))
    is_anonymous = has_servers and name is None
    may_not_begin = is_anonymous and not _has_proxy_on_this_machine(settings)
    sent = name or settings.get("USER_AGENT")
    return CrawlSettings(
        run_folder=Path(job_folder) if job_folder else None,
        runs=Path(settings.get("LANGFOCUS_RUNS")),
        delay_s=_number(settings, "DOWNLOAD_DELAY") if has_servers or is_asked_for else 0.0,
        retry_rule=RetryRule(
            int(_number(settings, "RETRY_TIMES")),
            _number(settings, "LANGFOCUS_RETRY_DELAY") if has_servers else 0.0,
            frozenset(int(status) for status in settings.getlist("RETRY_HTTP_CODES")),
            max_redirects=int(_number(settings, "REDIRECT_MAX_TIMES")),
        ),
        user_agent=sent,
        robots_name=settings.get("ROBOTSTXT_USER_AGENT") or product_token(sent),
        is_anonymous=is_anonymous,
        contact_fault=_namelessness(settings.get("USER_AGENT")) if may_not_begin else "",
        per_address=int(_number(settings, "LANGFOCUS_PER_ADDRESS")),
        private_addresses=settings.getbool("LANGFOCUS_PRIVATE_ADDRESSES"),
        max_crawl_delay_s=_number(settings, "LANGFOCUS_MAX_CRAWL_DELAY"),
        patience_s=_number(settings, "LANGFOCUS_PATIENCE"),
        live_interval_s=_number(settings, "LANGFOCUS_LIVE_INTERVAL"),
        random_state=int(_number(settings, "LANGFOCUS_RANDOM_STATE")),
        keeps_links=settings.getbool("LANGFOCUS_LINKS"),
        url_model=Path(model) if model else None,
        geoip=Path(geoip) if geoip else None,
        sample_seed=int(_number(settings, "LANGFOCUS_SAMPLE_SEED")),
        sample_hosts=int(_number(settings, "LANGFOCUS_SAMPLE_HOSTS")),
        version=settings.get("BOT_NAME") + " " + settings.get("VERSION", ""),
        frontier=settings.get("LANGFOCUS_FRONTIER") or None,
        crawl_name=settings.get("LANGFOCUS_CRAWL") or None,
        lease_s=_number(settings, "LANGFOCUS_LEASE", least=1),
    )


def _namelessness(given: str) -> str:
    """Return what to say where a live crawl would not tell whose it is."""
    if given != USER_AGENT:
        return (
            f"USER_AGENT={given}: it must hold an e-mail address or an http(s) URL, so that "
            "servers see whom to ask about a live crawl"
        )
    return (
        "LANGFOCUS_CONTACT is missing: servers must see whom to ask about a live crawl; give an "
        "e-mail address or an http(s) URL (-s LANGFOCUS_CONTACT=you@example.org)"
    )


def _has_proxy_on_this_machine(settings: BaseSettings) -> bool:
    """Tell whether pages come through a proxy that stands here: a mirror, a test's web."""
    proxy = getproxies().get("http", "") if settings.getbool("HTTPPROXY_ENABLED") else ""
    return is_loopback_host(host_of_proxy(proxy))


def _number(settings: BaseSettings, name: str, *, least: int = 0) -> float:
    try:
        number = settings.getfloat(name)
    except (TypeError, ValueError):
        number = -1.0
    if not least <= number < float("inf"):
        raise SettingError(f"{name}={settings.get(name)}: a number of at least {least} is needed")
    return number


def settles(callback: Callable[P, R]) -> Callable[P, R | None]:
    """Return a callback of the spider that may find its lease ended, or nowhere to write.

    Once nothing can be written any more every page would be fetched in vain: the crawl ends. A
    lease of a shared crawl ends by itself where a process stood still for too long; whoever has
    the URL by then settles it.
    """

    @wraps(callback)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | None:
        spider = cast(LangfocusSpider, args[0])
        try:
            return callback(*args, **kwargs)
        except LeaseError:
            spider.crawler.stats.inc_value("langfocus/lease_ended")
            return None
        except StorageError as error:
            spider.crawl.fault = str(error)
            raise CloseSpider("storage") from error

    return guarded


class LangfocusSpider(Spider):
    """Crawls the part of the Web that is written in one language.

    Arguments: see `crawler.options.ARGUMENTS`. The run's figures are in the folder JOBDIR.
    """

    name = "langfocus"
    crawl: Crawl
    _wants_items = False

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, *args: Any, crawl: Crawl | None = None, **arguments: str
    ) -> "LangfocusSpider":
        """Return a spider with an open crawl; raises `CrawlError`.

        `crawl` is one that was opened already, from the same arguments.
        """
        if crawl is None:
            options = CrawlOptions.read(arguments)
            settings = crawl_settings(crawler.settings, has_servers=options.web == "live")
            crawl = open_crawl(options, settings)
        spider = cls()
        spider.crawl = crawl
        spider._set_crawler(crawler)
        spider._adapt(crawler.settings)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        crawler.signals.connect(spider.on_bytes, signals.bytes_received)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def _adapt(self, settings: BaseSettings) -> None:
        """Set what follows from the arguments, below anything given with `-s`."""
        headers = dict(settings.getdict("DEFAULT_REQUEST_HEADERS"))
        headers["Accept-Language"] = languages.accept_language(self.crawl.options.lang)
        # Scrapy takes 0 for any number.
        concurrency = settings.getint("CONCURRENT_REQUESTS") or sys.maxsize
        adapted: dict[str, Any] = {
            "DEFAULT_REQUEST_HEADERS": headers,
            "CONCURRENT_REQUESTS_PER_DOMAIN": min(concurrency, 1000),
            "DOWNLOAD_SLOTS": {SLOT: {"concurrency": concurrency, "delay": 0, "jitter": 0}},
            "JOBDIR": str(self.crawl.run.folder),
            "USER_AGENT": self.crawl.settings.user_agent,
        }
        if self.crawl.web is not None:
            web_handler.use_web(self.crawler, self.crawl.web)
        by = _LIVE_HANDLER if self.crawl.web is None else _WEB_HANDLER
        # Nothing but the Web is read, wherever a redirect of a robots.txt may lead.
        others = dict.fromkeys(("file", "ftp", "s3", "data"))
        adapted["DOWNLOAD_HANDLERS"] = {"http": by, "https": by, **others}
        self._wants_items = bool(settings.getdict("FEEDS") or settings.getdict("ITEM_PIPELINES"))
        for name, value in adapted.items():
            settings.set(name, value, priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the seeds are in the frontier."""
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    def page_request(self, url: str, meta: dict[str, Any]) -> Request:
        """Return the request for a leased page."""
        return Request(
            url, callback=self.parse, errback=self.on_failure, meta=meta, dont_filter=True
        )

    def robots_request(self, url: str, meta: dict[str, Any]) -> Request:
        """Return the request for the robots.txt that a leased page waits for.

        However long it says to be, as much of it is read as is heeded (`on_bytes`).
        """
        return Request(
            url,
            callback=self.parse_robots,
            errback=self.on_robots_failure,
            meta={**meta, _ROBOTS_BYTES: 0, UNLIMITED: 0},
            dont_filter=True,
        )

    @settles
    def parse(self, response: Response, **kwargs: Any) -> list[PageItem]:
        """Settle a page; return its item if a feed or a pipeline wants one."""
        lease: Lease = response.meta[LEASE]
        try:
            record = self.crawl.visitor.answered(lease, download_of(response, self.crawl.clock()))
        except (LeaseError, StorageError):
            raise
        except Exception:
            self.logger.exception("%s could not be settled", lease.url)
            self.crawl.visitor.failed(lease, "error", is_final=True)
            return []
        is_page = record is not None and record.outcome == PAGE
        return [item_of(lease, record)] if self._wants_items and record and is_page else []

    @settles
    def on_failure(self, failure: Failure) -> None:
        """Settle a page that did not come."""
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]  # set by Scrapy
        if self._waits(lease, failure):
            return
        reason, is_final = explain(failure)
        self.crawl.visitor.failed(lease, reason, is_final=is_final)

    def _stood_still(self, failure: Failure) -> bool:
        """Tell whether it was this process that let the time of a download pass."""
        leased_at: float = failure.request.meta[LEASED_AT]  # type: ignore[attr-defined]  # set by Scrapy
        return self.crawl.waiting.ended_after(leased_at)

    @settles
    def parse_robots(self, response: Response, **kwargs: Any) -> None:
        """Keep a robots.txt; the page that waited for it is leased again after the delay."""
        lease: Lease = response.meta[LEASE]
        crawl, now = self.crawl, self.crawl.clock()
        if is_unreachable(response.status):
            hold_s = _seconds(response.headers.get(b"Retry-After"), now) or 0.0
            self._without_rules(lease, ROBOTS_UNREACHABLE, is_final=False, hold_s=hold_s)
            return
        target = _redirect_target(response)
        if target is not None and not crawl.may_contact(target):
            self._without_rules(lease, ROBOTS_UNREACHABLE, is_final=True)
            return
        if target is None or not crawl.robots.move(lease.url, target):
            crawl.robots.keep(lease.url, response.status, response.body, now)
        crawl.frontier.release(lease, now=now)

    @settles
    def on_robots_failure(self, failure: Failure) -> None:
        """Without a word from the host nothing of it is fetched (RFC 9309, 2.3.1.4)."""
        lease: Lease = failure.request.meta[LEASE]  # type: ignore[attr-defined]  # set by Scrapy
        if self._waits(lease, failure):
            return
        reason, is_final = explain(failure)
        self._without_rules(lease, reason, is_final=is_final)

    def _waits(self, lease: Lease, failure: Failure) -> bool:
        """Give a URL back of which no server can be blamed.

        Its host was not contacted yet, since the address is busy, or it was this process that let
        the time pass.
        """
        now = self.crawl.clock()
        if isinstance(failure.value, BusyAddressError):
            self.crawl.frontier.release(lease, now=now, not_before=now + failure.value.wait_s)
            return True
        if explain(failure)[0] == _TIMEOUT and self._stood_still(failure):
            self.crawl.frontier.release(lease, now=now)
            return True
        return False

    def _without_rules(
        self, lease: Lease, reason: str, *, is_final: bool, hold_s: float = 0.0
    ) -> None:
        """Ask again later; at last the site is forbidden for a while."""
        settled = self.crawl.visitor.failed(lease, reason, is_final=is_final, hold_s=hold_s)
        if settled is not None:
            self.crawl.robots.keep(lease.url, None, b"", self.crawl.clock())

    def on_bytes(self, data: bytes, request: Request, **kwargs: Any) -> None:
        """Read no more of a robots.txt than is heeded."""
        if _ROBOTS_BYTES in request.meta:
            request.meta[_ROBOTS_BYTES] += len(data)
            if request.meta[_ROBOTS_BYTES] > MAX_ROBOTS_BYTES:
                raise StopDownload(fail=False)

    def on_headers(
        self, headers: Headers, body_length: object, request: Request, **kwargs: Any
    ) -> None:
        """Do not read a large body that holds no text.

        A small one is read: stopping it may close a connection that has gone back to the pool,
        and the request that finds it there would be sent twice.
        """
        if _ROBOTS_BYTES in request.meta:
            return
        is_large = isinstance(body_length, int) and body_length > _SMALL_BODY_BYTES
        if is_large and not is_text(_text(headers.get(b"Content-Type"))):
            raise StopDownload(fail=False)

    def on_idle(self) -> None:
        """Name the reason why nothing is left to do."""
        if self.crawl.fault:
            raise CloseSpider("storage")
        if self.crawl.is_complete():
            raise CloseSpider("pages")


def download_of(response: Response, now: float) -> Download:
    """Return what the visitor wants to know of a Scrapy response that came at `now`."""
    headers = response.headers
    return Download(
        response.url,
        response.status,
        response.body,
        _text(headers.get(b"Content-Type")),
        _text(headers.get(b"Content-Language")),
        _address(headers.get(b"Location")),
        _seconds(headers.get(b"Retry-After"), now),
        str(response.ip_address) if response.ip_address else None,
        is_cut="dataloss" in response.flags,
    )


def _redirect_target(response: Response) -> str | None:
    """Return where a response redirects to; None if nowhere, or to what is no http(s) URL."""
    location = _address(response.headers.get(b"Location"))
    if location is None or not 300 <= response.status < 400:
        return None
    try:
        return normalise(urljoin(response.url, location))
    except ValueError:
        return None


def _address(value: bytes | None) -> str | None:
    """Return a Location; bytes that are not UTF-8 are escaped, as browsers do."""
    try:
        return None if value is None else value.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        return quote_from_bytes(error.object, safe=bytes(range(0x80))).strip()


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace").strip()


def _seconds(value: bytes | None, now: float) -> float | None:
    """Return a Retry-After, a number or a date (RFC 9110, 10.2.3), as seconds from `now`."""
    text = _text(value)
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, date.timestamp() - now)
    except (ValueError, OverflowError):
        return None
