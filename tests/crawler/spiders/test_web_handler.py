"""The download handler of the sample web and of archives, without an engine."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError
from scrapy.http import HtmlResponse, Response

from langfocus.crawler.sources.archive import ArchiveWeb
from langfocus.crawler.sources.contract import Answer, NotArchived, Web
from langfocus.crawler.sources.sample import SampleWeb
from langfocus.crawler.spiders.web_handler import WebDownloadHandler, response_to
from tests.crawler.sources.test_web_archive import http, record, write


def handler_of(web: Web) -> WebDownloadHandler:
    crawl = SimpleNamespace(
        prepared=SimpleNamespace(web=web), config=SimpleNamespace(keeps_warc=True)
    )
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(crawl=crawl))
    return WebDownloadHandler(crawler)


def download(web: Web, url: str) -> Response:
    return asyncio.run(handler_of(web).download_request(Request(url)))


def test_a_host_that_does_not_answer_fails_as_on_the_live_web() -> None:
    web = SampleWeb(seed=3)
    host = next(host for host in web.hosts if not host.secure)
    with pytest.raises(CannotResolveHostError):
        download(web, "http://nowhere.example/")
    with pytest.raises(DownloadConnectionRefusedError):
        download(web, f"https://{host.name}/")


def test_a_url_that_is_not_archived_says_so(tmp_path: Path) -> None:
    page = http(b"<p>hello</p>", "Content-Type: text/html")
    web = ArchiveWeb(write(tmp_path / "a.warc", record("http://a.de/", page)))
    response = download(web, "http://a.de/")
    assert (response.status, response.body, response.ip_address) == (200, b"<p>hello</p>", None)
    with pytest.raises(NotArchived):
        download(web, "http://b.de/")


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"<p>", HtmlResponse),
        ("application/zip", b"PK\x03\x04\x00\x00", Response),
    ],
)
def test_a_response_is_of_the_kind_that_its_headers_say(
    content_type: str, body: bytes, kind: type[Response]
) -> None:
    answer = Answer(
        200, (("Content-Type", content_type), ("A", "1"), ("A", "2")), body, "192.0.2.1"
    )
    response = response_to(Request("http://a.de/x"), answer)
    assert type(response) is kind
    assert response.headers.getlist("A") == [b"1", b"2"]
    assert (response.flags, str(response.ip_address)) == ([], "192.0.2.1")
