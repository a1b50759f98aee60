"""The crawl's one object in `Request.meta`, and what the middlewares of a user do with it."""

import asyncio
import json
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from langfocus.crawler.frontier.base import Lease
from langfocus.crawler.http.download import Exchange
from langfocus.crawler.spiders.fetch import KEY, Fetch, begin_fetch, fetch_of, is_file
from langfocus.crawler.spiders.fetches import Fetches
from langfocus.crawler.spiders.middlewares import PageReaders, Unpacking
from tests.crawler.politeness.test_crawl_polite import linking, polite, served
from tests.support.crawls import rows

LEASE = Lease(1, "http://a.de/", "a.de", 0.0, 0, 0, 0)
OWN = "http://b.de/own"


def request_of(fetch: Fetch) -> Request:
    return Request(fetch.lease.url, meta={KEY: fetch})


def test_a_copy_of_a_request_that_is_sent_has_nothing_of_the_answer_to_the_first() -> None:
    first = request_of(Fetch(LEASE, 1.0, is_file=True, reserved=("x",)))
    sent = begin_fetch(first)
    assert sent is not None
    sent.status, sent.body_bytes = 500, 7
    sent.exchange = Exchange(LEASE.url, 1.0, b"", b"")
    again = first.replace(url="http://a.de/b")
    assert fetch_of(again) is sent
    assert begin_fetch(again) == Fetch(LEASE, 1.0, is_file=True, reserved=("x",))
    assert fetch_of(first) is sent
    assert fetch_of(first.replace(meta=deepcopy(first.meta))) == sent


def test_a_request_of_a_user_has_no_fetch_whatever_its_meta_says() -> None:
    for meta in ({}, {KEY: None}, {KEY: {"lease": LEASE}}, {"langfocus_lease": LEASE}):
        request = Request("http://a.de/", meta=meta)
        assert (fetch_of(request), begin_fetch(request), is_file(request)) == (None, None, False)
        assert request.meta == meta
    assert fetch_of(None) is None


def test_the_middlewares_and_limits_of_a_crawl_leave_the_requests_of_a_user_alone() -> None:
    request, headers = Request(OWN), {"Content-Encoding": "gzip"}
    response = HtmlResponse(OWN, body=b"x", headers=headers, status=404)
    assert Unpacking(9).process_response(request, response) is response
    nothing: Any = None
    readers = PageReaders(nothing, nothing)
    assert asyncio.run(readers.process_response(request, response)) is response
    Fetches(nothing, nothing).on_bytes(b"x" * 10_000_000, request)


class Meddling:
    """A middleware of a user: it sends a page again, and a request of its own for each page."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Meddling":
        return cls(crawler)

    async def process_response(
        self, request: Request, response: Response, spider: object = None
    ) -> Request | Response:
        if request.url == OWN:
            return response
        if request.url.endswith("/again") and "again" not in request.meta:
            return request.replace(meta={**request.meta, "again": True})
        own = await self._crawler.engine.download_async(Request(OWN))
        assert own.status == 200
        return response


def test_a_crawl_survives_the_requests_of_a_users_middleware(tmp_path: Path) -> None:
    with served() as (web, server):
        web.answers["/"] = linking("/again", "/plain")
        middlewares = json.dumps({"tests.crawler.spiders.test_fetch.Meddling": 5})
        done = polite(
            tmp_path,
            "http://a.de/",
            proxy=server.url,
            DOWNLOADER_MIDDLEWARES=middlewares,
            LANGFOCUS_READERS=1,
        )
        asked = Counter(access.url for access in server.log)
    assert done.returncode == 0, done.stderr
    pages = ["http://a.de/", "http://a.de/again", "http://a.de/plain"]
    assert rows(tmp_path, "SELECT url, outcome FROM pages ORDER BY url") == [
        (url, "page") for url in pages
    ]
    assert asked["http://a.de/again"] == 2
    assert asked[OWN] >= 3
    kept = rows(tmp_path, "SELECT url FROM archived WHERE fingerprint IS NOT NULL ORDER BY url")
    assert [url for (url,) in kept] == pages
    assert rows(tmp_path, f"SELECT * FROM archived WHERE url = '{OWN}'") == []
