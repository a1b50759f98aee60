"""Fetches the site files of a host before its first page: robots.txt, tdmrep.json, license.

A site file is fetched under the lease of a page: no other request contacts the host meanwhile, and
a kill interrupts only this page. The request passes the downloader middlewares and the download
handler, with the rules of a page, but takes no slot and bypasses Scrapy's engine, which took longer
than the handler.
"""

import asyncio
from typing import Final

from scrapy import Request
from scrapy.http import Response

from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.download import Download, RobotsVersion
from langfocus.crawler.politeness.blocking import BLOCKED
from langfocus.crawler.politeness.directives import license_of
from langfocus.crawler.politeness.reservations import TDMREP_PATH, Licenses, Reservations
from langfocus.crawler.politeness.robots import (
    MAX_MOVES,
    ROBOTS_UNREACHABLE,
    Verdict,
    is_unreachable,
)
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.spiders.concurrency import begin, end
from langfocus.crawler.spiders.fetch import own_fetch
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.messages import redirect_target, retry_after_s, statements_of
from langfocus.crawler.url import domain_of, host_of

MOST_ASKS: Final = 20
"""Requests for the robots.txt of a page's file, each `ASK_S` later than the one before."""

ASK_S: Final = 0.1


async def answer_for(fetches: Fetches, request: Request, *, is_kept: bool = True) -> Response:
    """Return the answer for a file; archive it if it `is_kept`. Raises the error of a download.

    An error answer for tdmrep.json is not archived: the frontier records that there is no file.
    """
    crawl, downloader = fetches.crawl, fetches.engine.downloader
    answer: Request | Response = request
    while isinstance(answer, Request):  # a middleware of the user may send it again
        request = answer
        send = downloader.handlers.download_request_async
        answer = await downloader.middleware.download_async(send, request)
    answer.request = request
    if is_kept and (answer.status < 400 or not request.url.endswith(TDMREP_PATH)):
        crawl.visitor.keep_file(own_fetch(request).exchange, statements_of(answer.headers))
    return answer


def may_ask(fetches: Fetches, file: str) -> bool:
    """Return True if a file lies neither in a private network nor behind the user's block."""
    contacts = fetches.crawl.contacts
    return contacts.may_contact(file) and not contacts.blocking.blocks(file)


def forbidden(crawl: Crawl, url: str) -> str:
    """Return the outcome of a page's file that a person or its address forbids, else ""."""
    scope, contacts = crawl.config.scope, crawl.contacts
    if contacts.blocking.blocks(url) or (scope is not None and scope.refuses(url)):
        return BLOCKED
    return "" if contacts.may_contact(url) else "private_address"


class SiteFiles:
    """Fetches the files that leased pages wait for."""

    def __init__(self, fetches: Fetches, *, obey: bool = True) -> None:
        """Fetch files as a crawl fetches pages; `obey` robots.txt."""
        self._fetches, self._crawl, self._obey = fetches, fetches.crawl, obey
        self._tdmrep = Reservations(fetches.crawl.frontier)
        self._licenses = Licenses(fetches.crawl.frontier)
        config = fetches.crawl.config
        self._asks_reservations = (
            fetches.crawl.prepared.web is None
            and config.obeys_robots
            and config.obeys_directives
            and not config.is_census
        )
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def verdict(self, url: str, now: float) -> Verdict:
        """Return whether robots.txt allows a URL; always for a crawl that does not obey it."""
        return self._crawl.robots.verdict(url, now) if self._obey else Verdict.ALLOWED

    def robots_of(self, url: str) -> RobotsVersion | None:
        """Return the robots.txt that a URL obeys."""
        return self._crawl.robots.version(url) if self._obey else None

    def statements(self, url: str, download: Download) -> tuple[str, ...]:
        """Return the statements of a file and of its robots.txt."""
        robots = self.robots_of(url)
        return (*download.statements, *(robots.signals if robots else ()))

    def lacking(
        self, url: str, robots: RobotsVersion | None, now: float
    ) -> tuple[str, Reservations] | None:
        """Return the next site file that a page needs, with its rule store, or None.

        `robots` is the page's robots.txt. Crawls without servers, crawls that ignore robots.txt or
        directives, and censuses fetch no site files.
        """
        for kept in (self._tdmrep, self._licenses) if self._asks_reservations else ():
            file = kept.file_for(url, now, robots.signals if robots else ())
            if file is None:
                continue
            verdict = self._crawl.robots.verdict(file, now)
            if verdict is not Verdict.FORBIDDEN and may_ask(self._fetches, file):
                return file, kept
            kept.keep(url, b"", now)
        return None

    def reserved(self, url: str) -> tuple[str, ...]:
        """Return the statements of tdmrep.json about a page."""
        return self._tdmrep.of(url) if self._asks_reservations else ()

    def licensed(self, url: str, robots: RobotsVersion | None) -> RobotsVersion | None:
        """Return a page's robots.txt with the statements of its license."""
        if not (robots and self._asks_reservations and any(map(license_of, robots.signals))):
            return robots
        return robots._replace(signals=(*robots.signals, *self._licenses.of(url)))

    def begin(self, lease: Lease, file: str, keeps: Reservations | None = None) -> bool:
        """Start fetching a file; its page is leased again once the rules are stored.

        `keeps` stores the rules; None for a robots.txt. Returns False if the file is being fetched
        already.
        """
        if file in self._tasks:
            return False
        request = self._fetches.file_request(lease, file)
        begin(self._fetches.engine, request)
        self._tasks[file] = asyncio.ensure_future(self.fetch(lease, file, request, keeps))
        return True

    async def fetch(
        self, lease: Lease, file: str, request: Request, keeps: Reservations | None = None
    ) -> None:
        """Fetch a file, store its rules, and requeue or settle its page."""
        try:
            with self._fetches.settling(lease):
                if keeps is not None:
                    await self._fetch_reservations(lease, request, keeps)
                    return
                try:
                    response = await answer_for(self._fetches, request)
                except Exception as error:
                    self._failed(lease, file, error, own_fetch(request).began_at)
                else:
                    self._answered(lease, file, response)
        finally:
            self._tasks.pop(file, None)
            end(self._fetches.engine, request)

    def _answered(self, lease: Lease, file: str, response: Response) -> None:
        crawl, now = self._crawl, self._crawl.clock()
        if is_unreachable(response.status):
            hold_s = retry_after_s(response, now) or 0.0
            self._without_rules(lease, file, ROBOTS_UNREACHABLE, is_final=False, hold_s=hold_s)
            return
        target = redirect_target(response)
        if target is not None and not may_ask(self._fetches, target):
            self._without_rules(lease, file, ROBOTS_UNREACHABLE, is_final=True)
            return
        if target is None or not crawl.robots.move(lease.url, target, now, file):
            crawl.robots.keep(lease.url, response.status, response.body, now, file)
        crawl.frontier.release(lease, now=now)

    def _failed(self, lease: Lease, file: str, error: Exception, asked_at: float) -> None:
        """Fetch nothing from a host whose robots.txt cannot be fetched (RFC 9309, 2.3.1.4)."""
        if not self._fetches.waits(lease, error, asked_at):
            reason, is_final = self._fetches.reason(lease, error)
            self._without_rules(lease, file, reason, is_final=is_final)

    def _without_rules(
        self, lease: Lease, file: str, reason: str, *, is_final: bool, hold_s: float = 0.0
    ) -> None:
        """Ask for a file again later; after the last try the site is forbidden for a while."""
        crawl, now, config = self._crawl, self._crawl.clock(), self._crawl.config
        failures = 0 if is_final else crawl.robots.fail(lease.url, now, file)
        if 0 < failures <= config.retry_times:
            not_before = now + config.rest_s(failures, hold_s)
            crawl.frontier.release(lease, now=now, not_before=not_before)
            return
        crawl.robots.keep(lease.url, None, b"", now, file)
        crawl.visitor.failed(lease, reason, is_final=True)

    async def _fetch_reservations(
        self, lease: Lease, request: Request, keeps: Reservations
    ) -> None:
        """Fetch reservations, and requeue their page; any failure counts as no reservations.

        Redirects within the registered domain are followed: redirects across hosts could direct
        endless requests to a stranger's host.
        """
        crawl, fetches = self._crawl, self._fetches
        delay_s = max(crawl.config.delay_s, crawl.robots.delay_s(lease.url))
        body, domain, asked = b"", domain_of(lease.host), {request.url}
        for _ in range(MAX_MOVES + 1):
            try:
                response = await answer_for(fetches, request)
            except Exception as error:
                if fetches.waits(lease, error, own_fetch(request).began_at):
                    return
                break
            target = redirect_target(response)
            if target is None:
                body = response.body if 200 <= response.status < 300 else b""
                break
            if target in asked or domain_of(host_of(target)) != domain:
                break
            if not may_ask(fetches, target):
                break
            asked.add(target)
            # Two milliseconds more, since a sleep may end early.
            await asyncio.sleep(delay_s + 0.002)
            request = fetches.file_request(lease, target)
        keeps.keep(lease.url, body, crawl.clock())
        crawl.frontier.release(lease, now=crawl.clock())
