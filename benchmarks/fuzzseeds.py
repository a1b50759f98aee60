"""Inputs worth changing, for `benchmarks.fuzz`: each reaches much code of a reader.

The fields of an input are separated by `FIELD` bytes.
"""

import gzip
import zlib
from typing import Final

FIELD: Final = b"\x1e\x1e"
URL: Final = "http://example.de/a/b.html"
_PAGE = """<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"><title>Die Stadt</title>
<meta http-equiv=content-language content="de"><base href="/x/">
<link rel=canonical href="/a/b.html"><link rel=alternate hreflang=fr href="/fr/"></head>
<body lang=de><h1>Die Stadt am Fluss</h1><p>Heute scheint die Sonne über dem See, und die Kinder
spielen am Ufer, während die Großmutter auf einer Bank sitzt und eine lange Geschichte liest.</p>
<a href="../c?d=e&amp;f=g#h" rel=next>weiter</a><a href="http://münchen.de:80/ä ö">München</a>
<area href="//other.de/"><iframe src="/frame"></iframe><img alt="x" src="y"><svg><a href=z>s</a>
</svg><script>{"inLanguage": "de"}</script><!-- <a href=no> --><a href="javascript:x()">j</a>"""
WORDS = "Вчера вечером мы долго гуляли вдоль реки и говорили о будущей поездке. " * 3  # noqa: RUF001
JAPANESE = "昨日の夕方、私たちは川のそばを歩きながら、旅行について話しました。" * 3
ROBOTS = (
    b"User-agent: langfocus\nDisallow: /private\nAllow: /private/x$\nCrawl-delay: 7\n\n"
    b"User-agent: *\nDisallow: /*?s=*&x\nRequest-rate: 1/5s\nSitemap: http://a.de/s.xml\n"
    b"Visit-time: 0600-0845\nHost: a.de\n"
)
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>hello</p>"


def record(url: str, http: bytes, kind: str = "response", more: str = "") -> bytes:
    """Return a WARC record of the bytes of an exchange; `more` are lines of its header."""
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{more}"
    return f"{head}Content-Length: {len(http)}\r\n\r\n".encode() + http + b"\r\n\r\n"


_BODIES: Final = [
    _PAGE.encode(),
    _PAGE.encode("latin-1", "xmlcharrefreplace"),
    _PAGE.encode("utf-16"),
    _PAGE.encode("utf-32-le"),
    f"<p>{WORDS}".encode("cp1251"),
    f"<p>{WORDS}".encode("koi8-r"),
    f"<meta charset=euc-jp><p>{JAPANESE}".encode("euc-jp"),
    f"<p>{JAPANESE}".encode("shift_jis"),
    f"<p>{JAPANESE}".encode("iso-2022-jp"),
    b"<?xml version='1.0' encoding='gbk'?><p>\xc4\xe3\xba\xc3" * 3,
]
_TYPES: Final = (b"text/html; charset=utf-8", b"", b"text/html;charset=windows-1252")
_PAGES: Final = [
    FIELD.join([_TYPES[at % 3], b"de", URL.encode(), body]) for at, body in enumerate(_BODIES)
]
_LINKS: Final = (
    "http://münchen.de/ä?ö#ü|//b.de:8080|/a/../b|?q=1|c.html;x|mailto:a@b|http:///x"
    "|https://[2001:db8::1]/x|../../..|http://a.de\\b|HTTP://A.DE/%7e|a b|http:x|/.//b"
    "|javascript:void(0)|./a:b|http://user:pw@a.de/|http://a.de:/|//|///x|http://%61.de"
).split("|")
_URLS: Final = (
    "http://example.de/a/b.html?x=1&y=2|HTTPS://WWW.Example.DE:443/%7ea/../b;c|"
    "http://münchen.de/straße?ü=ß#x|http://[2001:DB8::1]:8080/|http://user:pw@a.de/|"
    "http://a.de.:80/./b//c|http://xn--mnchen-3ya.de/|http://1.2.3.4/?|//a.de|"
    "http://a.de/x;jsessionid=0123456789abcdef0?PHPSESSID=0123456789abcdef01&a=b|"
    "http://a.de/%ff%2e%2E/%|http://a_b.de/|http://0x7f.1/"
).split("|")
_ROBOTS: Final = [
    [b"200", URL.encode(), ROBOTS],
    [b"200", URL.encode(), b"\xef\xbb\xbf" + ROBOTS.replace(b"\n", b"\r")],
    [b"200", URL.encode(), ROBOTS.decode().encode("utf-16")],
    [b"404", URL.encode(), ROBOTS],
    [b"503", URL.encode(), b""],
    [b"200", b"http://a.de/\xc3\xa4?s=1&x", b"User-agent:*\nDisallow:/*\xc3\xa4$\n"],
    [b"301", URL.encode(), b"", b"/r.txt", b"http://b.de/robots.txt", b"https://[::1]/"],
]
_HTML: Final = b"Content-Type: text/html; charset=utf-8"
_ANSWERS: Final = [
    [b"302", b"Location: /x", b""],
    [b"301", b"Location: http://m\xc3\xbcnchen.de/a b#c", b""],
    [b"200", _HTML + b"\nContent-Language: de", _BODIES[0]],
    [b"503", b"Retry-After: 5", b""],
    [b"429", b"Retry-After: Fri, 31 Dec 2099 23:59:59 GMT", b""],
    [b"200", b"Content-Type: image/png", b"\x89PNG"],
    [b"307", b"Location: \xff\xe4", b""],
    [b"308", b"Location: http://[::1]/", b""],
    [b"404", _HTML, _BODIES[0]],
]
_LOOPS: Final = [field for at in range(9) for field in (b"302", b"Location: /%d" % at, b"")]
_PACKED: Final = [
    (b"gzip", gzip.compress(_BODIES[0])),
    (b"gzip", gzip.compress(bytes(5_000_000))),
    (b"gzip", gzip.compress(_BODIES[0]) * 2),
    (b"deflate", zlib.compress(_BODIES[0])),
    (b"deflate", zlib.compress(_BODIES[0], wbits=-15)),
    (b"deflate", zlib.compress(bytes(5_000_000))),
    (b"gzip, gzip", gzip.compress(gzip.compress(bytes(1_000_000)))),
    (b"gzip\ndeflate", zlib.compress(gzip.compress(_BODIES[0]))),
    (b"br", b"\x0b\x02\x80hello\x03"),
    (b"br", b"\x1b\xff\x0f\x00\x24\x00\xe2\xb1\x81\x12\x08"),
    (b"zstd", b"\x28\xb5\x2f\xfd\x04\x00\x29\x00\x00hello"),
]
_COMPRESSED: Final = gzip.compress(b"<p>hello</p>")
_PACKED_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
_CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
_RECORDS: Final = [
    record("http://a.de/", HTTP, more="WARC-IP-Address: 192.0.2.7\r\n"),
    record("http://a.de/ä", _CHUNKED),
    record("https://b.de", _PACKED_HEAD % len(_COMPRESSED) + _COMPRESSED),
    record("http://a.de/", b"x", kind="request"),
    record("http://a.de/r", b"", kind="revisit"),
    record("http://c.de/", b"HTTP/1.0 301 Moved\r\nLocation: /x\r\n\r\n"),
]
SEEDS: Final[dict[str, list[bytes]]] = {
    "page": _PAGES,
    "links": [
        FIELD.join([URL.encode(), b"", *(link.encode() for link in _LINKS)]),
        *(FIELD.join([URL.encode(), b"/x/", link.encode()]) for link in _LINKS),
    ],
    "url": [text.encode() for text in _URLS],
    "language": _PAGES,
    "robots": [FIELD.join(fields) for fields in _ROBOTS],
    "answers": [
        FIELD.join(field for answer in _ANSWERS for field in answer),
        FIELD.join(_LOOPS),
        *(FIELD.join(answer * 3) for answer in _ANSWERS),
    ],
    "unpacking": [FIELD.join(pair) for pair in _PACKED],
    "archive": [
        b"".join(_RECORDS),
        b"".join(map(gzip.compress, _RECORDS)),
        FIELD.join([b"z", *_RECORDS]),
        *(FIELD.join([b"z", each]) for each in _RECORDS),
        *_RECORDS,
    ],
}
"""Inputs by the names of the laws in `benchmarks.fuzztargets`."""
