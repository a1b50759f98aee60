"""Fetches one page without a crawl, for `langfocus identify pages`.

The variables `http_proxy`, `https_proxy` and `no_proxy` are obeyed, redirects are followed,
robots.txt is not read.
"""

import time
from http.client import HTTPException, HTTPMessage, HTTPResponse
from io import BytesIO
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from crawler.visit import Download, is_text

TIMEOUT_S: Final = 30.0
MAX_BYTES: Final = 10 * 1024 * 1024
"""Most bytes of a body that are read; the rest is ignored."""

_CHUNK_BYTES = 65_536


class _Redirects(HTTPRedirectHandler):
    """Follows redirects; unlike its base it does not read their bodies, which may be endless."""

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> Any:
        """Return the answer of the target."""
        fp.close()
        return super().http_error_302(req, BytesIO(), code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


_HANDLERS = (
    ProxyHandler,
    HTTPHandler,
    HTTPSHandler,
    HTTPDefaultErrorHandler,
    _Redirects,
    HTTPErrorProcessor,
    UnknownHandler,
)
"""No handlers for files and FTP, since a redirect may lead to them."""


def fetch(url: str, user_agent: str, timeout_s: float = TIMEOUT_S) -> Download:
    """Return the page at an absolute http(s) URL; its `url` is the last URL of its redirects.

    Raises `OSError` with a message of one line if there is no answer within `timeout_s` seconds, if
    the status is not 2xx, or if the file is not text.
    """
    # The time limit of a connection starts again with each byte, so a server could send single
    # bytes without end. The thread has a limit for the whole page.
    answers: SimpleQueue[Download | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(_fetch(url, user_agent, timeout_s))
        except OSError as error:
            answers.put(error)

    Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=timeout_s)
    except Empty:
        raise TimeoutError("timed out") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _fetch(url: str, user_agent: str, timeout_s: float) -> Download:
    deadline = time.monotonic() + timeout_s
    try:
        with _opener().open(_request(url, user_agent), timeout=timeout_s) as response:
            return _download(response, deadline)
    except HTTPError as error:
        error.close()
        raise OSError(f"HTTP status {error.code}") from error
    except URLError as error:
        raise OSError(_line(error.reason)) from error
    except (HTTPException, ValueError) as error:
        raise OSError(f"no HTTP answer: {_line(error)}") from error


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    return opener


def _request(url: str, user_agent: str) -> Request:
    return Request(url, headers={"User-Agent": user_agent, "Accept": "text/html,*/*;q=0.8"})  # noqa: S310  # no handler for others


def _download(response: HTTPResponse, deadline: float) -> Download:
    content_type = response.headers.get("Content-Type")
    if not is_text(content_type):
        raise OSError(f"no page: {content_type}")
    language = response.headers.get("Content-Language")
    body = _body(response, deadline)
    return Download(response.url, response.status, body, content_type, language)


def _body(response: HTTPResponse, deadline: float) -> bytes:
    parts, size = [], 0
    while size < MAX_BYTES and (part := response.read1(min(_CHUNK_BYTES, MAX_BYTES - size))):
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _line(error: object) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())
