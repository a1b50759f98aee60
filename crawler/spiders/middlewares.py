"""The downloader middleware of a crawl that unpacks bodies."""

from typing import Final

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.httpcompression import (
    ACCEPTED_ENCODINGS,
    HttpCompressionMiddleware,
)
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Response

from classifiers.pages.charset.charsets import canonical_label

MAX_LAYERS: Final = 3
"""Most layers of compression of a body; each may unpack to `DOWNLOAD_MAXSIZE` bytes."""

UNLIMITED: Final = "download_maxsize"
"""The key in `Request.meta` for a limit of the download; 0 limits only the unpacked body."""

_NAME = b"Content-Encoding"
_KNOWN = frozenset({*ACCEPTED_ENCODINGS, b"x-gzip"})
_NO_ENCODINGS = frozenset({b"", b"identity", b"none", b"binary", b"8bit", b"7bit"})
"""Names that some servers send with a body that is not encoded; so are names of charsets."""


class BrokenEncoding(Exception):
    """A body cannot be unpacked by its Content-Encoding."""


class Unpacking(HttpCompressionMiddleware):
    """Scrapy's middleware with different errors for two failures.

    `DownloadCancelledError`: the unpacked body is too large. `BrokenEncoding`: any other failure,
    also an encoding that is not known.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Return the response with its body unpacked.

        `DOWNLOAD_MAXSIZE` limits the unpacked body, even if the request has another limit.
        """
        names = _encodings(response)
        if len(names) > MAX_LAYERS:
            raise BrokenEncoding(f"compressed more than {MAX_LAYERS} times")
        if not names:
            return response
        response.headers[_NAME] = names
        try:
            if UNLIMITED in request.meta:
                meta = {key: value for key, value in request.meta.items() if key != UNLIMITED}
                request = request.replace(meta=meta)
            return super().process_response(request, response)
        except IgnoreRequest as error:
            raise DownloadCancelledError(str(error)) from error
        except Exception as error:  # each of the four formats has different errors
            raise BrokenEncoding(str(error)) from error


def _encodings(response: Response) -> list[bytes]:
    """Return the encodings of a body in their order; raises `BrokenEncoding` for an unknown one."""
    told = b",".join(response.headers.getlist(_NAME)).lower().split(b",")
    names = []
    for name in map(bytes.strip, told):
        if name in _KNOWN:
            names.append(name)
        elif name not in _NO_ENCODINGS and canonical_label(name.decode("latin-1")) is None:
            raise BrokenEncoding(f"unknown Content-Encoding {name[:40]!r}")
    return names
