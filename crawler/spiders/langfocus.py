"""The language-focused spider: it passes responses to the visitor."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.request import getproxies

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, StopDownload
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.settings import BaseSettings

from langfocus.crawler.corpus.item import PageItem, settled_item
from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import PAGE, UNCHANGED, Lease, LeaseError
from langfocus.crawler.http.download import is_text
from langfocus.crawler.politeness.network import (
    BusyAddressError,
    CapError,
    LocalFaultError,
    NoAddressYetError,
)
from langfocus.crawler.politeness.robots import MAX_ROBOTS_BYTES
from langfocus.crawler.reading.readers import ReadingError
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.opening import open_crawl
from langfocus.crawler.session.visit import NO_ADDRESS
from langfocus.crawler.sources.sitemaps import may_be_sitemap
from langfocus.crawler.spiders.concurrency import IN_SLOT, PAUSE_S, Throttle
from langfocus.crawler.spiders.faults import explain
from langfocus.crawler.spiders.fetch import KEY, Fetch, fetch_of, own_fetch
from langfocus.crawler.spiders.messages import content_type_of, download_of
from langfocus.crawler.spiders.printable_log import make_log_printable
from langfocus.crawler.spiders.scrapy_settings import adapt, config_of, proxy_remarks

_TIMEOUT = "timeout"
_LEAST_TIMEOUT_S = 1.0
_SMALL_BODY_BYTES = 256 * 1024


class LangfocusSpider(Spider):
    """Crawls the part of the Web that is written in one language.

    Its arguments are in `crawler.options.config.ARGUMENTS`. It has no `start_urls`, since the
    seeds are in the frontier. The results are in the folder JOBDIR.
    """

    name = "langfocus"
    crawl: Crawl
    _wants_items = False

    def __init__(self) -> None:
        super().__init__()
        self.throttle = Throttle()

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
        spider._wants_items = _wants_items(crawler.settings)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        crawler.signals.connect(spider.on_bytes, signals.bytes_received)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def page_request(self, fetch: Fetch) -> Request:
        """Return the request for a leased page."""
        url = fetch.lease.url
        return Request(
            url,
            callback=self.parse,
            errback=self.on_failure,
            headers=self.crawl.queue.revisits.conditions(url),
            meta={KEY: fetch, **IN_SLOT, **self.patience()},
            dont_filter=True,
        )

    def patience(self) -> dict[str, float]:
        """Count a request; until a server answered, its download ends with the wait for that."""
        watch, now = self.crawl.ending, self.crawl.clock()
        watch.note_request(now)
        timeout_s = self.settings.getfloat("DOWNLOAD_TIMEOUT") or float("inf")
        left_s = max(_LEAST_TIMEOUT_S, watch.answer_deadline - now)
        return {"download_timeout": left_s} if left_s < timeout_s else {}

    def parse(self, response: Response) -> list[PageItem]:
        """Settle a page; return its item if a feed or a pipeline wants one."""
        items: list[PageItem] = []
        fetch = own_fetch(cast("Request", response.request))
        with self.settling(fetch.lease):
            items += self._parsed(fetch, response)
        return items

    def _parsed(self, fetch: Fetch, response: Response) -> list[PageItem]:
        lease = fetch.lease
        if self._is_over(lease):
            return []
        self.crawl.traffic.note_fetch(self.crawl.clock() - fetch.began_at)
        download, page = fetch.page or (
            download_of(response, self.crawl.clock(), response.request),
            None,
        )
        if isinstance(page, ReadingError):
            raise page
        record = self.crawl.visitor.answered(lease, download, page)
        self.throttle.recover(self.crawler.engine, self.crawl.clock())
        if not self._wants_items or record is None or record.outcome not in (PAGE, UNCHANGED):
            return []
        return [settled_item(self.crawl.run.connection, lease, record)]

    def on_failure(self, failure: Any) -> None:
        """Settle a page whose download failed."""
        fetch = own_fetch(failure.request)
        lease, leased_at = fetch.lease, fetch.began_at
        with self.settling(lease):
            if not self._is_over(lease) and not self.waits(lease, failure.value, leased_at):
                reason, is_final = self.reason(lease, failure.value)
                self.crawl.visitor.failed(lease, reason, is_final=is_final)

    @contextmanager
    def settling(self, lease: Lease) -> Iterator[None]:
        """Handle ended leases and failures to write while a URL is settled.

        A lease of a shared crawl ends if its process is blocked for too long; the worker that has
        the URL then settles it. If the run can no longer be written, the crawl ends. After any
        other exception the URL is settled with the outcome `error`, since a crawl does not end
        before its leases do.
        """
        try:
            try:
                yield
            except (LeaseError, StorageError):
                raise
            except Exception:
                self.give_up(lease)
        except LeaseError:
            return
        except StorageError as error:
            self.crawl.ending.fail(str(error))
            raise CloseSpider("storage") from error

    def give_up(self, lease: Lease) -> None:
        """Settle a URL while an unexpected exception is handled; the log has its traceback."""
        self.logger.exception("%s could not be settled", lease.url)
        try:
            self.crawl.visitor.failed(lease, "error", is_final=True)
        except LeaseError:
            return  # it was settled before the exception
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"{lease.url} can be neither settled nor given back") from error

    def _is_over(self, lease: Lease) -> bool:
        """Return True if a goal was reached during the download; the URL is then queued again."""
        if not self.crawl.ending.is_over():
            return False
        self.crawl.frontier.release(lease, now=self.crawl.clock())
        return True

    def reason(self, lease: Lease, error: Exception) -> tuple[str, bool]:
        """Return the reason of a failure, and whether a retry is useless."""
        reason, is_final = explain(error)
        self.crawl.ending.note_failure(lease.host, reason)
        # Before the first answer a missing name may be a machine without a network.
        is_offline = reason == NO_ADDRESS and self.crawl.ending.awaits_answer
        return reason, is_final and not is_offline

    def waits(self, lease: Lease, error: Exception, asked_at: float) -> bool:
        """Return True if the server of a URL did not cause the failure of its request.

        The URL is then queued again, or settled if a cap is reached.
        """
        now, frontier = self.crawl.clock(), self.crawl.frontier
        if isinstance(error, NoAddressYetError):
            self.crawl.ending.note_failure(lease.host, NO_ADDRESS)
        if isinstance(error, BusyAddressError):
            frontier.release(lease, now=now, not_before=now + error.wait_s)
            return True
        if isinstance(error, LocalFaultError):
            frontier.release(lease, now=now, not_before=now + PAUSE_S)
            self.throttle.slow_down(self.crawler.engine, str(error), now)
            return True
        if isinstance(error, CapError):
            if error.outcome:
                self.crawl.visitor.refused(lease, error.outcome)
            return True
        if isinstance(error, LeaseError | StorageError):
            raise error
        worker = self.crawl.worker
        was_blocked = worker is not None and worker.waiting.ended_after(asked_at)
        # The time-out of a blocked process is not the server's fault.
        if was_blocked and explain(error)[0] == _TIMEOUT:
            frontier.release(lease, now=now)
            return True
        return False

    def on_bytes(self, data: bytes, request: Request, **kwargs: Any) -> None:
        """Stop a download at the size that is read: of a file, or of an answer without a page."""
        fetch = fetch_of(request)
        if fetch is None or (fetch.has_page and not fetch.is_file):
            return
        fetch.body_bytes += len(data)
        if fetch.body_bytes > (MAX_ROBOTS_BYTES if fetch.is_file else _SMALL_BODY_BYTES):
            raise StopDownload(fail=False)

    def on_headers(
        self, headers: Headers, body_length: object, request: Request, **kwargs: Any
    ) -> None:
        """Note the first answer; stop the download of a large body that is not that of a page.

        A small one is read: to stop it may close a connection that is already back in the pool,
        and the next request on that connection would fail.
        """
        self.crawl.ending.note_answer()
        fetch = fetch_of(request)
        if fetch is None or fetch.is_file:
            return
        is_large = isinstance(body_length, int) and body_length > _SMALL_BODY_BYTES
        kind = content_type_of(headers)
        is_page = is_text(kind) or self._may_be_sitemap(kind)
        if is_large and not (is_page and fetch.has_page):
            raise StopDownload(fail=False)

    def _may_be_sitemap(self, content_type: str | None) -> bool:
        return self.crawl.config.reads_sitemaps and may_be_sitemap(content_type)

    def on_idle(self) -> None:
        """Close the spider with the reason why there is no more work."""
        ending = self.crawl.ending
        goal = "" if ending.fault else ending.guard(self.crawl.queue.goal_reached)
        if ending.fault:
            raise CloseSpider("storage")
        if goal:
            raise CloseSpider(goal)


def _wants_items(settings: BaseSettings) -> bool:
    return bool(settings.getdict("FEEDS") or settings.getdict("ITEM_PIPELINES"))
