"""Unpacks bodies by their Content-Encoding, within limits."""

from typing import Final

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Response

MAX_LAYERS: Final = 3
"""Most layers of compression of a body; each may unpack to `DOWNLOAD_MAXSIZE` bytes."""

UNLIMITED: Final = "download_maxsize"
"""The key in `Request.meta` for a limit of the download; 0 limits only the unpacked body."""


class BrokenEncoding(Exception):
    """A body cannot be unpacked by its Content-Encoding."""


class Unpacking(HttpCompressionMiddleware):
    """Scrapy's middleware with different errors for two failures.

    `DownloadCancelledError`: the unpacked body is too large. `BrokenEncoding`: any other failure.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Return the response with its body unpacked.

        `DOWNLOAD_MAXSIZE` limits the unpacked body, even if the request has another limit.
        """
        encodings = b",".join(response.headers.getlist("Content-Encoding"))
        if encodings.count(b",") >= MAX_LAYERS:
            raise BrokenEncoding(f"compressed more than {MAX_LAYERS} times")
        try:
            return super().process_response(_without_limit_of_its_own(request), response)
        except IgnoreRequest as error:
            raise DownloadCancelledError(str(error)) from error
        except Exception as error:  # each of the four formats has different errors
            raise BrokenEncoding(str(error)) from error


def _without_limit_of_its_own(request: Request) -> Request:
    if UNLIMITED not in request.meta:
        return request
    meta = {key: value for key, value in request.meta.items() if key != UNLIMITED}
    return request.replace(meta=meta)
