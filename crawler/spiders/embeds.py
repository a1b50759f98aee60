"""Fetches the files that relevant pages embed, beside the pages.

A request passes the guard like that of a page: turns, delays, private addresses, rests of servers.
robots.txt is fetched first. Like a site file it bypasses Scrapy's engine.
"""

import asyncio
from collections import Counter
from typing import Any, Final

from scrapy import Request
from scrapy.http import Response

from langfocus.classifiers.pages.html.embedded import MAX_BYTES, embedded_in_css, embedded_in_page
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.errors import StorageError
from langfocus.crawler.http.download import Download
from langfocus.crawler.http.head import media_type
from langfocus.crawler.politeness.directives import NOARCHIVE
from langfocus.crawler.politeness.network import BusyAddressError, CapError, LocalFaultError
from langfocus.crawler.politeness.robots import ORIGINS_FULL, ROBOTS_UNREACHABLE, Verdict
from langfocus.crawler.run.embeds import FAILED, FETCHED, FRAME, FULL, IS_PAGE, TOO_LARGE
from langfocus.crawler.session.embeds import Embed, Embeds
from langfocus.crawler.spiders.concurrency import PAUSE_S, begin, end, most_requests
from langfocus.crawler.spiders.faults import explain
from langfocus.crawler.spiders.fetch import lease_of, own_fetch
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.site_files import ASK_S, MOST_ASKS, SiteFiles, answer_for, forbidden

_HTML: Final = ("text/html", "application/xhtml+xml")
_REFUSALS: Final = {Verdict.FORBIDDEN: "robots", Verdict.UNREACHABLE: ROBOTS_UNREACHABLE}


class EmbedFetches:
    """Begins the requests of embedded files that may be sent now, and settles their answers."""

    def __init__(self, embeds: Embeds, fetches: Fetches, files: SiteFiles) -> None:
        """Fetch as a crawl fetches pages; `files` fetches robots.txt."""
        self._embeds, self._fetches, self._files = embeds, fetches, files
        self._crawl = fetches.crawl
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._asks = Counter[str]()
        self._most = max(1, most_requests(fetches.engine) // 2)

    @property
    def has_more(self) -> bool:
        """True if files wait, and the crawl has time and bytes left."""
        may_fetch = self._crawl.ending.may_fetch_files(self._crawl.clock())
        return may_fetch and self._embeds.ready_at() is not None

    def ready_at(self) -> float | None:
        """Return when a request may begin; None if none waits, or a running one must end first."""
        is_open = self.has_more and len(self._tasks) < self._most
        return self._embeds.ready_at() if is_open else None

    def begin(self) -> None:
        """Begin the requests that may be sent now, as many at once as half of those of pages."""
        now = self._crawl.clock()
        while self.has_more and len(self._tasks) < self._most and not self._fetches.are_full:
            embed = self._embeds.next(now)
            if embed is None:
                return
            if reason := self._refusal(embed, now):
                self._embeds.settle(embed, reason)
                self._embeds.done(embed.host, now)
            elif self._files.verdict(embed.url, now) is Verdict.UNKNOWN:
                self._ask(embed, now)
            else:
                self._fetch(embed)

    def _refusal(self, embed: Embed, now: float) -> str:
        """Return the outcome of a file that gets no request, else ""."""
        if reason := forbidden(self._crawl, embed.url):
            return reason
        if not embed.is_frame and self._embeds.is_page(embed.url):
            return IS_PAGE
        if not self._embeds.bytes_left(embed):
            return FULL
        verdict = self._files.verdict(embed.url, now)
        if verdict is Verdict.UNKNOWN and self._asks[embed.host] >= MOST_ASKS:
            return ROBOTS_UNREACHABLE
        return _REFUSALS.get(verdict, "")

    def _ask(self, embed: Embed, now: float) -> None:
        """Fetch the robots.txt that a file needs; its lease ends without the frontier."""
        file = self._crawl.robots.ask(embed.url, now)
        if file is None:
            self._embeds.settle(embed, ORIGINS_FULL)
        elif self._files.begin(lease_of(embed.url), file):
            self._asks[embed.host] += 1
        wait_s = max(ASK_S * self._asks[embed.host], self._delay_s(embed))
        self._embeds.done(embed.host, now + wait_s)

    def _delay_s(self, embed: Embed) -> float:
        return max(self._crawl.config.delay_s, self._crawl.robots.delay_s(embed.url))

    def _fetch(self, embed: Embed) -> None:
        request = self._fetches.embed_request(lease_of(embed.url), self._embeds.bytes_left(embed))
        begin(self._fetches.engine, request)
        self._tasks[embed.id] = asyncio.ensure_future(self._fetched(embed, request))

    async def _fetched(self, embed: Embed, request: Request) -> None:
        """Fetch a file and settle it."""
        wait_s = 0.0
        try:
            try:
                answer = await answer_for(self._fetches, request, is_kept=False)
                wait_s = self._answered(embed, request, answer)
            except StorageError:
                raise
            except Exception as error:
                wait_s = self._failed(embed, error, own_fetch(request).body_bytes)
        except StorageError as error:
            self._crawl.ending.fail(str(error))
        finally:
            ready_at = self._crawl.clock() + max(wait_s, self._delay_s(embed))
            self._crawl.ending.guard(lambda: self._embeds.done(embed.host, ready_at), "embeds")
            # Before the engine polls: a full crawl would set no alarm for the next file.
            del self._tasks[embed.id]
            end(self._fetches.engine, request)

    def _answered(self, embed: Embed, request: Request, answer: Response) -> float:
        """Settle an answered file; return the seconds that its host rests."""
        crawl = self._crawl
        download = download_of(answer, crawl.clock(), answer.request or request)
        size = download.wire_bytes
        if "download_stopped" in answer.flags:
            self._settle(embed, TOO_LARGE, size)
            return 0.0
        if answer.status in crawl.config.retry_statuses and self._is_retried(embed, size):
            return crawl.config.rest_s(embed.tries + 1, download.retry_after_s or 0.0)
        exchange, outcome = download.exchange, self._outcome(embed, download)
        if outcome == NOARCHIVE:
            exchange = None
        self._settle(
            embed,
            outcome,
            size,
            self._needed(embed, download) if outcome in (FETCHED, FRAME) else {},
            lambda: crawl.visitor.keep_file(exchange, ()),
        )
        return 0.0

    def _outcome(self, embed: Embed, download: Download) -> str:
        if not self._crawl.visitor.may_keep(self._files.statements(embed.url, download)):
            return NOARCHIVE
        if 300 <= download.status < 400 and download.location:
            return FETCHED
        if not 200 <= download.status < 300:
            return FAILED
        return FRAME if media_type(download.content_type) in _HTML else FETCHED

    def _needed(self, embed: Embed, download: Download) -> dict[str, bool]:
        """Return the URLs to which an answer leads: of a redirect, a frame or a style sheet."""
        kind, body, url = media_type(download.content_type), download.body, download.url
        if download.status >= 300:
            target = absolute(download.location or "", url)
            return {target.partition("#")[0]: embed.is_frame} if target else {}
        if kind == "text/css":
            return embedded_in_css(body[:MAX_BYTES].decode("utf-8", "replace"), url)
        is_frame = embed.is_frame and kind in _HTML
        return embedded_in_page(body, download.content_type, url) if is_frame else {}

    def _failed(self, embed: Embed, error: Exception, size: int) -> float:
        """Settle a failed file, or let it wait; return the seconds that its host rests."""
        if isinstance(error, BusyAddressError):
            return error.wait_s
        if isinstance(error, LocalFaultError):
            return PAUSE_S
        reason, is_final = explain(error)
        if isinstance(error, CapError):
            reason, is_final = error.outcome or FULL, True
        if not is_final and self._is_retried(embed, size):
            return self._crawl.config.rest_s(embed.tries + 1)
        self._settle(embed, reason, size)
        return 0.0

    def _is_retried(self, embed: Embed, size: int) -> bool:
        if embed.tries >= self._crawl.config.retry_times:
            return False
        self._settle(embed, None, size)
        return True

    def _settle(self, embed: Embed, outcome: str | None, size: int, *more: Any) -> None:
        self._embeds.settle(embed, outcome, size, *more)
        self._crawl.ending.count_file(size)
