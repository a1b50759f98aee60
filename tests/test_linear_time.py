"""Each reader of strangers' text takes eight times the time for eight times the text, not more."""

import gzip
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from scrapy.http import Response

from langfocus.classifiers.errors import LangfocusError
from langfocus.classifiers.languages import canonical, declared_languages
from langfocus.classifiers.pages.charset.encodings import decode, is_binary
from langfocus.classifiers.pages.parse import parse_page
from langfocus.classifiers.urls.batch import plain, unaddressed
from langfocus.classifiers.urls.standard import absolute
from langfocus.crawler.http.body import unpacked, without_chunks
from langfocus.crawler.http.download import is_text
from langfocus.crawler.politeness import directives
from langfocus.crawler.politeness.blocking import read_lines
from langfocus.crawler.politeness.reservations import rules_in, rules_of_license
from langfocus.crawler.politeness.robots_rules import rules_for
from langfocus.crawler.politeness.traps import sift
from langfocus.crawler.sources.archive import answer_of
from langfocus.crawler.sources.hosts import _portal
from langfocus.crawler.sources.seeds import _parts, _url
from langfocus.crawler.sources.sitemaps import may_be_sitemap, read_sitemap
from langfocus.crawler.sources.warc_reader import ArchiveRecord, Volume, records
from langfocus.crawler.spiders.messages import download_of
from langfocus.crawler.url import normalise, page_key, spelling_key

SHORT = 4_000
TIMES = 8
MOST = 1.5 * TIMES
FLOOR_S = 0.005
"""Processor time below which nothing is compared: the square of 32,000 takes half a second."""

PIECES = [
    *" \t\n\x00\"'\\/=;,:.<>()[]{}%*$#&?@|-_+a0é",
    *(
        " a",
        "a ",
        " ;",
        ";a",
        "a=",
        '="',
        '" ',
        "%2",
        "*a",
        "//",
        "../",
        "./",
        "a.",
        "-->",
        "\r\n ",
    ),
    *(
        "charset",
        "charset= ",
        "<meta ",
        "<!--",
        "<script",
        "<a b>;",
        "de,",
        "rel=",
        "; rel=license",
        "xn--",
    ),
    *(
        ";jsessionid=",
        "(a(",
        "&#38;",
        "://",
        "User-agent:*\n",
        "Disallow:/*a\n",
        "-",
        "1, ",
        "[1,",
        '{"a":',
    ),
]
SIGNS = str.maketrans(dict.fromkeys('<>"&', " "))


def _page(head: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        html = head.replace("TEXT", text.translate(SIGNS))
        return parse_page(html.encode(), content_type=None, url="http://a.example/")

    return read


def _header(name: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        value = text.replace("\n", " ").encode()
        return download_of(Response("http://a.example/", headers={name: value}), 0.0)

    return read


def _answer(text: str) -> object:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {text}\r\n\r\n{text}".encode()
    return answer_of(
        ArchiveRecord(0, "response", "http://a.example/", text, text, "", "", "", block)
    )


def _robots(line: str) -> Callable[[str], object]:
    return lambda text: rules_for("langfocus", f"User-agent: *\n{line}{text}".encode())


def _robots_question(text: str) -> object:
    rules = rules_for("langfocus", f"User-agent: *\nDisallow: /{text}b".encode()[:16_000])
    return rules.allows(f"http://a.example/{text}")


READERS: dict[str, Callable[[str], object]] = {
    **{f"header {name}": _header(name) for name in directives.HEADERS},
    **{
        f"header {name}": _header(name) for name in ("Content-Type", "Content-Language", "Location")
    },
    **{
        f"header {name}": _header(name) for name in ("Retry-After", "Date", "ETag", "Last-Modified")
    },
    "header charset": lambda text: decode(b"a", f"text/html; charset={text}"),
    "header media type": lambda text: (is_text(text), may_be_sitemap(text)),
    "language": lambda text: (
        declared_languages(text),
        declared_languages(f"de{text}x"),
        canonical(text),
    ),
    "meta charset": lambda text: decode(f"<meta charset={text}".encode()),
    "meta content": lambda text: directives.of_metas([("robots", text), ("tdm-reservation", text)]),
    "page lang": _page('<html lang="deTEXTx"><body lang="TEXT"><p>a'),
    "page meta": _page('<meta name=robots content="TEXT"><meta name="TEXT"><p>a'),
    "page language": _page('<meta name=language content="TEXT"><p>a'),
    "page base": _page('<base href="TEXT"><a href="TEXT">a</a>'),
    "page link": _page('<a href="TEXT" rel="TEXT" hreflang="TEXT">a</a>'),
    "page canonical": _page('<link rel="canonical TEXT" href="TEXT" type="TEXT">'),
    "page license": _page('<link rel=license type="application/rsl+xml" href="TEXT">'),
    "page structured data": _page('<script>{"inLanguage" TEXT: "deTEXT"}</script>'),
    "page text": _page("<title>TEXT</title><p>TEXT"),
    "binary": lambda text: is_binary(text.encode()),
    "robots.txt": lambda text: rules_for("langfocus", text.encode()),
    **{f"robots.txt {name}": _robots(f"{name}: ") for name in ("Disallow", "Allow", "Crawl-delay")},
    **{
        f"robots.txt {name}": _robots(f"{name}: ")
        for name in ("Content-Usage", "License", "Sitemap")
    },
    "robots.txt agents": lambda text: rules_for(
        "langfocus",
        ("User-agent:*\n" * (len(text) // 20) + "Disallow:/\n" * (len(text) // 20)).encode(),
    ),
    "robots.txt question": _robots_question,
    "tdmrep.json": lambda text: rules_in(text.encode()),
    "tdmrep.json rule": lambda text: rules_in(
        b'[{"location": "/%s", "tdm-reservation": 1}]' % text[:900].encode()
    ),
    "license": lambda text: rules_of_license(text.encode(), "a.example"),
    "license attribute": lambda text: rules_of_license(
        f'<rsl><content url="{text.translate(SIGNS)}"/></rsl>'.encode(), "a.example"
    ),
    "sitemap": lambda text: read_sitemap(text.encode(), "http://a.example/s.xml"),
    "sitemap behind its root": lambda text: read_sitemap(
        f"<urlset>{text}".encode(), "http://a.example/s.xml"
    ),
    "sitemap link": lambda text: read_sitemap(
        f"<urlset><url><loc>{text.translate(SIGNS)}</loc></url>".encode(), "http://a.example/s.xml"
    ),
    "URL": normalise,
    "URL path": lambda text: normalise(f"http://a.example/{text}"),
    "URL host": lambda text: normalise(f"http://{text}"),
    "URL without limit": lambda text: absolute(f"http://a.example/{text}"),
    "URL keys": lambda text: (page_key(f"http://a.example/{text}?{text}"), spelling_key(text)),
    "URL to identify": lambda text: (unaddressed([text, f" {text}"]), plain(text)),
    "links": lambda text: sift([f"http://a.example/{text[:2000]}"]),
    "block file": lambda text: read_lines([f"a.example/{text.strip()[:1500]}x".replace("\n", "")]),
    "seed": lambda text: (_url(text), _parts(text)),
    "host of a census": _portal,
    "archived answer": _answer,
}


def _time_s(read: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    with suppress(ValueError, LangfocusError):  # an error message is an answer too
        read(text)
    return time.thread_time() - start


def _is_linear(read: Callable[[str], object], piece: str) -> bool:
    """Return True if a long text takes little time, or not much more than its length says."""
    short, long = (piece * (length // len(piece)) for length in (SHORT, TIMES * SHORT))
    for _ in range(3):
        long_s = _time_s(read, long)
        if long_s <= FLOOR_S or long_s <= MOST * _time_s(read, short):
            return True
    return False


@pytest.mark.parametrize(
    ("read", "part"),
    [
        (lambda body: unpacked(body, ["gzip"], 10**7), gzip.compress(b"a")),
        (lambda body: unpacked(body, ["gzip"], 10**7), gzip.compress(b"a") + b"\0" * 99),
        (lambda body: read_sitemap(body, "http://a.example/s.xml"), gzip.compress(b"a")),
        (without_chunks, b"1\r\na\r\n"),
    ],
    ids=["members", "padded members", "sitemap", "chunks"],
)
def test_many_small_parts_of_a_body_take_linear_time(
    read: Callable[[bytes], object], part: bytes
) -> None:
    assert _is_linear(lambda text: read(text.encode("latin-1") * 20), part.decode("latin-1"))


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name: str) -> None:
    assert [piece for piece in PIECES if not _is_linear(READERS[name], piece)] == []


@pytest.mark.parametrize("piece", PIECES)
def test_a_record_head_takes_linear_time(piece: str, tmp_path: Path) -> None:
    def read(text: str) -> object:
        path = tmp_path / "a.warc"
        path.write_bytes(
            f"WARC/1.0\r\nWARC-Type: {text}\r\n{text}: {text}\r\n".encode() + b"\r\n" * 2
        )
        return list(records(Volume(path)))

    assert _is_linear(read, piece)


def test_a_square_is_noticed() -> None:
    assert not _is_linear(lambda text: [text.count("b") for _ in text[::8]], "a")
