"""The Scrapy download handler through which a crawl reads another Web than the live one.

Settings:

- `LANGFOCUS_WEB`: "live" (default: Scrapy's own handler does the work), "sample" or "archive";
- `LANGFOCUS_ARCHIVE`: the WARC file of an "archive";
- `LANGFOCUS_SAMPLE_SEED` and `LANGFOCUS_SAMPLE_HOSTS`: the numbers that make a "sample".
"""

import asyncio
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

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
from scrapy.settings import BaseSettings
from scrapy.utils.misc import build_from_crawler, load_object

from crawler.errors import SettingError
from crawler.web.contract import Answer, Reason, Unreachable, Web
from crawler.web.opening import open_web

FAILURES: dict[Reason, type[Exception]] = {
    "dns": CannotResolveHostError,
    "timeout": DownloadTimeoutError,
    "refused": DownloadConnectionRefusedError,
}
_webs: WeakKeyDictionary[Crawler, Web | None] = WeakKeyDictionary()


def web_of(crawler: Crawler) -> Web | None:
    """The Web that this crawl reads, made at the first call; None is the live one.

    Ask for it before the engine starts: Scrapy only logs what a handler's constructor raises.
    Raises `SettingError` or `ArchiveError`.
    """
    if crawler not in _webs:
        _webs[crawler] = web_from_settings(crawler.settings)
    return _webs[crawler]


def use_web(crawler: Crawler, web: Web) -> None:
    """Lets this crawl read a Web that was opened already, whatever its settings say."""
    _webs[crawler] = web


def web_from_settings(settings: BaseSettings) -> Web | None:
    """A new Web as the settings name it; None is the live one."""
    kind, archive = settings.get("LANGFOCUS_WEB") or "live", settings.get("LANGFOCUS_ARCHIVE")
    if kind == "archive" and not archive:
        raise SettingError("LANGFOCUS_WEB is 'archive' without a file: set LANGFOCUS_ARCHIVE")
    return open_web(
        kind,
        archive=Path(archive) if archive else None,
        seed=settings.getint("LANGFOCUS_SAMPLE_SEED", 1),
        hosts=settings.getint("LANGFOCUS_SAMPLE_HOSTS") or 600,
    )


def response_to(request: Request, answer: Answer) -> Response:
    """The answer as the kind of response that its headers and its first bytes call for."""
    headers = Headers()
    for name, value in answer.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
    return kind(
        url=request.url,
        status=answer.status,
        headers=headers,
        body=answer.body,
        ip_address=None if answer.ip is None else ip_address(answer.ip),
        protocol="HTTP/1.1",
    )


class WebDownloadHandler(BaseDownloadHandler):
    """Answers http and https requests from the Web that the settings name."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._web = web_of(crawler)
        self._live: Any = None if self._web else _scrapy_handler(crawler)

    async def download_request(self, request: Request) -> Response:
        """The response, or the exception that Scrapy's own handler raises in the same case.

        What is not archived raises `NotArchived`, which nothing retries.
        """
        if self._web is None:
            response: Response = await self._live.download_request(request)
            return response
        await asyncio.sleep(0)  # a page takes the time of one turn of the loop, not of a round
        try:
            answer = self._web.respond(request.url, _plain(request))
        except Unreachable as failure:
            error = FAILURES.get(failure.reason)
            if error is None:
                raise
            raise error(str(failure)) from failure
        request.meta["download_latency"] = 0.0
        return response_to(request, answer)

    async def close(self) -> None:
        """Ends what Scrapy's own handler keeps open, if the Web is the live one."""
        if self._live is not None:
            await self._live.close()


def _scrapy_handler(crawler: Crawler) -> Any:
    path = crawler.settings.getwithbase("DOWNLOAD_HANDLERS_BASE")["https"]
    return build_from_crawler(load_object(path), crawler)


def _plain(request: Request) -> dict[str, str]:
    return {
        name.decode("latin-1"): b",".join(values).decode("latin-1")
        for name, values in request.headers.items()
    }
