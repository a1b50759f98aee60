"""The requests of a crawl, from a lease to the settling of its URL; any spider may run them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, StopDownload
from scrapy.http import Response
from scrapy.http.headers import Headers

from langfocus.classifiers.errors import PluginError
from langfocus.crawler.corpus.item import PageItem, settled_item
from langfocus.crawler.errors import SettingError, StorageError
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
from langfocus.crawler.session.visit import NO_ADDRESS
from langfocus.crawler.sources.sitemaps import may_be_sitemap
from langfocus.crawler.spiders.concurrency import IN_SLOT, PAUSE_S, Throttle
from langfocus.crawler.spiders.faults import explain
from langfocus.crawler.spiders.fetch import KEY, Fetch, fetch_of, own_fetch
from langfocus.crawler.spiders.messages import content_type_of, download_of

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine

_TIMEOUT = "timeout"
_LEAST_TIMEOUT_S = 1.0
_SMALL_BODY_BYTES = 256 * 1024
_UNLIMITED = "download_maxsize"
"""The key in `Request.meta` for a limit of the download; 0: none. The unpacked body has its own."""

_log = logging.getLogger("langfocus")


def crawl_of(crawler: Crawler) -> Crawl:
    """Return the crawl of a crawler's spider; raises `SettingError` if the spider has none."""
    crawl: Crawl | None = getattr(crawler.spider, "crawl", None)
    if crawl is None:
        name = getattr(crawler.spider, "name", None)
        raise SettingError(f"spider {name}: its attribute `crawl` must be an open crawl")
    return crawl


class Fetches:
    """Creates the requests of leased URLs and site files, and settles their results."""

    def __init__(
        self, crawl: Crawl, crawler: Crawler, *, timeout_s: float = 0.0, wants_items: bool = False
    ) -> None:
        """Limit a download to `timeout_s` seconds, 0: no limit.

        With `wants_items` a feed or a pipeline gets the item of each page.
        """
        self.crawl, self._crawler = crawl, crawler
        self._timeout_s, self._wants_items = timeout_s or float("inf"), wants_items
        self._throttle = Throttle()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Fetches":
        """Return the fetches of a crawler, connected to its signals."""
        settings = crawler.settings
        wants_items = bool(settings.getdict("FEEDS") or settings.getdict("ITEM_PIPELINES"))
        timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT")
        made = cls(crawl_of(crawler), crawler, timeout_s=timeout_s, wants_items=wants_items)
        crawler.signals.connect(made.on_headers, signals.headers_received)
        crawler.signals.connect(made.on_bytes, signals.bytes_received)
        return made

    @property
    def engine(self) -> "ExecutionEngine":
        """The running engine of Scrapy."""
        return self._crawler.engine

    def page_request(self, fetch: Fetch) -> Request:
        """Return the request for a leased page."""
        url = fetch.lease.url
        return Request(
            url,
            callback=self.settle_answer,
            errback=self.settle_failure,
            headers=self.crawl.queue.revisits.conditions(url),
            meta={KEY: fetch, **IN_SLOT, **self._patience()},
            dont_filter=True,
        )

    def file_request(self, lease: Lease, file: str) -> Request:
        """Return the request for a file of a host, in the name of a lease.

        Its download has no size limit: `on_bytes` stops it at the size at which files are cut.
        """
        fetch = Fetch(lease, self.crawl.clock(), is_file=True)
        return Request(file, meta={KEY: fetch, _UNLIMITED: 0, **self._patience()})

    def _patience(self) -> dict[str, float]:
        """Count a request; until a server answered, its download ends with the wait for that."""
        watch, now = self.crawl.ending, self.crawl.clock()
        watch.note_request(now)
        left_s = max(_LEAST_TIMEOUT_S, watch.answer_deadline - now)
        return {"download_timeout": left_s} if left_s < self._timeout_s else {}

    def settle_answer(self, response: Response) -> list[PageItem]:
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
        self._throttle.recover(self.engine, self.crawl.clock())
        if not self._wants_items or record is None or record.outcome not in (PAGE, UNCHANGED):
            return []
        return [settled_item(self.crawl.run.connection, lease, record)]

    def settle_failure(self, failure: Any) -> None:
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
        _log.exception("%s could not be settled", lease.url)
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
            self._throttle.slow_down(self.engine, str(error), now)
            return True
        if isinstance(error, CapError):
            if error.outcome:
                self.crawl.visitor.refused(lease, error.outcome)
            return True
        if isinstance(error, LeaseError | StorageError | PluginError):
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
