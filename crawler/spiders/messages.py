"""The requests and responses of Scrapy in a crawl, and the plain values that are made of them.

`Request.meta` has what the crawl knows of a request. `take_slot` is the last step before it is
sent. A response becomes a download, and with its request an exchange for the archive.
"""

import re
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote_from_bytes

from scrapy import Request
from scrapy.http import Response
from scrapy.http.headers import Headers

from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http import head
from langfocus.crawler.http.download import Download, Exchange
from langfocus.crawler.politeness import directives
from langfocus.crawler.session.crawl import Crawl
from langfocus.crawler.sources.contract import Answer
from langfocus.crawler.url import normalise

LEASE = "langfocus_lease"
"""The key of the request's lease."""

LEASED_AT = "langfocus_leased_at"
"""The key of the time when the lease began, in unix seconds."""

HEADS = "langfocus_heads"
"""The key of the bytes before the bodies of a request and its answer, from the live Web."""

STATUS_CODE = "langfocus_status"
"""The key of the status of the answer, when its head has come from the live Web."""

ROBOTS = "langfocus_robots"
"""The key of the version of robots.txt that allowed the request."""

RESERVED = "langfocus_reserved"
"""The key of the statements of tdmrep.json about the page."""

IS_FILE = "langfocus_file"
"""The key that only a request for a file of a host has."""

BODY_BYTES = "langfocus_body_bytes"
"""The key of the bytes that have come of a file, or of an answer without a page."""

EXCHANGE = "langfocus_exchange"
"""The key of a request and its answer as they were sent; missing if nothing keeps them."""

READ_PAGE = "langfocus_page"
"""The key of a download and its page, which is None if the crawl reads it itself."""

# Twisted passes on the body without its chunks. Common Crawl gives the header the same name.
_TRANSFER_ENCODING = re.compile(rb"^(Transfer-Encoding:)", re.IGNORECASE | re.MULTILINE)
_OTHER_NAME = rb"X-Crawler-\1"

_VALUE = rb"[^\n]*\n(?:[ \t][^\n]*\n)*"
_OF_PROXY = re.compile(rb"^Proxy-[^:\n]*:" + _VALUE, re.IGNORECASE | re.MULTILINE)
_SECRET = re.compile(
    rb"^(?:Proxy-[^:\n]*|(?:Authorization|Cookie)[ \t]*):" + _VALUE, re.IGNORECASE | re.MULTILINE
)


class Heads(NamedTuple):
    """The bytes before the body of a request and of its answer, with the empty line."""

    request: bytes
    answer: bytes


def take_slot(
    crawl: Crawl, request: Request, address: str | None, *, is_lookup: bool = False
) -> None:
    """Note that the request for a leased URL is sent; raise `CapError` if it may not be.

    `address` is the IP address of the server, None if it is not known. A file, and a lookup of a
    name, takes no slot of its host.
    """
    lease: Lease | None = request.meta.get(LEASE)
    if lease is None:
        return
    is_file = IS_FILE in request.meta
    is_page = not (is_file or is_lookup or crawl.visitor.is_sitemap(lease))
    crawl.contacts.take_slot(lease, request.url, address, is_page=is_page, is_file=is_file)


def download_of(response: Response, now: float) -> Download:
    """Return a response as a download; it arrived at `now`, in unix seconds."""
    headers = response.headers
    meta = {} if response.request is None else response.request.meta
    # A proxy answers with its own address.
    address = None if meta.get("proxy") else response.ip_address
    return Download(
        response.url,
        response.status,
        response.body,
        content_type_of(headers),
        _text(headers.get(b"Content-Language")),
        _location(response),
        retry_after_s(response, now),
        None if address is None else str(address),
        is_cut="dataloss" in response.flags,
        statements=statements_of(headers),
        reserved=meta.get(RESERVED, ()),
        robots=meta.get(ROBOTS),
        etag=_validator(headers.get(b"ETag")),
        modified=_validator(headers.get(b"Last-Modified")),
        refresh=_text(headers.get(b"Refresh")),
        sets_cookie=b"Set-Cookie" in headers,
        exchange=meta.get(EXCHANGE),
    )


def statements_of(headers: Headers) -> tuple[str, ...]:
    """Return the statements of headers about the use of the answer."""
    return directives.of_headers(
        (name, value.decode("utf-8", "replace").strip())
        for name in directives.HEADERS
        for value in headers.getlist(name)
    )


def redirect_target(response: Response) -> str | None:
    """Return the normalised URL to which a response redirects, None if there is none."""
    location = _location(response)
    if location is None or not 300 <= response.status < 400:
        return None
    return normalise(location, response.url)


def content_type_of(headers: Headers) -> str | None:
    """Return the Content-Type that counts, None if there is none."""
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
    """Return a header so that the same bytes can be sent again; None if it is too long."""
    if value is None or len(value) > head.LONGEST_VALUE:
        return None
    return value.decode("latin-1").strip()


def _text(value: bytes | None) -> str | None:
    return None if value is None else head.text_of(value)


def sent(request: Request, response: Response) -> Exchange:
    """Return a request of the live Web and its answer.

    They tell nothing of a proxy, neither its address nor its headers, and no password or cookie
    that was sent: archives are passed on.
    """
    heads: Heads = request.meta.pop(HEADS)
    has_proxy = bool(request.meta.get("proxy"))
    answer = _OF_PROXY.sub(b"", heads.answer) if has_proxy else heads.answer
    address = None if has_proxy else response.ip_address
    truncated = "disconnect" if "dataloss" in response.flags else ""
    truncated = "length" if "download_stopped" in response.flags else truncated
    return Exchange(
        request.url,
        request.meta[LEASED_AT],
        _TRANSFER_ENCODING.sub(_OTHER_NAME, answer),
        response.body,
        _SECRET.sub(b"", heads.request),
        None if address is None else str(address),
        truncated,
    )


def replayed(request: Request, answer: Answer) -> Exchange:
    """Return the answer of a Web without servers: as it was archived, else as it was made."""
    if answer.source is not None:
        return Exchange(request.url, *answer.source, ip=answer.ip)
    phrase = HTTPStatus(answer.status).phrase if answer.status in set(HTTPStatus) else "-"
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    made = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return Exchange(request.url, request.meta[LEASED_AT], made, answer.body, ip=answer.ip)
