"""The scheduler polled by Scrapy's engine; it turns a lease of the frontier into a Request."""

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import CallLaterResult, call_later, create_looping_call

from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Lease, LeaseError, Sending
from langfocus.crawler.politeness.blocking import BLOCKED
from langfocus.crawler.politeness.reservations import Reservations
from langfocus.crawler.politeness.robots import ORIGINS_FULL, ROBOTS_UNREACHABLE, Verdict
from langfocus.crawler.session.clock import CrawlClock
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.visit import OTHER_VERSION
from langfocus.crawler.spiders.callbacks import detached, is_link
from langfocus.crawler.spiders.fetch import Fetch, fetch_of
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.guard import Guard
from langfocus.crawler.spiders.site_files import SiteFiles
from langfocus.crawler.strategies.links import SEED

if TYPE_CHECKING:
    from langfocus.crawler.spiders.embeds import EmbedFetches

_REFUSALS = {Verdict.FORBIDDEN: "robots", Verdict.UNREACHABLE: ROBOTS_UNREACHABLE}

EMBEDDED = "embedded"
"""Outcome of a URL that was fetched as a file of a page."""

_MOST_REFUSALS = 500
"""Most URLs refused per call, so that the engine is not blocked for long."""

_GARBAGE = 5_000
"""New objects per garbage collection; with Python's 700, collection took 6 % of the time."""

_AWAITED_S = 0.5
"""Wait of a URL for a site file already requested for another URL."""


def keep_time(clock: CrawlClock) -> None:
    """Make the reactor's time-outs independent of the machine's clock, which may be set.

    Twisted reads `time.time`: after the clock is set back an hour, no download times out for an
    hour.
    """
    from twisted.internet import reactor

    timer = cast("Any", reactor)
    if not isinstance(timer.seconds, CrawlClock):
        timer.seconds = clock


def end_on_hangup() -> None:
    """Treat a closed terminal like SIGTERM, unless `nohup` started the process."""
    terminals = list(filter(os.isatty, range(3)))

    def end(*_: object) -> None:
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in terminals:
            if not os.isatty(file):  # to write there would be an error
                os.dup2(nothing, file)
        os.close(nothing)
        signal.raise_signal(signal.SIGTERM)

    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, end)


class WakeUp:
    """An alarm that makes the engine poll its scheduler.

    After None from the scheduler, the engine polls again at the next response or after some
    seconds. The frontier returns the time when the next host is ready, and the scheduler sets an
    alarm for this time. It uses private parts of the engine, since Scrapy has no public wake-up.
    """

    def __init__(self, crawler: Crawler, clock: Callable[[], float]) -> None:
        """Wake the engine of `crawler`; `clock` is in unix seconds."""
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
    """Returns requests for leased URLs, and fetches the site files they need."""

    def __init__(self, crawl: Crawl, fetches: Fetches, wake_up: WakeUp, *, obey: bool) -> None:
        """Schedule a crawl; `obey` is the setting ROBOTSTXT_OBEY."""
        self._crawl = crawl
        self.fetches = fetches
        self._wake_up = wake_up
        self.files = SiteFiles(fetches, obey=obey)
        self._embeds: EmbedFetches | None = None
        if (found := crawl.visitor.embeds) is not None:
            embeds = import_module("langfocus.crawler.spiders.embeds")
            self._embeds = embeds.EmbedFetches(found, fetches, self.files)
        self._returned: deque[Request] = deque()
        self._tending = create_looping_call(self._tend)
        self._usual_garbage = gc.get_threshold()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FrontierScheduler":
        """Return the scheduler for a crawler with an open crawl."""
        fetches = Fetches.from_crawler(crawler)
        keep_time(CrawlClock())
        wake_up = WakeUp(crawler, fetches.crawl.clock)
        obey = crawler.settings.getbool("ROBOTSTXT_OBEY")
        scheduler = cls(fetches.crawl, fetches, wake_up, obey=obey)
        if fetches.crawl.prepared.web is None:
            Guard(crawler, fetches.crawl)
        crawler.signals.connect(scheduler.on_idle, signals.spider_idle)
        return scheduler

    def open(self, spider: Spider) -> None:
        """Queue the seeds."""
        end_on_hangup()
        self._crawl.ending.guard(self._crawl.start)
        # Objects loaded by now stay until the end. Searching them repeatedly for garbage took a
        # tenth of the crawl's processor time, even one search a tenth of a second.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        gc.enable()
        self._crawl.contacts.group_writes(call_later)
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
        if self._returned:
            return True
        ending = self._crawl.ending
        if self._embeds is not None and self._embeds.has_more:
            return True
        return not ending.fault and bool(ending.guard(self._crawl.queue.has_more))

    def on_idle(self) -> None:
        """Close the spider with the reason why there is no more work."""
        ending = self._crawl.ending
        goal = "" if ending.fault else ending.guard(self._crawl.queue.goal_reached)
        if ending.fault:
            raise CloseSpider("storage")
        if goal:
            raise CloseSpider(goal)

    def enqueue_request(self, request: Request) -> bool:
        """Accept a request from the engine; False makes the engine drop the request.

        A fetch request returned by a middleware is sent again by `next_request`. Any other request
        is queued as a seed URL. A spider's request with a body bypasses the frontier.
        """
        fetch, callbacks = fetch_of(request), self.fetches.callbacks
        if fetch is not None and not fetch.is_settled:
            self._returned.append(request)
            return True
        if callbacks is None:
            links = self._crawl.visitor.links([request.url], SEED)
            return bool(links) and bool(self._crawl.frontier.seed(links, self._crawl.clock()))
        request = detached(request)
        if is_link(request):
            return bool(self._crawl.ending.guard(lambda: callbacks.queue(request, SEED)))
        may_go = self.files.verdict(request.url, self._crawl.clock()) is not Verdict.FORBIDDEN
        if may_go:
            self._returned.append(request)
        return may_go

    def next_request(self) -> Request | None:
        """Return the next request, or set the wake-up and return None."""
        if self._returned:
            return self._returned.popleft()
        if self._crawl.ending.fault:
            return None
        if self._crawl.worker is not None:
            # Not earlier: Scrapy sets its signal handlers after the reactor has started.
            self._crawl.worker.waiting.listen()
        return self._crawl.ending.guard(
            self._leased_request, "the queue of the run cannot be read", remedy="; restore a copy"
        )

    def _leased_request(self) -> Request | None:
        if self._embeds is not None:
            self._embeds.begin()
        for _ in range(0 if self.fetches.are_full else _MOST_REFUSALS):
            lease = self._crawl.queue.next()
            if lease is None:
                break
            try:
                request = self._request(lease)
            except StorageError:
                raise
            except Exception:
                self.fetches.give_up(lease)
                continue
            if request is not None:
                return request
            if self.fetches.are_full:
                break
        self._set_wake_up()
        return None

    def _tend(self) -> None:
        """Tend the crawl; a worker whose leases are not renewed must end."""
        self._crawl.ending.guard(self._crawl.tend, "the leases cannot be renewed")
        if self._crawl.ending.fault and self._tending.running:
            self._tending.stop()

    def _request(self, lease: Lease) -> Request | None:
        if reason := self._refusal(lease):
            self._refuse(lease, reason)
            return None
        now = self._crawl.clock()
        verdict = self.files.verdict(lease.url, now)
        if verdict in _REFUSALS:
            self._refuse(lease, _REFUSALS[verdict])
            return None
        if verdict is Verdict.UNKNOWN:
            file = self._crawl.robots.ask(lease.url, now)
            if file is None:
                self._refuse(lease, ORIGINS_FULL)
            else:
                self._begin(lease, now, file)
            return None
        robots = self.files.robots_of(lease.url)
        if lacking := self.files.lacking(lease.url, robots, now):
            self._begin(lease, now, *lacking)
            return None
        if self._crawl.frontier.knows_version(lease):  # last, so that a page asks once
            self._refuse(lease, OTHER_VERSION)
            return None
        licensed = self.files.licensed(lease.url, robots)
        reserved = self.files.reserved(lease.url)
        return self.fetches.page_request(Fetch(lease, now, robots=licensed, reserved=reserved))

    def _begin(
        self, lease: Lease, now: float, file: str, keeps: Reservations | None = None
    ) -> None:
        """Fetch a site file that a URL needs; the URL waits."""
        if not self.files.begin(lease, file, keeps):
            self._crawl.frontier.release(lease, now=now, not_before=now + _AWAITED_S)

    def _refusal(self, lease: Lease) -> str:
        """Return the outcome of a URL rejected regardless of robots.txt, else ""."""
        if lease.is_beyond_cap:
            return Sending.DOMAIN_FULL.value
        if self._crawl.contacts.blocking.blocks(lease.url):
            return BLOCKED
        if reason := self._crawl.visitor.refusal(lease):
            return reason
        embeds = self._crawl.visitor.embeds
        if embeds is not None and embeds.has_file(lease.url):
            return EMBEDDED
        return "" if self._crawl.contacts.may_contact(lease.url) else "private_address"

    def _refuse(self, lease: Lease, reason: str) -> None:
        # If the lease expired, its new owner will refuse the URL too.
        with suppress(LeaseError):
            self._crawl.visitor.refused(lease, reason)

    def _set_wake_up(self) -> None:
        embeds_at = None if self._embeds is None else self._embeds.ready_at()
        for ready_at in (self._crawl.queue.ready_at(), embeds_at):
            if ready_at is not None:
                self._wake_up.at(ready_at)
