"""Callbacks of a user's spider: its items, and its choice of links."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, Spider
from scrapy.http import Response

from langfocus.crawler.frontier.base import FORWARDING, UNCHANGED, Record
from langfocus.crawler.http.download import Download
from langfocus.crawler.reading.page import Reading
from langfocus.crawler.reading.readers import Answer
from langfocus.crawler.spiders.asked import AskedRequests, is_plain
from langfocus.crawler.spiders.concurrency import IN_SLOT
from langfocus.crawler.spiders.fetch import KEY, Fetch
from langfocus.crawler.strategies.links import Link, LinkSource
from langfocus.crawler.url import normalise

if TYPE_CHECKING:
    from langfocus.crawler.session.crawl import Crawl

PAGE_KEY: Final = "langfocus"
"""The key of the `Page` in `Response.meta`."""

_MOST_BONUS: Final = 50.0
"""The largest bonus of a link, in log-odds."""

_PRIVATE: Final = frozenset({KEY, PAGE_KEY, "download_latency", *IN_SLOT})
"""Keys of a response's meta that a new request must not share."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as a spider's callback gets it, identified by its content.

    `links` are the normalised URLs that the crawl follows from it.
    """

    language: str | None  # a code; None: the page has no label
    confidence: float | None  # the probability of the language, 0 to 1
    method: str | None  # the evidence that decided (`text`, `declaration`, ...)
    charset: str | None  # the encoding as which it was read, a WHATWG name
    is_relevant: bool  # the page is in the target language
    links: Sequence[str] = ()
    _download: Download | None = field(default=None, repr=False)

    def text(self, extractor: str = "combined") -> str:
        """Return the main text as `langfocus export` writes it, one paragraph a line."""
        from langfocus.crawler.corpus.extraction import main_text_of

        if self._download is None:
            return ""
        kind = self._download.content_type
        found = main_text_of(self._download.body, kind, extractor, has_metadata=False)
        return "\n".join(found.paragraphs)


NO_PAGE: Final = Page(None, None, None, None, is_relevant=False)
"""The page object for an answer without a page, such as an image."""


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A URL whose last request brought no page.

    `outcome` is a word of docs/reference/outcomes.md, `page` for an error with a status.
    """

    url: str
    outcome: str
    status: int | None = None
    response: Response | None = field(default=None, repr=False)
    error: BaseException | None = None


def page_of(download: Download, answer: Answer | None, targets: Sequence[str]) -> Page:
    """Return what a reader found in a download."""
    if not isinstance(answer, Reading):
        return NO_PAGE
    return Page(
        answer.language,
        answer.confidence,
        answer.method,
        answer.charset,
        is_relevant=answer.language in targets,
        links=tuple(link.url for link in answer.links),
        _download=download,
    )


def is_link(request: Request) -> bool:
    """Return True for a request that the frontier can queue: one without a body."""
    return request.method == "GET" and not request.body


def detached(request: Request) -> Request:
    """Return a request without the state of the fetch whose `meta` it copied."""
    if _PRIVATE.isdisjoint(request.meta):
        return request
    return request.replace(
        meta={name: value for name, value in request.meta.items() if name not in _PRIVATE}
    )


class Callbacks:
    """The callbacks of a spider, and the requests that they yield."""

    def __init__(
        self,
        spider: Spider,
        crawl: "Crawl",
        *,
        on_page: Callable[..., Any] | None = None,
        on_failure: Callable[[FailedPage], Any] | None = None,
        wants: Callable[[Link], bool | float | None] | None = None,
        follows_links: bool = True,
        takes_page: bool = False,
    ) -> None:
        """Call `on_page` for a page whose request has no callback; None: pages are settled at once.

        With `takes_page` it gets the `Page` as the argument `page`. Without `follows_links` only
        the spider's own requests lead on.
        """
        self.on_page, self.takes_page = on_page, takes_page
        self._on_failure, self._wants, self._follows_links = on_failure, wants, follows_links
        self._spider, self._crawl = spider, crawl
        self._requests = AskedRequests(crawl.run.folder, spider)
        crawl.visitor.listeners.append(lambda lease, _: self._requests.end(lease.fingerprint))
        crawl.resources.callback(self._requests.close)

    def asked(self, made: Request, fetch: Fetch) -> Request:
        """Return the request for a leased URL as the spider asked for it."""
        fetch.asked = asked = self._requests.get(fetch.lease.fingerprint)
        # None is the spider's `parse`, also for add-ons that look at callbacks.
        default = self.on_page if self._follows_links else None
        default = made.callback if self.on_page is None else default
        if asked is None:
            return made.replace(callback=default)
        headers = {**made.headers, **asked.headers}
        return asked.replace(
            url=made.url,
            callback=asked.callback or default,
            errback=made.errback,
            headers=headers,
            meta={**asked.meta, **made.meta},
            dont_filter=True,
        )

    def page_for(self, fetch: Fetch, download: Download, answer: Answer | None) -> Page | None:
        """Return the page of a callback; None if the answer only leads on or is no page.

        A request of the spider's own also gets other answers: files, and errors.
        """
        visitor = self._crawl.visitor
        if self._crawl.ending.is_over() or not visitor.is_last(fetch.lease, download):
            return None
        if isinstance(answer, Reading):
            if answer.leads_to and visitor.follows(download, answer):
                return None
        elif fetch.asked is None and self._follows_links:
            return None
        return page_of(download, answer, self._crawl.config.targets)

    def edited(self, answer: Answer | None, fetch: Fetch, target: str | None) -> Answer | None:
        """Return what was read of an answer, with the links that the spider wants.

        `target` is the URL to which the answer redirects, None if it does not.
        """
        if isinstance(answer, Reading) and answer.leads_to:
            target = normalise(answer.leads_to)
        if target is not None and fetch.asked is not None:
            self._requests.put(target, fetch.asked)
        if not isinstance(answer, Reading):
            for request in fetch.requests:
                self.queue(request, LinkSource(is_relevant=False, depth=fetch.lease.depth))
            return answer
        links, left_out = list(answer.links), answer.left_out
        if not self._follows_links:
            links, left_out = [], {}
        elif self._wants is not None:
            links = list(self._wanted(links))
            left_out = {**left_out, "ignored_by_spider": len(answer.links) - len(links)}
        is_relevant = answer.language in self._crawl.config.targets
        source = LinkSource(is_relevant=is_relevant, depth=fetch.lease.depth)
        return answer._replace(links=self._links(fetch.requests, source) + links, left_out=left_out)

    def _wanted(self, links: Sequence[Link]) -> Iterator[Link]:
        assert self._wants is not None
        for link in links:
            try:
                answer = self._wants(link)
                bonus = 0.0 if answer is None or answer is True else float(answer)
                if math.isnan(bonus):
                    raise ValueError("not a number")
            except Exception:
                self._spider.logger.exception("wants(%s)", link.url)
                self._spider.crawler.stats.inc_value("spider_exceptions/count")
                answer, bonus = True, 0.0
            if answer is not False:
                yield _with_bonus(link, bonus)

    def _links(self, requests: Sequence[Request], source: LinkSource) -> list[Link]:
        """Return requests as links, scored in one batch; keep requests with more than a URL."""
        found = {normalise(request.url): request for request in reversed(requests)}
        asked = {url: request for url, request in reversed(found.items()) if url}
        links = self._crawl.visitor.links(list(asked), source, has_files=True)
        for link in links:
            if not is_plain(asked[link.url]):
                self._requests.put(link.url, asked[link.url])
        return [_with_bonus(link, float(asked[link.url].priority)) for link in links]

    def queue(self, request: Request, source: LinkSource) -> bool:
        """Queue a request that belongs to no page; False if its URL was known, or may not enter."""
        links = self._links([request], source)
        found = self._crawl.frontier.seed(links, self._crawl.clock())
        return any(one.is_queued for one in found)

    def failed(self, fetch: Fetch, failure: Any, record: Record) -> Any:
        """Return the spider's result for a URL without a page."""
        if record.outcome in (*FORWARDING, UNCHANGED):
            return None
        if fetch.asked is not None and fetch.asked.errback is not None:
            return fetch.asked.errback(failure)
        if self._on_failure is None:
            return None
        response = getattr(failure.value, "response", None)
        error = None if response is not None else failure.value
        url, status = fetch.lease.url, record.status
        return self._on_failure(FailedPage(url, record.outcome, status, response, error))


def _with_bonus(link: Link, bonus: float) -> Link:
    """Return a link with a bonus in log-odds, which counts as evidence of the URL model."""
    if not bonus:
        return link
    bonus = min(max(bonus, -_MOST_BONUS), _MOST_BONUS)
    evidence = link.evidence and link.evidence._replace(named=link.evidence.named + bonus)
    return replace(link, score=link.score + bonus, evidence=evidence)
