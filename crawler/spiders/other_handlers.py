"""Download handlers that a user sets: their answers are checked, since they check less than ours.

A handler gets a request after all checks of the guard (docs/download-handlers.md). Some look the
host up again, read answers of any size, follow redirects, unpack bodies, or do not keep the bytes
of a head.
"""

import asyncio
import logging
from typing import Final

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, DownloadTimeoutError
from scrapy.http import Response
from scrapy.utils.python import global_object_name

from langfocus.crawler.http.body import BrokenEncoding, encodings, unpacked
from langfocus.crawler.http.head import MAX_HEAD_BYTES
from langfocus.crawler.politeness.network import PrivateAddressError, is_private_address
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.spiders.faults import HeadTooLarge
from langfocus.crawler.spiders.fetch import Send, fetch_of, is_file
from langfocus.crawler.spiders.messages import OTHER_NAME, rebuilt
from langfocus.crawler.url import normalise

_GRACE_S: Final = 1.0
"""Grace period in seconds for a handler's own time-out."""

_CUT = {"dataloss", "download_stopped", "partial"}
_LENGTH, _ENCODING = b"Content-Length", b"Content-Encoding"

_log = logging.getLogger("langfocus")


def uses_checked_address(handler: object) -> bool:
    """Return True if a handler connects to the checked address, by the reactor's name resolver."""
    call = getattr(type(handler), "download_request", None)
    return call is HTTP11DownloadHandler.download_request


def remark(handler: object) -> None:
    """Log in one line what a crawl lacks with a handler."""
    _log.warning(
        "%s downloads pages: %sit has its own limits for heads, and WARC records get rebuilt "
        "heads; see docs/download-handlers.md",
        global_object_name(type(handler)),
        "" if uses_checked_address(handler) else "checked names are looked up again, ",
    )


class CheckedHandler:
    """Sends requests to a handler and checks its answers."""

    def __init__(self, send: Send, crawl: Crawl, most_bytes: int) -> None:
        """Accept bodies of at most `most_bytes` bytes, 0: of any size."""
        self._send, self._crawl, self._most_bytes = send, crawl, most_bytes

    async def __call__(self, request: Request) -> Response:
        """Return the answer to a request.

        A redirect followed by the handler is turned back into a redirect to the final URL, for the
        crawl's own redirect rules.
        """
        if is_file(request):
            request.meta.pop("playwright", None)  # a browser makes a page of a robots.txt
        response = await self._in_time(request)
        self._crawl.ending.note_answer()
        self._check(request, response)
        if normalise(response.url) != normalise(request.url):
            return Response(request.url, 302, {"Location": response.url})
        _rename_wrong_headers(response)
        fetch = fetch_of(request)
        if fetch is not None and self._crawl.config.keeps_warc:
            fetch.heads = rebuilt(request, response)
        return response.replace(url=request.url) if response.url != request.url else response

    async def _in_time(self, request: Request) -> Response:
        limit_s = request.meta.get("download_timeout") or 0.0
        try:
            async with asyncio.timeout(limit_s + _GRACE_S if limit_s else None):
                return await self._send(request)
        except NotImplementedError as error:  # such as proxies
            if fetch_of(request) is not None:
                self._crawl.ending.fail(f"DOWNLOAD_HANDLERS: {error}".rstrip("."))
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Scrapy would wait for the answer for ever.
            raise DownloadFailedError(f"{request.url} was cancelled by its handler") from error
        except TimeoutError as error:
            message = f"{request.url} took longer than {limit_s} seconds"
            raise DownloadTimeoutError(message) from error

    def _check(self, request: Request, response: Response) -> None:
        address = None if request.meta.get("proxy") else response.ip_address
        is_private = address is not None and is_private_address(address)
        if is_private and not self._crawl.contacts.allows_private(request.url):
            raise PrivateAddressError(f"{request.url} was answered by {address}")
        most = request.meta.get("download_maxsize", self._most_bytes)
        if most and len(response.body) > most:
            raise DownloadCancelledError(f"{request.url}: more than {most:,} bytes")
        if len(response.headers.to_string()) > MAX_HEAD_BYTES:
            raise HeadTooLarge(f"more than {MAX_HEAD_BYTES:,} bytes of headers")


def _rename_wrong_headers(response: Response) -> None:
    """Rename the headers that do not describe the body, as Common Crawl does."""
    if not response.body or _CUT.intersection(response.flags):
        return
    has_length = response.headers.getlist(_LENGTH) == [b"%d" % len(response.body)]
    wrong = [] if has_length else [_LENGTH]
    if not has_length and not _unpacks(response):
        wrong.append(_ENCODING)
    for name in wrong:
        if values := response.headers.pop(name, None):
            response.headers[OTHER_NAME + name] = values


def _unpacks(response: Response) -> bool:
    try:
        unpacked(response.body, encodings(response.headers.getlist(_ENCODING)), 0)
    except BrokenEncoding:
        return False
    return True
