"""Answers of careless servers, one for each host, and their treatment by browsers."""

import gzip
import zlib
from collections.abc import Callable, Mapping
from typing import Final

import brotli

from benchmarks.servers.hostileserver import Behaviour, Exchange, answer, computes, sends
from tests.support.keptpages import html
from tests.support.smallweb import SENTENCES

CHUNKED: Final = b"Transfer-Encoding: chunked"
GZIP: Final = b"Content-Encoding: gzip"
NO_GZIP: Final = b"no gzip at all"


def page(name: str) -> bytes:
    """A German page that is like no other."""
    return html(SENTENCES["de"] * 3, f"Das ist {name}.")


def raw(
    body: bytes,
    *headers: bytes,
    status: bytes = b"HTTP/1.1 200 OK",
    kind: bytes | None = b"Content-Type: text/html",
    end: bytes = b"\r\n",
) -> bytes:
    """An answer that ends with its connection."""
    lines = [status, *([] if kind is None else [kind]), *headers, b"Connection: close"]
    return end.join([*lines, b"", b""]) + body


def chunks(body: bytes, size: bytes = b"%x\r\n", last: bytes = b"0\r\n\r\n") -> bytes:
    half = len(body) // 2
    parts = (size % len(part) + part for part in (body[:half], body[half:]))
    return b"\r\n".join(parts) + b"\r\n" + last


def damaged(data: bytes) -> bytes:
    """Gzip data with another checksum."""
    return data[:-8] + bytes(4) + data[-4:]


def _type(value: bytes) -> Callable[[bytes], bytes]:
    return lambda body: raw(body, kind=b"Content-Type: " + value)


def _packed(pack: Callable[[bytes], bytes], *names: bytes) -> Callable[[bytes], bytes]:
    headers = [b"Content-Encoding: " + name for name in names]
    return lambda body: raw(pack(body), *headers)


def _status(line: bytes) -> Callable[[bytes], bytes]:
    return lambda body: raw(body, status=line)


_TYPES: Final = {
    "html": b"html",
    "any": b"*/*",
    "unknown": b"unknown/unknown",
    "charset-alone": b"charset=utf-8",
    "text-alone": b"text; charset=utf-8",
    "none": b"none",
    "empty": b"",
    "no-subtype": b"text/",
    "quoted": b'"text/html"',
    "blanks": b"text / html",
}

PAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "plain": raw,
    # Status lines and headers.
    "two-blanks": _status(b"HTTP/1.1  200  OK"),
    "blanks-first": _status(b"  HTTP/1.1 200 OK"),
    "lines-first": lambda body: b"\r\n\r\n" + raw(body),
    "lower-http": _status(b"http/1.1 200 OK"),
    "no-reason": _status(b"HTTP/1.1 200"),
    "http-2": _status(b"HTTP/2 200"),
    "split-status": _status(b"HTTP/1.1 200\r\n OK"),
    "line-feeds": lambda body: raw(body, end=b"\n"),
    "folded-type": lambda body: raw(body, kind=b"Content-Type: text/html;\r\n\tcharset=utf-8"),
    "blank-colon": lambda body: raw(body, kind=b"Content-Type : text/html"),
    "no-colon": lambda body: raw(body, b"no colon", b"\xff: \xff", b"X-Latin: stra\xdfe"),
    "hints-first": lambda body: b"HTTP/1.1 103 -\r\nLink: </x>\r\n\r\n" + raw(body),
    "two-types": lambda body: raw(body, b"Content-Type: */*"),
    "last-type": lambda body: raw(body, kind=b"Content-Type: image/png\r\nContent-Type: text/html"),
    # Framing.
    "padded-chunks": lambda body: raw(chunks(body, b"%x  \r\n"), CHUNKED),
    "extended-chunks": lambda body: raw(chunks(body, b"%x ; a=\xff\r\n"), CHUNKED),
    "bare-chunks": lambda body: raw(chunks(body, b"%x\n"), CHUNKED),
    "trailer": lambda body: raw(chunks(body, last=b"0\r\nX-Sum: 1\r\n\r\n"), CHUNKED),
    "no-last-chunk": lambda body: raw(chunks(body, last=b""), CHUNKED),
    "chunked-twice": lambda body: raw(chunks(body), CHUNKED, CHUNKED),
    "chunked-identity": lambda body: raw(chunks(body), b"Transfer-Encoding: chunked, identity"),
    "identity": lambda body: raw(body, b"Transfer-Encoding: identity"),
    "no-transfer": lambda body: raw(body, b"Transfer-Encoding:"),
    "length-chunks": lambda body: raw(chunks(body), CHUNKED, b"Content-Length: 5"),
    "packed-chunks": lambda body: raw(chunks(gzip.compress(body)), CHUNKED, GZIP),
    # Encodings.
    "x-gzip": _packed(gzip.compress, b"x-gzip"),
    "upper-gzip": _packed(gzip.compress, b"GZip"),
    "charset-gzip": _packed(gzip.compress, b"utf-8, gzip"),
    "gzip-charset": _packed(gzip.compress, b"gzip, UTF-8"),
    "gzip-named-twice": _packed(gzip.compress, b"gzip", b"gzip"),
    "gzip-twice": _packed(lambda body: gzip.compress(gzip.compress(body)), b"gzip, gzip"),
    "wrong-sum": _packed(lambda body: damaged(gzip.compress(body)), b"gzip"),
    "padded-gzip": _packed(lambda body: gzip.compress(body) + bytes(99), b"gzip"),
    "rest-of-gzip": _packed(lambda body: gzip.compress(body) + b"rest", b"gzip"),
    "two-members": _packed(lambda b: gzip.compress(b[:99]) + gzip.compress(b[99:]), b"gzip"),
    "cut-gzip": _packed(lambda body: gzip.compress(body)[:-30], b"gzip"),
    "raw-deflate": _packed(lambda body: zlib.compress(body)[2:-4], b"deflate"),
    "deflate": _packed(zlib.compress, b"deflate"),
    "br": _packed(brotli.compress, b"br"),
    "cut-br": _packed(lambda body: brotli.compress(body)[:-30], b"br"),
    "identity-none": _packed(bytes, b"identity, none"),
    **{f"type-{name}": _type(value) for name, value in _TYPES.items()},
    "type-missing": lambda body: raw(body, kind=None),
    "status-203": _status(b"HTTP/1.1 203 -"),
    "refresh-itself": lambda body: raw(body, b"Refresh: 5"),
    "same-as-plain": lambda _: raw(page("plain"), b"X-Other: 1"),
}
"""The answer of a host to a request for a page, for the page."""


def _to(name: str) -> bytes:
    return b"http://to-%s.de/" % name.encode()


def _meta(content: str, text: bytes = b"") -> bytes:
    head = f"<meta HTTP-EQUIV=Refresh content='{content}'>"
    return raw(f"<html><head>{head}</head><body>".encode() + text)


OTHERS: Final[dict[str, tuple[bytes, str]]] = {
    # Headers first: the body is none.
    "moved": (
        raw(NO_GZIP, GZIP, b"Location: " + _to("moved"), status=b"HTTP/1.1 301 -"),
        "redirect",
    ),
    "missing": (raw(NO_GZIP, GZIP, status=b"HTTP/1.1 404 -"), "page"),
    "broken": (raw(NO_GZIP, b"Content-Encoding: rot13", status=b"HTTP/1.1 403 -"), "page"),
    "no-gzip": (raw(NO_GZIP, GZIP), "encoding"),
    # Refresh.
    "refresh": (raw(b"<p>x", b"Refresh: 0;URL='" + _to("refresh") + b"'"), "redirect"),
    "meta": (_meta("0; url=http://to-meta.de/"), "redirect"),
    "slow": (_meta("5;http://to-slow.de/"), "redirect"),
    "slower": (_meta("31; url=http://to-slower.de/"), "page"),
    "stays": (_meta("5; url=http://to-stays.de/", page("stays")), "page"),
    "binary": (raw(b"\x89PNG\r\n\x1a\n" + bytes(99), kind=b"Content-Type: none"), "media"),
}
"""Answers that are no pages in German, and their outcomes."""

TARGETS: Final = ("moved", "refresh", "meta", "slow", "stays")
"""Hosts among `OTHERS` that lead to a page on the host `to-NAME.de`."""


def _for_a_while(exchange: Exchange) -> bytes:
    """An unreadable 503 for the first request, then a page."""
    exchange_number = _asked.get(exchange.host, 0)
    _asked[exchange.host] = exchange_number + 1
    if exchange_number:
        return raw(page("busy"))
    return raw(NO_GZIP, GZIP, status=b"HTTP/1.1 503 -")


_asked: dict[str, int] = {}


def odd_hosts(more: Mapping[str, Behaviour]) -> dict[str, Behaviour]:
    """All hosts, and `more` of them; `start.de` links to them."""
    hosts = {f"{name}.de": sends(make(page(name))) for name, make in PAGES.items()}
    hosts |= {f"{name}.de": sends(data) for name, (data, _) in OTHERS.items()}
    hosts |= {f"to-{name}.de": sends(raw(page(f"to-{name}"))) for name in TARGETS}
    _asked.clear()
    hosts["busy.de"] = computes(_for_a_while)
    names = [*(f"{name}.de" for name in (*PAGES, *OTHERS, "busy")), *more]
    links = "".join(f"<a href='http://{host}/'>x</a>" for host in names)
    return {**hosts, **more, "start.de": sends(answer(page("start") + links.encode()))}
