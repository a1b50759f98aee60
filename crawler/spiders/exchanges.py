"""Makes exchanges for an archive from Scrapy's requests and responses."""

import re
from http import HTTPStatus

from scrapy import Request
from scrapy.http import Response

from crawler.outputs.exchange import Exchange
from crawler.sources.contract import Answer
from crawler.spiders.live_handler import Heads
from crawler.spiders.request_meta import HEADS, LEASED_AT

# Twisted passes on the body without its chunks. Common Crawl gives the header the same name.
_TRANSFER_ENCODING = re.compile(rb"^(Transfer-Encoding:)", re.IGNORECASE | re.MULTILINE)
_OTHER_NAME = rb"X-Crawler-\1"

_VALUE = rb"[^\n]*\n(?:[ \t][^\n]*\n)*"
_OF_PROXY = re.compile(rb"^Proxy-[^:\n]*:" + _VALUE, re.IGNORECASE | re.MULTILINE)
_SECRET = re.compile(
    rb"^(?:Proxy-[^:\n]*|Authorization|Cookie)[ \t]*:" + _VALUE, re.IGNORECASE | re.MULTILINE
)


def sent(request: Request, response: Response) -> Exchange:
    """Return a request of the live Web and its answer.

    They tell nothing of a proxy, neither its address nor its headers, and no password or cookie
    that was sent: archives are passed on.
    """
    heads: Heads = request.meta.pop(HEADS)
    has_proxy = bool(request.meta.get("proxy"))
    answer = _OF_PROXY.sub(b"", heads.answer) if has_proxy else heads.answer
    address = None if has_proxy else response.ip_address
    return Exchange(
        request.url,
        request.meta[LEASED_AT],
        _TRANSFER_ENCODING.sub(_OTHER_NAME, answer),
        response.body,
        _SECRET.sub(b"", heads.request),
        None if address is None else str(address),
        _truncated(response),
    )


def _truncated(response: Response) -> str:
    if "download_stopped" in response.flags:
        return "length"
    return "disconnect" if "dataloss" in response.flags else ""


def replayed(request: Request, answer: Answer) -> Exchange:
    """Return the answer of a Web without servers: as it was archived, else as it was made."""
    if answer.source is not None:
        began_at, head, body = answer.source
        return Exchange(request.url, began_at, head, body, ip=answer.ip)
    lines = [f"HTTP/1.1 {answer.status} {_phrase(answer.status)}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    head = "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")
    return Exchange(request.url, request.meta[LEASED_AT], head, answer.body, ip=answer.ip)


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "-"
