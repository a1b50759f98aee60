"""The download handler of a crawl that reads the sample web or an archive."""

import asyncio
from ipaddress import ip_address
from typing import cast

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from langfocus.crawler.sources.archive import NO_ROBOTS
from langfocus.crawler.sources.contract import Answer, Reason, Unreachable, Web
from langfocus.crawler.spiders.fetch import begin_fetch
from langfocus.crawler.spiders.fetches import crawl_of
from langfocus.crawler.spiders.messages import replayed

_FAILURES: dict[Reason, type[Exception]] = {
    "dns": CannotResolveHostError,
    "timeout": DownloadTimeoutError,
    "refused": DownloadConnectionRefusedError,
}


class WebDownloadHandler(BaseDownloadHandler):
    """Answers http and https requests from the Web of the spider's crawl."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        """Use the Web of the spider's open crawl."""
        super().__init__(crawler)
        crawl = crawl_of(crawler)
        self._crawl = crawl
        self._web, self._keeps_exchanges = cast("Web", crawl.prepared.web), crawl.config.keeps_warc

    async def download_request(self, request: Request) -> Response:
        """Return the response, or raise the exception of Scrapy's own handler in the same case.

        Raises `NotArchived`, which nothing retries, for a URL that is not in the archive.
        """
        await asyncio.sleep(0)  # a page takes one turn of the event loop
        fetch = begin_fetch(request)
        if fetch is not None and not fetch.most_bytes:
            lease = fetch.lease
            self._crawl.contacts.take_slot(lease, request.url, None, is_file=fetch.is_file)
        try:
            answer = self._web.respond(request.url, _plain(request))
        except Unreachable as failure:
            error = _FAILURES.get(failure.reason)
            if error is None:
                raise
            raise error(str(failure)) from failure
        request.meta["download_latency"] = 0.0
        if fetch is not None and self._keeps_exchanges and answer is not NO_ROBOTS:
            fetch.exchange = replayed(request.url, answer, fetch.began_at)
        return response_to(request, answer)


def response_to(request: Request, answer: Answer) -> Response:
    """Return an answer as a response; its headers and first bytes decide the class."""
    headers = Headers()
    for name, value in answer.headers:
        headers.appendlist(name, value.encode("utf-8", "surrogateescape"))
    kind = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
    return kind(
        url=request.url,
        status=answer.status,
        headers=headers,
        body=answer.body,
        ip_address=None if answer.ip is None else ip_address(answer.ip),
        protocol="HTTP/1.1",
    )


def _plain(request: Request) -> dict[str, str]:
    return {
        name.decode("latin-1"): b",".join(values).decode("latin-1")
        for name, values in request.headers.items()
    }
