"""A crawl writes into its WARC files what went over the wire."""

import gzip
import json
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response

from benchmarks.servers.hostileserver import PAGE, answer, hostile_web, sends
from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.spiders.fetch import Heads
from langfocus.crawler.spiders.messages import sent
from tests.crawler.outputs.test_warc import records
from tests.support.crawls import finished, rows, summary
from tests.support.smallweb import SENTENCES

ODD = b"\r\n".join(
    [
        b"HTTP/1.1 200 Fine  by me",
        b"content-TYPE: text/html",
        b"X-Twice: 1",
        b"Server: a",
        b"X-Twice:2",
        b"no colon",
        b"X-Folded: a",
        b"  b",
        b"Connection: close",
        b"",
        PAGE + b"odd",
    ]
)
BARE = b"HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + PAGE + b"bare"
PACKED = gzip.compress(PAGE * 3)
CHUNKS = b"5\r\n" + PACKED[:5] + b"\r\n%x\r\n" % (len(PACKED) - 5) + PACKED[5:] + b"\r\n0\r\n\r\n"
CHUNKED = answer(CHUNKS, b"Transfer-Encoding: chunked", b"Content-Encoding: gzip")
LINKS = "".join(
    f"<a href='http://{host}.de/'>x</a>"
    for host in (
        *("odd", "bare", "chunked", "kept-out", "kept-out-too"),
        *("same", "same-too", "other-bot", "gone"),
    )
)
HOSTS = {
    "seed.de": sends(answer(f"<p>{SENTENCES['de'] * 9}</p>{LINKS}".encode())),
    "odd.de": sends(ODD),
    "bare.de": sends(BARE),
    "chunked.de": sends(CHUNKED),
    "kept-out.de": sends(answer(PAGE + b"1", b"X-Robots-Tag: unavailable_after: x, NoArchive")),
    "kept-out-too.de": sends(answer(PAGE + b"<meta name=ROBOTS content='index,noarchive'>")),
    "same.de": sends(answer(PAGE, b"X-Other: 1")),
    "same-too.de": sends(answer(PAGE, b"X-Other: 2")),
    "other-bot.de": sends(answer(PAGE + b"2", b"X-Robots-Tag: otherbot: noarchive, nosnippet")),
    "gone.de": sends(answer(b"gone", status=b"410 Gone")),
}


def test_a_crawl_keeps_what_went_over_the_wire_without_secrets(tmp_path: Path) -> None:
    settings = {"JOBDIR": tmp_path, "DOWNLOAD_DELAY": 0, "LANGFOCUS_WARC": True}
    with hostile_web(HOSTS) as proxy:
        secret = proxy.url.replace("://", "://user:secret@")
        finished("lang=de", "strategy=bfs", "seeds=http://seed.de/", proxy=secret, **settings)
    kept = records(tmp_path, with_heads=True)
    answers = {url: block for kind, url, block in kept if kind in ("response", "revisit")}
    # The lines of a head and their ends are kept, whatever they are.
    assert answers["http://odd.de/"] == ODD
    assert answers["http://bare.de/"] == BARE
    # Chunks are put together, and the name of their header tells that.
    head, _, _ = CHUNKED.partition(b"\r\n\r\n")
    named = head.replace(b"Transfer-Encoding", b"X-Crawler-Transfer-Encoding")
    assert answers["http://chunked.de/"] == named + b"\r\n\r\n" + PACKED
    assert not {"http://kept-out.de/", "http://kept-out-too.de/"} & answers.keys()
    assert {"http://other-bot.de/", "http://gone.de/", "http://odd.de/robots.txt"} < answers.keys()
    (revisit,) = (url for kind, url, _ in kept if kind == "revisit")
    assert revisit in ("http://same.de/", "http://same-too.de/")
    (request,) = (block for *query, block in kept if query == ["request", "http://odd.de/"])
    assert request.startswith(b"GET http://odd.de/ HTTP/1.1\r\n")
    assert not [block for *_, block in kept if b"\nProxy-" in block]
    assert b"\r\nAccept-Language: de,*;q=0.1\r\n" in request
    assert request.endswith(b"\r\nHost: odd.de\r\n\r\n")
    assert summary(tmp_path)["counts"]["noarchive"] == 2
    query = "SELECT directives, robots_txt FROM pages WHERE url = 'http://kept-out.de/'"
    ((directives, robots),) = rows(tmp_path, query)
    assert json.loads(directives) == {"header": ["noarchive"]}
    assert robots == "404"
    settled = rows(tmp_path, "SELECT url FROM pages WHERE status IS NOT NULL")
    pages = rows(tmp_path, "SELECT url FROM archived WHERE fingerprint IS NOT NULL")
    assert len(settled) == len(pages) + 2
    assert len(records(tmp_path)) == len(kept)  # all digests are right
    web = ArchiveWeb(tmp_path)
    assert web.respond("http://chunked.de/").body == PAGE * 3
    for number, host in enumerate(("same", "same-too"), 1):
        assert web.respond(f"http://{host}.de/").body == PAGE
        assert web.respond(f"http://{host}.de/").header("X-Other") == str(number)


@pytest.mark.parametrize("proxy", ["", "http://p:1"])
def test_headers_of_a_proxy_are_not_kept_however_they_are_written(proxy: str) -> None:
    asked = b"GET / HTTP/1.1\r\nproxy-AUTHORIZATION : a\r\n\tb\r\ncookie:c\r\nHost: a.de\r\n\r\n"
    message = b"HTTP/1.1 200 OK\nProxy-Authenticate: Basic\n realm=x\nServer: s\nX-Proxy-A: 1\n\n"
    request = Request("http://a.de/", meta={"proxy": proxy})
    kept = sent(request, Response("http://a.de/"), Heads(asked, message), 0.0)
    assert kept.request == b"GET / HTTP/1.1\r\nHost: a.de\r\n\r\n"
    of_server = b"HTTP/1.1 200 OK\nServer: s\nX-Proxy-A: 1\n\n"
    assert kept.head == (of_server if proxy else message)
