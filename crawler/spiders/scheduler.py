"""The scheduler that Scrapy's engine asks; it begins to fetch the leases of the frontier."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import CallLaterResult, call_later, create_looping_call

from crawler.clock import CrawlClock
from crawler.crawl import Crawl
from crawler.errors import StorageError, one_line
from crawler.frontier.base import Lease, LeaseError, Sending
from crawler.politeness.blocking import BLOCKED
from crawler.politeness.robots import ORIGINS_FULL, ROBOTS_UNREACHABLE, Verdict
from crawler.spiders.concurrency import is_full
from crawler.spiders.messages import LEASED_AT, ROBOTS
from crawler.spiders.site_files import RobotsFiles, SiteFiles
from crawler.strategies.orderings import SEED
from crawler.visit import INTERRUPTED

if TYPE_CHECKING:
    from crawler.spiders.langfocus import LangfocusSpider

_REFUSALS = {Verdict.FORBIDDEN: "robots", Verdict.UNREACHABLE: ROBOTS_UNREACHABLE}

_MOST_LEASES = 500
"""Most URLs that are begun or refused in one call, so that the engine is not blocked for long."""

_GROUPED_S = 0.02
"""Seconds of which the changes of the frontier are written together."""

_GARBAGE = 5_000
"""New objects after which garbage is searched for; with Python's 700 it took 6 % of the time."""

_AWAITED_S = 0.5
"""Seconds for which a URL waits that needs a file which another URL has asked for."""


def keep_time(clock: CrawlClock) -> None:
    """Make the reactor's time-outs independent of the machine's clock, which may be set.

    Twisted reads `time.time`: if that is set back an hour, no time-out of a download ends for an
    hour.
    """
    from twisted.internet import reactor

    timer = cast("Any", reactor)
    if not isinstance(timer.seconds, CrawlClock):
        timer.seconds = clock


class WakeUp:
    """An alarm at which the engine asks its scheduler again.

    After the scheduler returned None, the engine asks again at the next response or after some
    seconds. The frontier knows the time at which the next host is ready, so the scheduler sets an
    alarm for it. It uses private parts of the engine, since Scrapy has no public way to wake it.
    """

    def __init__(self, crawler: Crawler, clock: Callable[[], float]) -> None:
        """Wake the engine of `crawler`; `clock` gives unix seconds."""
        self._crawler = crawler
        self._clock = clock
        self._rings_at: float | None = None
        self._call: CallLaterResult | None = None

    def at(self, when: float) -> None:
        """Ring at `when`, unix seconds, unless an earlier alarm is set."""
        if self._rings_at is not None and self._rings_at <= when:
            return
        self.cancel()
        self._rings_at = when
        # Two milliseconds later than requested: an alarm that rings early would find no URL.
        self._call = call_later(max(0.0, when - self._clock()) + 0.002, self._ring)

    def cancel(self) -> None:
        """Cancel the alarm."""
        if self._call is not None:
            self._call.cancel()
        self._call = self._rings_at = None

    def _ring(self) -> None:
        self._call = self._rings_at = None
        slot = self._crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()


class FrontierScheduler(BaseScheduler):
    """Has leased URLs fetched, and the robots.txt files that they need."""

    def __init__(
        self, crawl: Crawl, spider: "LangfocusSpider", wake_up: WakeUp, *, obey: bool
    ) -> None:
        """Schedule a crawl; `obey` is the setting ROBOTSTXT_OBEY."""
        self._crawl = crawl
        self._spider = spider
        self._wake_up = wake_up
        self._obey = obey
        self._files = RobotsFiles(spider)
        if crawl.web is None and crawl.config.obeys_robots and crawl.config.obeys_directives:
            spider.add_reserved = SiteFiles(spider).added
        self._tending = create_looping_call(self._tend)
        self._usual_garbage = gc.get_threshold()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FrontierScheduler":
        """Return the scheduler of a crawler that runs a `LangfocusSpider`."""
        spider = cast("LangfocusSpider", crawler.spider)
        keep_time(CrawlClock())
        wake_up = WakeUp(crawler, spider.crawl.clock)
        return cls(spider.crawl, spider, wake_up, obey=crawler.settings.getbool("ROBOTSTXT_OBEY"))

    def open(self, spider: Spider) -> None:
        """Queue the seeds."""
        try:
            self._crawl.start()
        except StorageError as error:
            self._crawl.fault = str(error)
        # What is loaded by now stays until the end. To look at it again and again for garbage took
        # a tenth of the crawl's processor time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        self._crawl.frontier.group(self._begin_group)
        if self._crawl.worker is not None:
            self._tending.start(self._crawl.worker.every_s, now=False)

    def close(self, reason: str) -> None:
        """End the session; leased URLs stay in the queue."""
        gc.unfreeze()
        gc.set_threshold(*self._usual_garbage)
        self._wake_up.cancel()
        if self._tending.running:
            self._tending.stop()
        self._crawl.close(reason)

    def has_pending_requests(self) -> bool:
        """Return True to keep the engine running: URLs are queued and the budget allows them."""
        if self._crawl.fault:
            return False
        try:
            return self._crawl.has_more()
        except StorageError as error:
            self._crawl.fault = str(error)
            return False

    def enqueue_request(self, request: Request) -> bool:
        """Queue the URL of a request as a seed; False makes the engine drop it."""
        links = self._crawl.visitor.links([request.url], SEED)
        return bool(links) and bool(self._crawl.frontier.seed(links, self._crawl.clock()))

    def next_request(self) -> None:
        """Begin as many fetches as the limit allows; if nothing is left now, set the wake-up.

        The engine gets no request: it would only count them, as `LangfocusSpider.begin_work` does.
        """
        if self._crawl.fault:
            return
        if self._crawl.worker is not None:
            # Not earlier: Scrapy sets its signal handlers after the reactor has started.
            self._crawl.waiting.listen()
        try:
            self._begin_fetches()
        except StorageError as error:
            self._crawl.fault = str(error)
        except Exception as error:
            told = _told(error)
            self._crawl.fault = f"the queue of the run cannot be read: {told}; restore a copy"

    def _begin_fetches(self) -> None:
        for _ in range(_MOST_LEASES):
            lease = self._crawl.next()
            if lease is None:
                break
            try:
                self._begin(lease)
            except StorageError:
                raise
            except Exception:
                self._spider.give_up(lease)
            if is_full(self._spider.crawler.engine):
                return
        ready_at = self._crawl.ready_at()
        if ready_at is not None:
            self._wake_up.at(ready_at)

    def _begin_group(self, write: Callable[[], None]) -> None:
        """Have the changes of the frontier written after some time."""
        written = self._crawl.written = asyncio.Event()
        call_later(_GROUPED_S, self._end_group, write, written)

    def _end_group(self, write: Callable[[], None], written: asyncio.Event) -> None:
        try:
            write()
        except StorageError as error:
            self._crawl.fault = str(error)
        written.set()

    def _tend(self) -> None:
        """Tend the crawl; a worker whose leases are not renewed must end."""
        try:
            self._crawl.tend()
        except StorageError as error:
            self._crawl.fault = str(error)
        except Exception as error:
            self._crawl.fault = f"the leases cannot be renewed: {_told(error)}"
        if self._crawl.fault and self._tending.running:
            self._tending.stop()

    def _begin(self, lease: Lease) -> None:
        """Begin to fetch a leased URL or the robots.txt that it needs, or refuse it."""
        now, robots = self._crawl.clock(), self._crawl.robots
        reason, verdict, file = self._refusal(lease), Verdict.ALLOWED, None
        if self._obey and not reason:
            verdict = robots.verdict(lease.url, now)
            reason = _REFUSALS.get(verdict, "")
        if verdict is Verdict.UNKNOWN:
            file = robots.ask(lease.url, now)
            reason = "" if file else ORIGINS_FULL
        if reason:
            # If the lease expired, its new owner will refuse the URL too.
            with suppress(LeaseError):
                self._crawl.visitor.refused(lease, reason)
        elif file is None:
            version = robots.version(lease.url) if self._obey else None
            self._spider.begin_page(lease, {LEASED_AT: now, ROBOTS: version})
        elif not self._files.begin(lease, file):
            self._crawl.frontier.release(lease, now=now, not_before=now + _AWAITED_S)

    def _refusal(self, lease: Lease) -> str:
        """Return the outcome of a URL that gets no request whatever robots.txt says, else ""."""
        if lease.is_beyond_cap:
            return Sending.DOMAIN_FULL.value
        if self._crawl.blocking.blocks(lease.url):
            return BLOCKED
        if self._crawl.visitor.is_used_up(lease):
            return INTERRUPTED
        return "" if self._crawl.may_contact(lease.url) else "private_address"


def _told(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}")
