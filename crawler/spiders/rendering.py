"""Renders the pages that need a browser, and loads for them.

A script or an answer that such a page asks for is fetched like an embedded file: robots.txt, turns,
delays and address checks are those of pages. The page has its slot already and keeps its lease.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from langfocus.classifiers.languages import accept_language
from langfocus.crawler.errors import StorageError
from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.browser import (
    EMPTY,
    FAILED,
    GONE,
    Asked,
    Browser,
    BrowserError,
    Dom,
    Loaded,
)
from langfocus.crawler.http.download import Download
from langfocus.crawler.politeness.network import BusyAddressError, LocalFaultError
from langfocus.crawler.politeness.robots import Verdict
from langfocus.crawler.reading.page import Reading
from langfocus.crawler.reading.readers import Answer
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.session.embeds import bytes_left
from langfocus.crawler.spiders.concurrency import PAUSE_S
from langfocus.crawler.spiders.fetch import Fetch, lease_of, own_fetch
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.spiders.site_files import ASK_S, MOST_ASKS, answer_for, forbidden
from langfocus.crawler.url import domain_of, host_of

RENDERED, UNEXPECTED, UNREAD = "rendered", "render_unexpected", "render_unread"
"""Counters: pages whose text a browser wrote; pages not expected in the language; pages that no
reader could read.
"""

_CACHE_BYTES: Final = 64_000_000
"""Scripts that are kept in memory: the pages of a site have the same."""

_OWN: Final = frozenset({"accept-encoding", "accept-language", "cookie", "host", "user-agent"})
"""Headers that the crawl sets itself, whatever a page asks for."""

_SEEN: Final = frozenset({"content-type", "content-language", "etag", "last-modified", "location"})
"""Headers of an answer that a page sees; others could make the browser connect elsewhere."""

Read = Callable[[Download, int], Awaitable[Answer | None]]
"""Reads a page in a reader; None: the crawl reads it."""


@dataclass(slots=True)
class _Spent:
    """What a page has loaded, itself included."""

    bytes: int
    files: int = 0


_Found = tuple[Download, Reading] | str
"""A rendered page, or the reason why there is none."""


class Rendering:
    """Renders pages in the browser of LANGFOCUS_RENDER."""

    def __init__(self, crawler: Crawler, crawl: Crawl, read: Read) -> None:
        """Render pages of a crawl; `read` reads a rendered page."""
        config = crawl.config
        tags = accept_language(config.lang).removesuffix(",*;q=0.1").split(",")
        self._browser = Browser(
            config.render or "",
            tabs=config.render_tabs,
            timeout_s=config.render_s,
            languages=",".join(tag.partition(";")[0] for tag in tags),
        )
        self._crawler, self._crawl, self._read = crawler, crawl, read
        self._scripts, self._cached_bytes = OrderedDict[tuple[str, str], Loaded](), 0
        self._others: set[str] = set()  # hosts with such a page in another language, or in vain
        self._files, self._bytes = Counter[str](), Counter[str]()  # by registered domain
        crawler.signals.connect(self._browser.close, signals.spider_closed)

    async def rendered(self, fetch: Fetch, response: Response) -> Response:
        """Return the response with the text that scripts wrote; unchanged if it needs none.

        `fetch` gets the page too. Raises `BrowserError` for a page that has retries left after its
        browser or process died. A page that is not rendered has the reason in its counters.
        """
        assert fetch.page is not None
        download, page = fetch.page
        with suppress(Exception):  # it is read, and fails, again when it is settled
            page = page or self._crawl.visitor.read(download, fetch.lease)
        fetch.page = download, page
        if not isinstance(page, Reading) or not page.needs_browser:
            return response
        spent = _Spent(download.wire_bytes)
        if not self._is_expected(fetch.lease, page):
            found: _Found = UNEXPECTED
        else:
            found = await self._attempt(fetch.lease, download, page, spent)
        if found in (GONE, FAILED) and self._crawl.visitor.has_retries(fetch.lease):
            fetch.page = None
            raise BrowserError(found)
        if isinstance(found, str):
            is_other = found in (UNEXPECTED, EMPTY)
            fetch.page = replace(download, received=spent.bytes), _counted(page, found)
        else:
            fetch.page = made, answer = found
            is_other = answer.language not in (None, *self._crawl.config.targets)
            response = response.replace(cls=HtmlResponse, body=made.body, encoding="utf-8")
        if is_other:
            self._others.add(fetch.lease.host)
        return response

    async def _attempt(
        self, lease: Lease, download: Download, page: Reading, spent: _Spent
    ) -> _Found:
        kind = [("Content-Type", download.content_type or "text/html")]
        shell = Loaded(200, kind, download.body)
        try:
            dom = await self._browser.render(download.url, shell, partial(self._load, spent))
        except BrowserError as error:
            return str(error)
        made = replace(_with(download, dom), received=spent.bytes)
        answer: Answer | None = None
        with suppress(Exception):
            answer = await self._read(made, lease.depth) or self._crawl.visitor.read(made, lease)
        if not isinstance(answer, Reading):
            return UNREAD
        if answer.needs_browser and not answer.leads_to:
            return EMPTY
        said = tuple(dict.fromkeys((*page.statements, *answer.statements)))
        return made, _counted(answer._replace(statements=said), RENDERED)

    def _is_expected(self, lease: Lease, page: Reading) -> bool:
        """Return True if a page may be in the language, by its URL and its declaration.

        Such pages say little of their language, and with focus those of a host are scored by what
        the others were. So those of a host may be until one was not, unless they declare another
        language. English is no declaration: the templates of frameworks have it.
        """
        config = self._crawl.config
        return (
            page.language in config.targets
            or (page.language in (None, "en") and lease.host not in self._others)
            or self._crawl.visitor.expects(lease)
            or (config.scope is not None and config.scope.takes(lease.url))
        )

    async def _load(self, spent: _Spent, asked: Asked) -> Loaded | None:
        """Return a file for a page, from memory or its server; None if it may not be fetched."""
        url, key = asked.url.partition("#")[0], (asked.url, asked.headers.get("Origin", ""))
        if asked.is_script and key in self._scripts:
            self._scripts.move_to_end(key)
            return self._scripts[key]
        if not await self._may_fetch(url):
            return None
        most = self._bytes_left(spent, domain_of(host_of(url)))
        if most <= 0:
            return None
        spent.files += 1
        self._files[domain_of(host_of(url))] += 1
        loaded = await self._fetched(url, asked.headers, most, spent)
        if loaded is not None and asked.is_script and loaded.status == 200:
            self._scripts[key] = loaded
            self._cached_bytes += len(loaded.body)
            while self._cached_bytes > _CACHE_BYTES:
                self._cached_bytes -= len(self._scripts.popitem(last=False)[1].body)
        return loaded

    def _bytes_left(self, spent: _Spent, domain: str) -> int:
        config = self._crawl.config
        if spent.files >= config.embeds_of_page or self._files[domain] >= config.embeds_of_domain:
            return 0
        return bytes_left(config, spent.bytes, self._bytes[domain])

    async def _may_fetch(self, url: str) -> bool:
        """Return True if nothing forbids to fetch a URL; its robots.txt is fetched first."""
        crawl, files = self._crawl, self._scheduler.files
        for asks in range(1, 0 if forbidden(crawl, url) else MOST_ASKS):
            now = crawl.clock()
            verdict = files.verdict(url, now)
            file = crawl.robots.ask(url, now) if verdict is Verdict.UNKNOWN else None
            if file is None or not crawl.ending.may_fetch_files(now):
                return verdict is Verdict.ALLOWED
            files.begin(lease_of(url), file)
            await asyncio.sleep(ASK_S * asks)
        return False

    @property
    def _scheduler(self) -> Any:
        return self._crawler.engine.scheduler

    async def _fetched(
        self, url: str, headers: dict[str, str], most_bytes: int, spent: _Spent
    ) -> Loaded | None:
        """Return the answer of a server, kept in the archive; None after an error."""
        sent = {name: value for name, value in headers.items() if _is_sent(name)}
        fetches = self._scheduler.fetches
        while self._crawl.ending.may_fetch_files(self._crawl.clock()):
            request = fetches.embed_request(lease_of(url), most_bytes)
            request.headers.update(sent)
            try:
                answer = await answer_for(fetches, request, is_kept=False)
                return self._loaded(request, answer, spent)
            except BusyAddressError as error:
                await asyncio.sleep(error.wait_s + 0.002)
            except LocalFaultError:
                await asyncio.sleep(PAUSE_S)
            except StorageError as error:
                self._crawl.ending.fail(str(error))
            except Exception:
                return None
        return None

    def _loaded(self, request: Request, answer: Response, spent: _Spent) -> Loaded | None:
        download = download_of(answer, self._crawl.clock(), answer.request or request)
        size = own_fetch(answer.request or request).body_bytes or len(answer.body)
        spent.bytes += size
        self._bytes[domain_of(host_of(request.url))] += size
        if "download_stopped" in answer.flags:
            return None
        said = self._scheduler.files.statements(request.url, download)
        self._crawl.visitor.keep_file(download.exchange, said)
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in answer.headers.items()
            if _is_seen(name.decode("latin-1").lower())
            for value in values
        ]
        return Loaded(answer.status, headers, answer.body)


def _is_sent(name: str) -> bool:
    return name.lower() not in _OWN and not name.lower().startswith(("sec-", "proxy-"))


def _is_seen(name: str) -> bool:
    return name in _SEEN or name.startswith(("access-control-", "x-"))


def _counted(page: Reading, reason: str) -> Reading:
    return page._replace(left_out={**page.left_out, reason: 1})


def _with(download: Download, dom: Dom) -> Download:
    """Return a download with the rendered page, which its exchange keeps beside the answer."""
    html, exchange = dom.html.encode("utf-8", "replace"), download.exchange
    return replace(
        download,
        body=html,
        content_type="text/html; charset=utf-8",
        refresh=f"0; url={dom.leads_to}" if dom.leads_to else download.refresh,
        is_rendered=True,
        exchange=exchange and replace(exchange, rendered=html),
    )
