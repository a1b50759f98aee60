"""The requests of a crawl, from a lease to the settling of its URL; any spider may run them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from scrapy.http.headers import Headers

from langfocus.classifiers.errors import PluginError
from langfocus.crawler.corpus.item import PageItem, settled_item
from langfocus.crawler.errors import SettingError, StorageError
from langfocus.crawler.frontier.base import PAGE, UNCHANGED, Lease, LeaseError, Record
from langfocus.crawler.http.download import Download, is_document, is_text
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
from langfocus.crawler.spiders.concurrency import IN_SLOT, PAUSE_S, Throttle, is_full
from langfocus.crawler.spiders.faults import explain
from langfocus.crawler.spiders.fetch import KEY, Fetch, fetch_of, own_fetch
from langfocus.crawler.spiders.messages import content_type_of, download_of, redirect_target
from langfocus.crawler.spiders.printable_log import make_log_printable
from langfocus.crawler.url import is_document_file

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine

    from langfocus.crawler.reading.readers import Answer
    from langfocus.crawler.spiders.callbacks import Callbacks

_TIMEOUT = "timeout"
_LEAST_TIMEOUT_S = 1.0
_SMALL_BODY_BYTES = 256 * 1024
_UNLIMITED = "download_maxsize"
"""The key in `Request.meta` for a limit of the download; 0: none. The unpacked body has its own."""

_log = logging.getLogger("langfocus")


_ATTACHED: WeakKeyDictionary[Crawler, "tuple[Crawl, Callbacks | None]"] = WeakKeyDictionary()


def attach(crawler: Crawler, crawl: Crawl, callbacks: "Callbacks | None" = None) -> None:
    """Attach an open crawl and the spider's callbacks to a crawler."""
    _ATTACHED[crawler] = crawl, callbacks


def crawl_of(crawler: Crawler) -> Crawl:
    """Return a crawler's open crawl; raises `SettingError` without an open crawl."""
    if crawler in _ATTACHED:
        return _ATTACHED[crawler][0]
    crawl: Crawl | None = getattr(crawler.spider, "crawl", None)
    if crawl is None:
        make_log_printable()  # the error is a line
        name = getattr(crawler.spider, "name", None)
        raise SettingError(
            f"spider {name} has no crawl: derive it from langfocus.Spider, or set "
            'ADDONS = {"langfocus.Addon": 300}, LANGFOCUS_LANG and LANGFOCUS_SCHEDULER = True '
            "instead of SCHEDULER"
        )
    return crawl


def callbacks_of(crawler: Crawler) -> "Callbacks | None":
    """Return the callbacks of a crawler's spider, or None for a spider without callbacks."""
    return _ATTACHED[crawler][1] if crawler in _ATTACHED else None


class Fetches:
    """Creates the requests of leased URLs and site files, and settles their results."""

    def __init__(
        self,
        crawl: Crawl,
        crawler: Crawler,
        *,
        timeout_s: float = 0.0,
        wants_items: bool = False,
        callbacks: "Callbacks | None" = None,
    ) -> None:
        """Limit a download to `timeout_s` seconds, 0: no limit.

        With `wants_items` a feed or a pipeline gets the item of each page. `callbacks` are those of
        a spider of a user's own; None: each page is settled at once.
        """
        self.crawl, self._crawler = crawl, crawler
        self._timeout_s, self._wants_items = timeout_s or float("inf"), wants_items
        self._throttle = Throttle()
        self.callbacks = callbacks
        self._unsettled = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Fetches":
        """Return the fetches of a crawler, connected to its signals."""
        settings, crawl, callbacks = crawler.settings, crawl_of(crawler), callbacks_of(crawler)
        has_own_items = callbacks is not None and callbacks.on_page is not None
        wants_items = bool(settings.getdict("FEEDS") or settings.getdict("ITEM_PIPELINES"))
        made = cls(
            crawl,
            crawler,
            timeout_s=settings.getfloat("DOWNLOAD_TIMEOUT"),
            wants_items=wants_items and not has_own_items,
            callbacks=callbacks,
        )
        crawler.signals.connect(made.on_headers, signals.headers_received)
        crawler.signals.connect(made.on_bytes, signals.bytes_received)
        return made

    @property
    def engine(self) -> "ExecutionEngine":
        """The running engine of Scrapy."""
        return self._crawler.engine

    def page_request(self, fetch: Fetch) -> Request:
        """Return the request for a leased page: the spider's own, if it asked for the URL."""
        url = fetch.lease.url
        made = Request(
            url,
            callback=self.settle_answer,
            errback=self.settle_failure,
            headers=self.crawl.queue.revisits.conditions(url),
            meta={KEY: fetch, **IN_SLOT, **self._patience()},
            dont_filter=True,
        )
        if self.crawl.config.documents and is_document_file(url):
            made.meta[_UNLIMITED] = self.crawl.config.document_bytes
        if self.callbacks is not None:
            made = self.callbacks.asked(made, fetch)
        self._unsettled += 1  # last: a request that cannot be made ends its lease elsewhere
        return made

    @property
    def are_full(self) -> bool:
        """True if no further page may be leased before another one is settled.

        A page is in progress until it is settled, thus until the callback of a spider has ended:
        a slow callback bounds the pages in memory, and one request at a time has one order.
        """
        return is_full(self.engine, self._unsettled)

    def _end(self, fetch: Fetch) -> None:
        fetch.is_settled = True
        self._unsettled -= 1

    def file_request(self, lease: Lease, file: str) -> Request:
        """Return the request for a file of a host, in the name of a lease.

        Its download has no size limit: `on_bytes` stops it at the size at which files are cut.
        """
        fetch = Fetch(lease, self.crawl.clock(), is_file=True)
        return Request(file, meta={KEY: fetch, _UNLIMITED: 0, **self._patience()})

    def embed_request(self, lease: Lease, most_bytes: int) -> Request:
        """Return the request for a file that a page embeds; `on_bytes` stops a larger one."""
        fetch = Fetch(lease, self.crawl.clock(), most_bytes=most_bytes)
        # Some servers have an HTML page around an image for clients that accept HTML first.
        headers, meta = {"Accept": "*/*"}, {KEY: fetch, _UNLIMITED: 0, **self._patience()}
        return Request(lease.url, headers=headers, meta=meta)

    def _patience(self) -> dict[str, float]:
        """Count a request; until a server answered, its download ends with the wait for that."""
        watch, now = self.crawl.ending, self.crawl.clock()
        watch.note_request(now)
        left_s = max(_LEAST_TIMEOUT_S, watch.answer_deadline - now)
        return {"download_timeout": left_s} if left_s < self._timeout_s else {}

    def settle_answer(self, response: Response) -> list[PageItem]:
        """Settle a page; return its item if a feed or a pipeline wants one."""
        fetch, items = own_fetch(cast("Request", response.request)), []
        record = self.settle_page(fetch, response)
        if self._wants_items and record is not None and record.outcome in (PAGE, UNCHANGED):
            with self.settling(fetch.lease):
                items += [settled_item(self.crawl.run.connection, fetch.lease, record)]
        return items

    def settle_page(self, fetch: Fetch, response: Response) -> Record | None:
        """Settle an answered URL once; None: the URL was queued again."""
        if fetch.is_settled:
            return None
        record = None
        self._end(fetch)
        with self.settling(fetch.lease):
            if not self._is_over(fetch.lease):
                record = self._answered(fetch, response)
        return record

    def _answered(self, fetch: Fetch, response: Response) -> Record | None:
        self.crawl.traffic.note_fetch(self.crawl.clock() - fetch.began_at)
        download, page = self.read(fetch, response)
        if self.callbacks is not None:
            page = self.callbacks.edited(page, fetch, redirect_target(response))
        if isinstance(page, ReadingError):
            raise page
        record = self.crawl.visitor.answered(fetch.lease, download, page)
        self._throttle.recover(self.engine, self.crawl.clock())
        return record

    def read(self, fetch: Fetch, response: Response) -> "tuple[Download, Answer | None]":
        """Return a download and its page.

        The page is None if the answer is no page, or if the spider has no callbacks.
        """
        if fetch.page is None:
            fetch.page = download_of(response, self.crawl.clock(), response.request), None
        download, page = fetch.page
        visitor = self.crawl.visitor
        if page is None and self.callbacks is not None and visitor.reads(fetch.lease, download):
            fetch.page = download, visitor.read(download, fetch.lease)
        return fetch.page

    def settle_failure(self, failure: Any) -> Any:
        """Settle a failed download, or an answer that the spider's callback does not get.

        Return the result of the spider.
        """
        fetch = own_fetch(failure.request)
        answer: Response | None = getattr(failure.value, "response", None)
        if answer is not None and fetch.page is not None:
            record = self.settle_page(fetch, answer)
        else:
            record = self._failed(fetch, failure.value)
        if self.callbacks is None or record is None:
            return None
        return self.callbacks.failed(fetch, failure, record)

    def _failed(self, fetch: Fetch, error: Exception) -> Record | None:
        lease, leased_at, record = fetch.lease, fetch.began_at, None
        if fetch.is_settled:
            return None
        self._end(fetch)
        with self.settling(lease):
            if not self._is_over(lease) and not self.waits(lease, error, leased_at):
                reason, is_final = self.reason(lease, error)
                record = self.crawl.visitor.failed(
                    lease, reason, is_final=is_final, received=fetch.body_bytes
                )
        return record

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
            self.crawl.ending.fail(str(error))  # once idle, the scheduler closes the spider

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
        """Count the bytes of a body; stop it at the size that is read of a file or of no page."""
        fetch = fetch_of(request)
        if fetch is None:
            return
        fetch.body_bytes += len(data)
        if fetch.has_page and fetch.is_leased:
            return
        most = fetch.most_bytes or (MAX_ROBOTS_BYTES if fetch.is_file else _SMALL_BODY_BYTES)
        if fetch.body_bytes > most:
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
        if fetch is None or fetch.is_file or fetch.asked is not None:
            return
        if fetch.most_bytes:
            if isinstance(body_length, int) and body_length > fetch.most_bytes:
                raise StopDownload(fail=False)
            return
        is_large = isinstance(body_length, int) and body_length > _SMALL_BODY_BYTES
        kind = content_type_of(headers)
        is_page = is_text(kind) or self._may_be_sitemap(kind)
        is_page = is_page or self._may_be_document(kind, fetch.lease)
        if is_large and not (is_page and fetch.has_page):
            raise StopDownload(fail=False)

    def _may_be_sitemap(self, content_type: str | None) -> bool:
        return self.crawl.config.reads_sitemaps and may_be_sitemap(content_type)

    def _may_be_document(self, content_type: str | None, lease: Lease) -> bool:
        is_read = self.crawl.config.documents and is_document(content_type, lease.url)
        return is_read and self.crawl.visitor.expects(lease)
