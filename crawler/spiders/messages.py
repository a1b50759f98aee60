"""Requests and responses of Scrapy as plain values.

A response becomes a download, and with its request an exchange for the archive.
"""

import re
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote_from_bytes

from scrapy import Request
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.utils.httpobj import urlparse_cached

from langfocus.crawler.http import head
from langfocus.crawler.http.download import Download, Exchange
from langfocus.crawler.politeness import directives
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.spiders.fetch import Heads, fetch_of
from langfocus.crawler.url import normalise

# Twisted passes on the body without its chunks. Common Crawl renames the header likewise.
_TRANSFER_ENCODING = re.compile(rb"^(Transfer-Encoding:)", re.IGNORECASE | re.MULTILINE)
OTHER_NAME: Final = b"X-Crawler-"

_LINE_END = re.compile(rb"[\r\n]+")
_VALUE = rb"[^\n]*\n(?:[ \t][^\n]*\n)*"
_OF_PROXY = re.compile(rb"^Proxy-[^:\n]*:" + _VALUE, re.IGNORECASE | re.MULTILINE)
_SECRET = re.compile(
    rb"^(?:Proxy-[^:\n]*|(?:Authorization|Cookie)[ \t]*):" + _VALUE, re.IGNORECASE | re.MULTILINE
)


def download_of(response: Response, now: float, request: Request | None = None) -> Download:
    """Return the response to a request as a download; it arrived at `now`, in unix seconds."""
    headers, fetch = response.headers, fetch_of(request)
    return Download(
        response.url,
        response.status,
        response.body,
        content_type_of(headers),
        _text(headers.get(b"Content-Language")),
        _location(response),
        retry_after_s(response, now),
        _address(response, request),
        received=fetch.body_bytes if fetch else 0,
        is_cut="dataloss" in response.flags,
        statements=statements_of(headers),
        reserved=fetch.reserved if fetch else (),
        robots=fetch.robots if fetch else None,
        etag=_validator(headers.get(b"ETag")),
        modified=_validator(headers.get(b"Last-Modified")),
        refresh=_text(headers.get(b"Refresh")),
        sets_cookie=b"Set-Cookie" in headers,
        exchange=fetch.exchange if fetch else None,
    )


def statements_of(headers: Headers) -> tuple[str, ...]:
    """Return the statements of headers about the use of the answer."""
    return directives.of_headers(
        (name, value.decode("utf-8", "replace").strip())
        for name in directives.HEADERS
        for value in headers.getlist(name)
    )


def redirect_target(response: Response) -> str | None:
    """Return the normalised redirect target of a response, or None."""
    location = _location(response)
    if location is None or not 300 <= response.status < 400:
        return None
    return normalise(location, response.url)


def content_type_of(headers: Headers) -> str | None:
    """Return the effective Content-Type, or None."""
    return head.content_type_of([head.text_of(one) for one in headers.getlist(b"Content-Type")])


def retry_after_s(response: Response, now: float) -> float | None:
    """Return a Retry-After in seconds from `now`, None if it is missing or invalid.

    The header is a number or a date (RFC 9110, 10.2.3). A date counts from the server's own Date,
    because its clock and ours may differ.
    """
    text = _text(response.headers.get(b"Retry-After"))
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    until = _time_of(text)
    sent_at = _time_of(_text(response.headers.get(b"Date")) or "")
    return None if until is None else max(0.0, until - (now if sent_at is None else sent_at))


def _time_of(date: str) -> float | None:
    """Return a date of HTTP in unix seconds, None for another text."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _location(response: Response) -> str | None:
    """Return a Location; bytes that are not UTF-8 are escaped, as browsers do."""
    value = response.headers.get(b"Location")
    try:
        return None if value is None else value.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        return quote_from_bytes(error.object, safe=bytes(range(0x80))).strip()


def _validator(value: bytes | None) -> str | None:
    """Return a header value that can be sent again byte for byte; None if too long."""
    if value is None or len(value) > head.LONGEST_VALUE:
        return None
    return value.decode("latin-1").strip()


def _text(value: bytes | None) -> str | None:
    return None if value is None else head.text_of(value)


def _address(response: Response, request: Request | None) -> str | None:
    """Return the server's address; None if unknown, as behind a proxy."""
    has_proxy = request is not None and request.meta.get("proxy")
    return None if has_proxy or response.ip_address is None else str(response.ip_address)


def sent(request: Request, response: Response, heads: Heads, began_at: float) -> Exchange:
    """Return a live request and its answer for the archive.

    Archives are passed on, so proxy addresses, proxy headers, passwords and cookies are removed.
    """
    answer = _OF_PROXY.sub(b"", heads.answer) if request.meta.get("proxy") else heads.answer
    truncated = "disconnect" if "dataloss" in response.flags else ""
    truncated = "length" if "download_stopped" in response.flags else truncated
    return Exchange(
        request.url,
        began_at,
        _TRANSFER_ENCODING.sub(OTHER_NAME + rb"\1", answer),
        response.body,
        _SECRET.sub(b"", heads.request),
        _address(response, request),
        truncated,
        heads.protocol,
    )


def rebuilt(request: Request, response: Response) -> Heads:
    """Return the heads of a request and its answer, rebuilt from headers."""
    path = [*request.url.partition("#")[0].split("/", 3), ""][3]
    asked = [f"{request.method} /{path} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        asked.append(b"Host: " + urlparse_cached(request).netloc.encode())
    protocol = (response.protocol or "").lower().removesuffix(".0")
    return Heads(
        _head_of(asked, request.headers),
        _head_of([_status_line(response.status).encode()], response.headers),
        {"http/1": "http/1.0", "http/2": "h2", "http/3": "h3"}.get(protocol, protocol),
    )


def _head_of(lines: list[bytes], headers: Headers) -> bytes:
    pairs = ((name, value) for name, values in headers.items() for value in values)
    lines += [name + b": " + _LINE_END.sub(b" ", value) for name, value in pairs]
    return b"\r\n".join([*lines, b"", b""])


def _status_line(status: int) -> str:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "-"
    return f"HTTP/1.1 {status} {phrase}"


def replayed(url: str, answer: Answer, began_at: float) -> Exchange:
    """Return an answer of a Web without servers, archived or generated."""
    if answer.source is not None:
        return Exchange(url, *answer.source, ip=answer.ip)
    lines = [_status_line(answer.status)]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    made = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return Exchange(url, began_at, made, answer.body, ip=answer.ip)
